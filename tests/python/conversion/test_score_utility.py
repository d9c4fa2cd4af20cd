"""Score utility: copies of networks whose value counts points."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyengine
from converted import changed, fix_batch, opened, scale, spec_of, weights_as_inputs
from pyengine import ConfigError, ModelError, ModelSpec, OnnxEvaluator
from pyengine.conversion import with_score_utility
from tiny_models import TinyModel

onnx = pytest.importorskip("onnx", reason="the extra convert is not installed")

TIC = pyengine.load_game("tic_tac_toe")
STATES = [TIC.new_initial_state(moves) for moves in ((), (4,), (0, 4, 8), (2, 1, 0, 8, 5))]
LEADS = np.array([0, -1, -1, -1])  # stones of the player to move minus the opponent's
PLANES = ("own[0]", "opp[0]", "ones")
SPEC = ModelSpec(planes=PLANES, score_output="lead")
WDL = ("draw", "loss", "win")


def add_score(model: Any) -> None:
    """Add an output [N]: the lead of the player to move in stones."""
    helper, numbers = onnx.helper, onnx.numpy_helper.from_array
    signs = np.repeat([1, -1, 0], 9).astype(np.float32)[:, None]
    model.graph.initializer.extend(
        [numbers(signs, "signs"), numbers(np.array([1], np.int64), "one")]
    )
    model.graph.node.extend(
        [
            helper.make_node("MatMul", ["flat", "signs"], ["leads"]),
            helper.make_node("Squeeze", ["leads", "one"], ["lead"]),
        ]
    )
    model.graph.output.append(helper.make_tensor_value_info("lead", 1, ["N"]))


def write(folder: Path, **options: Any) -> Path:
    plain = TinyModel(**options).write(folder / "plain.onnx")
    return changed(plain, folder / "net.onnx", add_score)


def old_file(model: Any) -> None:
    model.ir_version = 3
    weights_as_inputs(model)


def taken_names(model: Any) -> None:
    """Use names that the copy would generate."""
    for name in ("value_with_score.1", "value_with_score.3"):
        model.graph.node.append(onnx.helper.make_node("Neg", ["flat"], [name], name=name))


def rename(model: Any, kind: str, value: str = "value") -> None:
    """Replace the value's tanh by another operator, and rename the value."""
    node = next(node for node in model.graph.node if node.op_type == "Tanh")
    node.op_type, node.output[0] = kind, value
    next(entry for entry in model.graph.output if entry.name == "value").name = value


def renamed_value(model: Any) -> None:
    """Make the value identifiable only by its size."""
    rename(model, "Tanh", "winner")


def values(path: Path, spec: ModelSpec | None = None) -> np.ndarray:
    return opened(path, spec).evaluate(STATES)[1]


def lead_of(points: float) -> np.ndarray:
    return LEADS / (points + np.abs(LEADS))


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"value_kind": "probs"},
        {"value_kind": "logits"},
        {"value": WDL},
        {"value": WDL, "value_kind": "probs"},
        {"value": WDL, "value_kind": "log_probs"},
        {"value": WDL, "value_kind": "logits"},
    ],
    ids=str,
)
def test_a_value_of_any_kind_counts_the_score(spec: dict[str, Any], tmp_path: Path) -> None:
    before = ModelSpec(planes=PLANES, score_output="lead", **spec)
    size = 3 if "value" in spec else 1
    source = write(tmp_path, value_size=size)
    kind = spec.get("value_kind")
    if kind is not None:  # the model ends with tanh
        probabilities = "Softmax" if size == 3 else "Sigmoid"
        after = {"probs": probabilities, "log_probs": "LogSoftmax", "logits": "Neg"}
        source = changed(source, tmp_path / "kind.onnx", lambda model: rename(model, after[kind]))
    out = tmp_path / "out.onnx"
    after = with_score_utility(source, out, weight=0.25, points=2.0, spec=before)
    expected = 0.75 * values(source, before) + 0.25 * lead_of(2.0)
    np.testing.assert_allclose(values(tmp_path / "out.onnx"), expected, atol=1e-6)
    assert (after.value, after.score_output) == ("scalar", "lead")
    assert spec_of(out) == after


def test_policy_score_and_metadata_are_kept(tmp_path: Path) -> None:
    source = write(tmp_path, metadata={"author": "somebody"})
    with_score_utility(source, tmp_path / "out.onnx", spec=SPEC)
    original, copy = opened(source, SPEC), opened(tmp_path / "out.onnx")
    np.testing.assert_array_equal(original.evaluate(STATES)[0], copy.evaluate(STATES)[0])
    np.testing.assert_array_equal(copy.evaluate_final_board(STATES)[1], LEADS)
    model = onnx.load(tmp_path / "out.onnx")
    assert [entry.name for entry in model.graph.output] == ["policy", "value_with_score", "lead"]
    assert {entry.key for entry in model.metadata_props} == {"author", "pyengine.spec"}
    onnx.checker.check_model(model, full_check=True)


def test_weight_0_is_the_network_and_weight_1_the_score(tmp_path: Path) -> None:
    source = write(tmp_path)
    with_score_utility(source, tmp_path / "0.onnx", weight=0, spec=SPEC)
    with_score_utility(source, tmp_path / "1.onnx", weight=1, points=1, spec=SPEC)
    np.testing.assert_allclose(values(tmp_path / "0.onnx"), values(source, SPEC), atol=1e-7)
    np.testing.assert_allclose(values(tmp_path / "1.onnx"), LEADS / 2, atol=1e-6)


def test_a_search_prefers_the_move_that_wins_by_more(tmp_path: Path) -> None:
    """The network's policy and value are constant; its score prefers the centre."""

    signs = np.zeros((27, 1), np.float32)
    signs[4], signs[9 + 4] = 9.0, -9.0  # the owner of the centre leads

    def prefer(model: Any) -> None:
        scale(model, {"wp": 0, "wv": 0})
        tensor = next(t for t in model.graph.initializer if t.name == "signs")
        tensor.CopyFrom(onnx.numpy_helper.from_array(signs, "signs"))

    source = changed(write(tmp_path), tmp_path / "points.onnx", prefer)
    with_score_utility(source, tmp_path / "out.onnx", weight=1, spec=SPEC)
    engine = pyengine.Engine(TIC, tmp_path / "out.onnx", threads=1, deterministic=True)
    plain = pyengine.Engine(TIC, OnnxEvaluator(source, SPEC), threads=1, deterministic=True)
    assert plain.search(TIC.new_initial_state(), simulations=60).action != 4
    result = engine.search(TIC.new_initial_state(), simulations=60)
    assert result.action == 4
    assert result.score is not None


def test_the_command_writes_the_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from commands import printed

    monkeypatch.chdir(tmp_path)
    source, spec = write(tmp_path), tmp_path / "spec.json"
    spec.write_text(SPEC.to_json())
    options = ["convert", "score-utility", source, "--spec", spec, "--weight", "0.5"]
    text = " ".join(printed(*options).split())
    assert "weight of points 0.5, half of it for a lead of 20" in text
    expected = 0.5 * values(source, SPEC) + 0.5 * lead_of(20)
    np.testing.assert_allclose(values(tmp_path / "net.points.onnx"), expected, atol=1e-6)
    facts = json.loads(printed(*options, "--points", "2", "-o", "two.onnx", "--json"))
    assert facts == {"path": "two.onnx", "weight": 0.5, "points": 2}


def test_wrong_arguments_and_networks_are_refused(tmp_path: Path) -> None:
    source, out = write(tmp_path), tmp_path / "out.onnx"

    def refused(error: type[Exception], text: str, model: Path = source, **options: Any) -> None:
        with pytest.raises(error, match=text):
            with_score_utility(model, out, **{"spec": SPEC, **options})
        assert not out.exists()

    refused(ConfigError, r"weight: expected a number in \[0, 1\], got 1.5", weight=1.5)
    for points in (0, 1e-40, 1e300):
        refused(ConfigError, r"points: expected points in \[0.001, 1e6\]", points=points)
    refused(ConfigError, "spec: expected a ModelSpec", spec={"planes": PLANES})
    for wrong, message in (
        ({"score_output": None}, r"no score_output; its outputs are .* lead \(1 per row\)"),
        ({"value_for": "first_player"}, "value_for: expected 'mover'"),
        ({"score_output": "policy"}, "score_output: expected 1 number per row"),
        ({"value_output": "policy"}, "value_output: expected 1 numbers per row"),
        ({"value": WDL}, "value_output: expected 3 numbers per row"),
        ({"score_output": "value"}, "value_output: expected 1 numbers per row, got 'value'"),
    ):
        refused(ModelError, message, spec=SPEC.replace(**wrong))
    with_score_utility(source, tmp_path / "once.onnx", spec=SPEC)
    refused(ModelError, "already counts the score", tmp_path / "once.onnx", spec=None)


@pytest.mark.parametrize("change", [fix_batch, old_file, taken_names, renamed_value])
def test_unusual_files_can_be_copied(change: Callable[[Any], object], tmp_path: Path) -> None:
    source = changed(write(tmp_path), tmp_path / "kind.onnx", change)
    with_score_utility(source, tmp_path / "out.onnx", weight=1, points=1, spec=SPEC)
    np.testing.assert_allclose(values(tmp_path / "out.onnx"), lead_of(1), atol=1e-6)
    model = onnx.load(tmp_path / "out.onnx")
    onnx.checker.check_model(model, full_check=True)
    # ONNX Runtime has no CUDA kernel for it: every batch would travel to the CPU.
    assert "Atan" not in {node.op_type for node in model.graph.node}


def test_external_data_is_embedded_and_old_measurements_are_dropped(tmp_path: Path) -> None:
    metadata = {"pyengine.float16": "{}", "author": "somebody"}
    model = onnx.load(write(tmp_path, metadata=metadata))
    onnx.save(
        model,
        tmp_path / "external.onnx",
        save_as_external_data=True,
        location="weights.bin",
        size_threshold=64,
    )
    with_score_utility(tmp_path / "external.onnx", tmp_path / "out.onnx", spec=SPEC)
    (tmp_path / "weights.bin").unlink()
    expected = 0.9 * values(tmp_path / "net.onnx", SPEC) + 0.1 * lead_of(20)
    np.testing.assert_allclose(values(tmp_path / "out.onnx"), expected, atol=1e-6)
    keys = {entry.key for entry in onnx.load(tmp_path / "out.onnx").metadata_props}
    assert keys == {"author", "pyengine.spec"}


def test_float16_outputs_become_float32(tmp_path: Path) -> None:
    def narrow(model: Any) -> None:
        for name in ("value", "lead"):
            for node in model.graph.node:
                node.output[:] = [f"{name}_wide" if n == name else n for n in node.output]
            cast = onnx.helper.make_node("Cast", [f"{name}_wide"], [name], to=10)
            model.graph.node.append(cast)
        for entry in model.graph.output:
            if entry.name != "policy":
                entry.type.tensor_type.elem_type = 10

    source = changed(write(tmp_path), tmp_path / "half.onnx", narrow)
    with_score_utility(source, tmp_path / "out.onnx", weight=1, points=1, spec=SPEC)
    np.testing.assert_allclose(values(tmp_path / "out.onnx"), LEADS / 2, atol=1e-3)
