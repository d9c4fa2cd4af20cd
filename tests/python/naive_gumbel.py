"""The textbook Gumbel AlphaZero, one simulation at a time, on OpenSpiel's interface."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from naive_puct import Evaluate, stored

Array = npt.NDArray[np.float64]


@dataclass
class Node:
    """Visits ``n`` and sum ``w`` for the first player; once expanded, its moves and own value."""

    n: int = 0
    w: float = 0.0
    player: int = -4
    value: float = 0.0
    actions: list[int] = field(default_factory=list)
    priors: Array = field(default_factory=lambda: np.empty(0))
    children: list[Node] = field(default_factory=list)

    def logits_and_sigma(self) -> tuple[Array, Array]:
        """Return log P and sigma(completed Q) of all moves."""
        sign = 1 if self.player == 0 else -1
        visits = self.visits()
        seen = visits > 0
        q = np.array([sign * c.w / c.n if c.n else 0.0 for c in self.children])
        mean = np.average(q[seen], weights=self.priors[seen]) if seen.any() else 0.0
        mixed = (self.value + visits.sum() * mean) / (1 + visits.sum())
        completed = np.where(seen, q, mixed)
        scaled = (completed - completed.min()) / max(np.ptp(completed), 1e-8)
        return np.log(np.maximum(self.priors, 1e-30)), (50 + visits.max()) * 0.1 * scaled

    def visits(self) -> Array:
        """Return the visits of all moves."""
        return np.array([float(child.n) for child in self.children])


def considered_visits(moves: int, budget: int) -> list[int]:
    """Return, for each simulation, the number of visits a move must have to be chosen."""
    if moves == 1:
        return list(range(budget))
    sequence: list[int] = []
    level, considered = 0, moves
    while len(sequence) < budget:
        for _ in range(max(1, budget // (math.ceil(math.log2(moves)) * considered))):
            sequence += [level] * considered
            level += 1
        considered = max(2, considered // 2)
    return sequence[:budget]


def noise(seed: int, search: int, moves: int) -> Array:
    """Return the engine's noise of a search: inverse Gumbel CDF of numpy's Philox numbers."""
    bits = np.random.Philox(key=[seed, (search << 40) + 1]).random_raw(moves) >> np.uint64(12)
    return -np.log(-np.log((bits + 0.5) * 2.0**-52))


def search(
    state: Any, evaluate: Evaluate, simulations: int, *, moves: int = 16, g: Array | None = None
) -> tuple[Node, int]:
    """Return the root and the action; ``g``: noise of the legal moves, in ascending order."""
    root = Node()
    simulate(root, state.clone(), evaluate, 0)
    noise = np.zeros(len(root.actions)) if g is None else g
    for level in considered_visits(min(moves, len(root.actions)), simulations):
        place = choose_at_root(root, noise, level)
        simulate(root, state.clone(), evaluate, place)
    return root, root.actions[choose_at_root(root, noise, root.visits().max())]


def choose_at_root(root: Node, noise: Array, level: float) -> int:
    """Return the index of the best move with the given number of visits."""
    logits, sigma = root.logits_and_sigma()
    return int(np.argmax(np.where(root.visits() == level, noise + logits + sigma, -np.inf)))


def choose(node: Node) -> int:
    """Return the index of the move furthest below its share of the improved policy."""
    logits, sigma = node.logits_and_sigma()
    policy = np.exp(logits + sigma - (logits + sigma).max())
    visits = node.visits()
    return int(np.argmax(policy / policy.sum() - visits / (1 + visits.sum())))


def simulate(root: Node, state: Any, evaluate: Evaluate, place: int) -> None:
    """Walk down from a root move, evaluate the leaf and back up its value."""
    path = [root]
    while path[-1].children:
        node = path[-1]
        at = place if node is root else choose(node)
        state.apply_action(node.actions[at])
        path.append(node.children[at])
    leaf = path[-1]
    if state.is_terminal():
        value = state.returns()[0]
    else:
        priors, leaf.value = evaluate(state)
        leaf.player = state.current_player()
        leaf.actions = sorted(priors)
        leaf.priors = np.array([stored(priors[a]) for a in leaf.actions])
        leaf.children = [Node() for _ in leaf.actions]
        value = leaf.value if leaf.player == 0 else -leaf.value
    for node in path:
        node.n += 1
        node.w += value
