"""Positions from games that a network plays against itself, and what the network reads of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from pyengine.evaluators import Evaluator
from pyengine.games import Game, State
from pyengine.spec import ModelSpec

__all__ = ["longest_game", "observe", "play_positions"]

_A_GAME = 64  # positions taken of a game, about
_OPENING = 8  # a game starts with fewer uniformly random moves than this
_STRAY = 0.1  # probability of a random move later on: a search sees poor moves too

OnPosition = Callable[[int], object]


def play_positions(
    game: Game, evaluator: Evaluator, count: int, seed: int, on_ply: OnPosition | None = None
) -> list[State]:
    """Return ``count`` positions of games whose moves are drawn from the network's policy.

    Whole games are played side by side, none longer than :func:`longest_game`, and the
    positions are drawn from all their plies: endings are met as often as openings. The same
    arguments give the same positions.

    Args:
        game: one of the engine's.
        evaluator: whose policy.
        count: how many, at least 1.
        seed: of all choices, with the number of the game.
        on_ply: called with the moves of the longest game so far.

    """
    rng = np.random.default_rng((seed, count))
    lines: list[list[int]] = []
    found: list[tuple[int, int]] = []  # of a game its first plies
    while len(found) < count:
        games = -(-(count - len(found)) // _A_GAME)
        for line in _play(game, evaluator, max(games, 8), rng, on_ply):
            lines.append(line)
            found += [(len(lines) - 1, ply) for ply in range(len(line))]
    chosen = rng.permutation(len(found))[:count]
    return [game.new_initial_state(lines[found[i][0]][: found[i][1]]) for i in chosen]


def longest_game(game: Game) -> int:
    """Return after how many plies a game is left: few of interest have more."""
    height, width = game.board_shape
    return 4 * height * width // 3


def _play(
    game: Game, evaluator: Evaluator, games: int, rng: np.random.Generator, on_ply: Any
) -> Iterator[list[int]]:
    """Yield the moves of each game."""
    states = [game.new_initial_state() for _ in range(games)]
    openings = rng.integers(0, _OPENING, games)
    for ply in range(longest_game(game)):
        running = [i for i, state in enumerate(states) if not state.is_terminal()]
        if not running:
            break
        policy, _ = evaluator.evaluate([states[i] for i in running], game=game)
        for i, shares in zip(running, policy.astype(np.float64), strict=True):
            legal = states[i].legal_actions()
            if ply < openings[i] or rng.random() < _STRAY:
                action = int(rng.choice(legal))
            else:
                action = int(rng.choice(len(shares), p=shares / shares.sum()))
            states[i].apply_action(action)
        if on_ply is not None:
            on_ply(ply + 1)
    for state in states:
        yield list(state.history())


def observe(
    states: Sequence[State], spec: ModelSpec, symmetries: int, seed: int
) -> npt.NDArray[np.float32]:
    """Return what a search shows a network of the states: each under a random board symmetry.

    Args:
        states: N states of one game.
        spec: how the network reads them.
        symmetries: of the board: 1, 2 (mirror), 4 (mirrors) or 8.
        seed: of the symmetries.

    Returns:
        float32[N,C,H,W], or [N,H,W,C] when the spec's layout says so. Planes that name directions
        are turned as a whole: their values are the same, which is enough to find their range.

    """
    rng = np.random.default_rng((seed, len(states)))
    rows, columns = (1, 2) if spec.layout == "NCHW" else (0, 1)
    planes = []
    for state in states:
        plane = state.observation_tensor(spec)
        if symmetries > 1 and rng.random() < 0.5:
            plane = np.flip(plane, columns)
        if symmetries > 2 and rng.random() < 0.5:
            plane = np.flip(plane, rows)
        if symmetries > 4 and rng.random() < 0.5:
            plane = np.swapaxes(plane, rows, columns)
        planes.append(plane)
    return np.ascontiguousarray(np.stack(planes), np.float32)
