"""The textbook serial PUCT on OpenSpiel's interface, which visit counts must match."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

import pyengine
from pyengine.eval import Evaluator

#: ``evaluate(state) -> ({action: prior}, value for the player to move)``
Evaluate = Callable[[Any], tuple[dict[int, float], float]]

#: Settings with which an engine searches as this does: one leaf at a time, without proofs.
SERIAL: dict[str, Any] = {
    "threads": 1,
    "batch_size": 1,
    "in_flight": 1,
    "symmetry": "none",
    "solver": False,
}


@dataclass(kw_only=True)
class Settings:
    """The constants of docs/search-rules.md, "PUCT"."""

    c_puct: float = 1.25
    c_puct_base: float | None = 19652
    c_puct_factor: float = 1.0
    fpu: str = "reduction"
    fpu_value: float = 0.25
    c_puct_stdev: float = 0.0
    root_c_puct: float | None = None
    root_fpu_value: float | None = None
    draw_value: float = 0.0

    def at_root(self) -> Settings:
        """Return the settings of the root under the names that they have elsewhere."""
        c_puct = self.c_puct if self.root_c_puct is None else self.root_c_puct
        fpu_value = self.fpu_value if self.root_fpu_value is None else self.root_fpu_value
        return replace(self, c_puct=c_puct, fpu_value=fpu_value)


@dataclass
class Node:
    """A node: ``prior`` of the move to it, visits ``n`` and sum ``w`` for the first player.

    ``values`` are those of the visits, for the same player.
    """

    prior: float = 0.0
    n: int = 0
    w: float = 0.0
    player: int = -4
    values: list[float] = field(default_factory=list)
    children: dict[int, Node] = field(default_factory=dict)


def hashed(actions: int, flat: int = 0) -> pyengine.StateEvaluator:
    """Return a pseudorandom evaluation; with ``flat``, many priors and values are equal."""

    def evaluate(states: list[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        policy = np.empty((len(states), actions))
        value = np.empty(len(states))
        for i, state in enumerate(states):
            rng = np.random.default_rng(zlib.crc32(repr(list(state.history())).encode()))
            policy[i] = rng.random(actions) ** 3
            value[i] = rng.random() * 2 - 1
            if flat:
                policy[i] = np.ceil(policy[i] * flat)
                value[i] = np.round(value[i] * flat) / flat
        return policy, value

    return pyengine.StateEvaluator(evaluate)


def evaluated_by(evaluator: Evaluator, game: Any) -> Evaluate:
    """Return the evaluation of single states, with priors normalised as in a search."""

    def evaluate(state: Any) -> tuple[dict[int, float], float]:
        policy, value = evaluator.evaluate([state], game=game)
        return {a: float(policy[0, a]) for a in state.legal_actions()}, float(value[0])

    return evaluate


def stored(prior: float) -> float:
    """Round a prior to 16 bits: 5-bit exponent, 11-bit mantissa."""
    if prior < 2.0**-31:
        return 0.0
    mantissa, exponent = math.frexp(np.float32(prior))  # mantissa in [0.5, 1), 12 bits
    return math.ldexp(math.floor(mantissa * 2**12 + 0.5), exponent - 12)


def choose(node: Node, s: Settings) -> int:
    """Return the action with the largest score; ties: larger prior, then smaller action."""
    n, sign = node.n, 1 if node.player == 0 else -1
    value = sign * node.w / node.n
    visited = sum(child.prior for child in node.children.values() if child.n)
    first = {
        "value": s.fpu_value,
        "parent": value,
        "reduction": value - s.fpu_value * math.sqrt(visited),
    }[s.fpu]
    c = s.c_puct
    if s.c_puct_base is not None:
        c += s.c_puct_factor * math.log((1 + n + s.c_puct_base) / s.c_puct_base)

    if s.c_puct_stdev and n > 1:
        squared, mean_square = value * value, sum(v * v for v in node.values) / n
        variance = ((squared + 0.16) * 2 + mean_square * n) / (n + 1) - squared
        c *= 1 + s.c_puct_stdev * (math.sqrt(variance) / 0.4 - 1)

    def key(item: tuple[int, Node]) -> tuple[float, float, int]:
        action, child = item
        q = sign * child.w / child.n if child.n else first
        return q + c * child.prior * math.sqrt(n) / (1 + child.n), child.prior, -action

    return max(node.children.items(), key=key)[0]


def search(
    state: Any, evaluate: Evaluate, simulations: int, settings: Settings, root: Node | None = None
) -> Node:
    """Run ``simulations`` more and return the root, whose own evaluation does not count."""
    root = root or Node()
    if root.n == 0:
        simulate(root, state.clone(), evaluate, settings)
    for _ in range(simulations):
        simulate(root, state.clone(), evaluate, settings)
    return root


def simulate(root: Node, state: Any, evaluate: Evaluate, settings: Settings) -> None:
    """Walk down, evaluate the leaf and back up its value."""
    path = [root]
    while path[-1].children:
        action = choose(path[-1], settings if len(path) > 1 else settings.at_root())
        state.apply_action(action)
        path.append(path[-1].children[action])
    leaf = path[-1]
    if state.is_terminal():
        value = state.returns()[0]
        if value == 0:
            value = settings.draw_value * (1 if root.player == 0 else -1)
    else:
        priors, value = evaluate(state)
        leaf.player = state.current_player()
        leaf.children = {a: Node(stored(p)) for a, p in sorted(priors.items())}
        value = value if leaf.player == 0 else -value
    for node in path:
        node.n += 1
        node.w += value
        node.values.append(value)


def lower_bounds(root: Node, earlier: dict[int, int], stdevs: float) -> dict[int, float]:
    """Return the lower confidence bound of each move; ``earlier`` visits have no known values."""
    sign = 1 if root.player == 0 else -1
    bounds = {}
    for action, child in root.children.items():
        values = child.values[earlier.get(action, 0) :]
        variance = (float(np.var(values)) if values else 0.0) + 1 / (1 + len(values) ** 3)
        q = sign * child.w / child.n if child.n else math.nan
        bounds[action] = q - stdevs * math.sqrt(variance / child.n) if child.n else math.nan
    return bounds
