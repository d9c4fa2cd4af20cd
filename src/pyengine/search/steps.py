"""A search step by step: what each simulation selects, evaluates and backs up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from pyengine import _core
from pyengine.base.checks import integer
from pyengine.errors import ConfigError
from pyengine.games.game import game_for
from pyengine.search.config import SearchConfig
from pyengine.search.engine import Engine
from pyengine.search.explain import Explanation, NodeNumbers, explain
from pyengine.search.tree import action_name

#: The textbook algorithm; a call may change ``symmetry`` and ``solver``.
_TEXTBOOK: dict[str, Any] = {"symmetry": "none", "solver": False}
_SERIAL: dict[str, Any] = {
    "threads": 1,
    "batch_size": 1,
    "in_flight": 1,
    "graph": False,
    "reuse_tree": True,
}
_MOST = 10_000  # simulations


class Counts(NamedTuple):
    """N and W of a node, before or after a simulation.

    With UCB1 a win adds 1 to W, a draw 1/2 and a loss 0, as in the terms of the selections.
    """

    visits: int
    value_sum: float


@dataclass(frozen=True, kw_only=True)
class Selection:
    """The choice of a simulation at one position."""

    explanation: Explanation  #: the terms before the simulation
    action: int  #: the move taken
    name: str

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-compatible values."""
        return {**self.explanation.to_dict(), "chosen": self.name}


@dataclass(frozen=True, kw_only=True)
class Leaf:
    """The position at which a simulation ends.

    Attributes:
        path: the names of the moves to it.
        terminal: whether the game is over there.
        proven: whether the simulation ended because its value is proven.
        value: its evaluation, result or proven value in [-1, 1] for the player who made the last
            move. It is added to W of the leaf; with UCB1, (1 + value) / 2 is.
        priors: move names with their priors, the largest first; empty unless the evaluator was
            asked.
    """

    path: tuple[str, ...]
    terminal: bool
    proven: bool
    value: float
    priors: tuple[tuple[str, float], ...]

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-compatible values."""
        priors = [{"move": move, "P": prior} for move, prior in self.priors]
        values = {"terminal": self.terminal, "proven": self.proven, "value": self.value}
        return {"path": list(self.path), **values, "priors": priors}


@dataclass(frozen=True, kw_only=True)
class Step:
    """One simulation.

    Attributes:
        simulation: its number, from 1.
        selections: one for each move of its path.
        leaf: where it ends.
        before, after: N and W of each node of the path, the root first and the leaf last. W is for
            the player who made the last move, at the root for the opponent of the player to move.
    """

    simulation: int
    selections: tuple[Selection, ...]
    leaf: Leaf
    before: tuple[Counts, ...]
    after: tuple[Counts, ...]

    def nodes(self) -> Iterator[tuple[Counts, Counts]]:
        """Iterate over the nodes of the path, with their counts before and after."""
        return zip(self.before, self.after, strict=True)

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-compatible values."""
        moves = [None, *self.leaf.path]
        backup = [
            {"move": move, "N": [b.visits, a.visits], "W": [b.value_sum, a.value_sum]}
            for move, (b, a) in zip(moves, self.nodes(), strict=True)
        ]
        return {
            "simulation": self.simulation,
            "path": [selection.to_dict() for selection in self.selections],
            "leaf": self.leaf.to_dict(),
            "backup": backup,
        }


def steps(
    state: Any,
    evaluator: Any,
    simulations: int,
    *,
    game: Any = None,
    **settings: Any,
) -> list[Step]:
    """Search a state one simulation at a time and return each of them.

    Args:
        state: the state to search.
        evaluator: as for :class:`~pyengine.Engine`.
        simulations: at most 10,000. A proven root ends the search earlier.
        game: required if the state does not know its game.
        **settings: fields of :class:`~pyengine.SearchConfig`. The search is the textbook algorithm:
            one leaf at a time, ``symmetry="none"`` and ``solver=False`` unless given.

    Raises ConfigError for algorithms other than ``"puct"`` and ``"uct"``, for root noise and for
    ``graph=True``. Other errors are those of :meth:`Engine.search`.

    Example:
        >>> import pyengine
        >>> from pyengine.search.steps import steps
        >>> state = pyengine.load_game("tic_tac_toe").new_initial_state()
        >>> step = steps(state, "uniform", 20)[-1]
        >>> [selection.name for selection in step.selections] == list(step.leaf.path)
        True
    """
    count = integer("simulations", simulations, 1, _MOST)
    config = SearchConfig(**{**_TEXTBOOK, **settings, **_SERIAL})
    _check(settings, config)
    with Engine(game_for(state, game, "steps"), evaluator, config=config) as engine:
        return list(_Recorder(engine, state).steps(count))


def _check(settings: dict[str, Any], config: SearchConfig) -> None:
    if config.algorithm not in ("puct", "uct"):
        raise ConfigError(f'algorithm: expected "puct" or "uct", got "{config.algorithm}"')
    if config.dirichlet_fraction:
        raise ConfigError(f"dirichlet_fraction: expected 0, got {config.dirichlet_fraction:g}")
    if settings.get("graph"):
        raise ConfigError("graph: expected False or None, got True")


class _Recorder:
    """Runs simulations and compares the nodes on their paths before and after."""

    def __init__(self, engine: Engine, root: Any) -> None:
        self._engine, self._root = engine, root
        self._known: dict[tuple[int, ...], NodeNumbers] = {}

    def steps(self, count: int) -> Iterator[Step]:
        for number in range(1, count + 1):
            result = self._engine.search(self._root, simulations=1)
            if not result.simulations:
                return
            if number == 1:
                self._known[()] = _unvisited(result.root_numbers())
            yield self._step(number)
            if result.stop_reason == "proven":
                return

    def _step(self, number: int) -> Step:
        """Follow the simulation that has just been made."""
        state = self._root.clone()
        path: tuple[int, ...] = ()
        names: tuple[str, ...] = ()
        selections: list[Selection] = []
        root, after_root = self._known[()], self._engine.numbers(())
        before, after = [_of_opponent(root)], [_of_opponent(after_root)]
        while (known := self._known.get(path)) is not None:
            now = self._known[path] = self._engine.numbers(path)
            action = _taken(known, now)
            if action is None:
                break
            explanation = explain(known, self._engine.config, state, names)
            name = action_name(state, action)
            selections.append(Selection(explanation=explanation, action=action, name=name))
            before.append(_counts(known, action))
            after.append(_counts(now, action))
            state.apply_action(action)
            path, names = (*path, action), (*names, name)
        value = after[-1].value_sum - before[-1].value_sum
        return Step(
            simulation=number,
            selections=tuple(selections),
            leaf=self._leaf(state, path, names, value),
            before=self._in_terms(before),
            after=self._in_terms(after),
        )

    def _in_terms(self, counts: list[Counts]) -> tuple[Counts, ...]:
        """Return counts with W as in the terms of the rule."""
        if self._engine.config.algorithm == "uct":
            return tuple(Counts(n, (n + w) / 2) for n, w in counts)
        return tuple(counts)

    def _leaf(
        self, state: Any, path: tuple[int, ...], names: tuple[str, ...], value: float
    ) -> Leaf:
        terminal, known = state.is_terminal(), path in self._known
        priors: tuple[tuple[str, float], ...] = ()
        if not terminal and not known:
            numbers = self._known[path] = self._engine.numbers(path)
            ordered = sorted(numbers.moves, key=lambda move: (-move.prior, move.action))
            priors = tuple((action_name(state, move.action), move.prior) for move in ordered)
        return Leaf(path=names, terminal=terminal, proven=known, value=value, priors=priors)


def _taken(before: NodeNumbers, after: NodeNumbers) -> int | None:
    """Return the move that has got a visit."""
    visits = {move.action: move.visits for move in before.moves}
    taken = (move.action for move in after.moves if move.visits > visits[move.action])
    return next(taken, None)


def _counts(node: NodeNumbers, action: int) -> Counts:
    move = next(move for move in node.moves if move.action == action)
    return Counts(move.visits, move.sum)


def _of_opponent(root: NodeNumbers) -> Counts:
    return Counts(root.visits, 0.0 - root.sum)


def _unvisited(root: NodeNumbers) -> NodeNumbers:
    """Return the numbers that a root had before its first simulation."""
    total = root.sum - sum(move.sum for move in root.moves)
    moves = [move._replace(visits=0, sum=0.0, proven=_core.NOT_PROVEN) for move in root.moves]
    return root._replace(visits=1, sum=total, stdev_factor=1.0, moves=moves)
