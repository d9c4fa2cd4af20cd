"""Built-in games compared with OpenSpiel's, and OpenSpiel's games wrapped as Game."""

from __future__ import annotations

import pickle
import random
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

import pyengine
from pyengine.games import as_game

pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed (extra: test)")

# --- ours against OpenSpiel's ---------------------------------------------------------------------

PAIRS = [
    ("tic_tac_toe", "tic_tac_toe"),
    ("mnk(rows=5,columns=5,k=4)", "mnk(m=5,n=5,k=4)"),
    ("mnk(rows=6,columns=7,k=5)", "mnk(m=7,n=6,k=5)"),
    ("connect_four", "connect_four"),
    ("connect_four(rows=5,columns=8)", "connect_four(rows=5,columns=8)"),
    ("gomoku", "gomoku"),
    ("gomoku(board_size=9)", "gomoku(size=9)"),
    ("othello", "othello"),
    ("go(board_size=9,superko=simple)", "go(board_size=9)"),
    ("go(board_size=5,superko=simple)", "go(board_size=5)"),
    ("go(board_size=19,superko=simple)", "go(board_size=19)"),
]


def action_map(ours: pyengine.Game) -> Callable[[int], int]:
    """Map our actions to OpenSpiel's: its Go numbers rows from the bottom."""
    rows, columns = ours.board_shape
    if ours.name != "go":
        return lambda action: action

    def flipped(action: int) -> int:
        row, column = divmod(action, columns)
        return action if row == rows else (rows - 1 - row) * columns + column

    return flipped


def compare_game(ours: pyengine.State, theirs: Any, to: Callable[[int], int], choose: Any) -> None:
    """Play one random game on both and compare every ply."""
    seen: set[tuple[str, ...]] = set()
    is_go = ours.game.name == "go"
    while not theirs.is_terminal():
        assert not ours.is_terminal()
        assert ours.current_player() == theirs.current_player()
        legal = ours.legal_actions()
        assert sorted(map(to, legal)) == theirs.legal_actions()
        if is_go:
            seen.add(tuple(ours.board_rows()))
        action = choose(legal)
        ours.apply_action(action)
        theirs.apply_action(to(action))
    if is_go and not ours.is_terminal():
        # OpenSpiel ends a game as a draw if a whole board is repeated.
        assert tuple(ours.board_rows()) in seen
        return
    assert ours.is_terminal()
    assert ours.returns() == theirs.returns()
    assert ours.current_player() == theirs.current_player() == -4


@pytest.mark.parametrize("games", [15, pytest.param(10_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_random_games_agree_with_open_spiel_move_by_move(
    pair: tuple[str, str], games: int, rng: random.Random
) -> None:
    ours, theirs = pyengine.load_game(pair[0]), pyspiel.load_game(pair[1])
    to = action_map(ours)
    for _ in range(games):
        compare_game(ours.new_initial_state(), theirs.new_initial_state(), to, rng.choice)


# --- OpenSpiel's through our Game -----------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["chess", "clobber", "dots_and_boxes", "hex", "mancala", "ultimate_tic_tac_toe"]
)
def test_an_open_spiel_game_plays_like_a_built_in_one(name: str, rng: random.Random) -> None:
    theirs = pyspiel.load_game(name)
    game = as_game(theirs)
    assert game.name == name
    assert game.num_distinct_actions() == theirs.num_distinct_actions()
    assert game.max_game_length() == theirs.max_game_length()
    state, truth = game.new_initial_state(), theirs.new_initial_state()
    while not truth.is_terminal():
        assert state.current_player() == truth.current_player()
        assert state.legal_actions() == truth.legal_actions()
        action = rng.choice(truth.legal_actions())
        text = truth.action_to_string(action)
        assert state.action_to_string(action) == text
        assert state.string_to_action(text) in truth.legal_actions()
        state.apply_action(action)
        truth.apply_action(action)
        assert str(state) == str(truth)
    assert state.is_terminal()
    assert state.returns() == truth.returns()
    assert state.history() == truth.history()


@pytest.mark.parametrize("name", ["breakthrough", "dots_and_boxes", "python_tic_tac_toe"])
def test_open_spiel_games_keep_their_promises(name: str) -> None:
    pytest.importorskip("open_spiel.python.games.tic_tac_toe")
    report = pyengine.check_game(pyspiel.load_game(name), games=1)
    assert report.ok, report


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("backgammon", "chance"),
        ("kuhn_poker", "chance"),
        ("goofspiel(imp_info=False)", "simultaneous"),
        ("matching_pennies_3p", "simultaneous"),
        ("dark_hex", "hidden information"),
        ("phantom_ttt", "hidden information"),
        ("chinese_checkers(players=3)", "two players"),
        ("solitaire", "chance"),
    ],
)
def test_unsupported_games_are_refused_by_name(text: str, reason: str) -> None:
    game = pyspiel.load_game(text)
    with pytest.raises(pyengine.ConfigError, match=reason) as refusal:
        as_game(game)
    assert text.split("(")[0] in str(refusal.value)
    report = pyengine.check_game(game)
    assert not report.ok
    assert reason in report.message


def test_open_spiel_games_are_equal_when_their_parameters_are() -> None:
    def hex_game(size: int) -> pyengine.Game:
        return as_game(pyspiel.load_game(f"hex(board_size={size})"))

    assert hex_game(5) == hex_game(5)
    assert hex_game(5) != hex_game(4)
    assert as_game(pyspiel.load_game("tic_tac_toe")) != pyengine.load_game("tic_tac_toe")


def test_an_open_spiel_game_and_its_states_pickle() -> None:
    game = as_game(pyspiel.load_game("hex(board_size=5)"))
    state = game.new_initial_state([3, 7, 12])
    assert pickle.loads(pickle.dumps(game)) == game
    again = pickle.loads(pickle.dumps(state))
    assert again == state
    assert again.history() == [3, 7, 12]


# --- playouts by OpenSpiel's own code -------------------------------------------------------------


def random_return(state: Any, rng: random.Random) -> float:
    """Return the player to move's result of a random game played move by move."""
    mover = state.current_player()
    line = state.clone()
    while not line.is_terminal():
        line.apply_action(rng.choice(line.legal_actions()))
    return float(line.returns()[mover])


@pytest.mark.parametrize(
    ("name", "moves"),
    [("hex(board_size=3)", []), ("hex(board_size=3)", [4]), ("tic_tac_toe", [4, 0])],
)
def test_playouts_have_the_mean_of_random_games(
    name: str, moves: list[int], rng: random.Random
) -> None:
    game = pyspiel.load_game(name)
    state = game.new_initial_state()
    for move in moves:
        state.apply_action(move)
    count = 2_000
    with pyengine.Engine(game, pyengine.RolloutEvaluator(count)) as engine:
        value = engine.search(state, simulations=1).network_value
    expected = sum(random_return(state, rng) for _ in range(count)) / count
    # The difference of two means of numbers in [-1, 1] has a deviation of at most sqrt(2 / count).
    assert value == pytest.approx(expected, abs=5 * (2 / count) ** 0.5)


def visits_of(game: Any, state: Any, **settings: Any) -> list[int]:
    with pyengine.Engine(game, "rollout", simulations=300, **settings) as engine:
        return [int(count) for count in engine.search(state).visits]


@pytest.mark.parametrize("settings", [{"threads": 1}, {"deterministic": True}])
def test_a_search_by_playouts_is_reproducible(settings: dict[str, Any]) -> None:
    game = pyspiel.load_game("clobber")
    state = game.new_initial_state()
    first = visits_of(game, state, seed=1, **settings)
    assert sum(first) == 300
    visits_of(game, state, seed=2, **settings)  # another search in between changes nothing
    assert visits_of(game, state, seed=1, **settings) == first
    assert visits_of(game, state, seed=2, **settings) != first


def test_other_threads_run_while_a_game_is_solved() -> None:
    game = pyspiel.load_game("breakthrough(rows=6,columns=6)")  # its rules never release the GIL
    over = threading.Event()
    turns = []

    def count() -> None:
        while not over.wait(0.001):
            turns.append(time.monotonic())

    thread = threading.Thread(target=count)
    thread.start()
    begun = time.monotonic()
    pyengine.solve(as_game(game).new_initial_state(), seconds=0.3)
    ended = time.monotonic()
    over.set()
    thread.join()
    assert sum(begun < turn < ended for turn in turns) > 2  # one may not have been at the start
