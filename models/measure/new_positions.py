"""New random positions of Connect Four, for which no setting can have been tuned."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import pyengine
from measure.pons import Case, Solver
from measure.solving import played

__all__ = ["new_cases"]

_COLUMNS = 7
_PLIES = range(14, 28)
_REMAINING = 14  # fewest plies to the end


def new_cases(seed: int, solver: Solver) -> Iterator[Case]:
    """Yield positions like Pons' L2_R2 in which some move gives the value away.

    They come from random games after 14 to 27 plies, at least 14 plies from the end under perfect
    play.
    """
    random = np.random.default_rng(seed)
    game = pyengine.load_game("connect_four")
    exact = pyengine.exact.Solver(game, table_mb=16, threads=1)
    while True:
        state = game.new_initial_state()
        for _ in range(random.choice(_PLIES)):
            state.apply_action(int(random.choice(state.legal_actions())))
            if state.is_terminal():
                break
        else:
            if len(exact.solve(state, score=True).pv) < _REMAINING:
                continue
            columns = _solved(state, solver)
            value = max(column for column in columns if column is not None)
            if any(column not in (None, value) for column in columns):
                yield Case(_moves(state), value, columns)


def _moves(state: pyengine.State) -> str:
    return "".join(str(action + 1) for action in state.history())


def _solved(state: pyengine.State, solver: Solver) -> tuple[int | None, ...]:
    """Return the value of each move for the player to move."""
    values: list[int | None] = [None] * _COLUMNS
    for action in state.legal_actions():
        after = played(state, action)
        if after.is_terminal():
            values[action] = int(after.returns()[state.current_player()])
        else:
            moves = _moves(after)
            wins, draws = (solver.reaches(moves, win=win) for win in (True, False))
            values[action] = -1 if wins else int(not draws)
    return tuple(values)
