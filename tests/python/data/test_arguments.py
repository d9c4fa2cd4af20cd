"""What a dataset is asked for: nothing at all, and what it cannot be asked for."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyengine
from data_games import PLAIN, TIC, finished, unrecorded, write
from pyengine import ConfigError, ModelSpec
from pyengine.data import Dataset

GOMOKU = pyengine.load_game("gomoku", board_size=5)


@pytest.fixture(autouse=True)
def _unsynced(monkeypatch: pytest.MonkeyPatch) -> None:
    """No machine dies here; a busy disk may take seconds for a sync."""
    monkeypatch.setattr(os, "fsync", lambda _number: None)


@pytest.fixture
def data(rng: random.Random, tmp_path: Path) -> Path:
    """Three games, two shards or more."""
    games = [finished(TIC, PLAIN, number, rng) for number in range(3)]
    return write(tmp_path / "data", TIC, PLAIN, games, positions=10)


def shapes(batch: Any) -> dict[str, tuple[Any, ...]]:
    """Return what a batch's arrays are, a row at a time."""
    return {name: (values.shape[1:], values.dtype) for name, values in batch.items()}


@pytest.mark.parametrize(
    ("game", "spec"),
    [(TIC, PLAIN), (TIC, ModelSpec(layout="NHWC")), (GOMOKU, ModelSpec.gomoku17())],
    ids=["bits and numbers", "channels last", "dense"],
)
def test_no_rows_are_a_batch_of_the_same_arrays(
    game: Any, spec: ModelSpec, rng: random.Random, tmp_path: Path
) -> None:
    dataset = Dataset(write(tmp_path, game, spec, [finished(game, spec, 0, rng)]), weights=[1])
    nothing = np.zeros(0, np.uint8)
    generator = np.random.default_rng(0)
    some = dataset.rows([0, 1])
    for batch in (
        dataset.rows([]),
        dataset.rows(np.zeros(0, np.int64), nothing),
        dataset.sample(0, generator),
        dataset.sample(0, generator, augment=False),
    ):
        assert {len(values) for values in batch.values()} == {0}
        assert shapes(batch) == shapes(some)
    assert list(dataset.__getitems__([])) == []
    assert list(Dataset(tmp_path, augment=True).__getitems__([])) == []


def test_a_shard_without_positions_is_converted(rng: random.Random, tmp_path: Path) -> None:
    one = unrecorded(finished(GOMOKU, PLAIN, 0, rng))
    (file,) = pyengine.convert(write(tmp_path / "data", GOMOKU, PLAIN, [one]), "npz")
    assert np.load(file)["planes"].shape == (0, 3, 5, 5)


def test_whole_numbers_of_any_kind_are_taken(data: Path) -> None:
    dataset = Dataset(data, window=np.int64(2), seed=np.uint8(3))
    assert dataset.games == 2
    assert dataset[np.int32(1)]["ply"] == dataset[1]["ply"]
    assert len(dataset.rows(np.array([0, 1], np.uint16))["ply"]) == 2
    assert len(next(dataset.batches(np.int64(2)))["ply"]) == 2


Call = Callable[[Dataset], Any]
GENERATOR = np.random.default_rng(0)

REFUSED: dict[str, tuple[Call, type[Exception], str]] = {
    "half a row": (lambda d: d[1.5], TypeError, "index must be a whole number, found 1.5"),
    "a row's name": (lambda d: d["1"], TypeError, "index must be a whole number, found '1'"),
    "rows between rows": (lambda d: d.rows([0.7, 1.2]), TypeError, "indices must be whole"),
    "a mask": (lambda d: d.rows([True, False]), TypeError, "indices must be whole"),
    "rows of rows": (lambda d: d.rows([[0, 1]]), TypeError, "indices must be .* one dimension"),
    "a row too far": (lambda d: d.rows([0, len(d)]), IndexError, r"found 0 to \d+"),
    "a row before the first": (lambda d: d.rows([-1]), IndexError, "found -1 to -1"),
    "an item before the first": (lambda d: d.__getitems__([-1]), IndexError, "found -1 to -1"),
    "symmetries that are none": (
        lambda d: d.rows([0, 1], np.array([9, 0], np.uint8)),
        ConfigError,
        r"symmetries must be 2 whole numbers in 0\.\.7, found .*9",
    ),
    "symmetries below 0": (lambda d: d.rows([0], [-1]), ConfigError, "symmetries must be 1"),
    "too few symmetries": (lambda d: d.rows([0, 1], [0]), ConfigError, "symmetries must be 2"),
    "half a symmetry": (lambda d: d.rows([0], [0.5]), ConfigError, "symmetries must be 1"),
    "fewer than none": (lambda d: d.sample(-1, GENERATOR), ConfigError, "size: .* found -1"),
    "half a sample": (lambda d: d.sample(2.5, GENERATOR), ConfigError, "size: .* found 2.5"),
    "batches of none": (lambda d: d.batches(0), ConfigError, "size: .* at least 1, found 0"),
    "batches of halves": (lambda d: d.batches(2.5), ConfigError, "size: .* found 2.5"),
    "a seed below 0": (lambda d: d.batches(2, seed=-1), ConfigError, "seed: .* found -1"),
    "an epoch below 0": (lambda d: d.set_epoch(-1), ConfigError, "epoch: .* found -1"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_asked_for_is_refused_by_name(name: str, data: Path) -> None:
    call, kind, message = REFUSED[name]
    with pytest.raises(kind, match=message):
        call(Dataset(data, augment=True))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("window", 1.5),
        ("window", "5"),
        ("window", [1.5]),
        ("weights", 3),
        ("weights", ["x"]),
        ("seed", -1),
        ("seed", 1.5),
    ],
)
def test_a_dataset_is_not_made_of_arguments_that_cannot_be(
    name: str, value: Any, data: Path
) -> None:
    with pytest.raises(ConfigError, match=f"^{name}(:| must be) .*, found"):
        Dataset(data, **{name: value})
