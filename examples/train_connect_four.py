"""Train a Connect Four network from random weights, step by step.

Run: python train_connect_four.py DIRECTORY [GENERATIONS] [GAMES] [STEPS]. The command `pyengine
train` runs the three parts at the same time and can be resumed; this shows what they do.
"""

import argparse
from pathlib import Path

import pyengine
from pyengine import train

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("directory", type=Path, nargs="?", default="connect_four")
parser.add_argument("generations", type=int, nargs="?", default=10)
parser.add_argument("games", type=int, nargs="?", default=500)
parser.add_argument("steps", type=int, nargs="?", default=500)
options = parser.parse_args()
folder, games, steps = options.directory, options.games, options.steps

game = pyengine.load_game("connect_four")
spec = pyengine.ModelSpec(planes=("own[0]", "opp[0]", "ones"))
config = train.TrainConfig(
    network=train.NetworkConfig(blocks=2, filters=24),
    optimiser=train.OptimiserConfig(kind="adamw", schedule="constant", learning_rate=2e-3),
    learner=train.LearnerConfig(batch_size=128),
)
self_play = pyengine.SelfPlayConfig(
    search=pyengine.SearchConfig(simulations=64, batch_size=32, in_flight=2),
    concurrent_games=64,
    temperature_moves=8,
)

best = "uniform"
for generation in range(1, options.generations + 1):
    settings = self_play.replace(seed=generation)
    pyengine.selfplay(game, best, games=games, out=folder / "data", config=settings, spec=spec)

    data = pyengine.Dataset(folder / "data", window=5 * games)
    with train.Learner(config, data, folder / "checkpoints", resume=generation > 1) as learner:
        learner.train(steps)
        network = folder / f"{generation:03}.onnx"
        train.export(learner.exported, game, spec, network)

    best = str(network)
    players = (pyengine.Engine(game, one, simulations=64) for one in (best, "rollout"))
    print(f"generation {generation} against playouts:")
    print(pyengine.match(*players, games=min(games, 40), seed=generation))
