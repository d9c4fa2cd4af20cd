"""The record of a match: other files are never changed, and damage is located."""

from __future__ import annotations

import json
import os
import random
import sys
from pathlib import Path
from typing import Any

import pytest

import pyengine
from pyengine import ConfigError, DataError, MatchResult, Openings, RandomPlayer

GAMES = 8


def play(record: Path, **arguments: Any) -> MatchResult:
    """Play a match of Connect Four between random players."""
    settings = {"games": GAMES, "game": "connect_four", **arguments}
    return pyengine.match(RandomPlayer(1), RandomPlayer(2), record=record, **settings)


@pytest.fixture
def record(tmp_path: Path) -> Path:
    """Return the record of a finished match."""
    file = tmp_path / "games.jsonl"
    play(file)
    return file


def with_line(record: Path, number: int, *new: str) -> bytes:
    """Replace a line, counted from 1, and return the new content of the file."""
    lines = record.read_bytes().split(b"\n")
    lines[number - 1 : number] = [line.encode() for line in new]
    record.write_bytes(b"\n".join(lines))
    return record.read_bytes()


def changed(record: Path, number: int, **fields: Any) -> str:
    """Return a line with other fields."""
    line = record.read_text().split("\n")[number - 1]
    return json.dumps(json.loads(line) | fields)


@pytest.mark.parametrize(
    "content",
    [
        b'{"a": 1}',
        b'{\n  "a": 1,\n  "b": 2\n}',
        b"a text\nwithout an end",
        b"\x08\x08\x12\x08pytorch\n\xff\x00\xfe",
        b"\0" * 100,
        b"[" * 100_000,
        b"\n",
        b'{"pyengine_match": 1, "game": "go"}',
    ],
    ids=lambda content: repr(content[:20]),
)
def test_another_file_is_not_changed(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "file"
    file.write_bytes(content)
    with pytest.raises(DataError, match="line 1: expected the record of a match"):
        play(file)
    assert file.read_bytes() == content


def test_a_network_is_not_a_record(tmp_path: Path) -> None:
    model = tmp_path / "model.onnx"
    model.write_bytes(pyengine.bundled_models()["tic_tac_toe"].read_bytes())
    before = model.read_bytes()
    with pytest.raises(DataError, match="expected the record of a match"):
        play(model)
    assert model.read_bytes() == before


def test_a_directory_and_a_pipe_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no regular file"):
        play(tmp_path)
    if sys.platform != "win32":
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(DataError, match="no regular file"):
            play(tmp_path / "pipe")


def test_an_impossible_path_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be written"):
        play(tmp_path / "absent" / "games.jsonl")
    with pytest.raises(ConfigError, match="record: "):
        play(tmp_path / "a\0b")


def test_a_link_leads_to_the_record(record: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(record)
    assert play(link, games=GAMES + 2).games == GAMES + 2
    assert play(record).games == GAMES


def test_an_empty_file_becomes_a_record(tmp_path: Path) -> None:
    file = tmp_path / "games.jsonl"
    file.touch()
    assert play(file).games == GAMES
    assert play(file).games == GAMES


def test_an_incomplete_header_is_rewritten(record: Path) -> None:
    whole = record.read_bytes()
    for size in (1, 10, 30, whole.index(b"\n")):
        record.write_bytes(whole[:size])
        play(record)
        assert record.read_bytes() == whole


def test_a_failed_call_creates_no_record(tmp_path: Path) -> None:
    file = tmp_path / "games.jsonl"
    with pytest.raises(ConfigError, match="none of 500"):
        play(file, openings=Openings(plies=45))
    assert not file.exists()


def test_an_incomplete_line_is_removed_only_by_the_next_game(record: Path) -> None:
    with record.open("ab") as file:
        file.write(b'{"pair": 7, "a_pl')
    before = record.read_bytes()
    with pytest.raises(ConfigError, match="record of another match"):
        play(record, seed=1)
    assert record.read_bytes() == before
    assert play(record).games == GAMES  # no game is missing
    assert record.read_bytes() == before
    assert play(record, games=GAMES + 2).games == GAMES + 2
    assert b'"a_pl{' not in record.read_bytes()
    assert len(record.read_text().splitlines()) == 1 + GAMES + 2


def test_a_last_line_that_is_not_a_game_is_refused(record: Path) -> None:
    with record.open("ab") as file:
        file.write(b"a remark")
    before = record.read_bytes()
    with pytest.raises(DataError, match=f"line {GAMES + 2}: expected JSON"):
        play(record, games=GAMES + 2)
    assert record.read_bytes() == before


def test_a_last_game_without_its_line_end_counts(record: Path) -> None:
    whole = record.read_bytes()
    record.write_bytes(whole[:-1])
    assert play(record).games == GAMES
    assert record.read_bytes() == whole[:-1]
    play(record, games=GAMES + 2)
    assert record.read_bytes().startswith(whole)


@pytest.mark.parametrize(
    "fields",
    [
        {"a_plays": 5},
        {"a_plays": True},
        {"a_plays": -1},
        {"a_plays": 0.0},
        {"pair": -3},
        {"pair": "0"},
        {"pair": 2**70},
        {"pair": 0.5},
        {"pair": None},
        {"result": 2},
        {"result": 0.5},
        {"result": True},
        {"moves": [2**70]},
        {"moves": [-1]},
        {"moves": {}},
        {"moves": [[0]]},
        {"moves": []},
        {"moves": "0123"},
        {"opening": [0]},
        {"opening": [0] * 4000},
        {"opening": None},
    ],
    ids=lambda fields: repr(fields)[:30],
)
def test_a_wrong_field_is_reported_with_file_and_line(record: Path, fields: dict[str, Any]) -> None:
    damaged = with_line(record, 3, changed(record, 3, **fields))
    with pytest.raises(DataError, match=r"games\.jsonl, line 3: "):
        play(record)
    assert record.read_bytes() == damaged


@pytest.mark.parametrize(
    "line",
    [
        '{"pair": 1e999}',
        '{"pair": NaN}',
        '{"pair": ' + "9" * 5000 + "}",
        "[" * 100_000,
        '{"pair":' * 100_000,
        "",
        "null",
        "\0\0\0",
        '{"pair": 0, "a_plays"',
        "\u2028",
    ],
    ids=lambda line: repr(line[:20]),
)
def test_a_wrong_line_is_reported_with_file_and_line(record: Path, line: str) -> None:
    damaged = with_line(record, 3, line)
    with pytest.raises(DataError, match=r"games\.jsonl, line 3: "):
        play(record)
    assert record.read_bytes() == damaged


def test_a_line_that_is_not_utf8_is_reported(record: Path) -> None:
    damaged = record.read_bytes().replace(b"result", b"resul\xff", 1)
    record.write_bytes(damaged)
    with pytest.raises(DataError, match=r"line 2: expected JSON"):
        play(record)
    assert record.read_bytes() == damaged


def test_a_game_counts_once(record: Path) -> None:
    line = record.read_text().split("\n")[2]
    with_line(record, 5, line)
    with pytest.raises(DataError, match="line 5: repeats the game of line 3"):
        play(record)


def test_both_games_of_a_pair_have_the_opening_of_the_book(tmp_path: Path) -> None:
    record = tmp_path / "games.jsonl"
    rules = {"game": "othello", "openings": Openings(plies=6)}
    play(record, **rules)
    fields = [json.loads(line) for line in record.read_text().splitlines()]
    number, one = next((n, f) for n, f in enumerate(fields) if n > 1)
    first, *moves = one["moves"]
    longer = changed(record, number + 1, opening=[*one["opening"], first], moves=moves)
    with_line(record, number + 1, longer)
    with pytest.raises(DataError, match=r"expected (an|the) opening"):
        play(record, **rules)


def test_a_record_of_other_openings_is_refused(tmp_path: Path) -> None:
    record = tmp_path / "games.jsonl"
    openings = [[3, 3], [2, 4], [0, 0], [1, 1]]
    play(record, openings=openings)
    play(record, openings=openings)
    moved = changed(record, 2, pair=9)
    with_line(record, 2, moved)
    with pytest.raises(DataError, match="expected the opening None of pair 9"):
        play(record, openings=openings)


def test_windows_line_ends_and_unicode_separators_are_accepted(record: Path) -> None:
    text = record.read_bytes().replace(b"\n", b"\r\n")
    text = text.replace(b'"result"', '"remark": "\u2028\u0085", "result"'.encode())
    record.write_bytes(text)
    assert play(record).games == GAMES
    assert record.read_bytes() == text


def mangled(rng: random.Random, data: bytes) -> bytes:
    """Return a record with a few of its bytes or lines changed."""
    lines = data.split(b"\n")
    at = rng.randrange(len(lines))
    line = bytearray(lines[at])
    spot = rng.randrange(len(line) + 1)
    pieces = (b"", b"\0", b"\xff", b"\r", b"\n", b"-", b"9", b"1e999", b"true", b"[", b"}", b'"',
              "\u2028".encode(), b"\n\n", b'"pair": 1, ')  # fmt: skip
    kind = rng.randrange(5)
    if kind == 0:
        line[spot : spot + rng.randrange(4)] = rng.choice(pieces)
    elif kind == 1:
        return data[: rng.randrange(len(data))]
    elif kind == 2:
        lines.insert(rng.randrange(len(lines)), bytes(line))
    elif kind == 3:
        other = rng.randrange(len(lines))
        lines[at], lines[other] = lines[other], bytes(line)
        return b"\n".join(lines)
    else:
        digits = [place for place, byte in enumerate(line) if chr(byte).isdigit()]
        if digits:
            line[rng.choice(digits)] = rng.choice(b"0123456789-.e")
    lines[at] = bytes(line)
    return b"\n".join(lines)


def test_a_damaged_record_is_a_match_or_refused_untouched(record: Path) -> None:
    rng = random.Random(5)
    good = record.read_bytes()
    refused = 0
    for _ in range(400):
        data = mangled(rng, good)
        record.write_bytes(data)
        try:
            result = play(record)
        except (DataError, ConfigError):
            refused += 1
            assert record.read_bytes() == data
        else:
            places = [(one.pair, one.a_plays) for one in result.records]
            assert sorted(places) == [(pair, a) for pair in range(GAMES // 2) for a in (0, 1)]
    assert 100 < refused < 400
