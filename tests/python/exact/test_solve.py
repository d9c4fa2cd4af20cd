"""pyengine.solve: known values, users' games, limits, bad input, the command line."""

from __future__ import annotations

import random
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import pyengine
from interrupted import AlarmError, alarm
from positions import random_state, value_after
from pyengine import ConfigError
from pyengine.exact import Solver, minimax
from toy_games import Pairs, Still, ToyGame, ToyState

SMALL_GAMES = [
    ("tic_tac_toe", 3, 40),
    ("connect_four", 36, 40),
    ("mnk(rows=3,columns=4,k=3)", 6, 20),
    ("othello(board_size=4)", 6, 30),
    ("gomoku(board_size=5,win_length=4)", 19, 20),
    ("go(board_size=2,max_game_length=6)", 1, 10),
]


@pytest.mark.parametrize(("text", "plies", "count"), SMALL_GAMES)
def test_the_solver_agrees_with_minimax(text: str, plies: int, count: int) -> None:
    game = pyengine.load_game(text)
    solver = Solver(game, table_mb=4)
    rng = random.Random(text)
    for _ in range(count):
        state = random_state(game, plies, rng)
        result = solver.solve(state)
        value, _ = minimax(state)
        assert (result.value, result.exact) == (value, True)
        assert value_after(state, result.action, lambda after: minimax(after)[0]) == value


def test_an_exception_of_a_users_game_propagates() -> None:
    class Broken(Pairs):
        def apply_action(self, action: int) -> None:
            super().apply_action(action)
            if len(self.moves) == 5:
                raise RuntimeError("fifth move")

    game = ToyGame(Broken)
    with pytest.raises(RuntimeError, match="fifth move"):
        pyengine.solve(game.new_initial_state(), game=game)


def test_a_score_is_the_margin() -> None:
    state = pyengine.load_game("connect_four").new_initial_state([3, 0, 3, 0, 3, 0])
    result = pyengine.solve(state, score=True)
    assert (result.value, result.action, result.pv) == (18.0, 3, [3])  # 22 minus four stones
    assert pyengine.solve(state).value == 1.0
    with pytest.raises(ConfigError, match=r"^score: expected False.*tic_tac_toe.*got True"):
        pyengine.solve(pyengine.load_game("tic_tac_toe").new_initial_state(), score=True)


def test_a_limit_gives_the_best_move_so_far() -> None:
    start = pyengine.load_game("gomoku").new_initial_state()
    result = pyengine.solve(start, depth=2)
    assert (result.exact, result.depth, result.value) == (False, 2, 0.0)
    result = pyengine.solve(start, seconds=0.05)
    assert not result.exact
    assert result.action in start.legal_actions()
    result = pyengine.solve(pyengine.load_game("othello").new_initial_state(), depth=4)
    assert (result.exact, result.depth) == (False, 4)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("depth", [0, 255, 2.5]),
        ("seconds", [0, float("nan"), "1", 10**400]),
        ("table_mb", [0, 5e-5, float("nan"), 10**400]),
        ("score", ["no"]),
        ("threads", [-1, 5000]),
    ],
)
def test_a_bad_argument_is_named(name: str, values: list[Any]) -> None:
    state = pyengine.load_game("tic_tac_toe").new_initial_state([0, 4, 8])
    for value in values:
        with pytest.raises(ConfigError, match=f"^{name}: expected "):
            pyengine.solve(state, **{name: value})
    numbers = {"depth": np.int64(6), "seconds": np.float32(60), "table_mb": np.float32(0.5)}
    assert pyengine.solve(state, score=np.bool_(False), **numbers).exact


def test_a_table_that_does_not_fit_into_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_memory(*_: Any) -> None:
        raise MemoryError

    monkeypatch.setattr("pyengine._core.Solver", no_memory)
    with pytest.raises(ConfigError, match=r"^table_mb: not enough memory"):
        Solver("connect_four", table_mb=4096)


def test_a_bad_state_is_refused() -> None:
    over = pyengine.load_game("tic_tac_toe").new_initial_state([0, 3, 1, 4, 2])
    with pytest.raises(ConfigError, match="terminal"):
        pyengine.solve(over)
    with pytest.raises(ConfigError, match="terminal"):
        minimax(over)
    with pytest.raises(ConfigError, match="expected a state of connect_four"):
        Solver("connect_four").solve(over)
    for other, kind in ((pyengine.load_game("tic_tac_toe"), "game"), ("tic_tac_toe", "text")):
        with pytest.raises(ConfigError, match=f"expected a state, such as .*, got a {kind}"):
            pyengine.solve(other)
    with pytest.raises(ConfigError, match=r"^solve: the state has neither game nor get_game\(\)"):
        pyengine.solve(ToyGame(Pairs).new_initial_state())


def test_a_signal_ends_a_solver() -> None:
    solver = Solver("go", table_mb=1)
    state = solver.game.new_initial_state()
    with alarm(0.1), pytest.raises(AlarmError):
        solver.solve(state)
    assert solver.solve(state, depth=1).depth == 1


def test_another_thread_stops_a_solver() -> None:
    solver = Solver("go", table_mb=1)
    state = solver.game.new_initial_state()
    solver.stop()  # nothing to stop
    assert solver.solve(state, depth=1).depth == 1
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(solver.solve, state)
        while not running.done():  # the first stop may come before it has started
            solver.stop()
            time.sleep(0.01)
    result = running.result()
    assert not result.exact
    assert result.action in state.legal_actions()
    assert solver.solve(state, depth=1).depth == 1


def test_the_command_reports_a_score_and_an_unproven_value(
    capfd: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("typer")
    from pyengine.cli import main

    assert main(["solve", "connect_four", "--moves", "4 1 4 1 4 1", "--score"]) == 0
    out = capfd.readouterr().out
    assert all(word in out for word in ("+18, a win", "exact", "yes", "best", "nodes"))
    assert main(["solve", "gomoku", "--depth", "1"]) == 0
    out = capfd.readouterr().out
    assert "no, searched 1 pl" in out
    assert "unknown" in out
    assert "a draw" not in out  # not proven


@pytest.mark.parametrize("kind", [ToyState, Still])
def test_a_game_without_an_end_is_an_error(kind: type[ToyState]) -> None:
    game = ToyGame(kind)
    state: Any = game.new_initial_state()
    message = "not over after max_game_length, 10000 plies"
    with pytest.raises(ConfigError, match=message):
        pyengine.solve(state, game=game)
    assert not pyengine.solve(state, depth=3, game=game).exact
    with pytest.raises(ConfigError, match="minimax: the game does not end within about"):
        minimax(game.new_initial_state())
