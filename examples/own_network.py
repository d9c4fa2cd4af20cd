"""Search with a PyTorch network. Run: python own_network.py [SIMULATIONS]"""

import argparse

import torch
from torch import nn

import pyengine


class Network(nn.Module):
    """Three convolutions, a policy with one logit per column, and a value in [-1, 1]."""

    def __init__(self, planes: int) -> None:
        super().__init__()
        self.tower = nn.Sequential(
            nn.Conv2d(planes, 32, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(32, 32, 3, padding=1),
            nn.ReLU(),
        )
        self.policy = nn.Linear(32 * 6 * 7, 7)
        self.value = nn.Linear(32 * 6 * 7, 1)

    def forward(self, planes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        features = self.tower(planes).flatten(1)
        return self.policy(features), torch.tanh(self.value(features)).squeeze(1)


device = "cuda" if torch.cuda.is_available() else "cpu"
spec = pyengine.ModelSpec(planes=("own[0:4]", "opp[0:4]", "first_to_move"), policy="logits")
torch.manual_seed(0)
network = Network(planes=9).to(device).eval()  # load your weights here


@torch.inference_mode()
def evaluate(planes):
    """Evaluate a batch: float32 [N, C, H, W] to logits [N, A] and values [N]."""
    logits, value = network(torch.from_numpy(planes).to(device))
    return logits.cpu().numpy(), value.cpu().numpy()


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("simulations", type=int, nargs="?", default=800)
simulations = parser.parse_args().simulations
game = pyengine.load_game("connect_four")
engine = pyengine.Engine(game, pyengine.CallbackEvaluator(evaluate, spec), batch_size=32)
print(engine.search(game.new_initial_state(), simulations=simulations))
