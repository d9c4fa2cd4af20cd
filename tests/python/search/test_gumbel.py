"""Gumbel AlphaZero: the visits of mctx and of a textbook search, its noise, all calls."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import mctx_gumbel
import naive_gumbel
import pyengine
from mctx_gumbel import Shape
from naive_puct import SERIAL, evaluated_by, hashed
from toy_games import HIDDEN, ToyGame, ToyState

CASES = Path(__file__).with_name("mctx_gumbel_cases.json")
SERIALLY = {**SERIAL, "algorithm": "gumbel", "reuse_tree": False}
NO_NOISE = {**SERIALLY, "gumbel_noise": False}


# --- mctx


class Walk(ToyState):
    """An endless game whose state is a row of a table."""

    history = HIDDEN

    def __init__(self, ply: int = 0, row: int = 0) -> None:
        self.ply, self.row = ply, row

    def clone(self) -> Walk:
        return type(self)(self.ply, self.row)

    def current_player(self) -> int:
        return self.ply % 2

    def apply_action(self, action: int) -> None:
        self.ply, self.row = self.ply + 1, mctx_gumbel.next_row(self.row, action)


def by_engine(shape: Shape, case: int) -> pyengine.SearchResult:
    """Search the table of a case."""
    table = mctx_gumbel.table(shape.actions, mctx_gumbel.seed_of(shape, case))

    def look_up(states: list[Walk]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        rows = [state.row for state in states]
        return table.priors[rows], table.values[rows]

    kind = type("Some", (Walk,), {"actions": shape.actions})
    game = ToyGame(kind)
    return pyengine.search(
        game.new_initial_state(),
        evaluator=pyengine.StateEvaluator(look_up),
        game=game,
        **NO_NOISE,
        simulations=shape.simulations,
        gumbel_actions=shape.considered,
    )


def check(shape: Shape, case: int, expected: dict[str, Any]) -> None:
    result = by_engine(shape, case)
    table = mctx_gumbel.table(shape.actions, mctx_gumbel.seed_of(shape, case))
    assert result.priors.tolist() == table.priors[0].tolist()  # as stored
    assert result.visits.tolist() == expected["visits"], (shape, case)
    assert result.action == expected["action"], (shape, case)
    if "weights" in expected:
        np.testing.assert_allclose(result.improved_policy, expected["weights"], atol=2e-6)


@pytest.mark.parametrize("shape", mctx_gumbel.SHAPES, ids=str)
def test_visits_action_and_target_are_those_of_mctx(shape: Shape) -> None:
    cases = [
        case
        for case in json.loads(CASES.read_text())
        if Shape(case["actions"], case["simulations"], case["considered"]) == shape
    ]
    assert len(cases) == mctx_gumbel.CASES
    for case in cases:
        check(shape, case["case"], case)


@pytest.mark.parametrize("shape", [Shape(7, 50), Shape(30, 64)], ids=str)
def test_the_stored_results_are_those_of_the_installed_mctx(shape: Shape) -> None:
    pytest.importorskip("mctx", reason="compares with mctx, which is not installed")
    for case, expected in enumerate(mctx_gumbel.search_by_mctx(shape)):
        check(shape, case, expected)


# --- the textbook algorithm, on games that end


GAMES = {"tic_tac_toe": 100, "connect_four": 100, "othello(board_size=6)": 60, "gomoku": 20}


@pytest.mark.parametrize("noisy", [False, True])
@pytest.mark.parametrize("name", GAMES)
def test_visits_and_action_are_those_of_the_textbook(name: str, noisy: bool) -> None:
    game = pyengine.load_game(name)
    evaluator = hashed(game.num_distinct_actions())
    evaluate = evaluated_by(evaluator, game)
    settings = {**SERIALLY, "gumbel_noise": noisy, "seed": 7}
    engine = pyengine.Engine(game, evaluator, **settings)
    state = game.new_initial_state()
    for search, simulations in enumerate((1, 5, 16, 50, GAMES[name])):
        noise = naive_gumbel.noise(7, search, len(state.legal_actions())) if noisy else None
        root, action = naive_gumbel.search(state, evaluate, simulations, g=noise)
        result = engine.search(state, simulations=simulations)
        assert result.visits.tolist() == root.visits().tolist()
        assert result.action == action
        for _ in range(2):
            if not state.is_terminal():
                state.apply_action(state.legal_actions()[-1])
        if state.is_terminal():
            return


# --- through every call


def start(name: str = "connect_four") -> pyengine.State:
    return pyengine.load_game(name).new_initial_state()


def test_at_a_temperature_the_move_is_drawn_from_the_improved_policy() -> None:
    settings = {"simulations": 32, "deterministic": True, "gumbel_noise": False}
    engine = pyengine.Engine(
        "connect_four", hashed(7), algorithm="gumbel", reuse_tree=False, **settings
    )
    counts = np.zeros(7)
    for _ in range(200):
        result = engine.search(start(), temperature=1.0)
        counts[result.action] += 1
    np.testing.assert_allclose(counts / 200, result.improved_policy, atol=0.12)


def test_the_principal_variation_begins_with_a_drawn_move_without_visits() -> None:
    unvisited = 0
    for seed in range(20):
        result = pyengine.search(
            start("gomoku"),
            evaluator="uniform",
            algorithm="gumbel",
            simulations=4,
            temperature=1.0,
            seed=seed,
        )
        assert result.pv[0] == result.action
        unvisited += result.visits[result.actions.tolist().index(result.action)] == 0
    assert unvisited > 0


@pytest.mark.parametrize(("visit", "scale"), [(1e308, 1e308), (0.0, 1e308), (1e308, 1.0), (0, 0)])
def test_the_improved_policy_is_finite_for_any_scale(visit: float, scale: float) -> None:
    settings = {"gumbel_c_visit": visit, "gumbel_c_scale": scale}
    result = pyengine.search(
        start(), evaluator="rollout", algorithm="gumbel", simulations=40, **settings
    )
    assert np.isfinite(result.improved_policy).all()
    assert result.improved_policy.sum() == pytest.approx(1.0)
