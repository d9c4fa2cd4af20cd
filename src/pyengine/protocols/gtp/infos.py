"""The moves of a report with their figures."""

from __future__ import annotations

from dataclasses import dataclass

from pyengine.protocols.gtp.request import Request
from pyengine.search.result import SearchResult, win_rate
from pyengine.search.tree import Line

_LONGEST_LINE = 20  # moves


@dataclass(frozen=True)
class MoveInfo:
    """A move of the root; figures are for the player to move."""

    action: int
    visits: int
    win_rate: float
    prior: float
    line: Line


def move_infos(result: SearchResult, request: Request) -> list[MoveInfo]:
    """Return the best moves: those visited, unless the request limits or extends the list."""
    proven = result.proven_moves()
    lines = {line.actions[0]: line for line in result.lines(len(result.actions))}
    infos: list[MoveInfo] = []
    for i in result.order()[: request.max_moves]:
        action, visits = int(result.actions[i]), int(result.visits[i])
        if not visits and len(infos) >= request.min_moves:
            break
        value = float(result.q[i]) if visits else result.value
        rate = win_rate(proven.get(action, value))
        whole = lines.get(action, Line([action], [visits]))
        line = Line(whole.actions[:_LONGEST_LINE], whole.visits[:_LONGEST_LINE])
        infos.append(MoveInfo(action, visits, rate, float(result.priors[i]), line))
    return infos
