"""Wrong arguments of public functions: errors with name, expectation and value."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyengine
from pyengine import (
    ConfigError,
    DataError,
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
EMPTY = ["......."] * 6

Case = tuple[Callable[[], Any], type[EngineError], str]


def engine() -> Any:
    return Engine(GAME, "uniform", simulations=3, threads=1)


def searched() -> Any:
    return engine().search(STATE)


def advanced(action: Any) -> None:
    one = engine()
    one.search(STATE)
    one.advance(action)


def analysed(state: Any, **settings: Any) -> None:
    for _ in engine().analyze(state, simulations=3, **settings):
        pass


STATES: dict[str, Case] = {
    "a move as text": (
        lambda: STATE.apply_action("4"),
        ConfigError,
        "action: expected an int, got '4'",
    ),
    "no move": (lambda: STATE.apply_action(None), ConfigError, "got None"),
    "half a move": (lambda: STATE.apply_action(1.5), ConfigError, r"got 1\.5"),
    "a large move": (lambda: STATE.apply_action(10**30), ConfigError, "an int of 64 bits"),
    "no such move": (
        lambda: STATE.apply_action(7),
        IllegalActionError,
        r"7 does not exist.*0\.\.6",
    ),
    "a name of text": (lambda: STATE.action_to_string("x"), ConfigError, "expected an int"),
    "a number of a name": (
        lambda: STATE.string_to_action(3),
        ConfigError,
        "expected a str, got 3",
    ),
    "moves as text": (
        lambda: GAME.new_initial_state("443"),
        ConfigError,
        "moves: expected a sequence of ints, got '443'",
    ),
    "moves of an array without dimensions": (
        lambda: GAME.new_initial_state(np.array(3)),
        ConfigError,
        r"moves: expected a sequence of ints, got array\(3\)",
    ),
    "no moves": (lambda: GAME.new_initial_state(None), ConfigError, "got None"),
    "moves of texts": (
        lambda: GAME.new_initial_state(["4"]),
        ConfigError,
        "moves: expected an int",
    ),
    "no board": (
        lambda: GAME.state_from_board(None),
        ConfigError,
        "rows: expected strings, got None",
    ),
    "a board of numbers": (lambda: GAME.state_from_board([1]), ConfigError, "got 1"),
    "a player's stone": (
        lambda: GAME.state_from_board(EMPTY, "X"),
        ConfigError,
        "player: expected an int, got 'X'",
    ),
    "a third player": (lambda: GAME.state_from_board(EMPTY, 5), ConfigError, "0 or 1, got 5"),
    "a ko of a number": (
        lambda: GAME.state_from_board(EMPTY, ko=3),
        ConfigError,
        "ko: expected a str",
    ),
    "no text": (lambda: GAME.deserialize_state(None), ConfigError, "text: expected a str"),
    "a symmetry's name": (lambda: GAME.symmetry_action("a", 1), ConfigError, "k: expected an int"),
    "a large symmetry": (
        lambda: GAME.symmetry_points(2),
        ConfigError,
        r"symmetry must be in 0\.\.1",
    ),
}

GAMES: dict[str, Case] = {
    "a number": (lambda: api.load_game(3), ConfigError, "the name of a game, got 3"),
    "a typing error": (
        lambda: api.load_game("conect_four"),
        ConfigError,
        "expected one of connect_four.*did you mean connect_four?",
    ),
    "a class as Python names it": (
        lambda: api.load_game("games.heaps.Nim"),
        ConfigError,
        'got "games.heaps.Nim"; did you mean games.heaps:Nim?',
    ),
    "a parameter's typing error": (
        lambda: api.load_game("go", bord_size=9),
        ConfigError,
        'unknown parameter "bord_size"; did you mean board_size?',
    ),
    "an evaluator's typing error": (
        lambda: Engine("connect_four", "conect4"),
        ConfigError,
        "is neither a file nor one of.*did you mean connect4?",
    ),
    "a wrong value": (
        lambda: api.load_game("go", board_size="nine"),
        ConfigError,
        "the text nine$",
    ),
    "a game's name": (
        lambda: api.as_game("go"),
        ConfigError,
        r"^game: expected a Game, got 'go' \(str\); give load_game\('go'\)$",
    ),
    "a game's name for a spec": (
        lambda: api.ModelSpec.alphago_zero("go"),
        ConfigError,
        r"expected a Game, got 'go'.*load_game\('go'\)",
    ),
    "nobody's game": (lambda: api.as_game(None), ConfigError, "num_distinct_actions"),
}

ENGINES: dict[str, Case] = {
    "no game": (lambda: Engine(5, "uniform"), ConfigError, "lacks num_distinct_actions"),
    "no evaluator": (
        lambda: Engine(GAME, None),
        ConfigError,
        "evaluator must be .* got NoneType",
    ),
    "settings as a dict": (
        lambda: Engine(GAME, "uniform", config={"threads": 1}),
        ConfigError,
        "config: expected a SearchConfig, got {'threads': 1}",
    ),
    "an unknown setting": (
        lambda: Engine(GAME, "uniform", foo=1),
        ConfigError,
        "foo: unknown field",
    ),
    "no state": (lambda: engine().search(None), ConfigError, "expected a state of this game"),
    "one state for many": (
        lambda: engine().search_many(STATE),
        ConfigError,
        "states: expected a sequence of states, got <State",
    ),
    "no states": (lambda: engine().search_many(None), ConfigError, "got None"),
    "nothing to analyse": (
        lambda: analysed(None),
        ConfigError,
        "state: expected a state of connect_four",
    ),
    "a time as text": (lambda: analysed(STATE, every="x"), ConfigError, "every: expected a number"),
    "an advance by a name": (lambda: advanced("4"), ConfigError, "action: expected an int"),
    "progress to nobody": (
        lambda: engine().search(STATE, on_progress=3),
        ConfigError,
        "on_progress: expected a function or None, got 3",
    ),
    "no temperature": (lambda: searched().policy_at("a"), ConfigError, "temperature: .* got 'a'"),
    "no depth": (lambda: searched().tree(max_depth="a"), ConfigError, "max_depth: expected an int"),
    "nothing to solve": (lambda: api.minimax(None), ConfigError, "expected a state, got None"),
    "nothing to tune": (lambda: api.tune(None), ConfigError, "engine: expected an Engine"),
    "no time to tune": (lambda: api.tune(engine(), "x"), ConfigError, "seconds: .* got 'x'"),
    "no path of a network": (lambda: api.OnnxEvaluator(None), ConfigError, "path: .* got None"),
    "no such network": (lambda: api.OnnxEvaluator("absent"), ModelError, "does not exist"),
    "no path of a policy": (lambda: api.RolloutPolicy.load(3), ConfigError, "path: .* got 3"),
}


PATHS: dict[str, Case] = {
    "no problem": (lambda: api.astar(None, 0, 1), ConfigError, "problem: expected a Graph"),
    "corners": (
        lambda: api.Grid(np.ones((3, 3), bool), corner_cutting="x"),
        ConfigError,
        "corner_cutting: expected a bool, got 'x'",
    ),
}


def played(**arguments: Any) -> Any:
    return api.match(engine(), engine(), games=2, game=GAME, **arguments)


MATCHES: dict[str, Case] = {
    "nobody": (lambda: api.match(None, engine(), game=GAME), ConfigError, "a: expected an Engine"),
    "openings": (lambda: played(openings=4), ConfigError, "openings: expected .* got 4"),
    "moves of openings": (lambda: played(openings=["ab"]), ConfigError, r"got \['ab'\]"),
    "a record": (lambda: played(record=5), ConfigError, "record: expected a path, got 5"),
    "a record in no folder": (
        lambda: played(record="/no/r.jsonl"),
        DataError,
        "/no/r.jsonl cannot",
    ),
    "a record that is a folder": (lambda: played(record="/"), DataError, "got no regular file"),
    "confidence": (lambda: played(confidence="x"), ConfigError, "confidence: .* got 'x'"),
}

DATA: dict[str, Case] = {
    "no directory": (lambda: api.Dataset(None), ConfigError, "directories: .* got None"),
    "no data": (lambda: api.Dataset("absent"), ConfigError, "absent/manifest.json does not exist"),
    "self-play into nothing": (
        lambda: api.selfplay(GAME, "uniform", games=2, out=None),
        ConfigError,
        "out: expected a path, got None",
    ),
    "settings": (
        lambda: api.selfplay(GAME, "uniform", games=2, out="d", config=3),
        ConfigError,
        "config: expected a SelfPlayConfig",
    ),
    "nothing to convert": (lambda: api.convert(None, "npz"), ConfigError, "directory: .* None"),
}


def cases() -> list[Any]:
    tables = {
        "state": STATES,
        "game": GAMES,
        "engine": ENGINES,
        "path": PATHS,
        "match": MATCHES,
        "data": DATA,
    }
    return [
        pytest.param(*case, id=f"{area}: {name}")
        for area, table in tables.items()
        for name, case in table.items()
    ]


@pytest.mark.parametrize(("call", "error", "message"), cases())
def test_a_wrong_argument_is_a_named_error(
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


def test_an_sprt_of_two_numbers_is_refused_before_the_record_is_written(tmp_path: Path) -> None:
    file = tmp_path / "games.jsonl"
    with pytest.raises(ConfigError, match=r"sprt: expected an Sprt, such as .* got \(0, 10\)"):
        played(sprt=(0, 10), record=file)
    assert not file.exists()


def test_rows_are_drawn_by_a_generator(tmp_path: Path) -> None:
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


def test_a_tensor_with_a_gradient_is_reported() -> None:
    torch = pytest.importorskip("torch", reason="torch is absent (extra `train`)")

    def evaluate(planes: Any) -> Any:
        rows = len(planes)
        return torch.zeros(rows, 7, requires_grad=True), torch.zeros(rows)

    with pytest.raises(api.EvaluationError, match=r"got Tensor: .*detach\(\)\.numpy\(\)"):
        api.CallbackEvaluator(evaluate).evaluate([STATE])


def test_a_bundled_network_is_loaded_by_name() -> None:
    if "connect4" not in api.bundled_models():
        pytest.skip("connect4 is not bundled with this build")
    assert api.OnnxEvaluator("connect4").evaluate([STATE])[0].shape == (1, 7)


def test_a_huge_int_gives_a_short_message(tmp_path: Path) -> None:
    with pytest.raises(pyengine.ConfigError, match=r"^games: .* a value of type int"):
        pyengine.selfplay(GAME, "uniform", games=10**5000, out=tmp_path)


class TheirError(Exception):
    """An error in user code."""


def _fail(*_: Any) -> Any:
    raise TheirError("theirs")


def failing(*methods: str, **others: Any) -> Any:
    """Return an object whose methods raise."""
    return type("Failing", (), {**dict.fromkeys(methods, _fail), **others})()


def _problem(successors: Any, heuristic: Any = 0.0) -> Any:
    both = {"successors": lambda *_: successors, "heuristic": lambda *_: heuristic}
    return type("Problem", (), both)()


def _asked(verb: str) -> Callable[[Any], Any]:
    def ask(answer: Any) -> Any:
        kind = type("Asked", (Pairs,), {verb: lambda *_: answer})
        made = type("Asking", (ToyGame,), {"observation_tensor_shape": lambda *_: [2]})
        game = api.as_game(made(kind))
        state = game.new_initial_state()
        return (state.legal_actions(), state.observation_tensor(), state.returns())

    return ask


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
    "legal actions": (_asked("legal_actions"), failing("__getitem__", **TWO)),
    "planes": (_asked("observation_tensor"), failing("__array__")),
}


@pytest.mark.parametrize("name", FAILING)
def test_errors_of_user_objects_propagate(name: str) -> None:
    call, value = FAILING[name]
    with pytest.raises(TheirError, match="theirs"):
        call(value)


def test_planes_must_be_numbers() -> None:
    with pytest.raises(ConfigError, match=r"observation_tensor\(\) must return an array of floats"):
        _asked("observation_tensor")(object())
