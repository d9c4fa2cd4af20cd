"""Wrong arguments and places of training data: one clear error each, and what was there stays."""

from __future__ import annotations

import dataclasses
import os
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyengine
from data_games import finished
from pyengine.base.files import check_output, replacing, write_durably
from pyengine.data import Layout, Manifest, ShardWriter, export_sgf, import_sgf
from pyengine.selfplay import SelfPlayer
from wrong_values import all_but, cases, check_refused, no_paths

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
        ("sample", lambda d, v: d.sample(v, np.random.default_rng(0)), all_but(), "size"),
        ("sample, augment", lambda d, v: d.sample(1, np.random.default_rng(0), v), all_but(),
         "augment: expected a bool"),
        ("shuffle", lambda d, v: d.batches(4, shuffle=v), all_but(), "shuffle"),
        ("augment", lambda d, v: d.batches(4, augment=v), all_but(), "augment"),
        ("drop_last", lambda d, v: d.batches(4, drop_last=v), all_but(), "drop_last"),
        ("on_progress", lambda d, v: d.verify(v), all_but("None", "function"), "on_progress"),
        ("symmetries", lambda d, v: d.rows([0], v), all_but("None", "tuple"), "symmetries"),
        ("set_epoch", lambda d, v: d.set_epoch(v), all_but("huge"), "epoch"),
    ]
)  # fmt: skip
def test_a_dataset_refuses(call: Any, values: dict[str, Any], said: str, data: Path) -> None:
    dataset = pyengine.Dataset(data)
    check_refused(lambda value: call(dataset, value), values, said)


@pytest.mark.parametrize("name", ["window", "weights", "full_only", "augment", "seed", "verify"])
def test_a_dataset_is_not_opened_with(name: str, data: Path) -> None:
    fits = {"window": ("None", "huge", "tuple"), "weights": ("None", "tuple", "array")}
    values = all_but(*fits.get(name, ("huge",) if name == "seed" else ()))
    check_refused(lambda value: pyengine.Dataset(data, **{name: value}), values, name)


#: A game's fields, and which of the wrong values each may have.
FIELDS: dict[str, tuple[str, ...]] = {
    "number": (),
    "returns": (),
    "moves": ("list", "tuple"),
    "resigned": ("negative",),
    "resignation_off": (),
    "cut_short": (),
    "lowest": ("None", "negative"),
    "taught": ("None",),
    "bits": (),
    "fill": (),
    "dense": ("list",),
    "visits": ("list", "tuple", "array"),
    "root_value": (),
    "network_value": (),
    "ply": (),
    "action": (),
    "to_move": (),
    "full": (),
}


@pytest.mark.parametrize("name", FIELDS)
def test_a_writer_takes_no_game_with(name: str, tmp_path: Path) -> None:
    game = finished(GAME, SPEC, 0, random.Random(0))
    with ShardWriter(tmp_path, GAME, SPEC) as writer:

        def add(value: Any) -> None:
            writer.add(dataclasses.replace(game, **{name: value}))

        check_refused(add, all_but(*FIELDS[name]), name)
        if name == "returns":
            check_refused(add, {"thousands of numbers": [0.5] * 5000}, name)
        with pytest.raises(pyengine.ConfigError, match="game: expected a FinishedGame"):
            writer.add(game.line())  # type: ignore[arg-type]
        assert writer.games == 0


@pytest.mark.parametrize("name", ["moves", "visits", "ply", "action", "to_move", "full"])
@pytest.mark.parametrize("value", [-1, 0.5, float("nan"), 2**16])
def test_a_column_of_whole_numbers_has_no_other(name: str, value: float) -> None:
    game = finished(GAME, SPEC, 0, random.Random(0))
    column = np.array(getattr(game, name), np.float64)
    column.flat[0] = value
    with pytest.raises(pyengine.ConfigError, match=rf"^{name} must be whole numbers in 0\.\."):
        dataclasses.replace(game, **{name: column}).records(Layout.of(GAME, SPEC))


def test_a_writer_takes_records_of_its_layout_alone(tmp_path: Path) -> None:
    game = finished(GAME, SPEC, 0, random.Random(0))
    with ShardWriter(tmp_path, GAME, SPEC) as writer:
        rows = game.records(writer.layout)
        check_refused(lambda v: writer.add_records(v, game.line()), all_but(), "rows")
        check_refused(lambda v: writer.add_records(rows, v), all_but(), "line")
        check_refused(writer.set_model, all_but("text", "NUL"), "sha256")
        with pytest.raises(pyengine.ConfigError, match=r"rows: expected \d+ records, found"):
            writer.add_records(rows[1:], game.line())
        assert writer.games == 0
    check_refused(game.records, all_but(), "layout: expected a Layout")


@pytest.mark.parametrize("path", ["", ".", "/", ".."])
def test_a_folder_is_no_file_to_write(path: str) -> None:
    with pytest.raises(OSError, match="expected a file's name, found a folder"):
        write_durably(Path(path), [b"new"])
    with pytest.raises(pyengine.DataError, match="expected a file's name"), replacing(Path(path)):
        pass


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


def player(**given: Any) -> SelfPlayer:
    """A player of few games."""
    return SelfPlayer(**{"game": GAME, "evaluator": "uniform", "config": CONFIG, **given})


def nothing(_games: object) -> None:
    """Take no game."""


NO_SECONDS = all_but("fraction", "huge")


@pytest.mark.usefixtures("in_empty_folder")
@cases(
    [
        ("selfplay, game", lambda v: play(game=v), all_but(), ""),
        ("selfplay, evaluator", lambda v: play(evaluator=v), all_but("function"), ""),
        ("selfplay, games", lambda v: play(games=v), all_but(), "games"),
        ("selfplay, out", lambda v: play(out=v), no_paths(), "out: expected a path"),
        ("selfplay, config", lambda v: play(config=v), all_but("None"), "config"),
        ("selfplay, spec", lambda v: play(spec=v), all_but("None"), "spec"),
        ("selfplay, on_progress", lambda v: play(on_progress=v),
         all_but("None", "function"), "on_progress"),
        ("player, game", lambda v: player(game=v), all_but(), ""),
        ("player, config", lambda v: player(config=v), all_but("None"), "config"),
        ("player, spec", lambda v: player(spec=v), all_but("None"), "spec"),
        ("player, first_number", lambda v: player(first_number=v), all_but(), "first_number"),
        ("player, games", lambda v: player().run(v, nothing), all_but(), "games"),
        ("player, on_games", lambda v: player().run(1, v), all_but("function"), "on_games"),
        ("player, every", lambda v: player().run(1, nothing, every=v), NO_SECONDS, "every"),
        ("player, writer", lambda v: player().write(v), all_but(), "writer"),
        ("player, report", lambda v: player().report(seconds=v),
         {k: v for k, v in NO_SECONDS.items() if k != "None"}, "seconds"),
        ("player, shards", lambda v: player().report(shards=v), all_but("huge"), "shards"),
        ("player, evaluator", lambda v: player().replace_evaluator(v),
         all_but("function"), "evaluator"),
        ("settings", pyengine.SelfPlayConfig.from_dict, all_but("dict"), "fields"),
        ("settings, search", lambda v: pyengine.SelfPlayConfig.from_dict({"search": v}),
         all_but("dict"), ""),
        ("settings, names", pyengine.SelfPlayConfig.from_dict, {"1": {1: 2}, "new": {"new": 1}},
         "no field of SelfPlayConfig"),
        ("settings, sized", pyengine.SelfPlayConfig().sized, all_but("huge"), "device_batches"),
        ("Dataset", pyengine.Dataset, {k: v for k, v in no_paths().items() if k != "list"},
         "directories"),
        ("convert", lambda v: pyengine.convert(v, "npz"), no_paths(), "directory"),
        ("convert, to", lambda v: pyengine.convert("none", v), all_but(), "format"),
        ("convert, on_progress", lambda v: pyengine.convert("none", "npz", on_progress=v),
         all_but("None", "function"), "on_progress"),
        ("convert, overwrite", lambda v: pyengine.convert("none", "npz", overwrite=v),
         all_but(), "overwrite: expected a bool"),
        ("export_sgf", export_sgf, no_paths(), "directory"),
        ("export_sgf, games", lambda v: export_sgf("none", games=v),
         all_but("None", "huge", "list", "tuple"), "games"),
        ("export_sgf, number", lambda v: export_sgf("none", games=[v]), all_but("huge"), "games"),
        ("export_sgf, comments", lambda v: export_sgf("none", comments=v), all_but(), "comments"),
        ("export_sgf, overwrite", lambda v: export_sgf("none", overwrite=v), all_but(),
         "overwrite"),
        ("export_sgf, on_progress", lambda v: export_sgf("none", on_progress=v),
         all_but("None", "function"), "on_progress"),
        ("import_sgf", lambda v: import_sgf(v, "out", GO, SPEC),
         {k: v for k, v in no_paths().items() if k != "list"}, "paths"),
        ("import_sgf, one of several", lambda v: import_sgf([v], "out", GO, SPEC), no_paths(),
         "paths"),
        ("import_sgf, absent", lambda v: import_sgf(v, "out", GO, SPEC), {"absent": "none.sgf"},
         "expected SGF files, found no none.sgf"),
        ("import_sgf, out", lambda v: import_sgf([], v, GO, SPEC), no_paths(), "directory"),
        ("import_sgf, configuration",
         lambda v: import_sgf([], "out", GO, SPEC, configuration=v), all_but("None", "dict"),
         "configuration"),
        ("import_sgf, on_progress", lambda v: import_sgf([], "out", GO, SPEC, on_progress=v),
         all_but("None", "function"), "on_progress"),
        ("import_sgf, game", lambda v: import_sgf("none", "out", v, SPEC), all_but(), "game"),
        ("import_sgf, game's name", lambda v: import_sgf("none", "out", v, SPEC), {"name": "go"},
         "expected a Game, found 'go' (str); give load_game('go')"),
        ("import_sgf, spec", lambda v: import_sgf("none", "out", GO, v), all_but(), "spec"),
        ("ShardWriter", lambda v: ShardWriter(v, GAME, SPEC), no_paths(), "directory"),
        ("ShardWriter, game", lambda v: ShardWriter("new", v, SPEC), all_but(), "game"),
        ("ShardWriter, spec", lambda v: ShardWriter("new", GAME, v), all_but(), "spec"),
        ("ShardWriter, configuration", lambda v: ShardWriter("new", GAME, SPEC, configuration=v),
         {**all_but("None", "dict"), "an object within": {"a": object()}}, "configuration"),
        ("ShardWriter, model_sha256", lambda v: ShardWriter("new", GAME, SPEC, model_sha256=v),
         all_but("None", "text", "NUL"), "model_sha256"),
        ("ShardWriter, positions", lambda v: ShardWriter("new", GAME, SPEC, positions=v),
         {**all_but("huge"), "0": 0}, "positions"),
        ("ShardWriter, seconds", lambda v: ShardWriter("new", GAME, SPEC, seconds=v),
         all_but("fraction", "huge"), "seconds"),
        ("Layout, game", lambda v: Layout.of(v, SPEC), all_but(), "game"),
        ("Layout, game's name", lambda v: Layout.of(v, SPEC), {"name": "go"}, "load_game('go')"),
        ("Layout, spec", lambda v: Layout.of(GAME, v), all_but(), "spec"),
        ("Layout, difference", Layout.of(GAME, SPEC).difference, all_but(), "found"),
        ("Layout, count", Layout.of(GAME, SPEC).count, all_but(), "kind: expected one of"),
        ("Layout, header", Layout.of(GAME, SPEC).header, all_but(), "positions: expected an int"),
        ("Manifest", Manifest.read, no_paths(), "directory"),
        ("RandomPlayer", pyengine.RandomPlayer,
         {k: v for k, v in all_but().items() if k in ("text", "fraction", "negative", "object")},
         "seed"),
        ("features", lambda v: pyengine.RolloutPolicy(ZEROS, ZEROS, v),
         all_but("dict"), "features"),
        ("load", pyengine.RolloutPolicy.load, no_paths(), "path"),
        ("save", pyengine.RolloutPolicy(ZEROS, ZEROS, {}).save, no_paths(), "path"),
        ("doctor", pyengine.doctor, all_but("huge"), "device_id"),
    ]
)  # fmt: skip
def test_what_takes_and_gives_data_refuses(call: Any, values: dict[str, Any], said: str) -> None:
    check_refused(call, values, said)
    assert list(Path().iterdir()) == []
