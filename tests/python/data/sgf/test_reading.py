"""Reading SGF from many programs: clear records are read, unclear ones refused by reason."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pyengine.data.sgf import SgfError, SgfGame
from pyengine.games.game import load_game

pytest.importorskip("sgfmill", reason="sgfmill is absent (extra `sgf`)")

from pyengine.data.sgf.collection import read_collection
from pyengine.data.sgf.encoding import to_utf8
from pyengine.data.sgf.read import first_game, read_game
from pyengine.data.sgf.values import read_result


def games_of(content: bytes) -> tuple[list[SgfGame], list[tuple[int, str]]]:
    """Return the games of a file, and the number and reason of each refused game."""
    games, refused = [], []
    for tree in read_collection(content):
        try:
            games.append(read_game(tree))
        except SgfError as error:
            refused.append((tree.number, error.reason))
    return games, refused


def one(text: str) -> SgfGame:
    """Return the only game in a text."""
    return first_game(text.encode())


def names(game: SgfGame) -> list[str]:
    """Return the moves of a game in the notation of GTP."""
    replay = game.replay(game.game())
    return [replay.end.action_to_string(action) for action in replay.actions]


# --- encodings

#: Texts with a backslash or bracket as the second byte of a character.
TEXTS = {
    "cp932": b"\x96\x7b\x88\xf6\x96\x46\x8f\x47\x8d\xf4 \x95\x5c \x83\x5d \x81\x5b",
    "cp950": b"\xb3\x5c\xae\x61\xa4\xb8 \xa5\x5c \xb7\x5d",
    "gb18030": "柯洁 黑中盘胜".encode("gb18030") + b" \x95\x5c \x83\x5d",
    "cp949": "이세돌 구단 백불계승".encode("cp949"),
    "cp1252": "André Müller, Orléans".encode("cp1252") + b" \xe9",
}
NAMES_IN_CA = {
    "cp932": ("Shift_JIS", "SJIS", "cp932"),
    "cp950": ("Big5", "big5"),
    "gb18030": ("GB2312", "GBK", "gb18030"),
    "cp949": ("EUC-KR", "cp949"),
    "cp1252": ("ISO-8859-1", "latin1", "windows-1252"),
}
#: Single-byte encodings, which decode any content.
SINGLE_BYTE = ("ISO-8859-1", "windows-1252", "US-ASCII", "ISO-8859-15", "KOI8-R")
MOVES = ["Q16", "D16", "Q4"]


def with_text(text: bytes, head: bytes) -> bytes:
    """Return a game with a text in its root and in comments on its moves."""
    return b"(;%sSZ[19]RE[B+R]PB[%s];B[pd]C[%s];W[dd]C[%s];B[pp])" % (head, text, text, text)


def text_in(game: SgfGame) -> str:
    """Return the text in the root, see :func:`with_text`."""
    (text,) = game.tree.sequence[0]["PB"]
    return str(text.decode())


def with_ca(name: str) -> bytes:
    return f"CA[{name}]".encode() if name else b""


@pytest.mark.parametrize("codec", TEXTS)
def test_multibyte_characters_with_brackets_do_not_lose_moves(codec: str) -> None:
    for name in NAMES_IN_CA[codec]:
        game = first_game(with_text(TEXTS[codec], with_ca(name)))
        assert (names(game), game.notes) == (MOVES, {})
        assert text_in(game) == TEXTS[codec].decode(codec)


#: Names in CA that do not help, by the note that they cause.
UNHELPFUL_CA = {
    "no encoding named (CA)": ("",),
    "encoding differs from CA": ("UTF-8", *SINGLE_BYTE),
    "an unknown encoding (CA)": ("KLINGON", "UTF-7", "hex"),
}


@pytest.mark.parametrize("codec", TEXTS)
def test_the_encoding_is_detected_without_ca(codec: str) -> None:
    for reason, heads in UNHELPFUL_CA.items():
        for name in heads:
            game = first_game(with_text(TEXTS[codec], with_ca(name)))
            assert names(game) == MOVES
            if codec != "cp1252" or name not in SINGLE_BYTE or name == "US-ASCII":
                assert list(game.notes) == [reason]
                assert text_in(game) == TEXTS[codec].decode(codec)


@pytest.mark.parametrize(
    ("codec", "name", "text", "notes"),
    [
        ("ISO-8859-1", "ISO-8859-1", "créée à 5½", []),
        ("windows-1252", "windows-1252", "“Größe” isn’t", []),
        ("ISO-8859-2", "ISO-8859-2", "żółw", []),
        ("KOI8-R", "KOI8-R", "Иванов ПЕТР", []),
        ("windows-1251", "windows-1251", "«Юшин»", []),
        ("windows-1253", "windows-1253", "Γιώργος", []),
        ("utf-8", "", "柯洁九段", ["no encoding named (CA)"]),
        *(
            ("utf-8", name, "柯洁九段", ["encoding differs from CA"])
            for name in ("GBK", "Big5", "Shift_JIS", "ISO-8859-1")
        ),
    ],
)
def test_text_in_the_named_encoding_or_in_utf8_is_read(
    codec: str, name: str, text: str, notes: list[str]
) -> None:
    game = first_game(with_text(text.encode(codec), with_ca(name)))
    assert (names(game), list(game.notes), text_in(game)) == (MOVES, notes, text)


@pytest.mark.parametrize("codec", ["utf-8-sig", "utf-16"])
def test_a_byte_order_mark_determines_the_encoding(codec: str) -> None:
    game = first_game("(;CA[GBK]PB[許家元];B[pd];W[dd];B[pp])".encode(codec))
    assert (names(game), game.notes) == (MOVES, {})


@pytest.mark.parametrize(
    ("heads", "encodings"),
    [
        (tuple(NAMES_IN_CA[codec][0] for codec in TEXTS), tuple(TEXTS)),
        (("", "", "", ""), ("gb18030", "cp950", "cp932", "utf-8")),
        (("", "", ""), ("utf-8", "cp932", "cp949")),
        (("Big5", "", ""), ("cp950", "utf-8", "cp950")),
        (("ISO-8859-1", "", ""), ("cp1252", "cp932", "cp1252")),
        (("ISO-8859-15", "", ""), ("cp1252", "cp932", "cp1252")),
    ],
)
def test_each_game_in_a_collection_may_have_a_different_encoding(
    heads: tuple[str, ...], encodings: tuple[str, ...]
) -> None:
    texts = [TEXTS.get(codec, "許功蓋 柯洁".encode()) for codec in encodings]
    parts = [with_text(text, with_ca(head)) for text, head in zip(texts, heads, strict=True)]
    games, refused = games_of(b"\r\n".join(parts))
    assert ([names(game) for game in games], refused) == ([MOVES] * len(texts), [])
    for game, text, codec in zip(games, texts, encodings, strict=True):
        assert text_in(game) == text.decode(codec)


def test_a_damaged_game_does_not_affect_the_encoding_of_others() -> None:
    whole = with_text(TEXTS["cp932"], b"")
    games, _ = games_of(whole + with_text(TEXTS["cp932"] + b"\xff\xff", b"") + whole)
    assert [names(game) for game in games] == [MOVES] * 3
    assert games[0].tree.sequence == games[2].tree.sequence
    assert "read as cp932" in games[0].notes["no encoding named (CA)"]


def test_undecodable_text_does_not_lose_moves() -> None:
    game = first_game(b"(;CA[UTF-8]PB[\xff\xfe\xff\x81];B[pd]C[\xff];W[dd];B[pp])")
    assert names(game) == MOVES
    assert "damaged text" in game.notes


def test_ascii_is_not_changed() -> None:
    content = b"(;CA[UTF-16]PB[a\\]b];B[aa])"
    assert to_utf8(content) == (content, {})


# --- collections

GOOD = "(;SZ[9]RE[B+R];B[ee];W[cc])"


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ("(;SZ[9]US[M[3d]]RE[B+R];B[ee];W[cc])", "unreadable"),
        ("(;SZ[9]RE[B+R];B[ee]C[not] (this];W[cc](;B[aa])(;B[bb]))", "unreadable"),
        ("(;SZ[9]RE[B+R];B[ee];W[cc]", "unreadable"),
        ("(;SZ[9]RE[B+R];B[ee];W[c", "unreadable"),
        ("(;SZ[9]RE[B+R];B[ee]C[and so on", "unreadable"),
        ("(;SZ[9]RE[B+R];B[ee];W[zz](;B[aa])(;B[bb]))", "unreadable"),
        ("(;SZ[9]RE[B+R];B[Q16];W[cc])", "unreadable"),
        ("(;GM[x]SZ[9]RE[B+R];B[ee];W[cc])", "another game"),
        ("(;SZ[a]RE[B+R];B[ee];W[cc])", "unreadable"),
    ],
)
def test_a_bad_game_does_not_affect_the_others(bad: str, reason: str) -> None:
    for newline in ("\n", "\r\n", " "):
        games, refused = games_of(newline.join([GOOD, bad, GOOD, GOOD]).encode())
        assert (len(games), refused) == (3, [(2, reason)])
        assert [names(game) for game in games] == [["E5", "C7"]] * 3
    games, refused = games_of(f"{GOOD}\n{bad}".encode())
    assert (len(games), refused) == (1, [(2, reason)])


@pytest.mark.parametrize(
    "unit", [GOOD, "(;SZ[9]", "(;SZ[9]C[", "(;", "((", "[", "(;C[(;SZ[9", "CA[x]"]
)
def test_reading_takes_linear_time(unit: str) -> None:
    def seconds(count: int) -> float:
        content = unit.encode() * count
        begun = time.process_time()
        for _ in read_collection(content):
            pass
        return time.process_time() - begun

    seconds(10)
    assert seconds(4_000) < 40 * max(seconds(400), 0.002)


def test_text_around_games_is_ignored() -> None:
    games, refused = games_of(b"From: me\n\n(;SZ[9];B[ee])\n--\n(; SZ[9]\r\n;\tB [cc] )")
    assert ([names(game) for game in games], refused) == ([["E5"], ["C7"]], [])
    assert games[0].notes == {"text outside the games": "after game 1"}
    assert "before" in one("Hello (;B[aa])").notes["text outside the games"]
    assert one("(SZ[9]RE[B+R];B[ee])").notes.keys() == {"no ; before the first property"}
    assert names(one("(;GaMe[1]SiZe[9];Black[ee];White[cc])")) == ["E5", "C7"]  # FF3
    assert names(one("(;SZ[9]C[a \\] ( \\\\];B[ee]N[;B[\\];W[dd\\]](;W[cc];B[aa])(;W[dd]))")) == [
        "E5", "C7", "A9",
    ]  # fmt: skip


# --- values

RESULTS = {
    "B+3.25子": "B+3.25 stones",
    "W+6.5目": "W+6.5",
    "W+6目半": "W+6.5",
    "白半目勝ち": "W+0.5",
    "黑胜1又3/4子": "B+1.75 stones",
    "黑中盘胜": "B+R",
    "白中押し勝ち": "W+R",
    "백불계승": "W+R",
    "Ｂ＋３．５": "B+3.5",
    "W+1.5 {komi 5.5}": "W+1.5",
    "b+r (good game)": "B+R",
    "W+1.5 (moves after 200 unknown)": "W+1.5",
    "B + 3.5": "B+3.5",
    " w +  Resign ": "W+R",
    "White+12 3/4": "W+12.75",
    "W+6,5": "W+6.5",
    "B+1/2": "B+0.5",
    "B+.5": "B+0.5",
    "B+3.5 points": "B+3.5",
    **dict.fromkeys(("持碁", "0", "Draw", "jigo", "B+0", "W+0.0", "B+.0", "0.0"), "0"),
    **dict.fromkeys(("W+F", "W+Time", "W+1.5/time", "W+resign by time", "W+0 T"), "W+T"),
    "W+2 (forfeit)": "W+T",
    **dict.fromkeys(("B+?", "Left unfinished", "黑超时", "Void", "?", "", "B", "B+5min"), None),
    **dict.fromkeys((f"B+{'1' * 5000}/2", f"B+{'1' * 5000}", f"B+1/{'1' * 5000}"), None),
}


def test_results_are_read_in_many_forms() -> None:
    for text, expected in RESULTS.items():
        result = read_result(text)
        stones = "" if result is None or result.unit == "points" else " stones"
        assert (None if result is None else f"{result}{stones}") == expected, text


KOMI = {
    "KM[6.5]": 6.5,
    "KM[0]": 0.0,
    "KM[-5.5]": -5.5,
    "KM[7,5]": 7.5,
    "KM[375]": 7.5,
    "KM[650]": 6.5,
    "KM[3.75]": 7.5,
    "KM[5目半]": 5.5,
    "KM[2 3/4子]": 5.5,
    "KM[]": None,
    "KM[six]": None,
    "KM[6.3]": None,
    f"KM[{'1' * 5000}/2]": None,
    f"KM[{'1' * 5000}]": None,
    "": None,
}


def test_a_clear_komi_is_read_and_unusual_forms_are_noted() -> None:
    for komi, expected in KOMI.items():
        game = one(f"(;CA[UTF-8]SZ[9]{komi};B[ee])")
        assert game.komi == expected
        reason = "unclear komi" if expected is None else "a komi in an unusual form"
        is_plain = komi in ("KM[6.5]", "KM[0]", "KM[-5.5]", "")
        assert list(game.notes) == ([] if is_plain else [reason])
        if expected is not None:
            assert game.game().params["komi"] == expected


def test_game_properties_may_be_in_a_later_node() -> None:
    game = one("(;;SZ[9];KM[5.5]RU[AGA];B[ee];W[cc]RE[W+0.5])")
    assert (game.board, game.komi, str(game.result)) == ((9, 9), 5.5, "W+0.5")
    assert game.game().params["superko"] == "situational"


def test_boards_may_be_rectangular() -> None:
    for size, board in (
        ("", (19, 19)),
        ("SZ[9]", (9, 9)),
        ("SZ[9:7]", (7, 9)),
        ("SZ[7 : 9]", (9, 7)),
        ("SZ[]", (19, 19)),
    ):
        game = one(f"(;{size};B[ee];W[ag])")
        assert game.board == game.game().board_shape == board
        assert names(game)[1] == f"A{board[0] - 6}"


# --- starts and moves

#: Black's and White's stones at the start, the player to move, and the moves.
STARTS: dict[str, tuple[str, str, int, list[str]]] = {
    "HA[2]AB[gc][cg];W[ee];B[gg]": ("G7 C3", "", 1, ["E5", "G3"]),
    "HA[2];AB[gc][cg];W[ee];B[gg]": ("G7 C3", "", 1, ["E5", "G3"]),
    "AB[aa:ba]AW[ii];B[ee]": ("A9 B9", "J1", 0, ["E5"]),
    "AB[aa:ba]AE[aa]AW[ii]PL[W]": ("B9", "J1", 1, []),
    "AddBlack[aa][ba]PL[white]": ("A9 B9", "", 1, []),
    "AB[aa]": ("A9", "", 1, []),
    "HA[2];B[gc];B[cg];W[ee]": ("G7 C3", "", 1, ["E5"]),
    "PL[W];W[ee];B[cc]": ("", "", 1, ["E5", "C7"]),
    "HA[0];B[ee]": ("", "", 0, ["E5"]),
    "B[ee];W[cc]": ("", "", 0, ["E5", "C7"]),
    "B[ee];W[cc];AE[ee]TB[aa]": ("", "", 0, ["E5", "C7"]),
}


@pytest.mark.parametrize("content", STARTS)
def test_the_start_position_has_the_set_up_stones(content: str) -> None:
    game = one(f"(;SZ[9]{content})")
    start = game.replay(game.game()).start
    points = {"X": set[str](), "O": set[str](), ".": set[str]()}
    for row, stones in enumerate(start.board_rows()):
        for column, stone in enumerate(stones):
            points[stone].add(f"{'ABCDEFGHJ'[column]}{9 - row}")
    black, white, player, moves = STARTS[content]
    assert (points["X"], points["O"]) == (set(black.split()), set(white.split()))
    assert (start.current_player(), names(game)) == (player, moves)


#: Refused content, with the reason and a part of the detail.
REFUSED = {
    "B[Q16]": ("unreadable", "[Q16] is not a point on a 9x9 board"),
    "B[EE]": ("unreadable", "[EE]"),
    "B[ee];w[cc]": ("unreadable", "[cc] belongs to a property in lowercase"),
    "B[tu]": ("unreadable", "[tu]"),
    "AB[a];W[aa]": ("unreadable", "[a]"),
    "B[ee][cc]": ("several moves in a node", "B[ee] B[cc]"),
    "B[ee]W[cc]": ("several moves in a node", "B[ee] W[cc]"),
    "B[ee];AW[cc];B[dd]": ("set-up stones after the first move", "AW after move 1"),
    "HA[3];B[ee];W[cc]": ("handicap without stones", "HA[3]"),
    "HA[3];B[ee];B[cc]": ("handicap without stones", "HA[3]"),
    "HA[2];B[ee];B[cc];B[dd]": ("handicap without stones", "HA[2]"),
    "HA[2];B[ee];B[];W[dd]": ("handicap without stones", "HA[2]"),
    "W[ee];B[cc]": ("White begins", "move 1"),
    "SZ[0];B[ee]": ("unreadable", "SZ[0]"),
    "GM[];GM[2x];B[ee]": ("another game", "GM[2x]"),
    "GM[2]SZ[8];B[d3];W[c5]": ("another game", "GM[2]"),
    "GM[11]SZ[x];B[a1];W[b2]": ("another game", "GM[11]"),
}


def test_unclear_records_are_refused_by_reason() -> None:
    for content, (reason, detail) in REFUSED.items():
        size = "" if "SZ" in content else "SZ[9]"
        with pytest.raises(SgfError) as raised:
            one(f"(;{size}{content})")
        assert raised.value.reason == reason
        assert detail in raised.value.detail
        assert str(raised.value).isprintable()


#: Accepted content, with the reason for a note and the moves.
ACCEPTED = {
    "B[ee];W[ ]": ("a pass in an unusual form", ["E5", "pass"]),
    "B[ee];W[PASS]": ("a pass in an unusual form", ["E5", "pass"]),
    "B[ee];W[tt];B[];W[tt]": ("moves after the end", ["E5", "pass", "pass"]),
    "B[ee];W[resign]": ("a resignation as a move", ["E5"]),
    "B[ee];W[cc];AE[ee]": ("set-up stones after the last move", ["E5", "C7"]),
    "HA[x];B[ee]": ("unclear handicap", ["E5"]),
    "PL[W];B[ee]": ("PL contradicts the first move", ["E5"]),
    "PL[?];B[ee]": ("unclear player to move", ["E5"]),
    "KM[5.5]RU[Japanese];B[ee]": ("other rules", ["E5"]),
    "RU[AGA]PYENGINE[go(board_size=9,superko=simple)];B[ee]": ("other rules", ["E5"]),
    "PYENGINE[go(board_size=9,suicide=true)];B[ee]": ("other rules", ["E5"]),
    "PYENGINE[evil.py:Game];B[ee]": ("other rules", ["E5"]),
    "RE[B + 3.5];B[ee]": ("a result in an unusual form", ["E5"]),
}


def test_unusual_but_clear_records_are_accepted_with_a_note() -> None:
    for content, (reason, moves) in ACCEPTED.items():
        game = one(f"(;SZ[9]{content})")
        assert reason in game.replay(load_game("go", board_size=9)).notes
        assert names(game) == moves


def test_the_first_game_of_several_is_read_and_the_others_are_noted() -> None:
    game = one(f"{GOOD}\n{GOOD}\n(;SZ[9]")
    assert game.notes == {"several games": "read the first of 3"}
    with pytest.raises(SgfError, match="no game in SGF"):
        one("hello")


# --- real files


def test_real_files_are_read(shared: Callable[..., Path]) -> None:
    folder = shared("cases")
    for line in (folder / "expected.jsonl").read_text().splitlines():
        case: dict[str, Any] = json.loads(line)
        games, refused = games_of((folder / case["file"]).read_bytes())
        assert (len(games), len(refused)) == (case["games"], case.get("skipped", 0)), case
        game = games[0]
        replay = game.replay(game.game())
        actual = {
            "moves": [names(one) for one in games],
            "result": str(game.result),
            "unit": f"{'' if game.result is None else game.result.unit}, not points",
            "komi": game.komi,
            "board": list(game.board),
            "to_move": "BW"[replay.start.current_player()],
        }
        assert actual == actual | {key: case[key] for key in case if key in actual}
        for point in case.get("start", ()):
            row, column = divmod(replay.start.string_to_action(point), game.board[1])
            assert replay.start.board_rows()[row][column] == "X"
