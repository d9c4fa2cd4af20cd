"""Damaged manifests and lists of games: whatever is wrong in them, the error names the file."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import pyengine
from data_games import PLAIN, TIC, finished, write
from pyengine import DataError
from pyengine.data import Dataset, ShardWriter, export_sgf

HUGE = 10**25

#: Values that no manifest has, by the names on the way to them.
WRONG: dict[str, tuple[Any, ...]] = {
    "format": (None, "x", 1.5, True, 0, 4),
    "layout": (None, [], {}),
    "configuration": (None, 1, []),
    "model_sha256": (None, "x", {}, [1]),
    "bit_order": (None, "big", 0),
    "shards": (None, {}, "x", [None], [[]]),
    "layout game": (None, 5),
    "layout spec": (None, [], {"planes": 5}, {"nothing": 1}),
    "layout kinds": (None, "bits", ["what"], [1]),
    "layout dense": (None, "x", -1, True, HUGE),
    "layout dense_slots": (None, [], [[0]] * 8, [["x"]] * 8),
    "layout rows": (None, "x", 0, -1, 1.5, HUGE, 60_000),
    "layout columns": (None, 0, HUGE),
    "layout board": (None, [3], [3, "x"], [3, 4]),
    "layout actions": (None, "x", -1, 0, HUGE),
    "layout pass_action": ("x", -1, 3, HUGE),
    "layout symmetries": (None, "x", 0, -1, 3, 16, True),
    "shards 0 file": (None, 5, "x", "../shard-000000.npy"),
    "shards 0 positions": (None, "x", -1, 1.5, True, 0, HUGE),
    "shards 0 full": (None, "x", -1, 10**6),
    "shards 0 games": (None, "x", -1, HUGE),
    "shards 0 last_number": (None, "x", -2, 2**32),
    "shards 0 bytes": (None, "x", -1),
    "shards 0 sha256": (None, 5, "x"),
    "shards 0 games_sha256": (None, 5, "x"),
    "shards 0 created": (None, "x", float("nan"), float("inf")),
}


@pytest.fixture(autouse=True)
def _unsynced(monkeypatch: pytest.MonkeyPatch) -> None:
    """No machine dies here; a busy disk may take seconds for a sync."""
    monkeypatch.setattr(os, "fsync", lambda _number: None)


@pytest.fixture
def data(rng: random.Random, tmp_path: Path) -> Path:
    """A directory of two games, of which not all searches were full."""
    games = [finished(TIC, PLAIN, number, rng, full=0.5) for number in range(2)]
    return write(tmp_path / "data", TIC, PLAIN, games)


def changed(manifest: Any, way: str, value: Any) -> Any:
    """Return a manifest with one value replaced; the others are shared."""
    first, _, rest = way.partition(" ")
    name: Any = int(first) if isinstance(manifest, list) else first
    copy = manifest.copy()
    copy[name] = changed(manifest[name], rest, value) if rest else value
    return copy


def readers(data: Path) -> list[Callable[[], Any]]:
    """Return all that read a manifest."""
    out = data.with_name("out")
    return [
        lambda: Dataset(data)[0],
        lambda: ShardWriter(data, TIC, PLAIN),
        lambda: pyengine.convert(data, "npz", out),
        lambda: export_sgf(data, out),
    ]


@pytest.mark.parametrize("way", WRONG)
def test_a_manifest_with_a_value_that_cannot_be_is_named(way: str, data: Path) -> None:
    path = data / "manifest.json"
    whole = json.loads(path.read_text())
    for value in WRONG[way]:
        path.write_text(json.dumps(changed(whole, way, value)))
        with pytest.raises(DataError, match=r"manifest\.json|shard-000000\.npy is damaged"):
            Dataset(data)[0]


@pytest.mark.parametrize("way", ["format", "bit_order", "layout rows", "shards 0 last_number"])
def test_a_manifest_that_lacks_a_value_is_named(way: str, data: Path) -> None:
    path = data / "manifest.json"
    found = json.loads(path.read_text())
    inner = found
    *outer, last = way.split()
    for name in outer:
        inner = inner[int(name) if name.isdigit() else name]
    del inner[last]
    path.write_text(json.dumps(found))
    with pytest.raises(DataError, match=rf"manifest\.json is damaged: .*{last}: .*found none"):
        Dataset(data)


def test_whoever_reads_a_damaged_manifest_names_it(data: Path) -> None:
    path = data / "manifest.json"
    path.write_text(json.dumps(changed(json.loads(path.read_text()), "shards 0 games", "x")))
    for read in readers(data):
        with pytest.raises(
            DataError, match=r"manifest\.json is damaged: .*games: expected a whole"
        ):
            read()


def test_a_manifest_of_endless_depth_is_named(data: Path) -> None:
    (data / "manifest.json").write_text("[" * 200_000)
    for read in readers(data):
        with pytest.raises(DataError, match=r"manifest\.json is damaged: RecursionError"):
            read()


def test_a_manifest_that_is_a_folder_is_named(data: Path) -> None:
    (data / "manifest.json").unlink()
    (data / "manifest.json").mkdir()
    for read in readers(data):
        with pytest.raises(DataError, match=r"expected a file, found the folder .*manifest\.json"):
            read()


def _link_to_itself(path: Path) -> None:
    try:
        path.symlink_to(path.name)
    except OSError as error:
        pytest.skip(f"no symbolic links here: {error}")


def test_a_manifest_that_is_a_link_to_itself_is_named(data: Path) -> None:
    (data / "manifest.json").unlink()
    _link_to_itself(data / "manifest.json")
    with pytest.raises(DataError, match=r"manifest\.json cannot be read"):
        Dataset(data)


def test_a_writer_does_not_replace_a_manifest_that_is_a_link_to_itself(tmp_path: Path) -> None:
    _link_to_itself(tmp_path / "manifest.json")
    with pytest.raises(DataError, match=r"manifest\.json cannot be read"):
        ShardWriter(tmp_path, TIC, PLAIN)


@pytest.mark.parametrize(
    "change",
    [
        {"number": None},
        {"number": -1},
        {"positions": -3, "full": ""},
        {"positions": "x"},
        {"full": 5},
        {"full": "x"},
        {"returns": [1]},
        {"returns": [float("inf"), 0]},
        {"returns": [None, 0]},
        {"resigned": 2},
        {"resignation_off": 1},
        {"cut_short": 1},
        {"cut_short": None},
        {"moves": "0 1"},
        {"moves": [0, 1.5]},
        {"moves": [0, -1]},
        {"moves": [2**16]},
    ],
    ids=str,
)
def test_a_game_that_cannot_be_is_named_by_file_and_line(
    change: dict[str, Any], data: Path
) -> None:
    path = data / "shard-000000.games.jsonl"
    first, second = path.read_text().splitlines()
    path.write_text(f"{first}\n{json.dumps(json.loads(second) | change)}\n")
    with pytest.raises(DataError, match=r"shard-000000\.games\.jsonl is damaged: line 2"):
        Dataset(data)


def test_a_list_of_games_of_endless_depth_is_named(data: Path) -> None:
    (data / "shard-000000.games.jsonl").write_text("[" * 200_000)
    with pytest.raises(DataError, match=r"shard-000000\.games\.jsonl is damaged: line 1"):
        Dataset(data)


def test_a_list_of_fewer_games_than_the_shard_has_is_not_exported(
    rng: random.Random, tmp_path: Path
) -> None:
    pytest.importorskip("sgfmill")
    gomoku = pyengine.load_game("gomoku", board_size=5)
    data = write(
        tmp_path / "data", gomoku, PLAIN, [finished(gomoku, PLAIN, i, rng) for i in range(2)]
    )
    path = data / "shard-000000.games.jsonl"
    path.write_text(path.read_text().splitlines()[1] + "\n")
    with pytest.raises(DataError, match=r"games\.jsonl is damaged: expected 2 games"):
        export_sgf(data)


def content(data: Path) -> dict[str, bytes]:
    """Return all that a dataset has, after a look at its files' content."""
    dataset = Dataset(data, full_only=False, verify=True)
    batch = next(dataset.batches(100, shuffle=False, augment=False))
    return {name: values.tobytes() for name, values in batch.items()}


def told(data: Path) -> dict[str, bytes] | str:
    """Return the content, or what its damage is called."""
    try:
        return content(data)
    except DataError as error:
        return str(error)


@pytest.mark.parametrize("name", ["manifest.json", "shard-000000.games.jsonl", "shard-000000.npy"])
@pytest.mark.parametrize("damage", ["cut short", "a bit flipped"])
def test_damage_at_any_byte_is_named_or_changes_nothing(
    name: str, damage: str, rng: random.Random, tmp_path: Path
) -> None:
    games = [finished(TIC, PLAIN, number, rng, plies=3, full=0.5) for number in range(2)]
    data = write(tmp_path / "data", TIC, PLAIN, games)
    path, good = data / name, content(data)
    whole = path.read_bytes()
    for number in range(len(whole)):
        damaged = bytearray(whole)
        if damage == "cut short":
            del damaged[number:]
        else:
            damaged[number] ^= 1 << rng.randrange(8)
        path.write_bytes(damaged)
        found = told(data)
        if isinstance(found, str):
            assert str(data) in found, number
        else:
            assert name == "manifest.json", number
            assert found == good, number
