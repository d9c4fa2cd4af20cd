"""Writing to a read-only directory raises one error that names the path."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import pyengine
from pyengine import conversion
from pyengine.base.files import check_output
from pyengine.data import Layout, Manifest, ShardWriter, import_sgf
from pyengine.eval import RolloutPolicy
from pyengine.match import RandomPlayer

GAME = pyengine.load_game("tic_tac_toe")
LAYOUT = Layout.of(GAME, pyengine.ModelSpec())
NOBODY = 65534


@pytest.fixture
def folder() -> Iterator[Path]:
    """Return a read-only directory; root becomes another user, since root may write anywhere."""
    if not hasattr(os, "geteuid"):
        pytest.skip("needs POSIX permissions")
    made = Path(tempfile.mkdtemp())
    (made / "existing").mkdir()
    made.chmod(0o555)
    (made / "existing").chmod(0o555)
    (made / "shut").mkdir(mode=0)
    user = os.geteuid()
    if user == 0:
        os.seteuid(NOBODY)
    yield made
    if user == 0:
        os.seteuid(user)
    made.chmod(0o755)
    shutil.rmtree(made)


WRITERS: dict[str, Callable[[Path], object]] = {
    "selfplay": lambda f: pyengine.selfplay(GAME, "uniform", games=1, out=f / "games"),
    "selfplay, an existing folder": lambda f: pyengine.selfplay(
        GAME, "uniform", games=1, out=f / "existing"
    ),
    "match": lambda f: pyengine.match(
        pyengine.Engine(GAME, "uniform", simulations=4),
        RandomPlayer(),
        games=2,
        record=f / "match.jsonl",
    ),
    "manifest": lambda f: Manifest(layout=LAYOUT).write(f / "existing"),
    "weights": lambda f: conversion.write_leela(
        conversion.random_leela(0, 1, board_size=3), f / "w.txt"
    ),
}


@pytest.mark.parametrize("writer", WRITERS)
def test_a_read_only_directory_is_named(folder: Path, writer: str) -> None:
    with pytest.raises(pyengine.EngineError) as error:
        WRITERS[writer](folder)
    assert str(folder) in str(error.value)
    assert "\n" not in str(error.value)
    assert sorted(p.name for p in folder.iterdir()) == ["existing", "shut"]


def _imported(folder: Path) -> object:
    pytest.importorskip("sgfmill", reason="sgfmill is absent (extra `sgf`)")
    go = pyengine.load_game("go", board_size=9)
    with tempfile.TemporaryDirectory() as out:
        return import_sgf(folder, Path(out) / "data", go, pyengine.ModelSpec())


SHUT: dict[str, Callable[[Path], object]] = {
    "network": lambda f: pyengine.OnnxEvaluator(f / "net.onnx"),
    "dataset": lambda f: pyengine.Dataset(f / "data"),
    "settings": lambda f: pyengine.SearchConfig.from_toml(f / "search.toml"),
    "writer": lambda f: ShardWriter(f / "data", GAME, pyengine.ModelSpec()),
    "manifest": lambda f: Manifest(layout=LAYOUT).write(f),
    "output": lambda f: check_output(f / "out.onnx"),
    "games": _imported,
    "policy": lambda f: RolloutPolicy.load(f / "policy.npz"),
}


@pytest.mark.parametrize("call", SHUT)
def test_an_inaccessible_directory_is_named(folder: Path, call: str) -> None:
    with pytest.raises(pyengine.EngineError) as error:
        SHUT[call](folder / "shut")
    assert str(folder / "shut") in str(error.value)
    assert "Permission denied" in str(error.value)
    assert "Errno" not in str(error.value)
