"""Heads of the game's last board: they learn, and an export may keep them."""

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

torch = pytest.importorskip("torch", reason="training needs PyTorch: the extra train")

from pyengine.train import checkpoint  # noqa: E402
from pyengine.train.loss import losses  # noqa: E402
from pyengine.train.network import new_network  # noqa: E402

BOTH = LossConfig(ownership_weight=1.5, score_weight=0.0015)
SPEC = ModelSpec()
GO = "go(board_size=5,komi=2.5)"


def config_of(loss: LossConfig = BOTH, *, kept: bool = False, **network: Any) -> TrainConfig:
    """Return small settings."""
    return TrainConfig(
        network=NetworkConfig(blocks=1, filters=8, value_hidden=8, **network),
        loss=loss,
        optimiser=OptimiserConfig(schedule="constant", learning_rate=0.02),
        learner=LearnerConfig(
            batch_size=32, threads=1, log_steps=5, device="cpu", export_final_board=kept
        ),
    )


def written(path: Path, name: str = GO) -> Path:
    """Write random games; a few were cut short."""
    game, rng = pyengine.load_game(name), random.Random(5)
    plies = [None, None, 12]
    games = [finished(game, SPEC, n, rng, plies=plies[n % 3]) for n in range(12)]
    return write(path, game, SPEC, games)


@pytest.fixture
def data(tmp_path: Path) -> Dataset:
    return Dataset(written(tmp_path / "data"), final_board=True)


def weights_of(network: Any) -> dict[str, Any]:
    return {name: tensor.clone() for name, tensor in network.state_dict().items()}


@pytest.mark.parametrize("kind", ["alphago_zero", "convolutional", "value"])
def test_the_other_weights_begin_as_they_do_without_the_heads(kind: str) -> None:
    later = LossConfig(reply_weight=0.15, short_value_weight=1.0)
    every = dataclasses.replace(later, ownership_weight=1.5, score_weight=0.0015)
    plain = new_network(config_of(later, kind=kind), 3, (5, 5), 26)
    network = new_network(config_of(every, kind=kind), 3, (5, 5), 26)
    own, others = weights_of(plain), weights_of(network)
    assert all(torch.equal(others[name], tensor) for name, tensor in own.items())
    added = {".".join(name.split(".")[:2]) for name in others.keys() - own.keys()}
    assert added == {"auxiliary.ownership", "auxiliary.score"}
    planes = torch.randn(4, 3, 5, 5)
    policy, value, said = network.train()(planes)
    assert said["ownership"].shape == (4, 5, 5)
    assert said["score"].shape == (4,)
    for found, expected in zip((policy, value), plain.train()(planes)[:2], strict=True):
        assert torch.equal(found, expected)
    assert len(network.eval()(planes)) == 2


def test_each_weight_brings_its_own_head() -> None:
    owned = new_network(config_of(LossConfig(ownership_weight=1)), 3, (5, 5), 26)
    assert owned.train()(torch.randn(2, 3, 5, 5))[2].keys() == {"ownership"}
    scored = new_network(config_of(LossConfig(score_weight=1)), 3, (5, 5), 26)
    assert scored.eval().final_board(torch.randn(2, 3, 5, 5)).keys() == {"score"}
    assert new_network(config_of(LossConfig()), 3, (5, 5), 26).final_board(torch.zeros(1)) == {}


def random_batch(rows: int = 7) -> tuple[Any, dict[str, Any]]:
    torch.manual_seed(0)
    batch = {
        "policy": torch.softmax(torch.randn(rows, 5), 1),
        "value": torch.randn(rows).clamp(-1, 1),
        "ownership": torch.randint(-1, 2, (rows, 3, 3)).float(),
        "score": torch.tensor([0.5, -30.0, 3.0, 40.0, -1.5, 0.0, 7.0][:rows]),
        "ended": torch.arange(rows) % 3 != 1,
    }
    said = {"ownership": torch.randn(rows, 3, 3), "score": torch.randn(rows) * 10}
    return (torch.randn(rows, 5), torch.randn(rows, 1), said), batch


def test_the_loss_is_a_cross_entropy_of_points_and_a_huber_loss() -> None:
    outputs, batch = random_batch()
    plain = losses(outputs[:2], batch, LossConfig())
    found = losses(outputs, batch, BOTH)
    chosen = batch["ended"].numpy()
    own = (1 + np.tanh(outputs[2]["ownership"].numpy().astype(np.float64))) / 2
    target = (1 + batch["ownership"].numpy()) / 2
    entropy = -(target * np.log(own) + (1 - target) * np.log(1 - own)).mean(axis=(1, 2))
    off = np.abs(outputs[2]["score"].numpy() - batch["score"].numpy())
    huber = np.where(off <= 12, 0.5 * off**2, 12 * (off - 6))
    assert (off > 12).any()
    assert (off <= 12).any()
    assert found.ownership.item() == pytest.approx(entropy[chosen].mean(), rel=1e-5)
    assert found.score.item() == pytest.approx(huber[chosen].mean(), rel=1e-5)
    expected = plain.total.item() + 1.5 * entropy[chosen].mean() + 0.0015 * huber[chosen].mean()
    assert found.total.item() == pytest.approx(expected, rel=1e-5)
    assert losses(outputs, batch, LossConfig()).total.item() == plain.total.item()


def test_the_loss_of_parts_is_that_of_all_rows() -> None:
    outputs, batch = random_batch()
    assert_parts_are_the_whole(outputs, batch, BOTH, ("ownership", "score"))


def test_rows_of_games_that_did_not_end_teach_nothing_of_the_board() -> None:
    outputs, batch = random_batch()
    batch["ended"][:] = False
    for tensor in outputs[2].values():
        tensor.requires_grad_()
    found = losses(outputs, batch, BOTH)
    assert (found.ownership.item(), found.score.item()) == (0, 0)
    found.total.backward()
    assert all(not tensor.grad.any() for tensor in outputs[2].values())


def test_the_heads_learn_and_the_log_tells(data: Dataset, tmp_path: Path) -> None:
    reports: list[train.StepReport] = []
    run = tmp_path / "run"
    with train.Learner(config_of(), data, run, on_progress=reports.append) as learner:
        learner.train(150)
    first, last = reports[0], reports[-1]
    assert last.ownership < first.ownership  # type: ignore[operator]
    assert last.score < first.score  # type: ignore[operator]
    lines = [json.loads(line) for line in (run / "log.jsonl").read_text().splitlines()]
    assert [line["ownership"] for line in lines] == [report.ownership for report in reports]
    assert [line["score"] for line in lines] == [report.score for report in reports]


def test_targets_that_are_not_learnt_change_no_weights_and_no_reports(
    data: Dataset, tmp_path: Path
) -> None:
    reports: list[train.StepReport] = []
    config = config_of(LossConfig())
    with train.Learner(config, data, tmp_path / "a", on_progress=reports.append) as learner:
        learner.train(5)
        expected = weights_of(learner.network)
    assert (reports[0].ownership, reports[0].score) == (None, None)
    assert (
        json.loads((tmp_path / "a" / "log.jsonl").read_text())
        .keys()
        .isdisjoint({"ownership", "score"})
    )
    with train.Learner(config, Dataset(tmp_path / "data"), tmp_path / "b") as learner:
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
    kept = dataclasses.replace(
        config, learner=dataclasses.replace(config.learner, export_final_board=True)
    )
    with train.Learner(kept, data, tmp_path / "two", resume=True) as learner:  # it may change
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
    for name in ("ownership_weight", "score_weight"):
        del state["config"]["loss"][name]
    torch.save(state, newest)
    with train.Learner(config_of(LossConfig()), data, tmp_path / "run", resume=True) as learner:
        assert learner.step == 2
    with pytest.raises(pyengine.ConfigError, match=r"loss\.ownership_weight: 0\.0 is now 1\.5"):
        train.Learner(config_of(), data, tmp_path / "run", resume=True)


def test_boards_of_several_sizes_are_learnt_together(tmp_path: Path) -> None:
    names = ["go(board_size=5,komi=2.5)", "go(board_size=7)"]
    data = [
        Dataset(written(tmp_path / str(i), name), final_board=True) for i, name in enumerate(names)
    ]
    with train.Learner(config_of(kind="convolutional"), data, tmp_path / "run") as learner:
        assert learner.train(3)


@pytest.mark.parametrize("kind", ["alphago_zero", "convolutional", "value"])
@pytest.mark.parametrize("game", [GO, "othello(board_size=6)"])
@pytest.mark.parametrize("rows", ["top_down", "bottom_up"])
def test_an_exported_network_says_what_pytorch_says(
    kind: str, game: str, rows: str, tmp_path: Path
) -> None:
    ort = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx", reason="export needs onnx: the extra train")
    data = Dataset(written(tmp_path / "data", game), final_board=True)
    spec = dataclasses.replace(SPEC, rows=rows)
    with train.Learner(config_of(kind=kind), data, tmp_path / "run") as learner:
        learner.train(2)
        network = learner.exported.eval()
    path = tmp_path / "network.onnx"
    report = train.export(network, game, spec, path, final_board=True)
    assert report.difference < 1e-4
    rng = np.random.default_rng(0)
    planes = rng.integers(0, 2, (5, 3, *data.layout.board)).astype(np.float32)
    with torch.no_grad():
        policy, value = network(torch.from_numpy(planes))
        said = network.final_board(torch.from_numpy(planes))
    session = ort.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    assert [output.name for output in session.get_outputs()] == [
        "policy",
        "value",
        "ownership",
        "score",
    ]
    expected = (policy, value, said["ownership"], said["score"])
    for found, one in zip(session.run(None, {"planes": planes}), expected, strict=True):
        np.testing.assert_allclose(found, one.numpy(), rtol=1e-4, atol=1e-4)
    assert np.abs(said["ownership"].numpy()).max() <= 1
    written_spec = pyengine.OnnxEvaluator(path).spec
    assert written_spec is not None
    assert (written_spec.ownership_output, written_spec.score_output) == ("ownership", "score")


def test_numbers_that_are_not_finite_are_not_written(tmp_path: Path) -> None:
    pytest.importorskip("onnx", reason="export needs onnx: the extra train")
    network = new_network(config_of(), 3, (5, 5), 26).eval()
    with torch.no_grad():
        network.auxiliary.ownership.out.weight[0, 0] = torch.nan  # type: ignore[union-attr]
    with pytest.raises(train.TrainingError, match="found a difference of nan"):
        train.export(network, GO, SPEC, tmp_path / "network.onnx", final_board=True)
    assert list(tmp_path.iterdir()) == []
    train.export(network, GO, SPEC, tmp_path / "network.onnx")


def test_boards_of_any_size_have_their_own_outputs(tmp_path: Path) -> None:
    pytest.importorskip("onnx", reason="export needs onnx: the extra train")
    games = ["go(board_size=5)", "go(board_size=7)"]
    network = new_network(config_of(kind="convolutional"), 3, (5, 5), 26).eval()
    report = train.export(network, games, SPEC, tmp_path / "any.onnx", final_board=True)
    evaluator = pyengine.OnnxEvaluator(report.path)
    for side, game in zip((5, 7), games, strict=True):
        state = pyengine.load_game(game).new_initial_state([3, 4])
        owned, score = evaluator.evaluate_final_board([state, state])
        assert owned is not None
        assert score is not None
        assert (owned.shape, score.shape) == ((2, side, side), (2,))


def test_without_being_asked_an_export_leaves_them_out(data: Dataset, tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx", reason="export needs onnx: the extra train")
    with train.Learner(config_of(), data, tmp_path / "run") as learner:
        learner.train(2)
        report = train.export(learner.exported, GO, SPEC, tmp_path / "network.onnx")
    graph = onnx.load(report.path).graph
    assert [output.name for output in graph.output] == ["policy", "value"]
    assert not [node.name for node in graph.node if "score" in node.name or "own" in node.name]
    spec = pyengine.OnnxEvaluator(report.path).spec
    assert spec is not None
    assert spec.final_board_outputs == ()
    plain = new_network(config_of(LossConfig()), 3, (5, 5), 26)
    with pytest.raises(pyengine.ConfigError, match="final_board: expected a network that was"):
        train.export(plain, GO, SPEC, tmp_path / "other.onnx", final_board=True)


RUN = f"""
[game]
name = "{GO}"
[train]
export_final_board = true
[train.loss]
ownership_weight = 1.5
score_weight = 0.0015
"""


def test_a_run_reads_its_data_with_the_targets_of_its_loss(tmp_path: Path) -> None:
    run, folder = train.RunFile.from_toml(RUN), RunFolder(tmp_path)
    written(folder.data(GO))
    (data,) = windows_on(run, folder, [20])
    assert {"ownership", "score", "ended"} <= data[0].keys()
    (plain,) = windows_on(train.RunFile.from_toml(RUN.split("[train]")[0]), folder, [20])
    assert plain[0].keys().isdisjoint({"ownership", "score", "ended"})


@pytest.mark.parametrize(
    ("game", "loss", "message"),
    [
        ("tic_tac_toe", "score_weight = 1", r"train\.loss\.score_weight: expected 0, or games"),
        ("gomoku", "score_weight = 1", "with points, as Go or Othello, found 1 and gomoku"),
        ("gomoku", "ownership_weight = 1", None),
        ("othello", "score_weight = 1", None),
    ],
)
def test_a_game_without_such_a_board_is_refused_when_the_file_is_read(
    game: str, loss: str, message: str | None
) -> None:
    text = f'[game]\nname = "{game}"\n[train.loss]\n{loss}\n'
    if message is None:
        assert train.RunFile.from_toml(text).train.loss.final_board
        return
    with pytest.raises(pyengine.ConfigError, match=message):
        train.RunFile.from_toml(text)


def test_a_game_of_a_user_has_no_board_of_stones(tmp_path: Path) -> None:
    own = tmp_path / "own.py"
    own.write_text("from toy_games import Matches, ToyGame\nGAME = ToyGame(Matches)\n")
    text = f'[game]\nname = "{own}:GAME"\nplanes = ["ones"]\n[train.loss]\nownership_weight = 1\n'
    with pytest.raises(pyengine.ConfigError, match="or games with a board of stones, found 1"):
        train.RunFile.from_toml(text)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"ownership_weight": -1}, r"loss\.ownership_weight: expected a number in \[0, inf\)"),
        ({"score_weight": "x"}, r"loss\.score_weight: expected a number"),
    ],
)
def test_wrong_settings_are_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(pyengine.ConfigError, match=message):
        LossConfig.from_dict(settings)


def test_nothing_to_export_is_refused() -> None:
    with pytest.raises(pyengine.ConfigError, match=r"train\.export_final_board: expected false"):
        config_of(LossConfig(), kept=True)


def test_data_without_the_targets_are_refused(tmp_path: Path) -> None:
    plain = Dataset(written(tmp_path / "data"))
    with pytest.raises(pyengine.ConfigError, match=r"to return ended .*final_board=True"):
        train.Learner(config_of(), plain, tmp_path / "run")
    four = Dataset(written(tmp_path / "four", "connect_four"), final_board=True)
    with pytest.raises(pyengine.ConfigError, match=r"to return score .*Go or Othello"):
        train.Learner(config_of(), four, tmp_path / "run")
