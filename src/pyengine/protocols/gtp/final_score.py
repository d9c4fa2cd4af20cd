"""Dead stones and the score at the end of a game of Go, estimated."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pyengine.eval.evaluator import Evaluator
from pyengine.games.game import State
from pyengine.games.go_area import area, owners
from pyengine.show.board import Point

_PLAYOUTS = 64  # for an evaluator without ownership
_NEXT = ((-1, 0), (1, 0), (0, -1), (0, 1))
_DIAGONAL = ((-1, -1), (-1, 1), (1, -1), (1, 1))


@dataclass(frozen=True)
class FinalPosition:
    """A position of Go as it would be counted.

    Attributes:
        rows: the stones, dead ones included, top row first.
        dead: the points of dead stones.
        owners: int8[H,W] after dead stones have left: 1 = Black, -1 = White, 0 = neither.
        lead: Black's points less White's, komi included.
    """

    rows: list[str]
    dead: set[Point]
    owners: npt.NDArray[np.int8]
    lead: float

    def groups(self) -> list[list[Point]]:
        """Return the groups of stones."""
        return groups_of(self.rows)


def final_position(state: State, evaluator: Evaluator) -> FinalPosition:
    """Count a position without its dead groups, whose points are expected to be the opponent's.

    The expectation is the evaluator's ownership or, if it has none, the mean of 64 random playouts.
    """
    rows = state.board_rows()
    expected = expected_owners(state, evaluator)
    dead: set[Point] = set()
    for group in groups_of(rows):
        sign = 1 if rows[group[0][0]][group[0][1]] == "X" else -1
        if sign * np.mean([expected[point] for point in group]) < 0:
            dead.update(group)
    cleared = [
        "".join("." if (r, c) in dead else stone for c, stone in enumerate(row))
        for r, row in enumerate(rows)
    ]
    counted = state.game.state_from_board(cleared)
    black, white = area(counted)
    lead = black - white - float(state.game.params["komi"])
    return FinalPosition(rows, dead, owners(counted), lead)


def expected_owners(state: State, evaluator: Evaluator) -> npt.NDArray[Any]:
    """Return the expected owner of each point: float32[H,W], 1 = Black, -1 = White."""
    if state.is_terminal():  # evaluators need a position in which the game goes on
        state = state.game.state_from_board(state.board_rows())
    ownership, _ = evaluator.evaluate_final_board([state])
    if ownership is None:
        return _owners_by_playouts(state)
    owned: npt.NDArray[Any] = ownership[0]
    return owned if state.current_player() == 0 else -owned


def _owners_by_playouts(state: State) -> npt.NDArray[Any]:
    rng = random.Random(0)  # the same position has the same score
    total = np.zeros(state.game.board_shape, np.float32)
    start = state.game.state_from_board(state.board_rows(), state.current_player())
    for _ in range(_PLAYOUTS):
        total += owners(_played_out(start, rng))
    return total / _PLAYOUTS


def _played_out(start: State, rng: random.Random) -> State:
    """Play random moves, but no stone into an own eye, until both players pass."""
    state = start.clone()
    columns = state.game.board_shape[1]
    while not state.is_terminal():
        *moves, passing = state.legal_actions()
        rows, stone = state.board_rows(), "XO"[state.current_player()]
        rng.shuffle(moves)
        open_moves = (a for a in moves if not _is_eye(rows, divmod(a, columns), stone))
        state.apply_action(next(open_moves, passing))
    return state


def _is_eye(rows: list[str], point: Point, stone: str) -> bool:
    """Whether a player's stones surround an empty point so that it cannot be captured."""
    if any(rows[r][c] != stone for r, c in _around(rows, point, _NEXT)):
        return False
    diagonal = _around(rows, point, _DIAGONAL)
    others = sum(rows[r][c] not in (stone, ".") for r, c in diagonal)
    return others < (2 if len(diagonal) == len(_DIAGONAL) else 1)


def _around(rows: list[str], point: Point, steps: tuple[Point, ...]) -> list[Point]:
    places = [(point[0] + r, point[1] + c) for r, c in steps]
    return [(r, c) for r, c in places if 0 <= r < len(rows) and 0 <= c < len(rows[0])]


def groups_of(rows: list[str]) -> list[list[Point]]:
    """Return the connected groups of stones of one colour."""
    seen: set[Point] = set()
    groups = []
    for r, row in enumerate(rows):
        for c, stone in enumerate(row):
            if stone != "." and (r, c) not in seen:
                group = [(r, c)]
                seen.add((r, c))
                for point in group:
                    for near in _around(rows, point, _NEXT):
                        if near not in seen and rows[near[0]][near[1]] == stone:
                            seen.add(near)
                            group.append(near)
                groups.append(group)
    return groups
