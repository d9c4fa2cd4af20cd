"""The session under every protocol."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

import pyengine
from pyengine import Engine
from pyengine.protocols.session import Session


def session_of(game: str = "go(board_size=5)", **settings: Any) -> Session:
    settings = {"simulations": 20, "threads": 1, **settings}
    return Session(pyengine.load_game(game), lambda own: Engine(own, "uniform", **settings))


def test_a_position_that_continues_the_game_keeps_the_tree():
    session = session_of()
    result = session.choose()
    session.set_position(session.start, [result.action])
    assert session.choose().reused > 0
    session.set_position(session.start, [result.action ^ 1])
    assert session.choose().reused == 0


@pytest.mark.parametrize("draw_value", [0.0, -0.5])
def test_pondering_grows_the_tree_of_the_next_search(draw_value: float):
    session = session_of("connect_four", draw_value=draw_value, simulations=100, solver=False)
    session.play(session.choose().action)
    calls = iter([False] * 3)
    session.ponder(lambda: next(calls, True))
    session.play(3)
    assert session.choose().reused > 100


def test_what_is_refused_changes_nothing():
    session = session_of()
    session.play(3)
    with pytest.raises(pyengine.IllegalActionError):
        session.set_position(session.start, [3, 3])
    with pytest.raises(pyengine.IllegalActionError):
        session.play(3)
    with pytest.raises(pyengine.EngineError):
        session.new_game(pyengine.load_game("go(board_size=99)"))
    assert session.state.history() == [3]


def test_other_rules_continue_the_same_game():
    session = session_of()
    start = session.game.state_from_board([".....", "..X..", ".....", ".....", "....."], 1)
    session.set_position(start, [0, 1])
    session.change_rules(pyengine.load_game("go", board_size=5, komi=0.5))
    assert session.state.history() == [0, 1]
    assert session.state.board_rows()[1] == "..X.."
    assert session.game.params["komi"] == 0.5


def test_undo_goes_back_one_move():
    session = session_of()
    session.play(7)
    assert session.undo()
    assert session.state == session.start
    assert not session.undo()


def test_an_analysis_reports_until_it_is_ended():
    session = session_of()
    reports: list[int] = []
    count = itertools.count()
    last = session.analyze(
        lambda: next(count) > 3, lambda result: reports.append(result.simulations), every=0.01
    )
    assert last is not None
    assert reports == sorted(reports)
    assert reports[-1] == last.simulations > 0
