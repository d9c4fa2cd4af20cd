"""Wrong arguments of an export: one clear error each, and no file."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

import pyengine
from pyengine import train
from wrong_values import all_but, cases, check_refused, no_paths, wrong

torch = pytest.importorskip("torch", reason="training needs PyTorch: the extra train")
pytest.importorskip("onnx", reason="export needs onnx: the extra train")

SPEC = pyengine.ModelSpec()


class OwnState:
    """Tic-tac-toe of a user: the engine's, behind an object of Python that shows its planes."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def clone(self) -> OwnState:
        return OwnState(self.inner.clone())


class OwnGame:
    """The game of those states."""

    board_shape = (3, 3)

    def num_distinct_actions(self) -> int:
        return 9

    def new_initial_state(self) -> OwnState:
        return OwnState(pyengine.load_game("tic_tac_toe").new_initial_state())


@pytest.fixture
def network() -> train.Network:
    """A small network for tic-tac-toe."""
    torch.manual_seed(0)
    return train.Network(train.NetworkConfig(blocks=1, filters=4), 3, (3, 3), 9).eval()


def test_a_game_of_a_user_is_a_game_to_export_for(network: train.Network, tmp_path: Path) -> None:
    spec = pyengine.ModelSpec(planes=("observation",))
    report = train.export(network, OwnGame(), spec, tmp_path / "own.onnx")
    assert report.difference < 1e-4
    result = pyengine.Engine(OwnGame(), str(report.path)).search(
        OwnGame().new_initial_state(), simulations=4
    )
    assert result.visits.sum() == 4


@pytest.mark.parametrize("name", ["network", "games", "spec", "path", "metadata"])
def test_an_export_refuses(name: str, network: train.Network, tmp_path: Path) -> None:
    given: dict[str, Any] = {
        "network": network,
        "games": "tic_tac_toe",
        "spec": SPEC,
        "path": tmp_path / "net.onnx",
    }
    fits = {"path": ("text", "NUL"), "metadata": ("None", "dict")}
    values = all_but(*fits.get(name, ()))
    said = "" if name == "games" else f"{name}: expected"
    check_refused(lambda value: train.export(**{**given, name: value}), values, said)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["folder", "/dev/null/x"])
def test_an_export_that_cannot_be_written_is_told(
    name: str, network: train.Network, tmp_path: Path
) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(pyengine.DataError, match="cannot be written"):
        train.export(network, "tic_tac_toe", SPEC, tmp_path / name)


SIZE = train.NetworkConfig(blocks=1, filters=4)


RUN = train.RunFile.from_toml('[game]\nname = "tic_tac_toe"')


@pytest.mark.parametrize("section", [field.name for field in dataclasses.fields(RUN)])
def test_a_run_file_has_its_sections(section: str) -> None:
    values = all_but("text", "NUL") if section == "text" else all_but()
    check_refused(lambda v: dataclasses.replace(RUN, **{section: v}), values, section)


@pytest.mark.parametrize("source", [None, "", "[game]", "[[[", Path("absent.toml")])
@pytest.mark.parametrize("resume", [True, False])
def test_a_run_that_cannot_be_leaves_no_folder(source: Any, resume: bool, tmp_path: Path) -> None:
    with pytest.raises(pyengine.ConfigError):
        train.train_run(source, tmp_path / "run", resume=resume)
    assert list(tmp_path.iterdir()) == []


@cases(
    [
        ("number", RUN.selfplay_config, {**all_but(), "1": 1}, "number"),
        ("before", RUN.refuse_changes, all_but(), "before"),
        ("resume", lambda v: train.train_run(RUN, "run", resume=v), all_but(), "resume"),
        ("start", lambda v: train.train_run(RUN, "run", start=v), all_but("function"), "start"),
        ("config", lambda v: train.Network(v, 3, (3, 3), 9), all_but(), "config"),
        ("planes", lambda v: train.Network(SIZE, v, (3, 3), 9), all_but(), "planes"),
        ("side", lambda v: train.Network(SIZE, 3, (3, v), 9), all_but(), "board"),
        ("board", lambda v: train.Network(SIZE, 3, v, 9), all_but(), "board"),
        ("actions", lambda v: train.Network(SIZE, 3, (3, 3), v), all_but(), "actions"),
        ("memory", lambda v: train.Network(SIZE, 1, (v, v), v), {"most": 1 << 16},
         "network: expected one that memory has room for"),
        ("rate of", lambda v: train.learning_rate(v, 0), all_but(), "config"),
        ("rate at", lambda v: train.learning_rate(train.OptimiserConfig(), v), all_but("huge"),
         "step"),
        ("from_toml", train.RunFile.from_toml, all_but("text", "NUL"), "expected TOML text"),
        ("train_run", lambda v: train.train_run(v, "run"), all_but("None", "text", "NUL"), "TOML"),
        ("train_run, out", lambda v: train.train_run(None, v), no_paths(), "directory"),
        ("plot_curve", lambda v: train.plot_curve(v, "x.png"), no_paths(), "directory"),
        ("out", lambda v: train.rollout_policy([], v), all_but("None", "text"), "out"),
        ("held_out", lambda v: train.rollout_policy([], held_out=v), all_but(), "held_out"),
        ("prior", lambda v: train.rollout_policy([], prior=v), all_but("fraction", "huge"),
         "prior"),
        ("epochs", lambda v: train.rollout_policy([], epochs=v), all_but(), "epochs"),
        ("seed", lambda v: train.rollout_policy([], seed=v), all_but("huge"), "seed"),
        ("need", train.need, {**all_but("text", "NUL"), "empty": ""}, "module"),
    ]
)  # fmt: skip
def test_training_refuses(
    call: Any, values: dict[str, Any], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    check_refused(call, values, said)


VAST = 10**400  # too large for a float

SECTIONS = (
    train.NetworkConfig,
    train.LossConfig,
    train.OptimiserConfig,
    train.AverageConfig,
    train.LearnerConfig,
    train.GateConfig,
)


@pytest.mark.parametrize("kind", SECTIONS)
def test_settings_are_of_their_types(kind: Any) -> None:
    check_refused(kind.from_dict, all_but("dict"), f"{kind.section}: expected a table")
    for name in kind.names():
        values = all_but("None", "fraction", "huge", "list", "tuple", "negative", "dict")
        check_refused(lambda v, name=name: kind(**{name: v}), values, name)  # type: ignore[misc]


@cases(
    [
        *((name, lambda v, name=name: train.TrainConfig(**{name: v}), {**all_but()}, name)
          for name in train.TrainConfig.names()),
        *((name, lambda v, name=name: train.OptimiserConfig(**{name: v}),
           {"vast": VAST, "infinity": float("inf"), **wrong("negative")}, name)
          for name in ("learning_rate", "weight_decay", "clip_norm", "step_scale", "momentum")),
        ("rates", lambda v: train.OptimiserConfig(schedule="steps", rates=v),
         {**all_but("tuple"), "two": (0.1, 0.01), "vast": [VAST], "text": ["x"]}, "rates"),
        ("boundaries",
         lambda v: train.OptimiserConfig(schedule="steps", rates=(1, 1), boundaries=v),
         {**all_but("tuple", "list"), "falling": [2, 1], "fraction": [1.5]}, "boundaries"),
        ("blocks", lambda v: train.NetworkConfig(blocks=v), wrong("huge", "negative"), "blocks"),
        ("filters", lambda v: train.NetworkConfig(filters=v), wrong("huge", "negative"), "filters"),
        ("threads", lambda v: train.LearnerConfig(threads=v), wrong("huge", "negative"), "threads"),
    ]
)  # fmt: skip
def test_settings_refuse(call: Any, values: dict[str, Any], said: str) -> None:
    check_refused(call, values, said)


@pytest.mark.parametrize("schedule", ["alphago_zero", "cosine", "constant", "steps"])
def test_any_step_has_a_rate(schedule: str) -> None:
    given = {"rates": (0.1, 0.01), "boundaries": (5,)} if schedule == "steps" else {}
    config = train.OptimiserConfig(schedule=schedule, warm_up=3, total_steps=10, **given)
    for step in (0, 3, 10, 2**70, VAST):
        assert 0 <= train.learning_rate(config, step) <= 0.1


def test_metadata_that_is_no_json_is_told(network: train.Network, tmp_path: Path) -> None:
    with pytest.raises(pyengine.ConfigError, match="metadata: expected plain values"):
        train.export(network, "tic_tac_toe", SPEC, tmp_path / "n.onnx", metadata={"a": object()})
