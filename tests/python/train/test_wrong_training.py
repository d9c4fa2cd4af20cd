"""Wrong arguments of an export: one clear error each, and no file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import pyengine
from pyengine import train
from wrong_values import all_but, cases, check_refused

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


@pytest.mark.parametrize("name", ["network", "games", "spec", "path"])
def test_an_export_refuses(name: str, network: train.Network, tmp_path: Path) -> None:
    given: dict[str, Any] = {
        "network": network,
        "games": "tic_tac_toe",
        "spec": SPEC,
        "path": tmp_path / "net.onnx",
    }
    values = all_but("text", "NUL") if name == "path" else all_but()
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


@cases(
    [
        ("config", lambda v: train.Network(v, 3, (3, 3), 9), all_but(), "config"),
        ("planes", lambda v: train.Network(SIZE, v, (3, 3), 9), all_but("huge"), "planes"),
        ("board", lambda v: train.Network(SIZE, 3, v, 9), all_but(), "board"),
        ("actions", lambda v: train.Network(SIZE, 3, (3, 3), v), all_but("huge"), "actions"),
        ("from_toml", train.RunFile.from_toml, all_but("text", "NUL"), "expected TOML text"),
        ("train_run", lambda v: train.train_run(v, "run"), all_but("None", "text", "NUL"), "TOML"),
        ("train_run, out", lambda v: train.train_run(None, v), all_but("text"), "directory"),
        ("plot_curve", lambda v: train.plot_curve(v, "x.png"), all_but("text"), "directory"),
        ("out", lambda v: train.rollout_policy([], v), all_but("None", "text"), "out"),
        ("held_out", lambda v: train.rollout_policy([], held_out=v), all_but(), "held_out"),
        ("prior", lambda v: train.rollout_policy([], prior=v), all_but("fraction", "huge"),
         "prior"),
        ("need", train.need, all_but("text", "NUL"), "module"),
    ]
)  # fmt: skip
def test_training_refuses(
    call: Any, values: dict[str, Any], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    check_refused(call, values, said)


def test_metadata_that_is_no_json_is_told(network: train.Network, tmp_path: Path) -> None:
    with pytest.raises(pyengine.ConfigError, match="metadata: expected plain values"):
        train.export(network, "tic_tac_toe", SPEC, tmp_path / "n.onnx", metadata={"a": object()})
