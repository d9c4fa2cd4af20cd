"""Auxiliary heads: training, and export of ownership and score."""

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
from pyengine import Dataset, ModelSpec, train
from pyengine.train import LossConfig, NetworkConfig, TrainConfig
from pyengine.train.loop.state import RunFolder
from pyengine.train.loop.team import windows_on
from synthetic_data import AUXILIARY, small_config

torch = pytest.importorskip("torch", reason="training needs PyTorch: the extra train")
torch.set_num_threads(1)  # these networks are small
pytest.importorskip("onnx", reason="export needs onnx: the extra train")

from pyengine.train.loss import Outputs, losses  # noqa: E402
from pyengine.train.network import new_network  # noqa: E402

LATER = LossConfig(reply_weight=0.15, short_value_weight=0.5, horizons=(2.0, 6.0))
BOARD = LossConfig(ownership_weight=1.5, score_weight=0.0015)
ALL = LATER.replace(ownership_weight=1.5, score_weight=0.0015)
SPEC = ModelSpec()
GO = "go(board_size=5,komi=2.5)"


def config_of(loss: LossConfig = ALL, **network: Any) -> TrainConfig:
    settings = {"blocks": 1, "filters": 8, "value_hidden": 8, **network}
    return small_config(network=NetworkConfig(**settings), loss=loss)


def write_games(path: Path, name: str = GO, *, surprise: bool = False) -> Path:
    """Write random games, some of them unfinished."""
    game, rng = pyengine.load_game(name), random.Random(5)
    plies = [None, None, 12]
    games = [finished(game, SPEC, n, rng, plies=plies[n % 3]) for n in range(12)]
    games = [dataclasses.replace(g, surprise=np.ones(len(g.ply))) for g in games]
    return write(path, game, SPEC, games, surprise=surprise)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_games(tmp_path_factory.mktemp("data") / "go")


@pytest.fixture
def data(folder: Path) -> Dataset:
    return Dataset(folder, reply=True, horizons=ALL.horizons, final_board=True)


def weights_of(*networks: Any) -> dict[str, Any]:
    return {
        f"{number} {name}": tensor.clone()
        for number, network in enumerate(networks)
        for name, tensor in network.state_dict().items()
    }


def assert_contains(weights: dict[str, Any], expected: dict[str, Any]) -> None:
    """Compare bit for bit."""
    assert [n for n, tensor in expected.items() if not torch.equal(weights[n], tensor)] == []


@pytest.mark.parametrize(
    ("kind", "value"), [("alphago_zero", "scalar"), ("convolutional", "wdl"), ("value", "scalar")]
)
def test_auxiliary_heads_do_not_change_the_other_initial_weights(kind: str, value: str) -> None:
    planes = torch.randn(4, 3, 5, 5)
    plain, later, network = (
        new_network(config_of(loss, kind=kind, value=value), 3, (5, 5), 26)
        for loss in (LossConfig(), LATER, ALL)
    )
    assert_contains(weights_of(later), weights_of(plain))
    assert_contains(weights_of(network), weights_of(later))
    added = network.state_dict().keys() - plain.state_dict().keys()
    heads = {f"auxiliary.{name}" for name in ("reply", "values", "ownership", "score")}
    assert {".".join(name.split(".")[:2]) for name in added} == heads
    policy, evaluated, outputs = network.train()(planes)
    assert outputs["reply"].shape == policy.shape == (4, 26)
    assert outputs["short_values"].shape == (4, 2)
    assert outputs["short_values"].abs().max() <= 1
    assert outputs["ownership"].shape == (4, 5, 5)
    assert outputs["score"].shape == (4,)
    for output, expected in zip((policy, evaluated), plain.train()(planes), strict=True):
        assert torch.equal(output, expected)
    assert len(network.eval()(planes)) == 2


@pytest.mark.parametrize("target", AUXILIARY)
def test_each_loss_weight_adds_its_head(target: str) -> None:
    name = "short_values" if target == "short_value" else target
    network = new_network(config_of(LossConfig(**{f"{target}_weight": 1.0})), 3, (5, 5), 26)
    planes = torch.randn(2, 3, 5, 5)
    assert network.train()(planes)[2].keys() == {name}
    assert network.eval().final_board(planes).keys() == {name} & {"ownership", "score"}
    assert new_network(config_of(LossConfig()), 3, (5, 5), 26).auxiliary is None


def random_batch(rows: int = 7) -> tuple[Outputs, dict[str, Any]]:
    torch.manual_seed(0)
    batch = {
        "policy": torch.softmax(torch.randn(rows, 5), 1),
        "value": torch.randn(rows).clamp(-1, 1),
        "full": torch.arange(rows) % 4 != 1,
        "reply": torch.softmax(torch.randn(rows, 5), 1),
        "replied": torch.arange(rows) % 3 != 1,
        "short_values": torch.rand(rows, 2) * 2 - 1,
        "ownership": torch.randint(-1, 2, (rows, 3, 3)).float(),
        "score": torch.tensor([0.5, -30.0, 3.0, 40.0, -1.5, 0.0, 7.0][:rows]),
        "ended": torch.arange(rows) % 3 != 2,
    }
    heads = {
        "reply": torch.randn(rows, 5),
        "short_values": torch.tanh(torch.randn(rows, 2)),
        "ownership": torch.randn(rows, 3, 3),
        "score": torch.randn(rows) * 10,
    }
    return Outputs(torch.randn(rows, 5), torch.randn(rows, 1), heads), batch


def test_the_loss_is_the_weighted_sum() -> None:
    outputs, batch = random_batch()
    plain = losses([outputs._replace(heads={})], [batch], LossConfig())
    loss = losses([outputs], [batch], ALL)
    heads = {name: array.numpy().astype(np.float64) for name, array in outputs.heads.items()}
    log_p = heads["reply"] - np.log(np.exp(heads["reply"]).sum(1, keepdims=True))
    reply = -(batch["reply"].numpy() * log_p).sum(1)[batch["replied"].numpy()].mean()
    squares = ((heads["short_values"] - batch["short_values"].numpy()) ** 2).mean()
    own, target = (1 + np.tanh(heads["ownership"])) / 2, (1 + batch["ownership"].numpy()) / 2
    entropy = -(target * np.log(own) + (1 - target) * np.log(1 - own)).mean(axis=(1, 2))
    off = np.abs(heads["score"] - batch["score"].numpy())
    assert (off > 12).any()
    assert (off <= 12).any()
    huber = np.where(off <= 12, 0.5 * off**2, 12 * (off - 6))
    ended = batch["ended"].numpy()
    terms = (reply, squares, entropy[ended].mean(), huber[ended].mean())
    for name, term in zip(AUXILIARY, terms, strict=True):
        assert getattr(loss, name).item() == pytest.approx(term, rel=1e-5)
    expected = plain.total.item() + np.dot(terms, (0.15, 0.5, 1.5, 0.0015))
    assert loss.total.item() == pytest.approx(expected, rel=1e-5)
    assert losses([outputs], [batch], LossConfig()).total.item() == plain.total.item()


def test_the_loss_of_a_split_batch_equals_that_of_the_whole() -> None:
    outputs, batch = random_batch()
    logits, value, heads = outputs
    whole = losses([outputs], [batch], ALL)
    for cut in (2, 5):
        pieces = [slice(0, cut), slice(cut, 7)]
        parts = [{name: column[piece] for name, column in batch.items()} for piece in pieces]
        split = [
            Outputs(
                logits[piece], value[piece], {name: head[piece] for name, head in heads.items()}
            )
            for piece in pieces
        ]
        loss = losses(split, parts, ALL)
        for name in ("total", "policy", "value", "divergence", *AUXILIARY):
            torch.testing.assert_close(getattr(loss, name), getattr(whole, name))


def test_rows_without_a_target_have_no_gradient() -> None:
    outputs, batch = random_batch()
    batch["replied"][:] = batch["ended"][:] = False
    for tensor in outputs.heads.values():
        tensor.requires_grad_()
    loss = losses([outputs], [batch], ALL)
    assert (loss.reply.item(), loss.ownership.item(), loss.score.item()) == (0, 0, 0)
    loss.total.backward()
    assert all(not outputs[2][name].grad.any() for name in ("reply", "ownership", "score"))


def test_the_heads_learn_and_their_losses_are_logged(data: Dataset, tmp_path: Path) -> None:
    reports: list[train.StepReport] = []
    with train.Learner(config_of(), data, tmp_path, on_progress=reports.append) as learner:
        learner.train(30)
    lines = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    for name in AUXILIARY:
        values = [getattr(report, name) for report in reports]
        assert values[-1] < values[0]
        assert [line[name] for line in lines] == values


def test_unused_targets_do_not_change_weights_or_reports(
    data: Dataset, folder: Path, tmp_path: Path
) -> None:
    reports: list[train.StepReport] = []
    config = config_of(LossConfig())
    with train.Learner(config, data, tmp_path / "a", on_progress=reports.append) as learner:
        learner.train(5)
        expected = weights_of(learner.network)
    assert [getattr(reports[0], name) for name in AUXILIARY] == [None] * 4
    line = json.loads((tmp_path / "a" / "log.jsonl").read_text())
    assert line.keys().isdisjoint(AUXILIARY)
    with train.Learner(config, Dataset(folder), tmp_path / "b") as learner:
        learner.train(5)
        assert_contains(weights_of(learner.network), expected)


def test_horizons_may_change_while_their_weight_is_0() -> None:
    def fixed(weight: float, horizon: float) -> dict[str, Any]:
        return config_of(LossConfig(short_value_weight=weight, horizons=(horizon,))).fixed()

    assert fixed(0.0, 2.0) == fixed(0.0, 3.0)
    assert fixed(0.5, 2.0) != fixed(0.5, 3.0)


@pytest.mark.parametrize(
    ("kind", "games", "rows"),
    [
        ("alphago_zero", [GO], "bottom_up"),
        ("convolutional", ["othello(board_size=6)", "othello(board_size=8)"], "bottom_up"),
        ("value", [GO], "top_down"),
    ],
)
def test_an_exported_network_predicts_the_final_board_as_pytorch_does(
    kind: str, games: list[str], rows: str, tmp_path: Path
) -> None:
    ort = pytest.importorskip("onnxruntime")
    data = Dataset(write_games(tmp_path / "data", games[0]), final_board=True)
    with train.Learner(config_of(BOARD, kind=kind), data, tmp_path / "run") as learner:
        learner.train(2)
        network = learner.exported.eval()
    path, spec = tmp_path / "network.onnx", SPEC.replace(rows=rows)
    assert train.export(network, games, spec, path, final_board=True).difference < 1e-4
    session = ort.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    assert names == ["policy", "value", "ownership", "score"]
    rng = np.random.default_rng(0)
    for game in games:
        board = pyengine.load_game(game).board_shape
        planes = rng.integers(0, 2, (5, 3, *board)).astype(np.float32)
        with torch.no_grad():
            policy, value = network(torch.from_numpy(planes))
            final = network.final_board(torch.from_numpy(planes))
        expected = (policy, value, final["ownership"], final["score"])
        assert final["ownership"].abs().max() <= 1
        for output, tensor in zip(session.run(None, {"planes": planes}), expected, strict=True):
            np.testing.assert_allclose(output, tensor.numpy(), rtol=1e-4, atol=1e-4)
    written_spec = pyengine.OnnxEvaluator(path).spec
    assert written_spec is not None
    assert (written_spec.ownership_output, written_spec.score_output) == ("ownership", "score")


def test_an_export_omits_auxiliary_heads_by_default(tmp_path: Path) -> None:
    network = new_network(config_of(), 3, (5, 5), 26).eval()
    report = train.export(network, GO, SPEC, tmp_path / "network.onnx")
    import onnx

    graph = onnx.load(report.path).graph
    assert [output.name for output in graph.output] == ["policy", "value"]
    heads = ("reply", "score", "own", "short")
    assert not [node.name for node in graph.node if any(head in node.name for head in heads)]
    spec = pyengine.OnnxEvaluator(report.path).spec
    assert spec is not None
    assert spec.final_board_outputs == ()
    plain = new_network(config_of(LATER), 3, (5, 5), 26)
    with pytest.raises(pyengine.ConfigError, match="final_board: expected a network that was"):
        train.export(plain, GO, SPEC, tmp_path / "other.onnx", final_board=True)


def test_a_network_with_a_non_finite_final_board_is_not_written(tmp_path: Path) -> None:
    network = new_network(config_of(BOARD), 3, (5, 5), 26).eval()
    with torch.no_grad():
        network.auxiliary.ownership.out.weight[0, 0] = torch.nan  # type: ignore[union-attr]
    with pytest.raises(train.TrainingError, match="is not written"):
        train.export(network, GO, SPEC, tmp_path / "network.onnx", final_board=True)
    assert list(tmp_path.iterdir()) == []
    train.export(network, GO, SPEC, tmp_path / "network.onnx")


RUN = f"""
[game]
name = "{GO}"
[selfplay]
record_surprise = true
[window]
surprise_weight = 0.5
[train.loss]
reply_weight = 0.15
short_value_weight = 0.5
horizons = [2, 6]
ownership_weight = 1.5
"""


def test_a_run_reads_the_targets_of_its_loss(tmp_path: Path) -> None:
    run, folder = train.RunFile.from_toml(RUN), RunFolder(tmp_path)
    write_games(folder.data(GO), surprise=True)
    (data,) = windows_on(run, folder, [20])
    assert data.horizons == run.train.loss.horizons == (2, 6)
    assert {"reply", "ownership", "score", "ended"} <= data[0].keys()
    assert data._targets.surprise_weight == 0.5
    (plain,) = windows_on(train.RunFile.from_toml(RUN.split("[train")[0]), folder, [20])
    targets = {"reply", "replied", "short_values", "ownership", "score", "ended"}
    assert plain[0].keys().isdisjoint(targets)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, r"to return reply .*reply=True"),
        ({"reply": True}, r"to return ended .*final_board=True"),
        ({"reply": True, "final_board": True}, r"to return short_values .*horizons=\[2\.0, 6\.0\]"),
        ({"reply": True, "horizons": (2.0, 7.0)}, r"horizons of the loss, .*got \[2\.0, 7\.0\]"),
    ],
)
def test_data_without_required_targets_are_refused(
    settings: dict[str, Any], message: str, folder: Path, tmp_path: Path
) -> None:
    with pytest.raises(pyengine.ConfigError, match=message):
        train.Learner(config_of(), Dataset(folder, **settings), tmp_path)


def test_a_game_without_a_score_is_refused(tmp_path: Path) -> None:
    four = Dataset(write_games(tmp_path / "four", "connect_four"), final_board=True)
    with pytest.raises(pyengine.ConfigError, match=r"to return score .*Go or Othello"):
        train.Learner(config_of(BOARD), four, tmp_path / "run")
