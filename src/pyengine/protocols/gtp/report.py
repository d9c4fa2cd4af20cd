"""Reports of a running search as text, in the formats of Leela Zero and KataGo."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from pyengine.games.game import State
from pyengine.protocols.final_boards import ROOT, FinalBoards
from pyengine.protocols.gtp.infos import MoveInfo, move_infos
from pyengine.protocols.gtp.position import is_go
from pyengine.protocols.gtp.request import Request
from pyengine.protocols.gtp.vertices import move_name, names_of
from pyengine.protocols.winrate import lead_from_win_rate, lower_confidence_bound, stdev_of_lead
from pyengine.search.engine import Engine
from pyengine.search.result import SearchResult

_PREDICTED = 16  # moves after which a network's score is evaluated; others have a derived lead

#: Writes a result as a line.
Report: TypeAlias = Callable[[SearchResult], str]


def leela_report(state: State, request: Request, _: Engine) -> Report:
    """Return the writer for ``lz-analyze``: win rates and priors out of 10,000."""

    def report(result: SearchResult) -> str:
        return " ".join(
            f"info move {move_name(state, info.action)} visits {info.visits} "
            f"winrate {_of_10000(info.win_rate)} prior {_of_10000(info.prior)} "
            f"lcb {_of_10000(lower_confidence_bound(info.win_rate, info.visits))} "
            f"order {order} pv {' '.join(names_of(state, info.line.actions))}"
            for order, info in enumerate(move_infos(result, request))
        )

    return report


def _of_10000(share: float) -> int:
    return round(share * 10_000)


def kata_report(state: State, request: Request, engine: Engine) -> Report:
    """Return the writer for ``kata-analyze`` and ``analyze``: fractions, and leads in Go."""
    return _KataReport(state, request, engine).text


class _KataReport:
    def __init__(self, state: State, request: Request, engine: Engine) -> None:
        self._state, self._flags, self._request = state, request.flags, request
        self._boards = FinalBoards(engine, state) if is_go(state.game) else None

    def text(self, result: SearchResult) -> str:
        infos = move_infos(result, self._request)
        if self._boards is not None:
            self._boards.predict([info.action for info in infos[:_PREDICTED]])
        parts = [self._info(order, info) for order, info in enumerate(infos)]
        if "rootinfo" in self._flags:
            parts.append(self._root(result))
        if "ownership" in self._flags and self._boards is not None:
            owners = self._boards.ownership(ROOT)
            parts += [] if owners is None else [f"ownership {_numbers(owners)}"]
        return " ".join(parts)

    def _info(self, order: int, info: MoveInfo) -> str:
        bound = lower_confidence_bound(info.win_rate, info.visits)
        leads = self._leads(info.action, info.win_rate)
        text = (
            f"info move {move_name(self._state, info.action)} visits {info.visits} "
            f"utility {_utility(info.win_rate)} winrate {info.win_rate:.6f} {leads}"
            f"prior {info.prior:.6f} lcb {bound:.6f} utilityLcb {_utility(bound)} "
            f"order {order} pv {' '.join(names_of(self._state, info.line.actions))}"
        )
        if "pvvisits" in self._flags:
            text += f" pvVisits {' '.join(map(str, info.line.visits))}"
        if "movesownership" in self._flags and self._boards is not None:
            owners = self._boards.ownership(info.action)
            text += "" if owners is None else f" movesOwnership {_numbers(owners)}"
        return text

    def _root(self, result: SearchResult) -> str:
        rate, visits = result.win_rate, int(result.visits.sum())
        text = f"rootInfo visits {visits} utility {_utility(rate)} winrate {rate:.6f}"
        return f"{text} {self._leads(ROOT, rate)}".rstrip()

    def _leads(self, action: int, rate: float) -> str:
        """Return the predicted lead, or the one that goes with a win rate; only Go has leads."""
        if self._boards is None:
            return ""
        known = self._boards.lead(action)
        lead = lead_from_win_rate(rate, self._state.game) if known is None else known
        spread = stdev_of_lead(self._state.game)
        return (
            f"scoreMean {lead:.4f} scoreStdev {spread:.4f} "
            f"scoreLead {lead:.4f} scoreSelfplay {lead:.4f} "
        )


def _utility(rate: float) -> str:
    return f"{2 * rate - 1:.6f}"


def _numbers(values: npt.NDArray[np.float32]) -> str:
    return " ".join(f"{value:.4f}" for value in values.flat)
