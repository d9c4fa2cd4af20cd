"""check_game reports every broken promise, and none in a correct game."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyengine
from pyengine.games import GameReport
from toy_games import HIDDEN, Matches, Pairs, Still, ToyGame, ToyState

BUILT_IN = [
    "tic_tac_toe",
    "connect_four",
    "gomoku(board_size=7,rule=standard)",
    "othello(board_size=6)",
    "go(board_size=5)",
    "go(rows=3,columns=5,suicide=true,superko=situational)",
    "go(board_size=4,superko=simple)",
]


@pytest.mark.parametrize("text", BUILT_IN)
def test_built_in_games_keep_their_promises(text: str) -> None:
    report = pyengine.check_game(pyengine.load_game(text), games=2)
    assert report, report
    assert (report.ok, report.games, report.moves, report.without) == (True, 2, (), ())


class Noughts(ToyState):
    """Tic-tac-toe."""

    actions = 9

    def legal_actions(self) -> list[int]:
        return [point for point in range(9) if point not in self.moves]

    def is_terminal(self) -> bool:
        return len(self.moves) == 9 or self.returns() != [0.0, 0.0]

    def returns(self) -> list[float]:
        for line in ({0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {0, 3, 6}, {1, 4, 7}, {2, 5, 8}, {0, 4, 8},
                     {2, 4, 6}):  # fmt: skip
            for player in (0, 1):
                if line <= set(self.moves[player::2]):
                    return [1.0 - 2 * player, 2.0 * player - 1]
        return [0.0, 0.0]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Noughts) and self.moves == other.moves

    def __hash__(self) -> int:
        return hash(self.moves)

    def observation_tensor(self) -> Any:
        return np.zeros((1, 3, 3))


class NoughtsGame(ToyGame):
    num_symmetries = 8
    board_shape = (3, 3)
    max_game_length = 9


def check(members: dict[str, Any], **of_game: Any) -> GameReport:
    """Check Noughts with other members of its states and of the game."""
    kind = type("OtherNoughts", (Noughts,), members)
    game = type("Noughts", (NoughtsGame,), of_game)(kind)
    return pyengine.check_game(game, games=20, seed=1)


def test_a_python_game_that_keeps_its_promises_passes() -> None:
    report = check({})
    assert (report.ok, report.message, report.games) == (True, "no broken promise", 20)
    assert report.plies > 100


def test_broken_promises_of_the_game_are_reported() -> None:
    assert "two players" in check({}, num_players=4).message
    longer = check({}, max_game_length=4)
    assert "max_game_length" in longer.message
    assert len(longer.moves) == 4


def legal_later(change: Callable[[list[int]], list[int]]) -> dict[str, Any]:
    """Return a method whose answer is changed from the third move on."""

    def legal_actions(self: Noughts) -> list[int]:
        legal = Noughts.legal_actions(self)
        return change(legal) if len(self.moves) > 1 else legal

    return {"legal_actions": legal_actions}


def returning(value: Any) -> Callable[..., Any]:
    return lambda *_: value


def apply_action(self: Noughts, action: int) -> None:
    raise RuntimeError("out of ink")


def eq(self: Noughts, other: Noughts) -> bool:
    return self.moves == other.moves


@pytest.mark.parametrize(
    ("members", "message"),
    [
        (legal_later(lambda legal: [*legal, 9]), r"0\.\.8, got \[9\]"),
        (legal_later(lambda legal: [a for a in legal if a != 2] or legal), "symmetry .*legal_act"),
        ({"is_terminal": returning(np.ones(2))}, "raised ValueError"),
        ({"returns": returning({-1: 0.5, 1: -0.5}), "is_terminal": lambda s: s.moves != ()}, "two"),
        ({"apply_action": apply_action}, r"^apply_action\(\) raised RuntimeError: out of ink$"),
        ({"returns": lambda s: [3 * x for x in Noughts.returns(s)]}, "max_utility"),
        (
            {"returns": lambda s: [float(s.moves[0] == 0), -float(s.moves[0] == 0)],
             "is_terminal": lambda s: len(s.moves) == 9},
            "symmetry .*returns",
        ),
        ({"clone": lambda s: s}, r"apply_action\(\d\) on a clone changed the original"),
        ({"clone": lambda s: type(s)(s.moves[1:])}, r"clone\(\)"),
        ({"history": lambda s: list(s.moves[:1])}, r"history\(\) must be"),
        ({"__eq__": lambda one, other: one is other}, r"clone\(\) is not =="),
        ({"__eq__": returning(True)}, r"the states before and after apply_action\("),
        ({"__eq__": returning(np.ones(2))}, "raised ValueError"),
        ({"__eq__": eq, "__hash__": lambda s: id(s)}, "another hash"),
        ({"__str__": returning(None)}, "raised TypeError: __str__"),
        ({"action_to_string": returning("x")}, "'x' for 0 and 1"),
        ({"action_to_string": lambda _, action: action}, "must return a str"),
        ({"action_to_string": lambda _, player, action: ""}, "raised TypeError: .*missing"),
        ({"observation_tensor": lambda s: np.zeros((1 + (len(s.moves) > 2), 3, 3))}, "hold 9"),
        ({"observation_tensor": returning(np.full((1, 3, 3), np.nan))}, "must be finite"),
        ({"apply_action": lambda s, action: type(s)((*s.moves, action))}, "returned another Other"),
        ({"apply_action": returning(None)}, r"apply_action\(\d\) did not change the state"),
    ],
)  # fmt: skip
def test_a_broken_promise_is_reported_with_the_moves_to_it(
    members: dict[str, Any], message: str
) -> None:
    report = check(members)
    assert not report
    assert re.search(message, report.message), report.message
    assert "BROKEN" in str(report)
    assert str(list(report.moves)) in str(report)


class Circle(ToyState):
    """Cycles through four points; it has no history."""

    history = HIDDEN

    def apply_action(self, action: int) -> None:
        self.moves = (*self.moves, action)[:4] if len(self.moves) < 3 else ()


class New(ToyState):
    """Returns a new state instead of changing itself, in a functional style."""

    def apply_action(self, action: int) -> Any:
        return type(self)((*self.moves, action))


def test_a_game_without_an_end_is_reported_in_a_few_words() -> None:
    report = pyengine.check_game(ToyGame(Circle))
    assert "not over after max_game_length, 10000 plies" in report.message
    assert len(report.moves) == 10_000
    assert len(str(report)) < 500


@pytest.mark.parametrize(
    ("kind", "algorithm", "message"),
    [
        (New, "puct", r'game "ToyGame": apply_action\(\) must change .* got another New'),
        (Still, "uct", "not over after max_game_length, 10000 plies"),
        (Circle, "puct", "not over after max_game_length, 10000 plies"),
    ],
)
def test_a_search_without_progress_is_an_error(kind: Any, algorithm: str, message: str) -> None:
    with (
        pyengine.Engine(ToyGame(kind), "rollout", algorithm=algorithm, threads=2) as engine,
        pytest.raises(pyengine.ConfigError, match=message),
    ):
        engine.search(kind())


class Foreign:
    """A PyTorch-like tensor: `size` is a method, and NumPy reads it through `__array__`."""

    shape = (1, 3, 3)

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.zeros(self.shape, dtype)

    def size(self) -> tuple[int, ...]:
        return self.shape


@pytest.mark.parametrize("planes", [Foreign(), np.zeros((1, 3, 3)), [0.0] * 9])
def test_planes_are_read_as_the_engine_reads_them(planes: Any) -> None:
    report = check({"observation_tensor": returning(planes)}, observation_tensor_shape=(1, 3, 3))
    assert report.message == "no broken promise"


def test_initial_states_are_independent() -> None:
    class Sharing(Pairs):
        moves: Any

        def clone(self) -> Any:
            return Sharing(list(self.moves))

        def apply_action(self, action: int) -> None:
            self.moves.append(action)

    for start, moves in ((Noughts(), 0), (None, 1)):
        shared: Any = []
        game = ToyGame(Sharing if start is None else Noughts)
        game.new_initial_state = lambda s=start, m=shared: s or Sharing(m)
        report = pyengine.check_game(game)
        assert "new_initial_state() must return a new state each time" in report.message
        assert len(report.moves) == moves


def test_missing_features_are_listed_with_their_cost() -> None:
    report = pyengine.check_game(ToyGame(Pairs), games=1)
    assert report.ok
    assert [line.split(":")[0] for line in report.without] == [
        "__eq__ and __hash__",
        "transposition_key(), or __eq__ and __hash__",
        "observation_tensor()",
        "play_out()",
        "__str__",
        "action_to_string()",
        "max_game_length",
        "num_symmetries",
    ]
    assert "\n  without __str__: its positions are not shown\n" in str(report)
    game: Any = ToyGame(Pairs)
    game.max_utility = 1e9
    far = pyengine.check_game(game, games=3).without
    assert any(line.startswith("a max_utility near its returns (1e+09") for line in far)


def test_the_cost_of_a_missing_history_depends_on_the_text() -> None:
    class Seven(Circle):
        def is_terminal(self) -> bool:
            return len(self.moves) == 3

    report = pyengine.check_game(ToyGame(Seven), games=1)
    assert report.without[0] == "history() and __eq__: a search tree is never reused"
    Seven.__str__ = lambda self: f"at {self.moves}"
    report = pyengine.check_game(ToyGame(Seven), games=1)
    assert "reused only after Engine.advance" in report.without[0]


def test_equal_states_with_different_futures_are_a_broken_promise() -> None:
    class Forgetful(Matches):
        def __eq__(self, other: object) -> bool:
            return isinstance(other, Forgetful) and len(self.moves) == len(other.moves)

        def __hash__(self) -> int:
            return len(self.moves)

    report = pyengine.check_game(ToyGame(Forgetful))
    assert "states that are == must have the same future" in report.message


def test_symmetries_that_change_the_start_are_named_and_not_checked() -> None:
    report = check({"legal_actions": lambda s: Noughts.legal_actions(s) if s.moves else [0, 8]})
    assert report.ok, report
    for k, image in ((1, 2), (2, 6), (5, 2), (6, 6)):
        assert f"{k}, where action 0 becomes {image}, which is illegal" in report.message


def test_the_same_seed_plays_the_same_games() -> None:
    game = pyengine.load_game("connect_four")
    first, again, other = (pyengine.check_game(game, games=3, seed=seed) for seed in (3, 3, 4))
    assert first == again != other
