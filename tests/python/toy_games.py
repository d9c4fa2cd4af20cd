"""Small games in Python. A state is its moves; each game adds only what its test needs."""

from __future__ import annotations

import time
from typing import Any

#: Hides an inherited method: ``hasattr`` is false.
HIDDEN: Any = property()


class ToyState:
    """Players alternate forever; all actions are always legal."""

    actions = 3

    def __init__(self, moves: tuple[int, ...] = ()) -> None:
        self.moves = moves

    def history(self) -> list[int]:
        return list(self.moves)

    def clone(self) -> ToyState:
        return type(self)(self.moves)

    def current_player(self) -> int:
        return len(self.moves) % 2

    def legal_actions(self) -> list[int]:
        return list(range(self.actions))

    def apply_action(self, action: int) -> None:
        self.moves = (*self.moves, action)

    def is_terminal(self) -> bool:
        return False

    def returns(self) -> list[float]:
        return [0.0, 0.0]


class ToyGame:
    """The game of a class of states."""

    def __init__(self, kind: type[ToyState]) -> None:
        self.kind = kind

    def num_distinct_actions(self) -> int:
        return self.kind.actions

    def new_initial_state(self) -> ToyState:
        return self.kind()


class Still(ToyState):
    """Its actions have no effect."""

    def apply_action(self, action: int) -> None:
        pass


def timed(kind: type, seconds: float) -> tuple[Any, list[float]]:
    """Return a class of slower states, and a list of the times at which their methods began."""
    begun: list[float] = []

    class Timed(kind):
        def __getattribute__(self, name: str) -> Any:
            if name in ("clone", "legal_actions", "apply_action", "is_terminal", "current_player"):
                begun.append(time.monotonic())
                time.sleep(seconds)
            return super().__getattribute__(name)

    return Timed, begun


class Endless(ToyState):
    """82 moves forever, since mctx's trees have no rules."""

    actions = 82


class Pairs(ToyState):
    """Four points in a row on 5x4; after the first move each player moves twice in a row."""

    actions = 20

    def current_player(self) -> int:
        return -4 if self.is_terminal() else (len(self.moves) + 1) // 2 % 2

    def legal_actions(self) -> list[int]:
        return [a for a in range(20) if a not in self.moves]

    def is_terminal(self) -> bool:
        return len(self.moves) == 20 or self._winner() is not None

    def returns(self) -> list[float]:
        winner = self._winner()
        return [0.0, 0.0] if winner is None else [1.0 - 2 * winner, 2.0 * winner - 1]

    def _winner(self) -> int | None:
        for player in (0, 1):
            mine = {a for i, a in enumerate(self.moves) if (i + 1) // 2 % 2 == player}
            if any({r * 4, r * 4 + 1, r * 4 + 2, r * 4 + 3} <= mine for r in range(5)):
                return player
        return None


class Share(ToyState):
    """One move each; the second player's choice is worth a quarter, a half or nothing."""

    def current_player(self) -> int:
        return len(self.moves) if len(self.moves) < 2 else -4

    def is_terminal(self) -> bool:
        return len(self.moves) == 2

    def returns(self) -> list[float]:
        value = [0.25, 0.5, 0.75][self.moves[0]] * [1.0, 0.5, 0.25][self.moves[1]]
        return [value, -value]


class Matches(ToyState):
    """Players take one, two or three of eleven matches; taking the last one wins."""

    @property
    def left(self) -> int:
        """The number of matches left."""
        return 11 - sum(action + 1 for action in self.moves)

    def legal_actions(self) -> list[int]:
        return list(range(min(3, self.left)))

    def is_terminal(self) -> bool:
        return self.left == 0

    def returns(self) -> list[float]:
        return [1.0, -1.0] if len(self.moves) % 2 == 1 else [-1.0, 1.0]


def matches() -> ToyGame:
    """Return the game of matches, so that it has a name: ``toy_games:matches``."""
    return ToyGame(Matches)
