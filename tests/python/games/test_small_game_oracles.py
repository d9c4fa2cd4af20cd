"""Othello, Connect Four, m,n,k and Gomoku against published counts and external games."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

import pyengine
from positions import children

Case = dict[str, Any]
Oracle = Callable[[str], list[Case]]


def board_letters(text: str, black: str, white: str) -> list[str]:
    """Return the board in OpenSpiel's picture: its rows of stones."""
    stones = {black: "X", white: "O", ".": ".", "-": "."}
    rows = ["".join(line.split()).strip("0123456789") for line in text.splitlines()]
    return ["".join(stones[c] for c in row) for row in rows if row and set(row) <= set(stones)]


def expand(states: list[pyengine.State]) -> list[pyengine.State]:
    """Return the distinct boards after one more ply."""
    later = {child.hash(): child for state in states for child in children(state)}
    return [*later.values()]


# --- random games of OpenSpiel --------------------------------------------------------------------

OURS = {
    "othello": "othello",
    "connect_four": "connect_four",
    "tic_tac_toe": "tic_tac_toe",
    "mnk(m=5,n=5,k=4)": "mnk(rows=5,columns=5,k=4)",
    "mnk(m=7,n=6,k=5)": "mnk(rows=6,columns=7,k=5)",
    "gomoku": "gomoku(board_size=15,rule=freestyle)",
}


@pytest.mark.parametrize(
    ("file", "colors"),
    [
        ("04-othello/open_spiel_random_games", "xo"),
        ("05-connect-four/open_spiel_random_games", "xo"),
        ("06-tictactoe-mnk/open_spiel_random_games", "xo"),
        ("07-gomoku/open_spiel_random_games_freestyle", "bw"),
    ],
)
def test_random_games_of_open_spiel_replay(oracle: Oracle, file: str, colors: str) -> None:
    """Compares the number of legal actions at each ply, the final board and the result."""
    for case in oracle(f"{file}.jsonl"):
        state = pyengine.load_game(OURS[case["game"]]).new_initial_state()
        for action, count in zip(case["actions"], case["legal_counts"], strict=True):
            assert len(state.legal_actions()) == count
            state.apply_action(action)
        assert state.is_terminal()
        first = case["returns_first_player"]
        assert state.returns() == [first, -first]
        columns = state.game.board_shape[1]
        board = [row for row in board_letters(case["final"], *colors) if len(row) == columns]
        assert state.board_rows() == board, case["id"]


# --- 04: Othello ----------------------------------------------------------------------------------


@pytest.mark.slow
def test_deep_perft_is_the_published_one() -> None:
    othello = pyengine.load_game("othello").new_initial_state()
    assert [pyengine.perft(othello, depth) for depth in (10, 11)] == [
        24571284,
        212258800,
    ]  # Aart Bik
    connect_four = pyengine.load_game("connect_four").new_initial_state()
    counts = [pyengine.perft(connect_four, depth, count_finished=False) for depth in (9, 10)]
    assert counts == [39394572, 268031646]


def test_othello_endgame_positions_have_the_listed_legal_moves(oracle: Oracle) -> None:
    game = pyengine.load_game("othello")
    for case in oracle("04-othello/ffo_endgames.jsonl"):
        board = case["board"]
        rows = [board[i : i + 8] for i in range(0, 64, 8)]
        state = game.state_from_board(rows, "XO".index(case["to_move"]))
        legal = {state.action_to_string(action).upper() for action in state.legal_actions()}
        assert legal == set(case["move_scores"]), case["id"]


# --- 05: Connect Four -----------------------------------------------------------------------------


def test_connect_four_has_as_many_sequences_as_published(oracle: Oracle) -> None:
    start = pyengine.load_game("connect_four").new_initial_state()
    rows = oracle("05-connect-four/counts.csv")
    assert len(rows) == 9
    for row in rows:
        sequences = pyengine.perft(start, int(row["ply"]), count_finished=False)
        assert sequences == int(row["move_sequences"])


# --- 06: tic-tac-toe and m,n,k --------------------------------------------------------------------


def symmetry_class(state: pyengine.State) -> str:
    """Return the smallest of the board's eight images."""
    board = "".join(state.board_rows())
    images = []
    for k in range(8):
        moved = [""] * len(board)
        for stone, point in zip(board, state.game.symmetry_points(k), strict=True):
            moved[point] = stone
        images.append("".join(moved))
    return min(images)


def test_tic_tac_toe_counts_at_every_ply(oracle: Oracle) -> None:
    (truth,) = oracle("06-tictactoe-mnk/tictactoe.json")
    start = pyengine.load_game("tic_tac_toe").new_initial_state()
    states = [start]
    for row in truth["rows"]:
        ply = row["ply"]
        if ply > 0:
            states = expand(states)
        assert pyengine.perft(start, ply, count_finished=False) == row["move_sequences"]
        assert len(states) == row["positions"]
        assert len({symmetry_class(s) for s in states}) == row["positions_up_to_symmetry"]
        assert sum(s.is_terminal() for s in states) == row["terminal_positions"]
    assert pyengine.perft(start, 9) == truth["games"]


def test_tic_tac_toe_ends_as_often_as_published_with_each_result(oracle: Oracle) -> None:
    (truth,) = oracle("06-tictactoe-mnk/tictactoe.json")
    results = {1.0: "X", -1.0: "O", 0.0: "draw"}
    ends: dict[str, set[str]] = {name: set() for name in results.values()}
    known: dict[int, Counter[str]] = {}

    def games_from(state: pyengine.State) -> Counter[str]:
        key = state.hash()
        if key not in known:
            if state.is_terminal():
                name = results[state.returns()[0]]
                ends[name].add("".join(state.board_rows()))
                known[key] = Counter({name: 1})
            else:
                known[key] = sum(map(games_from, children(state)), Counter())
        return known[key]

    assert games_from(pyengine.load_game("tic_tac_toe").new_initial_state()) == truth["results"]
    assert {name: len(boards) for name, boards in ends.items()} == truth["terminal"]


# --- 07: Gomoku -----------------------------------------------------------------------------------


def gomoku_rows(board: list[str]) -> list[str]:
    """Convert rows of B, W and . to our format."""
    return [row.replace("B", "X").replace("W", "O") for row in board]


def test_renju_forbids_the_points_it_should(oracle: Oracle) -> None:
    game = pyengine.load_game("gomoku", board_size=15, rule="renju")
    for case in oracle("07-gomoku/renju_forbidden_points.jsonl"):
        state = game.state_from_board(gomoku_rows(case["board"]), 0)
        legal = set(state.legal_actions())
        for point, reason in case["points"]:
            allowed = state.string_to_action(point) in legal
            assert allowed == (reason is None), f"{case['id']}: {point} {reason}"
        if case["all_forbidden_points"] is not None:
            empty = [i for i, stone in enumerate("".join(state.board_rows())) if stone == "."]
            forbidden = {state.action_to_string(i) for i in empty if i not in legal}
            assert forbidden == {point for point, _ in case["all_forbidden_points"]}, case["id"]


def test_forced_wins_of_puzzles_are_legal_and_win(oracle: Oracle) -> None:
    lines = 0
    for case in oracle("07-gomoku/vcf_vct_puzzles.jsonl"):
        for rule, line in (case.get("own_vcf") or {}).items():
            if not line:
                continue
            game = pyengine.load_game("gomoku", board_size=15, rule=rule)
            attacker = "BW".index(case["to_move"])
            state = game.state_from_board(gomoku_rows(case["board"]), attacker)
            for move in line:
                assert not state.is_terminal()
                state.apply_action(state.string_to_action(move))
            assert wins_next(state, attacker), f"{case['id']} {rule}"
            lines += 1
    assert lines > 0


def wins_next(state: pyengine.State, attacker: int) -> bool:
    """Return whether the attacker has won or wins against every defence."""
    if state.is_terminal():
        return state.returns()[attacker] == 1.0
    if state.current_player() == attacker:
        ends = [child for child in children(state) if child.is_terminal()]
        return any(end.returns()[attacker] == 1.0 for end in ends)
    return all(wins_next(child, attacker) for child in children(state))
