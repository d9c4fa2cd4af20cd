"""Evaluations of Othello moves in discs."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

from pyengine.exact.solver import Solver
from pyengine.games.game import State
from pyengine.search.result import SearchResult, win_rate
from pyengine.search.tree import names_of_line

#: Positions with at most so many empty squares are solved exactly.
EXACT_EMPTIES = 16
_TABLE_MB = 32
# Fitted to the exact results of 149 positions with 14 to 18 empty squares and the values of 100
# simulations of the network: correlation 0.95.
_DISCS = 8.0  # per unit of log-odds
_CERTAIN = 0.999  # a win rate beyond this counts as this


class Line(NamedTuple):
    """A move with the play that follows.

    Attributes:
        move: the first move as NBoard writes it, ``F5``; a pass is ``PA``.
        moves: all moves, ``F5D6C3``.
        discs: the lead in discs of the player to move.
        depth: plies; ``100%W`` if the winner is proven and ``100%`` if the discs are.

    """

    move: str
    moves: str
    discs: float
    depth: str

    def __str__(self) -> str:
        return f"{self.moves} {self.discs:.2f} 0 {self.depth}"


def discs_of(value: float) -> float:
    """Return the lead in discs that corresponds to a value: 0.5 is 8.8 discs, 1 is 55."""
    rate = min(max(win_rate(value), 1 - _CERTAIN), _CERTAIN)
    return _DISCS * math.log(rate / (1 - rate))


def move_name(state: State, action: int) -> str:
    """Return a move as NBoard writes it."""
    name = state.action_to_string(action)
    return "PA" if name == "pass" else name.upper()


def searched_lines(result: SearchResult, n: int) -> list[Line]:
    """Return the best ``n`` moves of a search."""
    proven = result.proven_moves()
    q: dict[int, float] = dict(zip(result.actions.tolist(), result.q.tolist(), strict=True))
    lines = []
    for actions in result.lines(n) or [[result.action]]:
        first = actions[0]
        value = float(proven.get(first, q[first]))
        if math.isnan(value):  # not visited
            value = result.value
        depth = "100%W" if first in proven else str(len(actions))
        move = move_name(result.state, first)
        lines.append(Line(move, names(result.state, actions), discs_of(value), depth))
    return lines


class Endgame:
    """Exact results of positions with few empty squares on the usual board."""

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._solver: Solver | None = None

    def lines(self, state: State, n: int, seconds: float) -> list[Line]:
        """Return the best ``n`` moves; empty if they cannot be solved in the time."""
        if not self._suits(state):
            return []
        actions = state.legal_actions()
        if n == 1 or len(actions) == 1:
            best = self._solve(state, state.current_player(), seconds)
            return [] if best is None else [best]
        lines = []
        for action in actions:
            after = state.clone()
            after.apply_action(action)
            player = 1 - state.current_player()
            reply = self._solve(after, player, seconds / len(actions))
            if reply is None:
                return []
            name = move_name(state, action)
            lines.append(Line(name, name + reply.moves, -reply.discs, reply.depth))
        return sorted(lines, key=lambda line: -line.discs)[:n]

    def lead(self, state: State, player: int, seconds: float) -> float | None:
        """Return a player's lead at the end of best play, None if it cannot be solved.

        ``player``: to move, or who would be.
        """
        best = self._solve(state, player, seconds) if self._suits(state) else None
        return None if best is None else best.discs

    def _suits(self, state: State) -> bool:
        return state.game.board_shape == (8, 8) and empties(state) <= EXACT_EMPTIES

    def _solve(self, state: State, player: int, seconds: float) -> Line | None:
        if state.is_terminal():
            return Line("", "", final_lead(state, player), "100%")
        self._solver = self._solver or Solver(state.game, table_mb=_TABLE_MB, threads=self._threads)
        result = self._solver.solve(state, seconds=seconds, score=True)
        if not result.exact or result.action is None:
            return None
        move = move_name(state, result.action)
        return Line(move, names(state, result.pv), result.value, "100%")


def final_lead(state: State, player: int) -> float:
    """Return a player's lead at the end of a game, empty squares to the winner."""
    points = "".join(state.board_rows())
    lead = points.count("XO"[player]) - points.count("OX"[player])
    return float(lead + math.copysign(points.count("."), lead) if lead else 0)


def empties(state: State) -> int:
    """Return the number of empty squares."""
    return "".join(state.board_rows()).count(".")


def names(state: State, actions: Iterable[int]) -> str:
    """Return moves as NBoard writes a line of play."""
    return "".join(names_of_line(state, actions, move_name))
