"""ModelSpec: validation, JSON, and the spec of a model file."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

from pyengine import ConfigError, ModelError, load_game
from pyengine.eval.evaluators import OnnxEvaluator
from pyengine.eval.spec import ModelSpec
from tiny_models import TinyModel

EVERYTHING = ModelSpec(
    planes=("own[0:2]", "legal", "ones"),  # a range: own[0], own[1]
    layout="NHWC",
    rows="bottom_up",
    policy_rows="bottom_up",
    policy="probs",
    pass_index=0,
    value=("draw", "win", "loss"),
    value_kind="probs",
    value_for="first_player",
    input="x",
    policy_output="p",
    value_output="v",
)


def test_a_spec_is_an_immutable_value() -> None:
    assert pickle.loads(pickle.dumps(EVERYTHING)) == EVERYTHING
    assert hash(EVERYTHING) == hash(EVERYTHING.replace())
    assert eval(repr(EVERYTHING)) == EVERYTHING
    assert EVERYTHING.planes == ("own[0]", "own[1]", "legal", "ones")
    with pytest.raises(AttributeError):
        ModelSpec().layout = "NHWC"


@pytest.mark.parametrize("spec", [ModelSpec(), EVERYTHING, ModelSpec.gomoku17()])
def test_a_spec_survives_json(spec: ModelSpec) -> None:
    assert ModelSpec.from_json(spec.to_json()) == spec


def test_presets_have_the_planes_of_their_papers() -> None:
    game = load_game("go", board_size=9)
    zero, leela = ModelSpec.alphago_zero(game), ModelSpec.leela_zero(game)
    assert zero.planes[:4] == ("own[0]", "opp[0]", "own[1]", "opp[1]")
    assert zero.planes[-1] == "first_to_move"
    assert leela.planes[7:9] == ("own[7]", "opp[0]")
    assert leela.planes[16:] == ("first_to_move", "second_to_move")
    assert (zero.rows, zero.policy_rows) == ("top_down", "top_down")
    assert (leela.rows, leela.policy_rows) == ("bottom_up", "bottom_up")
    assert len({*ModelSpec.gomoku17(load_game("gomoku")).planes}) == 17


@pytest.mark.parametrize(
    ("field", "value"),
    [("planes", 3), ("policy_rows", 1), ("pass_index", "last"), ("input", "")],
)
def test_an_error_names_the_invalid_field(field: str, value: object) -> None:
    with pytest.raises(ConfigError, match=field):
        ModelSpec(**{field: value})


def test_invalid_json_and_unknown_fields_are_refused() -> None:
    with pytest.raises(ConfigError, match="plane_names"):
        ModelSpec.from_json('{"plane_names": []}')
    with pytest.raises(ConfigError, match="JSON"):
        ModelSpec.from_json("planes")
    with pytest.raises(ConfigError, match="dict"):
        ModelSpec.from_json("[1]")


def test_a_spec_is_the_argument_else_the_metadata_else_the_file_else_inferred(
    tmp_path: Path,
) -> None:
    tiny = TinyModel(planes=(3, 4, 4), actions=16)
    path = tiny.write(tmp_path / "m.onnx")
    with pytest.warns(UserWarning, match="assumed"):
        assert OnnxEvaluator(path).spec == ModelSpec()
    beside = ModelSpec(planes=("own[0]", "opp[0]", "ones"))
    (tmp_path / "m.spec.json").write_text(beside.to_json())
    assert OnnxEvaluator(path).spec == beside
    inside = ModelSpec(planes=("own[0]", "opp[0]", "zeros"))
    tiny.metadata["pyengine.spec"] = inside.to_json()
    tiny.write(path)
    assert OnnxEvaluator(path).spec == inside
    argument = ModelSpec(planes=("opp[0]", "own[0]", "ones"))
    assert OnnxEvaluator(path, argument).spec == argument


def test_an_invalid_spec_is_a_model_error_that_names_the_file(tmp_path: Path) -> None:
    path = TinyModel(metadata={"pyengine.spec": "{"}).write(tmp_path / "a.onnx")
    with pytest.raises(ModelError, match=r"metadata 'pyengine\.spec'.*JSON"):
        OnnxEvaluator(path)
    path = TinyModel().write(tmp_path / "b.onnx")
    (tmp_path / "b.spec.json").write_text(json.dumps({"layout": "HWC"}))
    with pytest.raises(ModelError, match=r"b\.spec\.json.*layout"):
        OnnxEvaluator(path)
