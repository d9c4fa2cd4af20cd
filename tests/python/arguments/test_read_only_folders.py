"""What is to be written into a folder that one may only read is one error that names the path."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import pyengine
from pyengine import conversion

GAME = pyengine.load_game("tic_tac_toe")
NOBODY = 65534


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that the process may list and not write; root has no rights taken away."""
    if not hasattr(os, "geteuid"):
        pytest.skip("rights of folders are those of POSIX")
    made = Path(tempfile.mkdtemp())
    (made / "kept").mkdir()
    made.chmod(0o555)
    (made / "kept").chmod(0o555)
    was = os.geteuid()
    if was == 0:
        os.seteuid(NOBODY)
    yield made
    if was == 0:
        os.seteuid(was)
    made.chmod(0o755)
    shutil.rmtree(made)


WRITERS: dict[str, Callable[[Path], object]] = {
    "selfplay": lambda f: pyengine.selfplay(GAME, "uniform", games=1, out=f / "games"),
    "selfplay, a folder that is there": lambda f: pyengine.selfplay(
        GAME, "uniform", games=1, out=f / "kept"
    ),
    "match": lambda f: pyengine.match(
        pyengine.Engine(GAME, "uniform", simulations=4),
        pyengine.RandomPlayer(),
        games=2,
        record=f / "match.jsonl",
    ),
    "weights": lambda f: conversion.write_leela(
        conversion.random_leela(0, 1, board_size=3), f / "w.txt"
    ),
}


@pytest.mark.parametrize("writer", WRITERS)
def test_a_folder_that_cannot_be_written_is_named(folder: Path, writer: str) -> None:
    with pytest.raises(pyengine.EngineError) as refused:
        WRITERS[writer](folder)
    assert str(folder) in str(refused.value)
    assert "\n" not in str(refused.value)
    assert sorted(p.name for p in folder.iterdir()) == ["kept"]
