"""Comparison of a converted network with the original: figures, matches, positions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import pyengine
from converted import ANYTHING, GAME, QUICK, changed, opened, scale, spec_of
from pyengine.conversion import Limits, leela_to_onnx, quantise, random_leela
from pyengine.conversion.comparison import (
    Comparison,
    compare,
    distinct_openings,
    match_check,
    symmetry_change,
)
from pyengine.conversion.positions import _turned, longest_game, observe, play_positions
from pyengine.eval.bundled import game_of_model
from pyengine.eval.evaluators import Evaluator
from pyengine.games.game import State
from pyengine.match.result import GameRecord, MatchResult
from pyengine.train.loop import played_copy

onnx = pytest.importorskip("onnx", reason="the extra convert is not installed")
pytest.importorskip("onnxruntime.quantization", reason="ONNX Runtime has no quantiser")


def positions(evaluator: Evaluator, count: int, seed: int = 0) -> list[State]:
    """Return positions of Go 5x5."""
    assert evaluator.spec is not None
    return play_positions(pyengine.load_game(GAME), evaluator, evaluator.spec, count, seed)[0]


# --- figures


def test_a_network_equals_itself_and_differs_from_another_in_every_figure(
    network: Path, tmp_path: Path
) -> None:
    leela_to_onnx(random_leela(3, 16, seed=5, board_size=5), tmp_path / "other.onnx")
    mine, other = opened(network), opened(tmp_path / "other.onnx")
    states = positions(mine, 64)
    same = compare(mine, mine, states)
    assert (same.agreement, same.policy_max, same.value_max, same.regret) == (1, 0, 0, 0)
    assert all(check.passed for check in same.checks(Limits()))
    checks = compare(mine, other, states).checks(Limits(), symmetry_change(mine, states))
    assert not any(check.passed for check in checks)


def test_the_change_under_symmetries_widens_the_limits() -> None:
    change = Comparison(10, 0.4, 0.9, 0.9, 0.2, 0.3, agreement=0.2, regret=0.1)
    small = Comparison(10, 0.09, 0.2, 0.2, 0.04, 0.1, agreement=0.85, regret=0.002)
    assert not all(check.passed for check in small.checks(Limits()))
    assert all(check.passed for check in small.checks(Limits(turned=0.25), change))


# --- the final board

STATES = [pyengine.load_game(GAME).new_initial_state([n]) for n in range(25)]


def test_a_conversion_compares_ownership_and_score(
    tmp_path: Path, final_board_network: Path
) -> None:
    limits = replace(ANYTHING, ownership_mean=1.0, score_mean=20.0)
    report = quantise(final_board_network, tmp_path / "out.onnx", GAME, limits=limits, **QUICK)
    names = [check.name for check in report.checks]
    assert names[-2:] == ["ownership, mean", "score, mean"]
    assert report.comparison is not None
    assert 0 < (report.comparison.ownership_mean or 0) < 0.1
    assert 0 < (report.comparison.score_mean or 0) < 2
    strict = replace(limits, ownership_mean=0.0, score_mean=0.0)
    failed = [check.name for check in report.comparison.checks(strict) if not check.passed]
    assert failed == ["ownership, mean", "score, mean"]


def test_a_change_under_symmetries_allows_no_other_ownership(
    tmp_path: Path, final_board_network: Path
) -> None:
    path = changed(final_board_network, tmp_path / "n.onnx", lambda m: scale(m, {"own.w": -1}))
    one, other = opened(final_board_network), opened(path)
    assert compare(one, one, STATES).ownership_mean == 0
    difference = compare(one, other, STATES)
    checks = {check.name: check for check in difference.checks(Limits(turned=1.0), difference)}
    assert not checks["ownership, mean"].passed


def test_outputs_that_one_network_lacks_are_not_compared(final_board_network: Path) -> None:
    plain = opened(final_board_network, spec_of(final_board_network).without_final_board())
    comparison = compare(opened(final_board_network), plain, STATES)
    assert (comparison.ownership_mean, comparison.score_mean) == (None, None)


@pytest.mark.parametrize("precision", ["int8", "float16"])
def test_the_copy_of_training_has_only_policy_and_value(
    precision: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, final_board_network: Path
) -> None:
    pytest.importorskip("torch", reason="training needs PyTorch: the extra train")
    monkeypatch.setattr(played_copy, "_LIMITS", vars(ANYTHING))  # random networks agree on no move
    spec = spec_of(final_board_network)
    planes = [np.stack([state.observation_tensor(spec) for state in STATES])]
    copy = tmp_path / "copy.onnx"
    games = [STATES[0].game]
    assert played_copy.write_copy(precision, final_board_network, copy, planes, games) is None
    assert not opened(copy).has_final_board
    graph = onnx.load(copy).graph
    assert [output.name for output in graph.output] == ["policy", "value"]
    assert not [node.name for node in graph.node if node.name.startswith(("own", "score"))]


def test_an_output_that_is_not_an_ownership_is_refused_before_any_game(
    tmp_path: Path, final_board_network: Path
) -> None:
    source = changed(
        final_board_network, tmp_path / "in.onnx", lambda model: scale(model, {"score.w": 1e6})
    )
    spec = spec_of(source).replace(ownership_output="score", score_output=None)
    stages: list[str] = []
    with pytest.raises(pyengine.EvaluationError, match="expected a final board"):
        quantise(
            source, tmp_path / "out.onnx", GAME, spec=spec,
            on_progress=lambda stage, _: stages.append(stage), **QUICK,
        )  # fmt: skip
    assert stages == []


# --- the match

WON, LOST, EVEN = (1, 1), (-1, -1), (1, -1)  # results of pairs of games
EQUAL = [EVEN, EVEN, WON, LOST]


@pytest.mark.parametrize(
    ("pairs", "margin", "outcome"),
    [
        (EQUAL * 8, 50, "undecided"),
        (EQUAL * 60, 50, "passed"),
        (EQUAL * 8, 150, "passed"),
        (EQUAL * 10 + [LOST] * 20, 50, "failed"),
        ([(0, -1)], 50, "undecided"),
    ],
)
def test_the_match_is_a_test_against_the_margin(
    pairs: list[tuple[int, int]], margin: float, outcome: str
) -> None:
    records = [
        GameRecord(pair=number, a_plays=a, opening=(), moves=(), result=pair[a])
        for number, pair in enumerate(pairs)
        for a in (0, 1)
    ]
    limits = Limits(margin=margin)
    result = MatchResult(names=("int8", "original"), records=tuple(records))
    result = replace(result, sprt=limits.test().state(result.pairs))
    assert match_check(result, limits, 32).outcome == outcome


def test_no_opening_is_played_twice() -> None:
    game = pyengine.load_game("tic_tac_toe")
    openings = distinct_openings(game, pyengine.RolloutEvaluator(), 2000, seed=0, seconds=60)
    assert 20 < len(openings) < 2000  # the game has no more
    assert len({game.new_initial_state(o).hash() for o in openings}) == len(openings)
    assert distinct_openings(game, pyengine.UniformEvaluator(), 5, seed=0, seconds=1e-9)


# --- positions


def test_positions_come_from_all_plies_and_repeat_with_the_seed(network: Path) -> None:
    evaluator = opened(network)
    states = positions(evaluator, 100, seed=1)
    assert len(states) == 100
    assert not any(state.is_terminal() for state in states)
    plies = [len(state.history()) for state in states]
    assert min(plies) < 3
    assert max(plies) > 0.6 * longest_game(pyengine.load_game(GAME))
    again, other = (positions(evaluator, 100, seed) for seed in (1, 2))
    histories = [[state.history() for state in sample] for sample in (states, again, other)]
    assert histories[0] == histories[1] != histories[2]


def test_both_sets_mix_games(network: Path) -> None:
    evaluator = opened(network)
    assert evaluator.spec is not None
    for states in play_positions(pyengine.load_game(GAME), evaluator, evaluator.spec, 40, seed=0):
        openings = [tuple(s.history()[:4]) for s in states if len(s.history()) >= 4]
        assert len(set(openings)) >= 3  # the first moves identify a game
        assert max(map(openings.count, openings)) < len(states) / 2


@pytest.mark.parametrize("model", ["tic_tac_toe", "connect4"])
def test_the_sets_share_no_position(model: str) -> None:
    evaluator = opened(pyengine.bundled_models()[model])
    game, spec = game_of_model(model), evaluator.spec
    assert game is not None
    assert spec is not None
    calibration, comparison = play_positions(game, evaluator, spec, 300, seed=0)
    if model == "tic_tac_toe":  # has only 765 positions up to symmetry
        assert 32 < min(len(calibration), len(comparison)) < 300
    else:
        assert (len(calibration), len(comparison)) == (300, 300)
    planes_of_sets = [
        {
            plane.tobytes()
            for state in states
            for plane in _turned(state.observation_tensor(spec), spec, game.num_symmetries)
        }
        for states in (calibration, comparison)
    ]
    assert not planes_of_sets[0] & planes_of_sets[1]
    planes = observe(game, calibration, spec, seed=0)
    assert len({plane.tobytes() for plane in planes}) == len(calibration)
    assert not {plane.tobytes() for plane in planes} & planes_of_sets[1]


@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
@pytest.mark.parametrize(("name", "kinds"), [(GAME, 8), ("connect_four", 2)])
def test_planes_are_observed_under_all_symmetries(name: str, kinds: int, layout: str) -> None:
    game = pyengine.load_game(name)
    state = game.new_initial_state([0, 1, 2] if kinds == 2 else [1, 7])
    spec = pyengine.ModelSpec(layout=layout)
    planes = observe(game, [state] * 100, spec, seed=0)
    assert planes.dtype == np.float32
    assert planes.shape[1:] == state.observation_tensor(spec).shape
    assert len({plane.tobytes() for plane in planes}) == kinds
    assert any((plane == state.observation_tensor(spec)).all() for plane in planes)
