"""Wrong arguments of games and states: one clear error each, and the state is as it was."""

from __future__ import annotations

from typing import Any

import pytest

import pyengine
from toy_games import Pairs, ToyGame, ToyState
from wrong_values import all_but, cases, check_refused, wrong

GAME = pyengine.load_game("connect_four")
GO = pyengine.load_game("go(board_size=5)")
REFUSED = (pyengine.ConfigError, pyengine.IllegalActionError)  # no int; an int that is no action
NUMBER = all_but("negative")  # what is no int that the engine can count with


@cases(
    [
        ("load_game", pyengine.load_game, all_but("text", "NUL"), "expected"),
        ("load_game, name", pyengine.load_game, {"name": "chess"}, "chess"),
        ("as_game", pyengine.as_game, all_but("text", "NUL"), "needs num_distinct_actions"),
        ("as_game, text", pyengine.as_game, wrong("text", "NUL"), "expected a Game, found"),
        ("moves", GAME.new_initial_state, all_but("list", "dict", "tuple", "array"), "moves"),
        ("moves, text", GAME.new_initial_state, {"digits": "443"}, "moves: expected"),
        ("rows", GAME.state_from_board, all_but("text", "NUL"), "rows"),
        ("rows, None", GAME.state_from_board, {"None": None}, "rows: expected"),
        ("player", lambda v: GAME.state_from_board(["......."] * 6, v), NUMBER, "player"),
        ("ko", lambda v: GO.state_from_board(["....."] * 5, ko=v), all_but("None"), "ko"),
        ("deserialize", GAME.deserialize_state, all_but("text", "NUL"), "expected a str"),
        ("symmetry", GAME.symmetry_points, all_but("negative"), ""),
        ("symmetry, k", lambda v: GAME.symmetry_action(v, 0), all_but("negative"), ""),
        ("observation", GAME.new_initial_state().observation_tensor, all_but("None"), "spec"),
    ]
)
def test_a_game_refuses(call: Any, values: dict[str, Any], said: str) -> None:
    check_refused(call, values, said)


@pytest.mark.parametrize("verb", ["apply_action", "action_to_string"])
def test_an_action_is_an_int_of_the_game(verb: str) -> None:
    state = GAME.new_initial_state([3])
    check_refused(getattr(state, verb), all_but(), "action", REFUSED)
    assert state.history() == [3]


def test_the_name_of_an_action_is_a_text() -> None:
    state = GAME.new_initial_state()
    check_refused(state.string_to_action, all_but(), "", REFUSED)


def test_moves_are_actions_of_the_game() -> None:
    check_refused(
        lambda v: GAME.new_initial_state([v]),
        all_but(),
        "expected",
        REFUSED,
    )


def test_numbers_of_numpy_are_actions() -> None:
    import numpy as np

    state = GAME.new_initial_state(np.array([3, 3]))
    state.apply_action(np.int64(3))
    assert state.history() == [3, 3, 3]


class Answers(ToyState):
    """Five plies; a method answers what a test wants."""

    verb = ""
    answer: Any = None

    def is_terminal(self) -> bool:
        return len(self.moves) == 5

    def __getattribute__(self, name: str) -> Any:
        own = type(self)
        if name == own.verb and name:
            return lambda: own.answer
        return super().__getattribute__(name)


@pytest.mark.parametrize(
    ("verb", "answer", "said"),
    [
        ("returns", 1.0, "returns() must be two numbers, found 1.0"),
        ("returns", None, "returns() must be two numbers, found None"),
        ("returns", ["a", "b"], "returns() must be two numbers"),
        ("returns", [0.0], "returns() must be two numbers"),
        ("legal_actions", None, "legal_actions() must return a sequence of ints, found None"),
        ("legal_actions", [0.5], "legal_actions() must return a sequence of ints"),
        ("current_player", "x", "current_player() must return an int, found 'x'"),
        ("history", 3, "history() must be a list of ints, found 3"),
        ("history", None, "history() must be a list of ints, found None"),
        ("history", "a", "history() must be a list of ints, found 'a'"),
        ("clone", 3, "clone() must return a state, found 3"),
        ("clone", None, "clone() must return a state, found None"),
    ],
)
def test_check_game_reports_answers_of_a_wrong_type(verb: str, answer: Any, said: str) -> None:
    kind = type("Wrong", (Answers,), {"verb": verb, "answer": answer})
    report = pyengine.check_game(ToyGame(kind), games=1)
    assert not report.ok
    assert said in report.message


@pytest.mark.parametrize(
    "use",
    [
        pyengine.as_game,
        lambda game: pyengine.solve(game.new_initial_state(), game=game),
        lambda game: pyengine.search(game.new_initial_state(), game=game, evaluator="rollout"),
    ],
)
def test_a_past_that_is_no_list_is_refused(use: Any) -> None:
    kind = type("Wrong", (Answers,), {"verb": "history", "answer": None})
    with pytest.raises(
        pyengine.ConfigError, match=r"history\(\) must be a list of ints, found None"
    ):
        use(ToyGame(kind))


@pytest.mark.parametrize("answer", [None, 3, "state"])
def test_a_clone_that_is_no_state_stops_the_search(answer: Any) -> None:
    kind = type("Wrong", (Answers,), {"verb": "clone", "answer": answer})
    state = ToyGame(kind).new_initial_state()
    with (
        pyengine.Engine(ToyGame(kind), "rollout") as engine,
        pytest.raises(pyengine.ConfigError, match=r"clone\(\) must return a state, found"),
    ):
        engine.search(state, simulations=20)


def test_check_game_refuses_numbers_that_are_none() -> None:
    game = ToyGame(Pairs)
    check_refused(lambda v: pyengine.check_game(game, games=v), all_but("huge"), "games")
    check_refused(lambda v: pyengine.check_game(game, games=0, seed=v), all_but("huge"), "seed")


@pytest.mark.parametrize(
    ("attribute", "values"),
    [
        ("num_distinct_actions", all_but("function", "negative")),
        ("new_initial_state", all_but("function")),
        ("max_utility", all_but("function", "fraction", "huge", "negative")),
        ("max_game_length", all_but("function", "negative")),
        ("board_shape", all_but("None", "function")),
        ("num_symmetries", all_but("function")),
        ("num_players", all_but("function")),
    ],
)
def test_a_game_of_wrong_attributes_is_refused_by_their_name(
    attribute: str, values: dict[str, Any]
) -> None:
    def wrap(value: Any) -> None:
        game = ToyGame(Pairs)
        setattr(game, attribute, value)
        pyengine.as_game(game)

    check_refused(wrap, values, "players" if attribute == "num_players" else attribute)


@pytest.mark.parametrize("use", [pyengine.as_game, lambda game: pyengine.Engine(game, "uniform")])
def test_a_class_of_games_is_called_so(use: Any) -> None:
    said = r"expected a game, found the class ToyGame; make one with ToyGame\(\.\.\.\)"
    with pytest.raises(pyengine.ConfigError, match=said):
        use(ToyGame)


def test_a_class_whose_methods_need_no_object_is_a_game() -> None:
    class Static:
        @staticmethod
        def num_distinct_actions() -> int:
            return 3

        @classmethod
        def new_initial_state(cls) -> Any:
            return ToyState()

    assert pyengine.as_game(Static).num_distinct_actions() == 3


def test_a_past_that_is_no_method_is_refused() -> None:
    kind = type("Wrong", (Answers,), {"verb": "", "answer": None, "history": [0]})
    with pytest.raises(pyengine.ConfigError, match="history must be a method, found"):
        pyengine.as_game(ToyGame(kind))
