"""Networks for several board sizes."""

from __future__ import annotations

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

from pyengine.train.blocks import ConvNorm  # noqa: E402

SMALL, LARGE = "gomoku(board_size=6)", "gomoku(board_size=9)"


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
    torch.testing.assert_close(layer[1].running_var, 0.9 + 0.1 * points.var(1))
    layer.eval()
    for output, board in zip(layer(boards), boards, strict=True):
        torch.testing.assert_close(output, layer(board))


def test_batches_sample_each_board_by_its_weight(tmp_path: Path) -> None:
    data = [SyntheticData(SMALL), SyntheticData(LARGE)]
    with train.Learner(config_of(), data, tmp_path, weights=[1, 2]) as learner:
        counts = []
        for learner.step in range(60):
            planes, _ = learner._batch()
            small, large = planes
            assert (small.shape[2], large.shape[2]) == (6, 9)
            assert len(small) + len(large) == 64
            counts.append(len(small))
        learner.step = 0
        for weights in ([1], [1, -1], [0, 0]):
            with pytest.raises(pyengine.ConfigError, match="weights: expected 2 numbers >= 0"):
                learner.set_data(data, weights)
    assert set(counts) == {21, 22}  # 64 / 3 on average
    assert np.mean(counts) == pytest.approx(64 / 3, abs=0.2)


@pytest.mark.parametrize(
    ("network", "games"),
    [
        ({"kind": "value"}, [SMALL, LARGE]),
        ({"kind": "convolutional"}, ["go(board_size=5)", "go(rows=3,columns=7)"]),
        ({"inner_blocks": 1, "normalisation": "once"}, [SMALL, LARGE]),
        ({"kind": "alphago_zero"}, ["tic_tac_toe", "mnk(rows=3,columns=3,k=2)"]),
    ],
)
def test_several_games_train_one_network(
    network: dict[str, Any], games: list[str], tmp_path: Path
) -> None:
    weights = {f"{name}_weight": 0.1 for name in AUXILIARY}
    config = config_of(blocks=1, **network).replace(loss=LossConfig(horizons=(6,), **weights))
    data = [SyntheticData(game, later=True) for game in games]
    with train.Learner(config, data, tmp_path) as learner:
        assert learner.train(3)


def test_resuming_on_several_boards_is_bit_identical(tmp_path: Path) -> None:
    data = [SyntheticData(SMALL), SyntheticData(LARGE)]
    with train.Learner(config_of(), data, tmp_path / "one") as learner:
        learner.train(6)
        whole = learner.network.state_dict()
    for steps in (2, 4):
        with train.Learner(config_of(), data, tmp_path / "two", resume=True) as learner:
            learner.train(steps)
            resumed = learner.network.state_dict()
    assert all(torch.equal(whole[name], resumed[name]) for name in whole)
