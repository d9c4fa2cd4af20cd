"""The log of a long manifest: a shard costs a line, and readers read each line once."""

from __future__ import annotations

import itertools
import json
import os
import random
import shutil
import threading
from pathlib import Path
from typing import Any

import pytest

from data_games import PLAIN, TIC, finished, write
from pyengine import DataError
from pyengine.data import Dataset, Manifest, ShardWriter, manifest_log, manifest_writer, source
from pyengine.train.loop.state import RunFolder


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    """A manifest of two shards is long enough for a log; no machine dies here."""
    monkeypatch.setattr(manifest_writer, "_WHOLE", 2)
    monkeypatch.setattr(os, "fsync", lambda _number: None)


def some(rng: random.Random, count: int, first: int = 0, full: float = 1.0) -> list[Any]:
    """Return games of tic-tac-toe."""
    return [finished(TIC, PLAIN, first + i, rng, full=full) for i in range(count)]


def listed(directory: Path) -> int:
    """Return how many shards manifest.json alone lists."""
    return len(json.loads((directory / "manifest.json").read_text())["shards"])


def counted(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str) -> list[Any]:
    """Return a list that gets the first argument of each call."""
    calls: list[Any] = []
    real = getattr(owner, name)

    def call(first: Any, *others: Any) -> Any:
        calls.append(first)
        return real(first, *others)

    monkeypatch.setattr(owner, name, call)
    return calls


def killed(writer: ShardWriter) -> None:
    """Let the writer's process die."""
    writer._lock.close()


def test_each_shard_of_a_long_directory_costs_a_line_and_closing_lists_all(
    rng: random.Random, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = counted(monkeypatch, Manifest, "write")
    sizes = []
    with ShardWriter(tmp_path, TIC, PLAIN, positions=1) as writer:
        for game in some(rng, 20):
            writer.add(game)
            sizes.append(sum(log.stat().st_size for log in manifest_log.logs_of(tmp_path)))
            assert Dataset(tmp_path).games == len(writer.shards) == writer.games
        assert len(written) == 3  # the beginning and two shards
        assert listed(tmp_path) == 2
        steps = {later - size for size, later in itertools.pairwise(sizes[2:])}
        assert max(steps) - min(steps) <= 25  # digits of numbers and times
    assert listed(tmp_path) == 20
    assert manifest_log.logs_of(tmp_path) == []
    assert Dataset(tmp_path, verify=True).games == 20


def test_a_dead_writer_costs_no_line_but_half_a_one(rng: random.Random, tmp_path: Path) -> None:
    writer = ShardWriter(tmp_path, TIC, PLAIN, positions=1)
    for number, game in enumerate(some(rng, 6)):
        writer.set_model(f"{number:064x}")
        writer.add(game)
    killed(writer)
    (log,) = manifest_log.logs_of(tmp_path)
    with log.open("ab") as file:
        file.write(b'{"file": "shard-0000')
    dataset = Dataset(tmp_path, verify=True)
    assert dataset.games == 6
    assert dataset.model_sha256 == tuple(f"{number:064x}" for number in range(6))
    with ShardWriter(tmp_path, TIC, PLAIN) as second:
        assert (second.games, second.next_number, listed(tmp_path)) == (6, 6, 6)
        assert manifest_log.logs_of(tmp_path) == []
    assert dataset.refresh() == 0


def test_a_log_that_a_crash_left_beside_its_manifest_counts_no_more(
    rng: random.Random, tmp_path: Path
) -> None:
    writer = ShardWriter(tmp_path, TIC, PLAIN, positions=1)
    for game in some(rng, 5):
        writer.add(game)
    (log,) = manifest_log.logs_of(tmp_path)
    shutil.copy(log, tmp_path / "kept")
    writer.close()
    (tmp_path / "kept").rename(log)
    assert Dataset(tmp_path).games == 5
    write(tmp_path, TIC, PLAIN, some(rng, 2, first=5), positions=1)
    assert Dataset(tmp_path, verify=True).games == 7
    assert manifest_log.logs_of(tmp_path) == []


def test_a_log_that_cannot_be_removed_stops_no_writer(
    rng: random.Random, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = ShardWriter(tmp_path, TIC, PLAIN, positions=1)
    for game in some(rng, 5):
        writer.add(game)
    killed(writer)
    remove = Path.unlink

    def in_use(path: Path, missing_ok: bool = False) -> None:
        if path in manifest_log.logs_of(tmp_path):
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
    rng: random.Random, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    games = some(rng, 6)
    with ShardWriter(tmp_path, TIC, PLAIN, positions=1) as writer:
        for game in games[:4]:
            writer.add(game)
        (log,) = manifest_log.logs_of(tmp_path)
        whole = log.read_bytes()

        def fsync(number: int) -> None:
            if os.fstat(number).st_ino == log.stat().st_ino:
                raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", fsync)
        with pytest.raises(DataError, match=r"manifest-.*log.* cannot be written: .*No space"):
            writer.add(games[4])
        assert log.read_bytes() == whole
        monkeypatch.setattr(os, "fsync", lambda _number: None)
        writer.add(games[5])
        assert Dataset(tmp_path).games == 6


@pytest.mark.parametrize(
    "line", [b"{", b"[]", b'{"file": "shard-000003.npy"}', b'{"model_sha256": 3}']
)
def test_a_damaged_log_is_named(line: bytes, rng: random.Random, tmp_path: Path) -> None:
    writer = ShardWriter(tmp_path, TIC, PLAIN, positions=1)
    for game in some(rng, 4):
        writer.add(game)
    killed(writer)
    (log,) = manifest_log.logs_of(tmp_path)
    log.write_bytes(line + b"\n" + log.read_bytes())
    with pytest.raises(DataError, match=rf"{log.name} is damaged"):
        Dataset(tmp_path)


def test_readers_see_a_directory_grow_while_writers_come_and_go(
    rng: random.Random, tmp_path: Path
) -> None:
    write(tmp_path, TIC, PLAIN, some(rng, 3), positions=1)
    games = some(rng, 60, first=3)
    over = threading.Event()

    def play() -> None:
        for number in range(0, 60, 4):
            write(tmp_path, TIC, PLAIN, games[number : number + 4], positions=1)
        over.set()

    player = threading.Thread(target=play)
    player.start()
    dataset, seen = Dataset(tmp_path), 3
    while not over.is_set():
        dataset.refresh()
        anew = Dataset(tmp_path).games
        assert seen <= dataset.games <= anew
        seen = anew
    player.join()
    dataset.refresh()
    assert dataset.games == Dataset(tmp_path, verify=True).games == 63


def test_a_window_that_moves_reads_the_lists_of_new_shards_alone(
    rng: random.Random, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = counted(monkeypatch, source, "read_games")
    with ShardWriter(tmp_path, TIC, PLAIN, positions=1) as writer:
        for game in some(rng, 9, full=0.5):
            writer.add(game)
        whole = counted(monkeypatch, Manifest, "read_alone")
        dataset = Dataset(tmp_path, window=6)
        assert len(whole) == 1
        for games, window in ((some(rng, 2, first=9, full=0.5), 7), ([], 9), ([], 4)):
            for game in games:
                writer.add(game)
            read.clear()
            before = {piece.path for piece in dataset.pieces}
            dataset.set_window(window)
            assert {path.name.split(".")[0] for path in read} <= {
                piece.path.stem for piece in dataset.pieces if piece.path not in before
            }
            assert [piece.key for piece in dataset.pieces] == [
                piece.key for piece in Dataset(tmp_path, window=window).pieces
            ]
            assert dataset.games == window
            whole.clear()
            dataset.refresh()
            assert whole == []


def test_a_run_counts_what_the_log_has(rng: random.Random, tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    data = folder.data("tic_tac_toe")
    assert folder.produced("tic_tac_toe").games == 0
    with ShardWriter(data, TIC, PLAIN, positions=1) as writer:
        for number, game in enumerate(some(rng, 8, full=0.5), 1):
            writer.add(game)
            assert folder.produced("tic_tac_toe").games == number
    found = folder.produced("tic_tac_toe")
    assert (found.games, found.positions) == (8, len(Dataset(data, full_only=False)))
    assert found.full == len(Dataset(data))
