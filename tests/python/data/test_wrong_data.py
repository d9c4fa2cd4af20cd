"""Wrong arguments and places of training data: one clear error each, and what was there stays."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyengine
from pyengine.data import ShardWriter, export_sgf, import_sgf
from pyengine.files import check_output, replacing, write_durably
from wrong_values import all_but, cases, check_refused

CONFIG = pyengine.SelfPlayConfig(search=pyengine.SearchConfig(simulations=4, threads=1))

GAME = pyengine.load_game("tic_tac_toe")
GO = pyengine.load_game("go(board_size=5)")
SPEC = pyengine.ModelSpec()
ZEROS = np.zeros(65536, np.float32)


def play(**arguments: Any) -> pyengine.SelfPlayReport:
    """Play two games into a new directory."""
    given = {"game": "tic_tac_toe", "evaluator": "uniform", "games": 2, "out": "new"}
    return pyengine.selfplay(**{**given, "config": CONFIG, **arguments})


@pytest.fixture
def in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work where a file that should not come to be is seen."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory of a few games."""
    out = tmp_path_factory.mktemp("wrong") / "data"
    pyengine.selfplay("tic_tac_toe", "uniform", games=2, out=out, config=CONFIG)
    return out


def test_random_rows_need_a_generator(data: Path) -> None:
    check_refused(lambda v: pyengine.Dataset(data).sample(8, v), {**all_but(), "0": 0}, "rng")


@cases(
    [
        ("size", lambda d, v: d.batches(v), all_but("huge"), "size"),
        ("seed", lambda d, v: d.batches(4, seed=v), all_but("huge"), "seed"),
        ("sample", lambda d, v: d.sample(v, np.random.default_rng(0)), all_but("huge", "list"),
         "size"),
        ("set_epoch", lambda d, v: d.set_epoch(v), all_but("huge"), "epoch"),
    ]
)  # fmt: skip
def test_a_dataset_refuses(call: Any, values: dict[str, Any], said: str, data: Path) -> None:
    dataset = pyengine.Dataset(data)
    check_refused(lambda value: call(dataset, value), values, said)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_no_file_takes_the_place_of_a_device_or_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(pyengine.ConfigError, match="a device or a pipe"):
        check_output(pipe)
    with pytest.raises(OSError, match="a device or a pipe"):
        write_durably(pipe, [b"new"])
    with pytest.raises(pyengine.DataError, match="a device or a pipe"), replacing(pipe):
        pass
    assert pipe.is_fifo()
    assert list(tmp_path.iterdir()) == [pipe]


@pytest.mark.usefixtures("in_empty_folder")
@cases(
    [
        ("selfplay, game", lambda v: play(game=v), all_but(), ""),
        ("selfplay, evaluator", lambda v: play(evaluator=v), all_but("function"), ""),
        ("selfplay, games", lambda v: play(games=v), all_but(), "games"),
        ("selfplay, out", lambda v: play(out=v), all_but("text"), "out: expected a path"),
        ("selfplay, config", lambda v: play(config=v), all_but("None"), "config"),
        ("selfplay, spec", lambda v: play(spec=v), all_but("None"), "spec"),
        ("selfplay, on_progress", lambda v: play(on_progress=v),
         all_but("None", "function"), "on_progress"),
        ("Dataset", pyengine.Dataset, all_but("text", "list"), "directories"),
        ("convert", lambda v: pyengine.convert(v, "npz"), all_but("text"), "directory"),
        ("convert, to", lambda v: pyengine.convert("none", v), all_but(), "format"),
        ("convert, on_progress", lambda v: pyengine.convert("none", "npz", on_progress=v),
         all_but("None", "function"), "on_progress"),
        ("export_sgf", export_sgf, all_but("text"), "directory"),
        ("import_sgf", lambda v: import_sgf(v, "out", GO, SPEC),
         all_but("text", "list", "dict"), "paths"),
        ("import_sgf, game", lambda v: import_sgf("none", "out", v, SPEC), all_but(), "game"),
        ("import_sgf, spec", lambda v: import_sgf("none", "out", GO, v), all_but(), "spec"),
        ("ShardWriter", lambda v: ShardWriter(v, GAME, SPEC), all_but("text"), "directory"),
        ("RandomPlayer", pyengine.RandomPlayer,
         {k: v for k, v in all_but().items() if k in ("text", "fraction", "negative", "object")},
         "seed"),
        ("features", lambda v: pyengine.RolloutPolicy(ZEROS, ZEROS, v),
         all_but("dict"), "features"),
        ("load", pyengine.RolloutPolicy.load, all_but("text"), "path"),
        ("save", pyengine.RolloutPolicy(ZEROS, ZEROS, {}).save, all_but("text"), "path"),
        ("doctor", pyengine.doctor, all_but("huge"), "device_id"),
    ]
)  # fmt: skip
def test_what_takes_and_gives_data_refuses(call: Any, values: dict[str, Any], said: str) -> None:
    check_refused(call, values, said)
    assert list(Path().iterdir()) == []
