"""pyengine.solve: known values, users' games, limits, bad input, the command line."""

from __future__ import annotations

import json
import random
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyengine
from interrupted import output_of
from pyengine import ConfigError
from toy_games import Pairs, ToyGame, ToyState

ORACLES = Path(__file__).resolve().parents[4] / "shared" / "oracles"


def random_state(game: pyengine.Game, plies: int, rng: random.Random) -> pyengine.State:
    while True:
        state = game.new_initial_state()
        for _ in range(plies):
            if state.is_terminal():
                break
            state.apply_action(rng.choice(state.legal_actions()))
        if not state.is_terminal():
            return state


@pytest.mark.parametrize(
    ("text", "plies", "count"),
    [
        ("tic_tac_toe", 3, 60),
        ("connect_four", 36, 50),
        ("mnk(rows=3,columns=4,k=3)", 6, 30),
        ("othello(board_size=4)", 6, 40),
        ("gomoku(board_size=5,win_length=4)", 18, 30),
        ("go(board_size=2,max_game_length=6)", 1, 10),
    ],
)
def test_the_solver_and_minimax_agree(text: str, plies: int, count: int) -> None:
    game = pyengine.load_game(text)
    solver = pyengine.Solver(game, table_mb=4)
    rng = random.Random(text)
    for _ in range(count):
        state = random_state(game, plies, rng)
        found = solver.solve(state)
        value, _ = pyengine.minimax(state)
        assert (found.value, found.exact) == (value, True)
        child = state.clone()
        child.apply_action(found.action)
        player = state.current_player()
        best = (
            child.returns()[player]
            if child.is_terminal()
            else pyengine.minimax(child)[0] * (1 if child.current_player() == player else -1)
        )
        assert best == value


@pytest.mark.slow
def test_the_solver_and_minimax_agree_on_ten_thousand_positions() -> None:
    games = [
        ("tic_tac_toe", 3, 3500),
        ("connect_four(rows=4,columns=4)", 9, 2000),
        ("mnk(rows=3,columns=4,k=3)", 6, 2500),
        ("othello(board_size=4)", 6, 2000),
    ]
    rng = random.Random(1)
    for text, plies, count in games:
        game = pyengine.load_game(text)
        solver = pyengine.Solver(game, table_mb=4)
        for _ in range(count):
            state = random_state(game, plies, rng)
            assert solver.solve(state).value == pyengine.minimax(state)[0]


def test_m_n_k_games_have_their_published_values() -> None:
    path = ORACLES / "06-tictactoe-mnk" / "mnk_values.jsonl"
    if not path.exists():
        pytest.skip("no oracles/06-tictactoe-mnk beside this checkout")
    for line in path.read_text().splitlines():
        case = json.loads(line)
        game = pyengine.load_game("mnk", rows=case["h"], columns=case["w"], k=case["k"])
        found = pyengine.solve(game.new_initial_state(), table_mb=64)
        assert (found.value, found.exact) == (case["value_for_first_player"], True), case


# Positions of the FFO endgame suite with published scores and best moves.
FFO = {
    40: ("O--OOOOX-OOOOOOXOOXXOOOXOOXOOOXXOOOOOOXX---OOOOX----O--X--------", 0, 38, {"a2"}),
    43: ("--XXXXX---XXXX---OOOXX---OOXXXX--OOXXXO-OOOOXOO----XOX----XXXXX-", 1, -12, {"c7", "g3"}),
}


@pytest.mark.parametrize("number", [40, pytest.param(43, marks=pytest.mark.slow)])
def test_endgames_of_the_ffo_suite_have_their_published_scores(number: int) -> None:
    stones, player, score, best = FFO[number]
    rows = [stones[i : i + 8].replace("-", ".") for i in range(0, 64, 8)]
    state = pyengine.load_game("othello").state_from_board(rows, player)
    found = pyengine.solve(state, score=True)
    assert (found.value, found.exact) == (score, True)
    assert state.action_to_string(found.action) in best


def test_a_users_game_in_which_players_move_twice() -> None:
    game = ToyGame(Pairs)
    rng = random.Random(3)
    for _ in range(5):
        state = game.new_initial_state()
        while len(state.moves) < 14 and not state.is_terminal():
            state.apply_action(rng.choice(state.legal_actions()))
        if state.is_terminal():
            continue
        found = pyengine.solve(state, game=game, table_mb=1)  # type: ignore[arg-type]
        assert (found.value, found.action in state.legal_actions()) == (
            pyengine.minimax(state)[0],
            True,
        )


def test_what_a_users_game_raises_is_raised() -> None:
    class Broken(Pairs):
        def apply_action(self, action: int) -> None:
            super().apply_action(action)
            if len(self.moves) == 5:
                raise RuntimeError("fifth move")

    game = ToyGame(Broken)
    with pytest.raises(RuntimeError, match="fifth move"):
        pyengine.solve(game.new_initial_state(), game=game)


def test_scores_of_margins() -> None:
    state = pyengine.load_game("connect_four").new_initial_state([3, 0, 3, 0, 3, 0])
    found = pyengine.solve(state, score=True)
    assert (found.value, found.action, found.pv) == (18.0, 3, [3])  # 22 minus four stones
    assert pyengine.solve(state).value == 1.0
    with pytest.raises(ConfigError, match=r"^score: expected False.*tic_tac_toe.*got True"):
        pyengine.solve(pyengine.load_game("tic_tac_toe").new_initial_state(), score=True)


def test_limits_give_the_best_so_far() -> None:
    start = pyengine.load_game("gomoku").new_initial_state()
    found = pyengine.solve(start, depth=2)
    assert (found.exact, found.depth, found.value) == (False, 2, 0.0)
    found = pyengine.solve(start, seconds=0.05)
    assert not found.exact
    assert found.action in start.legal_actions()
    # Othello's initial position with a depth limit, and its last moves.
    found = pyengine.solve(pyengine.load_game("othello").new_initial_state(), depth=4)
    assert (found.exact, found.depth) == (False, 4)


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
def test_bad_arguments_are_named(name: str, values: list[Any]) -> None:
    state = pyengine.load_game("tic_tac_toe").new_initial_state([0, 4, 8])
    for value in values:
        with pytest.raises(ConfigError, match=f"^{name}: expected "):
            pyengine.solve(state, **{name: value})
    numbers = {"depth": np.int64(6), "seconds": np.float32(60), "table_mb": np.float32(0.5)}
    assert pyengine.solve(state, score=np.bool_(False), **numbers).exact  # type: ignore[arg-type]


def test_a_table_for_which_there_is_no_memory_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_memory(*_: Any) -> None:
        raise MemoryError

    monkeypatch.setattr("pyengine._core.Solver", no_memory)
    with pytest.raises(ConfigError, match=r"^table_mb: not enough memory"):
        pyengine.Solver("connect_four", table_mb=4096)


def test_bad_states_are_named() -> None:
    over = pyengine.load_game("tic_tac_toe").new_initial_state([0, 3, 1, 4, 2])
    with pytest.raises(ConfigError, match="terminal"):
        pyengine.solve(over)
    with pytest.raises(ConfigError, match="terminal"):
        pyengine.minimax(over)
    with pytest.raises(ConfigError, match="expected a state of connect_four"):
        pyengine.Solver("connect_four").solve(over)
    with pytest.raises(ConfigError, match=r"expected a state, such as .*, got a game"):
        pyengine.solve(pyengine.load_game("tic_tac_toe"))  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"expected a state, such as .*, got a text"):
        pyengine.solve("tic_tac_toe")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"has no game: call solve\(state, ..., game=GAME\)"):
        pyengine.solve(ToyGame(Pairs).new_initial_state())


def test_ctrl_c_ends_a_solver() -> None:
    code = """
        import os, signal, threading, time
        import pyengine
        solver = pyengine.Solver("go")
        threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        try:
            solver.solve(solver.game.new_initial_state())
        except KeyboardInterrupt:
            print("stopped", solver.solve(solver.game.new_initial_state(), depth=1).depth)
    """
    assert output_of(code) == "stopped 1\n"


def test_another_thread_stops_a_solver() -> None:
    solver = pyengine.Solver("go", table_mb=1)
    state = solver.game.new_initial_state()
    solver.stop()  # nothing to stop
    assert solver.solve(state, depth=1).depth == 1
    found: list[pyengine.SolveResult] = []
    running = threading.Thread(target=lambda: found.append(solver.solve(state)))
    running.start()
    while running.is_alive():  # the first stop may come before it has started
        solver.stop()
        running.join(0.01)
    (result,) = found
    assert not result.exact
    assert result.action in state.legal_actions()
    assert solver.solve(state, depth=1).depth == 1


def test_the_command_line(capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("typer")
    from pyengine.cli import main

    assert main(["solve", "connect_four", "--moves", "4 1 4 1 4 1", "--score"]) == 0
    out = capfd.readouterr().out
    assert all(word in out for word in ("+18, a win", "exact", "yes", "best", "nodes"))
    assert main(["solve", "tic_tac_toe", "--json"]) == 0
    record = json.loads(capfd.readouterr().out)
    assert (record["value"], record["exact"], len(record["line"])) == (0.0, True, 9)
    assert main(["solve", "gomoku", "--depth", "1"]) == 0
    out = capfd.readouterr().out
    assert "no, searched 1 pl" in out
    assert "unknown" in out
    assert "a draw" not in out  # not proven


class Still:
    """Its actions have no effect, and nothing reports that."""

    def clone(self) -> Still:
        return Still()

    def current_player(self) -> int:
        return 0

    def legal_actions(self) -> list[int]:
        return [0, 1, 2]

    def apply_action(self, action: int) -> None:
        pass

    def is_terminal(self) -> bool:
        return False

    def returns(self) -> list[float]:
        return [0.0, 0.0]


ENDLESS = ToyGame(ToyState)
STILL = ToyGame(ToyState)
STILL.new_initial_state = Still  # type: ignore[method-assign,assignment]


@pytest.mark.parametrize("game", [ENDLESS, STILL], ids=["endless", "still"])
@pytest.mark.parametrize("wrapped", [False, True])
def test_a_game_without_an_end_is_an_error(game: Any, wrapped: bool) -> None:
    state = (pyengine.as_game(game) if wrapped else game).new_initial_state()
    said = "not over after max_game_length, 10000 plies"
    with pytest.raises(ConfigError, match=said):
        pyengine.solve(state, game=game)
    assert not pyengine.solve(state, depth=3, game=game).exact
    with pytest.raises(ConfigError, match="minimax: the game does not end within about"):
        pyengine.minimax(game.new_initial_state())
