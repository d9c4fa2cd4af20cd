"""Replies of the analysis protocol: the figures of a search as JSON."""

from __future__ import annotations

import numpy as np

from pyengine.games.game import State
from pyengine.protocols.analysis.jobs import Job, Reply
from pyengine.protocols.final_boards import ROOT, FinalBoards
from pyengine.protocols.winrate import (
    lead_from_win_rate,
    lower_confidence_bound,
    stdev_of_lead,
)
from pyengine.search.engine import Engine
from pyengine.search.result import SearchResult, win_rate
from pyengine.search.tree import Line, names_of_line


class Reporter:
    """Makes the replies for one position."""

    def __init__(self, job: Job, engine: Engine, state: State) -> None:
        self._job, self._query, self._engine, self._state = job, job.query, engine, state
        side = {"BLACK": 0, "WHITE": 1}.get(
            self._query.override_settings.report_analysis_winrates_as
        )
        self._flips = side is not None and side != state.current_player()
        self._boards = FinalBoards(engine, state)
        self._raw_policy: list[float] | None = None

    def send(self, result: SearchResult, *, is_during_search: bool) -> None:
        """Reply with the figures of a search."""
        query = self._query
        lines = result.lines(len(result.actions))
        self._boards.predict([line.actions[0] for line in lines])
        index = {int(action): number for number, action in enumerate(result.actions)}
        moves = [
            self._move_info(result, index[line.actions[0]], line, order)
            for order, line in enumerate(lines)
        ]
        reply: Reply = {
            "isDuringSearch": is_during_search,
            "moveInfos": moves,
            "rootInfo": self._root_info(result, lines),
        }
        if query.include_ownership:
            reply |= self._ownership(ROOT)
        if query.include_policy:
            reply["policy"] = self._policy()
        self._job.answer(**reply)

    def _move_info(self, result: SearchResult, index: int, line: Line, order: int) -> Reply:
        query, action = self._query, line.actions[0]
        visits, length = int(result.visits[index]), query.analysis_pv_len + 1
        info = {
            "move": result.action_name(action),
            "order": order,
            "visits": visits,
            "edgeVisits": visits,
            "prior": _rounded(result.priors[index]),
            **self._figures(float(result.q[index]), visits, self._boards.lead(action)),
            "pv": names_of_line(self._state, line.actions[:length]),
        }
        if query.include_pv_visits:
            info["pvVisits"] = info["pvEdgeVisits"] = line.visits[:length]
        if query.include_moves_ownership:
            info |= self._ownership(action)
        return info

    def _root_info(self, result: SearchResult, lines: list[Line]) -> Reply:
        visits = int(result.visits.sum())
        return {
            "visits": visits,
            **self._figures(result.value, visits, self._mean_lead(lines)),
            "rawWinrate": _rounded(self._turned_rate(win_rate(result.network_value))),
            "currentPlayer": "BW"[self._state.current_player()],
            "thisHash": f"{self._state.hash():016X}",
        }

    def _mean_lead(self, lines: list[Line]) -> float | None:
        """Return the mean of the predicted leads, weighted by visits."""
        leads = [(self._boards.lead(), 1)]
        leads += [(self._boards.lead(line.actions[0]), line.visits[0]) for line in lines]
        known = [(lead, visits) for lead, visits in leads if lead is not None]
        total = sum(visits for _, visits in known)
        return sum(lead * visits for lead, visits in known) / total if known else None

    def _figures(self, value: float, visits: int, lead: float | None) -> Reply:
        """Return the figures of a move or a position from its value for the player to move."""
        sign = -1 if self._flips else 1
        rate = win_rate(value)
        bound = self._turned_rate(lower_confidence_bound(rate, visits))
        points = lead_from_win_rate(rate, self._engine.game) if lead is None else lead
        score = _rounded(sign * points)
        return {
            "winrate": _rounded(self._turned_rate(rate)),
            "scoreLead": score,
            "scoreMean": score,
            "scoreSelfplay": score,
            "scoreStdev": _rounded(stdev_of_lead(self._engine.game)),
            "utility": _rounded(sign * value),
            "lcb": _rounded(bound),
            "utilityLcb": _rounded(2 * bound - 1),
        }

    def _turned_rate(self, rate: float) -> float:
        return 1 - rate if self._flips else rate

    def _ownership(self, action: int) -> Reply:
        owned = self._boards.ownership(action)
        if owned is None:
            return {}
        turned = -owned if self._flips else owned
        return {"ownership": np.round(turned.astype(float).ravel(), 3).tolist()}

    def _policy(self) -> list[float]:
        if self._raw_policy is None:
            priors, _ = self._engine.evaluator.evaluate([self._state], game=self._engine.game)
            policy = np.full(priors.shape[1], -1.0)
            legal = self._state.legal_actions()
            policy[legal] = np.round(priors[0, legal].astype(float), 6)
            self._raw_policy = policy.tolist()
        return self._raw_policy


def _rounded(number: float) -> float:
    return round(float(number), 6)
