"""Positions from games that a network plays against itself, and what the network reads of them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from pyengine.eval.evaluators import Evaluator
from pyengine.eval.spec import ModelSpec
from pyengine.games.game import Game, State

Floats: TypeAlias = npt.NDArray[np.float32]

_A_GAME = 64  # positions taken of a game, at most
_OPENING = 8  # a game starts with fewer uniformly random moves than this
_STRAY = 0.1  # probability of a random move later on: a search sees poor moves too

_FRESH = 0.02  # share of new positions below which further games are not worth playing

OnPosition = Callable[[int], object]


def play_positions(
    game: Game,
    evaluator: Evaluator,
    spec: ModelSpec,
    count: int,
    seed: int,
    on_ply: OnPosition | None = None,
) -> tuple[list[State], list[State]]:
    """Return two sets of positions of games whose moves are drawn from the network's policy.

    The sets come from different games and have no position in common; within a set none is twice.
    Positions are the same where the network reads the same planes, turned or mirrored or not.
    Whole games are played side by side, none longer than :func:`longest_game`, and the positions
    are drawn from all their plies: endings are met as often as openings. The same arguments give
    the same positions.

    Args:
        game: one of the engine's.
        evaluator: whose policy.
        spec: what the network reads of a position.
        count: how many in each set, at least 1. A set has fewer where further games bring next to
            nothing new: tic-tac-toe has some hundred positions in all.
        seed: of all choices, with ``count``.
        on_ply: called with the moves of the longest game so far.

    """
    rng = np.random.default_rng((seed, count))
    known: set[bytes] = set()
    found: tuple[list[State], list[State]] = ([], [])
    while (missing := count - min(map(len, found))) > 0:
        games = max(8, 2 * -(-missing // _A_GAME))
        met = fresh = 0
        for number, line in enumerate(_play(game, evaluator, games, rng, on_ply)):
            for ply in rng.permutation(len(line))[:_A_GAME]:
                state = game.new_initial_state(line[:ply])
                met += 1
                if (key := _key(state, spec)) in known:
                    continue
                fresh += 1
                known.add(key)
                found[number % 2].append(state)
        if fresh < _FRESH * met:
            break
    first, second = ([states[i] for i in rng.permutation(len(states))[:count]] for states in found)
    return first, second


def _key(state: State, spec: ModelSpec) -> bytes:
    """Return a digest that a position shares with those that a symmetry makes of it."""
    plane = state.observation_tensor(spec)
    return min(
        hashlib.blake2b(turned.tobytes(), digest_size=16).digest()
        for turned in _turned(plane, spec, state.game.num_symmetries)
    )


def _turned(plane: Floats, spec: ModelSpec, symmetries: int) -> list[Floats]:
    """Return planes of one position under all symmetries of the board, itself first."""
    rows, columns = (1, 2) if spec.layout == "NCHW" else (0, 1)
    found = [plane]
    if symmetries > 1:
        found += [np.flip(one, columns) for one in found]
    if symmetries > 2:
        found += [np.flip(one, rows) for one in found]
    if symmetries > 4:
        found += [np.swapaxes(one, rows, columns) for one in found]
    return found


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
    planes = []
    for state in states:
        turned = _turned(state.observation_tensor(spec), spec, symmetries)
        planes.append(turned[int(rng.integers(len(turned)))])
    return np.ascontiguousarray(np.stack(planes), np.float32)
