"""ShardWriter: the files on disk, and the effects of a crash or a full disk."""

from __future__ import annotations

import dataclasses
import errno
import hashlib
import json
import multiprocessing
import os
import random
import stat
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyengine
from data_games import PLAIN, TIC, all_rows, cut, finished, some, write
from pyengine import ConfigError, DataError, ModelSpec
from pyengine.base import files
from pyengine.data import (
    CUT_SHORT,
    FULL_SEARCH,
    RESIGNATION_OFF,
    RESIGNED,
    VALUE_ALONE,
    Dataset,
    ShardWriter,
)


def add_all(writer: ShardWriter, games: list[Any]) -> None:
    for game in games:
        writer.add(game)


def manifest(directory: Path) -> dict[str, Any]:
    values: dict[str, Any] = json.loads((directory / "manifest.json").read_text())
    return values


def test_a_shard_is_a_numpy_file_of_documented_records(rng: random.Random, tmp_path: Path) -> None:
    resigned = finished(TIC, PLAIN, 7, rng, resigned=1, full=0.5)
    played_on = finished(TIC, PLAIN, 8, rng, resignation_off=True)
    cut_short = finished(TIC, PLAIN, 9, rng, plies=3, cut_short=True)
    write(tmp_path, TIC, PLAIN, [resigned, played_on, cut_short])
    rows = np.load(tmp_path / "shard-000000.npy")
    assert rows.dtype.names == (
        *("bits", "fill", "visits", "value", "root_value", "network_value"),
        *("game", "ply", "action", "to_move", "flags"),
    )
    n = len(resigned.visits)
    assert list(rows["game"]) == [7] * n + [8] * len(played_on.visits) + [9] * 3
    for name in ("bits", "fill", "visits", "root_value", "network_value", "ply", "action"):
        np.testing.assert_array_equal(rows[name][:n], getattr(resigned, name))
    expected = np.where(resigned.full, FULL_SEARCH | RESIGNED, RESIGNED)
    np.testing.assert_array_equal(rows["flags"][:n], expected)
    assert set(rows["flags"][n:-3]) == {FULL_SEARCH | RESIGNATION_OFF}
    assert set(rows["flags"][-3:]) == {FULL_SEARCH | CUT_SHORT}
    text = (tmp_path / "shard-000000.games.jsonl").read_text()
    first, _, last = map(json.loads, text.splitlines())
    assert (first["number"], first["positions"], first["resigned"]) == (7, n, 1)
    assert first["moves"] == resigned.moves.tolist()
    assert first["full"] == "".join(map(str, resigned.full))
    assert (first["cut_short"], last["cut_short"]) == (False, True)
    assert all_rows(tmp_path)["decided"].tolist() == [True] * (len(rows) - 3) + [False] * 3


def test_the_manifest_describes_shards_and_their_origin(rng: random.Random, tmp_path: Path) -> None:
    games = some(rng, 6)
    configuration = {"simulations": 100, "seed": 1}
    with ShardWriter(
        tmp_path, TIC, PLAIN, configuration=configuration, model_sha256="aa", positions=20
    ) as writer:
        add_all(writer, games)
        writer.set_model("aa")
        writer.set_model("bb")
    values = manifest(tmp_path)
    positions = sum(len(game.visits) for game in games)
    assert (values["format"], values["games"], values["positions"]) == (3, 6, positions)
    assert (values["configuration"], values["model_sha256"]) == (configuration, ["aa", "bb"])
    assert values["layout"]["game"] == "tic_tac_toe"
    assert ModelSpec.from_dict(values["layout"]["spec"]) == PLAIN
    assert sum(shard["games"] for shard in values["shards"]) == 6
    for shard in values["shards"]:
        data = (tmp_path / shard["file"]).read_bytes()
        assert (len(data), hashlib.sha256(data).hexdigest()) == (shard["bytes"], shard["sha256"])
        assert shard["positions"] <= 20
    Dataset(tmp_path).verify()


def test_a_full_search_may_be_a_target_for_value_only(rng: random.Random, tmp_path: Path) -> None:
    game = finished(TIC, PLAIN, 0, rng, full=0.6)
    taught = np.arange(len(game.full), dtype=np.uint8) % 2
    visits = game.visits * taught[:, None]  # the other rows need no visits
    write(tmp_path, TIC, PLAIN, [dataclasses.replace(game, taught=taught, visits=visits)])
    flags = np.load(tmp_path / "shard-000000.npy")["flags"]
    np.testing.assert_array_equal(flags & FULL_SEARCH, game.full)
    np.testing.assert_array_equal((flags & VALUE_ALONE) != 0, (game.full == 1) & (taught == 0))
    rows = next(Dataset(tmp_path).batches(100, shuffle=False))
    np.testing.assert_array_equal(rows["full"], taught[game.full == 1] == 1)
    np.testing.assert_allclose(rows["policy"].sum(1), rows["full"], rtol=1e-6)


def test_a_shard_is_closed_after_ten_seconds(
    rng: random.Random, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    with ShardWriter(tmp_path, TIC, PLAIN) as writer:
        now += 1000.0
        writer.add(some(rng, 1)[0])
        for seconds, closed in ((9.9, 0), (0.1, 1), (0.0, 1)):
            now += seconds
            writer.tick()
            assert (len(writer.shards), writer.games) == (closed, 1)


def test_very_long_and_empty_games_are_listed(rng: random.Random, tmp_path: Path) -> None:
    write(tmp_path / "long", TIC, PLAIN, some(rng, 3), positions=2)
    assert [shard["games"] for shard in manifest(tmp_path / "long")["shards"]] == [1, 1, 1]
    empty = write(tmp_path / "empty", TIC, PLAIN, [cut(some(rng, 1)[0], 0)])
    dataset = Dataset(empty)
    assert (len(dataset), dataset.games, list(dataset.batches(4))) == (0, 1, [])
    (file,) = pyengine.convert(empty, "npz")
    assert np.load(file)["planes"].shape == (0, 3, 3, 3)


def test_a_writer_continues_shards_and_numbers(rng: random.Random, tmp_path: Path) -> None:
    with ShardWriter(
        tmp_path, TIC, PLAIN, configuration={"seed": 1}, model_sha256="aa", positions=1
    ) as writer:
        assert writer.next_number == 0
        for number in (3, 9, 4):
            writer.add(some(rng, 1, first=number)[0])
        assert writer.next_number == 10
    with ShardWriter(tmp_path, TIC, PLAIN, model_sha256="bb") as writer:
        assert writer.next_number == 10
        add_all(writer, some(rng, 2, first=10))
    values = manifest(tmp_path)
    assert [shard["games"] for shard in values["shards"]] == [1, 1, 1, 2]
    assert (values["configuration"], values["model_sha256"]) == ({"seed": 1}, ["aa", "bb"])
    assert {int(row["game"]) for row in Dataset(tmp_path)} == {3, 9, 4, 10, 11}


def test_played_on_returns_the_newest_lowest_values(rng: random.Random, tmp_path: Path) -> None:
    games = some(rng, 30)
    for number in range(0, 30, 3):
        changes: dict[str, Any] = {"resignation_off": True, "lowest": -number / 30}
        games[number] = dataclasses.replace(games[number], **changes)
    write(tmp_path, TIC, PLAIN, games[:20], positions=30)
    known = [-number / 30 for number in range(0, 30, 3)]
    with ShardWriter(tmp_path, TIC, PLAIN) as writer:
        assert writer.played_on() == known[:7]
        add_all(writer, games[20:])
        assert writer.played_on() == known
    listing = "".join(path.read_text() for path in sorted(tmp_path.glob("*.jsonl")))
    assert listing.count('"lowest"') == len(known)


def test_another_game_spec_or_writer_is_refused(rng: random.Random, tmp_path: Path) -> None:
    write(tmp_path, TIC, PLAIN, some(rng, 1))
    with pytest.raises(ConfigError, match=r"game: expected tic_tac_toe, got mnk\(rows=3"):
        ShardWriter(tmp_path, pyengine.load_game("mnk"), PLAIN)
    with pytest.raises(ConfigError, match=r"spec: expected .*own\[0\].*, got .*first\[0\]"):
        ShardWriter(tmp_path, TIC, ModelSpec(planes=("first[0]",)))
    with (
        ShardWriter(tmp_path, TIC, PLAIN),
        pytest.raises(ConfigError, match="another writer"),
    ):
        ShardWriter(tmp_path, TIC, PLAIN)
    ShardWriter(tmp_path, TIC, PLAIN).close()


def crash_at(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Simulate a crash while the named file is written."""
    real = files.write_durably

    def write_durably(path: Path, parts: Any) -> Any:
        if path.name == name:
            files.temporary_beside(path).write_bytes(b"half")
            raise KeyboardInterrupt
        return real(path, parts)

    for module in ("writer", "manifest"):
        monkeypatch.setattr(f"pyengine.data.{module}.write_durably", write_durably)


@pytest.mark.parametrize(
    ("at", "remaining"),
    [("shard-000001.games.jsonl", 1), ("shard-000001.npy", 1), ("manifest.json", 2)],
)
def test_a_crash_between_two_files_leaves_a_directory_that_opens(
    at: str, remaining: int, rng: random.Random, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, TIC, PLAIN, some(rng, 1))
    writer = ShardWriter(tmp_path, TIC, PLAIN)
    writer.add(some(rng, 1, first=1)[0])
    with monkeypatch.context() as patch:
        crash_at(patch, at)
        with pytest.raises(KeyboardInterrupt):
            writer.flush()
    writer._lock.release()  # simulates kill -9
    if at != "manifest.json":
        assert Dataset(tmp_path).games == 1
    files.temporary_beside(tmp_path / "shard-000009.npy")
    ShardWriter(tmp_path, TIC, PLAIN).close()
    assert Dataset(tmp_path, verify=True).games == remaining
    assert len(manifest(tmp_path)["shards"]) == remaining
    assert not list(tmp_path.glob("*.tmp"))
    assert len(list(tmp_path.glob("shard-*"))) == 2 * remaining


def test_only_a_complete_unlisted_shard_is_added(rng: random.Random, tmp_path: Path) -> None:
    write(tmp_path, TIC, PLAIN, some(rng, 3), positions=2)
    values = manifest(tmp_path)
    listed = json.dumps({**values, "shards": values["shards"][:2]})
    (tmp_path / "manifest.json").write_text(listed)
    last = tmp_path / "shard-000002.npy"
    data = last.read_bytes()
    last.write_bytes(data[:-1])
    with pytest.raises(DataError, match=r"shard-000002.npy is damaged"):
        ShardWriter(tmp_path, TIC, PLAIN)
    last.write_bytes(data)
    ShardWriter(tmp_path, TIC, PLAIN).close()
    assert manifest(tmp_path)["shards"][:2] == values["shards"][:2]
    assert manifest(tmp_path)["games"] == 3
    last.rename(tmp_path / "shard-000005.npy")
    (tmp_path / "manifest.json").write_text(listed)
    with pytest.raises(DataError, match=r"shard-000005.npy is not in .*lists 2 shards"):
        ShardWriter(tmp_path, TIC, PLAIN)
    (tmp_path / "manifest.json").unlink()
    with pytest.raises(DataError, match="is not in"):
        ShardWriter(tmp_path, TIC, PLAIN)
    assert not (tmp_path / "manifest.json").exists()


def test_a_full_disk_names_the_shard_and_loses_nothing(
    rng: random.Random, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fsync(number: int) -> None:
        if stat.S_ISREG(os.fstat(number).st_mode):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    games = some(rng, 7)
    with ShardWriter(tmp_path, TIC, PLAIN, positions=1) as writer:
        add_all(writer, games[:3])
        closed = writer.shards
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", fsync)
            for game in games[3:]:
                with pytest.raises(DataError, match=r"shard-000003.npy cannot .* No space left"):
                    writer.add(game)
            assert (writer.games, writer.shards) == (7, closed)
            assert not list(tmp_path.glob("*.tmp"))
            assert Dataset(tmp_path, verify=True).games == 3
    assert Dataset(tmp_path, verify=True).games == 7


def write_forever(directory: Path) -> None:
    games = some(random.Random(0), 20)
    with ShardWriter(directory, TIC, PLAIN, positions=64) as writer:
        while True:
            add_all(writer, games)


@pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="fork is not supported"
)
def test_kill_9_loses_at_most_the_open_shard(rng: random.Random, tmp_path: Path) -> None:
    process = multiprocessing.get_context("fork").Process(
        target=write_forever, args=[tmp_path], daemon=True
    )
    process.start()
    deadline = time.monotonic() + 60
    while not (tmp_path / "shard-000002.npy").exists() and time.monotonic() < deadline:
        time.sleep(rng.random() * 0.01)
    closed = len(manifest(tmp_path)["shards"])
    process.kill()
    process.join()
    ShardWriter(tmp_path, TIC, PLAIN).close()
    dataset, shards = Dataset(tmp_path, verify=True), manifest(tmp_path)["shards"]
    assert len(shards) >= closed > 0
    assert len(dataset) == sum(shard["positions"] for shard in shards)
