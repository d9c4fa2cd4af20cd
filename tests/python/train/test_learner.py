"""The learner: training, resuming, checkpoints and errors."""

from __future__ import annotations

import copy
import errno
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyengine
from pyengine import train
from pyengine.train import (
    AverageConfig,
    LearnerConfig,
    LossConfig,
    NetworkConfig,
    OptimiserConfig,
)
from synthetic_data import AUXILIARY, SyntheticData, small_config

torch = pytest.importorskip("torch", reason="training needs PyTorch: the extra train")
torch.set_num_threads(1)  # these networks are small

from pyengine.train import checkpoint  # noqa: E402
from pyengine.train import learner as learner_module  # noqa: E402
from pyengine.train.loss import Outputs, losses  # noqa: E402


def weights_of(learner: train.Learner) -> dict[str, Any]:
    """Return a copy of all tensors of the network and its average."""
    state = dict(learner.network.state_dict())
    state |= {f"average {k}": v for k, v in learner.exported.state_dict().items()}
    return {name: tensor.clone() for name, tensor in state.items()}


def assert_equal(first: dict[str, Any], second: dict[str, Any]) -> None:
    """Compare bit for bit."""
    assert first.keys() == second.keys()
    assert [name for name in first if not torch.equal(first[name], second[name])] == []


@pytest.fixture(scope="module")
def data() -> SyntheticData:
    return SyntheticData()


@pytest.fixture(autouse=True)
def few_statistics(monkeypatch: pytest.MonkeyPatch) -> None:
    """Recompute the statistics of an average from few positions, which is quicker."""
    monkeypatch.setattr(learner_module, "_STATISTICS", 256)


WEIGHTS = {f"{name}_weight": 0.1 for name in AUXILIARY}


@pytest.mark.parametrize(
    ("kind", "average", "weights"),
    [("sgd", "none", {}), ("sgd", "ema", WEIGHTS), ("adamw", "swa", {})],
)
def test_a_resumed_training_equals_an_uninterrupted_one(
    kind: str, average: str, weights: dict[str, float], tmp_path: Path
) -> None:
    data = SyntheticData(later=True)
    optimiser = OptimiserConfig(kind=kind, schedule="cosine", learning_rate=0.01, total_steps=20)
    config = small_config(
        loss=LossConfig(horizons=(6,), **weights),
        optimiser=optimiser,
        average=AverageConfig(kind=average, every=2, start=4),
    )
    with train.Learner(config, data, tmp_path / "one") as learner:
        learner.train(20)
        expected = weights_of(learner)
    with train.Learner(config, data, tmp_path / "two") as learner:
        learner.train(10)
    resumed = config.replace(
        learner=config.learner.replace(export_final_board=bool(weights), log_steps=7)
    )
    with train.Learner(resumed, data, tmp_path / "two", resume=True) as learner:
        assert learner.step == 10
        learner.train(10)
        assert_equal(weights_of(learner), expected)


@pytest.mark.parametrize("kind", ["sgd", "adamw"])
def test_the_memory_format_may_change_on_resume(
    kind: str, data: SyntheticData, tmp_path: Path
) -> None:
    optimiser = OptimiserConfig(kind=kind, schedule="constant", learning_rate=0.01)

    def config(*, channels_last: bool) -> train.TrainConfig:
        learner = LearnerConfig(batch_size=32, threads=1, device="cpu", channels_last=channels_last)
        return small_config(optimiser=optimiser, learner=learner)

    with train.Learner(config(channels_last=False), data, tmp_path / "one") as learner:
        learner.train(10)
        expected = weights_of(learner)
    with train.Learner(config(channels_last=False), data, tmp_path / "two") as learner:
        learner.train(5)
    with train.Learner(config(channels_last=True), data, tmp_path / "two", resume=True) as learner:
        learner.train(5)
        torch.testing.assert_close(weights_of(learner), expected, rtol=1e-3, atol=1e-5)


def test_the_learning_rate_may_be_lowered_on_resume(data: SyntheticData, tmp_path: Path) -> None:
    rates = partial(OptimiserConfig, schedule="steps", rates=(0.1, 0.01))
    planned = small_config(optimiser=rates(boundaries=(5,)))
    with train.Learner(planned, data, tmp_path / "planned") as learner:
        learner.train(10)
        expected = weights_of(learner)
    with train.Learner(small_config(optimiser=rates(boundaries=(20,))), data, tmp_path) as learner:
        learner.train(5)
    with train.Learner(planned, data, tmp_path, resume=True) as learner:
        learner.train(5)
        assert_equal(weights_of(learner), expected)


def test_reports_do_not_depend_on_how_steps_are_split_into_calls(
    data: SyntheticData, tmp_path: Path
) -> None:
    def reports(name: str, calls: Sequence[int]) -> list[dict[str, Any]]:
        seen: list[Any] = []
        with train.Learner(
            small_config(), data, tmp_path / name, on_progress=seen.append
        ) as learner:
            for steps in calls:
                learner.train(steps, save=False)
        return [{**asdict(report), "positions_per_second": 0} for report in seen]

    expected = reports("whole", [10])
    assert [report["step"] for report in expected] == [5, 10]
    assert reports("parts", [3, 1, 4, 2]) == expected


def test_it_learns(data: SyntheticData, tmp_path: Path) -> None:
    reports: list[train.StepReport] = []
    with train.Learner(small_config(), data, tmp_path, on_progress=reports.append) as learner:
        assert learner.train(60)
    assert [report.step for report in reports] == list(range(5, 61, 5))
    assert reports[-1].divergence < 0.5 * reports[0].divergence
    assert reports[-1].value < 0.5 * reports[0].value
    lines = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert [line["step"] for line in lines] == [report.step for report in reports]


def test_tensorboard_shows_the_values_of_the_log(data: SyntheticData, tmp_path: Path) -> None:
    reading = pytest.importorskip(
        "tensorboard.backend.event_processing.event_accumulator", reason="needs TensorBoard"
    )
    with train.Learner(small_config(), data, tmp_path) as learner:
        learner.train(10)
    logged = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    board = reading.EventAccumulator(str(tmp_path / "tensorboard"))
    board.Reload()
    for name in ("policy", "divergence", "value", "rate", "positions_per_second"):
        shown = [(event.step, event.value) for event in board.Scalars(f"train/{name}")]
        assert shown == [(line["step"], pytest.approx(line[name])) for line in logged]


def test_it_learns_in_bfloat16(data: SyntheticData, tmp_path: Path) -> None:
    reports: list[train.StepReport] = []
    config = small_config(
        learner=LearnerConfig(batch_size=32, log_steps=10, device="cpu", precision="bfloat16")
    )
    with train.Learner(config, data, tmp_path, on_progress=reports.append) as learner:
        learner.train(60)
        assert {p.dtype for p in learner.network.parameters()} == {torch.float32}
        export = train.export(learner.exported, data.game, data.spec, tmp_path / "net.onnx")
    assert export.difference < 1e-5
    assert reports[-1].divergence < 0.5 * reports[0].divergence


def test_steps_between_reports_read_no_number_from_the_device(
    data: SyntheticData, tmp_path: Path
) -> None:
    class Reads(torch.overrides.TorchFunctionMode):
        """Counts calls that wait for a GPU."""

        waiting = ("item", "tolist", "cpu", "numpy", "__bool__", "__float__", "__int__", "nonzero")

        def __init__(self) -> None:
            super().__init__()
            self.count = 0

        def __torch_function__(
            self, function: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            self.count += getattr(function, "__name__", "") in self.waiting
            return function(*args, **(kwargs or {}))

    def reads(steps: int) -> int:
        with Reads() as mode:
            learner.train(steps, save=False)
        return mode.count

    optimiser = OptimiserConfig(schedule="constant", clip_norm=1.0)
    rare = LearnerConfig(batch_size=32, threads=1, log_steps=100, device="cpu")
    config = small_config(optimiser=optimiser, learner=rare)
    with train.Learner(config, data, tmp_path) as learner:
        assert reads(1) == reads(9) > 0  # the losses are checked once, at the end


def test_steps_do_not_wait_for_a_gpu(data: SyntheticData, tmp_path: Path) -> None:
    if not torch.cuda.is_available():
        pytest.skip("needs a GPU")
    settings = LearnerConfig(batch_size=32, device="cuda", precision="bfloat16")
    with train.Learner(small_config(learner=settings), data, tmp_path) as learner:
        learner.train(3)  # allocates memory and chooses kernels
        torch.cuda.set_sync_debug_mode("error")
        try:
            for _ in range(3):
                learner._run_step()
        finally:
            torch.cuda.set_sync_debug_mode("default")


@pytest.mark.slow  # compiles C++ for 20 s
def test_a_compiled_network_learns_the_same(data: SyntheticData, tmp_path: Path) -> None:
    if shutil.which("c++") is None:
        pytest.skip("torch.compile needs a C++ compiler")
    weights = []
    for compiled in (False, True):
        settings = LearnerConfig(batch_size=32, threads=1, device="cpu", compile=compiled)
        directory = tmp_path / str(compiled)
        with train.Learner(small_config(learner=settings), data, directory) as learner:
            learner.train(3)
            weights.append(weights_of(learner))
    torch.testing.assert_close(*weights, rtol=1e-3, atol=1e-5)


def test_the_newest_checkpoints_are_kept(data: SyntheticData, tmp_path: Path) -> None:
    learner = LearnerConfig(batch_size=8, checkpoint_steps=2, keep=2, device="cpu")
    with train.Learner(small_config(learner=learner), data, tmp_path) as trainer:
        trainer.train(7, save=False)
        names = ["checkpoint-0000000004.pt", "checkpoint-0000000006.pt"]
        assert sorted(path.name for path in tmp_path.glob("*.pt")) == names
        trainer.train(0)  # saves the step that the earlier call did not
    names = ["checkpoint-0000000006.pt", "checkpoint-0000000007.pt"]
    assert sorted(path.name for path in tmp_path.glob("*.pt")) == names


def test_a_checkpoint_that_does_not_fit_is_refused(data: SyntheticData, tmp_path: Path) -> None:
    with train.Learner(small_config(), data, tmp_path) as learner:
        learner.train(1)
    changed = small_config(
        network=NetworkConfig(blocks=2, filters=8, value_hidden=8),
        learner=LearnerConfig(batch_size=32, threads=2, seed=1, device="cpu"),
    )
    changes = r"learner\.seed: 0 is now 1; network\.blocks: 1 is now 2$"
    with pytest.raises(pyengine.ConfigError, match=changes):
        train.Learner(changed, data, tmp_path, resume=True)
    with pytest.raises(pyengine.ConfigError, match=r"holds checkpoint-0000000001\.pt"):
        train.Learner(small_config(), data, tmp_path)
    other = SyntheticData("connect_four", positions=20)
    with pytest.raises(pyengine.ConfigError, match=r"does not fit .*another game"):
        train.Learner(small_config(), other, tmp_path, resume=True)
    (path,) = tmp_path.glob("*.pt")
    torch.save({**torch.load(path, weights_only=True), "format": 1}, path)
    with pytest.raises(pyengine.DataError, match="expected a checkpoint of format 3, got 1"):
        train.Learner(small_config(), data, tmp_path, resume=True)
    path.write_bytes(b"nothing")
    with pytest.raises(pyengine.DataError, match=r"0000000001\.pt is damaged"):
        train.Learner(small_config(), data, tmp_path, resume=True)


def test_data_of_several_games_are_refused(data: SyntheticData, tmp_path: Path) -> None:
    other = SyntheticData("connect_four", positions=20)
    message = "one shape, got 3 planes of 3x3 with 9 actions and 3 planes of 6x7 with 7 actions"
    with pytest.raises(pyengine.ConfigError, match=message):
        train.Learner(small_config(), [data, other], tmp_path)
    learner = train.Learner(small_config(), data, tmp_path)
    with pytest.raises(pyengine.ConfigError, match=message):
        learner.set_data([data, other])
    with pytest.raises(pyengine.ConfigError, match="expected positions of one shape"):
        learner.set_data(other)
    assert learner.data == [data]
    learner.close()


@pytest.mark.parametrize(
    ("answer", "name"),
    [
        ({}, "planes"),
        ({"planes": np.zeros((1, 1, 3, 3)), "policy": [[0.5]]}, "policy"),
        ({"planes": np.zeros((1, 1, 3, 3)), "policy": np.zeros(9)}, "policy"),
    ],
)
def test_data_without_valid_arrays_are_refused(answer: Any, name: str, tmp_path: Path) -> None:
    data: Any = SyntheticData(positions=20)
    data.sample = lambda *_, **__: answer
    with pytest.raises(pyengine.ConfigError, match=rf"sample\(1, \.\.\.\) to return {name} as an"):
        train.Learner(small_config(), data, tmp_path)


def test_a_non_finite_loss_ends_the_training_and_keeps_checkpoints(tmp_path: Path) -> None:
    data = SyntheticData()
    with train.Learner(small_config(), data, tmp_path) as learner:
        learner.train(3)
        data.rows["value"][:] = np.nan
        message = r"step 3: .*value nan.*checkpoint-0000000003"
        with pytest.raises(train.TrainingError, match=message):
            learner.train(3)
    data.rows["value"][:] = 0
    with train.Learner(small_config(), data, tmp_path, resume=True) as learner:
        assert learner.step == 3
        assert learner.train(1)


def test_a_non_finite_loss_names_the_damaged_shard(tmp_path: Path) -> None:
    search = pyengine.SearchConfig(simulations=8, threads=1)
    config = pyengine.SelfPlayConfig(search=search, concurrent_games=4)
    folder = tmp_path / "data"
    pyengine.selfplay("tic_tac_toe", "uniform", games=8, out=folder, config=config)
    diverging = small_config(optimiser=OptimiserConfig(schedule="constant", learning_rate=1e38))
    with (
        train.Learner(diverging, pyengine.Dataset(folder), tmp_path / "a") as learner,
        pytest.raises(train.TrainingError, match="no shard of the data is damaged"),
    ):
        learner.train(9)
    (shard,) = folder.glob("shard-*.npy")
    records = np.lib.format.open_memmap(shard, mode="r+")
    records["value"] = np.nan
    records.flush()
    with (
        train.Learner(small_config(), pyengine.Dataset(folder), tmp_path / "b") as learner,
        pytest.raises(train.TrainingError, match=rf"value nan .*{shard.name}.* damaged"),
    ):
        learner.train(3)


def test_a_full_disk_leaves_earlier_checkpoints_and_names_the_new_one(
    data: SyntheticData, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with train.Learner(small_config(), data, tmp_path) as learner:
        learner.train(1)
        monkeypatch.setattr(checkpoint, "write_durably", full)
        message = r"checkpoint-0000000002\.pt cannot be written: .*No space"
        with pytest.raises(pyengine.DataError, match=message):
            learner.train(1)
        assert [path.name for path in tmp_path.glob("*.pt")] == ["checkpoint-0000000001.pt"]
        monkeypatch.undo()
        learner.train(0)  # there is space now
    assert (tmp_path / "checkpoint-0000000002.pt").exists()


@pytest.mark.parametrize("rate", [1e30, 3e38])
def test_unusable_weights_are_not_written(rate: float, data: SyntheticData, tmp_path: Path) -> None:
    optimiser = OptimiserConfig(schedule="steps", boundaries=(9, 10), rates=(0.01, rate, 0.01))
    learner = LearnerConfig(batch_size=32, threads=1, checkpoint_steps=5, device="cpu")
    config = small_config(optimiser=optimiser, learner=learner)
    with train.Learner(config, data, tmp_path) as trainer:
        message = r"step 10 is not written: .* is not finite .*checkpoint-0000000005\.pt"
        with pytest.raises(train.TrainingError, match=message):
            trainer.train(20)
    with train.Learner(config, data, tmp_path, resume=True) as trainer:
        assert trainer.step == 5
        assert trainer.train(4)


def test_checking_a_checkpoint_does_not_change_the_training(
    data: SyntheticData, tmp_path: Path
) -> None:
    frequent = LearnerConfig(batch_size=32, threads=1, checkpoint_steps=1, device="cpu")
    rare = LearnerConfig(batch_size=32, threads=1, checkpoint_steps=50, device="cpu")
    weights = []
    for name, learner in (("frequent", frequent), ("rare", rare)):
        with train.Learner(small_config(learner=learner), data, tmp_path / name) as trainer:
            trainer.train(10)
            weights.append(weights_of(trainer))
    assert_equal(*weights)


@pytest.mark.parametrize(
    ("kind", "spec", "message"),
    [
        ("convolutional", {"pass_index": 0}, "the pass last, got pass_index=0"),
        ("convolutional", {"policy_rows": "bottom_up"}, "like its rows, got 'bottom_up'"),
        ("value", {"policy_rows": "bottom_up"}, "like its rows, got 'bottom_up'"),
    ],
)
def test_a_convolutional_head_refuses_an_unsupported_policy_order(
    kind: str, spec: dict[str, Any], message: str, tmp_path: Path
) -> None:
    data = SyntheticData("go(board_size=5)", positions=20, later=True)
    data.spec = pyengine.ModelSpec(**spec)
    loss = train.LossConfig(reply_weight=0.15)
    network = NetworkConfig(kind=kind, blocks=0, filters=4)
    with pytest.raises(pyengine.ConfigError, match=message):
        train.Learner(small_config(network=network, loss=loss), data, tmp_path)
    plain = small_config(network=network) if kind == "value" else small_config(loss=loss)
    train.Learner(plain, data, tmp_path).close()
    with pytest.raises(pyengine.ConfigError, match="expected one spec"):
        train.Learner(small_config(), [data, SyntheticData("go(board_size=5)")], tmp_path)


def test_ctrl_c_writes_a_checkpoint_between_two_steps(data: SyntheticData, tmp_path: Path) -> None:
    def interrupt(report: train.StepReport) -> None:
        signal.raise_signal(signal.SIGINT)

    with train.Learner(small_config(), data, tmp_path, on_progress=interrupt) as learner:
        with pytest.raises(KeyboardInterrupt):
            learner.train(100)
        assert learner.step == 5
    assert (tmp_path / "checkpoint-0000000005.pt").exists()


def test_a_callback_or_a_stop_ends_the_training(data: SyntheticData, tmp_path: Path) -> None:
    with train.Learner(small_config(), data, tmp_path, on_progress=lambda _: False) as learner:
        assert not learner.train(100)
        assert learner.step == 5
        assert not learner.train(100, stop=lambda: learner.step == 7)
        assert learner.step == 7


def test_the_exported_network_is_the_average_with_recomputed_statistics(
    data: SyntheticData, tmp_path: Path
) -> None:
    def loss_of(network: train.Network) -> float:
        rows = {name: torch.from_numpy(array) for name, array in data.rows.items()}
        with torch.no_grad():
            outputs = Outputs(*network.eval()(rows["planes"]))
            return float(losses([outputs], [rows], LossConfig()).total)

    config = small_config(average=AverageConfig(kind="swa"))
    seen = []
    with train.Learner(config, data, tmp_path) as learner:
        for _ in range(40):
            learner.train(1, save=False)
            seen.append(learner.network.stem[0].weight.detach().clone())
        before = weights_of(learner)
        torch.testing.assert_close(learner.exported.stem[0].weight, sum(seen) / 40)
        assert loss_of(learner.exported) < loss_of(copy.deepcopy(learner.average.module))
        assert_equal(weights_of(learner), before)


def train_as_a_rank(directory: Path, rank: int) -> None:
    """Train under torchrun's environment variables and save the parameters."""
    loss = LossConfig(horizons=(6,), **WEIGHTS)
    with train.Learner(small_config(loss=loss), SyntheticData(later=True), directory) as learner:
        learner.train(6)
        learner.train(100, stop=lambda: rank == 1)
        norm = torch.nn.BatchNorm2d(2)
        norm.running_mean[:] = torch.tensor([0.0, 4.0]) * rank
        learner.ranks.average_statistics(norm)
        state = {**learner.network.state_dict(), "averaged": norm.running_mean}
        torch.save((learner.step, state), directory / f"rank{rank}.pt")


_OTHER_RANK = """
import sys
from pathlib import Path
sys.path[:0] = sys.argv[2:]
from test_learner import train_as_a_rank
print("ready", flush=True)
train_as_a_rank(Path(sys.argv[1]), 1)
"""


def test_two_processes_train_the_same_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not torch.distributed.is_available():
        pytest.skip("this PyTorch has no torch.distributed")
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port = str(sock.getsockname()[1])
    for name, value in (("ADDR", "127.0.0.1"), ("PORT", port)):
        monkeypatch.setenv(f"MASTER_{name}", value)
    monkeypatch.setenv("WORLD_SIZE", "2")
    here = Path(__file__).parent
    command = [sys.executable, "-c", _OTHER_RANK, str(tmp_path), str(here), str(here.parent)]
    environment = {**os.environ, "RANK": "1"}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"ready\n"
        monkeypatch.setenv("RANK", "0")
        train_as_a_rank(tmp_path, 0)
    assert other.returncode == 0
    (step0, first), (step1, second) = (
        torch.load(tmp_path / f"rank{rank}.pt", weights_only=True) for rank in range(2)
    )
    assert step0 == step1 == 6
    assert_equal(first, second)
    assert first["averaged"].tolist() == [0, 2]
    assert [path.name for path in tmp_path.glob("checkpoint*")] == ["checkpoint-0000000006.pt"]
