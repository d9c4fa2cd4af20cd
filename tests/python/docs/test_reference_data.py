"""The data format is what docs/reference says."""

from __future__ import annotations

import dataclasses
import itertools
import json
from pathlib import Path

import numpy as np

import pyengine
from pyengine import data
from pyengine.data.record import GameLine
from reference_pages import TEXT


def table_after(page: str, words: str) -> list[list[str]]:
    """Return the rows of the first table after some words."""
    lines = TEXT[page].split(words, 1)[1].splitlines()
    rows = itertools.takewhile(
        lambda line: line.startswith("|"),
        itertools.dropwhile(lambda line: not line.startswith("|"), lines),
    )
    return [[cell.strip() for cell in row.split("|")[1:-1]] for row in list(rows)[2:]]


def test_the_fields_of_records() -> None:
    game = pyengine.load_game("gomoku(board_size=9)")
    spec = pyengine.ModelSpec(planes=("own[0]", "ones", "gomoku_distance"))
    dtype = data.Layout.of(game, spec, surprise=True).dtype
    rows = table_after("self-play.md", "Fields whose shape holds nothing are left out.")
    assert [row[0].strip("`") for row in rows] == list(dtype.names or ())
    for name, kind, _ in rows:
        field = dtype.fields[name.strip("`")][0]  # type: ignore[index]
        assert field.base.str.lstrip("<|") == kind.split("[")[0]
        assert len(field.shape) == (kind.count(",") + 1 if "[" in kind else 0)


def test_the_keys_of_the_files(tmp_path: Path) -> None:
    search = pyengine.SearchConfig(simulations=4, threads=1)
    config = pyengine.SelfPlayConfig(search=search, record_surprise=True)
    pyengine.selfplay("othello(board_size=4)", "uniform", games=2, out=tmp_path, config=config)
    dataset = pyengine.Dataset(tmp_path, reply=True, horizons=(6,), final_board=True)
    rows = table_after("self-play.md", "A row is a dict of arrays")
    assert {name.strip("`"): kind.split("[")[0] for name, kind, _ in rows} == {
        name: str(np.asarray(value).dtype) for name, value in dataset[0].items()
    }
    games = table_after("self-play.md", "has a line of JSON for each game")
    assert [row[0].strip("`") for row in games] == [f.name for f in dataclasses.fields(GameLine)]
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    keys = table_after("self-play.md", "says what the directory holds")
    assert [row[0].strip("`") for row in keys] == list(manifest)


def test_the_keys_of_stats() -> None:
    with pyengine.Engine("tic_tac_toe", "uniform", threads=1) as engine:
        engine.search(engine.game.new_initial_state(), simulations=8)
        found = set(engine.stats())
    told = {row[0].strip("`") for row in table_after("search.md", "**`stats`** returns")}
    assert told == found
