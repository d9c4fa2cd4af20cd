"""Predictions of the final board, which are made apart from searches."""

from __future__ import annotations

import os
import pickle
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyengine
from pyengine import Engine, EvaluationError, MixedEvaluator, ModelError, ModelSpec, OnnxEvaluator
from pyengine.games import as_game
from toy_games import ToyGame, ToyState
from zero_network import zero_network

TIC = pyengine.load_game("tic_tac_toe")
STATES = [TIC.new_initial_state(moves) for moves in ((), (4,), (0, 4, 8), (2, 1, 0, 8, 5))]
NAMES = {"ownership_output": "mine", "score_output": "lead"}


def spec_of(**fields: Any) -> ModelSpec:
    return ModelSpec(**{"planes": ("own[0]", "opp[0]", "ones"), **NAMES, **fields})


def write(
    path: Path,
    spec: ModelSpec | None,
    *,
    dtype: str = "float",
    input_dtype: str | None = None,
    batch: int | str = "N",
    wide_score: bool = False,
    flat_input: bool = False,
) -> Path:
    """Write a network whose ownership and score are the stones on the board now."""
    onnx = pytest.importorskip("onnx", reason="the package onnx makes the test's models")
    model = onnx.parser.parse_model(f"""
        <ir_version: 8, opset_import: ["": 17]>
        tiny ({input_dtype or dtype}[{batch}, {"27" if flat_input else "3, 3, 3"}] planes) => (
            {dtype}[{batch}, 3, 3] mine, {dtype}[{batch}, 9] policy,
            {dtype}[{batch}{", 1" if wide_score else ""}] lead, {dtype}[{batch}, 1] value
        ) <int64[1] one = {{1}}, int64[2] sides = {{1, 2}}, int64[4] board = {{-1, 3, 3, 3}}> {{
            shaped = Reshape(planes, board)
            numbers = Cast<to = {1 if dtype == "float" else 10}>(shaped)
            flat = Flatten(numbers)
            signed = Conv(numbers, signs)
            mine = Squeeze(signed, one)
            policy = MatMul(flat, wp)
            sum = ReduceSum<keepdims = 0>(mine, sides)
            lead = {"Unsqueeze(sum, one)" if wide_score else "Identity(sum)"}
            before = MatMul(flat, wv)
            value = Tanh(before)
        }}
    """)
    rng = np.random.default_rng(3)
    weights = {
        "wp": rng.normal(size=(27, 9)),
        "wv": rng.normal(size=(27, 1)),
        "signs": np.array([1, -1, 0]).reshape(1, 3, 1, 1),
    }
    kind = np.float32 if dtype == "float" else np.float16
    for name, array in weights.items():
        model.graph.initializer.append(onnx.numpy_helper.from_array(array.astype(kind), name))
    if spec is not None:
        onnx.helper.set_model_props(model, {"pyengine.spec": spec.to_json()})
    path.write_bytes(model.SerializeToString())
    return path


@pytest.fixture
def evaluator(tmp_path: Path) -> OnnxEvaluator:
    return OnnxEvaluator(write(tmp_path / "m.onnx", spec_of()))


def stones(state: Any) -> np.ndarray:
    """Return 1 for stones of the player to move, -1 for the opponent's, top row first."""
    values = {"X": 1, "O": -1, ".": 0}
    rows = np.array([[values[stone] for stone in row] for row in state.board_rows()])
    return rows if state.current_player() == 0 else -rows


def check(evaluator: OnnxEvaluator) -> None:
    ownership, score = evaluator.evaluate_final_board(STATES * 20)  # several calls of the network
    assert ownership is not None
    assert score is not None
    assert (ownership.dtype, score.dtype) == (np.float32, np.float32)
    expected = np.stack([stones(state) for state in STATES * 20])
    np.testing.assert_array_equal(ownership, expected)
    np.testing.assert_array_equal(score, expected.sum(axis=(1, 2)))


@pytest.mark.parametrize(
    "kind",
    [{}, {"dtype": "float16"}, {"input_dtype": "int8"}, {"batch": 1}, {"batch": 3}, {"batch": 16},
     {"wide_score": True}, {"flat_input": True, "batch": 3}],
    ids=str,
)  # fmt: skip
def test_predictions_equal_the_outputs_of_the_file(kind: dict[str, Any], tmp_path: Path) -> None:
    check(OnnxEvaluator(write(tmp_path / "m.onnx", spec_of(), **kind)))
    check(OnnxEvaluator(write(tmp_path / "b.onnx", spec_of(rows="bottom_up"), **kind)))


def test_external_data_is_read(tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx", reason="the package onnx makes the test's models")
    model = onnx.load(write(tmp_path / "m.onnx", spec_of()))
    path = tmp_path / "apart.onnx"
    onnx.save(model, path, save_as_external_data=True, location="weights", size_threshold=100)
    evaluator = OnnxEvaluator(path)
    check(evaluator)
    plain = OnnxEvaluator(tmp_path / "m.onnx")
    for actual, expected in zip(evaluator.evaluate(STATES), plain.evaluate(STATES), strict=True):
        np.testing.assert_array_equal(actual, expected)


def test_a_search_result_predicts_on_first_access(evaluator: OnnxEvaluator) -> None:
    with Engine("tic_tac_toe", evaluator, simulations=20) as engine:
        result = engine.search(STATES[2])
        many = engine.search_many(STATES)
        last = list(engine.analyze(STATES[2], simulations=30))[-1]
    assert evaluator._final_board._model is None  # no prediction yet
    for one, state in zip([result, last, *many], [STATES[2], STATES[2], *STATES], strict=True):
        one.state.apply_action(one.action)  # a copy of the searched state
        np.testing.assert_array_equal(one.ownership, stones(state))
        assert one.score == stones(state).sum()
        assert isinstance(one.score, float)
    for original, state in ((result, STATES[2]), (many[1], STATES[1])):
        copy = pickle.loads(pickle.dumps(original))
        np.testing.assert_array_equal(copy.ownership, stones(state))
    table = result.to_dict()
    assert (table["ownership"], table["score"]) == (stones(STATES[2]).tolist(), result.score)


def test_threads_that_read_a_result_make_one_prediction(evaluator: OnnxEvaluator) -> None:
    calls = []
    evaluate = evaluator.evaluate_final_board
    evaluator.evaluate_final_board = lambda *a, **k: calls.append(1) or evaluate(*a, **k)
    result = pyengine.search(STATES[3], evaluator=evaluator, simulations=5)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: result.ownership, range(8)))
    assert result.score == stones(STATES[3]).sum()
    assert calls == [1]


def test_a_mixed_evaluator_uses_its_network(evaluator: OnnxEvaluator) -> None:
    mixed = MixedEvaluator(evaluator, "rollout", mix=0.5)
    result = pyengine.search(STATES[2], evaluator=mixed, simulations=5)
    np.testing.assert_array_equal(result.ownership, stones(STATES[2]))


def test_other_evaluators_predict_nothing(tmp_path: Path) -> None:
    plain = write(tmp_path / "m.onnx", spec_of().without_final_board())
    function = pyengine.CallbackEvaluator(zero_network(9), spec_of())
    for evaluator in (OnnxEvaluator(plain), pyengine.UniformEvaluator(), function):
        assert not evaluator.has_final_board
        assert evaluator.evaluate_final_board(STATES) == (None, None)
        result = pyengine.search(STATES[0], evaluator=evaluator, simulations=5)
        assert (result.ownership, result.score, result.final_board) == (None, None, None)
        assert result.to_dict().keys().isdisjoint({"ownership", "score", "final_board"})


class UsersState(ToyState):
    """Players fill points in turn, with scaled planes: own, opponent's, ones."""

    actions = 9
    scale = 1.0

    def observation_tensor(self) -> np.ndarray:
        mover = self.current_player()
        planes = np.zeros((3, 9))
        planes[0, list(self.moves[mover::2])] = 1
        planes[1, list(self.moves[1 - mover :: 2])] = 1
        planes[2] = 1
        return self.scale * planes.reshape(3, 3, 3)


class UsersGame(ToyGame):
    board_shape = (3, 3)
    observation_tensor_shape = (3, 3, 3)


USERS = UsersState((0, 4, 8))  # the stones of STATES[2]


def test_a_users_state_is_predicted(tmp_path: Path) -> None:
    evaluator = OnnxEvaluator(write(tmp_path / "m.onnx", spec_of(planes=("observation",))))
    result = Engine(UsersGame(UsersState), evaluator, simulations=5).search(USERS)
    np.testing.assert_array_equal(result.ownership, stones(STATES[2]))


def test_planes_that_int8_cannot_hold_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "m.onnx", spec_of(planes=("observation",)), input_dtype="int8")
    evaluator = OnnxEvaluator(path)
    evaluator.evaluate_final_board([USERS], game=as_game(UsersGame(UsersState)))
    kind = type("Scaled", (UsersState,), {"scale": 0.5})
    with pytest.raises(ModelError, match=f"^the input of {path} is int8, but the planes"):
        evaluator.evaluate_final_board([kind(USERS.moves)], game=as_game(UsersGame(kind)))


def test_self_play_ignores_the_outputs(evaluator: OnnxEvaluator, tmp_path: Path) -> None:
    plain = spec_of().without_final_board()
    config = pyengine.SelfPlayConfig(search=pyengine.SearchConfig(simulations=4, threads=1))
    for player, spec in (("uniform", plain), (evaluator, plain), (evaluator, None)):
        pyengine.selfplay(TIC, player, games=2, out=tmp_path / "data", config=config, spec=spec)
    dataset = pyengine.Dataset(tmp_path / "data")
    assert (dataset.games, dataset.spec) == (6, plain)


@pytest.mark.parametrize("field", ["ownership_output", "score_output"])
def test_an_output_that_the_model_lacks_is_refused(field: str, tmp_path: Path) -> None:
    path = write(tmp_path / "m.onnx", None)
    with pytest.raises(ModelError, match="has no tensor 'territory', requested as an"):
        OnnxEvaluator(path, spec=spec_of(**{field: "territory"}))
    for wrong in (3, ""):
        with pytest.raises(pyengine.ConfigError, match=f"{field}: expected a non-empty str"):
            spec_of(**{field: wrong})
    with pytest.raises(pyengine.ConfigError, match="another tensor than ownership_output"):
        spec_of(ownership_output="mine", score_output="mine")


@pytest.mark.parametrize(
    ("output", "message"),
    [("lead", "a final board"), ("policy", r"output .policy. must be in")],
)
def test_an_output_that_is_not_an_ownership_is_an_error(
    output: str, message: str, tmp_path: Path
) -> None:
    path = write(tmp_path / "m.onnx", spec_of(ownership_output=output, score_output=None))
    with pytest.raises(EvaluationError, match=message):
        OnnxEvaluator(path).evaluate_final_board(STATES)


@pytest.mark.parametrize("same_time", [False, True])
def test_a_replaced_file_is_an_error(same_time: bool, tmp_path: Path) -> None:
    path = write(tmp_path / "m.onnx", spec_of())
    evaluator = OnnxEvaluator(path)
    times = path.stat()
    if same_time:
        write(tmp_path / "other.onnx", spec_of(), batch="M").replace(path)  # the same size
        assert path.stat().st_size == times.st_size
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    else:
        path.touch()
    with pytest.raises(EvaluationError, match="has changed since it was opened"):
        evaluator.evaluate_final_board(STATES)


def test_a_removed_file_is_an_error(tmp_path: Path) -> None:
    path = write(tmp_path / "m.onnx", spec_of())
    evaluator = OnnxEvaluator(path)
    result = pyengine.search(STATES[0], evaluator=evaluator, simulations=5)
    path.unlink()
    with pytest.raises(EvaluationError, match=r"m\.onnx"):
        evaluator.evaluate_final_board(STATES)
    assert "ownership" not in result.to_dict()
    copy = pickle.loads(pickle.dumps(result))
    assert copy.visits.tolist() == result.visits.tolist()
    for one in (result, copy):
        with pytest.raises(EvaluationError, match=r"m\.onnx"):
            _ = one.ownership


def test_no_states_give_empty_predictions(evaluator: OnnxEvaluator) -> None:
    assert evaluator.evaluate_final_board([]) == (None, None)
    ownership, score = evaluator.evaluate_final_board([], game=TIC)
    assert ownership is not None
    assert score is not None
    assert (ownership.shape, score.shape) == ((0, 3, 3), (0,))
    with pytest.raises(pyengine.ConfigError, match="states must be a sequence of states"):
        evaluator.evaluate_final_board(STATES[0])


def test_the_spec_in_the_file_keeps_the_output_names(tmp_path: Path) -> None:
    spec = spec_of()
    assert ModelSpec.from_json(spec.to_json()) == spec
    assert OnnxEvaluator(write(tmp_path / "m.onnx", spec)).spec == spec
    assert spec.without_final_board() == ModelSpec(planes=spec.planes)
    assert "output" not in ModelSpec().to_json()
