"""Export of any PyTorch module to ONNX."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyengine
from pyengine import ConfigError, ModelError, ModelSpec
from pyengine.games import as_game
from toy_games import Matches, ToyGame

torch = pytest.importorskip("torch", reason="torch is absent (extra `train`)")
pytest.importorskip("onnxscript", reason="onnxscript is absent (extra `train`)")

from pyengine import train  # noqa: E402

SPEC = ModelSpec(planes=("own[0]", "opp[0]"))
WITH_OWNERSHIP = SPEC.replace(ownership_output="territory")


class Net(torch.nn.Module):
    """A convolution and two heads; dropout and batch norm differ in training mode.

    ``change`` maps the outputs (policy, value before tanh, ownership before tanh, score).
    """

    def __init__(
        self,
        change: Any = lambda policy, value, *_: (policy, torch.tanh(value)),
        *,
        planes: int = 2,
        points: int = 9,
        actions: int = 9,
        values: int = 1,
    ) -> None:
        super().__init__()
        self.body = torch.nn.Sequential(
            torch.nn.Conv2d(planes, 4, 3, padding=1),
            torch.nn.BatchNorm2d(4),
            torch.nn.ReLU(),
            torch.nn.Dropout(0.5),
            torch.nn.Flatten(),
        )
        widths = (actions, values, points, 1)
        self.heads = torch.nn.ModuleList(torch.nn.Linear(4 * points, width) for width in widths)
        self.change = change

    def forward(self, planes: Any) -> Any:
        body = self.body(planes)
        return self.change(*[head(body) for head in self.heads])


def with_board(policy: Any, value: Any, ownership: Any, score: Any) -> Any:
    return policy, torch.tanh(value), torch.tanh(ownership).unflatten(1, (3, 3)), score


def test_an_exported_module_evaluates_as_in_pytorch(tmp_path: Path) -> None:
    spec = WITH_OWNERSHIP.replace(rows="bottom_up", score_output="lead")
    module, file = Net(with_board), tmp_path / "net.onnx"
    module.train()
    report = train.export_module(module, "tic_tac_toe", spec, file, metadata={"step": 7})
    assert module.training  # unchanged
    assert report.path == file
    assert report.difference <= train.export_check.TOLERANCE
    state = pyengine.load_game("tic_tac_toe").new_initial_state([4, 0])
    policy, value = pyengine.OnnxEvaluator(file).evaluate([state])  # with the embedded spec
    with torch.no_grad():
        outputs = module.eval()(torch.from_numpy(state.observation_tensor(spec)[None]))
    legal = state.legal_actions()
    probabilities = torch.softmax(outputs[0][0, legal], 0).numpy()
    np.testing.assert_allclose(policy[0, legal], probabilities, atol=1e-5)
    np.testing.assert_allclose(value, outputs[1][0].numpy(), atol=1e-5)
    result = pyengine.Engine("tic_tac_toe", file, batch_size=5).search(state, simulations=60)
    assert result.visits.sum() == 60  # any batch size is supported
    np.testing.assert_allclose(result.ownership, outputs[2][0].numpy()[::-1], atol=1e-5)
    assert result.score == pytest.approx(outputs[3].item(), abs=1e-4)


def test_a_module_for_a_python_game_may_return_win_draw_loss_and_only_a_score(
    tmp_path: Path,
) -> None:
    class Seen(Matches):
        def observation_tensor(self) -> Any:
            return np.full((1, 1, 3), self.left / 11, np.float32)

    game = ToyGame(Seen)
    spec = ModelSpec(planes=("observation",), value=("loss", "draw", "win"), score_output="score")
    module = Net(lambda p, v, _, score: (p, v, score), planes=1, points=3, actions=3, values=3)
    train.export_module(module, game, spec, tmp_path / "net.onnx")
    evaluator = pyengine.OnnxEvaluator(tmp_path / "net.onnx")
    played = as_game(game)
    ownership, score = evaluator.evaluate_final_board([played.new_initial_state()], game=played)
    assert ownership is None
    assert score is not None


@pytest.mark.parametrize(
    ("module", "spec", "error", "message"),
    [
        (Net(lambda p, v, *_: (p, v + 3)), SPEC, ConfigError, r"value must lie in \[-1, 1\]"),
        (Net(actions=8), SPEC, ConfigError, r"policy as numbers of shape \[\d+,9\]"),
        (
            Net(lambda p, v, *_: (torch.softmax(p, 1), torch.tanh(v))),
            SPEC,
            ConfigError,
            'got a policy of prob.*policy="probs"',
        ),
        (
            Net(lambda p, v, *_: (p, torch.sigmoid(v))),
            SPEC,
            ModelError,
            'value_kind: expected "tanh".* ends in Sigmoid',
        ),
        (Net(lambda policy, *_: policy), SPEC, ConfigError, "expected .*, got Tensor"),
        (3, SPEC, ConfigError, "expected a torch.nn.Module"),
        (Net(), WITH_OWNERSHIP, ConfigError, "got 2 parts"),
        (Net(with_board), WITH_OWNERSHIP, ConfigError, "got 4 parts"),
        (
            Net(lambda p, v, board, _: (p, torch.tanh(v), board.unflatten(1, (1, 9)).mT[:, :6])),
            WITH_OWNERSHIP,
            ConfigError,
            r"ownership as numbers of shape \[\d+, 3, 3\]",
        ),
    ],
    ids=[
        "no tanh",
        "another game",
        "probabilities",
        "a sigmoid",
        "no value",
        "no module",
        "no ownership",
        "too many outputs",
        "another board",
    ],
)
def test_a_module_with_invalid_outputs_is_refused(
    module: Any, spec: ModelSpec, error: type[Exception], message: str, tmp_path: Path
) -> None:
    with pytest.raises(error, match=message):
        train.export_module(module, "tic_tac_toe", spec, tmp_path / "net.onnx")
    assert list(tmp_path.iterdir()) == []


def test_an_export_prints_nothing_and_its_error_is_one_line(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], recwarn: pytest.WarningsRecorder
) -> None:
    def branching(policy: Any, value: Any, *_: Any) -> Any:
        value = torch.tanh(value)
        return (policy, value) if float(value.sum()) < 1e9 else (value, policy)

    with pytest.raises(train.TrainingError) as error:
        train.export_module(Net(branching), "tic_tac_toe", SPEC, tmp_path / "net.onnx")
    assert re.fullmatch(r"PyTorch cannot export Net: .{20,200}", str(error.value))
    assert tuple(capfd.readouterr()) == ("", "")
    assert not recwarn.list
    assert list(tmp_path.iterdir()) == []
