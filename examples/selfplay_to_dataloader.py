"""Self-play into a PyTorch DataLoader. Run: python selfplay_to_dataloader.py DIRECTORY [GAMES]"""

import argparse

import torch

import pyengine

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("directory", nargs="?", default="selfplay")
parser.add_argument("games", type=int, nargs="?", default=200)
options = parser.parse_args()
directory, games = options.directory, options.games

config = pyengine.SelfPlayConfig.fast("connect_four")
report = pyengine.selfplay("connect_four", "connect4", games=games, out=directory, config=config)
print(report)

data = pyengine.Dataset(directory, augment=True)  # apply a random symmetry to each row
loader = torch.utils.data.DataLoader(data, batch_size=64, shuffle=True)
for batch in loader:
    planes, policy, value = batch["planes"], batch["policy"], batch["value"]
    print(tuple(planes.shape), tuple(policy.shape), f"mean outcome {value.mean():+.2f}")
