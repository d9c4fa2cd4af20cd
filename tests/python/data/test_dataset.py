"""Datasets: epochs, windows, several directories, and growing directories."""

from __future__ import annotations

import pickle
import random
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyengine
from data_games import PLAIN, TIC, all_rows, finished, keys, some, write
from pyengine import ConfigError, DataError, ModelSpec
from pyengine.data import Dataset, ShardWriter


def positions(games: Any) -> list[tuple[int, int]]:
    """Return the positions of games in order."""
    return [(game.number, int(ply)) for game in games for ply in game.ply]


def rows_of(dataset: Dataset) -> list[tuple[int, int]]:
    """Return the positions of a dataset in order."""
    return keys(next(dataset.batches(1000, shuffle=False)))


@pytest.fixture
def games(rng: random.Random) -> list[Any]:
    """Twelve games of tic-tac-toe."""
    return some(rng, 12)


@pytest.fixture
def data(games: list[Any], tmp_path: Path) -> Path:
    """A directory with these games in several shards."""
    return write(tmp_path / "data", TIC, PLAIN, games, positions=25)


def test_an_epoch_has_every_row_once(data: Path, games: list[Any]) -> None:
    dataset = Dataset(data)

    def epoch(**options: Any) -> list[tuple[int, int]]:
        return [key for batch in dataset.batches(7, **options) for key in keys(batch)]

    batches = list(dataset.batches(7, seed=3))
    assert [len(batch["value"]) for batch in batches[:-1]] == [7] * (len(dataset) // 7)
    shuffled = epoch(seed=3)
    assert sorted(shuffled) == positions(games) != shuffled
    assert epoch(seed=3) == shuffled != epoch(seed=4)
    assert epoch(shuffle=False) == positions(games)
    assert {len(batch["value"]) for batch in dataset.batches(7, drop_last=True)} == {7}


@pytest.mark.parametrize(
    ("game", "spec", "planes"),
    [
        (TIC, PLAIN, (3, 3, 3)),
        (TIC, ModelSpec(layout="NHWC", planes=("own[0]", "opp[0]")), (3, 3, 2)),
        (pyengine.load_game("gomoku", board_size=5), ModelSpec.gomoku17(), (17, 5, 5)),
    ],
    ids=["bits and numbers", "channels last", "dense"],
)
def test_rows_and_batches_of_any_size_have_the_same_arrays(
    game: Any, spec: ModelSpec, planes: Any, rng: random.Random, tmp_path: Path
) -> None:
    dataset = Dataset(write(tmp_path, game, spec, [finished(game, spec, 0, rng)]), weights=[1])
    expected = {
        "planes": (planes, "float32"),
        "policy": ((game.num_distinct_actions(),), "float32"),
        **dict.fromkeys(("value", "root_value", "network_value"), ((), "float32")),
        **dict.fromkeys(("game", "ply"), ((), "int64")),
        **dict.fromkeys(("full", "decided"), ((), "bool")),
    }
    generator = np.random.default_rng(0)
    for size, batch in (
        (5, next(dataset.batches(5))),
        (0, dataset.rows([])),
        (0, dataset.rows(np.zeros(0, np.int64), np.zeros(0, np.uint8))),
        (0, dataset.sample(0, generator)),
        (0, dataset.sample(0, generator, augment=False)),
    ):
        assert {len(values) for values in batch.values()} == {size}
        shapes = {name: (values.shape[1:], str(values.dtype)) for name, values in batch.items()}
        assert shapes == expected
    row = dataset[-1]
    assert {name: (np.shape(value), str(value.dtype)) for name, value in row.items()} == expected
    assert list(dataset.__getitems__([])) == []
    assert list(Dataset(tmp_path, augment=True).__getitems__([])) == []


def test_batches_without_augmentation_equal_the_rows_even_after_pickling(data: Path) -> None:
    dataset = Dataset(data)
    batch = all_rows(data)
    for rows in (dataset, pickle.loads(pickle.dumps(dataset))):
        for i, row in enumerate(rows):
            for name, value in row.items():
                np.testing.assert_array_equal(value, batch[name][i])


def test_augmented_batches_show_all_symmetries(rng: random.Random, tmp_path: Path) -> None:
    dataset = Dataset(write(tmp_path, TIC, PLAIN, some(rng, 1)))
    seen = {policy.tobytes() for policy in dataset.rows([1] * 8, range(8))["policy"]}
    batch = dataset.sample(600, np.random.default_rng(1))
    drawn = {p.tobytes() for p, ply in zip(batch["policy"], batch["ply"], strict=True) if ply == 1}
    assert drawn == seen


def test_the_symmetry_of_a_row_depends_on_seed_and_epoch(data: Path) -> None:
    def planes(dataset: Dataset) -> bytes:
        return b"".join(row["planes"].tobytes() for row in dataset)

    dataset = Dataset(data, augment=True, seed=5, window=3)
    first = planes(dataset)
    assert planes(Dataset(data, augment=True, seed=5, window=3)) == first
    assert planes(Dataset(data, augment=True, seed=6, window=3)) != first
    dataset.set_epoch(1)
    assert planes(dataset) != first
    assert planes(Dataset(data, window=3)) not in (first, planes(dataset))


def test_a_window_has_the_newest_games(data: Path, games: list[Any]) -> None:
    for window in (1, 2, 5, 11, 12, 100):
        dataset = Dataset(data, window=window)
        assert dataset.games == min(window, 12)
        assert rows_of(dataset) == positions(games[-window:])


def test_fast_searches_are_included_only_on_request(rng: random.Random, tmp_path: Path) -> None:
    games = some(rng, 10, full=0.4)
    write(tmp_path, TIC, PLAIN, games, positions=30)
    batch = all_rows(tmp_path)
    assert keys(batch) == positions(games)
    np.testing.assert_array_equal(batch["full"], np.concatenate([g.full for g in games]))
    full = [(g.number, int(p)) for g in games[-4:] for p in g.ply[g.full == 1]]
    assert rows_of(Dataset(tmp_path, window=4)) == full


def test_refresh_adds_the_games_of_a_running_self_play(rng: random.Random, tmp_path: Path) -> None:
    games = some(rng, 9)
    with ShardWriter(tmp_path, TIC, PLAIN) as writer:
        dataset = Dataset(tmp_path, window=4)
        assert (len(dataset), dataset.refresh()) == (0, 0)
        with pytest.raises(ConfigError, match="no positions to sample"):
            dataset.sample(1, np.random.default_rng(0))
        for number, game in enumerate(games, 1):
            writer.add(game)
            writer.flush()
            assert dataset.refresh() == len(game.visits)
            assert rows_of(dataset) == positions(games[max(0, number - 4) : number])


def test_shards_outside_the_window_may_be_deleted(rng: random.Random, tmp_path: Path) -> None:
    games = some(rng, 9)
    write(tmp_path, TIC, PLAIN, games[:8], positions=1)
    for number in range(5):
        for path in tmp_path.glob(f"shard-{number:06d}.*"):
            path.unlink()
    dataset = Dataset(tmp_path, window=3, verify=True)
    assert rows_of(dataset) == positions(games[5:8])
    write(tmp_path, TIC, PLAIN, games[8:])
    assert dataset.refresh() == len(games[8].visits)
    assert rows_of(dataset) == positions(games[6:])
    with pytest.raises(DataError, match=r"shard-000004\.npy is missing"):
        Dataset(tmp_path, window=5)


def test_a_failed_refresh_can_be_repeated(rng: random.Random, tmp_path: Path) -> None:
    write(tmp_path, TIC, PLAIN, some(rng, 1))
    dataset = Dataset(tmp_path)
    write(tmp_path, TIC, PLAIN, some(rng, 1, first=1))
    shard = tmp_path / "shard-000001.npy"
    whole = shard.read_bytes()
    shard.write_bytes(whole[:-1])
    for _ in range(2):
        with pytest.raises(DataError, match=r"shard-000001\.npy"):
            dataset.refresh()
    shard.write_bytes(whole)
    assert dataset.refresh() > 0
    assert dataset.games == 2


def test_a_directory_that_lost_a_shard_is_not_refreshed(rng: random.Random, tmp_path: Path) -> None:
    write(tmp_path / "data", TIC, PLAIN, some(rng, 1))
    dataset = Dataset(tmp_path / "data")
    (tmp_path / "data").rename(tmp_path / "old")
    write(tmp_path / "data", TIC, PLAIN, some(rng, 2))
    with pytest.raises(DataError, match=r"manifest\.json no longer has its first 1 shards"):
        dataset.refresh()


def test_refresh_does_not_affect_a_running_epoch(rng: random.Random, tmp_path: Path) -> None:
    old, new = some(rng, 3), some(rng, 3, first=3)
    write(tmp_path, TIC, PLAIN, old)
    dataset = Dataset(tmp_path, window=3)
    epoch = dataset.batches(4, shuffle=False)
    seen = keys(next(epoch))
    write(tmp_path, TIC, PLAIN, new)
    dataset.refresh()
    seen += [key for batch in epoch for key in keys(batch)]
    assert seen == positions(old)
    assert rows_of(dataset) == positions(new)


def test_threads_may_sample_while_another_refreshes(rng: random.Random, tmp_path: Path) -> None:
    games = some(rng, 15)
    by_key = {key: game for game in games for key in positions([game])}

    def read(seed: int) -> None:
        generator = np.random.default_rng(seed)
        while not done.is_set():
            batch = dataset.sample(16, generator, augment=False)
            for i, key in enumerate(keys(batch)):
                assert batch["root_value"][i] == by_key[key].root_value[key[1]]

    done = threading.Event()
    with ShardWriter(tmp_path, TIC, PLAIN, positions=1) as writer, ThreadPoolExecutor(2) as pool:
        writer.add(games[0])
        dataset = Dataset(tmp_path, window=10, reply=True, horizons=[6])
        readers = [pool.submit(read, seed) for seed in range(2)]
        try:
            for game in games[1:]:
                writer.add(game)
                dataset.refresh()
        finally:
            done.set()
        for reader in readers:
            reader.result()


def test_a_dataset_may_have_several_directories(rng: random.Random, tmp_path: Path) -> None:
    old, new = some(rng, 5), some(rng, 4, first=100)
    paths = [write(tmp_path / "b", TIC, PLAIN, old), write(tmp_path / "a", TIC, PLAIN, new)]
    assert rows_of(Dataset(paths)) == positions(old + new)
    assert rows_of(Dataset(paths, window=6)) == positions(old[-2:] + new)
    assert rows_of(Dataset(paths, window=[1, None])) == positions(old[-1:] + new)


def test_weights_set_how_often_a_directory_is_sampled(rng: random.Random, tmp_path: Path) -> None:
    paths = [
        write(tmp_path / "a", TIC, PLAIN, some(rng, 2)),
        write(tmp_path / "b", TIC, PLAIN, some(rng, 30, first=100)),
        write(tmp_path / "c", TIC, PLAIN, []),
    ]
    dataset = Dataset(paths, weights=[3, 1, 5])
    drawn = dataset.sample(4000, np.random.default_rng(0))
    assert 0.7 < np.mean(drawn["game"] < 100) < 0.8
    epoch = np.concatenate([batch["game"] for batch in dataset.batches(16)])
    assert len(epoch) == len(dataset)
    assert np.mean(epoch < 100) > 0.6
    with pytest.raises(ConfigError, match="no directory with positions"):
        Dataset(paths, weights=[0, 0, 1]).sample(1, np.random.default_rng(0))


def test_directories_with_different_games_are_refused(rng: random.Random, tmp_path: Path) -> None:
    first = write(tmp_path / "first", TIC, PLAIN, [])
    mnk, other = pyengine.load_game("mnk"), ModelSpec(planes=("own[0]", "opp[0]"))
    for field, game, spec in (("game", mnk, PLAIN), ("spec", TIC, other)):
        second = write(tmp_path / field, game, spec, [])
        with pytest.raises(ConfigError, match=rf"another game or spec than .*: {field}: expected"):
            Dataset([first, second])
