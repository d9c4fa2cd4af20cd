"""Games and positions as the page gets them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from serving import Client

NINE = "go(board_size=9,komi=7)"
PUT_UP = "...x.../...o.../...x.../...o.../...x.../...o... x"


def test_the_games_name_their_networks_and_levels(client: Client) -> None:
    answer = client.get("/api/games").json()
    assert answer["max_simulations"] == client.board.settings.max_simulations
    games = {game["name"]: game for game in answer["games"]}
    assert {"tic_tac_toe", "connect_four", "gomoku", "othello", "go", "mnk", NINE} <= set(games)
    assert games["connect_four"]["networks"] == ["connect4"]
    assert games["gomoku"]["networks"][0] == "gomoku"
    assert (games[NINE]["title"], games[NINE]["sgf"]) == ("Go 9x9", True)
    assert [level["number"] for level in games["othello"]["levels"]][:2] == [1, 2]
    assert games["mnk"]["networks"] == games["mnk"]["levels"] == []


@pytest.mark.parametrize(
    ("game", "moves", "kind", "last", "stone"),
    [
        ("tic_tac_toe", ["b2", "a1"], "squares", [0, 0], "o"),
        ("connect_four", ["4", "4"], "columns", [4, 3], "o"),
        ("go9", ["E5"], "points", [4, 4], "x"),
        ("gomoku(board_size=9)", ["A1"], "points", [8, 0], "x"),
        ("othello", ["d3"], "squares", [2, 3], "x"),
        ("mnk(rows=3,columns=5,k=3)", ["e1"], "squares", [0, 4], "x"),
    ],
)
def test_a_position_shows_the_last_move_on_the_board(
    client: Client, game: str, moves: list[str], kind: str, last: list[int], stone: str
) -> None:
    shown = client.ask("/api/position", position={"game": game, "moves": moves})
    board = shown["board"]
    assert (board["kind"], shown["last"]) == (kind, last)
    assert board["cells"][last[0]][last[1]] == stone
    assert shown["to_move"] == len(moves) % 2
    assert (len(board["row_labels"]), len(board["column_labels"])) == (
        board["rows"],
        board["columns"],
    )
    again = client.ask("/api/position", position=shown["position"])
    assert again == shown


@pytest.mark.parametrize(
    ("game", "networks"),
    [
        ("go9", None),
        ("othello", None),
        ("go(board_size=9,komi=5.5)", ["go9"]),
        ("mnk(rows=4,columns=4,k=3)", []),
    ],
)
def test_a_position_describes_a_game_that_is_not_in_the_list(
    client: Client, game: str, networks: list[str] | None
) -> None:
    entry = client.ask("/api/position", position={"game": game})["entry"]
    assert (entry and entry["networks"]) == networks
    listed = client.get("/api/games").json()["games"]
    assert entry is None or entry.keys() == listed[0].keys()
    assert entry is None or entry["name"] not in [each["name"] for each in listed]


def test_a_legal_move_names_the_cell_where_its_stone_lands(client: Client) -> None:
    shown = client.ask("/api/position", position={"game": "connect_four", "moves": ["4"]})
    assert {move["move"]: move["cell"] for move in shown["legal"]}["4"] == [4, 3]
    shown = client.ask("/api/position", position={"game": NINE})
    assert shown["legal"][-1] == {"action": 81, "move": "pass", "cell": None, "from": None}


def test_the_end_of_a_game_has_a_result_and_no_moves(client: Client) -> None:
    moves = ["a1", "b1", "a2", "b2", "a3"]
    shown = client.ask("/api/position", position={"game": "tic_tac_toe", "moves": moves})
    assert (shown["terminal"], shown["to_move"], shown["legal"]) == (True, -1, [])
    assert (shown["returns"], shown["result"]) == ([1.0, -1.0], "X wins")


def test_a_position_that_was_set_up_keeps_its_start(client: Client) -> None:
    position = {"game": "connect_four", "start": PUT_UP, "moves": ["1"]}
    shown = client.ask("/api/position", position=position)
    assert shown["position"] == position
    assert shown["board"]["cells"][0] == list("...x...")


@pytest.mark.parametrize(
    ("position", "error"),
    [
        ({"game": "chess"}, "game: expected one of connect_four, go, "),
        ({"game": "go(komi=x)"}, "komi"),
        ({"game": NINE, "moves": ["E5", "E5"]}, "moves[1]: expected a legal move, got 'E5'"),
        ({"game": NINE, "moves": ["Z99"]}, "moves[0]: expected a legal move, got 'Z99'"),
        ({"game": "tic_tac_toe", "start": "xx"}, "start: expected rows such as "),
        ({"game": "tic_tac_toe", "start": "xx./... x"}, "start: "),
        ({"game": 3}, "position.game: expected a valid string, got 3"),
        ({}, "position.game: expected a value, got nothing"),
        ({"game": NINE, "komi": 3}, "position.komi: expected no such field, got 3"),
        ({"game": NINE, "moves": [1]}, "position.moves[0]: expected a valid string, got 1"),
    ],
)
def test_a_wrong_position_is_refused_by_name(client: Client, position: Any, error: str) -> None:
    status, text = client.refused("/api/position", position=position)
    assert status == 400
    assert error in text


GAMES = """
class State:
    def __init__(self): self.moves = []
    def history(self): return list(self.moves)
    def clone(self):
        copy = State()
        copy.moves = list(self.moves)
        return copy
    def current_player(self): return len(self.moves) % 2
    def legal_actions(self): return [0, 1]
    def apply_action(self, action): self.moves.append(action)
    def is_terminal(self): return len(self.moves) == 4
    def returns(self): return [1.0, -1.0] if sum(self.moves) > 2 else [-1.0, 1.0]
    def action_to_string(self, action): return ("left", "right")[action]
    def __str__(self): return f"moves: {self.moves}"
    def __eq__(self, other): return self.moves == other.moves
    def __hash__(self): return hash(tuple(self.moves))

class Lanes:
    def num_distinct_actions(self): return 2
    def new_initial_state(self): return State()
"""


def test_a_users_game_without_a_board_is_played_by_its_moves(tmp_path: Path) -> None:
    file = tmp_path / "lanes.py"
    file.write_text(GAMES)
    name = f"{file}:Lanes"
    with Client(games=[name], threads=1, memory=128 << 20) as client:
        game = client.get("/api/games").json()["games"][0]
        assert (game["name"], game["title"], game["board"]) == (name, "Lanes", False)
        shown = client.ask("/api/position", position={"game": name, "moves": ["right"]})
        assert (shown["board"], shown["text"]) == (None, "moves: [1]")
        assert [move["move"] for move in shown["legal"]] == ["left", "right"]
        moved = client.ask("/api/move", position=shown["position"], simulations=50)
        assert moved["position"]["moves"] == ["right", moved["move"]]
        status, error = client.refused("/api/position", position={"game": f"{file}:State"})
        assert (status, error.split(",")[0]) == (400, f"game: expected one of {name}")
