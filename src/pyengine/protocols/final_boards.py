"""Predictions of the final board for a position and for those after its moves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy.typing as npt

from pyengine.games.game import State
from pyengine.games.go_area import area, owners
from pyengine.search.engine import Engine

ROOT = -1  #: the position itself, in place of an action

_Ownership = npt.NDArray[Any] | None


class FinalBoards:
    """Predicted owners and leads of a position and of those after its moves, each made once.

    Both are for the player to move in the position.
    """

    def __init__(self, engine: Engine, state: State) -> None:
        self._engine, self._state = engine, state
        self._known: dict[int, tuple[_Ownership, float | None]] = {}

    @property
    def exist(self) -> bool:
        """Whether the network predicts anything."""
        return bool(self._engine.evaluator.has_final_board)

    def predict(self, actions: Sequence[int]) -> None:
        """Evaluate the position and those after some moves in one batch."""
        if not self.exist:
            return
        batch = {}
        for action in (ROOT, *actions):
            if action not in self._known:
                state = self._after(action)
                if state.is_terminal():
                    self._known[action] = _counted(state, self._state.current_player())
                else:
                    batch[action] = state
        if batch:
            self._evaluate(batch)

    def _after(self, action: int) -> State:
        state = self._state.clone()
        if action != ROOT:
            state.apply_action(action)
        return state

    def _evaluate(self, batch: dict[int, State]) -> None:
        owned, leads = self._engine.evaluator.evaluate_final_board(
            list(batch.values()), game=self._engine.game
        )
        for row, (action, state) in enumerate(batch.items()):
            sign = 1 if state.current_player() == self._state.current_player() else -1
            self._known[action] = (
                None if owned is None else sign * owned[row],
                None if leads is None else sign * float(leads[row]),
            )

    def ownership(self, action: int = ROOT) -> _Ownership:
        """Return the owners after a move, or of the position; None if not predicted."""
        return self._known.get(action, (None, None))[0]

    def lead(self, action: int = ROOT) -> float | None:
        """Return the lead after a move, or of the position; None if not predicted."""
        return self._known.get(action, (None, None))[1]


def _counted(state: State, player: int) -> tuple[_Ownership, float]:
    """Count the area of a finished game."""
    sign = 1 if player == 0 else -1
    black, white = area(state)
    return sign * owners(state), sign * (black - white - float(state.game.params["komi"]))
