"""Positions from games that a network plays against itself, and their planes."""

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
    """Return two sets of ``count`` positions of games whose moves are drawn from a policy.

    The sets come from different games and have no position in common; within a set none is twice.
    Positions are the same if the network reads the same planes, turned or mirrored or not. They are
    drawn from all plies of whole games, none longer than :func:`longest_game`. A set is smaller if
    further games bring next to nothing new: tic-tac-toe has some hundred positions in all. The same
    seed and count give the same positions. ``on_ply`` is called with the number of moves so far.
    """
    rng = np.random.default_rng((seed, count))
    known: set[bytes] = set()
    sets: tuple[list[State], list[State]] = ([], [])
    while (missing := count - min(map(len, sets))) > 0:
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
                sets[number % 2].append(state)
        if fresh < _FRESH * met:
            break
    first, second = ([states[i] for i in rng.permutation(len(states))[:count]] for states in sets)
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
    planes = [plane]
    if symmetries > 1:
        planes += [np.flip(one, columns) for one in planes]
    if symmetries > 2:
        planes += [np.flip(one, rows) for one in planes]
    if symmetries > 4:
        planes += [np.swapaxes(one, rows, columns) for one in planes]
    return planes


def longest_game(game: Game) -> int:
    """Return the plies after which a game is abandoned: few of interest have more."""
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
    """Return the planes of states, each under a random symmetry of the board.

    ``symmetries`` of the board are 1, 2 (mirror), 4 (mirrors) or 8. Returns float32[N,C,H,W], or
    [N,H,W,C] if the spec's layout says so. Planes that name directions are turned as a whole:
    their values are the same, which is enough to find their range.
    """
    rng = np.random.default_rng((seed, len(states)))
    planes = []
    for state in states:
        turned = _turned(state.observation_tensor(spec), spec, symmetries)
        planes.append(turned[int(rng.integers(len(turned)))])
    return np.ascontiguousarray(np.stack(planes), np.float32)
