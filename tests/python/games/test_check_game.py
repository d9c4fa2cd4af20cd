"""check_game reports every broken promise, and none in a correct game."""

from __future__ import annotations

import re
from typing import Any, ClassVar

import numpy as np
import pytest

import pyengine
from toy_games import Matches, Pairs, ToyGame, ToyState

OURS = [
    "tic_tac_toe",
    "connect_four",
    "gomoku(board_size=9,rule=standard)",
    "othello(board_size=10)",
    "go(board_size=9)",
    "go(rows=3,columns=5,suicide=true,superko=situational)",
    "go(board_size=4,superko=simple)",
]


@pytest.mark.parametrize("text", OURS)
def test_our_games_keep_their_promises(text: str) -> None:
    report = pyengine.check_game(pyengine.load_game(text), games=2)
    assert report, report
    assert (report.ok, report.games, report.moves) == (True, 2, ())


class Noughts:
    """Tic-tac-toe, whose states break promises on request."""

    num_symmetries = 8
    board_shape = (3, 3)
    max_game_length = 9
    broken: ClassVar[str] = ""

    def num_distinct_actions(self) -> int:
        return 9

    def new_initial_state(self) -> NoughtsState:
        return NoughtsState(self.broken)


LINES = ["012", "345", "678", "036", "147", "258", "048", "246"]


class NoughtsState:
    def __init__(self, broken: str) -> None:
        self.broken = broken
        self.board = [" "] * 9
        self.moves: list[int] = []
        self.twin: NoughtsState | None = None

    def current_player(self) -> int:
        if self.broken == "player" and len(self.moves) == 3:
            return 5
        return len(self.moves) % 2

    def legal_actions(self) -> list[int]:
        legal = [p for p in range(9) if self.board[p] == " "]
        if len(self.moves) < 2:
            return legal
        return {
            "empty": [],
            "range": [*legal, 9],
            "twice": [*legal, legal[0]],
            "crooked": [p for p in legal if p != 2] or legal,
        }.get(self.broken, legal)

    def apply_action(self, action: int) -> None:
        if self.broken == "raises" and len(self.moves) == 2:
            raise RuntimeError("out of ink")
        if self.broken == "chaos":
            self.moves.append(action)
            self.board[action] = "xo"[id(self) // 64 % 2]
            return
        self.board[action] = "xo"[len(self.moves) % 2]
        self.moves.append(action)

    def line(self) -> str:
        for a, b, c in (map(int, line) for line in LINES):
            if self.board[a] != " " and self.board[a] == self.board[b] == self.board[c]:
                return self.board[a]
        return ""

    def is_terminal(self) -> bool:
        if self.broken == "endless":
            return False
        return bool(self.line()) or len(self.moves) == 9

    def returns(self) -> list[float]:
        value = {"x": 1.0, "o": -1.0, "": 0.0}[self.line()]
        return {
            "sum": [1.0, 0.0],
            "range of returns": [3.0, -3.0],
            "finite": [float("inf"), float("-inf")],
            "biased": [float(self.moves[0] == 0), -float(self.moves[0] == 0)],
        }.get(self.broken, [value, -value])

    def clone(self) -> NoughtsState:
        new = NoughtsState(self.broken)
        new.board = self.board if self.broken == "shared" else list(self.board)
        new.moves = list(self.moves)
        if self.broken == "forgetful" and len(new.moves) > 1:
            new.board[new.moves[0]] = " "
        return new

    def history(self) -> list[int]:
        return self.moves[:1] if self.broken == "history" else list(self.moves)

    def __eq__(self, other: object) -> bool:
        if self.broken == "unequal":
            return self is other
        return isinstance(other, NoughtsState) and self.moves == other.moves

    def __hash__(self) -> int:
        return id(self) if self.broken == "hash" else hash(tuple(self.moves))

    def observation_tensor(self) -> Any:
        planes = 2 if self.broken == "planes" and len(self.moves) > 2 else 1
        return np.zeros((planes, 3, 3))


def check(broken: str, **members: Any) -> pyengine.GameReport:
    """Check Noughts with one broken promise."""
    game = type("Noughts", (Noughts,), {"broken": broken, **members})()
    return pyengine.check_game(game, games=20, seed=1)


def test_a_python_game_that_keeps_its_promises_passes() -> None:
    report = check("")
    assert report.ok, report
    assert (report.message, report.games) == ("no broken promise", 20)
    assert report.plies > 100
    assert "two players" in check("", num_players=4).message
    longer = check("", max_game_length=4)
    assert "max_game_length" in longer.message
    assert len(longer.moves) == 4


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        ("player", "current_player"),
        ("empty", "empty"),
        ("range", r"0\.\.8, got \[9\]"),
        ("twice", "twice"),
        ("crooked", "symmetry"),
        ("raises", "apply_action.* raised RuntimeError: out of ink"),
        ("sum", "zero-sum"),
        ("range of returns", "max_utility"),
        ("finite", "finite"),
        ("biased", "symmetry .*returns"),
        ("shared", "clone"),
        ("forgetful", "clone"),
        ("history", "history"),
        ("unequal", "=="),
        ("hash", "another hash"),
        ("planes", "observation_tensor"),
    ],
)
def test_a_broken_promise_is_reported_with_the_moves_to_it(broken: str, message: str) -> None:
    report = check(broken)
    assert not report.ok
    assert not report
    assert re.search(message, report.message), report.message
    assert "BROKEN" in str(report)
    assert str(list(report.moves)) in str(report)


class New(ToyState):
    """Returns a new state instead of changing itself, in a functional style."""

    def apply_action(self, action: int) -> Any:
        return type(self)((*self.moves, action))


class Still(ToyState):
    """Does nothing."""

    def apply_action(self, action: int) -> None:
        pass


class Circle:
    """Cycles through four points without an end."""

    actions = 1

    def __init__(self, point: int = 0) -> None:
        self.point = point

    def clone(self) -> Circle:
        return type(self)(self.point)

    def current_player(self) -> int:
        return self.point % 2

    def legal_actions(self) -> list[int]:
        return [0]

    def apply_action(self, action: int) -> None:
        self.point = (self.point + 1) % 4

    def is_terminal(self) -> bool:
        return False

    def returns(self) -> list[float]:
        return [0.0, 0.0]


@pytest.mark.parametrize(
    ("kind", "message", "plies"),
    [
        (New, r"apply_action\(\d\) must change the state .* returned another New", 1),
        (Still, r"apply_action\(\d\) did not change the state", 1),
        (Circle, "not over after 10000 plies; .* must declare max_game_length", 10_000),
    ],
)
def test_a_game_without_progress_is_reported(kind: Any, message: str, plies: int) -> None:
    report = pyengine.check_game(ToyGame(kind))
    assert re.search(message, report.message), report.message
    assert len(report.moves) == plies
    assert len(str(report)) < 500
    assert plies == 1 or "after 10,000 actions (all in `moves`): [" in str(report)


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


class FivePlies(ToyState):
    """Five plies."""

    def is_terminal(self) -> bool:
        return len(self.moves) == 5


def fails(*_: Any) -> Any:
    raise ZeroDivisionError("out of ink")


@pytest.mark.parametrize(
    ("members", "reason"),
    [
        ({"__str__": fails}, "__str__() raised ZeroDivisionError: out of ink"),
        ({"__str__": lambda _: None}, "__str__() raised TypeError"),
        ({"__eq__": fails}, "== raised ZeroDivisionError: out of ink"),
        ({"__eq__": lambda *_: np.ones(2)}, "== raised ValueError"),
        ({"__eq__": lambda *_: True}, "the states before and after apply_action("),
        (
            {"__eq__": lambda one, other: one.moves == other.moves, "__hash__": fails},
            "__hash__() raised ZeroDivisionError: out of ink",
        ),
        ({"is_terminal": lambda _: np.ones(2)}, "the game raised ValueError"),
        ({"action_to_string": lambda *_: "x"}, "'x' for 0 and 1"),
        ({"action_to_string": lambda _, action: action}, "must return a str"),
        ({"action_to_string": lambda _, player, action: ""}, "action_to_string(0) raised Type"),
        ({"observation_tensor": lambda _: np.full(9, np.nan)}, "observation_tensor() must be fin"),
        ({"apply_action": lambda state, a: FivePlies((*state.moves, a))}, "must change the state"),
    ],
)
def test_a_broken_method_of_a_state_is_reported(members: dict[str, Any], reason: str) -> None:
    report = pyengine.check_game(ToyGame(type("Five", (FivePlies,), members)), games=2)
    assert not report.ok
    assert reason in report.message


class Foreign:
    """A PyTorch-like tensor: `size` is a method, and NumPy reads it through `__array__`."""

    shape = (2, 3, 3)

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.zeros(self.shape, dtype)

    def size(self) -> tuple[int, ...]:
        return self.shape


@pytest.mark.parametrize("planes", [Foreign(), np.zeros((2, 3, 3)), [0.0] * 9])
def test_planes_are_read_as_the_engine_reads_them(planes: Any) -> None:
    kind = type("Planes", (FivePlies,), {"observation_tensor": lambda _: planes})
    assert pyengine.check_game(ToyGame(kind), games=1).message == "no broken promise"


def test_each_start_is_another_state() -> None:
    class Same(ToyGame):
        def new_initial_state(self) -> ToyState:
            self.start = getattr(self, "start", None) or super().new_initial_state()
            return self.start

    report = pyengine.check_game(Same(FivePlies))
    assert "new_initial_state() must return a new state each time" in report.message
    assert report.moves == ()


def test_starts_that_share_their_moves_are_reported() -> None:
    class Sharing(FivePlies):
        def __init__(self, moves: list[int]) -> None:
            self.moves = moves

        def clone(self) -> Any:
            return Sharing(list(self.moves))

        def apply_action(self, action: int) -> None:
            self.moves.append(action)

    class Shared(ToyGame):
        moves: ClassVar[list[int]] = []

        def new_initial_state(self) -> Any:
            return Sharing(self.moves)

    report = pyengine.check_game(Shared(Sharing))
    assert "new_initial_state() must return a new state each time" in report.message
    assert len(report.moves) == 1


def test_what_a_game_does_without_is_listed_with_its_cost() -> None:
    report = pyengine.check_game(ToyGame(Pairs), games=1)
    assert report.ok
    assert [line.split(":")[0] for line in report.without] == [
        "__eq__ and __hash__",
        "observation_tensor()",
        "__str__",
        "action_to_string()",
        "max_game_length",
        "num_symmetries",
    ]
    assert "\n  without __str__: its positions are not shown\n" in str(report)
    assert pyengine.check_game(pyengine.load_game("tic_tac_toe"), games=1).without == ()


def test_a_state_without_a_past_is_listed() -> None:
    class Seven(Circle):
        def is_terminal(self) -> bool:
            return self.point == 3

    report = pyengine.check_game(ToyGame(Seven), games=1)
    assert report.without[0] == "history() and __eq__: a search tree is never reused"
    Seven.__str__ = lambda self: f"at {self.point}"  # type: ignore[method-assign]
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


def test_a_max_utility_far_above_the_returns_is_listed() -> None:
    game: Any = ToyGame(Pairs)
    game.max_utility = 1e9
    report = pyengine.check_game(game, games=3)
    assert any(line.startswith("a max_utility near its returns (1e+09") for line in report.without)


def test_symmetries_that_the_start_does_not_have_are_named_not_blamed() -> None:
    class Tilted(NoughtsState):
        def legal_actions(self) -> list[int]:
            legal = super().legal_actions()
            return [0, 8] if not self.moves else legal

        def clone(self) -> NoughtsState:
            new = Tilted(self.broken)
            new.board, new.moves = list(self.board), list(self.moves)
            return new

    report = check("", new_initial_state=lambda _: Tilted(""))
    assert report.ok, report
    assert "not checked: symmetries 1, 2, 5, 6" in report.message


def test_the_same_seed_plays_the_same_games() -> None:
    game = pyengine.load_game("connect_four")
    first, again, other = (pyengine.check_game(game, games=3, seed=seed) for seed in (3, 3, 4))
    assert first == again != other
