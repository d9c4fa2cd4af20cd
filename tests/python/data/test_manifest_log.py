"""The log of a long manifest: one line per shard, and readers read each line once."""

from __future__ import annotations

import itertools
import json
import os
import random
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from data_games import PLAIN, TIC, some, write
from pyengine import DataError
from pyengine.data import Dataset, Manifest, ShardWriter, manifest, window
from pyengine.train.loop.state import RunFolder


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use a log for more than two shards."""
    monkeypatch.setattr(manifest, "_WHOLE", 2)


@pytest.fixture
def open_log(rng: random.Random, tmp_path: Path) -> Callable[..., tuple[ShardWriter, Path]]:
    """Write one shard per game; return the open writer and its log."""

    def opened(count: int) -> tuple[ShardWriter, Path]:
        writer = ShardWriter(tmp_path, TIC, PLAIN, positions=1)
        for number, game in enumerate(some(rng, count)):
            writer.set_model(f"{number:064x}")
            writer.add(game)
        (log,) = manifest.logs_of(tmp_path)
        return writer, log

    return opened


def listed(directory: Path) -> int:
    """Return the number of shards in manifest.json, without the log."""
    return len(json.loads((directory / "manifest.json").read_text())["shards"])


def counted(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> list[Any]:
    """Record the first argument of each call in the returned list."""
    calls: list[Any] = []
    real = getattr(owner, name)

    def call(first: Any, *others: Any) -> Any:
        calls.append(first)
        return real(first, *others)

    monkeypatch.setattr(owner, name, call)
    return calls


def test_a_shard_adds_a_line_to_the_log_and_closing_merges_it(
    rng: random.Random, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = counted(monkeypatch, Manifest, "write")
    folder, sizes = RunFolder(tmp_path / "run"), []
    data = folder.data("tic_tac_toe")
    with ShardWriter(data, TIC, PLAIN, positions=1) as writer:
        for game in some(rng, 20, full=0.5):
            writer.add(game)
            sizes.append(sum(log.stat().st_size for log in manifest.logs_of(data)))
            games = len(writer.shards)
            assert Dataset(data).games == writer.games == games
            assert folder.produced("tic_tac_toe").games == games
        assert len(written) == 3  # on opening, and for two shards
        assert listed(data) == 2
        steps = {later - size for size, later in itertools.pairwise(sizes[2:])}
        assert max(steps) - min(steps) <= 25  # numbers and times differ in length
    assert listed(data) == 20
    assert manifest.logs_of(data) == []
    assert Dataset(data, verify=True).games == 20
    produced = folder.produced("tic_tac_toe")
    assert produced.positions == len(Dataset(data, full_only=False))
    assert produced.full == len(Dataset(data))


def test_a_crash_loses_only_an_incomplete_line(open_log: Any, tmp_path: Path) -> None:
    writer, log = open_log(6)
    writer._lock.release()  # simulates kill -9
    with log.open("ab") as file:
        file.write(b'{"file": "shard-0000')
    dataset = Dataset(tmp_path, verify=True)
    assert dataset.games == 6
    assert dataset.model_sha256 == tuple(f"{number:064x}" for number in range(6))
    with ShardWriter(tmp_path, TIC, PLAIN) as second:
        assert (second.games, second.next_number, listed(tmp_path)) == (6, 6, 6)
        assert manifest.logs_of(tmp_path) == []
    assert dataset.refresh() == 0


def test_a_stale_log_is_ignored(open_log: Any, rng: random.Random, tmp_path: Path) -> None:
    writer, log = open_log(5)
    shutil.copy(log, tmp_path / "copy")
    writer.close()
    (tmp_path / "copy").rename(log)
    assert Dataset(tmp_path).games == 5
    write(tmp_path, TIC, PLAIN, some(rng, 2, first=5), positions=1)
    assert Dataset(tmp_path, verify=True).games == 7
    assert manifest.logs_of(tmp_path) == []


def test_a_log_that_cannot_be_removed_does_not_stop_writers(
    open_log: Any, rng: random.Random, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer, _ = open_log(5)
    writer._lock.release()
    remove = Path.unlink

    def in_use(path: Path, missing_ok: bool = False) -> None:
        if path in manifest.logs_of(tmp_path):
            raise PermissionError(13, "a reader has it open", str(path))
        remove(path, missing_ok)

    monkeypatch.setattr(Path, "unlink", in_use)
    with ShardWriter(tmp_path, TIC, PLAIN, positions=1) as second:
        for game in some(rng, 3, first=5):
            second.add(game)
            assert Dataset(tmp_path).games == second.games
        assert listed(tmp_path) == 5
    assert Dataset(tmp_path, verify=True).games == listed(tmp_path) == 8


def test_a_full_disk_names_the_log_and_loses_nothing(
    open_log: Any, rng: random.Random, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer, log = open_log(4)
    whole = log.read_bytes()

    def fsync(number: int) -> None:
        if os.fstat(number).st_ino == log.stat().st_ino:
            raise OSError(28, "No space left on device")

    first, second = some(rng, 2, first=4)
    with writer:
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", fsync)
            with pytest.raises(DataError, match=r"manifest-.*log.* cannot be written: .*No space"):
                writer.add(first)
        assert log.read_bytes() == whole
        writer.add(second)
        assert Dataset(tmp_path).games == 6


def test_a_damaged_log_is_named(open_log: Any, tmp_path: Path) -> None:
    writer, log = open_log(4)
    writer._lock.release()
    content = log.read_bytes()
    for line in (b"{", b"[]", b"3", b'{"file": "shard-000003.npy"}', b'{"model_sha256": 3}'):
        log.write_bytes(line + b"\n" + content)
        with pytest.raises(DataError, match=rf"{log.name} is damaged"):
            Dataset(tmp_path)


def test_readers_see_a_directory_grow_across_writers(rng: random.Random, tmp_path: Path) -> None:
    games = some(rng, 19)
    write(tmp_path, TIC, PLAIN, games[:3], positions=1)
    done = threading.Event()

    def play() -> None:
        for number in range(3, 19, 4):
            write(tmp_path, TIC, PLAIN, games[number : number + 4], positions=1)
        done.set()

    player = threading.Thread(target=play)
    player.start()
    dataset, games_before = Dataset(tmp_path), 3
    while not done.is_set():
        dataset.refresh()
        now = Dataset(tmp_path).games
        assert games_before <= dataset.games <= now
        games_before = now
    player.join()
    dataset.refresh()
    assert dataset.games == Dataset(tmp_path, verify=True).games == 19


def test_a_moved_window_reads_only_the_lists_of_new_shards(
    rng: random.Random, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = counted(monkeypatch, window, "read_games")
    with ShardWriter(tmp_path, TIC, PLAIN, positions=1) as writer:
        for game in some(rng, 9, full=0.5):
            writer.add(game)
        whole = counted(monkeypatch, Manifest, "read_alone")
        dataset = Dataset(tmp_path, window=6)
        assert len(whole) == 1
        for games, size in ((some(rng, 2, first=9, full=0.5), 7), ([], 9), ([], 4)):
            for game in games:
                writer.add(game)
            read.clear()
            before = {piece.path for piece in dataset.pieces}
            dataset.set_window(size)
            new = {piece.path.stem for piece in dataset.pieces if piece.path not in before}
            assert {path.name.split(".")[0] for path in read} <= new
            again = Dataset(tmp_path, window=size)
            assert list(dataset.pieces) == list(again.pieces)
            assert dataset.games == size
            whole.clear()
            dataset.refresh()
            assert whole == []
