"""The public Game and State: names, parameters, boards, equality, text forms, errors."""

from __future__ import annotations

import copy
import pickle
import random
from typing import Any

import numpy as np
import pytest

import pyengine

GAMES = [
    "tic_tac_toe",
    "mnk(rows=3,columns=5,k=4)",
    "connect_four",
    "gomoku(rule=renju)",
    "gomoku(board_size=20,rule=standard)",
    "othello",
    "othello(board_size=4)",
    "othello(board_size=10)",
    "go(board_size=9)",
    "go(board_size=19,superko=situational)",
    "go(rows=1,columns=6,suicide=true)",
    "go(rows=4,columns=19,komi=-3.5)",
]


def played(text: str, rng: random.Random, plies: int = 30) -> pyengine.State:
    """Return a state after random moves."""
    state = pyengine.load_game(text).new_initial_state()
    while not state.is_terminal() and len(state.history()) < plies:
        state.apply_action(rng.choice(state.legal_actions()))
    return state


# --- games ----------------------------------------------------------------------------------------


def test_all_documented_games_are_registered() -> None:
    names = ("connect_four", "go", "gomoku", "mnk", "othello", "tic_tac_toe")
    assert pyengine.registered_games() == names


@pytest.mark.parametrize(
    ("text", "params", "shape", "actions", "symmetries", "length"),
    [
        ("tic_tac_toe", {}, (3, 3), 9, 8, 9),
        ("mnk(rows=3,columns=5)", {"rows": 3, "columns": 5, "k": 3}, (3, 5), 15, 4, 15),
        ("connect_four", {"rows": 6, "columns": 7}, (6, 7), 7, 2, 42),
        ("gomoku", {"board_size": 15, "rule": "freestyle", "win_length": 5}, (15, 15), 225, 8, 225),
        ("othello", {"board_size": 8}, (8, 8), 65, 8, None),
        ("go", {"board_size": 19, "komi": 7.5, "superko": "positional", "suicide": False,
                "max_game_length": 722}, (19, 19), 362, 8, 722),
    ],
)  # fmt: skip
def test_a_game_has_the_documented_parameters_and_sizes(
    text: str, params: dict[str, Any], shape: Any, actions: int, symmetries: int, length: int | None
) -> None:
    game = pyengine.load_game(text)
    assert game.name == text.split("(")[0]
    assert (game.params, game.board_shape) == (params, shape)
    assert (game.num_distinct_actions(), game.num_symmetries) == (actions, symmetries)
    assert length in (None, game.max_game_length())


def test_a_game_by_text_and_by_keywords_is_the_same() -> None:
    by_text = pyengine.load_game("go(board_size=9,komi=7.0)")
    assert by_text == pyengine.load_game("go", board_size=9, komi=7.0)
    assert by_text == pyengine.load_game("go(board_size=9)", komi=7)
    assert hash(by_text) == hash(pyengine.load_game(str(by_text)))
    assert by_text != pyengine.load_game("go", board_size=9)
    assert by_text != "go"


def test_numpy_numbers_are_parameters() -> None:
    game = pyengine.load_game("go", board_size=np.int64(9), komi=np.float32(6.5))
    assert game.params["board_size"] == 9
    assert game.params["komi"] == 6.5


# --- playing --------------------------------------------------------------------------------------


def test_new_initial_state_plays_moves_and_refuses_illegal_ones() -> None:
    game = pyengine.load_game("connect_four")
    assert game.new_initial_state([3, 3, 2]).history() == [3, 3, 2]
    assert game.new_initial_state(moves=(3,)).history() == [3]
    with pytest.raises(pyengine.IllegalActionError):
        game.new_initial_state([3] * 7)


@pytest.mark.parametrize("make", [pyengine.State.clone, copy.copy, copy.deepcopy])
def test_clones_share_nothing(make: Any) -> None:
    state = pyengine.load_game("othello").new_initial_state([19])
    copied = make(state)
    assert copied == state
    assert hash(copied) == hash(state)
    copied.apply_action(copied.legal_actions()[-1])
    assert copied != state
    assert state.history() == [19]


def test_states_with_equal_boards_and_different_histories_are_not_equal() -> None:
    game = pyengine.load_game("tic_tac_toe")
    one = game.new_initial_state([0, 4, 8])
    other = game.new_initial_state([8, 4, 0])
    assert one != other
    assert one.board_rows() == other.board_rows()
    assert one.hash() == other.hash()
    assert one != pyengine.load_game("mnk").new_initial_state([0, 4, 8])
    assert len({one, other, one.clone()}) == 2


def test_the_hash_of_a_position_is_the_same_in_every_process() -> None:
    assert (
        pyengine.load_game("go", board_size=9).new_initial_state([40, 41]).hash()
        == 7661719222225245820
    )


# --- strings --------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", GAMES)
def test_every_action_has_a_distinct_name(text: str) -> None:
    game = pyengine.load_game(text)
    state = game.new_initial_state()
    names = [state.action_to_string(a) for a in range(game.num_distinct_actions())]
    assert len(set(names)) == len(names)
    assert [state.string_to_action(name) for name in names] == list(range(len(names)))


def test_the_text_of_a_state_shows_the_board() -> None:
    state = pyengine.load_game("tic_tac_toe").new_initial_state([0, 4])
    assert sum(any(c in line for c in "xXoO.") for line in str(state).splitlines()) >= 3
    assert "ply 2, player 0 to move" in repr(state)
    assert "tic_tac_toe" in repr(state)


# --- boards given as rows -------------------------------------------------------------------------


def test_a_board_given_as_rows_starts_a_game() -> None:
    game = pyengine.load_game("go", board_size=3)
    state = game.state_from_board(["X.o", "-x.", "..O"], player=1)
    assert state.board_rows() == ["X.O", ".X.", "..O"]
    assert state.current_player() == 1
    assert state.history() == []
    state.apply_action(1)
    assert state.history() == [1]
    state.undo_action()
    assert state == game.state_from_board("X.o\n-x.\n..O", 1)
    assert state == game.state_from_board(["X.O", ".X.", "..O"], 1)
    assert state != game.state_from_board(["X.O", ".X.", "..O"], 0)
    assert state != game.new_initial_state()


# --- text forms -----------------------------------------------------------------------------------


@pytest.mark.parametrize("text", GAMES)
def test_states_and_games_survive_text_and_pickle(text: str, rng: random.Random) -> None:
    for plies in (0, 7, 1000):
        state = played(text, rng, plies)
        game = state.game
        line = state.serialize()
        assert "\n" not in line
        for again in (game.deserialize_state(line), pickle.loads(pickle.dumps(state))):
            assert again == state
            assert again.serialize() == line
            assert str(again) == str(state)
            assert again.legal_actions() == state.legal_actions()
            assert again.returns() == state.returns()
        assert pickle.loads(pickle.dumps(game)) == game


# --- errors ---------------------------------------------------------------------------------------


def board(text: str, rows: list[str], player: int = 0, ko: str | None = None) -> Any:
    return lambda: pyengine.load_game(text).state_from_board(rows, player, ko=ko)


def state_text(text: str) -> Any:
    return lambda: pyengine.load_game("tic_tac_toe").deserialize_state(text)


EMPTY = ["...", "...", "..."]
REFUSED: list[tuple[Any, str]] = [
    (lambda: pyengine.load_game("chess"), "chess"),
    (lambda: pyengine.load_game("go", komi=float("nan")), "komi"),
    (lambda: pyengine.load_game("go(board_size=9)", board_size=9), "board_size"),
    (lambda: pyengine.load_game("connect_four").symmetry_points(2), "0..1"),
    (lambda: pyengine.load_game("go").new_initial_state().undo_action(), "undo_action"),
    (board("tic_tac_toe", EMPTY[:2]), "3 rows"),
    (board("tic_tac_toe", ["...", ".?.", "..."]), "'?'"),
    (board("tic_tac_toe", EMPTY, 2), "player"),
    (board("go(board_size=3)", EMPTY, ko="D4"), "ko"),
    (state_text("othello(board_size=8);moves="), "othello"),
    (state_text("tic_tac_toe;moves"), "moves="),
    (state_text("tic_tac_toe;moves=0,0"), "move 2"),
    (state_text("tic_tac_toe;start=.../...,0;moves="), "rows"),
    (state_text("tic_tac_toe;start=.../.../...,x;moves="), "player"),
]


@pytest.mark.parametrize(("call", "reason"), REFUSED)
def test_invalid_input_is_refused_with_the_reason(call: Any, reason: str) -> None:
    with pytest.raises(pyengine.ConfigError) as refusal:
        call()
    assert reason in str(refusal.value)


@pytest.mark.parametrize(
    ("text", "name"),
    [("go", "I5"), ("go", ""), ("gomoku", "pass"), ("connect_four", "8"), ("othello", "i1")],
)
def test_an_unknown_action_name_is_refused(text: str, name: str) -> None:
    state = pyengine.load_game(text).new_initial_state()
    with pytest.raises(pyengine.IllegalActionError) as refusal:
        state.string_to_action(name)
    assert f'"{name}"' in str(refusal.value)


def test_errors_have_the_documented_bases_and_pickle() -> None:
    for kind in (pyengine.ConfigError, pyengine.IllegalActionError):
        assert issubclass(kind, pyengine.EngineError)
        assert issubclass(kind, ValueError)
    for kind in (pyengine.ModelError, pyengine.EvaluationError, pyengine.DataError):
        assert issubclass(kind, pyengine.EngineError)
        assert not issubclass(kind, ValueError)
    error = pickle.loads(pickle.dumps(pyengine.ConfigError("why")))
    assert (type(error), str(error)) == (pyengine.ConfigError, "why")
    assert repr(type(error)) == "<class 'pyengine.ConfigError'>"
