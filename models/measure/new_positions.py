"""Positions of Connect Four that are made anew, so that nobody has chosen a setting by them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import pyengine
from measure.pons import Case, Solver
from measure.solving import played

__all__ = ["new_cases"]

_COLUMNS = 7
_PLIES = range(14, 28)
_REMAINING = 14  # plies to the end, at least


def new_cases(seed: int, solver: Solver) -> Iterator[Case]:
    """Yield positions like those of Pons' L2_R2 in which some move gives their value away.

    They are those of random games after 14 to 27 plies whose end is 14 plies or more away when both
    sides play their best.
    """
    random = np.random.default_rng(seed)
    game = pyengine.load_game("connect_four")
    exact = pyengine.Solver(game, table_mb=16, threads=1)
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
            value = max(each for each in columns if each is not None)
            if any(each not in (None, value) for each in columns):
                yield Case(_moves(state), value, columns)


def _moves(state: pyengine.State) -> str:
    return "".join(str(action + 1) for action in state.history())


def _solved(state: pyengine.State, solver: Solver) -> tuple[int | None, ...]:
    """Return the value of each move to the player to move."""
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
