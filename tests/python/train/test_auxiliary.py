"""Auxiliary heads: they teach the tower, and leave no trace in what plays."""

from __future__ import annotations

import dataclasses
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyengine
from data_games import finished, write
from loss_parts import assert_parts_are_the_whole
from pyengine import Dataset, ModelSpec, train
from pyengine.train import LearnerConfig, LossConfig, NetworkConfig, OptimiserConfig, TrainConfig
from pyengine.train.loop.state import RunFolder
from pyengine.train.loop.team import windows_on
from synthetic_data import SyntheticData

torch = pytest.importorskip("torch", reason="training needs PyTorch: the extra train")

from pyengine.train import checkpoint  # noqa: E402
from pyengine.train.loss import losses  # noqa: E402
from pyengine.train.network import new_network  # noqa: E402

BOTH = LossConfig(reply_weight=0.15, short_value_weight=0.5, horizons=(2.0, 6.0))
SPEC = ModelSpec()


def config_of(loss: LossConfig = BOTH, **network: Any) -> TrainConfig:
    """Return small settings."""
    return TrainConfig(
        network=NetworkConfig(blocks=1, filters=8, value_hidden=8, **network),
        loss=loss,
        optimiser=OptimiserConfig(schedule="constant", learning_rate=0.05),
        learner=LearnerConfig(batch_size=32, threads=1, log_steps=5, device="cpu"),
    )


def written(path: Path, name: str = "tic_tac_toe", *, surprise: bool = False) -> Path:
    """Write random games."""
    game, rng = pyengine.load_game(name), random.Random(5)
    games = [finished(game, SPEC, n, rng, plies=30) for n in range(30)]
    games = [dataclasses.replace(one, surprise=np.ones(len(one.ply))) for one in games]
    return write(path, game, SPEC, games, surprise=surprise)


@pytest.fixture
def data(tmp_path: Path) -> Dataset:
    return Dataset(written(tmp_path / "data"), reply=True, horizons=BOTH.horizons)


def weights_of(network: Any) -> dict[str, Any]:
    return {name: tensor.clone() for name, tensor in network.state_dict().items()}


@pytest.mark.parametrize("kind", ["alphago_zero", "convolutional", "value"])
@pytest.mark.parametrize("value", ["scalar", "wdl"])
def test_the_other_weights_begin_as_they_do_without_the_heads(kind: str, value: str) -> None:
    board, actions = (5, 5), 26
    plain = new_network(config_of(LossConfig(), kind=kind, value=value), 3, board, actions)
    network = new_network(config_of(kind=kind, value=value), 3, board, actions)
    own, others = weights_of(plain), weights_of(network)
    assert all(torch.equal(others[name], tensor) for name, tensor in own.items())
    assert {name.split(".")[0] for name in others.keys() - own.keys()} == {"auxiliary"}
    planes = torch.randn(4, 3, 5, 5)
    policy, evaluated, said = network.train()(planes)
    assert said["reply"].shape == policy.shape == (4, 26)
    assert said["short_values"].shape == (4, 2)
    assert said["short_values"].abs().max() <= 1
    for found, expected in zip((policy, evaluated), plain.train()(planes), strict=True):
        assert torch.equal(found, expected)
    assert len(network.eval()(planes)) == 2


def test_each_weight_brings_its_own_head() -> None:
    only_reply = new_network(config_of(LossConfig(reply_weight=1)), 3, (3, 3), 9)
    assert only_reply.train()(torch.randn(2, 3, 3, 3))[2].keys() == {"reply"}
    only_values = new_network(config_of(LossConfig(short_value_weight=1)), 3, (3, 3), 9)
    assert only_values.train()(torch.randn(2, 3, 3, 3))[2]["short_values"].shape == (2, 3)
    assert new_network(config_of(LossConfig()), 3, (3, 3), 9).auxiliary is None


def random_batch(rows: int = 7) -> tuple[Any, dict[str, Any]]:
    torch.manual_seed(0)
    batch = {
        "policy": torch.softmax(torch.randn(rows, 5), 1),
        "value": torch.randn(rows).clamp(-1, 1),
        "reply": torch.softmax(torch.randn(rows, 5), 1),
        "replied": torch.arange(rows) % 3 != 1,
        "short_values": torch.rand(rows, 2) * 2 - 1,
    }
    batch["reply"][~batch["replied"]] = 0
    said = {"reply": torch.randn(rows, 5), "short_values": torch.tanh(torch.randn(rows, 2))}
    return (torch.randn(rows, 5), torch.randn(rows, 1), said), batch


def test_the_loss_is_the_weighted_sum() -> None:
    outputs, batch = random_batch()
    plain = losses(outputs[:2], batch, LossConfig())
    found = losses(outputs, batch, BOTH)
    logits, short = outputs[2]["reply"].numpy(), outputs[2]["short_values"].numpy()
    log_p = logits - np.log(np.exp(logits).sum(1, keepdims=True))
    chosen = batch["replied"].numpy()
    reply = -(batch["reply"].numpy() * log_p).sum(1)[chosen].mean()
    squares = ((short - batch["short_values"].numpy()) ** 2).mean()
    assert found.reply.item() == pytest.approx(reply, rel=1e-5)
    assert found.short_value.item() == pytest.approx(squares, rel=1e-5)
    expected = plain.total.item() + 0.15 * reply + 0.5 * squares
    assert found.total.item() == pytest.approx(expected, rel=1e-5)
    assert losses(outputs, batch, LossConfig()).total.item() == plain.total.item()


def test_the_loss_of_parts_is_that_of_all_rows() -> None:
    outputs, batch = random_batch()
    assert_parts_are_the_whole(outputs, batch, BOTH, ("reply", "short_value"))


def test_a_batch_without_a_reply_has_no_loss_of_it() -> None:
    outputs, batch = random_batch()
    batch["replied"][:] = False
    batch["reply"][:] = 0
    assert losses(outputs, batch, BOTH).reply.item() == 0


def test_the_heads_learn_and_the_log_tells(data: Dataset, tmp_path: Path) -> None:
    reports: list[train.StepReport] = []
    run = tmp_path / "run"
    with train.Learner(config_of(), data, run, on_progress=reports.append) as learner:
        learner.train(200)
    first, last = reports[0], reports[-1]
    assert last.reply is not None
    assert first.reply is not None
    assert last.reply < first.reply
    assert last.short_value < first.short_value  # type: ignore[operator]
    lines = [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]
    assert [line["reply"] for line in lines] == [report.reply for report in reports]


def test_horizons_may_change_while_their_weight_is_0(data: Dataset, tmp_path: Path) -> None:
    for weight in (0.0, 0.5):
        path = tmp_path / f"run-{weight}"
        loss = LossConfig(short_value_weight=weight, horizons=(2.0, 6.0))
        with train.Learner(config_of(loss), data, path) as learner:
            learner.train(1)
        other = config_of(dataclasses.replace(loss, horizons=(3.0, 6.0)))
        if weight > 0:
            moved = Dataset(tmp_path / "data", reply=True, horizons=(3.0, 6.0))
            with pytest.raises(pyengine.ConfigError, match="horizons"):
                train.Learner(other, moved, path, resume=True)
        else:
            with train.Learner(other, data, path, resume=True) as learner:
                learner.train(1)


def test_targets_that_are_not_learnt_change_no_weights_and_no_reports(
    data: Dataset, tmp_path: Path
) -> None:
    reports: list[train.StepReport] = []
    config = config_of(LossConfig())
    with train.Learner(config, data, tmp_path / "a", on_progress=reports.append) as learner:
        learner.train(5)
        expected = weights_of(learner.network)
    assert (reports[0].reply, reports[0].short_value) == (None, None)
    line = json.loads((tmp_path / "a" / "log.jsonl").read_text())
    assert line.keys().isdisjoint({"reply", "short_value"})
    plain = Dataset(tmp_path / "data")
    with train.Learner(config, plain, tmp_path / "b") as learner:
        learner.train(5)
        found = weights_of(learner.network)
    assert found.keys() == expected.keys()
    assert all(torch.equal(found[name], tensor) for name, tensor in expected.items())


@pytest.mark.parametrize("average", ["none", "swa"])
def test_going_on_is_the_same_as_never_having_stopped(
    average: str, data: Dataset, tmp_path: Path
) -> None:
    mean = train.AverageConfig(kind=average, every=2, start=2)
    config = dataclasses.replace(config_of(), average=mean)
    with train.Learner(config, data, tmp_path / "one") as learner:
        learner.train(10)
        expected = weights_of(learner.network) | weights_of(learner.exported)
    with train.Learner(config, data, tmp_path / "two") as learner:
        learner.train(5)
    with train.Learner(config, data, tmp_path / "two", resume=True) as learner:
        learner.train(5)
        found = weights_of(learner.network) | weights_of(learner.exported)
    assert all(torch.equal(found[name], tensor) for name, tensor in expected.items())


def test_a_checkpoint_that_does_not_know_the_settings_has_their_defaults(
    data: Dataset, tmp_path: Path
) -> None:
    with train.Learner(config_of(LossConfig()), data, tmp_path / "run") as learner:
        learner.train(2)
    newest = checkpoint.checkpoints(tmp_path / "run")[-1]
    state = checkpoint.load(newest, torch.device("cpu"))
    for name in ("reply_weight", "short_value_weight", "horizons"):
        del state["config"]["loss"][name]
    torch.save(state, newest)
    with train.Learner(config_of(LossConfig()), data, tmp_path / "run", resume=True) as learner:
        assert learner.step == 2
    with pytest.raises(pyengine.ConfigError, match=r"loss\.reply_weight: 0\.0 is now 0\.15"):
        train.Learner(config_of(), data, tmp_path / "run", resume=True)


@pytest.mark.parametrize("kind", ["alphago_zero", "convolutional"])
def test_a_network_that_was_trained_with_them_is_exported_without(
    kind: str, data: Dataset, tmp_path: Path
) -> None:
    onnx = pytest.importorskip("onnx", reason="export needs onnx: the extra train")
    with train.Learner(config_of(kind=kind), data, tmp_path / "run") as learner:
        learner.train(5)
        report = train.export(learner.exported, "tic_tac_toe", SPEC, tmp_path / "network.onnx")
    assert report.difference < 1e-4
    graph = onnx.load(report.path).graph
    assert [output.name for output in graph.output] == ["policy", "value"]
    assert not [node.name for node in graph.node if "reply" in node.name]
    engine = pyengine.Engine("tic_tac_toe", str(report.path), simulations=10)
    assert engine.search(engine.game.new_initial_state()).simulations == 10


def test_boards_of_several_sizes_are_learnt_together(tmp_path: Path) -> None:
    names = ["gomoku(board_size=6,win_length=4)", "gomoku(board_size=8)"]
    data = [
        Dataset(written(tmp_path / str(i), name), reply=True, horizons=BOTH.horizons)
        for i, name in enumerate(names)
    ]
    with train.Learner(config_of(kind="convolutional"), data, tmp_path / "run") as learner:
        assert learner.train(3)


RUN = """
[selfplay]
record_surprise = true
[window]
surprise_weight = 0.5
[game]
name = "tic_tac_toe"
[train.loss]
reply_weight = 0.15
short_value_weight = 0.5
horizons = [2, 6]
"""


def test_a_run_reads_its_data_with_the_targets_of_its_loss(tmp_path: Path) -> None:
    run = train.RunFile.from_toml(RUN)
    folder = RunFolder(tmp_path)
    written(folder.data("tic_tac_toe"), surprise=True)
    (data,) = windows_on(run, folder, [20])
    assert data.horizons == run.train.loss.horizons == (2, 6)
    assert "reply" in data[0]
    assert data._targets.surprise_weight == 0.5
    (plain,) = windows_on(train.RunFile.from_toml(RUN.split("[train")[0]), folder, [20])
    assert plain[0].keys().isdisjoint({"reply", "replied", "short_values"})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, r"data: expected sample\(1, \.\.\.\) to return reply .*reply=True"),
        ({"reply": True}, r"to return short_values .*horizons=\[2\.0, 6\.0\]"),
        ({"reply": True, "horizons": (2.0, 7.0)}, r"horizons of the loss, .*found \[2\.0, 7\.0\]"),
    ],
)
def test_data_without_the_targets_are_refused(
    settings: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(pyengine.ConfigError, match=message):
        train.Learner(config_of(), Dataset(written(tmp_path / "data"), **settings), tmp_path / "r")
    with pytest.raises(pyengine.ConfigError, match="to return reply"):
        train.Learner(config_of(), SyntheticData(), tmp_path / "r")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"reply_weight": -1}, r"loss\.reply_weight: expected a number in \[0, inf\), found -1"),
        ({"short_value_weight": "x"}, r"loss\.short_value_weight: expected a number"),
        ({"horizons": [6, 0]}, r"loss\.horizons: expected a list of positive numbers"),
        ({"short_value_weight": 1, "horizons": []}, r"loss\.horizons: expected at least one"),
    ],
)
def test_wrong_settings_are_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(pyengine.ConfigError, match=message):
        LossConfig.from_dict(settings)
