"""Wrong arguments of the learner and of its gate: one clear error each."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import pyengine
from synthetic_data import SyntheticData
from wrong_values import all_but, cases, check_refused, no_paths

pytest.importorskip("torch", reason="training needs PyTorch: the extra train")

from pyengine import train
from pyengine.train.logs import TrainLog

GAME = pyengine.load_game("tic_tac_toe")


class Positions:
    """Data with a spec that no network was made for."""

    spec = pyengine.ModelSpec(planes=("own[0]", "opp[0]"))

    def __len__(self) -> int:
        return 1

    def sample(self, size: int, rng: object, augment: bool = True) -> dict[str, Any]:
        raise AssertionError("asked before all arguments were checked")


def gate(**given: Any) -> object:
    """Play a gate, with one argument that is wrong."""
    arguments = {
        "candidate": pyengine.UniformEvaluator(),
        "best": pyengine.UniformEvaluator(),
        "games": [GAME],
        "config": train.GateConfig(games=2),
        **given,
    }
    return train.play_gate(**arguments)


def learner(**given: Any) -> object:
    """Make a learner, with one argument that is wrong."""
    arguments = {"config": train.TrainConfig(), "data": Positions(), "directory": "run", **given}
    return train.Learner(**arguments)


@cases(
    [
        ("candidate", lambda v: gate(candidate=v), all_but("text", "NUL", "function"), "evaluator"),
        ("games", lambda v: gate(games=v), all_but(), "games: expected one game or more"),
        ("config", lambda v: gate(config=v), all_but(), "config: expected a GateConfig"),
        ("seed", lambda v: gate(seed=v), all_but("huge"), "seed: expected an int"),
        ("stop", lambda v: gate(stop=v), all_but("None", "function"), "stop"),
        ("progress", lambda v: gate(on_progress=v), all_but("None", "function"), "on_progress"),
        ("record", lambda v: gate(record=v), all_but("None", "text", "bytes"), "record"),
        ("learner config", lambda v: learner(config=v), all_but(), "config"),
        ("data", lambda v: learner(data=v), all_but(), "data: expected TrainingData"),
        ("directory", lambda v: learner(directory=v), no_paths(), "directory"),
        ("resume", lambda v: learner(resume=v), all_but(), "resume"),
        (
            "weights",
            lambda v: learner(weights=v),
            {**all_but("None", "tuple", "array"), "zero": [0]},
            "weights",
        ),
        (
            "learner progress",
            lambda v: learner(on_progress=v),
            all_but("None", "function"),
            "on_progress",
        ),
    ]
)
def test_learning_refuses(
    call: Any, values: dict[str, Any], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    check_refused(call, values, said, pyengine.EngineError)
    assert list(tmp_path.iterdir()) == []


def test_a_training_refuses(tmp_path: Path) -> None:
    network = train.NetworkConfig(blocks=1, filters=4, value_hidden=4)
    settings = train.LearnerConfig(batch_size=4, threads=1, device="cpu")
    config = train.TrainConfig(network=network, learner=settings)
    with train.Learner(config, SyntheticData(), tmp_path) as one:
        check_refused(one.train, {**all_but("huge"), "infinity": float("inf")}, "steps")
        check_refused(lambda v: one.train(1, v), all_but("None", "function"), "stop")
        check_refused(lambda v: one.train(1, save=v), all_but(), "save")
        check_refused(one.set_data, all_but(), "data: expected TrainingData")
        assert one.step == 0


@pytest.mark.skipif(os.name == "nt", reason="names are text there")
def test_a_folder_that_tensorboard_cannot_write_is_told(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    with pytest.raises(pyengine.ConfigError, match=r"directory: .* TensorBoard .*\\udcff"):
        TrainLog(tmp_path / "\udcff")
    assert list(tmp_path.iterdir()) == []
