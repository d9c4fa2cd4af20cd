"""Python's garbage collector can traverse the engine: nothing outlives its last user."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np
import pytest

import pyengine
from pyengine import selfplay
from pyengine.eval import Evaluator
from pyengine.exact import Solver
from pyengine.games import as_game
from toy_games import Matches, ToyState

Answers = tuple[Any, Any]
SETTINGS: dict[str, Any] = {"simulations": 30, "threads": 2}


class MatchesOf(Matches):
    """States that reference their game, like OpenSpiel's."""

    def __init__(self, moves: tuple[int, ...] = (), game: Any = None) -> None:
        super().__init__(moves)
        self.game = game

    def clone(self) -> ToyState:
        return type(self)(self.moves, self.game)

    def observation_tensor(self) -> list[float]:
        return [float(self.left)]


class Owner:
    """A game, an evaluator and a problem in one, which references its users."""

    user: Any = None

    def num_distinct_actions(self) -> int:
        return 3

    def new_initial_state(self) -> MatchesOf:
        return MatchesOf((), self)

    def planes(self, planes: Any) -> Answers:
        return np.zeros((len(planes), 9)), np.zeros(len(planes))

    def states(self, states: Any) -> Answers:
        return np.ones((len(states), 3)), np.zeros(len(states))

    def successors(self, node: int) -> list[tuple[int, int]]:
        return [(node + 1, 1)]

    def heuristic(self, node: int) -> float:
        return 0.0

    def progress(self, *_: Any) -> bool:
        return True


def state_of(engine: pyengine.Engine) -> Any:
    return engine.game.new_initial_state()


def searched(engine: pyengine.Engine) -> pyengine.Engine:
    engine.search(state_of(engine))
    engine.advance(1)
    return engine


def used(evaluator: Evaluator) -> Evaluator:
    evaluator.evaluate([pyengine.load_game("tic_tac_toe").new_initial_state()])
    return evaluator


def planes_engine(evaluator: Any) -> pyengine.Engine:
    return pyengine.Engine("tic_tac_toe", evaluator, **SETTINGS)


def game_engine(game: Any, evaluator: Any = "rollout") -> pyengine.Engine:
    return pyengine.Engine(game, evaluator, **SETTINGS)


def solver(owner: Owner) -> Solver:
    made = Solver(owner, table_mb=1)
    made.solve(owner.new_initial_state())
    return made


def watched(owner: Owner) -> pyengine.Engine:
    engine = game_engine(owner)
    engine.search(owner.new_initial_state(), simulations=2000, on_progress=owner.progress)
    return engine


def analysed(owner: Owner, results: int) -> Iterator[Any]:
    stream = planes_engine(owner.planes).analyze(
        pyengine.load_game("tic_tac_toe").new_initial_state(), every=0.001, simulations=20
    )
    for _ in range(results):
        next(stream)
    return stream


def player(owner: Owner, evaluator: Any) -> selfplay.SelfPlayer:
    """Leaves games unfinished."""
    config = selfplay.SelfPlayConfig(concurrent_games=3, search=pyengine.SearchConfig(**SETTINGS))
    made = selfplay.SelfPlayer(owner, evaluator, config)
    made.run(50, lambda games: not list(games), every=0.0)
    return made


def path(owner: Owner) -> Any:
    return pyengine.astar(owner, 0, 2000, on_progress=owner.progress)


def class_with_engine(owner: Owner) -> Any:
    """A state class that references the engine."""

    class Own(MatchesOf):
        user: ClassVar[Any] = None

    owner.new_initial_state = lambda: Own()
    Own.user = owner.user = searched(game_engine(owner))
    return owner.user


Engines: dict[str, Callable[[Owner], pyengine.Engine]] = {
    "a function on planes": lambda o: searched(planes_engine(o.planes)),
    "a function on states": lambda o: searched(
        game_engine(Owner(), pyengine.StateEvaluator(o.states))
    ),
    "a mix of its states": lambda o: searched(
        game_engine(
            o, pyengine.MixedEvaluator(pyengine.StateEvaluator(o.states), "rollout", mix=0.5)
        )
    ),
    "a game": lambda o: searched(game_engine(o)),
    "a game and its evaluator": lambda o: searched(
        game_engine(o, pyengine.StateEvaluator(o.states))
    ),
    "a game of another wrapper": lambda o: searched(game_engine(as_game(o))),
    "on_progress": watched,
}

Others: dict[str, Callable[[Owner], Any]] = {
    "a solver": solver,
    "the game's wrapper": as_game,
    "a state's wrapper": lambda o: as_game(o).new_initial_state([1, 2]),
    "an evaluator": lambda o: used(pyengine.CallbackEvaluator(o.planes)),
    "a mixed evaluator": lambda o: used(pyengine.MixedEvaluator("uniform", o.planes)),
    "a result": lambda o: game_engine(o).search(o.new_initial_state()),
    "an iterator at its end": lambda o: [*analysed(o, 0)],
    "an iterator half way": lambda o: analysed(o, 1),
    "self-play": lambda o: player(o, "rollout"),
    "self-play by its function": lambda o: player(o, pyengine.StateEvaluator(o.states)),
    "a path": path,
    "a class of states": class_with_engine,
}


@pytest.fixture(autouse=True, scope="module")
def _only_what_the_tests_make() -> Iterator[None]:
    """Collections only visit these objects and are fast."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.parametrize("case", [*Engines, *Others])
def test_a_cycle_through_the_engine_is_collected(case: str) -> None:
    owner = Owner()
    owner.user = (Engines | Others)[case](owner)
    gone = weakref.ref(owner)
    del owner
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("case", Engines)
def test_close_releases_everything_at_once(case: str) -> None:
    owner = Owner()
    engine = owner.user = Engines[case](owner)
    gone = weakref.ref(owner)
    gc.disable()
    try:
        engine.close()
        del owner
        assert gone() is None
    finally:
        gc.enable()


def plays_on(state: pyengine.State) -> None:
    state.apply_action(0)
    state.undo_action()  # a new initial state of the game


def evaluates(bound: Any) -> None:
    bound.evaluate([pyengine.load_game("tic_tac_toe").new_initial_state()], False)


def searches(searcher: Any) -> None:
    searcher.search(MatchesOf((0,)), SETTINGS)


#: Objects that may keep a cycle alive, and how they are used.
Rests: dict[str, tuple[Callable[[Owner], Any], Callable[[Any], Any]]] = {
    "an engine": (lambda o: searched(game_engine(o)), searched),
    "its searcher": (lambda o: searched(game_engine(o))._open_parts.searcher, searches),
    "its evaluator": (lambda o: planes_engine(o.planes).evaluator, used),
    "a bound evaluator": (
        lambda o: used(pyengine.MixedEvaluator("uniform", o.planes))._bound,
        evaluates,
    ),
    "a game": (game_engine, lambda engine: plays_on(state_of(engine))),
    "a state": (lambda o: as_game(o).new_initial_state([1, 2]), plays_on),
    "a solver": (
        lambda o: solver(o)._solver,
        lambda core: core.solve(MatchesOf(), None, None, 1, False),
    ),
    "self-play": (
        lambda o: player(o, pyengine.StateEvaluator(o.states)),
        lambda made: made.run(1, list),
    ),
}


@pytest.mark.parametrize("case", Rests)
def test_the_rest_of_a_cycle_works_after_a_collection(case: str) -> None:
    make, use = Rests[case]
    owner = Owner()
    rest = owner.user = make(owner)
    alive = weakref.ref(owner)
    del owner
    gc.collect()
    use(rest)
    alive_owner = alive()
    assert alive_owner is not None
    assert alive_owner.user is rest


class Collecting(Owner):
    """Collects garbage whenever the engine calls it."""

    def new_initial_state(self) -> MatchesOf:
        gc.collect()
        return super().new_initial_state()

    def states(self, states: Any) -> Answers:
        gc.collect()
        return super().states(states)


def test_the_collector_may_run_while_the_first_object_of_a_subclass_is_created() -> None:
    threshold = gc.get_threshold()
    gc.set_threshold(1)
    try:
        for _ in range(200):
            type("Own", (pyengine.UniformEvaluator,), {})()
    finally:
        gc.set_threshold(*threshold)


@pytest.mark.parametrize("threads", [1, 3])
def test_the_collector_may_run_within_a_search(threads: int) -> None:
    owner = Collecting()
    engine = owner.user = game_engine(owner, pyengine.StateEvaluator(owner.states))
    expected = game_engine(Owner(), pyengine.StateEvaluator(Owner().states))
    settings: dict[str, Any] = {"threads": threads, "deterministic": True, "simulations": 60}
    result = engine.search(owner.new_initial_state(), **settings)
    assert result.visits.tolist() == expected.search(MatchesOf(), **settings).visits.tolist()


def test_the_collector_may_run_beside_a_search() -> None:
    owner = Owner()
    engine = owner.user = game_engine(owner)
    ended = threading.Event()

    def collect() -> None:
        while not ended.is_set():
            gc.collect()

    beside = threading.Thread(target=collect)
    beside.start()
    try:
        for _ in range(20):
            searched(engine)
    finally:
        ended.set()
        beside.join()
    gone = weakref.ref(owner)
    del owner, engine
    gc.collect()
    assert gone() is None
