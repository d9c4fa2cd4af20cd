"""Games that are loaded and saved."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("sgfmill", reason="sgfmill is absent (extra `sgf`)")

from serving import Client

HANDICAP = "(;GM[1]FF[4]SZ[9]KM[7]HA[2]AB[gc][cg]PB[Ann]PW[Bo];W[ee];B[gg])"
START = "......... ......... ......x.. ......... ......... ......... ..x...... ......... ........."


def test_an_sgf_is_read_with_its_handicap(client: Client) -> None:
    read = client.ask("/api/import", text=HANDICAP)
    assert read["position"] == {
        "game": "go(board_size=9,komi=7)",
        "start": f"{START.replace(' ', '/')} o",
        "moves": ["E5", "G3"],
    }
    assert read["players"] == ["Ann", "Bo"]


@pytest.mark.parametrize(
    ("text", "more", "moves"),
    [
        ("1. f5 d6 2. c3", {"game": "othello"}, ["f5", "d6", "c3"]),
        ("f5d6c3", {"game": "othello", "format": "moves"}, ["f5", "d6", "c3"]),
        ("4 4 3", {"game": "connect_four"}, ["4", "4", "3"]),
        ("(;GM[4]SZ[15];B[hh];W[ii])", {"format": "sgf"}, ["H8", "I7"]),
        ("(;GM[4]SZ[15];B[hh];W[ii])", {"format": "sgf", "game": "othello"}, ["H8", "I7"]),
    ],
)
def test_a_list_of_moves_is_read(client: Client, text: str, more: Any, moves: list[str]) -> None:
    assert client.ask("/api/import", text=text, **more)["position"]["moves"] == moves


@pytest.mark.parametrize(
    ("position", "format_"),
    [
        ({"game": "go(board_size=9,komi=7)", "start": None, "moves": ["E5", "pass"]}, "sgf"),
        ({"game": "go(rows=5,columns=7)", "start": None, "moves": ["A1"]}, "sgf"),
        ({"game": "gomoku", "start": None, "moves": ["H8"]}, "sgf"),
        ({"game": "connect_four", "start": None, "moves": ["4", "3"]}, "moves"),
        ({"game": "tic_tac_toe", "start": "xo./.../... x", "moves": ["b2"]}, "moves"),
        ({"game": "othello(board_size=6)", "start": None, "moves": []}, "moves"),
    ],
)
def test_a_saved_game_is_read_again(client: Client, position: Any, format_: str) -> None:
    saved = client.ask("/api/export", position=position, format=format_)
    assert saved["file"].endswith({"sgf": ".sgf", "moves": ".txt"}[format_])
    assert client.ask("/api/import", text=saved["text"])["position"] == position


@pytest.mark.parametrize(
    ("address", "body", "error"),
    [
        ("/api/import", {"text": "4 4 3"}, "a list of moves does not name its game"),
        ("/api/import", {"text": "", "game": "othello"}, "an empty file"),
        ("/api/import", {"text": "(;GM[1"}, "text"),
        ("/api/import", {"text": "e9", "game": "othello"}, "move 1: 'e9' is not a legal move"),
        ("/api/import", {"text": "x", "format": "pgn"}, "format: expected 'sgf' or 'moves'"),
        ("/api/export", {"position": {"game": "othello"}, "format": "sgf"}, "SGF supports go"),
    ],
)
def test_a_file_that_cannot_be_read_or_written_is_refused(
    client: Client, address: str, body: Any, error: str
) -> None:
    status, text = client.refused(address, **body)
    assert status == 400
    assert error in text


@pytest.mark.parametrize(
    ("sgf", "main", "others"),
    [
        ("(;SZ[9];B[ee];W[gg])", ["E5", "G3"], []),
        (
            "(;SZ[9];B[ee](;W[gg];B[gc])(;W[gc](;B[gg])(;B[cc])))",
            ["E5", "G3", "G7"],
            [["E5", "G7", "G3"], ["E5", "G7", "C7"]],
        ),
        ("(;SZ[9];B[ee](;W[gg])(;W[gc];B[gc];W[cc]))", ["E5", "G3"], [["E5", "G7"]]),
        ("(;SZ[9];B[ee](;W[gg])(;B[cc])(;W[zz]))", ["E5", "G3"], []),
        ("(;SZ[9];B[ee](;W[gg];B[cc])(;W[gg])(;W[]))", ["E5", "G3", "C7"], [["E5", "pass"]]),
    ],
)
def test_the_variations_of_an_sgf_are_read_as_far_as_they_are_legal(
    client: Client, sgf: str, main: list[str], others: list[list[str]]
) -> None:
    read = client.ask("/api/import", text=sgf)
    assert read["position"]["moves"] == main
    assert read["variations"] == others


def test_lists_of_moves_have_no_variations(client: Client) -> None:
    assert client.ask("/api/import", text="4 4", game="connect_four")["variations"] is None


def test_a_file_of_nested_branches_is_read_in_bounded_memory(client: Client) -> None:
    deep = "(;SZ[9]" + "(;B[aa])(;B[bb]" * 30_000 + ")" * 30_001
    response = client.post("/api/import", json={"text": deep})
    assert response.status_code in (200, 400)
    assert len(response.json().get("variations", [])) <= 200


@pytest.mark.parametrize(("nodes", "number"), [(10, 63), (2990, 20)])
def test_fewer_variations_are_read_if_their_lines_are_long(
    client: Client, nodes: int, number: int
) -> None:
    ends = "".join(f"(;B[{x}{y}])" for x in "abcdefgh" for y in "abcdefgh")
    read = client.ask("/api/import", text=f"(;SZ[9]{';' * nodes}{ends})")
    assert len(read["variations"]) == number


def test_more_than_two_files_at_the_same_time_are_refused(client: Client) -> None:
    files = client.board.files
    busy = (429, "files: expected at most 2 at the same time")
    with files.turn():
        assert client.ask("/api/import", text="4 4", game="connect_four")
        with files.turn():
            assert client.refused("/api/import", text="4 4", game="connect_four") == busy
            assert client.refused("/api/export", position={"game": "othello"}) == busy
    assert client.ask("/api/export", position={"game": "othello"})
