"""Wrong arguments of public functions raise an error that names the expectation and the value.

Each room has a table of its own arguments; here are those that concern several rooms.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyengine
from pyengine import (
    ConfigError,
    Engine,
    EngineError,
    IllegalActionError,
    ModelError,
    SearchConfig,
    SelfPlayConfig,
)
from toy_games import Pairs, ToyGame

api: Any = pyengine  # wrong types on purpose
GAME: Any = pyengine.load_game("connect_four")
STATE: Any = GAME.new_initial_state()


@pytest.mark.parametrize(
    ("call", "hint"),
    [
        (lambda: api.load_game("conect_four"), r"did you mean connect_four\?"),
        (lambda: api.load_game("games.heaps.Nim"), r"did you mean games\.heaps:Nim\?"),
        (lambda: api.load_game("go", bord_size=9), r"did you mean board_size\?"),
        (lambda: Engine("connect_four", "conect4"), r"did you mean connect4\?"),
        (lambda: api.games.as_game("go"), r"give load_game\('go'\)$"),
        (lambda: api.ModelSpec.alphago_zero("go"), r"load_game\('go'\)"),
    ],
)
def test_a_misspelt_name_gets_a_hint(call: Callable[[], Any], hint: str) -> None:
    with pytest.raises(ConfigError, match=hint):
        call()


def played(record: Any) -> Any:
    engine = Engine(GAME, "uniform", simulations=3, threads=1)
    return api.match(engine, engine, games=2, game=GAME, record=record)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: STATE.apply_action(10**30), ConfigError, "an int of 64 bits"),
        (lambda: api.eval.Evaluator(None), ConfigError, "^native: "),
        (lambda: STATE.apply_action(7), IllegalActionError, r"7 does not exist.*0\.\.6"),
        (lambda: GAME.state_from_board(["......."] * 6, 5), ConfigError, "0 or 1, got 5"),
        (lambda: GAME.symmetry_points(2), ConfigError, r"symmetry must be in 0\.\.1"),
        (lambda: api.load_game("go", board_size="nine"), ConfigError, "the text nine$"),
        (lambda: Engine(GAME, "uniform", foo=1), ConfigError, "foo: unknown field"),
        (lambda: api.OnnxEvaluator("absent"), ModelError, "does not exist"),
        (lambda: api.astar(None, 0, 1), ConfigError, "problem: expected a Graph"),
        (lambda: api.Grid(np.ones((3, 3), bool), corner_cutting="x"), ConfigError,
         "corner_cutting: expected a bool, got 'x'"),
        (lambda: played(record="/no/r.jsonl"), ConfigError, "/no does not exist"),
        (lambda: played(record="/"), ConfigError, "got a directory"),
        (lambda: api.Dataset("absent"), ConfigError, "absent/manifest.json does not exist"),
    ],
)  # fmt: skip
def test_an_unusable_value_is_named_and_nothing_is_written(
    call: Callable[[], Any],
    error: type[EngineError],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match=message):
        call()
    assert list(tmp_path.iterdir()) == []
    assert STATE.history() == []


def test_a_sample_needs_a_numpy_generator(tmp_path: Path) -> None:
    config = SelfPlayConfig(search=SearchConfig(simulations=8), concurrent_games=2)
    api.selfplay("tic_tac_toe", "uniform", games=2, out=tmp_path / "data", config=config)
    data = api.Dataset(tmp_path / "data")
    for rng in (0, None, np.random.RandomState(0)):
        with pytest.raises(ConfigError, match=r"rng: expected a numpy\.random\.Generator, got"):
            data.sample(8, rng)


@pytest.mark.parametrize("returns", [1.0, None, ["x", "y"], [1.0]])
def test_check_game_reports_wrong_returns(returns: Any) -> None:
    class Broken(Pairs):
        def returns(self) -> Any:
            return returns

    report = api.check_game(ToyGame(Broken), games=1)
    assert not report.ok
    assert report.message == f"returns() must be two numbers, got {returns!r}"


class UserError(Exception):
    """An error in user code."""


def _fail(*_: Any) -> Any:
    raise UserError("details")


def failing(*methods: str, **others: Any) -> Any:
    """Return an object whose methods raise."""
    return type("Failing", (), {**dict.fromkeys(methods, _fail), **others})()


def _problem(successors: Any, heuristic: Any = 0.0) -> Any:
    both = {"successors": lambda *_: successors, "heuristic": lambda *_: heuristic}
    return type("Problem", (), both)()


def _game_with(verb: str) -> Callable[[Any], Any]:
    """Return a function that calls a game whose method ``verb`` returns an answer."""

    def call(answer: Any) -> Any:
        kind = type("State", (Pairs,), {verb: lambda *_: answer})
        made = type("Game", (ToyGame,), {"observation_tensor_shape": lambda *_: [2]})
        state = api.games.as_game(made(kind)).new_initial_state()
        return (state.legal_actions(), state.observation_tensor(), state.returns())

    return call


TWO = {"__len__": lambda *_: 2}

FAILING: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "moves": (GAME.new_initial_state, failing("__getitem__", **TWO)),
    "moves without a length": (GAME.new_initial_state, failing("__len__", "__getitem__")),
    "moves of a list": (
        GAME.new_initial_state,
        type("Moves", (list,), {"__len__": _fail, "__iter__": _fail})([1]),
    ),
    "a move among others": (lambda v: GAME.new_initial_state([v]), failing("__index__")),
    "a move": (lambda v: STATE.clone().apply_action(v), failing("__index__")),
    "rows": (GAME.state_from_board, failing("__iter__")),
    "a parameter": (lambda v: api.load_game("connect_four", rows=v), failing("__index__")),
    "komi": (lambda v: api.load_game("go", komi=v), failing("__float__")),
    "a setting": (lambda v: SearchConfig(simulations=v), failing("__index__")),
    "a cost": (lambda v: api.astar(_problem([(1, v)]), 0, 2), failing("__float__")),
    "a heuristic": (lambda v: api.astar(_problem([], v), 0, 2), failing("__float__")),
    "successors": (lambda v: api.astar(_problem(v), 0, 2), failing("__iter__")),
    "legal actions": (_game_with("legal_actions"), failing("__getitem__", **TWO)),
    "planes": (_game_with("observation_tensor"), failing("__array__")),
}


@pytest.mark.parametrize("name", FAILING)
def test_errors_of_user_objects_propagate(name: str) -> None:
    call, value = FAILING[name]
    with pytest.raises(UserError, match="details"):
        call(value)


def test_planes_must_be_numbers() -> None:
    with pytest.raises(ConfigError, match=r"observation_tensor\(\) must return an array of floats"):
        _game_with("observation_tensor")(object())
