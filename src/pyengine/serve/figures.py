"""The figures of a search as JSON-compatible values."""

from __future__ import annotations

import heapq
import itertools
from typing import Any

from pyengine.games.game import State
from pyengine.protocols.winrate import lower_confidence_bound
from pyengine.search.result import SearchResult, win_rate
from pyengine.search.tree import SearchTree, names_of_line
from pyengine.serve.positions import Cells

_LINES = 12  # moves with a line
_LINE = 20  # plies of a line
_DEEPEST = 100  # plies of a tree: JSON nests as deep
_DIGITS = 5


class Figures:
    """Describes the results of one position."""

    def __init__(self, state: State) -> None:
        self._state = state
        cells = Cells(state)
        self._names = {a: state.action_to_string(a) for a in state.legal_actions()}
        self._cells = {action: cells.of(action)[0] for action in self._names}

    def of(self, result: SearchResult) -> dict[str, Any]:
        """Return visits, value and proof of the position, and the moves, the best one first."""
        rate = result.win_rate
        return {
            "visits": int(result.visits.sum()),
            "value": _rounded(result.value),
            "winrate_black": _rounded(rate if self._state.current_player() == 0 else 1 - rate),
            "proven": result.proven,
            "moves": self.moves(result),
            "seconds": round(result.seconds, 4),
            "nodes": result.nodes,
            "simulations": result.simulations,
            "stop_reason": result.stop_reason,
        }

    def moves(self, result: SearchResult) -> list[dict[str, Any]]:
        """Return the moves, the selected one first, then by visits and prior."""
        proven = result.proven_moves()
        lines = {line[0]: line for line in result.lines(_LINES)}
        actions, visits = result.actions.tolist(), result.visits.tolist()
        priors, values = result.priors.tolist(), result.q.tolist()
        moves = []
        for i in result.order().tolist():
            action, is_visited = actions[i], visits[i] > 0
            moves.append(
                {
                    "action": action,
                    "move": self._names[action],
                    "cell": self._cells[action],
                    "visits": visits[i],
                    "prior": _rounded(priors[i]),
                    "q": _rounded(values[i]) if is_visited else None,
                    "lcb": _bound(values[i], visits[i]) if is_visited else None,
                    "proven": proven.get(action),
                    "pv": self._line(lines.get(action, ())),
                }
            )
        return moves

    def _line(self, actions: Any) -> list[str]:
        return names_of_line(self._state, actions[:_LINE])


def _bound(value: float, visits: int) -> float:
    return _rounded(2 * lower_confidence_bound(win_rate(value), visits) - 1)


def _rounded(value: float) -> float:
    return round(value, _DIGITS)


def tree_of(result: SearchResult, most: int) -> dict[str, Any]:
    """Return the most visited nodes of a tree, at most ``most``.

    ``Q`` of a node is for the player to move at its parent; that of the root for the player to move
    there. ``W`` is ``N`` times ``Q``. ``more`` counts the children that are left out.
    """
    root = result.tree(max_depth=_DEEPEST, min_visits=1)
    top = _node(root)
    top |= {"Q": _rounded(result.value), "W": _rounded(result.value * root.visits)}
    number = itertools.count()  # breaks ties
    waiting = [(-child.visits, next(number), child, top) for child in root.children]
    heapq.heapify(waiting)
    left = most - 1
    while waiting and left > 0:
        _, _, tree, parent = heapq.heappop(waiting)
        node = _node(tree)
        parent["children"].append(node)
        parent["more"] -= 1
        left -= 1
        for child in tree.children:
            heapq.heappush(waiting, (-child.visits, next(number), child, node))
    return top


def _node(tree: SearchTree) -> dict[str, Any]:
    q = None if tree.q != tree.q else tree.q
    return {
        "move": tree.name or None,
        "to_move": tree.to_move,
        "N": tree.visits,
        "W": None if q is None else _rounded(q * tree.visits),
        "Q": None if q is None else _rounded(q),
        "P": _rounded(tree.prior),
        "proven": tree.proven,
        "shared": tree.shared,
        "children": [],
        "more": len(tree.children),
    }
