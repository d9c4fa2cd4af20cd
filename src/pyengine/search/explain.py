"""The terms with which a search chooses among the moves of a position."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from pyengine import _core
from pyengine.base.checks import elements, integer
from pyengine.errors import ConfigError
from pyengine.games.move_names import find_action
from pyengine.search.config import SearchConfig
from pyengine.search.tree import PROVEN, action_name
from pyengine.show.picture import table_html

_SHOWN = 10  # moves in str()
_LEAST_PRIOR = 1e-30  # src/cpp/search/rules/gumbel.h
_LEAST_RANGE, _MOST_SCALE = 1e-8, 1e100


class MoveNumbers(NamedTuple):
    """A move of a node: the fields of _core's records. Values are for the player to move."""

    sum: float  #: W
    action: int
    visits: int
    prior: float
    proven: int


class NodeNumbers(NamedTuple):
    """A node's numbers; values are for the player to move there."""

    visits: int  #: including its own evaluation
    sum: float  #: of the values of its visits
    value: float  #: its own evaluation
    stdev_factor: float  #: of the exploration, see ``SearchConfig.c_puct_stdev``
    moves: Sequence[MoveNumbers]  #: in the order in which the search creates them
    unlisted: int = 0  #: further moves, which have no visits


@dataclass(frozen=True, kw_only=True)
class MoveTerms:
    """A move and the terms of the rule. Values are for the player to move at the node.

    Attributes:
        visits, value_sum: N and W; with UCB1, W counts a win as 1 and a loss as 0.
        prior: P, as stored by the search.
        q: the value in the rule: W / N, or the value of a move without visits; NaN if there is
            none.
        terms: the two terms by name, such as Q and U; their sum is ``sum``.
        sum: infinite for a move that UCB1 has yet to try, -infinite for a proven loss.
        proven: -1, 0, 1 or None.
    """

    action: int
    name: str
    visits: int
    value_sum: float
    prior: float
    q: float
    terms: dict[str, float]
    sum: float
    proven: int | None

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-compatible values under the formula's names; None if not finite."""
        values = {"N": self.visits, "W": self.value_sum, "P": self.prior, "Q": self.q}
        finite = {
            key: value if math.isfinite(value) else None
            for key, value in {**values, **self.terms, "sum": self.sum}.items()
        }
        return {"action": self.action, "move": self.name, **finite, "proven": self.proven}


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """The moves of a position with the numbers of the selection rule, the next one first.

    The formulas are those of docs/search-rules.md. Leaves in flight are not included. With
    ``solver=True`` a visit that would go to a proven draw may go to an unproven move instead.

    Attributes:
        path: the moves from the root to the position.
        algorithm: ``"puct"``, ``"uct"``, ``"flat_ucb"`` or ``"gumbel"``.
        visits: of the position, including its own evaluation.
        moves: largest sum first; in case of a tie, the one that the search prefers.
        unlisted: number of further moves, none of which has a visit or a larger sum.
        action: the move that the next simulation would take here; None if that is a random one of
            the unlisted moves. At the root of ``"gumbel"``, whose next visit depends on the plan of
            the search: the move that it would play.
    """

    path: tuple[str, ...]
    algorithm: str
    visits: int
    moves: tuple[MoveTerms, ...]
    unlisted: int
    action: int | None

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-compatible values: the moves under the formula's names."""
        chosen = next((move.name for move in self.moves if move.action == self.action), None)
        return {
            "path": list(self.path),
            "algorithm": self.algorithm,
            "N": self.visits,
            "moves": [move.to_dict() for move in self.moves],
            "unlisted": self.unlisted,
            "action": self.action,
            "move": chosen,
        }

    def table_rows(self, limit: int | None = None) -> list[tuple[str, ...]]:
        """Return the table as text, with its header; the next move is marked with ``>``."""
        terms = [name for name in self.moves[0].terms if name != "Q"] if self.moves else []
        rows: list[tuple[str, ...]] = [("", "move", "N", "P", "Q", *terms, "sum", "")]
        for move in self.moves[:limit]:
            figures = (number(move.terms[name]) for name in terms)
            rows.append(
                (
                    ">" if move.action == self.action else "",
                    move.name,
                    f"{move.visits:,}",
                    f"{move.prior:.4f}",
                    number(move.q),
                    *figures,
                    number(move.sum),
                    "" if move.proven is None else f"proven {PROVEN[move.proven]}",
                )
            )
        return rows

    def _title(self) -> str:
        where = f"after {' '.join(self.path)}" if self.path else "at the root"
        return f"{self.algorithm} {where}, N {self.visits:,}"

    def _rest(self, shown: int) -> str:
        more = len(self.moves) + self.unlisted - shown
        return f"and {more:,} more, none with a larger sum" if more > 0 else ""

    def __str__(self) -> str:
        """Return the table of the best moves."""
        rows = self.table_rows(_SHOWN)
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            "  ".join(f"{cell:>{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in rows
        ]
        rest = self._rest(len(rows) - 1)
        return "\n".join([self._title(), *lines, *([rest] if rest else [])])

    def _repr_html_(self) -> str:
        rows = self.table_rows(_SHOWN)
        return table_html(rows, self._title(), self._rest(len(rows) - 1))


def number(value: float) -> str:
    """Format a term: sign and four decimals."""
    return "-" if math.isnan(value) else f"{round(value, 4) + 0.0:+.4f}"


#: Returns Q and the two terms of a move.
_Rule: TypeAlias = Callable[[MoveNumbers], tuple[float, dict[str, float]]]


def explain(
    numbers: NodeNumbers, config: SearchConfig, state: Any, path: tuple[str, ...]
) -> Explanation:
    """Return the explanation of a node.

    Args:
        numbers: of the node.
        config: the settings of the search.
        state: the position.
        path: the names of the moves to it from the root.

    """
    rule = _rules(config, at_root=not path)(numbers, config)
    is_puct = config.algorithm == "puct"
    lost = -1 if config.solver and config.algorithm in ("puct", "gumbel") else None
    rows = []
    for place, move in enumerate(numbers.moves):
        q, terms = rule(move)
        total = -math.inf if move.proven == lost else sum(terms.values())
        rows.append((total, place, move, q, terms))
    if is_puct:
        rows.sort(key=lambda row: (-row[0], -row[2].prior, row[2].action))
    elif config.algorithm == "gumbel":
        rows.sort(key=lambda row: (-row[0], row[2].action))
    else:
        rows.sort(key=lambda row: (-row[0], row[1]))
    moves = tuple(_terms(state, config, *row) for row in rows)
    return Explanation(
        path=path,
        algorithm=config.algorithm,
        visits=numbers.visits,
        moves=moves,
        unlisted=numbers.unlisted,
        action=_next(moves, config, numbers.unlisted, at_root=not path),
    )


def _terms(
    state: Any,
    config: SearchConfig,
    total: float,
    _place: int,
    move: MoveNumbers,
    q: float,
    terms: dict[str, float],
) -> MoveTerms:
    counts_wins = config.algorithm in ("uct", "flat_ucb")
    return MoveTerms(
        action=move.action,
        name=action_name(state, move.action),
        visits=move.visits,
        value_sum=(move.visits + move.sum) / 2 if counts_wins else move.sum,
        prior=move.prior,
        q=q,
        terms=terms,
        sum=total,
        proven=None if move.proven == _core.NOT_PROVEN else move.proven,
    )


def _next(
    moves: Sequence[MoveTerms], config: SearchConfig, unlisted: int, *, at_root: bool
) -> int | None:
    if not moves:
        return None
    if config.algorithm == "gumbel" and at_root:
        most = max(move.visits for move in moves)
        return next(move.action for move in moves if move.visits == most)
    if config.algorithm in ("uct", "flat_ucb") and unlisted:
        return None
    return moves[0].action


def _rules(config: SearchConfig, *, at_root: bool) -> Callable[[NodeNumbers, SearchConfig], _Rule]:
    if config.algorithm == "puct":
        return puct_at_root if at_root else puct
    if config.algorithm == "gumbel":
        return gumbel_at_root if at_root else gumbel
    return ucb1


def puct_at_root(numbers: NodeNumbers, config: SearchConfig) -> _Rule:
    """Return PUCT with the settings of the root."""
    own = {
        "c_puct": config.root_c_puct,
        "fpu_value": config.root_fpu_value,
    }
    return puct(numbers, config.replace(**{k: v for k, v in own.items() if v is not None}))


def puct(numbers: NodeNumbers, config: SearchConfig) -> _Rule:
    """Return PUCT: Q + c(n) P sqrt(n) / (1 + N). The operations are in the order of the core's."""
    n = float(numbers.visits)
    rate, growth = config.c_puct, 1.0
    if config.exploration != "alphago":
        growth = math.sqrt(n)
        if (base := config.c_puct_base) is not None:
            rate += config.c_puct_factor * math.log((1.0 + n + base) / base)
    rate *= numbers.stdev_factor
    first_play = _first_play(numbers, config)

    def terms(move: MoveNumbers) -> tuple[float, dict[str, float]]:
        q = move.sum / move.visits if move.visits else first_play
        return q, {"Q": q, "U": rate * move.prior * growth / (1.0 + move.visits)}

    return terms


def _first_play(numbers: NodeNumbers, config: SearchConfig) -> float:
    """Return the Q of a move without visits."""
    if config.fpu == "value":
        return config.fpu_value
    mean = numbers.sum / numbers.visits if numbers.visits else 0.0
    if config.fpu == "parent":
        return mean
    visited = math.fsum(move.prior for move in numbers.moves if move.visits)
    return mean - config.fpu_value * math.sqrt(visited)


def ucb1(numbers: NodeNumbers, config: SearchConfig) -> _Rule:
    """Return UCB1: W / N + c sqrt(2 ln n / N), infinite without visits."""
    n = sum(move.visits for move in numbers.moves)
    log_n = math.log(n) if n else 0.0

    def terms(move: MoveNumbers) -> tuple[float, dict[str, float]]:
        if not move.visits:
            return math.nan, {"Q": 0.0, "U": math.inf}
        q = 0.5 + move.sum * (0.5 * (1.0 / move.visits))
        if config.exploration == "log":
            return q, {"Q": q, "U": config.uct_c * (log_n - math.log(move.visits + 1))}
        u = config.uct_c * math.sqrt(2.0 * log_n) * math.sqrt(1.0 / move.visits)
        return q, {"Q": q, "U": u}

    return terms


class _CompletedQ:
    """Gumbel's completed Q-values of a node, in the order of operations of the core's."""

    def __init__(self, numbers: NodeNumbers, config: SearchConfig) -> None:
        visited = [move for move in numbers.moves if move.visits]
        n = sum(move.visits for move in visited)
        prior = weighted = 0.0
        for move in visited:
            p = max(move.prior, _LEAST_PRIOR)
            prior += p
            weighted += p * (move.sum / move.visits)
        self.mixed = (numbers.value + n * (weighted / prior if visited else 0.0)) / (1.0 + n)
        values = [move.sum / move.visits for move in visited]
        if len(visited) < len(numbers.moves) + numbers.unlisted:
            values.append(self.mixed)
        self.least, self.most = min(values), max(values)
        self.range = max(self.most - self.least, _LEAST_RANGE)
        most_visits = max((move.visits for move in visited), default=0)
        scale = (config.gumbel_c_visit + most_visits) * config.gumbel_c_scale
        self.scale = min(scale, _MOST_SCALE)

    def of(self, move: MoveNumbers) -> float:
        return move.sum / move.visits if move.visits else self.mixed

    def sigma(self, q: float) -> float:
        return self.scale * (q - self.least) / self.range

    def weight(self, prior: float, q: float) -> float:
        """Return the improved policy up to a factor."""
        return max(prior, _LEAST_PRIOR) * math.exp(self.sigma(q) - self.sigma(self.most))


def gumbel(numbers: NodeNumbers, config: SearchConfig) -> _Rule:
    """Return Gumbel's rule below the root: pi' - N / (1 + sum N)."""
    completed = _CompletedQ(numbers, config)
    unvisited = math.fsum(move.prior for move in numbers.moves if not move.visits)
    weights = completed.weight(1.0, completed.mixed) * unvisited
    n = 1.0
    for move in numbers.moves:
        if move.visits:
            weights += completed.weight(move.prior, completed.of(move))
            n += move.visits

    def terms(move: MoveNumbers) -> tuple[float, dict[str, float]]:
        q = completed.of(move)
        return q, {"pi'": completed.weight(move.prior, q) / weights, "-N/n": -move.visits / n}

    return terms


def gumbel_at_root(numbers: NodeNumbers, config: SearchConfig) -> _Rule:
    """Return Gumbel's score at the root: ln P + sigma(completed Q)."""
    if config.gumbel_noise:
        raise ConfigError(
            "explain: expected gumbel_noise=False at the root, got True: its noise is not kept"
        )
    completed = _CompletedQ(numbers, config)

    def terms(move: MoveNumbers) -> tuple[float, dict[str, float]]:
        q = completed.of(move)
        logit = math.log(max(move.prior, _LEAST_PRIOR))
        return q, {"ln P": logit, "sigma": completed.sigma(q)}

    return terms


def numbers_from(fields: dict[str, Any]) -> NodeNumbers:
    """Return the numbers that the core has read from a node."""
    return NodeNumbers(**{**fields, "moves": moves_of(fields["moves"])})


def moves_of(records: npt.NDArray[Any]) -> list[MoveNumbers]:
    """Return the moves among records of the core, which may have further fields."""
    return [MoveNumbers(*record) for record in records[list(MoveNumbers._fields)].tolist()]


def numbers_in(
    nodes: npt.NDArray[Any], path: Sequence[int], config: SearchConfig, legal: Sequence[int]
) -> NodeNumbers:
    """Return the numbers of a node below the root among the records of a result's tree.

    ``legal``: the legal moves there.
    """
    _check_kept(nodes, config)
    place = parent = 0
    for action in path:
        below = nodes["parent"] == place
        found = np.flatnonzero(below & (nodes["action"] == action))
        if not len(found):
            raise _not_kept()
        parent, place = place, int(found[0])
    node = nodes[place]
    children = nodes[nodes["parent"] == place]
    unlisted = int(node["unvisited"])
    if node["to_move"] < 0 or len(children) + unlisted < len(legal):
        raise _not_kept()
    moves = moves_of(children[np.argsort(children["place"])])
    if node["next_prior"] >= 0:
        action = int(node["next_action"])
        if action == _core.NO_NEXT:
            action = min(set(legal).difference(move.action for move in moves))
        moves.append(MoveNumbers(0.0, action, 0, float(node["next_prior"]), _core.NOT_PROVEN))
        unlisted -= 1
    sign = 1 if nodes[parent]["to_move"] == node["to_move"] else -1
    total = sign * float(node["sum"])
    return NodeNumbers(int(node["visits"]), total, math.nan, 1.0, moves, unlisted)


def _not_kept() -> ConfigError:
    return ConfigError(
        "path: the result does not keep this position with all of its visited moves; "
        "call Engine.explain() after the search"
    )


def _check_kept(nodes: npt.NDArray[Any], config: SearchConfig) -> None:
    """Refuse what the nodes of a result do not hold."""
    lacking = {
        'algorithm="gumbel"': config.algorithm == "gumbel",
        "c_puct_stdev": config.c_puct_stdev != 0,
        "graph=True": bool((nodes["same"] >= 0).any()),
    }
    for setting, is_set in lacking.items():
        if is_set:
            raise ConfigError(
                f"explain: a result keeps too little to explain {setting} below the root; "
                "call Engine.explain() after the search"
            )


def follow(state: Any, path: Sequence[int | str]) -> tuple[Any, list[int], tuple[str, ...]]:
    """Play moves, given as actions or by name; return the state, the actions and their names."""
    state = state.clone()
    actions, names = [], []
    for move in elements("path", path, "a sequence of actions or moves by name"):
        action = find_action(state, move) if isinstance(move, str) else integer("path", move, 0)
        actions.append(action)
        names.append(action_name(state, action))
        state.apply_action(action)
    return state, actions, tuple(names)
