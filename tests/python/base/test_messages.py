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
from pyengine.conversion import random_leela
from pyengine.data import Layout, Manifest, ShardWriter
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

ODD_PATHS: dict[str, Any] = {name: value for name, value in ODD.items() if name != "long"} | {
    "too long": "x" * 5000
}


def engine() -> Any:
    return pyengine.Engine(GAME, "uniform", simulations=2, threads=1)


def searched(value: Any) -> Any:
    return engine().search(STATE).policy_at(value)


SPEC = pyengine.ModelSpec()


def _manifest() -> Any:
    return Manifest(layout=Layout.of(GAME, SPEC))


REFUSING: list[tuple[str, Callable[[Any], Any], dict[str, Any], str]] = [
    ("apply_action", lambda v: STATE.clone().apply_action(v), ODD, "action"),
    ("new_initial_state", lambda v: GAME.new_initial_state([v]), ODD, "moves"),
    ("state_from_board", lambda v: GAME.state_from_board([v] * 3), ODD, ""),
    ("deserialize_state", GAME.deserialize_state, ODD, ""),
    ("string_to_action", STATE.string_to_action, ODD, ""),
    ("load_game", api.load_game, ODD, ""),
    ("a parameter", lambda v: api.load_game("gomoku", rule=v), ODD, "rule"),
    ("simulations", lambda v: api.SearchConfig(simulations=v), ODD, "simulations"),
    ("in_flight", lambda v: api.SearchConfig(in_flight=v), ODD, "in_flight"),
    ("algorithm", lambda v: api.SearchConfig(algorithm=v), ODD, "algorithm"),
    ("a parameter's name", lambda v: api.load_game("go", **{str(v): 1}), LONG, "xx..."),
    ("a parameter's text", lambda v: api.load_game(f"go({v})"), LONG, "xx..."),
    ("a row", lambda v: GAME.state_from_board([v] * 3), LONG, "xx..."),
    ("start", lambda v: GAME.deserialize_state(f"{GAME};start={v}"), LONG, "xx..."),
    ("planes", lambda v: api.ModelSpec(planes=(v,)), LONG, "xx..."),
    ("value", lambda v: api.ModelSpec(value=(v, v, v)), LONG, "..."),
    ("a field of a spec", lambda v: api.ModelSpec.from_dict({v: 1}), LONG, "xx..."),
    ("layout", lambda v: api.ModelSpec(layout=v), ODD, "layout"),
    ("openings", lambda v: api.Openings(moves=v), ODD, "moves"),
    ("an evaluator", lambda v: api.Engine(GAME, v), ODD, "evaluator"),
    ("a configuration", lambda v: api.Engine(GAME, "uniform", config=v), ODD, "config"),
    ("on_progress", lambda v: engine().search(STATE, on_progress=v), ODD, "on_progress"),
    ("states", lambda v: api.UniformEvaluator().evaluate(v), ODD, "state"),
    (
        "symmetry",
        lambda v: api.UniformEvaluator().evaluate([STATE], symmetry=v),
        ODD,
        "symmetry",
    ),
    ("temperature", searched, ODD, "temperature"),
    ("mix", lambda v: api.MixedEvaluator("uniform", "rollout", v), ODD, "mix"),
    ("rollouts", api.RolloutEvaluator, ODD, "rollouts"),
    ("table_mb", lambda v: api.Solver(GAME, table_mb=v), ODD, "table_mb"),
    ("solve: seconds", lambda v: api.solve(STATE, seconds=v), ODD, "seconds"),
    ("solve: score", lambda v: api.solve(STATE, score=v), ODD, "score"),
    ("tune: engine", api.tune, ODD, "engine"),
    ("tune: seconds", lambda v: api.tune(engine(), v), ODD, "seconds"),
    (
        "tune: on_progress",
        lambda v: api.tune(engine(), 1.0, on_progress=v),
        ODD,
        "on_progress",
    ),
    ("method", lambda v: api.astar(GRID, (0, 0), (1, 1), method=v), ODD, "method"),
    ("weight_h", lambda v: api.astar(GRID, (0, 0), (1, 1), weight_h=v), ODD, "weight_h"),
    (
        "astar: seconds",
        lambda v: api.astar(GRID, (0, 0), (1, 1), seconds=v),
        ODD,
        "seconds",
    ),
    ("keep_status", lambda v: api.astar(GRID, (0, 0), (1, 1), keep_status=v), ODD, "keep"),
    ("start", lambda v: api.astar(GRID, v, (1, 1)), ODD, "start"),
    ("problem", lambda v: api.astar(v, 0, 1), ODD, "problem"),
    ("connectivity", lambda v: api.Grid(np.ones((2, 2), bool), v), ODD, "connectivity"),
    ("counts", api.Sprt().llr, {**ODD, "None": None, "four": [1] * 4}, "counts"),
    ("counts of a state", api.Sprt().state, {**ODD, "half": [0.5] * 5}, "counts"),
    (
        "a seed",
        api.RandomPlayer,
        {k: v for k, v in ODD.items() if "digits" not in k},
        "seed",
    ),
    ("blocks", lambda v: random_leela(v, 1), ODD, "blocks"),
    ("seconds", lambda v: ShardWriter("data", GAME, SPEC, seconds=v), ODD, "seconds"),
    ("a directory", _manifest().write, ODD_PATHS, "directory"),
    ("a path", api.OnnxEvaluator, LONG, "path"),
    ("a path of data", api.Dataset, LONG, "directories"),
]


@cases(REFUSING)
def test_an_unprintable_value_gives_one_short_line(
    call: Callable[[Any], Any], values: dict[str, Any], said: str
) -> None:
    check_refused(call, values, said, EngineError)


def test_a_message_quotes_both_ends_of_a_text() -> None:
    with pytest.raises(ConfigError, match=r'unknown game "x{50}\.\.\.x{50}": expected one of'):
        pyengine.load_game("x" * 100_000)


def test_a_message_quotes_both_ends_of_a_name() -> None:
    with pytest.raises(ConfigError, match=r"^x{50}\.\.\.x{50}: unknown field of SearchConfig; "):
        api.SearchConfig(**{"x" * 5000: 1})
    with pytest.raises(ModelError, match=r"the provider 'x{50}\.\.\.x{50}' is not available"):
        api.OnnxEvaluator("connect4", providers=["x" * 5000])


def test_the_repr_of_a_game_is_not_shortened() -> None:
    game = pyengine.load_game("go", rows=19, columns=18, superko="situational", suicide=True)
    assert repr(game) == f"Game({str(game)!r})"
    assert len(repr(game)) > 90


ENDLESS = Path("/dev/zero")
needs_endless = pytest.mark.skipif(not ENDLESS.exists(), reason="there is no /dev/zero here")


@needs_endless
def test_an_endless_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="/dev/zero: expected a rollout policy"):
        RolloutPolicy.load(ENDLESS)
    pytest.importorskip("sgfmill", reason="sgfmill is absent (extra `sgf`)")
    from pyengine.data import import_sgf

    game = pyengine.load_game("go", board_size=9)
    report = import_sgf(ENDLESS, tmp_path / "data", game, pyengine.ModelSpec())
    assert (report.games, dict(report.skipped)) == (0, {"unreadable": 1})


def test_converting_the_root_directory_requires_an_output(tmp_path: Path) -> None:
    from pyengine.data.export import fresh_directory

    with pytest.raises(ConfigError, match="out: expected a directory to write to, since"):
        fresh_directory(None, Path(tmp_path.anchor), "npz", False)


def test_folders_that_vanish_while_they_are_looked_through_are_an_error_of_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pyengine.data import import_sgf

    def vanish(*_: Any, **__: Any) -> Any:
        raise FileNotFoundError(2, "No such file or directory", str(tmp_path / "gone"))

    monkeypatch.setattr(os, "scandir", vanish)
    game = pyengine.load_game("go", board_size=9)
    with pytest.raises(DataError, match=r"cannot be read: .*gone"):
        import_sgf(tmp_path, tmp_path / "data", game, pyengine.ModelSpec())


def test_a_name_that_no_file_can_have_is_an_error_of_the_engine() -> None:
    assert os.sep not in "x" * 5000
    with pytest.raises(ConfigError, match="too long"):
        pyengine.OnnxEvaluator("x" * 5000)
