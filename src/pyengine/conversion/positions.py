"""Positions of games that a network plays against itself, and their planes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from pyengine.eval.evaluators import Evaluator
from pyengine.eval.spec import ModelSpec
from pyengine.games.game import Game, State
from pyengine.games.symmetries import Images, own_images, permuted

Floats: TypeAlias = npt.NDArray[np.float32]

_PER_GAME = 64  # most positions per game
_OPENING = 8  # a game starts with fewer uniformly random moves than this
_RANDOM_MOVE = 0.1  # probability of a random move after the opening: a search sees poor moves too
_FRESH = 0.02  # smallest share of new positions for which it is worth playing more games


def play_positions(
    game: Game,
    evaluator: Evaluator,
    spec: ModelSpec,
    count: int,
    seed: int,
    on_ply: Callable[[int], object] = lambda ply: None,
) -> tuple[list[State], list[State]]:
    """Return two sets of ``count`` positions of games whose moves are drawn from the policy.

    The sets come from different games and share no position; positions within a set are distinct.
    Positions are equal if the network reads the same planes under some symmetry. They are drawn
    from all plies of games, none longer than :func:`longest_game`. A set is smaller if more games
    add almost no new positions: tic-tac-toe has only a few hundred. The same seed and count give
    the same positions. ``on_ply`` is called with the number of moves so far.
    """
    rng = np.random.default_rng((seed, count))
    known: set[bytes] = set()
    own = own_images(game)[0]
    sets: tuple[list[State], list[State]] = ([], [])
    while (missing := count - min(map(len, sets))) > 0:
        games = max(8, 2 * -(-missing // _PER_GAME))
        seen = fresh = 0
        for number, line in enumerate(_play(game, evaluator, games, rng, on_ply)):
            for ply in rng.permutation(len(line))[:_PER_GAME]:
                state = game.new_initial_state(line[:ply])
                seen += 1
                if (key := _key(state, spec, own)) in known:
                    continue
                fresh += 1
                known.add(key)
                sets[number % 2].append(state)
        if fresh < _FRESH * seen:
            break
    first, second = ([states[i] for i in rng.permutation(len(states))[:count]] for states in sets)
    return first, second


def _key(state: State, spec: ModelSpec, own: Images) -> bytes:
    """Return a digest that is the same under all symmetries."""
    plane = state.observation_tensor(spec)
    return min(
        hashlib.blake2b(turned.tobytes(), digest_size=16).digest()
        for turned in _turned(plane, spec, state.game.num_symmetries, own)
    )


def _turned(plane: Floats, spec: ModelSpec, symmetries: int, own: Images = ()) -> list[Floats]:
    """Return planes of a position under all symmetries of the board, identity first.

    ``own``: the images of the points if the symmetries are not reflections.
    """
    if own:
        return [_permuted(plane, spec, images) for images in own]
    rows, columns = (1, 2) if spec.layout == "NCHW" else (0, 1)
    planes = [plane]
    if symmetries > 1:
        planes += [np.flip(p, columns) for p in planes]
    if symmetries > 2:
        planes += [np.flip(p, rows) for p in planes]
    if symmetries > 4:
        planes += [np.swapaxes(p, rows, columns) for p in planes]
    return planes


def _permuted(plane: Floats, spec: ModelSpec, images: tuple[int, ...]) -> Floats:
    """Return planes with their points moved to their images."""
    channels = -1 if spec.layout == "NHWC" else 0
    upright = np.moveaxis(plane, channels, 0)
    if spec.rows == "bottom_up":
        moved = permuted(upright[:, ::-1], images)[:, ::-1]
    else:
        moved = permuted(upright, images)
    return np.moveaxis(moved, 0, channels)


def longest_game(game: Game) -> int:
    """Return the plies after which a game is abandoned."""
    height, width = game.board_shape
    return 4 * height * width // 3


def _play(
    game: Game,
    evaluator: Evaluator,
    games: int,
    rng: np.random.Generator,
    on_ply: Callable[[int], object],
) -> Iterator[list[int]]:
    """Yield the moves of each game."""
    states = [game.new_initial_state() for _ in range(games)]
    openings = rng.integers(0, _OPENING, games)
    for ply in range(longest_game(game)):
        running = [i for i, state in enumerate(states) if not state.is_terminal()]
        if not running:
            break
        policy, _ = evaluator.evaluate([states[i] for i in running], game=game)
        for i, probabilities in zip(running, policy.astype(np.float64), strict=True):
            legal = states[i].legal_actions()
            if ply < openings[i] or rng.random() < _RANDOM_MOVE:
                action = int(rng.choice(legal))
            else:
                action = int(rng.choice(len(probabilities), p=probabilities / probabilities.sum()))
            states[i].apply_action(action)
        on_ply(ply + 1)
    for state in states:
        yield list(state.history())


def observe(
    game: Game, states: Sequence[State], spec: ModelSpec, seed: int
) -> npt.NDArray[np.float32]:
    """Return the planes of states of a game under random symmetries of the board.

    Returns float32[N,C,H,W], or [N,H,W,C] if the spec's layout is NHWC. Planes that name directions
    are transformed only in place: their values stay the same, which is enough to measure their
    range.
    """
    own = own_images(game)[0]
    rng = np.random.default_rng((seed, len(states)))
    planes = []
    for state in states:
        turned = _turned(state.observation_tensor(spec), spec, game.num_symmetries, own)
        planes.append(turned[int(rng.integers(len(turned)))])
    return np.ascontiguousarray(np.stack(planes), np.float32)
