"""Damaged directories: the error names the file, and no file is replaced."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

import pyengine
from data_games import PLAIN, TIC, all_rows, finished, some, write
from pyengine import DataError
from pyengine.data import Dataset, ShardWriter, export_sgf

HUGE = 10**25
NO_COUNT = (None, "x", -1, HUGE, 1.5, True)

#: Invalid values of a manifest by their path; "" removes the value.
WRONG: dict[str, tuple[Any, ...]] = {
    "format": ("", None, "x", 1.5, True, 0, 4, 5),
    "layout": ("", None, [], {}),
    "configuration": (None, 1, []),
    "model_sha256": (None, "x", {}, [1]),
    "bit_order": ("", None, "big", 0),
    "shards": (None, {}, "x", [None], [[]], [{"file": "x"}]),
    "layout game": (None, 5),
    "layout spec": (None, []),
    "layout spec planes": (5, ["what"]),
    "layout kinds": (None, "bits", ["what"], [1]),
    "layout dense": (None, "x", -1, True, HUGE),
    "layout dense_slots": (None, [], [[0]] * 8, [["x"]] * 8),
    **dict.fromkeys(("layout rows", "layout columns", "layout actions"), ("", *NO_COUNT, 0)),
    "layout board": (None, [3], [3, "x"], [3, 4]),
    "layout pass_action": ("x", -1, 3, HUGE),
    "layout symmetries": (*NO_COUNT, 0, 3, 16),
    "layout surprise": (None, 1, "x"),
    "shards 0 file": (None, 5, "x", "../shard-000000.npy"),
    **dict.fromkeys(("shards 0 positions", "shards 0 games", "shards 0 bytes"), NO_COUNT),
    "shards 0 full": (*NO_COUNT, 10**6),
    "shards 0 last_number": ("", None, "x", -2, 2**32),
    **dict.fromkeys(("shards 0 sha256", "shards 0 games_sha256"), (None, 5, "x")),
    "shards 0 created": (None, "x", float("nan"), float("inf")),
}
#: Changes that make the line of a game invalid.
NO_GAMES: tuple[dict[str, Any], ...] = (
    {"number": None}, {"number": -1}, {"positions": -3, "full": ""}, {"positions": "x"},
    {"full": 5}, {"full": "x"}, {"returns": [1]}, {"returns": [float("inf"), 0]},
    {"returns": [None, 0]}, {"resigned": 2}, {"resignation_off": 1}, {"cut_short": 1},
    {"cut_short": None}, {"moves": "0 1"}, {"moves": [0, 1.5]}, {"moves": [0, -1]},
    {"moves": [2**16]}, {"lowest": 2}, {"start": 1}, {"new": 1},
)  # fmt: skip

#: Invalid contents of a whole file.
NO_FILES = ("", "{", "[]", "{}")


@pytest.fixture
def data(rng: random.Random, tmp_path: Path) -> Path:
    """A directory with two games and some fast searches."""
    return write(tmp_path / "data", TIC, PLAIN, some(rng, 2, full=0.5))


def changed(manifest: Any, path: str, value: Any) -> Any:
    """Return a manifest with one value replaced or removed."""
    first, _, rest = path.partition(" ")
    name: Any = int(first) if isinstance(manifest, list) else first
    copy = manifest.copy()
    if not rest and value == "":
        del copy[name]
    else:
        copy[name] = changed(manifest[name], rest, value) if rest else value
    return copy


def test_the_error_names_the_invalid_field_of_a_manifest(data: Path) -> None:
    path = data / "manifest.json"
    whole = json.loads(path.read_text())
    for key, values in WRONG.items():
        for value in values:
            path.write_text(json.dumps(changed(whole, key, value)))
            with pytest.raises(DataError, match=rf"manifest\.json .*{key.split()[-1]}"):
                Dataset(data)


def test_every_reader_names_a_damaged_manifest(data: Path) -> None:
    path, out = data / "manifest.json", data.with_name("out")
    for text in (*NO_FILES, None):
        if text is None:
            path.unlink()
            path.mkdir()
        else:
            path.write_text(text)
        for read in (
            lambda: Dataset(data),
            lambda: ShardWriter(data, TIC, PLAIN),
            lambda: pyengine.convert(data, "npz", out),
            lambda: export_sgf(data, out),
        ):
            with pytest.raises(DataError, match=r"manifest\.json"):
                read()


def test_the_error_names_file_and_line_of_an_invalid_game(data: Path) -> None:
    path = data / "shard-000000.games.jsonl"
    first, second = path.read_text().splitlines()
    lines = [json.dumps(json.loads(second) | change) for change in NO_GAMES]
    for line in (*lines, *(text for text in NO_FILES if text)):
        path.write_text(f"{first}\n{line}\n")
        with pytest.raises(DataError, match=r"shard-000000\.games\.jsonl is damaged: line 2"):
            Dataset(data)


def test_an_incomplete_list_of_games_is_refused(rng: random.Random, tmp_path: Path) -> None:
    pytest.importorskip("sgfmill")
    gomoku = pyengine.load_game("gomoku", board_size=5)
    games = [finished(gomoku, PLAIN, number, rng, full=0.5) for number in range(2)]
    data = write(tmp_path / "data", gomoku, PLAIN, games)
    path = data / "shard-000000.games.jsonl"
    path.write_text(path.read_text().splitlines()[1] + "\n")
    for read in (Dataset, export_sgf):
        with pytest.raises(DataError, match=r"games\.jsonl is damaged: expected 2 games"):
            read(data)


def test_a_missing_or_damaged_shard_is_named(data: Path) -> None:
    shard = data / "shard-000000.npy"
    content = shard.read_bytes()
    for damaged in (content[:-1], content + b"x", b"", content.replace(b"visits", b"VISITS", 1)):
        shard.write_bytes(content)
        dataset = Dataset(data)
        shard.write_bytes(damaged)
        with pytest.raises(DataError, match=r"shard-000000.npy is damaged"):
            dataset[0]
        if len(damaged) != len(content):
            with pytest.raises(DataError, match=r"shard-000000.npy is damaged: expected \d+ bytes"):
                Dataset(data)
    shard.unlink()
    with pytest.raises(DataError, match=r"shard-000000.npy is missing"):
        Dataset(data)


def test_a_flipped_bit_is_found_by_verify(data: Path) -> None:
    dataset = Dataset(data, verify=True)
    for name in ("shard-000000.npy", "shard-000000.games.jsonl"):
        content = (data / name).read_bytes()
        (data / name).write_bytes(content[:-9] + bytes([content[-9] ^ 1]) + content[-8:])
        for verify in (dataset.verify, lambda: Dataset(data, verify=True)):
            with pytest.raises(DataError, match=f"{name} is damaged"):
                verify()
        (data / name).write_bytes(content)


def content_or_error(data: Path) -> dict[str, bytes] | str:
    """Return all rows of a verified dataset, or the error."""
    try:
        Dataset(data, full_only=False, verify=True)
        return {name: values.tobytes() for name, values in all_rows(data).items()}
    except DataError as error:
        return str(error)


@pytest.mark.parametrize("name", ["manifest.json", "shard-000000.games.jsonl", "shard-000000.npy"])
def test_damage_at_any_byte_is_named_or_changes_nothing(
    name: str, rng: random.Random, tmp_path: Path
) -> None:
    games = some(rng, 2, plies=3, full=0.5)
    data = write(tmp_path / "data", TIC, PLAIN, games)
    path, good = data / name, content_or_error(data)
    whole = path.read_bytes()
    for number in rng.sample(range(len(whole)), 30):
        flipped = bytearray(whole)
        flipped[number] ^= 1 << rng.randrange(8)
        for damaged in (whole[:number], flipped):
            path.write_bytes(damaged)
            result = content_or_error(data)
            if isinstance(result, str):
                assert str(data) in result, number
            else:
                assert (name, result) == ("manifest.json", good), number
