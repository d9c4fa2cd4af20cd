"""Finished games for the tests of training data: random play, made-up visits and values."""

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
    """Return the states of a random game, the last one included."""
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
    **given: Any,
) -> FinishedGame:
    """Return a random game; ``full`` is the share of full searches."""
    states = play(game, rng, plies)
    asked = states[:-1]
    moves = states[-1].history()
    rand = np.random.default_rng(rng.randrange(2**32))
    n, actions = len(asked), game.num_distinct_actions()
    visits = np.zeros((n, actions), np.uint16)
    for row, state in zip(visits, asked, strict=True):
        row[state.legal_actions()] = rand.integers(1, 50, len(state.legal_actions()))
    bits, fill, dense = _core.encode_planes(asked, spec)
    fields: dict[str, Any] = {
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
        "to_move": np.array([state.current_player() for state in asked], np.uint8),
        "full": (rand.random(n) < full).astype(np.uint8),
    }
    return FinishedGame(**{**fields, **given})


def unrecorded(game: FinishedGame) -> FinishedGame:
    """Return the game without its positions."""
    names = [field.name for field in dataclasses.fields(game)]
    columns = names[names.index("bits") :]
    return dataclasses.replace(game, **{name: getattr(game, name)[:0] for name in columns})


def write(
    directory: Path,
    game: Any,
    spec: ModelSpec,
    games: Sequence[FinishedGame],
    **options: Any,
) -> Path:
    """Write games to a directory; ``positions`` says when a shard is full."""
    with ShardWriter(directory, game, spec, **options) as writer:
        for one in games:
            writer.add(one)
    return directory


TIC = pyengine.load_game("tic_tac_toe")
PLAIN = ModelSpec()


def some(rng: random.Random, count: int, first: int = 0, **given: Any) -> list[FinishedGame]:
    """Return games of tic-tac-toe."""
    return [finished(TIC, PLAIN, first + i, rng, **given) for i in range(count)]


def keys(batch: Any) -> list[tuple[int, int]]:
    """Return game and ply of each row."""
    return list(zip(batch["game"].tolist(), batch["ply"].tolist(), strict=True))


def all_rows(data: Any) -> Any:
    """Return a whole directory, or several, as one batch."""
    dataset = Dataset(data, full_only=False)
    return next(dataset.batches(len(dataset), shuffle=False, augment=False))
