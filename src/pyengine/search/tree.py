"""The tree of a finished search as nested nodes, a dict or a Graphviz drawing."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from pyengine import _core
from pyengine.base.checks import integer
from pyengine.errors import IllegalActionError
from pyengine.show.picture import image_html
from pyengine.show.tree_picture import TreeNode, tree_svg

# Limits of str().
_SHOWN_DEPTH = 3
_SHOWN_CHILDREN = 3
_DRAWN, _MOST_DRAWN = 40, 500  # nodes of a picture

#: The fields of a record that a node is made of.
_READ = ("parent", "action", "visits", "prior", "sum", "to_move", "proven", "same")

PROVEN = {-1: "loss", 0: "draw", 1: "win"}


class Line(NamedTuple):
    """A principal variation: its moves, and the visits of each."""

    actions: list[int]
    visits: list[int]


@dataclass(kw_only=True, repr=False, eq=False)
class SearchTree:
    """A node and its subtree. Values are for the player who made the move.

    At the root, where nobody moved, they are for the opponent of the player to move. Trees are
    compared by value; NaN equals NaN.

    Attributes:
        action: the action that leads here; None at the root.
        name: the action as text; empty at the root.
        to_move: player to move; None if the node is terminal or not expanded.
        prior: of the action; 0 at the root.
        q: mean value; NaN without visits.
        proven: the proven value, -1, 0 or 1, else None.
        shared: in a graph, whether a node elsewhere in the tree is the same position and has the
            children. A node may then have more visits than its parent.
    """

    action: int | None
    name: str
    to_move: int | None
    visits: int
    prior: float
    q: float
    proven: int | None
    shared: bool = False
    children: list[SearchTree] = field(default_factory=list)

    @classmethod
    def from_nodes(
        cls, nodes: npt.NDArray[np.void], max_depth: int, min_visits: int, state: Any
    ) -> Self:
        """Build the tree from records in which parents precede their children."""
        built: dict[int, tuple[Self, int, Any]] = {}  # by record: node, depth, state
        for number, record in enumerate(nodes[list(_READ)].tolist()):
            parent, action, visits, prior, total, to_move, proven, same = record
            is_root = parent < 0
            if is_root:
                name, depth, after = "", 0, state
            elif parent in built and built[parent][1] < max_depth and visits >= min_visits:
                _, depth_before, before = built[parent]
                name, depth, after = action_name(before, action), depth_before + 1, before.clone()
                try:
                    after.apply_action(action)
                except IllegalActionError:  # under superko it may be legal on another path
                    continue
            else:
                continue
            node = cls(
                action=None if is_root else action,
                name=name,
                to_move=None if to_move < 0 else to_move,
                visits=visits,
                prior=prior,
                q=total / visits if visits else math.nan,
                proven=None if proven == _core.NOT_PROVEN else proven,
                shared=same >= 0,
            )
            built[number] = node, depth, after
            if not is_root:
                built[parent][0].children.append(node)
        if not built:  # nothing has been searched yet
            return cls(
                action=None, name="", to_move=None, visits=0, prior=0, q=math.nan, proven=None
            )
        return built[0][0]

    def __repr__(self) -> str:
        proof = "" if self.proven is None else f", proven={self.proven}"
        return (
            f"SearchTree({self._label()}, visits={self.visits}, q={signed(self.q)}{proof}, "
            f"children={len(self.children)})"
        )

    def __str__(self) -> str:
        """Return the top of the tree, one node per line."""
        return "\n".join(self._lines(0))

    def _label(self) -> str:
        return "root" if self.action is None else self.name or str(self.action)

    def _lines(self, depth: int) -> list[str]:
        value = "" if self.q != self.q else f"  q {signed(self.q)}"
        proof = "" if self.proven is None else f"  proven {PROVEN[self.proven]}"
        mark = "  shared" if self.shared else ""
        figures = "" if self.action is None else f"{value}{proof}{mark}"
        lines = [f"{'  ' * depth}{self._label()}  visits {self.visits}{figures}"]
        if depth == _SHOWN_DEPTH:
            return lines
        most_visited = sorted(self.children, key=lambda child: -child.visits)
        for child in most_visited[:_SHOWN_CHILDREN]:
            lines += child._lines(depth + 1)
        if (more := len(self.children) - _SHOWN_CHILDREN) > 0:
            lines.append(f"{'  ' * (depth + 1)}and {more} more")
        return lines

    # A tree may be deeper than Python's recursion limit, so the methods below iterate.

    def _nodes(self) -> Iterator[tuple[int, SearchTree]]:
        """Yield nodes after their parents, with the index of the parent, or -1."""
        pending = [(-1, self)]
        number = 0
        while pending:
            parent, node = pending.pop()
            yield parent, node
            pending += [(number, child) for child in reversed(node.children)]
            number += 1

    def _values(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "children"}

    def to_dict(self) -> dict[str, Any]:
        """Return nested JSON-compatible values (NaN becomes None).

        Python's json supports about a thousand levels; limit ``max_depth`` accordingly.
        """
        built: list[dict[str, Any]] = []
        for parent, node in self._nodes():
            q = None if node.q != node.q else node.q
            built.append({**node._values(), "q": q, "children": []})
            if parent >= 0:
                built[parent]["children"].append(built[-1])
        return built[0]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SearchTree):
            return NotImplemented
        return _rows_to_compare(self) == _rows_to_compare(other)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self)._from_rows, ([(at, node._values()) for at, node in self._nodes()],)

    @classmethod
    def _from_rows(cls, rows: list[tuple[int, dict[str, Any]]]) -> Self:
        built: list[Self] = []
        for parent, values in rows:
            built.append(cls(**values))
            if parent >= 0:
                built[parent].children.append(built[-1])
        return built[0]

    def to_svg(self, max_nodes: int = _DRAWN) -> str:
        """Return a picture of the most visited nodes, the root on the left.

        A node shows its move, Q and P; the line to it is as wide as its share of the visits, its
        colour is blue for Q above 0, else orange. ``+k`` counts children that are not drawn.
        ``max_nodes``: at most 500.
        """
        return tree_svg(_drawn(self, integer("max_nodes", max_nodes, 1, _MOST_DRAWN)))

    def _repr_html_(self) -> str:
        return image_html(self.to_svg(), "the most visited nodes of the tree")

    def to_dot(self) -> str:
        """Return the tree in the DOT language of Graphviz."""
        lines = ["digraph search {", "  node [shape=box, fontname=monospace];"]
        for number, (parent, node) in enumerate(self._nodes()):
            label = f"{node._label()}\nN {node.visits}  Q {signed(node.q)}"
            proof = "" if node.proven is None else f"\nproven {node.proven:+d}"
            mark = ", style=dashed" if node.shared else ""
            lines.append(f"  n{number} [label={_quoted(label + proof)}{mark}];")
            if parent >= 0:
                lines.append(f'  n{parent} -> n{number} [label="{node.prior:.3f}"];')
        return "\n".join([*lines, "}"]) + "\n"


def _drawn(root: SearchTree, max_nodes: int) -> TreeNode:
    """Return the most visited nodes of a tree, to be drawn."""
    drawn: dict[int, TreeNode] = {}
    pending: list[tuple[int, int, SearchTree, TreeNode | None]] = [(-root.visits, 0, root, None)]
    number = 0
    while pending and len(drawn) < max_nodes:
        _, _, node, parent = heapq.heappop(pending)
        picture = drawn[id(node)] = _picture_of(node, root)
        if parent is not None:
            parent.children.append(picture)
            parent.hidden -= 1
        for child in node.children:
            number += 1
            heapq.heappush(pending, (-child.visits, number, child, picture))
    return drawn[id(root)]


def _picture_of(node: SearchTree, root: SearchTree) -> TreeNode:
    value = node.q if node.proven is None else float(node.proven)
    proof = "" if node.proven is None else f" {PROVEN[node.proven]}"
    figures = f"N {node.visits:,}  Q {round(node.q, 2) + 0.0:+.2f}"
    return TreeNode(
        lines=(f"{node._label()}{proof}", f"N {node.visits:,}" if node is root else figures),
        share=node.visits / max(root.visits, 1),
        value=math.nan if node is root else value,
        dashed=node.shared,
        hidden=len(node.children),
    )


def _rows_to_compare(tree: SearchTree) -> list[tuple[Any, ...]]:
    return [
        (parent, *(None if value != value else value for value in node._values().values()))
        for parent, node in tree._nodes()
    ]


def _quoted(text: str) -> str:
    """Return a text as a string of the DOT language."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def action_name(state: Any, action: int) -> str:
    """Return the name of an action, or its number if the game has no names."""
    return str(state.action_to_string(action) if hasattr(state, "action_to_string") else action)


def names_of_line(
    state: Any, actions: Iterable[int], name: Callable[[Any, int], str] = action_name
) -> list[str]:
    """Return the names of moves played one after another; ``name`` gives the name of each."""
    names = []
    state = state.clone()
    for action in actions:
        names.append(name(state, action))
        state.apply_action(action)
    return names


def legal_part(state: Any, actions: list[int]) -> list[int]:
    """Return the moves before the first illegal one: a graph may have it from another path."""
    state = state.clone()
    for played, action in enumerate(actions):
        try:
            state.apply_action(action)
        except IllegalActionError:
            return actions[:played]
    return actions


def signed(value: float) -> str:
    """Format a value with its sign and three decimals; never -0.000."""
    return f"{round(value, 3) + 0.0:+.3f}"


def lines_of(nodes: npt.NDArray[Any]) -> dict[int, Line]:
    """Return a principal variation for each root move among the records of a tree."""
    keys = (nodes["action"], -nodes["prior"], -nodes["visits"].astype(np.int64), nodes["parent"])
    order = np.lexsort(keys)
    parents = nodes["parent"][order]
    is_best = np.diff(parents, prepend=-2) > 0  # the first of its parent
    best = dict(zip(parents[is_best].tolist(), order[is_best].tolist(), strict=True))
    actions, visits = nodes["action"].tolist(), nodes["visits"].tolist()
    places = np.arange(len(nodes))
    owners = np.where(nodes["same"] < 0, places, nodes["same"]).tolist()  # of the children
    lines = {}
    for number in np.flatnonzero(nodes["parent"] == 0).tolist():
        path: int | None = number
        line = Line([], [])
        while path is not None:
            line.actions.append(actions[path])
            line.visits.append(visits[path])
            path = best.get(owners[path])
        lines[actions[number]] = line
    return lines
