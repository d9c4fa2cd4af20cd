"""Invalid arguments of the data functions: the error names the argument, nothing is written."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyengine
from data_games import PLAIN, TIC, finished, some, write
from pyengine import ConfigError
from pyengine.data import Dataset, Layout, Manifest, ShardWriter, export_sgf, import_sgf
from pyengine.eval import RolloutPolicy
from pyengine.match import RandomPlayer
from pyengine.selfplay import SelfPlayer
from wrong_values import all_but, cases, check_refused, no_paths

GO = pyengine.load_game("go(board_size=5)")
CONFIG = pyengine.SelfPlayConfig(search=pyengine.SearchConfig(simulations=4, threads=1))
RNG = np.random.default_rng(0)
ZEROS = np.zeros(65536, np.float32)
MAYBE_PATHS = {k: v for k, v in no_paths().items() if k != "list"}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with three games."""
    return write(tmp_path_factory.mktemp("data"), TIC, PLAIN, some(random.Random(0), 3))


#: Methods of a dataset with valid arguments, and invalid values for each argument.
OF_DATASETS: dict[str, tuple[dict[str, Any], dict[str, dict[str, Any]]]] = {
    "Dataset": ({}, {
        "window": {**all_but("None", "huge", "tuple"), "0": 0, "half": [1.5], "two": [1, 2]},
        "weights": {**all_but("None", "tuple", "array"), "0": [0], "text": ["x"], "two": [1, 1]},
        "horizons": {**all_but("list", "tuple", "array"), "0": [6, 0], "nan": [np.nan]},
        "surprise_weight": {**all_but(), "1.1": 1.1, "none recorded": 0.5},
        "seed": all_but("huge"),
        **dict.fromkeys(("full_only", "augment", "reply", "final_board", "verify"), all_but()),
    }),
    "batches": ({"size": 4}, {
        "size": {**all_but("huge"), "0": 0}, "seed": all_but("huge"),
        **dict.fromkeys(("shuffle", "augment", "drop_last"), all_but()),
    }),
    "sample": ({"size": 1, "rng": RNG}, dict.fromkeys(("size", "rng", "augment"), all_but())),
    "rows": ({"indices": [0]}, {
        "symmetries": {**all_but("None", "tuple"), "9": [9], "-1": [-1], "two": [0, 0]},
    }),
    "verify": ({}, {"on_progress": all_but("None", "function")}),
    "set_epoch": ({}, {"epoch": all_but("huge")}),
}  # fmt: skip


@pytest.mark.parametrize("function", OF_DATASETS)
def test_a_dataset_rejects_invalid_arguments(function: str, data: Path) -> None:
    call = partial(Dataset, data) if function == "Dataset" else getattr(Dataset(data), function)
    valid, wrong_arguments = OF_DATASETS[function]
    for name, values in wrong_arguments.items():
        check_refused(lambda value, name=name: call(**{**valid, name: value}), values, name)  # type: ignore[misc]


NO_INDICES: dict[type[Exception], tuple[Callable[[Dataset], Any], ...]] = {
    TypeError: (
        lambda d: d[1.5],  # type: ignore[index]
        lambda d: d["1"],  # type: ignore[index]
        lambda d: d.rows([0.7, 1.2]),
        lambda d: d.rows([True, False]),
        lambda d: d.rows([[0, 1]]),
    ),
    IndexError: (
        lambda d: d[len(d)],
        lambda d: d[-len(d) - 1],
        lambda d: d.rows([0, len(d)]),
        lambda d: d.rows([-1]),
        lambda d: d.rows(np.array([2**64 - 1], np.uint64)),
        lambda d: d.__getitems__([-1]),
    ),
}


def test_invalid_indices_raise_the_same_errors_as_for_a_list(data: Path) -> None:
    dataset = Dataset(data, augment=True)
    for kind, calls in NO_INDICES.items():
        for call in calls:
            with pytest.raises(kind):
                call(dataset)


GAME = finished(TIC, PLAIN, 0, random.Random(0))

#: Invalid values of the fields of a game.
WRONG: dict[str, list[Any]] = {
    "number": [2**32],
    "returns": [(2.0, -2.0), (1.0, 1.0), [0.5] * 5000],
    "lowest": [-2.0],
    "visits": [GAME.visits[:, :8], GAME.visits.astype(int) + 2**16, GAME.visits * 0],
    "bits": [GAME.bits[:-1]],
    "moves": [GAME.moves[None]],
    "ply": [GAME.ply[1:], GAME.ply * 0, GAME.ply + 1],
    "action": [(GAME.action + 1) % 9],
    "to_move": [GAME.to_move + 1],
    "full": [],
    "taught": [GAME.full[1:], GAME.full + 1],
    "root_value": [GAME.root_value * np.nan, GAME.root_value.astype(float) * 0 - 1e39],
    "network_value": [GAME.network_value * np.inf, GAME.network_value.astype(float) * 0 + 1e39],
}
for _name in ("moves", "visits", "ply", "action", "to_move", "full"):
    WRONG[_name] += [getattr(GAME, _name) * 0.0 + value for value in (-1, 0.5, np.nan, 2**16)]


def test_an_invalid_game_is_refused_and_the_others_remain(tmp_path: Path) -> None:
    with ShardWriter(tmp_path, TIC, PLAIN) as writer:
        writer.add(GAME)
        for name in {field.name for field in dataclasses.fields(GAME)} - {"surprise"}:
            for value in (object(), *WRONG.get(name, ())):
                with pytest.raises(ConfigError, match=name):
                    writer.add(dataclasses.replace(GAME, **{name: value}))
        check_refused(writer.add, all_but(), "game: expected a FinishedGame")
        check_refused(writer.set_model, all_but("text", "NUL"), "sha256")
        for change in ({"returns": (1.0, -1.0)}, {"returns": (0.0, 0.0), "resigned": 0}):
            with pytest.raises(ConfigError, match="cut_short"):
                writer.add(dataclasses.replace(GAME, cut_short=True, **change))
        assert writer.games == 1
    with pytest.raises(ConfigError, match="closed"):
        writer.add(GAME)


def test_surprise_is_required_if_the_layout_has_it() -> None:
    layout, n = Layout.of(TIC, PLAIN, surprise=True), len(GAME.ply)
    for column in (None, np.zeros(n + 1), np.full(n, -1.0), np.full(n, np.nan)):
        with pytest.raises(ConfigError, match=r"^surprise: expected"):
            dataclasses.replace(GAME, surprise=column).records(layout)


def play(**arguments: Any) -> pyengine.SelfPlayReport:
    defaults = {"game": "tic_tac_toe", "evaluator": "uniform", "games": 2, "out": "new"}
    return pyengine.selfplay(**{**defaults, "config": CONFIG, **arguments})


def player(**arguments: Any) -> SelfPlayer:
    return SelfPlayer(**{"game": TIC, "evaluator": "uniform", "config": CONFIG, **arguments})


def convert(**arguments: Any) -> Any:
    return pyengine.convert(**{"directory": "none", "to": "npz", **arguments})


def importing(**arguments: Any) -> Any:
    return import_sgf(**{"paths": [], "out": "out", "game": GO, "spec": PLAIN, **arguments})


def writing(**arguments: Any) -> Any:
    return ShardWriter(**{"directory": "new", "game": TIC, "spec": PLAIN, **arguments})


def rows(call: Callable[..., Any], table: dict[str, dict[str, Any]]) -> Any:
    """Yield a case for each argument of a function."""
    for name, values in table.items():
        label = f"{call.__name__}, {name}"
        yield label, lambda v, n=name: call(**{n: v}), values, "" if name == "evaluator" else name


NO_SECONDS = all_but("fraction", "huge")
CALLBACK = all_but("None", "function")


@cases(
    [
        *rows(play, {
            "game": all_but(), "evaluator": all_but("function"), "games": {**all_but(), "0": 0},
            "out": no_paths(), "config": all_but("None"), "spec": all_but("None"),
            "on_progress": CALLBACK,
        }),
        *rows(player, {"game": all_but(), "config": all_but("None"), "spec": all_but("None"),
                       "first_number": all_but()}),
        *rows(convert, {"directory": no_paths(), "to": {**all_but(), "csv": "csv"},
                        "on_progress": CALLBACK, "overwrite": all_but()}),
        *rows(export_sgf, {"directory": no_paths()}),
        *rows(lambda **arguments: export_sgf("none", **arguments), {
            "games": {**all_but("None", "huge", "list", "tuple"), "half": [0.5], "-1": [-1]},
            "comments": all_but(), "overwrite": all_but(), "on_progress": CALLBACK,
        }),
        *rows(importing, {
            "paths": {**MAYBE_PATHS, "one of several": [None]}, "configuration":
            all_but("None", "dict"), "on_progress": CALLBACK, "game": all_but(),
            "spec": all_but(), "komi": {**all_but(), "5.5": 5.5},
        }),
        *rows(writing, {
            "directory": no_paths(), "game": all_but(), "spec": all_but(),
            "configuration": {**all_but("None", "dict"), "an object within": {"a": object()}},
            "model_sha256": all_but("None", "text", "NUL"), "surprise": all_but(),
            "positions": {**all_but("huge"), "0": 0}, "seconds": NO_SECONDS,
        }),
        ("import_sgf, absent", lambda v: importing(paths=v), {"absent": "none.sgf"},
         "none.sgf does not exist"),
        ("import_sgf, out", lambda v: importing(out=v), no_paths(), "out"),
        ("import_sgf, game's name", lambda v: importing(game=v), {"name": "go"},
         "give load_game('go')"),
        ("Layout, game's name", lambda v: Layout.of(v, PLAIN), {"name": "go"}, "load_game('go')"),
        ("player, run", lambda v: player().run(v, print), all_but(), "games"),
        ("player, on_games", lambda v: player().run(1, v), all_but("function"), "on_games"),
        ("player, every", lambda v: player().run(1, print, every=v), NO_SECONDS, "every"),
        ("player, writer", lambda v: player().write(v), all_but(), "writer"),
        ("player, report", lambda v: player().report(seconds=v),
         {k: v for k, v in NO_SECONDS.items() if k != "None"}, "seconds"),
        ("player, replace_evaluator", lambda v: player().replace_evaluator(v),
         all_but("function"), "evaluator"),
        ("settings", pyengine.SelfPlayConfig.from_dict, all_but("dict"), "fields"),
        ("settings, search", lambda v: pyengine.SelfPlayConfig.from_dict({"search": v}),
         all_but("dict"), ""),
        ("settings, names", pyengine.SelfPlayConfig.from_dict, {"1": {1: 2}, "new": {"new": 1}},
         "unknown field of SelfPlayConfig"),
        ("Dataset", Dataset, MAYBE_PATHS, "directories"),
        ("Manifest", Manifest.read, no_paths(), "directory"),
        ("RandomPlayer", RandomPlayer,
         {k: v for k, v in all_but().items() if k in ("text", "fraction", "negative", "object")},
         "seed"),
        ("features", lambda v: RolloutPolicy(ZEROS, ZEROS, v), all_but("dict"),
         "features"),
        ("load", RolloutPolicy.load, no_paths(), "path"),
        ("save", RolloutPolicy(ZEROS, ZEROS, {}).save, no_paths(), "path"),
        ("doctor", pyengine.doctor, all_but("huge"), "device_id"),
    ]
)  # fmt: skip
def test_a_refused_call_writes_nothing(
    call: Any, values: dict[str, Any], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    check_refused(call, values, said)
    assert list(tmp_path.iterdir()) == []
