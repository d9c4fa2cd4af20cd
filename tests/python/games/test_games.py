"""The public Game and State: names, parameters, boards by hand, equality, text forms, errors."""

from __future__ import annotations

import copy
import pickle
import random
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import pyengine

GAMES = [
    "tic_tac_toe",
    "mnk(rows=3,columns=5,k=4)",
    "connect_four",
    "connect_four(rows=5,columns=4)",
    "gomoku",
    "gomoku(board_size=9,rule=standard)",
    "gomoku(rule=renju)",
    "othello",
    "othello(board_size=4)",
    "othello(board_size=10)",
    "go(board_size=2)",
    "go(board_size=9)",
    "go(board_size=13,superko=simple)",
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


def test_the_games_of_the_documentation_are_registered() -> None:
    assert pyengine.registered_games() == (
        "connect_four",
        "go",
        "gomoku",
        "mnk",
        "othello",
        "tic_tac_toe",
    )


@pytest.mark.parametrize(
    ("text", "params", "shape", "actions", "symmetries", "length"),
    [
        ("tic_tac_toe", {}, (3, 3), 9, 8, 9),
        ("mnk", {"rows": 3, "columns": 3, "k": 3}, (3, 3), 9, 8, 9),
        ("mnk(rows=3,columns=5)", {"rows": 3, "columns": 5, "k": 3}, (3, 5), 15, 4, 15),
        ("connect_four", {"rows": 6, "columns": 7}, (6, 7), 7, 2, 42),
        (
            "gomoku",
            {"board_size": 15, "rule": "freestyle", "win_length": 5},
            (15, 15),
            225,
            8,
            225,
        ),
        ("othello", {"board_size": 8}, (8, 8), 65, 8, None),
        (
            "go",
            {
                "board_size": 19,
                "komi": 7.5,
                "superko": "positional",
                "suicide": False,
                "max_game_length": 722,
            },
            (19, 19),
            362,
            8,
            722,
        ),
    ],
)
def test_a_game_says_what_it_is(
    text: str,
    params: dict[str, Any],
    shape: tuple[int, int],
    actions: int,
    symmetries: int,
    length: int | None,
) -> None:
    game = pyengine.load_game(text)
    assert game.name == text.split("(")[0]
    assert game.params == params
    assert game.board_shape == shape
    assert game.num_distinct_actions() == actions
    assert game.num_symmetries == symmetries
    if length is not None:
        assert game.max_game_length() == length


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


@pytest.mark.parametrize(
    ("text", "params", "named"),
    [
        ("chess", {}, "chess"),
        ("", {}, "expected"),
        ("go(", {}, "go("),
        ("go", {"size": 9}, "size"),
        ("go", {"board_size": 20}, "board_size"),
        ("go", {"board_size": 1}, "board_size"),
        ("go", {"board_size": "nine"}, "board_size"),
        ("go", {"board_size": 9.0}, "board_size"),
        ("go", {"board_size": None}, "board_size"),
        ("go", {"rows": 0, "columns": 3}, "rows"),
        ("go", {"komi": float("nan")}, "komi"),
        ("go", {"superko": "natural"}, "superko"),
        ("go", {"suicide": 1}, "suicide"),
        ("go", {"max_game_length": 0}, "max_game_length"),
        ("go(board_size=9)", {"board_size": 9}, "board_size"),
        ("othello", {"board_size": 7}, "board_size"),
        ("othello", {"board_size": 12}, "board_size"),
        ("gomoku", {"rule": "caro"}, "rule"),
        ("gomoku", {"rule": "renju", "win_length": 4}, "win_length"),
        ("connect_four", {"rows": -6}, "rows"),
        ("mnk", {"k": 0}, "k"),
        ("tic_tac_toe", {"rows": 3}, "rows"),
    ],
)
def test_a_wrong_game_or_parameter_is_named(text: str, params: dict[str, Any], named: str) -> None:
    with pytest.raises(pyengine.ConfigError) as refusal:
        pyengine.load_game(text, **params)
    assert named in str(refusal.value)


def test_symmetries_are_permutations_of_points_and_actions() -> None:
    for text in GAMES:
        game = pyengine.load_game(text)
        actions = range(game.num_distinct_actions())
        for k in range(game.num_symmetries):
            assert sorted(game.symmetry_action(k, a) for a in actions) == list(actions)
            points = game.symmetry_points(k)
            assert sorted(points) == list(range(len(points)))
        assert [game.symmetry_action(0, a) for a in actions] == list(actions)
    with pytest.raises(pyengine.ConfigError, match=r"0\.\.1"):
        pyengine.load_game("connect_four").symmetry_points(2)


# --- playing --------------------------------------------------------------------------------------


def test_the_quick_start_of_the_documentation_works() -> None:
    game = pyengine.load_game("go", board_size=9, komi=7.0)
    state = game.new_initial_state()
    state.apply_action(state.string_to_action("E5"))
    assert state.history() == [40]
    assert state.current_player() == 1
    assert state.legal_actions() == [a for a in range(82) if a != 40]
    assert state.game is game


def test_a_finished_game_has_no_player_no_actions_and_a_result() -> None:
    state = pyengine.load_game("tic_tac_toe").new_initial_state([0, 3, 1, 4, 2])
    assert state.is_terminal()
    assert state.current_player() == -4
    assert state.legal_actions() == []
    assert state.returns() == [1.0, -1.0]
    with pytest.raises(pyengine.IllegalActionError, match="over"):
        state.apply_action(5)


def test_returns_are_zero_while_the_game_goes_on() -> None:
    assert pyengine.load_game("othello").new_initial_state().returns() == [0.0, 0.0]


@pytest.mark.parametrize("action", [0, -1, 9, 10**12, -(10**12)])
def test_an_illegal_action_is_refused_and_changes_nothing(action: int) -> None:
    state = pyengine.load_game("tic_tac_toe").new_initial_state([0])
    before = state.clone()
    with pytest.raises(pyengine.IllegalActionError) as refusal:
        state.apply_action(action)
    assert str(action) in str(refusal.value)
    assert state == before
    assert str(state) == str(before)


def test_new_initial_state_plays_moves_and_refuses_illegal_ones() -> None:
    game = pyengine.load_game("connect_four")
    assert game.new_initial_state([3, 3, 2]).history() == [3, 3, 2]
    assert game.new_initial_state(moves=(3,)).history() == [3]
    with pytest.raises(pyengine.IllegalActionError):
        game.new_initial_state([3] * 7)


@pytest.mark.parametrize("text", GAMES)
def test_undo_takes_back_every_action(text: str, rng: random.Random) -> None:
    state = played(text, rng, plies=12)
    while state.history():
        expected = state.game.new_initial_state(state.history()[:-1])
        state.undo_action()
        assert state == expected
        assert str(state) == str(expected)
        assert state.legal_actions() == expected.legal_actions()
    with pytest.raises(pyengine.ConfigError, match="undo_action"):
        state.undo_action()


@pytest.mark.parametrize("text", GAMES)
def test_clones_share_nothing(text: str, rng: random.Random) -> None:
    state = played(text, rng, plies=5)
    for make in (pyengine.State.clone, copy.copy, copy.deepcopy):
        copied = make(state)
        assert copied == state
        assert hash(copied) == hash(state)
        if not state.is_terminal():
            before = state.serialize()
            copied.apply_action(copied.legal_actions()[-1])
            assert copied != state
            assert state.serialize() == before


def test_states_with_another_past_are_not_equal_though_the_board_is() -> None:
    game = pyengine.load_game("tic_tac_toe")
    one = game.new_initial_state([0, 4, 8])
    other = game.new_initial_state([8, 4, 0])
    assert one != other
    assert one.board_rows() == other.board_rows()
    assert one.hash() == other.hash()
    assert one != pyengine.load_game("mnk").new_initial_state([0, 4, 8])
    assert len({one, other, one.clone()}) == 2


def test_the_hash_of_a_position_is_the_same_in_every_process() -> None:
    code = (
        "import pyengine; g = pyengine.load_game('go', board_size=9);"
        "print(g.new_initial_state([40, 41]).hash())"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    state = pyengine.load_game("go", board_size=9).new_initial_state([40, 41])
    assert int(run.stdout) == state.hash()


# --- strings --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "action", "name"),
    [
        ("tic_tac_toe", 0, "a1"),
        ("tic_tac_toe", 5, "c2"),
        ("mnk(rows=3,columns=5,k=3)", 14, "e3"),
        ("connect_four", 0, "1"),
        ("connect_four", 6, "7"),
        ("othello", 0, "a1"),
        ("othello", 19, "d3"),
        ("othello", 64, "pass"),
        ("gomoku", 0, "A15"),
        ("gomoku", 224, "O1"),
        ("gomoku", 8, "I15"),
        ("gomoku", 11 * 15 + 3, "D4"),
        ("go", 0, "A19"),
        ("go", 15 * 19 + 3, "D4"),
        ("go", 8, "J19"),
        ("go", 361, "pass"),
    ],
)
def test_actions_have_the_names_that_players_use(text: str, action: int, name: str) -> None:
    state = pyengine.load_game(text).new_initial_state()
    assert state.action_to_string(action) == name
    assert state.string_to_action(name) == action


@pytest.mark.parametrize("text", GAMES)
def test_every_action_has_a_name_of_its_own(text: str) -> None:
    game = pyengine.load_game(text)
    state = game.new_initial_state()
    names = [state.action_to_string(a) for a in range(game.num_distinct_actions())]
    assert len(set(names)) == len(names)
    assert [state.string_to_action(name) for name in names] == list(range(len(names)))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("go", "I5"),
        ("go", "A20"),
        ("go", "A0"),
        ("go", ""),
        ("go", "D4 "),
        ("gomoku", "P1"),
        ("gomoku", "pass"),
        ("connect_four", "8"),
        ("connect_four", "0"),
        ("othello", "i1"),
        ("tic_tac_toe", "4"),
    ],
)
def test_what_names_no_action_is_refused_by_name(text: str, name: str) -> None:
    state = pyengine.load_game(text).new_initial_state()
    with pytest.raises(pyengine.IllegalActionError) as refusal:
        state.string_to_action(name)
    assert f'"{name}"' in str(refusal.value)


def test_an_action_beyond_the_last_has_no_name() -> None:
    with pytest.raises(pyengine.IllegalActionError, match=r"0\.\.8"):
        pyengine.load_game("tic_tac_toe").new_initial_state().action_to_string(9)


def test_the_text_of_a_state_shows_the_board() -> None:
    state = pyengine.load_game("tic_tac_toe").new_initial_state([0, 4])
    lines = [line for line in str(state).splitlines() if any(c in line for c in "xXoO.")]
    assert len(lines) >= 3
    assert "ply 2, player 0 to move" in repr(state)
    assert "tic_tac_toe" in repr(state)


# --- boards by hand -------------------------------------------------------------------------------


def test_a_board_by_hand_is_the_start_of_a_game() -> None:
    game = pyengine.load_game("go", board_size=3)
    state = game.state_from_board(["X.o", "-x.", "..O"], player=1)
    assert state.board_rows() == ["X.O", ".X.", "..O"]
    assert state.current_player() == 1
    assert state.history() == []
    state.apply_action(1)
    assert state.history() == [1]
    state.undo_action()
    assert state == game.state_from_board(["X.O", ".X.", "..O"], 1)
    assert state != game.state_from_board(["X.O", ".X.", "..O"], 0)
    assert state != game.new_initial_state()


def test_a_board_may_be_one_text() -> None:
    game = pyengine.load_game("tic_tac_toe")
    assert game.state_from_board("x..\n.o.\n...") == game.state_from_board(["x..", ".o.", "..."])


def test_a_ko_by_hand_forbids_its_point_alone() -> None:
    rows = [".XO..", "X.XO.", ".XO..", ".....", "....."]
    game = pyengine.load_game("go", board_size=5)
    free = game.state_from_board(rows, 1)
    banned = game.state_from_board(rows, 1, ko="B4")
    point = free.string_to_action("B4")
    assert set(free.legal_actions()) - set(banned.legal_actions()) <= {point}
    assert point not in banned.legal_actions()
    assert free != banned
    assert pickle.loads(pickle.dumps(banned)) == banned


@pytest.mark.parametrize(
    ("text", "rows", "player", "ko", "reason"),
    [
        ("tic_tac_toe", ["...", "..."], 0, None, "expected 3 rows, found 2"),
        ("tic_tac_toe", ["...", "..", "..."], 0, None, "row 1"),
        ("tic_tac_toe", ["...", ".?.", "..."], 0, None, "'?'"),
        ("tic_tac_toe", ["...", "...", "..."], 2, None, "player"),
        ("tic_tac_toe", ["...", "...", "..."], 0, "a1", "ko"),
        ("tic_tac_toe", ["xxx", "ooo", "..."], 0, None, "win"),
        ("connect_four", ["......."] * 4 + ["x......", "......."], 0, None, "float"),
        ("go(board_size=2)", ["XX", "XX"], 0, None, "libert"),
        ("go(board_size=3)", ["...", "...", "..."], 0, "D4", "ko"),
        ("go(board_size=3)", ["...", "...", "..."], 0, "pass", "ko"),
    ],
)
def test_a_board_that_cannot_be_is_refused_with_the_reason(
    text: str, rows: list[str], player: int, ko: str | None, reason: str
) -> None:
    with pytest.raises(pyengine.ConfigError) as refusal:
        pyengine.load_game(text).state_from_board(rows, player, ko=ko)
    assert reason in str(refusal.value)


def test_stone_counts_need_not_match_the_player() -> None:
    state = pyengine.load_game("gomoku", board_size=9).state_from_board(
        ["XXX......"] + ["." * 9] * 8, 0
    )
    assert state.current_player() == 0
    assert len(state.legal_actions()) == 78


# --- text forms -----------------------------------------------------------------------------------


@pytest.mark.parametrize("text", GAMES)
def test_states_and_games_survive_text_and_pickle(text: str, rng: random.Random) -> None:
    for plies in (0, 1, 7, 1000):
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


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "expected one of the game"),
        ("tic_tac_toe", "expected one of the game"),
        ("othello(board_size=8);moves=", "othello"),
        ("tic_tac_toe;", "moves="),
        ("tic_tac_toe;moves", "moves="),
        ("tic_tac_toe;moves=0,0", "move 2"),
        ("tic_tac_toe;moves=9", "move 1"),
        ("tic_tac_toe;moves=-1", "move 1"),
        ("tic_tac_toe;moves=0,", "an action"),
        ("tic_tac_toe;moves=0, 1", "an action"),
        ("tic_tac_toe;moves=a1", "an action"),
        ("tic_tac_toe;moves=99999999999", "an action"),
        ("tic_tac_toe;start=;moves=", "start="),
        ("tic_tac_toe;start=.../...,0;moves=", "rows"),
        ("tic_tac_toe;start=.../.../...,7;moves=", "player"),
        ("tic_tac_toe;start=.../.../...,x;moves=", "player"),
        ("tic_tac_toe;start=.../.../...,0,12;moves=", "ko"),
        ("tic_tac_toe;start=.../.../...,0,1;moves=", "ko"),
        ("tic_tac_toe;start=.../.../...,0,1,1;moves=", "start="),
        ("tic_tac_toe;start=.../.../...,0", "moves="),
    ],
)
def test_text_that_is_no_state_is_refused(text: str, reason: str) -> None:
    with pytest.raises(pyengine.ConfigError) as refusal:
        pyengine.load_game("tic_tac_toe").deserialize_state(text)
    assert reason in str(refusal.value)


def test_a_state_of_one_game_is_no_state_of_another() -> None:
    line = pyengine.load_game("go", board_size=9).new_initial_state().serialize()
    with pytest.raises(pyengine.ConfigError, match="board_size=13"):
        pyengine.load_game("go", board_size=13).deserialize_state(line)


# --- errors ---------------------------------------------------------------------------------------


def test_errors_have_the_documented_families_and_pickle() -> None:
    assert issubclass(pyengine.ConfigError, pyengine.EngineError)
    assert issubclass(pyengine.ConfigError, ValueError)
    assert issubclass(pyengine.IllegalActionError, pyengine.EngineError)
    assert issubclass(pyengine.IllegalActionError, ValueError)
    for kind in (pyengine.ModelError, pyengine.EvaluationError, pyengine.DataError):
        assert issubclass(kind, pyengine.EngineError)
        assert not issubclass(kind, ValueError)
    error = pickle.loads(pickle.dumps(pyengine.ConfigError("why")))
    assert type(error) is pyengine.ConfigError
    assert str(error) == "why"
    assert repr(type(error)) == "<class 'pyengine.ConfigError'>"
