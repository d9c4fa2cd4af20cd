"""The steps of a search are those that the search makes."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest

import pyengine
from naive_puct import SERIAL, hashed
from pyengine.search.steps import steps

CASES: list[tuple[str, dict[str, Any]]] = [
    ("tic_tac_toe", {}),
    ("tic_tac_toe", {"solver": True}),
    ("connect_four", {"c_puct_stdev": 0.5}),
    ("connect_four", {"algorithm": "uct"}),
    ("go(board_size=5)", {"draw_value": 0.2}),
]


@pytest.mark.parametrize(("name", "settings"), CASES, ids=str)
def test_the_last_step_leaves_the_tree_of_one_search(name: str, settings: dict[str, Any]) -> None:
    game = pyengine.load_game(name)
    state, evaluator = game.new_initial_state(), hashed(game.num_distinct_actions(), 0)
    made = steps(state, evaluator, 60, **settings)
    result = pyengine.search(
        state, evaluator=evaluator, simulations=60, **{**SERIAL, "graph": False, **settings}
    )
    chosen = [step.leaf.path[0] for step in made]
    visits = dict(zip(result.actions.tolist(), result.visits.tolist(), strict=True))
    assert {a: chosen.count(state.action_to_string(a)) for a in visits} == visits


@pytest.mark.parametrize(("name", "settings"), CASES, ids=str)
def test_each_simulation_takes_the_move_with_the_largest_sum(
    name: str, settings: dict[str, Any]
) -> None:
    game = pyengine.load_game(name)
    evaluator = hashed(game.num_distinct_actions(), 0)
    solver = settings.get("solver", False)  # it leaves proven draws
    for step in steps(game.new_initial_state(), evaluator, 60, **settings):
        for selection in step.selections:
            best = selection.explanation.moves[0]
            assert selection.action == selection.explanation.action or (solver and best.proven == 0)


def test_the_value_of_the_leaf_is_backed_up_with_alternating_signs() -> None:
    state = pyengine.load_game("tic_tac_toe").new_initial_state()
    for step in steps(state, "uniform", 200):
        assert [after.visits - before.visits for before, after in step.nodes()] == [1] * (
            len(step.leaf.path) + 1
        )
        added = [after.value_sum - before.value_sum for before, after in step.nodes()]
        assert added[-1] == step.leaf.value
        assert all(a == -b for a, b in pairwise(added))


@pytest.mark.parametrize("algorithm", ["puct", "uct"])
def test_counts_have_the_scale_of_the_terms(algorithm: str) -> None:
    state = pyengine.load_game("connect_four").new_initial_state()
    for step in steps(state, "connect4", 40, algorithm=algorithm):
        plain = step.to_dict()
        for selection, backup in zip(plain["path"], plain["backup"][1:], strict=True):
            move = next(m for m in selection["moves"] if m["move"] == selection["chosen"])
            assert (move["N"], move["W"]) == (backup["N"][0], backup["W"][0])
        added = step.after[-1].value_sum - step.before[-1].value_sum
        value = step.leaf.value
        assert added == pytest.approx((1 + value) / 2 if algorithm == "uct" else value)


def test_a_leaf_is_evaluated_or_the_end_of_the_game() -> None:
    state = pyengine.load_game("tic_tac_toe").new_initial_state([0, 3, 1, 4])
    made = steps(state, "uniform", 50)
    assert {step.leaf.terminal for step in made} == {False, True}
    for step in made:
        assert step.leaf.terminal == (not step.leaf.priors)
        assert step.leaf.priors == () or sum(p for _, p in step.leaf.priors) == pytest.approx(
            1, abs=0.01
        )


def test_a_step_is_plain_data() -> None:
    state = pyengine.load_game("connect_four").new_initial_state()
    step = steps(state, "connect4", 5)[-1].to_dict()
    assert json.loads(json.dumps(step)) == step
    assert step["backup"][-1]["N"] == [0, 1]
    assert step["backup"][0]["N"] == [5, 6]
    assert step["path"][0]["chosen"] == step["leaf"]["path"][0]


REFUSED: list[dict[str, Any]] = [
    {"algorithm": "gumbel"},
    {"dirichlet_fraction": 0.25},
    {"graph": True},
]


@pytest.mark.parametrize("settings", REFUSED, ids=str)
def test_searches_that_one_simulation_at_a_time_would_change_are_refused(
    settings: dict[str, Any],
) -> None:
    state = pyengine.load_game("connect_four").new_initial_state()
    with pytest.raises(pyengine.ConfigError, match=f"{next(iter(settings))}: expected"):
        steps(state, "uniform", 5, **settings)
