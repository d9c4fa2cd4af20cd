"""Positions from games that the engine plays against itself, kept in files of many games each."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from recipes import SPEC, Recipe, Round

import pyengine

#: Columns of a shard; N positions.
#: planes uint8 [N,C,H,W], policy float32 [N,A], outcome and root_value float32 [N] (for the mover),
#: proven bool [N], game int32 [N].
COLUMNS = ("planes", "policy", "outcome", "root_value", "proven", "game")

Shard = dict[str, npt.NDArray[Any]]


@dataclass
class _Play:
    """One game on its way."""

    state: Any
    rng: np.random.Generator
    spread_until: int  #: plies before this one are drawn from the visits
    rows: list[dict[str, Any]] = field(default_factory=list)
    movers: list[int] = field(default_factory=list)


def open_game(game: Any, rng: np.random.Generator, plies: int) -> Any:
    """Return a state after so many uniformly random moves in which the game goes on."""
    while True:
        state = game.new_initial_state()
        for _ in range(plies):
            if not state.is_terminal():
                state.apply_action(int(rng.choice(state.legal_actions())))
        if not state.is_terminal():
            return state


def play_shard(
    recipe: Recipe,
    round_: Round,
    evaluator: Any,
    seed: tuple[int, ...],
    on_ply: Callable[[int], None],
) -> Shard:
    """Play ``round_.games`` games side by side to their ends and return their positions.

    The same arguments give the same positions: every game draws from a stream of its own, and the
    searches are deterministic. ``on_ply(running)`` is called after each move of all games.
    """
    game = pyengine.load_game(recipe.game)
    engine = pyengine.Engine(
        game,
        evaluator,
        threads=1,
        batch_size=64,
        in_flight=1,  # the other games fill the batch
        deterministic=True,
        dirichlet_fraction=0.25,
        seed=int(np.random.SeedSequence(seed).generate_state(1)[0]),
    )
    plays = []
    for number in range(round_.games):
        rng = np.random.default_rng((*seed, number))
        plies = int(rng.integers(recipe.opening_plies + 1))
        plays.append(_Play(open_game(game, rng, plies), rng, plies + recipe.temperature_plies))
    running = list(plays)
    while running:
        found = engine.search_many([p.state for p in running], simulations=round_.simulations)
        for play, result in zip(running, found, strict=True):
            _move(play, result, recipe.stray)
        running = [play for play in running if not play.state.is_terminal()]
        on_ply(len(running))
    return _as_shard(plays)


def _move(play: _Play, result: Any, stray: float) -> None:
    """Record a searched position and play on from it."""
    play.rows.append(
        {
            "planes": play.state.observation_tensor(SPEC).astype(np.uint8),
            "policy": _target(result),
            "root_value": result.value,
            "proven": result.proven is not None,
        }
    )
    play.movers.append(play.state.current_player())
    if len(play.state.history()) < play.spread_until:
        action = play.rng.choice(len(result.policy), p=_exact(result.policy))
    elif play.rng.random() < stray:
        action = play.rng.choice(result.actions)
    else:
        action = result.action
    play.state.apply_action(int(action))


def _exact(policy: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    wide = policy.astype(np.float64)
    return wide / wide.sum()


def _target(result: Any) -> npt.NDArray[np.float32]:
    """Visits; where a win or a draw is proven the search ended early, and its move says more."""
    if result.proven in (0, 1):
        target = np.zeros_like(result.policy)
        target[result.action] = 1
        return target
    return result.policy


def _as_shard(plays: list[_Play]) -> Shard:
    columns: dict[str, list[Any]] = {name: [] for name in COLUMNS}
    for number, play in enumerate(plays):
        returns = play.state.returns()
        for row, mover in zip(play.rows, play.movers, strict=True):
            for name, value in row.items():
                columns[name].append(value)
            columns["outcome"].append(returns[mover])
            columns["game"].append(number)
    kinds = {"planes": np.uint8, "proven": np.bool_, "game": np.int32}
    return {name: np.array(rows, kinds.get(name, np.float32)) for name, rows in columns.items()}


def make_shards(
    recipe: Recipe,
    number: int,
    evaluator: Any,
    folder: Path,
    seed: int,
    minutes: float,
    say: Callable[[str], None],
) -> None:
    """Play the shards of round ``number`` that are not in ``folder`` yet, until the time is up.

    At least one is made. A file appears whole or not at all, so an interruption costs one shard.
    """
    round_ = recipe.rounds[number]
    folder.mkdir(parents=True, exist_ok=True)
    spent = 0.0
    for index in range(round_.shards):
        path = folder / f"round{number}-{index:04d}.npz"
        if not path.exists():
            if index > 0 and spent > 60 * minutes:
                say(f"round {number}: time is up after {index} of {round_.shards} shards\n")
                return
            name = f"round {number}, shard {index + 1}/{round_.shards}"
            start = time.monotonic()
            shard = play_shard(
                recipe, round_, evaluator, (seed, number, index), _counter(name, say)
            )
            shard["seconds"] = np.array(time.monotonic() - start)
            save(path, shard)
            say(f"\r{name}: {_summary(shard)}\n")
        spent += float(np.load(path)["seconds"])


def _counter(name: str, say: Callable[[str], None]) -> Callable[[int], None]:
    return lambda running: say(f"\r{name}: {running:4d} games on ")


def _summary(shard: Shard) -> str:
    """Count the positions; say how a game ends for whoever moves first in its recorded part."""
    first = np.unique(shard["game"], return_index=True)[1]
    return (
        f"{len(shard['policy'])} positions, first player {shard['outcome'][first].mean():+.2f}, "
        f"{shard['seconds']:.0f} s"
    )


def save(path: Path, arrays: Shard) -> None:
    """Write arrays to a file that appears whole or not at all."""
    part = path.with_suffix(".part")
    with part.open("wb") as file:
        np.savez_compressed(file, **arrays)
    part.replace(path)


def shard_paths(folder: Path, number: int) -> list[Path]:
    """Return the shards of a round in the order in which they are made."""
    return sorted(folder.glob(f"round{number}-*.npz"))


def load_shards(paths: list[Path]) -> Shard:
    """Return the positions of several shards, one after the other."""
    shards = [dict(np.load(path)) for path in paths]
    return {name: np.concatenate([shard[name] for shard in shards]) for name in COLUMNS}


def seconds_of(paths: list[Path]) -> float:
    """Return the wall time that the games of these shards took."""
    return sum(float(np.load(path)["seconds"]) for path in paths)


def batches(
    data: Shard, size: int, epochs: float, rng: np.random.Generator
) -> Iterator[tuple[npt.NDArray[np.float32], npt.NDArray[np.float32], npt.NDArray[np.float32]]]:
    """Yield planes, policy and value targets in random order, each turned or mirrored at random.

    The value target is exact where it was proven, else the mean of outcome and root value.
    """
    count = len(data["policy"])
    value = np.where(
        data["proven"], data["root_value"], 0.5 * (data["outcome"] + data["root_value"])
    ).astype(np.float32)
    order = np.concatenate([rng.permutation(count) for _ in range(int(np.ceil(epochs)))])
    for start in range(0, int(count * epochs) - size + 1, size):
        rows = order[start : start + size]
        planes, policy = turned(data["planes"][rows], data["policy"][rows], rng)
        yield planes, policy, value[rows]


def turned(
    planes: npt.NDArray[np.uint8], policy: npt.NDArray[np.float32], rng: np.random.Generator
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Apply a random board symmetry to each row: 8 on a square board, else left to right alone."""
    _, _, height, width = planes.shape
    per_point = policy.shape[1] == height * width  # else one action a column
    boards = planes.astype(np.float32)
    moves = policy.reshape(len(policy), 1, height if per_point else 1, width).copy()
    which = rng.integers(8 if per_point and height == width else 2, size=len(policy))
    for symmetry in range(1, which.max() + 1):
        rows = which == symmetry
        boards[rows], moves[rows] = (_turn(a[rows], symmetry) for a in (boards, moves))
    return boards, moves.reshape(policy.shape)


def _turn(array: npt.NDArray[np.float32], symmetry: int) -> npt.NDArray[np.float32]:
    """Mirror the last axis when bit 0 is set, then turn the last two by 90 degrees at a time."""
    flipped = array[..., ::-1] if symmetry & 1 else array
    return np.rot90(flipped, symmetry >> 1, axes=(-2, -1))
