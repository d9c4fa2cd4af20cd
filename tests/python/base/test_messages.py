"""Messages stay short and printable for values that are long or hard to print."""

from __future__ import annotations

import os
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyengine
from pyengine import ConfigError, DataError, EngineError, ModelError
from pyengine.base import files
from pyengine.conversion import random_leela
from pyengine.data import Layout, Manifest
from pyengine.eval import RolloutPolicy
from wrong_values import cases, check_refused

api: Any = pyengine
GAME: Any = pyengine.load_game("tic_tac_toe")
STATE: Any = GAME.new_initial_state()
GRID: Any = pyengine.Grid(np.ones((3, 3), bool))


class Coloured:
    def __repr__(self) -> str:
        return "\x1b[31mred\ud800"


#: Values with a long or multi-line repr, control characters or huge digits.
ODD: dict[str, Any] = {
    "thousands of digits": 10**5000,
    "no float": Fraction(10**400),
    "several lines": np.zeros((2, 2)),
    "objects": np.array([None, 1], object),
    "long": "x" * 5000,
    "control characters": "a\nb\x1b[31m\0",
    "a terminal's codes": Coloured(),
}

LONG = {"long": "x" * 5000}

NO_INT = {name: value for name, value in ODD.items() if "digits" not in name}
SPEC = pyengine.ModelSpec()
ENGINE = pyengine.Engine(GAME, "uniform", simulations=2, threads=1)


@cases(
    [
        ("apply_action", lambda v: STATE.clone().apply_action(v), ODD, "action"),
        ("new_initial_state", lambda v: GAME.new_initial_state([v]), ODD, "moves"),
        ("state_from_board", lambda v: GAME.state_from_board([v] * 3), ODD, ""),
        ("deserialize_state", GAME.deserialize_state, ODD, ""),
        ("string_to_action", STATE.string_to_action, ODD, ""),
        ("load_game", api.load_game, ODD, ""),
        ("load_game, rule", lambda v: api.load_game("gomoku", rule=v), ODD, "rule"),
        ("load_game, name", lambda v: api.load_game("go", **{str(v): 1}), LONG, "xx..."),
        ("load_game, text", lambda v: api.load_game(f"go({v})"), LONG, "xx..."),
        ("simulations", lambda v: api.SearchConfig(simulations=v), ODD, "simulations"),
        ("algorithm", lambda v: api.SearchConfig(algorithm=v), ODD, "algorithm"),
        ("start", lambda v: GAME.deserialize_state(f"{GAME};start={v}"), LONG, "xx..."),
        ("planes", lambda v: api.ModelSpec(planes=(v,)), LONG, "xx..."),
        ("value", lambda v: api.ModelSpec(value=(v, v, v)), LONG, "..."),
        ("a field", lambda v: api.ModelSpec.from_dict({v: 1}), LONG, "xx..."),
        ("layout", lambda v: api.ModelSpec(layout=v), ODD, "layout"),
        ("openings", lambda v: api.match.Openings(moves=v), ODD, "moves"),
        ("evaluator", lambda v: api.Engine(GAME, v), ODD, "evaluator"),
        ("config", lambda v: api.Engine(GAME, "uniform", config=v), ODD, "config"),
        ("on_progress", lambda v: ENGINE.search(STATE, on_progress=v), ODD, "on_progress"),
        ("states", lambda v: api.UniformEvaluator().evaluate(v), ODD, "state"),
        ("mix", lambda v: api.MixedEvaluator("uniform", "rollout", v), ODD, "mix"),
        ("rollouts", api.RolloutEvaluator, ODD, "rollouts"),
        ("table_mb", lambda v: api.exact.Solver(GAME, table_mb=v), ODD, "table_mb"),
        ("solve, score", lambda v: api.solve(STATE, score=v), ODD, "score"),
        ("tune", api.match.tune, ODD, "engine"),
        ("method", lambda v: api.astar(GRID, (0, 0), (1, 1), method=v), ODD, "method"),
        ("weight_h", lambda v: api.astar(GRID, (0, 0), (1, 1), weight_h=v), ODD, "weight_h"),
        ("keep_status", lambda v: api.astar(GRID, (0, 0), (1, 1), keep_status=v), ODD, "keep"),
        ("a node", lambda v: api.astar(GRID, v, (1, 1)), ODD, "start"),
        ("problem", lambda v: api.astar(v, 0, 1), ODD, "problem"),
        ("connectivity", lambda v: api.Grid(np.ones((2, 2), bool), v), ODD, "connectivity"),
        ("counts", api.match.Sprt().llr, {**ODD, "None": None, "four": [1] * 4}, "counts"),
        ("counts of a state", api.match.Sprt().state, {**ODD, "half": [0.5] * 5}, "counts"),
        ("a seed", api.match.RandomPlayer, NO_INT, "seed"),
        ("blocks", lambda v: random_leela(v, 1), ODD, "blocks"),
        ("a directory", Manifest(layout=Layout.of(GAME, SPEC)).write, ODD, "directory"),
        ("a path", api.OnnxEvaluator, LONG, "path"),
        ("a path of data", api.Dataset, LONG, "directories"),
    ]
)
def test_an_unprintable_value_gives_one_short_line(
    call: Callable[[Any], Any], values: dict[str, Any], said: str
) -> None:
    check_refused(call, values, said, EngineError)


@pytest.mark.parametrize(
    "call",
    [
        pyengine.load_game,
        lambda v: api.SearchConfig(**{v: 1}),
        lambda v: api.OnnxEvaluator("connect4", providers=[v]),
    ],
)
def test_a_message_quotes_both_ends_of_a_long_name(call: Callable[[str], Any]) -> None:
    with pytest.raises(EngineError, match=r"\bx{50}\.\.\.x{50}\b"):
        call("x" * 5000)


def test_the_repr_of_a_game_is_not_shortened() -> None:
    game = pyengine.load_game("go", rows=19, columns=18, superko="situational", suicide=True)
    assert repr(game) == f"Game({str(game)!r})"
    assert len(repr(game)) > 90


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="there is no /dev/zero here")
def test_an_endless_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_MAX_BYTES", 2**20)
    with pytest.raises(ModelError, match="/dev/zero: expected a rollout policy"):
        RolloutPolicy.load("/dev/zero")
    pytest.importorskip("sgfmill", reason="sgfmill is absent (extra `sgf`)")
    from pyengine.data import import_sgf

    game = pyengine.load_game("go", board_size=9)
    report = import_sgf(Path("/dev/zero"), tmp_path / "data", game, SPEC)
    assert (report.games, dict(report.skipped)) == (0, {"unreadable": 1})


def test_converting_the_root_directory_requires_an_output(tmp_path: Path) -> None:
    from pyengine.data.export import fresh_directory

    with pytest.raises(ConfigError, match="out: expected a directory to write to, since"):
        fresh_directory(None, Path(tmp_path.anchor), "npz", False)


def test_a_folder_that_vanishes_during_an_import_is_a_data_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pyengine.data import import_sgf

    def vanish(*_: Any, **__: Any) -> Any:
        raise FileNotFoundError(2, "No such file or directory", str(tmp_path / "gone"))

    monkeypatch.setattr(os, "scandir", vanish)
    game = pyengine.load_game("go", board_size=9)
    with pytest.raises(DataError, match=r"cannot be read: .*gone"):
        import_sgf(tmp_path, tmp_path / "data", game, SPEC)
