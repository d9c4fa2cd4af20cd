"""Serial PUCT on a graph of positions, which the visit counts of ``graph=True`` must match."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from naive_puct import Evaluate, Node, Settings, choose, stored

#: ``key(state)``: equal for positions with the same future, whatever their ply.
Key = Callable[[Any], Hashable]
#: Key and ply.
Identity = tuple[Hashable, int]
#: Where a move leads that has only been tried on paths on which it is illegal.
FORBIDDEN: Identity = "forbidden", -1


def fixed(value: float) -> float:
    """Round to a multiple of 2^-24, half away from zero."""
    return math.copysign(math.floor(abs(value) * 2**24 + 0.5), value) / 2**24


@dataclass(kw_only=True)
class Graph:
    """Positions by key and ply, and where their moves lead. Moves are nodes without children."""

    key: Key
    evaluate: Evaluate
    settings: Settings
    positions: dict[Identity, Node] = field(default_factory=dict)
    links: dict[Identity, dict[int, Identity]] = field(default_factory=dict)

    def search(self, state: Any, ply: int, simulations: int) -> Node:
        """Drop what ``state`` does not lead to, then run ``simulations`` more.

        The evaluation of ``state`` itself does not count.
        """
        root = self.key(state), ply
        self._keep(root)
        if root not in self.positions:
            self._evaluate(root, state)
        for _ in range(simulations):
            self._simulate(root, state.clone())
        return self.positions[root]

    def _keep(self, root: Identity) -> None:
        pending, reached = [root], set()
        while pending:
            if (position := pending.pop()) not in reached:
                reached.add(position)
                pending += self.links.get(position, {}).values()
        self.positions = {i: node for i, node in self.positions.items() if i in reached}
        self.links = {i: to for i, to in self.links.items() if i in reached}

    def _evaluate(self, position: Identity, state: Any) -> float:
        priors, value = self.evaluate(state)
        player = state.current_player()
        children = {a: Node(stored(p)) for a, p in sorted(priors.items())}
        value = fixed(value if player == 0 else -value)
        self.positions[position] = Node(n=1, w=value, player=player, children=children)
        return value

    def _simulate(self, at: Identity, state: Any) -> None:
        """Walk to a new position, to the end of the game or to an edge that knows less."""
        path: list[Node] = []
        while True:
            node = self.positions[at]
            action = choose(node, self.settings)
            edge = node.children[action]
            path += [node, edge]
            if action not in state.legal_actions():  # on this path, though on others it was
                self.links.setdefault(at, {}).setdefault(action, FORBIDDEN)
                last = edge if edge.n else node
                return add(path, fixed(float(np.float32(last.w / last.n))))
            state.apply_action(action)
            at = self._follow(at, action, state)
            if state.is_terminal():
                return add(path, fixed(state.returns()[0]))
            if at not in self.positions:
                return add(path, self._evaluate(at, state))
            known = self.positions[at]
            if edge.n < known.n:
                return add(path, fixed((edge.n + 1) * (known.w / known.n)) - edge.w)

    def _follow(self, at: Identity, action: int, state: Any) -> Identity:
        """Return where a move leads: to ``state``, or if it forgets its past, to the first one."""
        moves = self.links.setdefault(at, {})
        if moves.get(action, FORBIDDEN) == FORBIDDEN:
            moves[action] = self.key(state), at[1] + 1
        return moves[action]


def add(path: list[Node], change: float) -> None:
    """Count a visit of each node of ``path``."""
    for node in path:
        node.n += 1
        node.w += change


def size(graph: Graph) -> int:
    """Return the number of positions, ends of the game and forbidden moves included."""
    after = [to for moves in graph.links.values() for to in moves.values()]
    return len(graph.positions.keys() | set(after) - {FORBIDDEN}) + after.count(FORBIDDEN)
