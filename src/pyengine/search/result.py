"""The result of a search: :class:`SearchResult`."""

from __future__ import annotations

import dataclasses
import textwrap
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from pyengine import _core
from pyengine.base.checks import integer, number
from pyengine.errors import EvaluationError
from pyengine.eval.final_board import FinalBoard
from pyengine.games.board_layout import state_text
from pyengine.games.notebook import state_picture
from pyengine.search.config import SearchConfig, SearchSettings
from pyengine.search.explain import Explanation, NodeNumbers, explain, follow, moves_of, numbers_in
from pyengine.search.heat import Heat, result_svg
from pyengine.search.tree import (
    PROVEN,
    Line,
    SearchTree,
    action_name,
    legal_part,
    lines_of,
    names_of_line,
    signed,
)
from pyengine.show.picture import text_html

StopReason: TypeAlias = Literal["simulations", "seconds", "proven", "stopped", "visits", "decided"]

#: Fields that to_dict() leaves out.
_NOT_PLAIN = ("state", "tree_nodes", "root_moves", "stdev_factor", "settings", "final_board")
_TABLE_ROWS = 10
_COLUMNS = 80  # of a terminal


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class SearchResult:
    """The result of a search, valid even after the engine is closed.

    Values are in [-1, 1], for the player to move at the root. ``A`` is the number of actions of
    the game, ``L`` the number of legal ones or, with ``allow`` or ``avoid``, of those searched.

    Attributes:
        action: the selected move: most visits, then larger q, larger prior, smaller action. With
            ``choose="mean"`` q comes first, with ``"lcb"`` the lower confidence bound; with
            ``algorithm="gumbel"`` it is the winner of sequential halving. A proven win is always
            preferred, a proven loss avoided; with ``temperature`` above 0 the move is drawn at
            random.
        value: mean of all visits and the root's own evaluation, or the proven value; a draw counts
            ``SearchConfig.draw_value``.
        network_value: the root's own evaluation; 0 if the search ended before it.
        proven: -1, 0 or 1 if the value is proven, else None. None also if not all moves were
            searched; if those are proven, ``value`` is their value.
        actions: int32[L], ascending.
        visits: uint32[L], including those of a reused tree; in a new tree of s simulations their
            sum is s.
        priors: float32[L], as used by the search, including noise.
        q: float32[L], mean value of each move; NaN if unvisited.
        lcb: float32[L], the lower confidence bound of each q, NaN if unvisited; None unless
            ``choose="lcb"``.
        policy: float32[A], normalised visits.
        improved_policy: float32[A], the policy target of Gumbel MuZero from completed Q-values.
        pv: principal variation: ``action``, then the most visited moves.
        reused: the part of ``visits`` that came from the reused tree.
        evaluations: rows evaluated in this call, without padding and cache hits.
        simulations, seconds: of this call alone.
        nodes: size of the tree, or number of positions of the graph. After :meth:`Engine.advance`
            to a move with 16,384 visits or more, or in a graph, an upper bound until the nodes have
            been counted in the background.
        stop_reason: ``"simulations"``, ``"seconds"``, ``"proven"``, ``"stopped"``, ``"decided"``
            (see ``SearchConfig.stop_when_decided``), or ``"visits"``: the root has the maximum
            number of visits, 2^32 - 1.
        state: a copy of the searched state.
        tree_nodes, root_moves, stdev_factor: the data of :meth:`tree` and :meth:`explain`.
        settings: those of the engine, and those that the call changed.
        final_board: the source of :attr:`ownership` and :attr:`score`; None if the network predicts
            neither.

    Example:
        >>> import pyengine
        >>> state = pyengine.load_game("connect_four").new_initial_state()
        >>> result = pyengine.search(state, evaluator="connect4", simulations=200)
        >>> int(result.visits.sum()), result.policy.shape
        (200, (7,))
        >>> [result.action_name(action) for action in result.pv][:1]
        ['4']
    """

    action: int
    value: float
    network_value: float
    proven: int | None
    actions: npt.NDArray[np.int32]
    visits: npt.NDArray[np.uint32]
    priors: npt.NDArray[np.float32]
    q: npt.NDArray[np.float32]
    lcb: npt.NDArray[np.float32] | None
    policy: npt.NDArray[np.float32]
    improved_policy: npt.NDArray[np.float32]
    pv: list[int]
    reused: int
    simulations: int
    evaluations: int
    nodes: int
    seconds: float
    stop_reason: StopReason
    state: Any
    tree_nodes: npt.NDArray[Any]
    root_moves: npt.NDArray[Any]
    stdev_factor: float
    settings: tuple[SearchConfig, SearchSettings]
    final_board: FinalBoard | None

    @property
    def config(self) -> SearchConfig:
        """The settings of the search."""
        config, changes = self.settings
        return config.replace(**changes)

    @property
    def ownership(self) -> npt.NDArray[np.float32] | None:
        """The predicted owner of each point at the end: float32 [H,W] in [-1, 1], top row first.

        1 = the player to move at the root, -1 = the opponent. It is the network's prediction for
        the root, evaluated on first access, without search. None if the network has no such output.
        Raises EvaluationError if the network cannot be evaluated, for example without its file.
        """
        return None if self.final_board is None else self.final_board.prediction()[0]

    @property
    def score(self) -> float | None:
        """The predicted lead in points of the player to move at the end; see :attr:`ownership`."""
        return None if self.final_board is None else self.final_board.prediction()[1]

    def policy_at(self, temperature: float) -> npt.NDArray[np.float32]:
        """Return ``visits ** (1 / temperature)`` normalised, float32 [A].

        At 0 all probability is on the most visited actions, split equally. Without visits the
        priors are used instead. Raises ConfigError for a negative temperature.
        """
        temperature = number("temperature", temperature, "a number >= 0", lambda given: given >= 0)
        policy = np.zeros_like(self.policy)
        weights = self.visits if self.visits.any() else self.priors
        policy[self.actions] = _core.at_temperature(weights.tolist(), temperature)
        return policy

    def tree(self, max_depth: int = 3, min_visits: int = 1) -> SearchTree:
        """Return the tree at the end of the search.

        Args:
            max_depth: plies below the root.
            min_visits: omit subtrees whose root has fewer visits.

        A result keeps the most visited nodes: 256 plus 4 per simulation, up to 4,096.
        """
        depth, visits = integer("max_depth", max_depth, 0), integer("min_visits", min_visits, 0)
        return SearchTree.from_nodes(self.tree_nodes, depth, visits, self.state)

    def explain(self, path: Sequence[int | str] = ()) -> Explanation:
        """Return the moves of a position with the numbers of the selection rule.

        Args:
            path: actions, or moves by name, from the root to the position.

        At the root all moves are listed, below it those with visits and the best of the others.
        :meth:`Engine.explain` lists all moves of every position of the current tree.

        Raises ConfigError if the result does not keep the position, see :meth:`tree`, and below the
        root with ``algorithm="gumbel"``, ``c_puct_stdev`` or in a graph. The root of ``"gumbel"``
        needs ``gumbel_noise=False``.

        Example:
            >>> import pyengine
            >>> state = pyengine.load_game("tic_tac_toe").new_initial_state()
            >>> result = pyengine.search(state, evaluator="uniform", simulations=100)
            >>> best = result.explain().moves[0]
            >>> best.sum == best.terms["Q"] + best.terms["U"]
            True
        """
        state, actions, names = follow(self.state, path)
        if actions:
            legal = state.legal_actions()
            numbers = numbers_in(self.tree_nodes, actions, self.config, legal)
        else:
            numbers = self.root_numbers()
        return explain(numbers, self.config, state, names)

    def root_numbers(self) -> NodeNumbers:
        """Return the numbers from which :meth:`explain` computes the terms of the root."""
        root = self.tree_nodes[0]
        return NodeNumbers(
            int(root["visits"]),
            0.0 - float(root["sum"]),  # that of the opponent
            self.network_value,
            self.stdev_factor,
            moves_of(self.root_moves),
        )

    def to_svg(self, heat: Heat | None = None) -> str:
        """Return the board as an SVG picture, with a frame around the selected move.

        Args:
            heat: what to draw on the points: the share of the visits, the prior or Q of each move
                for the player to move, or the predicted owners; None = only the frame. Moves that
                are not points, such as those of pieces, are left out.

        Raises ConfigError if the game has no board, or for ``"ownership"`` if the network does not
        predict it.
        """
        return result_svg(self, heat)

    def to_dict(self) -> dict[str, Any]:
        """Return all values as JSON-compatible Python objects (NaN becomes None).

        ``ownership`` and ``score`` are included if the network predicts them and its file exists.
        """
        fields = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        for name in _NOT_PLAIN:
            del fields[name]
        with suppress(EvaluationError):
            if self.final_board is not None:
                fields |= {"ownership": self.ownership, "score": self.score}
        for name, value in fields.items():
            if isinstance(value, np.ndarray):
                fields[name] = [None if x != x else x for x in value.tolist()]
        return fields

    def action_name(self, action: int) -> str:
        """Return the move as text, such as ``"D4"``."""
        return action_name(self.state, action)

    @property
    def win_rate(self) -> float:
        """The share of wins, where a draw counts as half: the value or the proof.

        If it is not proven, ``SearchConfig.draw_value`` is contained in it, as in ``value``.
        """
        return win_rate(self.value if self.proven is None else self.proven)

    def proven_moves(self) -> dict[int, int]:
        """Return -1, 0 or 1 for each action whose value is proven, for the player to move.

        Only covers moves among the nodes that a result keeps; see :meth:`tree`.
        """
        nodes = self.tree_nodes
        known = nodes[(nodes["parent"] == 0) & (nodes["proven"] != _core.NOT_PROVEN)]
        return {int(node["action"]): int(node["proven"]) for node in known}

    def lines(self, n: int = _TABLE_ROWS) -> list[list[int]]:
        """Return the principal variations of the best ``n`` visited moves, the selected one first.

        A line is the move, then the most visited replies, as far as a result keeps nodes; see
        :meth:`tree`.
        """
        return [line.actions for line in self.variations(n)]

    def variations(self, n: int = _TABLE_ROWS) -> list[Line]:
        """Return :meth:`lines` with the visits of each move."""
        best = [i for i in self.order().tolist() if self.visits[i]][: integer("n", n, 0)]
        known = lines_of(self.tree_nodes)
        moves = [(int(self.actions[i]), int(self.visits[i])) for i in best]
        lines = [known.get(action) or Line([action], [visits]) for action, visits in moves]
        if not shares(self.tree_nodes):
            return lines
        legal = [len(legal_part(self.state, line.actions)) for line in lines]
        return [Line(a[:n], v[:n]) for (a, v), n in zip(lines, legal, strict=True)]

    def order(self) -> npt.NDArray[np.intp]:
        """Return indices into ``actions``: the selected one, then by visits and prior."""
        chosen = self.actions == self.action
        return np.lexsort((self.actions, -self.priors, -self.visits.astype(np.int64), ~chosen))

    def __repr__(self) -> str:
        return (
            f"SearchResult(action={self.action}, value={self.value:+.4f}, "
            f"simulations={self.simulations}, nodes={self.nodes}, stop_reason={self.stop_reason!r})"
        )

    def __str__(self) -> str:
        """Return the board with a table of the best moves, in 80 columns."""
        board = state_text(self.state)
        return f"{board}\n\n{self._figures()}" if board else self._figures()

    def table_rows(self, limit: int = _TABLE_ROWS) -> list[tuple[str, ...]]:
        """Return the best moves as text: name, visits, share, prior, q, and wins or the proof."""
        proven = self.proven_moves()
        rows: list[tuple[str, ...]] = []
        for i in self.order()[:limit]:
            action, q = int(self.actions[i]), float(self.q[i])
            value, wins = (signed(q), f"{win_rate(q):.1%}") if self.visits[i] else ("-", "-")
            if action in proven:
                wins = f"proven {PROVEN[proven[action]]}"
            shares = (f"{self.policy[action]:.1%}", f"{self.priors[i]:.1%}")
            rows.append((self.action_name(action), f"{self.visits[i]:,}", *shares, value, wins))
        return rows

    def _figures(self) -> str:
        table = [("move", "visits", "share", "prior", "q", "wins"), *self.table_rows()]
        lines = ["{:>6} {:>8} {:>6} {:>6} {:>7} {:>7}".format(*row) for row in table]
        proof = "" if self.proven is None else f" (proven {PROVEN[self.proven]})"
        line = " ".join(names_of_line(self.state, self.pv))
        summary = (
            f"value {signed(self.value)}, wins {self.win_rate:.1%}{proof}, "
            f"best {self.action_name(self.action)}, line: {line}"
        )
        rate = self.simulations / self.seconds if self.seconds > 0 else 0.0
        lines += [
            textwrap.shorten(summary, _COLUMNS, placeholder=" ...", break_on_hyphens=False),
            f"{self.simulations} simulations in {self.seconds:.3f} s ({rate:,.0f} simulations/s), "
            + ending(self.stop_reason),
            f"{self.evaluations} evaluations, {self.nodes} nodes",
            *textwrap.wrap(unseen_note(self), _COLUMNS),
        ]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Return a picture for a notebook: the board with the share of visits on each point."""
        picture = state_picture(self.state, self.policy, self.action)
        return picture + text_html(self._figures() if picture else str(self))


def ending(reason: StopReason) -> str:
    """Describe why a search ended."""
    if reason == "stopped":
        return "stopped"
    return "ended early, the move was decided" if reason == "decided" else f"ended by {reason}"


def unseen_note(result: SearchResult) -> str:
    """Return a note if moves are unvisited due to equal priors and few simulations, else ""."""
    unseen = int((result.visits == 0).sum())
    if not unseen or result.priors.min() < result.priors.max() or result.proven is not None:
        return ""
    return (
        f"{unseen:,} of {len(result.visits):,} moves have no visits: with equal priors the search "
        "needs many more simulations than moves"
    )


def win_rate(value: float) -> float:
    """Convert a value in [-1, 1] to a win rate; a draw counts as half."""
    return (value + 1) / 2


def shares(nodes: npt.NDArray[np.void]) -> bool:
    """Return whether the records of a tree contain a position twice."""
    return bool((nodes["same"] >= 0).any())


def result_of(
    fields: dict[str, Any],
    state: Any,
    final_board: FinalBoard | None,
    settings: tuple[SearchConfig, SearchSettings],
) -> SearchResult:
    """Create a result from the fields returned by the core."""
    if shares(fields["tree_nodes"]):
        fields["pv"] = legal_part(state, fields["pv"])
    result = SearchResult.__new__(SearchResult)
    # A frozen dataclass sets its fields one by one, which takes a fifth of the smallest search.
    vars(result).update(fields, state=state, final_board=final_board, settings=settings)
    return result
