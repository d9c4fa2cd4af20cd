"""Networks for several board sizes."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyengine
from pyengine import train
from pyengine.train import LearnerConfig, LossConfig, NetworkConfig, TrainConfig
from synthetic_data import AUXILIARY, SyntheticData, small_config

torch = pytest.importorskip("torch", reason="training needs PyTorch: the extra train")
torch.set_num_threads(1)  # these networks are small
pytest.importorskip("onnx", reason="export needs onnx: the extra train")

from pyengine.train.blocks import ConvNorm  # noqa: E402

SMALL, LARGE = "gomoku(board_size=6)", "gomoku(board_size=9)"


def data_of(game: str) -> SyntheticData:
    """Return positions; the policy prefers points next to stones, the value counts stones."""
    data = SyntheticData(game, 300)
    stones = torch.from_numpy(data.rows["planes"][:, :2])
    near = torch.nn.functional.conv2d(stones, torch.ones(1, 2, 3, 3), padding=1)[:, 0]
    logits = (near - 20 * stones.sum(1)).flatten(1)
    data.rows["policy"] = torch.softmax(logits, 1).numpy()
    data.rows["value"] = torch.tanh(stones[:, 0].sum((1, 2)) / 5 - 3).numpy()
    return data


def config_of(**network: Any) -> TrainConfig:
    settings = {"kind": "convolutional", "blocks": 2, "filters": 16, **network}
    return small_config(
        network=NetworkConfig(**settings),
        learner=LearnerConfig(batch_size=64, threads=1, device="cpu", augment=False),
    )


def test_the_boards_of_a_batch_share_normalisation_statistics() -> None:
    torch.manual_seed(0)
    layer = ConvNorm(2, 3, 1).double()
    boards = [torch.randn(4, 2, 5, 5).double(), 3 * torch.randn(2, 2, 3, 4).double() + 1]
    for board in boards:
        board.requires_grad_()
    normalised = layer(boards)
    points = torch.cat([layer[0](x).permute(1, 0, 2, 3).reshape(3, -1) for x in boards], 1)
    mean, deviation = points.mean(1), (points.var(1, unbiased=False) + layer[1].eps).sqrt()
    expected = [
        (layer[0](x) - mean[:, None, None]) / deviation[:, None, None] for x in boards
    ]  # scale and shift are initially 1 and 0
    weights = [torch.randn_like(x) for x in expected]
    gradients = []
    for outputs in (normalised, expected):
        for output, other in zip(outputs, expected, strict=True):
            torch.testing.assert_close(output, other)
        total = sum((x * w).sum() for x, w in zip(outputs, weights, strict=True))
        gradients.append(torch.autograd.grad(total, [*boards, layer[0].weight]))
    torch.testing.assert_close(*gradients)
    torch.testing.assert_close(layer[1].running_mean, 0.1 * mean)
    layer.eval()
    for output, board in zip(layer(boards), boards, strict=True):
        torch.testing.assert_close(output, layer(board))


def test_batches_sample_each_board_by_its_weight(tmp_path: Path) -> None:
    data = [data_of(SMALL), data_of(LARGE)]
    with train.Learner(config_of(), data, tmp_path, weights=[1, 2]) as learner:
        counts = []
        for learner.step in range(60):
            parts = learner._batch()
            shapes = [part["planes"].shape[2] for part in parts]
            assert shapes == [6, 9]
            counts.append(len(parts[0]["planes"]))
            assert sum(len(part["planes"]) for part in parts) == 64
        learner.step = 0
        for weights in ([1], [1, -1], [0, 0]):
            with pytest.raises(pyengine.ConfigError, match="weights: expected 2 numbers >= 0"):
                learner.set_data(data, weights)
    assert set(counts) == {21, 22}  # 64 / 3 on average
    assert np.mean(counts) == pytest.approx(64 / 3, abs=0.2)


@pytest.mark.parametrize(
    ("kind", "games"),
    [
        ("value", [SMALL, LARGE]),
        ("convolutional", ["go(board_size=5)", "go(rows=3,columns=7)"]),
        ("alphago_zero", ["tic_tac_toe", "mnk(rows=3,columns=3,k=2)"]),
    ],
)
def test_several_games_train_one_network(kind: str, games: list[str], tmp_path: Path) -> None:
    weights = {f"{name}_weight": 0.1 for name in AUXILIARY}
    config = config_of(kind=kind, blocks=1).replace(loss=LossConfig(horizons=(6,), **weights))
    data = [SyntheticData(game, later=True) for game in games]
    with train.Learner(config, data, tmp_path) as learner:
        assert learner.train(3)


def test_the_exported_network_agrees_with_training_on_every_board(tmp_path: Path) -> None:
    data = [data_of(SMALL), data_of(LARGE)]
    with train.Learner(config_of(), data, tmp_path) as learner:
        learner.train(60)
        network = copy.deepcopy(learner.network)
        rng = np.random.default_rng(1)
        rows = [source.sample(256, rng) for source in data]
        games = [source.game for source in data]
        path = tmp_path / "network.onnx"
        train.export(learner.exported, games, learner.spec, path)
    import onnxruntime

    session = onnxruntime.InferenceSession(path.read_bytes(), providers=["CPUExecutionProvider"])
    for batch in rows:  # before training mode updates the statistics
        exported = session.run(["policy"], {"planes": batch["planes"]})[0]
        with torch.no_grad():
            running = network.eval()(torch.from_numpy(batch["planes"]))[0]
        np.testing.assert_allclose(exported, running.numpy(), atol=1e-3)
    with torch.no_grad():
        trained = network.train()([torch.from_numpy(batch["planes"]) for batch in rows])
    for (logits, value), batch in zip(trained, rows, strict=True):
        exported, exported_value = session.run(["policy", "value"], {"planes": batch["planes"]})
        policy = torch.softmax(logits, 1).numpy()
        difference = np.abs(policy - torch.softmax(torch.from_numpy(exported), 1).numpy())
        assert difference.max() < 0.1
        values = (value.numpy(), exported_value)
        errors = [float(np.mean((v[:, 0] - batch["value"]) ** 2)) for v in values]
        assert errors[1] < 2 * errors[0] + 0.02


def test_resuming_on_several_boards_is_bit_identical(tmp_path: Path) -> None:
    data = [data_of(SMALL), data_of(LARGE)]
    with train.Learner(config_of(), data, tmp_path / "one") as learner:
        learner.train(6)
        whole = learner.network.state_dict()
    for steps in (2, 4):
        with train.Learner(config_of(), data, tmp_path / "two", resume=True) as learner:
            learner.train(steps)
            resumed = learner.network.state_dict()
    assert all(torch.equal(whole[name], resumed[name]) for name in whole)
