"""Go against external references: ko rules, real games, counted positions."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
from collections.abc import Callable
from typing import Any

import pytest

import pyengine
from pyengine.games.go_area import area

Case = dict[str, Any]
Oracle = Callable[[str], list[Case]]

SUPERKO = {"psk": "positional", "ssk": "situational", "simple": "simple"}
RULES = {
    "psk_nosuicide": {"superko": "positional", "suicide": False},
    "ssk_nosuicide": {"superko": "situational", "suicide": False},
    "simple_nosuicide": {"superko": "simple", "suicide": False},
    "psk_suicide": {"superko": "positional", "suicide": True},
}


def go(rows: int, columns: int, **params: Any) -> pyengine.Game:
    """Return the game; square boards by board_size, so both parameter forms are tested."""
    if rows == columns and rows > 1:
        return pyengine.load_game("go", board_size=rows, **params)
    return pyengine.load_game("go", rows=rows, columns=columns, **params)


def color(letter: str) -> int:
    """Black is player 0."""
    return "BW".index(letter)


def split_rows(board: str, columns: int) -> list[str]:
    """Cut a board in one string into its rows."""
    return [board[i : i + columns] for i in range(0, len(board), columns)]


def play(state: pyengine.State, move: str) -> None:
    """Play a move given by its name."""
    state.apply_action(state.string_to_action(move))


def stones(state: pyengine.State) -> tuple[int, int]:
    """Count black and white stones."""
    board = "".join(state.board_rows())
    return board.count("X"), board.count("O")


def area_difference(game: pyengine.Game, rows: list[str], difference: int) -> bool:
    """Return whether black's area minus white's is `difference`: with that komi it is a draw."""
    height, width = game.board_shape
    even = go(height, width, komi=float(difference), suicide=True).state_from_board(rows)
    play(even, "pass")
    play(even, "pass")
    return even.returns() == [0.0, 0.0]


# --- 01: ko, traces, areas, counts ----------------------------------------------------------------


def forbidden_by_ko(state: pyengine.State) -> set[str]:
    """Return the points that are forbidden only because of the history."""
    simple = go(*state.game.board_shape, superko="simple", suicide=state.game.params["suicide"])
    fresh = simple.state_from_board(state.board_rows(), state.current_player())
    lost = set(fresh.legal_actions()) - set(state.legal_actions())
    return {state.action_to_string(action) for action in lost}


def test_ko_forbids_what_katago_says_it_forbids(oracle: Oracle) -> None:
    questions = 0
    for case in oracle("01-go-rules/ko_scenarios.jsonl"):
        rows = case["start"]
        game = go(len(rows), len(rows[0]), superko=SUPERKO[case["ko"]], suicide=case["suicide"])
        state = game.state_from_board(rows, color(case["to_move"]))
        for event in case["events"]:
            if event["op"] == "forbidden_by_ko":
                assert forbidden_by_ko(turned_to(state, event["color"])) == set(event["points"])
                questions += 1
            else:
                state = turned_to(state, event["color"])
                if event["move"] != "pass" or not just_passed(state):
                    play(state, event["move"])
    assert questions == 11


def just_passed(state: pyengine.State) -> bool:
    """Return whether the last move was a pass."""
    return state.history()[-1:] == [state.game.num_distinct_actions() - 1]


def turned_to(state: pyengine.State, letter: str) -> pyengine.State:
    """Return the state with that colour to move, by undoing a pass or passing."""
    if state.current_player() == color(letter):
        return state
    turned = state.clone()
    if just_passed(turned):
        turned.undo_action()
    else:
        play(turned, "pass")
    return turned


def test_tiny_boards_follow_katago_move_by_move(oracle: Oracle) -> None:
    for case in oracle("01-go-rules/tiny_board_traces.jsonl"):
        game = go(
            case["h"],
            case["w"],
            superko=SUPERKO[case["ko"]],
            suicide=case["suicide"],
            komi=case["komi"],
            max_game_length=1000,
        )
        state = game.state_from_board(case["start"], color(case["steps"][0]["to_move"]))
        for step in case["steps"]:
            assert "".join(state.board_rows()) == step["board"], case["id"]
            if "legal_moves_including_pass" in step:
                assert state.current_player() == color(step["to_move"])
                assert len(state.legal_actions()) == step["legal_moves_including_pass"]
            if "move" in step:
                play(state, step["move"])
        assert state.is_terminal() == case["finished"]
        if case["finished"]:
            white_won = case["tromp_taylor_white_minus_black"] > 0
            assert state.returns() == ([-1.0, 1.0] if white_won else [1.0, -1.0])


def test_area_is_tromp_taylor(oracle: Oracle) -> None:
    for case in oracle("01-go-rules/area_boards.jsonl"):
        rows = case["board"]
        game = go(len(rows), len(rows[0]))
        black, white = case["pure_tromp_taylor_black"], case["pure_tromp_taylor_white"]
        assert area(game.state_from_board(rows)) == (black, white)
        assert area_difference(game, rows, black - white), case["id"]


@pytest.mark.parametrize(
    "shape", [(1, 1), (1, 2), (1, 3), (1, 4), (1, 5), (2, 2), (2, 3), (2, 4), (3, 3)]
)
def test_as_many_boards_are_accepted_as_there_are_legal_positions(
    oracle: Oracle, shape: tuple[int, int]
) -> None:
    counts = {
        (case["w"], case["h"]): int(case["legal_positions"])
        for case in oracle("01-go-rules/legal_position_counts.jsonl")
    }
    height, width = shape
    game = go(height, width)
    accepted = 0
    for board in itertools.product(".XO", repeat=height * width):
        with contextlib.suppress(pyengine.ConfigError):
            game.state_from_board(split_rows("".join(board), width))
            accepted += 1
    assert accepted == counts[min(shape), max(shape)]


def games_from(state: pyengine.State) -> int:
    """Count the simple paths from here, with either colour to move."""
    total = 1
    for player in (0, 1):
        turned = state.clone()
        if turned.current_player() != player:
            play(turned, "pass")
        for action in turned.legal_actions()[:-1]:
            after = turned.clone()
            after.apply_action(action)
            total += games_from(after)
    return total


def test_the_number_of_games_on_the_smallest_boards_is_tromps(oracle: Oracle) -> None:
    for case in oracle("01-go-rules/number_of_games.jsonl"):
        game = go(case["h"], case["w"], superko="positional", suicide=True, max_game_length=1000)
        assert games_from(game.new_initial_state()) == int(case["games"]), case["id"]


# --- 02: real games -------------------------------------------------------------------------------


def start_of(case: Case, game: pyengine.Game, first: str) -> pyengine.State:
    """Return the initial state of the record."""
    columns = case["width"]
    if case["start"] is None and first == "B":
        return game.new_initial_state()
    board = case["start"] or "." * (columns * case["height"])
    return game.state_from_board(split_rows(board, columns), color(first))


def check_point(
    case: Case, name: str, state: pyengine.State, point: Case, played: list[int]
) -> None:
    """Compare a state with a checkpoint of the record."""
    digest = hashlib.sha256("/".join(state.board_rows()).encode()).hexdigest()
    assert digest[:16] == point["board_sha256_16"]
    black, white = stones(state)
    assert (black, white) == (point["black_stones"], point["white_stones"])
    removed = (played[0] - black, played[1] - white)
    assert removed == (point["removed_black"], point["removed_white"])
    # After a move that some rule set forbids, the record applies only to rules that allow it.
    expected = point.get(f"legal_{name}")
    if expected is None:
        assert any(index is not None for index in case["first_illegal_move_index"].values())
    elif not state.is_terminal():
        assert state.current_player() == color(point["next"])
        assert len(state.legal_actions()) - 1 == expected


def replay(case: Case, name: str) -> tuple[pyengine.State, bool]:
    """Replay a record under a rule set; return the last state and whether the record ends there."""
    game = go(case["height"], case["width"], **RULES[name])
    moves = case["moves"].split()
    state = start_of(case, game, moves[0][0])
    forbidden = case["first_illegal_move_index"][name.split("_")[0]]
    captures = dict(case["captures"])
    points = {point["after"]: point for point in case["checkpoints"]}
    played = list(stones(state))
    before = sum(played)
    for index, move in enumerate(moves):
        if state.is_terminal():  # a third pass, in records from programs
            assert {m[1:] for m in moves[index:]} == {"pass"}
            return state, False
        assert state.current_player() == color(move[0])
        if index == forbidden:
            with pytest.raises(pyengine.IllegalActionError):
                play(state, move[1:])
            return state, False
        play(state, move[1:])
        stone = move[1:] != "pass"
        played[color(move[0])] += stone
        after = sum(stones(state))
        assert before + stone - after == captures.get(index + 1, 0)
        before = after
        if index + 1 in points:
            check_point(case, name, state, points[index + 1], played)
    return state, True


@pytest.mark.parametrize("name", RULES)
def test_real_games_replay_with_every_capture_and_checkpoint(oracle: Oracle, name: str) -> None:
    games = oracle("02-go-records/games.jsonl")
    assert len(games) == 621
    cases = games[[*RULES].index(name) :: len(RULES)]
    complete = moves = 0
    for case in cases:
        try:
            state, ended = replay(case, name)
        except AssertionError as error:
            raise AssertionError(f"{case['id']}: {error}") from error
        if ended:
            complete += 1
            assert "".join(state.board_rows()) == case["final_board"], case["id"]
        moves += len(state.history())
    assert complete > 130
    assert moves > 25_000


def test_the_final_area_of_real_games_is_tromp_taylors(oracle: Oracle) -> None:
    for case in oracle("02-go-records/games.jsonl"):
        rows = split_rows(case["final_board"], case["width"])
        game = go(case["height"], case["width"])
        difference = case["final_area_black"] - case["final_area_white"]
        assert area_difference(game, rows, difference), case["id"]
