"""Policy gradient by self-play against earlier versions: REINFORCE [Williams 1992].

As in AlphaGo [Silver et al. 2016, "Policy network: reinforcement learning"], the opponent is drawn
from a pool of earlier versions, both sides draw moves from their policies, and each move of the
current version is reinforced by the result of its game, +1, 0 or -1. The baseline is the mean
result of the iteration.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

import pyengine
from alphago.folder import Run
from alphago.play import drawn
from pyengine.base.interrupts import deferred_interrupt
from pyengine.train import Network, export

__all__ = ["reinforce"]

_ROWS = 1024  # rows per forward pass
_STATE = "reinforce.pt"
_SAVE_EVERY = 10  # iterations


@dataclass(frozen=True)
class _Move:
    """A move of the learning version."""

    planes: np.ndarray
    legal: np.ndarray
    action: int
    game: int


def reinforce(run: Run, begin: Path, name: str) -> None:
    """Improve a policy network, or resume.

    Args:
        run: the run.
        begin: file of the initial weights.
        name: name of the results, NAME.pt and NAME.onnx.

    """
    settings, game = run.settings, run.game
    torch.set_num_threads(run.threads)
    network = _network(run, torch.load(begin, map_location="cpu", weights_only=True))
    optimiser = torch.optim.SGD(network.parameters(), lr=settings.reinforce_rate)
    state = _restored(run, network)
    opponent = _network(run, state["pool"][0])
    with deferred_interrupt() as interrupted:
        while state["iteration"] < settings.reinforce_iterations and not interrupted.is_set():
            number = state["iteration"]
            rng = np.random.default_rng((settings.seed, 10, number))
            opponent.load_state_dict(state["pool"][int(rng.integers(len(state["pool"])))])
            moves, results = _play(game, settings.spec, network, opponent, settings, rng)
            _step(network, optimiser, moves, results)
            state["iteration"] = number + 1
            if (number + 1) % settings.reinforce_pool == 0:
                state["pool"].append(_copy(network))
            state["scores"].append(float((results.mean() + 1) / 2))
            if (number + 1) % _SAVE_EVERY == 0:
                _save(run, network, state)
            recent = np.mean(state["scores"][-20:])
            run.say(
                f"{name}: iteration {number + 1:,} of {settings.reinforce_iterations:,}, "
                f"score {recent:.1%} against {len(state['pool'])} earlier versions"
            )
        _save(run, network, state)
    if interrupted.is_set():
        raise KeyboardInterrupt
    torch.save(network.state_dict(), run.path(f"{name}.pt"))
    export(network, game, settings.spec, run.path(f"{name}.onnx"))


def _network(run: Run, weights: dict[str, Tensor]) -> Network:
    """Return a network in evaluation mode, which freezes the normalisation statistics."""
    settings, game = run.settings, run.game
    config = settings.network("alphago_zero")
    planes = len(settings.spec.planes)
    network = Network(config, planes, game.board_shape, game.num_distinct_actions())
    network.load_state_dict(weights)
    return network.eval()


def _copy(network: Network) -> dict[str, Tensor]:
    return {name: tensor.clone() for name, tensor in network.state_dict().items()}


def _restored(run: Run, network: Network) -> dict[str, Any]:
    """Load the saved state, or return the initial one, and set the network's weights."""
    path = run.path(_STATE)
    if not path.exists():
        return {"iteration": 0, "pool": [_copy(network)], "scores": []}
    state = torch.load(path, weights_only=True)
    network.load_state_dict(state.pop("network"))
    return dict(state)


def _save(run: Run, network: Network, state: dict[str, Any]) -> None:
    path = run.path(_STATE)
    temporary = path.with_suffix(".tmp")
    torch.save({**state, "network": _copy(network)}, temporary)
    temporary.replace(path)


def _play(
    game: pyengine.Game,
    spec: pyengine.ModelSpec,
    network: Network,
    opponent: Network,
    settings: Any,
    rng: np.random.Generator,
) -> tuple[list[_Move], np.ndarray]:
    """Play games, half with each colour; return the moves and the results."""
    states = [game.new_initial_state() for _ in range(settings.reinforce_games)]
    colours = np.arange(len(states)) % 2
    moves: list[_Move] = []
    live = list(range(len(states)))
    while live:
        for policy, learns in ((network, True), (opponent, False)):
            mine = [i for i in live if (states[i].current_player() == colours[i]) == learns]
            mine = [i for i in mine if not states[i].is_terminal()]
            if not mine:
                continue
            planes, legal = _read([states[i] for i in mine], spec)
            with torch.no_grad():
                chances = torch.exp(_log_policy(policy, planes, legal)).numpy()
            for row, (i, action) in enumerate(zip(mine, drawn(chances, rng), strict=True)):
                if learns:
                    moves.append(_Move(planes[row], legal[row], int(action), i))
                states[i].apply_action(int(action))
        live = [i for i in live if not states[i].is_terminal()]
    results = [state.returns()[colour] for state, colour in zip(states, colours, strict=True)]
    return moves, np.array(results, np.float32)


def _read(
    states: Sequence[pyengine.State], spec: pyengine.ModelSpec
) -> tuple[np.ndarray, np.ndarray]:
    """Return planes [N,C,H,W] and the legal actions, bool [N,A]."""
    planes = np.stack([state.observation_tensor(spec) for state in states])
    legal = np.zeros((len(states), states[0].game.num_distinct_actions()), bool)
    for row, state in zip(legal, states, strict=True):
        row[state.legal_actions()] = True
    return planes, legal


def _log_policy(network: Network, planes: np.ndarray, legal: np.ndarray) -> Tensor:
    """Return the log probabilities of the legal actions, [N,A]."""
    logits, _ = network(torch.from_numpy(planes))
    masked = logits.masked_fill(~torch.from_numpy(legal), -torch.inf)
    return torch.log_softmax(masked, dim=1)


def _step(
    network: Network,
    optimiser: torch.optim.Optimizer,
    moves: Sequence[_Move],
    results: np.ndarray,
) -> None:
    """Ascend ``mean over games of sum over moves of (z - mean z) log p``."""
    gains = results - results.mean()
    optimiser.zero_grad()
    for begin in range(0, len(moves), _ROWS):
        part = moves[begin : begin + _ROWS]
        logs = _log_policy(
            network, np.stack([m.planes for m in part]), np.stack([m.legal for m in part])
        )
        chosen = logs[torch.arange(len(part)), torch.tensor([m.action for m in part])]
        weights = torch.from_numpy(gains[[m.game for m in part]])
        (-(weights * chosen).sum() / len(results)).backward()
    optimiser.step()
