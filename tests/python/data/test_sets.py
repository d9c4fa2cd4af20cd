"""Datasets: epochs, windows, mixtures, damage, and what PyTorch's loader makes of them."""

from __future__ import annotations

import json
import os
import pickle
import random
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyengine
from data_games import PLAIN, TIC, finished, write
from pyengine import ConfigError, DataError, ModelSpec
from pyengine.data import Dataset, ShardWriter, shards


@pytest.fixture(autouse=True)
def _unsynced(monkeypatch: pytest.MonkeyPatch) -> None:
    """No machine dies here; a busy disk may take seconds for a sync."""
    monkeypatch.setattr(os, "fsync", lambda _number: None)


def some(rng: random.Random, count: int, first: int = 0, full: float = 1.0) -> list[Any]:
    """Return games of tic-tac-toe."""
    return [finished(TIC, PLAIN, first + i, rng, full=full) for i in range(count)]


def keys(batch: Any) -> list[tuple[int, int]]:
    """Which positions the rows are."""
    return list(zip(batch["game"].tolist(), batch["ply"].tolist(), strict=True))


def positions(games: Any) -> list[tuple[int, int]]:
    """Positions of games in their order."""
    return [(game.number, int(ply)) for game in games for ply in game.ply]


@pytest.fixture
def games(rng: random.Random) -> list[Any]:
    """Twelve games."""
    return some(rng, 12)


@pytest.fixture
def data(games: list[Any], tmp_path: Path) -> Path:
    """Their directory, several shards."""
    return write(tmp_path / "data", TIC, PLAIN, games, positions=25)


def test_an_epoch_has_every_row_once(data: Path, games: list[Any]) -> None:
    dataset = Dataset(data)
    batches = list(dataset.batches(7, seed=3))
    assert [len(batch["value"]) for batch in batches[:-1]] == [7] * (len(dataset) // 7)
    shuffled = [key for batch in batches for key in keys(batch)]
    assert sorted(shuffled) == positions(games) != shuffled
    again = [key for batch in dataset.batches(7, seed=3) for key in keys(batch)]
    other = [key for batch in dataset.batches(7, seed=4) for key in keys(batch)]
    assert again == shuffled != other
    in_order = [key for batch in dataset.batches(7, shuffle=False) for key in keys(batch)]
    assert in_order == positions(games)
    even = list(dataset.batches(7, drop_last=True))
    assert {len(batch["value"]) for batch in even} == {7}


def test_rows_and_batches_are_dicts_of_arrays(data: Path) -> None:
    dataset = Dataset(data)
    batch = next(dataset.batches(5))
    shapes = {name: (values.shape, str(values.dtype)) for name, values in batch.items()}
    assert shapes == {
        "planes": ((5, 3, 3, 3), "float32"),
        "policy": ((5, 9), "float32"),
        "value": ((5,), "float32"),
        "root_value": ((5,), "float32"),
        "network_value": ((5,), "float32"),
        "game": ((5,), "int64"),
        "ply": ((5,), "int64"),
        "full": ((5,), "bool"),
        "decided": ((5,), "bool"),
    }
    row = dataset[-1]
    assert row.keys() == batch.keys()
    assert (row["planes"].shape, row["value"].dtype) == ((3, 3, 3), np.float32)
    with pytest.raises(IndexError):
        dataset[len(dataset)]


def test_unaugmented_batches_are_the_rows(data: Path) -> None:
    dataset = Dataset(data)
    batch = next(dataset.batches(len(dataset), shuffle=False, augment=False))
    for i, row in enumerate(dataset):
        for name, value in row.items():
            np.testing.assert_array_equal(value, batch[name][i])


def test_augmented_batches_show_all_symmetries(data: Path) -> None:
    dataset = Dataset(data)
    rng = np.random.default_rng(1)
    plain = dataset[7]["policy"]
    seen = set()
    for _ in range(60):
        batch = dataset.sample(64, rng)
        for key, policy in zip(keys(batch), batch["policy"], strict=True):
            if key == (dataset[7]["game"], dataset[7]["ply"]):
                assert sorted(policy) == sorted(plain)
                seen.add(policy.tobytes())
    assert 2 <= len(seen) <= 8


def test_a_window_has_the_newest_games(data: Path, games: list[Any]) -> None:
    for window in (1, 2, 5, 11, 12, 100):
        dataset = Dataset(data, window=window)
        assert dataset.games == min(window, 12)
        found = keys(next(dataset.batches(1000, shuffle=False)))
        assert found == positions(games[-window:])


def test_rows_of_fast_searches_come_only_when_asked_for(rng: random.Random, tmp_path: Path) -> None:
    games = some(rng, 10, full=0.4)
    write(tmp_path, TIC, PLAIN, games, positions=30)
    every = Dataset(tmp_path, full_only=False)
    batch = next(every.batches(1000, shuffle=False))
    assert keys(batch) == positions(games)
    np.testing.assert_array_equal(batch["full"], np.concatenate([g.full for g in games]))
    full = Dataset(tmp_path, window=4)
    found = keys(next(full.batches(1000, shuffle=False)))
    wanted = [(g.number, int(p)) for g in games[-4:] for p in g.ply[g.full == 1]]
    assert found == wanted


def test_refresh_takes_in_what_a_running_self_play_adds(rng: random.Random, tmp_path: Path) -> None:
    games = some(rng, 9)
    with ShardWriter(tmp_path, TIC, PLAIN) as writer:
        dataset = Dataset(tmp_path, window=4)
        assert (len(dataset), dataset.refresh()) == (0, 0)
        with pytest.raises(ConfigError, match=r"found none"):
            dataset.sample(1, np.random.default_rng(0))
        for number, game in enumerate(games, 1):
            writer.add(game)
            writer.flush()
            assert dataset.refresh() == len(game.visits)
            newest = games[max(0, number - 4) : number]
            assert keys(next(dataset.batches(1000, shuffle=False))) == positions(newest)


def test_shards_that_left_the_window_may_be_deleted(rng: random.Random, tmp_path: Path) -> None:
    games = some(rng, 8)
    for game in games:
        write(tmp_path, TIC, PLAIN, [game])
    for number in range(5):
        for path in tmp_path.glob(f"shard-{number:06d}.*"):
            path.unlink()
    dataset = Dataset(tmp_path, window=3, verify=True)
    assert keys(next(dataset.batches(1000, shuffle=False))) == positions(games[-3:])
    more = some(rng, 1, first=8)
    write(tmp_path, TIC, PLAIN, more)
    assert dataset.refresh() == len(more[0].visits)
    assert keys(next(dataset.batches(1000, shuffle=False))) == positions([*games[-2:], *more])
    with pytest.raises(DataError, match=r"shard-000004\.npy is missing"):
        Dataset(tmp_path, window=5)


def test_a_refresh_that_fails_is_tried_again_by_the_next(
    rng: random.Random, tmp_path: Path
) -> None:
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


def test_an_epoch_that_has_begun_ends_as_it_began(rng: random.Random, tmp_path: Path) -> None:
    old, new = some(rng, 3), some(rng, 3, first=3)
    write(tmp_path, TIC, PLAIN, old)
    dataset = Dataset(tmp_path, window=3)
    epoch = dataset.batches(4, shuffle=False)
    found = keys(next(epoch))
    write(tmp_path, TIC, PLAIN, new)
    dataset.refresh()
    found += [key for batch in epoch for key in keys(batch)]
    assert found == positions(old)
    assert keys(next(dataset.batches(1000, shuffle=False))) == positions(new)


def test_threads_may_sample_while_another_refreshes(rng: random.Random, tmp_path: Path) -> None:
    games = some(rng, 40)
    by_key = {key: game for game in games for key in positions([game])}

    def read(seed: int) -> None:
        generator = np.random.default_rng(seed)
        while not over.is_set():
            batch = dataset.sample(16, generator, augment=False)
            for i, key in enumerate(keys(batch)):
                assert batch["root_value"][i] == by_key[key].root_value[key[1]]

    over = threading.Event()
    with ShardWriter(tmp_path, TIC, PLAIN, positions=1) as writer, ThreadPoolExecutor(3) as pool:
        writer.add(games[0])
        writer.flush()
        dataset = Dataset(tmp_path, window=10)
        readers = [pool.submit(read, seed) for seed in range(3)]
        try:
            for game in games[1:]:
                writer.add(game)
                dataset.refresh()
        finally:
            over.set()
        for reader in readers:
            reader.result()


def test_several_directories_are_one_dataset(rng: random.Random, tmp_path: Path) -> None:
    old = some(rng, 5)
    new = some(rng, 4, first=100)
    paths = [write(tmp_path / "b", TIC, PLAIN, old), write(tmp_path / "a", TIC, PLAIN, new)]
    found = keys(next(Dataset(paths).batches(1000, shuffle=False)))
    assert found == positions(old + new)
    found = keys(next(Dataset(paths, window=6).batches(1000, shuffle=False)))
    assert found == positions(old[-2:] + new)
    found = keys(next(Dataset(paths, window=[1, None]).batches(1000, shuffle=False)))
    assert found == positions(old[-1:] + new)


def test_weights_say_how_often_a_directory_is_sampled(rng: random.Random, tmp_path: Path) -> None:
    paths = [
        write(tmp_path / "a", TIC, PLAIN, some(rng, 2)),
        write(tmp_path / "b", TIC, PLAIN, some(rng, 30, first=100)),
        write(tmp_path / "c", TIC, PLAIN, []),
    ]
    dataset = Dataset(paths, weights=[3, 1, 5])
    drawn = dataset.sample(4000, np.random.default_rng(0))
    share = np.mean(drawn["game"] < 100)
    assert 0.7 < share < 0.8
    epoch = np.concatenate([batch["game"] for batch in dataset.batches(16)])
    assert len(epoch) == len(dataset)
    assert np.mean(epoch < 100) > 0.6
    with pytest.raises(ConfigError, match=r"found none"):
        Dataset(paths, weights=[0, 0, 1]).sample(1, np.random.default_rng(0))
    for weights in ([1, 1], [1, -1, 1], [0, 0, 0], [1, 1, float("nan")]):
        with pytest.raises(ConfigError, match="weights: expected 3 numbers"):
            Dataset(paths, weights=weights)


def test_directories_of_different_games_do_not_mix(rng: random.Random, tmp_path: Path) -> None:
    mnk = pyengine.load_game("mnk")
    other = ModelSpec(planes=("own[0]", "opp[0]"))
    write(tmp_path / "a", TIC, PLAIN, some(rng, 1))
    write(tmp_path / "b", mnk, PLAIN, [finished(mnk, PLAIN, 0, rng)])
    write(tmp_path / "c", TIC, other, [finished(TIC, other, 0, rng)])
    with pytest.raises(ConfigError, match=r"b has another game or spec than .*a: game: expected"):
        Dataset([tmp_path / "a", tmp_path / "b"])
    with pytest.raises(ConfigError, match=r"c has another game or spec than .*a: spec: expected"):
        Dataset([tmp_path / "a", tmp_path / "c"])


@pytest.mark.parametrize("window", [0, -1, [1, 2]])
def test_a_window_out_of_range_is_refused(data: Path, window: Any) -> None:
    with pytest.raises(ConfigError, match=r"window(:| must be)"):
        Dataset(data, window=window)


def test_a_folder_without_a_manifest_is_no_dataset(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"found no .*manifest.json"):
        Dataset(tmp_path)


def test_a_truncated_or_missing_shard_is_named_when_it_is_opened(data: Path) -> None:
    shard = data / "shard-000001.npy"
    content = shard.read_bytes()
    for damaged in (content[:-1], content + b"x", b""):
        shard.write_bytes(damaged)
        with pytest.raises(DataError, match=r"shard-000001.npy is damaged: expected \d+ bytes"):
            Dataset(data)
    shard.unlink()
    with pytest.raises(DataError, match=r"shard-000001.npy is missing"):
        Dataset(data)


def test_a_flipped_bit_is_found_by_verify(data: Path) -> None:
    dataset = Dataset(data, verify=True)
    for name in ("shard-000002.npy", "shard-000001.games.jsonl"):
        content = (data / name).read_bytes()
        (data / name).write_bytes(content[:-9] + bytes([content[-9] ^ 1]) + content[-8:])
        with pytest.raises(DataError, match=f"{name} is damaged: expected SHA-256"):
            dataset.verify()
        with pytest.raises(DataError, match=f"{name} is damaged"):
            Dataset(data, verify=True)
        (data / name).write_bytes(content)


def test_a_damaged_header_is_named_when_it_is_read(data: Path) -> None:
    shard = data / "shard-000000.npy"
    content = shard.read_bytes()
    shard.write_bytes(content.replace(b"visits", b"VISITS", 1))
    dataset = Dataset(data)
    with pytest.raises(DataError, match=r"shard-000000.npy is damaged: expected \d+ records"):
        dataset[0]


def test_a_shard_that_shrinks_after_opening_is_named(data: Path) -> None:
    dataset = Dataset(data)
    shard = data / "shard-000000.npy"
    shard.write_bytes(shard.read_bytes()[:-50])
    with pytest.raises(DataError, match=r"shard-000000.npy is damaged"):
        dataset[0]


@pytest.mark.parametrize(
    "change",
    [
        lambda found: {},
        lambda found: {**found, "format": 4},
        lambda found: {**found, "shards": [{"file": "x"}]},
        lambda found: {**found, "layout": {**found["layout"], "kinds": ["what"]}},
        lambda found: [],
    ],
)
def test_a_damaged_manifest_is_named(data: Path, change: Any) -> None:
    manifest = data / "manifest.json"
    found = json.loads(manifest.read_text())
    manifest.write_text(json.dumps(change(found)))
    with pytest.raises(DataError, match=r"manifest.json"):
        Dataset(data)
    manifest.write_text("{")
    with pytest.raises(DataError, match=r"manifest.json is damaged"):
        Dataset(data)


def test_more_shards_than_maps_are_read_alike(
    games: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shards, "_most_maps", lambda: 2)
    dataset = Dataset(write(tmp_path, TIC, PLAIN, games, positions=1))
    found = [key for batch in dataset.batches(5) for key in keys(batch)]
    assert sorted(found) == positions(games)
    assert len(dataset._maps._maps) == 2


def test_a_dataset_pickles_after_it_was_read(data: Path) -> None:
    dataset = Dataset(data)
    first = dataset[3]
    again = pickle.loads(pickle.dumps(dataset))
    np.testing.assert_array_equal(again[3]["planes"], first["planes"])


@pytest.mark.parametrize("workers", [0, 2])
def test_it_works_with_the_loader_of_pytorch(data: Path, games: list[Any], workers: int) -> None:
    torch = pytest.importorskip("torch")
    dataset = Dataset(data, augment=True)
    dataset[0]
    loader = torch.utils.data.DataLoader(dataset, batch_size=8, shuffle=True, num_workers=workers)
    found = []
    for batch in loader:
        assert batch["planes"].dtype == torch.float32
        assert batch["planes"].shape[1:] == (3, 3, 3)
        assert torch.allclose(batch["policy"].sum(1), torch.ones(len(batch["policy"])))
        found += keys(batch)
    assert sorted(found) == positions(games)


def test_the_symmetry_of_a_row_is_a_function_of_seed_and_epoch(data: Path) -> None:
    def shown(dataset: Dataset) -> bytes:
        return b"".join(row["planes"].tobytes() for row in dataset)

    dataset = Dataset(data, augment=True, seed=5)
    first = shown(dataset)
    assert shown(Dataset(data, augment=True, seed=5)) == first
    assert shown(Dataset(data, augment=True, seed=6)) != first
    dataset.set_epoch(1)
    assert shown(dataset) != first
    assert shown(Dataset(data)) not in (first, shown(dataset))
