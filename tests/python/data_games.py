"""Random games with made-up visits and values, for the tests of training data."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import pyengine
from pyengine import ModelSpec, _core
from pyengine.data import Dataset, FinishedGame, ShardWriter


def play(game: Any, rng: random.Random, plies: int | None = None) -> list[Any]:
    """Return the states of a random game, including the last one."""
    states = [game.new_initial_state()]
    while not states[-1].is_terminal() and (plies is None or len(states) <= plies):
        following = states[-1].clone()
        following.apply_action(rng.choice(following.legal_actions()))
        states.append(following)
    return states


def finished(
    game: Any,
    spec: ModelSpec,
    number: int,
    rng: random.Random,
    *,
    plies: int | None = None,
    full: float = 1.0,
    **fields: Any,
) -> FinishedGame:
    """Return a random game; ``full`` is the fraction of full searches."""
    states = play(game, rng, plies)
    searched = states[:-1]
    moves = states[-1].history()
    rand = np.random.default_rng(rng.randrange(2**32))
    n, actions = len(searched), game.num_distinct_actions()
    visits = np.zeros((n, actions), np.uint16)
    for row, state in zip(visits, searched, strict=True):
        row[state.legal_actions()] = rand.integers(1, 50, len(state.legal_actions()))
    bits, fill, dense = _core.encode_planes(searched, spec)
    defaults: dict[str, Any] = {
        "number": number,
        "returns": tuple(states[-1].returns()),
        "moves": np.array(moves, np.uint16),
        "bits": bits,
        "fill": fill,
        "dense": dense,
        "visits": visits,
        "root_value": rand.uniform(-1, 1, n).astype(np.float32),
        "network_value": rand.uniform(-1, 1, n).astype(np.float32),
        "ply": np.arange(n, dtype=np.uint16),
        "action": np.array(moves, np.uint16),
        "to_move": np.array([state.current_player() for state in searched], np.uint8),
        "full": (rand.random(n) < full).astype(np.uint8),
    }
    return FinishedGame(**{**defaults, **fields})


def cut(game: FinishedGame, rows: int, **changes: Any) -> FinishedGame:
    """Return the game with only its first recorded positions."""
    names = [field.name for field in dataclasses.fields(game)]
    columns = {name: getattr(game, name)[:rows] for name in names[names.index("bits") :]}
    return dataclasses.replace(game, **{**columns, **changes})


def write(
    directory: Path,
    game: Any,
    spec: ModelSpec,
    games: Sequence[FinishedGame],
    **options: Any,
) -> Path:
    """Write games to a directory; ``positions`` limits the size of a shard."""
    with ShardWriter(directory, game, spec, **options) as writer:
        for finished_game in games:
            writer.add(finished_game)
    return directory


TIC = pyengine.load_game("tic_tac_toe")
PLAIN = ModelSpec()


def some(rng: random.Random, count: int, first: int = 0, **fields: Any) -> list[FinishedGame]:
    """Return games of tic-tac-toe."""
    return [finished(TIC, PLAIN, first + i, rng, **fields) for i in range(count)]


def keys(batch: Any) -> list[tuple[int, int]]:
    """Return game and ply of each row."""
    return list(zip(batch["game"].tolist(), batch["ply"].tolist(), strict=True))


def all_rows(data: Any) -> Any:
    """Return all rows of one or more directories as one batch."""
    dataset = Dataset(data, full_only=False)
    return next(dataset.batches(len(dataset), shuffle=False, augment=False))
