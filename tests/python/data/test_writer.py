"""The writer of shards: what is on disk, and what a crash or a full disk costs."""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import hashlib
import json
import os
import random
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyengine
from data_games import PLAIN, TIC, finished, unrecorded, write
from pyengine import ConfigError, DataError, ModelSpec
from pyengine.base import files
from pyengine.data import (
    CUT_SHORT,
    FULL_SEARCH,
    RESIGNATION_OFF,
    RESIGNED,
    VALUE_ALONE,
    Dataset,
    Layout,
    ShardWriter,
)


def some(rng: random.Random, count: int, first: int = 0, **given: Any) -> list[Any]:
    """Return games of tic-tac-toe."""
    return [finished(TIC, PLAIN, first + i, rng, **given) for i in range(count)]


def add_all(writer: ShardWriter, games: list[Any]) -> None:
    """Hand games over."""
    for game in games:
        writer.add(game)


def manifest(directory: Path) -> dict[str, Any]:
    """Return the manifest as plain values."""
    found: dict[str, Any] = json.loads((directory / "manifest.json").read_text())
    return found


def test_a_shard_is_a_numpy_file_of_the_documented_records(
    rng: random.Random, tmp_path: Path
) -> None:
    resigned = finished(TIC, PLAIN, 7, rng, resigned=1, full=0.5)
    played_on = finished(TIC, PLAIN, 8, rng, resignation_off=True)
    write(tmp_path, TIC, PLAIN, [resigned, played_on])
    rows = np.load(tmp_path / "shard-000000.npy", mmap_mode="r")
    assert rows.dtype.names == (
        *("bits", "fill", "visits", "value", "root_value", "network_value"),
        *("game", "ply", "action", "to_move", "flags"),
    )
    n = len(resigned.visits)
    assert list(rows["game"]) == [7] * n + [8] * len(played_on.visits)
    np.testing.assert_array_equal(rows["bits"][:n], resigned.bits)
    np.testing.assert_array_equal(rows["fill"][:n], resigned.fill)
    np.testing.assert_array_equal(rows["visits"][n:], played_on.visits)
    for name in ("root_value", "network_value", "ply", "action", "to_move"):
        np.testing.assert_array_equal(rows[name][:n], getattr(resigned, name))
    expected = np.where(resigned.full, FULL_SEARCH | RESIGNED, RESIGNED)
    np.testing.assert_array_equal(rows["flags"][:n], expected)
    assert set(rows["flags"][n:]) == {FULL_SEARCH | RESIGNATION_OFF}
    lines = (tmp_path / "shard-000000.games.jsonl").read_text().splitlines()
    first = json.loads(lines[0])
    assert (first["number"], first["positions"], first["resigned"]) == (7, n, 1)
    assert first["moves"] == resigned.moves.tolist()
    assert first["full"] == "".join(map(str, resigned.full))


def test_the_manifest_says_what_there_is_and_how_it_came_about(
    rng: random.Random, tmp_path: Path
) -> None:
    games = some(rng, 6)
    configuration = {"simulations": 100, "seed": 1}
    with ShardWriter(
        tmp_path, TIC, PLAIN, configuration=configuration, model_sha256="aa", positions=20
    ) as writer:
        for game in games:
            writer.add(game)
        writer.set_model("aa")
        writer.set_model("bb")
    found = manifest(tmp_path)
    positions = sum(len(game.visits) for game in games)
    assert (found["format"], found["games"], found["positions"]) == (3, 6, positions)
    assert found["configuration"] == configuration
    assert found["model_sha256"] == ["aa", "bb"]
    assert found["layout"]["game"] == "tic_tac_toe"
    assert ModelSpec.from_dict(found["layout"]["spec"]) == PLAIN
    assert sum(shard["games"] for shard in found["shards"]) == 6
    for shard in found["shards"]:
        data = (tmp_path / shard["file"]).read_bytes()
        assert (len(data), hashlib.sha256(data).hexdigest()) == (shard["bytes"], shard["sha256"])
        assert shard["positions"] <= 20
    Dataset(tmp_path).verify()


def test_a_game_that_was_cut_short_is_marked_and_is_no_value_target(
    rng: random.Random, tmp_path: Path
) -> None:
    games = [finished(TIC, PLAIN, 0, rng), finished(TIC, PLAIN, 1, rng, plies=3, cut_short=True)]
    directory = write(tmp_path, TIC, PLAIN, games)
    flags = np.load(tmp_path / "shard-000000.npy")["flags"]
    assert set(flags[-3:]) == {FULL_SEARCH | CUT_SHORT}
    assert not (flags[:-3] & CUT_SHORT).any()
    lines = (tmp_path / "shard-000000.games.jsonl").read_text().splitlines()
    assert [json.loads(line)["cut_short"] for line in lines] == [False, True]
    rows = next(Dataset(directory).batches(100, shuffle=False))
    expected = [True] * (len(flags) - 3) + [False] * 3
    assert rows["decided"].tolist() == expected
    assert rows["full"].all()
    (file,) = pyengine.convert(directory, "npz", tmp_path / "npz", on_progress=lambda *_: None)
    assert np.load(file)["decided"].tolist() == expected
    for wrong in ({"returns": (1.0, -1.0)}, {"resigned": 0}):
        with pytest.raises(ConfigError, match="cut_short: expected returns of 0 and nobody"):
            dataclasses.replace(games[1], **wrong).records(Dataset(directory).layout)


def test_a_full_search_that_teaches_the_value_alone_is_kept_for_that(
    rng: random.Random, tmp_path: Path
) -> None:
    game = finished(TIC, PLAIN, 0, rng, full=0.6)
    taught = np.arange(len(game.full), dtype=np.uint8) % 2
    write(tmp_path, TIC, PLAIN, [dataclasses.replace(game, taught=taught)])
    flags = np.load(tmp_path / "shard-000000.npy")["flags"]
    np.testing.assert_array_equal(flags & FULL_SEARCH, game.full)
    np.testing.assert_array_equal((flags & VALUE_ALONE) != 0, (game.full == 1) & (taught == 0))
    data = Dataset(tmp_path)
    assert len(data) == game.full.sum()
    rows = next(data.batches(100, shuffle=False))
    np.testing.assert_array_equal(rows["full"], taught[game.full == 1] == 1)
    np.testing.assert_allclose(rows["policy"].sum(1), 1, rtol=1e-6)
    for wrong in (taught[1:], taught + 1):
        with pytest.raises(ConfigError, match=r"^taught"):
            dataclasses.replace(game, taught=wrong).records(data.layout)


def test_a_shard_closes_when_it_is_old(
    rng: random.Random, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    with ShardWriter(tmp_path, TIC, PLAIN) as writer:
        now += 1000.0
        writer.add(some(rng, 1)[0])
        now += 9.9
        writer.tick()
        assert (len(writer.shards), writer.games) == (0, 1)
        now += 0.1
        writer.tick()
        assert (len(writer.shards), writer.games) == (1, 1)
        writer.tick()
        assert len(writer.shards) == 1


def test_a_game_longer_than_a_shard_has_one_to_itself(rng: random.Random, tmp_path: Path) -> None:
    write(tmp_path, TIC, PLAIN, some(rng, 3), positions=2)
    assert [shard["games"] for shard in manifest(tmp_path)["shards"]] == [1, 1, 1]


def test_a_game_without_recorded_positions_is_in_the_list(
    rng: random.Random, tmp_path: Path
) -> None:
    write(tmp_path, TIC, PLAIN, [unrecorded(some(rng, 1)[0])])
    dataset = Dataset(tmp_path)
    assert (len(dataset), dataset.games, list(dataset.batches(4))) == (0, 1, [])


def test_a_directory_goes_on_after_its_last_shard(rng: random.Random, tmp_path: Path) -> None:
    write(tmp_path, TIC, PLAIN, some(rng, 2), configuration={"seed": 1}, model_sha256="aa")
    write(tmp_path, TIC, PLAIN, some(rng, 3, first=2), model_sha256="bb")
    found = manifest(tmp_path)
    assert [shard["games"] for shard in found["shards"]] == [2, 3]
    assert (found["configuration"], found["model_sha256"]) == ({"seed": 1}, ["aa", "bb"])
    assert sorted({int(row["game"]) for row in Dataset(tmp_path)}) == [0, 1, 2, 3, 4]


def test_numbers_of_games_go_on_after_the_largest(rng: random.Random, tmp_path: Path) -> None:
    with ShardWriter(tmp_path, TIC, PLAIN, positions=1) as writer:
        assert writer.next_number == 0
        for number in (3, 9, 4):
            writer.add(some(rng, 1, first=number)[0])
        assert writer.next_number == 10
    writer = ShardWriter(tmp_path, TIC, PLAIN)
    assert writer.next_number == 10
    writer.close()


def test_a_directory_knows_what_its_newest_games_that_were_played_on_say(
    rng: random.Random, tmp_path: Path
) -> None:
    games = some(rng, 30)
    for number, game in enumerate(games):
        if number % 3 == 0:
            games[number] = dataclasses.replace(game, resignation_off=True, lowest=-number / 30)
    write(tmp_path, TIC, PLAIN, games[:20], positions=30)
    known = [-number / 30 for number in range(0, 30, 3)]
    with ShardWriter(tmp_path, TIC, PLAIN) as writer:
        assert writer.played_on() == known[:7]
        add_all(writer, games[20:])
        assert writer.played_on() == known
    listing = "".join(path.read_text() for path in sorted(tmp_path.glob("*.jsonl")))
    assert listing.count('"lowest"') == len(known)
    with pytest.raises(ConfigError, match="lowest: expected a number in"):
        dataclasses.replace(games[0], lowest=-2.0).records(Dataset(tmp_path).layout)


def test_another_game_or_spec_is_refused(rng: random.Random, tmp_path: Path) -> None:
    write(tmp_path, TIC, PLAIN, some(rng, 1))
    other = pyengine.load_game("mnk")
    with pytest.raises(ConfigError, match=r"game: expected tic_tac_toe, found mnk\(rows=3"):
        ShardWriter(tmp_path, other, PLAIN)
    with pytest.raises(ConfigError, match=r"spec: expected .*own\[0\].*, found .*first\[0\]"):
        ShardWriter(tmp_path, TIC, ModelSpec(planes=("first[0]",)))


def test_a_directory_that_is_refused_has_no_new_file(tmp_path: Path) -> None:
    foreign = tmp_path / "shard-000003.npy"
    foreign.write_bytes(b"of somebody else")
    with pytest.raises(DataError, match="is not in"):
        ShardWriter(tmp_path, TIC, PLAIN)
    assert list(tmp_path.iterdir()) == [foreign]


def test_two_writers_in_a_directory_are_one_too_many(tmp_path: Path) -> None:
    first = ShardWriter(tmp_path, TIC, PLAIN)
    with pytest.raises(ConfigError, match="one writer at a time"):
        ShardWriter(tmp_path, TIC, PLAIN)
    first.close()
    ShardWriter(tmp_path, TIC, PLAIN).close()


def test_a_game_that_does_not_fit_is_refused_and_the_others_stay(
    rng: random.Random, tmp_path: Path
) -> None:
    good, bad = some(rng, 2)
    wrong = {
        "visits": bad.visits[:, :8],
        "bits": bad.bits[:-1],
        "ply": bad.ply[1:],
        "returns": (2.0, -2.0),
        "root_value": bad.root_value * np.nan,
        "network_value": bad.network_value * np.inf,
        "action": bad.action[::-1],
        "to_move": bad.to_move + 1,
        "number": 2**32,
    }
    with ShardWriter(tmp_path, TIC, PLAIN) as writer:
        writer.add(good)
        for name, value in wrong.items():
            with pytest.raises(ConfigError, match=f"^{name}"):
                writer.add(dataclasses.replace(bad, **{name: value}))
    assert manifest(tmp_path)["games"] == 1


def test_what_contradicts_itself_is_refused(rng: random.Random) -> None:
    layout, (game,) = Layout.of(TIC, PLAIN), some(rng, 1)
    with pytest.raises(ConfigError, match=r"^returns must sum to 0, found \(1.0, 1.0\)"):
        dataclasses.replace(game, returns=(1.0, 1.0)).records(layout)
    with pytest.raises(ConfigError, match=r"^ply must be below 2, the number of moves"):
        dataclasses.replace(game, moves=game.moves[:2]).records(layout)
    with pytest.raises(ConfigError, match=r"^ply must increase from row to row, found"):
        dataclasses.replace(game, ply=game.ply * 0).records(layout)
    other = (game.action + 1) % TIC.num_distinct_actions()
    with pytest.raises(ConfigError, match=rf"^action must be .*, {game.action[0]} in row 0, found"):
        dataclasses.replace(game, action=other).records(layout)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("visits", 70_000),
        ("visits", 0.7),
        ("visits", -1),
        ("ply", 70_000),
        ("fill", 1e39),
        ("root_value", -1e39),
        ("network_value", 1e39),
    ],
)
def test_a_number_that_its_column_cannot_hold_is_refused(
    name: str, value: float, rng: random.Random, tmp_path: Path
) -> None:
    (game,) = some(rng, 1)
    column = np.array(getattr(game, name), type(value))
    column.flat[0] = value
    with (
        ShardWriter(tmp_path, TIC, PLAIN) as writer,
        pytest.raises(ConfigError, match=f"^{name} must be"),
    ):
        writer.add(dataclasses.replace(game, **{name: column}))


def test_a_full_search_without_visits_is_refused_unless_it_teaches_no_policy(
    rng: random.Random, tmp_path: Path
) -> None:
    (game,) = some(rng, 1)
    visits, taught = game.visits.copy(), np.ones(len(game.visits), np.uint8)
    visits[2] = taught[2] = 0
    bad = dataclasses.replace(game, visits=visits, taught=None)
    with ShardWriter(tmp_path, TIC, PLAIN) as writer:
        with pytest.raises(ConfigError, match=r"^visits of a full search .* found row 2"):
            writer.add(bad)
        writer.add(dataclasses.replace(bad, taught=taught))
        writer.add(dataclasses.replace(bad, full=taught, number=1))


def crash_at(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Let the process die where this file would be written."""
    real = files.write_durably

    def write_durably(path: Path, parts: Any) -> Any:
        if path.name == name:
            path.with_name(path.name + ".tmp").write_bytes(b"half")
            raise KeyboardInterrupt
        return real(path, parts)

    for module in ("writer", "manifest"):
        monkeypatch.setattr(f"pyengine.data.{module}.write_durably", write_durably)


@pytest.mark.parametrize(
    ("at", "kept"),
    [("shard-000001.games.jsonl", 1), ("shard-000001.npy", 1), ("manifest.json", 2)],
)
def test_a_crash_between_two_files_leaves_a_directory_that_opens(
    at: str, kept: int, rng: random.Random, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, TIC, PLAIN, some(rng, 1))
    writer = ShardWriter(tmp_path, TIC, PLAIN)
    writer.add(some(rng, 1, first=1)[0])
    with monkeypatch.context() as patch:
        crash_at(patch, at)
        with pytest.raises(KeyboardInterrupt):
            writer.flush()
    writer._lock.close()  # as after kill -9
    if at != "manifest.json":
        assert Dataset(tmp_path).games == 1
    (tmp_path / "shard-000009.npy.tmp").write_bytes(b"half")
    ShardWriter(tmp_path, TIC, PLAIN).close()
    assert Dataset(tmp_path, verify=True).games == kept
    assert len(manifest(tmp_path)["shards"]) == kept
    assert not list(tmp_path.glob("*.tmp"))
    listed = {path.name for path in tmp_path.glob("shard-*")}
    assert len(listed) == 2 * kept


def test_a_shard_that_is_unlisted_and_damaged_is_named(rng: random.Random, tmp_path: Path) -> None:
    write(tmp_path, TIC, PLAIN, some(rng, 3), positions=2)
    found = manifest(tmp_path)
    listed = {**found, "shards": found["shards"][:2]}
    last = tmp_path / "shard-000002.npy"
    (tmp_path / "manifest.json").write_text(json.dumps(listed))
    data = last.read_bytes()
    last.write_bytes(data[:-1])
    with pytest.raises(DataError, match=r"shard-000002.npy is damaged"):
        ShardWriter(tmp_path, TIC, PLAIN)
    last.write_bytes(data)
    ShardWriter(tmp_path, TIC, PLAIN).close()
    assert manifest(tmp_path)["shards"][:2] == found["shards"][:2]
    assert manifest(tmp_path)["games"] == 3
    last.rename(tmp_path / "shard-000005.npy")
    (tmp_path / "manifest.json").write_text(json.dumps(listed))
    with pytest.raises(DataError, match=r"shard-000005.npy is not in .*expected 2 shards"):
        ShardWriter(tmp_path, TIC, PLAIN)


def test_a_full_disk_names_the_shard_and_loses_nothing(
    rng: random.Random, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.fsync

    def fsync(number: int) -> None:
        if stat.S_ISREG(os.fstat(number).st_mode):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(number)

    games = some(rng, 7)
    with ShardWriter(tmp_path, TIC, PLAIN, positions=1) as writer:
        add_all(writer, games[:3])
        closed = writer.shards
        monkeypatch.setattr(os, "fsync", fsync)
        for game in games[3:]:
            with pytest.raises(DataError, match=r"shard-000003.npy cannot .* No space left"):
                writer.add(game)
        assert (writer.games, writer.shards) == (7, closed)
        assert not list(tmp_path.glob("*.tmp"))
        assert Dataset(tmp_path, verify=True).games == 3
        monkeypatch.undo()
    assert Dataset(tmp_path, verify=True).games == 7


@pytest.mark.skipif(sys.platform != "linux", reason="needs a small tmpfs")
def test_a_disk_that_is_really_full_keeps_what_is_on_it(rng: random.Random, tmp_path: Path) -> None:
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(tmp_path)], capture_output=True
    )
    if mounted.returncode != 0:
        pytest.skip(f"cannot mount a tmpfs: {mounted.stderr.decode().strip()}")
    try:
        _fill_up(tmp_path, rng)
    finally:
        subprocess.run(["umount", "-l", str(tmp_path)], check=False)


def _fill_up(directory: Path, rng: random.Random) -> None:
    writer = ShardWriter(directory, TIC, PLAIN, positions=30)
    with pytest.raises(DataError, match=r"shard-0000\d\d|manifest.json"):
        add_all(writer, some(rng, 2000))
    on_disk = sum(shard.games for shard in writer.shards)
    assert writer.games > on_disk > 0
    with contextlib.suppress(DataError):
        writer.close()
    writer._lock.close()
    assert Dataset(directory, verify=True).games in (on_disk, on_disk - writer.shards[-1].games)


_ENDLESS = """
import random, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from data_games import PLAIN, TIC, finished
from pyengine.data import ShardWriter
rng = random.Random(0)
games = [finished(TIC, PLAIN, i, rng) for i in range(20)]
with ShardWriter(Path(sys.argv[1]), TIC, PLAIN, positions=64) as writer:
    while True:
        for game in games:
            writer.add(game)
            print(len(writer.shards), flush=True)
"""


def test_kill_9_at_any_moment_costs_the_open_shard_at_most(
    rng: random.Random, tmp_path: Path
) -> None:
    if sys.platform == "win32":
        pytest.skip("no SIGKILL")
    closed = 0
    for _ in range(5):
        command = [sys.executable, "-c", _ENDLESS, str(tmp_path), str(Path(__file__).parents[1])]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            wanted = rng.randrange(1, 120)
            lines = [process.stdout.readline() for _ in range(wanted)]
            time.sleep(rng.random() * 0.01)
            process.send_signal(signal.SIGKILL)
            lines += process.stdout.readlines()
        told = int([line for line in lines if line.endswith("\n")][-1])
        assert told >= closed
        ShardWriter(tmp_path, TIC, PLAIN).close()
        dataset = Dataset(tmp_path, verify=True)
        found = len(manifest(tmp_path)["shards"])
        assert found >= told
        assert len(dataset) == sum(shard["positions"] for shard in manifest(tmp_path)["shards"])
        closed = found
    assert closed > 0
