"""What a search knows about the moves of a position."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pyengine.eval.evaluator import Evaluator
from pyengine.games.game import State
from pyengine.games.go_area import area
from pyengine.protocols.gtp.request import Request
from pyengine.protocols.winrate import lead_from_win_rate
from pyengine.search.result import SearchResult, win_rate

_LONGEST_LINE = 20  # moves


@dataclass(frozen=True)
class MoveInfo:
    """A move of the root; figures are for the player to move.

    Attributes:
        line: the move and the best answers.
        line_visits: of each move of the line.
    """

    action: int
    visits: int
    win_rate: float
    prior: float
    line: list[int]
    line_visits: list[int]


def move_infos(result: SearchResult, request: Request) -> list[MoveInfo]:
    """Return the best moves: those visited, unless the request limits or extends the list."""
    proven, lines = result.proven_moves(), _Lines(result)
    infos = []
    for i in result.order()[: request.max_moves]:
        action, visits = int(result.actions[i]), int(result.visits[i])
        if not visits and len(infos) >= request.min_moves:
            break
        value = float(result.q[i]) if visits else result.value
        rate = win_rate(proven.get(action, value))
        line, line_visits = lines.after(action, visits)
        infos.append(MoveInfo(action, visits, rate, float(result.priors[i]), line, line_visits))
    return infos


class _Lines:
    """The principal variations of a result's tree."""

    def __init__(self, result: SearchResult) -> None:
        self._actions: list[int] = []
        self._visits: list[int] = []
        self._best: dict[int, int] = {}  # by record: that of its most visited child
        self._root: dict[int, int] = {}  # by action: the record
        for number, record in enumerate(result.tree_nodes.tolist()):
            parent, action, visits, *_ = record
            self._actions.append(action)
            self._visits.append(visits)
            if parent == 0:
                self._root[action] = number
            elif parent > 0 and visits > self._visits_of(self._best.get(parent)):
                self._best[parent] = number

    def _visits_of(self, record: int | None) -> int:
        return 0 if record is None else self._visits[record]

    def after(self, action: int, visits: int) -> tuple[list[int], list[int]]:
        """Return the line that begins with a move, and the visits of its moves."""
        line, line_visits = [action], [visits]
        record = self._best.get(self._root.get(action, -1))
        while record is not None and len(line) < _LONGEST_LINE:
            line.append(self._actions[record])
            line_visits.append(self._visits[record])
            record = self._best.get(record)
        return line, line_visits


class Forecast:
    """The final board after each move of a position. A move is evaluated once."""

    def __init__(self, state: State, evaluator: Evaluator) -> None:
        self._state, self._evaluator = state.clone(), evaluator
        self._seen: set[int] = set()
        self._leads: dict[int, float] = {}
        self._owners: dict[int, npt.NDArray[np.float32]] = {}

    def add(self, actions: Iterable[int]) -> None:
        """Evaluate moves that are new, in one batch."""
        after = {
            action: _after(self._state, action) for action in actions if action not in self._seen
        }
        self._seen |= after.keys()
        player = self._state.current_player()
        self._leads |= {a: _area_lead(end, player) for a, end in after.items() if end.is_terminal()}
        going_on = [action for action in after if action not in self._leads]
        if not going_on or not self._evaluator.has_final_board:
            return
        ownership, score = self._evaluator.evaluate_final_board([after[a] for a in going_on])
        for i, action in enumerate(going_on):
            if score is not None:
                self._leads[action] = -float(score[i])
            if ownership is not None:
                self._owners[action] = -ownership[i]

    def lead(self, info: MoveInfo) -> float:
        """Return the lead in points after a move, from the win rate without a network's score."""
        lead = self._leads.get(info.action)
        return lead_from_win_rate(info.win_rate, self._state.game) if lead is None else lead

    def owners(self, action: int) -> npt.NDArray[np.float32] | None:
        """Return the ownership after a move, if the network predicts it."""
        return self._owners.get(action)


def _after(state: State, action: int) -> State:
    after = state.clone()
    after.apply_action(action)
    return after


def _area_lead(finished: State, player: int) -> float:
    black, white = area(finished)
    lead = black - white - float(finished.game.params["komi"])
    return lead if player == 0 else -lead
