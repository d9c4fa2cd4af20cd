"""The record of a match: resumption, foreign files stay unchanged, damage is located."""

from __future__ import annotations

import json
import os
import random
import sys
from pathlib import Path
from typing import Any

import pytest

import pyengine
from pyengine import ConfigError, DataError, MatchResult
from pyengine.match import Openings, RandomPlayer

GAMES = 8


def play(record: Path | None, **arguments: Any) -> MatchResult:
    """Play a match of Connect Four between random players."""
    settings = {"games": GAMES, "game": "connect_four", **arguments}
    return pyengine.match(RandomPlayer(1), RandomPlayer(2), record=record, **settings)


def play_fixed(record: Path | None, **arguments: Any) -> MatchResult:
    """Play a match of Connect Four between deterministic players."""
    settings = {"games": 20, "game": "connect_four", **arguments}
    return pyengine.match(lowest, highest, record=record, **settings)


def lowest(state: Any) -> int:
    return int(state.legal_actions()[0])


def highest(state: Any) -> int:
    return int(state.legal_actions()[-1])


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return the record of a finished match."""
    file = tmp_path_factory.mktemp("record") / "games.jsonl"
    play(file)
    return file.read_bytes()


@pytest.fixture
def record(content: bytes, tmp_path: Path) -> Path:
    """Return the file of that record."""
    file = tmp_path / "games.jsonl"
    file.write_bytes(content)
    return file


def with_line(record: Path, number: int, line: str) -> bytes:
    """Replace a line, counted from 1, and return the new content of the file."""
    lines = record.read_bytes().split(b"\n")
    lines[number - 1] = line.encode()
    record.write_bytes(b"\n".join(lines))
    return record.read_bytes()


def changed(record: Path, number: int, **fields: Any) -> str:
    """Return a line with other fields."""
    line = record.read_text().split("\n")[number - 1]
    return json.dumps(json.loads(line) | fields)


# --- resumption


def test_a_match_resumes_from_its_record(tmp_path: Path) -> None:
    record = tmp_path / "games.jsonl"
    whole = play_fixed(None, seed=5)
    part = play_fixed(
        record, seed=5, concurrent_games=5, on_progress=lambda result: result.games < 7
    )
    assert 7 <= part.games < 20
    before = record.read_text()
    rest = play_fixed(record, seed=5)
    assert record.read_text().startswith(before)
    assert len(record.read_text().splitlines()) == 21
    assert sorted(rest.records, key=repr) == sorted(whole.records, key=repr)
    again = play_fixed(record, seed=5)
    assert again.records == rest.records
    assert again.to_dict() | {"seconds": 0} == rest.to_dict() | {"seconds": 0}


def test_a_match_may_grow_longer(record: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(record)
    few = play(record)
    more = play(link, games=2 * GAMES)
    assert more.games == 2 * GAMES
    assert more.records[:GAMES] == few.records
    assert play(record).games == GAMES


def test_a_game_cut_short_is_drawn_and_recorded(tmp_path: Path) -> None:
    """Shorter games keep their result; the record belongs to this limit."""
    record = tmp_path / "games.jsonl"
    whole = play_fixed(None)
    cut = play_fixed(record, max_plies=10)
    before = {(game.pair, game.a_plays): game for game in whole.records}
    short = [game for game in cut.records if len(game.opening + game.moves) < 10]
    assert 0 < len(short) < 20
    for game in cut.records:
        same = before[game.pair, game.a_plays]
        assert game.moves == same.moves[: 10 - len(game.opening)]
        assert game.cut_short == (game.moves != same.moves)
        assert game.result == (0 if game.cut_short else same.result)
    assert whole.cut_short == 0 < cut.cut_short
    assert f"({cut.cut_short} cut short)" in str(cut)
    assert play_fixed(record, max_plies=10).records == cut.records
    with pytest.raises(ConfigError, match="max_plies: expected None, got 10"):
        play_fixed(record)


def test_a_record_of_other_arguments_is_refused(tmp_path: Path) -> None:
    record = tmp_path / "games.jsonl"
    play_fixed(record, games=2)
    before = record.read_bytes()
    engine = pyengine.Engine("connect_four", "uniform", simulations=2)
    for a, b, arguments, message in (
        (lowest, highest, {"seed": 1}, "seed: expected 1, got 0"),
        (highest, lowest, {}, "a: expected .*highest.* got .*lowest"),
        (lowest, highest, {"openings": Openings(plies=2)}, "openings"),
        (lowest, highest, {"openings": [[3, 3]]}, "openings"),
        (lowest, engine, {}, "b: expected"),
    ):
        settings = {"game": "connect_four", "games": 2, "record": record, **arguments}
        with pytest.raises(ConfigError, match=message):
            pyengine.match(a, b, **settings)
    assert record.read_bytes() == before


def test_two_matches_do_not_write_one_record(tmp_path: Path) -> None:
    record = tmp_path / "games.jsonl"

    def another(_: MatchResult) -> bool:
        with pytest.raises(ConfigError, match="another match is writing"):
            play(record)
        return False

    stopped = play(record, concurrent_games=2, on_progress=another)
    assert stopped.stop_reason == "stopped"
    assert play(record).games == GAMES


# --- what a crash leaves


def test_an_empty_file_or_an_incomplete_header_becomes_a_record(record: Path) -> None:
    whole = record.read_bytes()
    for size in (0, 1, 30, whole.index(b"\n")):
        record.write_bytes(whole[:size])
        play(record)
        assert record.read_bytes() == whole


def test_an_incomplete_line_is_removed_only_by_the_next_game(record: Path) -> None:
    with record.open("ab") as file:
        file.write(b'{"pair": 7, "a_pl')
    before = record.read_bytes()
    with pytest.raises(ConfigError, match="record of another match"):
        play(record, seed=1)
    assert play(record).games == GAMES  # no game is missing
    assert record.read_bytes() == before
    assert play(record, games=GAMES + 2).games == GAMES + 2
    assert b'"a_pl{' not in record.read_bytes()
    assert len(record.read_text().splitlines()) == 1 + GAMES + 2


def test_a_failed_call_creates_no_record(tmp_path: Path) -> None:
    file = tmp_path / "games.jsonl"
    with pytest.raises(ConfigError, match="none of 500"):
        play(file, openings=Openings(plies=45))
    assert not file.exists()


# --- other and damaged files


@pytest.mark.parametrize(
    "content",
    [
        b'{"a": 1}',
        b'{\n  "a": 1,\n  "b": 2\n}',
        b"a text\nwithout an end",
        b"\x08\x08\x12\x08pytorch\n\xff\x00\xfe",
        b"[" * 100_000,
        b"\n",
    ],
    ids=lambda content: repr(content[:20]),
)
def test_another_file_is_not_changed(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "file"
    file.write_bytes(content)
    with pytest.raises(DataError, match="line 1: expected the record of a match"):
        play(file)
    assert file.read_bytes() == content


def test_paths_that_cannot_be_a_record_are_refused(tmp_path: Path) -> None:
    paths = [tmp_path, tmp_path / "absent" / "games.jsonl", tmp_path / "a\0b"]
    if sys.platform != "win32":
        os.mkfifo(tmp_path / "pipe")
        paths.append(tmp_path / "pipe")
    for path in paths:
        with pytest.raises(ConfigError):
            play(path)


DAMAGED_FIELDS: list[dict[str, Any]] = [
    {"a_plays": 5},
    {"a_plays": True},
    {"pair": -3},
    {"pair": "0"},
    {"pair": 2**70},
    {"pair": None},
    {"result": 2},
    {"result": 0.5},
    {"moves": [2**70]},
    {"moves": [[0]]},
    {"moves": []},
    {"moves": "0123"},
    {"opening": [0]},
    {"opening": [0] * 4000},
    {"opening": None},
]
DAMAGED_LINES = [
    '{"pair": 1e999}',
    '{"pair": ' + "9" * 5000 + "}",
    "[" * 100_000,
    "",
    "null",
    "\0\0\0",
    '{"pair": 0, "a_plays"',
    "\u2028",
]


@pytest.mark.parametrize(
    "damage", [*DAMAGED_FIELDS, *DAMAGED_LINES], ids=lambda damage: repr(damage)[:30]
)
def test_damage_is_reported_with_file_and_line(record: Path, damage: str | dict[str, Any]) -> None:
    line = damage if isinstance(damage, str) else changed(record, 3, **damage)
    damaged = with_line(record, 3, line)
    with pytest.raises(DataError, match=r"games\.jsonl, line 3: "):
        play(record)
    assert record.read_bytes() == damaged


def test_a_game_counts_once(record: Path) -> None:
    with_line(record, 5, changed(record, 3))
    with pytest.raises(DataError, match="line 5: repeats the game of line 3"):
        play(record)


def test_a_result_that_contradicts_the_moves_is_refused(record: Path) -> None:
    result = json.loads(changed(record, 3))["result"]
    with_line(record, 3, changed(record, 3, result=-result or 1))
    with pytest.raises(DataError, match="line 3: expected the result"):
        play(record)


def test_bytes_that_are_not_utf8_and_a_remark_at_the_end_are_refused(record: Path) -> None:
    whole = record.read_bytes()
    for damaged in (whole.replace(b"result", b"resul\xff", 1), whole + b"a remark"):
        record.write_bytes(damaged)
        with pytest.raises(DataError, match=r"line \d+: expected"):
            play(record)
        assert record.read_bytes() == damaged


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
    for _ in range(150):
        data = mangled(rng, good)
        record.write_bytes(data)
        try:
            result = play(record)
        except (DataError, ConfigError):
            refused += 1
            assert record.read_bytes() == data
        else:
            places = [(game.pair, game.a_plays) for game in result.records]
            assert sorted(places) == [(pair, a) for pair in range(GAMES // 2) for a in (0, 1)]
    assert 40 < refused < 150
