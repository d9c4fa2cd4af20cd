"""Export of any PyTorch module to ONNX."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyengine
from pyengine import ConfigError, ModelError, ModelSpec
from toy_games import Matches, ToyGame

torch = pytest.importorskip("torch", reason="torch is absent (extra `train`)")
pytest.importorskip("onnxscript", reason="onnxscript is absent (extra `train`)")

from pyengine import train  # noqa: E402

SPEC = ModelSpec(planes=("own[0]", "opp[0]"))


class Net(torch.nn.Module):
    """A convolution and two heads; dropout and batch norm differ in training mode."""

    def __init__(self, points: int = 9, actions: int = 9, values: int = 1, planes: int = 2) -> None:
        super().__init__()
        self.body = torch.nn.Sequential(
            torch.nn.Conv2d(planes, 4, 3, padding=1),
            torch.nn.BatchNorm2d(4),
            torch.nn.ReLU(),
            torch.nn.Dropout(0.5),
            torch.nn.Flatten(),
        )
        self.policy = torch.nn.Linear(4 * points, actions)
        self.value = torch.nn.Linear(4 * points, values)

    def forward(self, planes: Any) -> Any:
        body = self.body(planes)
        return self.policy(body), self.last(self.value(body))

    def last(self, value: Any) -> Any:
        return torch.tanh(value)


class Forgetful(Net):
    def last(self, value: Any) -> Any:
        return value + 3.0  # outside [-1, 1]


class Sigmoid(Net):
    def last(self, value: Any) -> Any:
        return torch.sigmoid(value)  # also in [-1, 1]


class Softmax(Net):
    def forward(self, planes: Any) -> Any:
        policy, value = super().forward(planes)
        return torch.softmax(policy, 1), value


class Alone(Net):
    def forward(self, planes: Any) -> Any:
        return super().forward(planes)[0]


def test_an_exported_module_evaluates_as_in_pytorch(tmp_path: Path) -> None:
    module, file = Net(), tmp_path / "net.onnx"
    module.train()
    report = train.export_module(module, "tic_tac_toe", SPEC, file, metadata={"step": 7})
    assert module.training  # unchanged
    assert report.path == file
    assert report.difference <= train.onnx_export.TOLERANCE
    state = pyengine.load_game("tic_tac_toe").new_initial_state([4, 0])
    policy, value = pyengine.OnnxEvaluator(file).evaluate([state])  # with the embedded spec
    module.eval()
    with torch.no_grad():
        logits, expected = module(torch.from_numpy(state.observation_tensor(SPEC)[None]))
    legal = state.legal_actions()
    probabilities = torch.softmax(logits[0, legal], 0).numpy()
    np.testing.assert_allclose(policy[0, legal], probabilities, atol=1e-5)
    np.testing.assert_allclose(value, expected[0].numpy(), atol=1e-5)
    engine = pyengine.Engine("tic_tac_toe", file, batch_size=5, simulations=60)
    assert engine.search(state).visits.sum() == 60  # any batch size is supported


class WithBoard(Net):
    """Also predicts the final board."""

    def __init__(self, scale: float = 1.0, points: int = 9) -> None:
        super().__init__()
        self.scale = scale
        self.ownership = torch.nn.Linear(36, points)
        self.score = torch.nn.Linear(36, 1)

    def forward(self, planes: Any) -> Any:
        body = self.body(planes)
        policy, value = super().forward(planes)
        ownership = torch.tanh(self.ownership(body)) + self.scale - 1
        return policy, value, ownership.unflatten(1, (3, -1)), self.score(body)


class Owner(WithBoard):
    def forward(self, planes: Any) -> Any:
        return super().forward(planes)[:3]


def test_the_final_board_outputs_of_a_module_are_exported(tmp_path: Path) -> None:
    spec = ModelSpec(
        planes=SPEC.planes, rows="bottom_up", ownership_output="territory", score_output="lead"
    )
    module, file = WithBoard().eval(), tmp_path / "net.onnx"
    train.export_module(module, "tic_tac_toe", spec, file)
    state = pyengine.load_game("tic_tac_toe").new_initial_state([4, 0])
    result = pyengine.Engine("tic_tac_toe", file).search(state, simulations=10)
    with torch.no_grad():
        outputs = module(torch.from_numpy(state.observation_tensor(spec)[None]))
    expected = outputs[2][0].numpy()
    np.testing.assert_allclose(result.ownership, expected[::-1], atol=1e-5)
    assert result.score == pytest.approx(outputs[3].item(), abs=1e-4)


@pytest.mark.parametrize(
    ("module", "message"),
    [
        (Net(), r"expected \(policy, value, ownership\), got 2 parts"),
        (WithBoard(), r"expected \(policy, value, ownership\), got 4 parts"),
        (Owner(scale=2.0), r"expected ownership in \[-1, 1\], got [12]\.\d+"),
        (Owner(scale=float("nan")), "ownership has numbers that are not finite"),
        (Owner(points=6), r"expected ownership as numbers of shape \[\d+, 3, 3\], got .*3, 2\]"),
    ],
    ids=["too few", "too many", "beyond 1", "not finite", "another board"],
)
def test_invalid_final_board_outputs_are_refused(module: Any, message: str, tmp_path: Path) -> None:
    spec = ModelSpec(planes=SPEC.planes, ownership_output="ownership")
    with pytest.raises(ConfigError, match=message):
        train.export_module(module, "tic_tac_toe", spec, tmp_path / "net.onnx")
    assert list(tmp_path.iterdir()) == []


def test_a_transposed_board_is_refused(tmp_path: Path) -> None:
    class Aside(torch.nn.Module):
        def forward(self, planes: Any) -> Any:
            first = planes[:, 0]
            return first[:, 0], torch.tanh(first.sum((1, 2)))[:, None], first.mT

    spec = ModelSpec(planes=SPEC.planes, ownership_output="ownership")
    with pytest.raises(ConfigError, match=r"ownership .* \[64, 6, 7\], got \[64, 7, 6\]"):
        train.export_module(Aside(), "connect_four", spec, tmp_path / "net.onnx")


def test_a_module_may_predict_only_the_score(tmp_path: Path) -> None:
    class Scored(WithBoard):
        def forward(self, planes: Any) -> Any:
            policy, value, _, score = super().forward(planes)
            return policy, value, score

    spec = ModelSpec(planes=SPEC.planes, score_output="score")
    train.export_module(Scored(), "tic_tac_toe", spec, tmp_path / "net.onnx")
    evaluator = pyengine.OnnxEvaluator(tmp_path / "net.onnx")
    states = [pyengine.load_game("tic_tac_toe").new_initial_state()]
    ownership, score = evaluator.evaluate_final_board(states)
    assert ownership is None
    assert score is not None


def test_a_module_with_win_draw_loss_is_exported(tmp_path: Path) -> None:
    spec = ModelSpec(planes=("own[0]", "opp[0]"), value=("loss", "draw", "win"))

    class Wdl(Net):
        def last(self, value: Any) -> Any:
            return value

    report = train.export_module(Wdl(values=3), "tic_tac_toe", spec, tmp_path / "wdl.onnx")
    assert report.positions > 10


def test_a_python_game_with_custom_planes_is_supported(tmp_path: Path) -> None:
    class Seen(Matches):
        def observation_tensor(self) -> Any:
            return np.full((1, 1, 3), self.left / 11, np.float32)

    game = ToyGame(Seen)
    module = Net(points=3, actions=3, planes=1)
    spec = ModelSpec(planes=("observation",))
    report = train.export_module(module, game, spec, tmp_path / "net.onnx")
    assert report.positions > 0


@pytest.mark.parametrize(
    ("module", "error", "message"),
    [
        (Forgetful(), ConfigError, r"value must lie in \[-1, 1\] .*value_kind"),
        (Net(actions=8), ConfigError, r"policy as numbers of shape \[\d+,9\]"),
        (Softmax(), ConfigError, 'expected logits, .* got a policy of prob.*policy="probs"'),
        (Sigmoid(), ModelError, 'value_kind: expected "tanh".*, got "probs": .* ends in Sigmoid'),
        (Alone(), ConfigError, r"expected \(policy, value\), got Tensor"),
        (3, ConfigError, "module: expected a torch.nn.Module, got 3"),
    ],
    ids=["no tanh", "another game", "probabilities", "a sigmoid", "no value", "no module"],
)
def test_a_module_with_invalid_outputs_is_refused(
    module: Any, error: type[Exception], message: str, tmp_path: Path
) -> None:
    with pytest.raises(error, match=message):
        train.export_module(module, "tic_tac_toe", SPEC, tmp_path / "net.onnx")
    assert list(tmp_path.iterdir()) == []


class Branching(Net):
    def forward(self, planes: Any) -> Any:
        policy, value = super().forward(planes)
        return (policy, value) if float(value.sum()) < 1e9 else (value, policy)


def test_an_export_prints_nothing_and_its_error_is_one_line(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], recwarn: pytest.WarningsRecorder
) -> None:
    with pytest.raises(train.TrainingError) as error:
        train.export_module(Branching(), "tic_tac_toe", SPEC, tmp_path / "net.onnx")
    assert re.fullmatch(r"PyTorch cannot export Branching: .{20,200}", str(error.value))
    assert tuple(capfd.readouterr()) == ("", "")
    assert not recwarn.list
    assert list(tmp_path.iterdir()) == []
