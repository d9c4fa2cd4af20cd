"""int8: what is quantised and what is spared, what the checks let through, what a file keeps."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyengine
from converted import ANYTHING, GAME, NOTHING, QUICK, changed, fix_batch, write_network
from pyengine.conversion import Limits, leela_to_onnx, quantise, random_leela
from pyengine.conversion.comparison import Comparison, _match_check, _openings, compare, turned
from pyengine.conversion.onnx_graph import check_input, float_nodes
from pyengine.conversion.positions import _turned, longest_game, observe, play_positions
from pyengine.errors import ConfigError, EngineError, ModelError
from pyengine.eval.bundled import game_of_model
from pyengine.eval.evaluators import Evaluator
from pyengine.games.game import State
from pyengine.match.result import GameRecord, MatchResult
from pyengine.match.statistics import score_of_elo

onnx = pytest.importorskip("onnx", reason="the extra convert is not installed")
pytest.importorskip("onnxruntime.quantization", reason="ONNX Runtime has no quantiser")


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a network for Go 5x5 with three blocks."""
    return write_network(tmp_path_factory.mktemp("int8") / "net.onnx")


# --- the file ------------------------------------------------------------------------------------


def test_an_int8_network_is_used_as_the_original_is(network: Path, tmp_path: Path) -> None:
    report = quantise(network, tmp_path / "out.onnx", GAME, limits=ANYTHING, **QUICK)
    assert report.passed
    assert report.path == tmp_path / "out.onnx"
    before, after = onnx.load(network), onnx.load(report.path)
    assert list(before.graph.input) == list(after.graph.input)
    assert list(before.graph.output) == list(after.graph.output)
    engine = pyengine.Engine(GAME, report.path, threads=1)
    state = engine.game.new_initial_state()
    assert engine.search(state, simulations=50).visits.sum() == 50


def test_metadata_and_spec_are_carried_over(network: Path, tmp_path: Path) -> None:
    source = changed(
        network,
        tmp_path / "in.onnx",
        lambda model: model.metadata_props.add(key="author", value="somebody"),
    )
    spec = pyengine.OnnxEvaluator(source, providers=["cpu"]).spec
    quantise(source, tmp_path / "out.onnx", GAME, limits=ANYTHING, **QUICK)
    found = {entry.key: entry.value for entry in onnx.load(tmp_path / "out.onnx").metadata_props}
    assert found["author"] == "somebody"
    assert pyengine.ModelSpec.from_json(found["pyengine.spec"]) == spec
    assert json.loads(found["pyengine.int8"])["positions"] == 64
    assert pyengine.OnnxEvaluator(tmp_path / "out.onnx", providers=["cpu"]).spec == spec


def test_a_spec_that_was_given_is_written_into_the_file(network: Path, tmp_path: Path) -> None:
    source = changed(
        network, tmp_path / "in.onnx", lambda model: model.ClearField("metadata_props")
    )
    spec = pyengine.OnnxEvaluator(network, providers=["cpu"]).spec
    assert spec is not None
    given = replace(spec, value_for="first_player")
    quantise(source, tmp_path / "out.onnx", GAME, spec=given, limits=ANYTHING, **QUICK)
    assert pyengine.OnnxEvaluator(tmp_path / "out.onnx", providers=["cpu"]).spec == given


def test_the_tower_is_int8_and_stem_sums_and_heads_are_not(network: Path, tmp_path: Path) -> None:
    report = quantise(network, tmp_path / "out.onnx", GAME, limits=ANYTHING, **QUICK)
    assert (report.quantised, report.kept) == (6, 3)
    graph = onnx.load(tmp_path / "out.onnx").graph
    made_by = {name: node for node in graph.node for name in node.output}
    types = {tensor.name: tensor.data_type for tensor in graph.initializer}
    scales = {tensor.name: tensor.dims for tensor in graph.initializer}
    for node in graph.node:
        source = made_by.get(node.input[0])
        if node.op_type == "Conv" and source is not None:
            tower = node.name.startswith("block")
            assert (source.op_type == "DequantizeLinear") == tower, node.name
            if tower:
                weight = made_by[node.input[1]]
                assert types[source.input[2]] == onnx.TensorProto.UINT8
                assert types[weight.input[0]] == onnx.TensorProto.INT8
                assert list(scales[weight.input[1]]) == [16]  # one of each channel
        if node.op_type == "Gemm":
            assert source is not None
            assert source.op_type != "DequantizeLinear", node.name


def test_a_network_of_a_fixed_batch_keeps_it(network: Path, tmp_path: Path) -> None:
    source = changed(network, tmp_path / "in.onnx", fix_batch)
    quantise(source, tmp_path / "out.onnx", GAME, limits=ANYTHING, **QUICK)
    (planes,) = onnx.load(tmp_path / "out.onnx").graph.input
    assert planes.type.tensor_type.shape.dim[0].dim_value == 4


# --- the checks ----------------------------------------------------------------------------------


def test_a_network_that_fails_the_gate_is_not_written(network: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.onnx"
    out.write_text("an older file")
    report = quantise(network, out, GAME, limits=NOTHING, positions=64, games=2)
    assert not report.passed
    assert report.path is None
    assert report.match is None  # what evaluates differently need not play
    assert out.read_text() == "an older file"
    assert not any(check.passed for check in report.checks)


def test_a_match_too_short_to_tell_is_undecided(network: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.onnx"
    short: dict[str, Any] = {"positions": 64, "games": 6, "simulations": 8, "limits": ANYTHING}
    report = quantise(network, out, GAME, **short)
    assert report.match is not None
    assert report.match.games == 6
    assert (report.outcome, report.passed, report.path) == ("undecided", False, None)
    assert report.to_dict()["checks"][-1]["outcome"] == "undecided"
    assert not out.exists()
    report = quantise(network, out, GAME, write_undecided=True, **short)
    assert (report.outcome, report.path) == ("undecided", out)
    kept = {entry.key: entry.value for entry in onnx.load(out).metadata_props}
    assert json.loads(kept["pyengine.int8"])["outcome"] == "undecided"


def test_a_match_that_finishes_no_game_is_undecided(network: Path, tmp_path: Path) -> None:
    report = quantise(
        network, tmp_path / "out.onnx", GAME, limits=ANYTHING, positions=64, match_seconds=1e-9
    )
    assert report.outcome == "undecided"
    assert "no game finished" in report.checks[-1].detail
    assert not (tmp_path / "out.onnx").exists()


def result_of(*pairs: tuple[int, int], margin: float = 50.0) -> MatchResult:
    """Return a match of these results of the games of a pair."""
    records = [
        GameRecord(pair=number, a_plays=a, opening=(), moves=(), result=pair[a])
        for number, pair in enumerate(pairs)
        for a in (0, 1)
    ]
    done = MatchResult(names=("int8", "original"), records=tuple(records))
    return replace(done, sprt=Limits(margin=margin).test().state(done.pairs))


def test_what_the_match_says_is_a_test_against_the_margin() -> None:
    def outcome(result: MatchResult, margin: float = 50.0) -> str:
        return _match_check(result, Limits(margin=margin), 32).outcome

    won, lost, even, open_game = (1, 1), (-1, -1), (1, -1), (0, -1)
    assert outcome(result_of(*[even, even, won, lost] * 8)) == "undecided"
    assert outcome(result_of(*[even, even, won, lost] * 60)) == "passed"
    # What the interval's upper end let pass before: 40 games that a network 80 Elo weaker plays.
    assert outcome(result_of(*[even, even, won, lost] * 4, lost, lost, lost)) != "passed"
    assert outcome(result_of(*[even, even, won, lost] * 10, *[lost] * 20)) == "failed"
    assert outcome(result_of(open_game)) == "undecided"
    assert outcome(result_of(*[even, even, won, lost] * 8, margin=150), 150) == "passed"


def test_half_of_equal_networks_pass_soon_and_few_weaker_ones_ever() -> None:
    """The promise of the checks: 800 games, no draws, 60 matches each."""

    def passed(elo: float) -> int:
        rng = np.random.default_rng(5)
        test = Limits().test()
        count = 0
        for _ in range(60):
            pairs = rng.binomial(2, score_of_elo(elo), 400) * 2
            for end in range(20, 401, 20):
                accepted = test.state(np.bincount(pairs[:end], minlength=5).tolist()).accepted
                if accepted:
                    count += accepted == "elo1"
                    break
        return count

    assert passed(0) > 48
    assert passed(-50) < 9
    assert passed(-100) == 0


@pytest.mark.parametrize("margin", [0.0, -1.0, float("nan"), float("inf")])
def test_a_margin_out_of_range_is_named(margin: float) -> None:
    with pytest.raises(ConfigError, match="margin: expected"):
        Limits(margin=margin)


def test_no_opening_is_played_twice() -> None:
    game = pyengine.load_game("tic_tac_toe")
    openings = _openings(game, pyengine.RolloutEvaluator(), 2000, seed=0, seconds=60)
    assert 20 < len(openings) < 2000  # there are no more
    assert len({game.new_initial_state(o).hash() for o in openings}) == len(openings)
    assert _openings(game, pyengine.UniformEvaluator(), 5, seed=0, seconds=1e-9)


def test_a_network_differs_from_itself_in_nothing(network: Path) -> None:
    evaluator = pyengine.OnnxEvaluator(network, providers=["cpu"])
    states = positions(evaluator, 32)
    same = compare(evaluator, evaluator, states)
    assert (same.agreement, same.policy_max, same.value_max, same.regret) == (1, 0, 0, 0)
    assert all(check.passed for check in same.checks(Limits()))


def test_another_network_fails_every_check(network: Path, tmp_path: Path) -> None:
    leela_to_onnx(random_leela(3, 16, seed=5, board_size=5), tmp_path / "other.onnx")
    mine = pyengine.OnnxEvaluator(network, providers=["cpu"])
    other = pyengine.OnnxEvaluator(tmp_path / "other.onnx", providers=["cpu"])
    states = positions(mine, 64)
    checks = compare(mine, other, states).checks(Limits(), turned(mine, states))
    assert not any(check.passed for check in checks)


def test_what_turning_the_board_changes_widens_the_limits() -> None:
    unsure = Comparison(10, 0.4, 0.9, 0.9, 0.2, 0.3, agreement=0.2, regret=0.1)
    small = Comparison(10, 0.09, 0.2, 0.2, 0.04, 0.1, agreement=0.85, regret=0.002)
    assert not all(check.passed for check in small.checks(Limits()))
    assert all(check.passed for check in small.checks(Limits(turned=0.25), unsure))


# --- positions -----------------------------------------------------------------------------------


def positions(evaluator: Evaluator, count: int, seed: int = 0) -> list[State]:
    """Return positions of Go 5x5."""
    spec = evaluator.spec
    assert spec is not None
    return play_positions(pyengine.load_game(GAME), evaluator, spec, count, seed)[0]


def test_positions_come_from_whole_games_and_repeat_with_the_seed(network: Path) -> None:
    game = pyengine.load_game(GAME)
    evaluator = pyengine.OnnxEvaluator(network, providers=["cpu"])
    states = positions(evaluator, 150, seed=1)
    assert len(states) == 150
    assert not any(state.is_terminal() for state in states)
    plies = [len(state.history()) for state in states]
    assert min(plies) < 3
    assert max(plies) > 0.6 * longest_game(game)
    again = positions(evaluator, 150, seed=1)
    assert [s.history() for s in again] == [s.history() for s in states]
    other = positions(evaluator, 150, seed=2)
    assert [s.history() for s in other] != [s.history() for s in states]


@pytest.mark.parametrize("model", ["tic_tac_toe", "connect4", "go7"])
def test_calibration_sees_no_position_of_the_comparison(model: str) -> None:
    evaluator = pyengine.OnnxEvaluator(pyengine.bundled_models()[model], providers=["cpu"])
    game, spec = game_of_model(model), evaluator.spec
    assert game is not None
    assert spec is not None
    calibration, evaluate = play_positions(game, evaluator, spec, 400, seed=0)
    if model == "tic_tac_toe":  # has fewer: 765 even without the end of the game in mind
        assert 32 < min(len(calibration), len(evaluate)) < 400
    else:
        assert (len(calibration), len(evaluate)) == (400, 400)
    read = [
        {
            turned.tobytes()
            for state in states
            for turned in _turned(state.observation_tensor(spec), spec, game.num_symmetries)
        }
        for states in (calibration, evaluate)
    ]
    assert not read[0] & read[1]
    planes = observe(calibration, spec, game.num_symmetries, seed=0)
    assert len({plane.tobytes() for plane in planes}) == len(calibration)
    assert not {plane.tobytes() for plane in planes} & read[1]


def test_a_game_of_too_few_positions_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "net.onnx"
    leela_to_onnx(random_leela(1, 4, board_size=2), path)
    with pytest.raises(ConfigError, match="at least 32 distinct positions to calibrate on"):
        quantise(path, tmp_path / "out.onnx", "go(board_size=2)", positions=100, games=0)


@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
@pytest.mark.parametrize(("name", "kinds"), [(GAME, 8), ("connect_four", 2)])
def test_planes_are_seen_under_all_symmetries(name: str, kinds: int, layout: str) -> None:
    game = pyengine.load_game(name)
    state = game.new_initial_state([0, 1, 2] if kinds == 2 else [1, 7])
    spec = pyengine.ModelSpec(layout=layout)
    planes = observe([state] * 100, spec, game.num_symmetries, seed=0)
    assert planes.dtype == np.float32
    assert planes.shape[1:] == state.observation_tensor(spec).shape
    assert len({plane.tobytes() for plane in planes}) == kinds
    assert any((plane == state.observation_tensor(spec)).all() for plane in planes)


# --- what cannot be converted --------------------------------------------------------------------


def test_a_network_without_a_tower_is_refused(tmp_path: Path) -> None:
    leela_to_onnx(random_leela(0, 8, board_size=5), tmp_path / "in.onnx")
    with pytest.raises(ModelError, match="expected convolutions between the first one"):
        quantise(tmp_path / "in.onnx", tmp_path / "out.onnx", GAME, **QUICK)
    assert not (tmp_path / "out.onnx").exists()


def test_other_types_than_float32_and_further_inputs_are_refused(network: Path) -> None:
    model = onnx.load(network)
    model.graph.input[0].type.tensor_type.elem_type = onnx.TensorProto.FLOAT16
    with pytest.raises(ModelError, match="expected a float32 input"):
        check_input(model, network)
    model.graph.input.append(onnx.helper.make_tensor_value_info("more", 1, [1]))
    with pytest.raises(ModelError, match="expected one input"):
        check_input(model, network)


@pytest.mark.parametrize(
    ("argument", "value"),
    [("positions", 31), ("games", -1), ("simulations", 0), ("match_seconds", 0)],
)
def test_an_argument_out_of_range_is_named(
    network: Path, tmp_path: Path, argument: str, value: int
) -> None:
    with pytest.raises(ConfigError, match=argument):
        quantise(network, tmp_path / "out.onnx", GAME, **{argument: value})


def test_a_network_of_another_game_is_refused(network: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="9"):
        quantise(network, tmp_path / "out.onnx", "go(board_size=9)", **QUICK)


def test_without_the_extra_the_error_names_it(
    network: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(EngineError, match=r"pip install 'pyengine-search\[convert\]'"):
        quantise(network, tmp_path / "out.onnx", GAME, **QUICK)


@pytest.mark.parametrize("stage", ["games", "calibration", "comparison", "match"])
def test_ctrl_c_leaves_nothing_behind(network: Path, tmp_path: Path, stage: str) -> None:
    def interrupt(reached: str, _done: float) -> None:
        if reached == stage:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        quantise(
            network, tmp_path / "out.onnx", GAME, limits=ANYTHING,
            positions=64, games=2, on_progress=interrupt,
        )  # fmt: skip
    assert list(tmp_path.iterdir()) == []


# --- graphs --------------------------------------------------------------------------------------


def test_a_shortcut_of_the_planes_makes_no_layer_a_first_one() -> None:
    """As in pre-activation networks that add the planes themselves to the first block."""
    node = onnx.helper.make_node
    nodes = [
        node("Conv", ["planes", "w"], ["a"], name="first"),
        node("Conv", ["a", "w"], ["b"], name="second"),
        node("Pad", ["planes", "pads"], ["c"], name="pad"),
        node("Add", ["b", "c"], ["d"], name="sum"),
        node("Conv", ["d", "w"], ["e"], name="third"),
        node("Conv", ["e", "w"], ["policy"], name="head"),
        node("Conv", ["e", "w"], ["value"], name="evaluate"),
    ]
    value = onnx.helper.make_tensor_value_info
    constants = [
        onnx.numpy_helper.from_array(np.zeros(1, np.float32), name) for name in ("w", "pads")
    ]
    graph = onnx.helper.make_graph(
        nodes, "test", [value("planes", 1, None)],
        [value("policy", 1, None), value("value", 1, None)], constants,
    )  # fmt: skip
    kept = float_nodes(onnx.helper.make_model(graph))
    assert kept == {"first", "head", "evaluate"}


# --- networks of others --------------------------------------------------------------------------

NETWORKS = {
    "go9x9_pyaq": (
        "go(board_size=9,komi=7.0,superko=simple)",
        {
            "planes": ("own[0]", "opp[0]", "own[1]", "opp[1]", "own[2]", "opp[2]", "first_to_move"),
            "rows": "bottom_up",
            "policy_rows": "bottom_up",
            "policy": "probs",
        },
        11,
    ),
    "othello8x8_ludax": ("othello", {"planes": ("own[0]", "opp[0]")}, 8),
    "gomoku8x8_5": (
        "gomoku(board_size=8)",
        {"planes": ("own[0]", "opp[0]", "last[0]", "first_to_move")},
        2,
    ),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_a_trained_network_passes_the_checks(
    shared: Callable[..., Path], tmp_path: Path, name: str
) -> None:
    game, spec, quantised = NETWORKS[name]
    report = quantise(
        shared("nets", f"{name}.onnx"), tmp_path / "out.onnx", game,
        spec=pyengine.ModelSpec(**spec), positions=128, games=0,
        limits=Limits(turned=0),
    )  # fmt: skip
    assert report.passed, report.checks
    assert report.quantised == quantised
    assert (tmp_path / "out.onnx").stat().st_size < shared("nets", f"{name}.onnx").stat().st_size
