"""Draw the pictures of docs/tutorials/alphazero.md from a search.

Usage: python tools/tutorial_pictures.py [FOLDER], by default docs/pictures.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pyengine
from pyengine.games.board_layout import board_of, point_of
from pyengine.search.tree import SearchTree
from pyengine.show.picture import board_svg, share_marks

ROOT = Path(__file__).resolve().parents[1]
MOVES = "2 2 1 7 6 7 6 2 5 3 6 7 7 5 2 6 2 1 5 7 5 6 7 2 5 1 1 5"
TEXTBOOK = pyengine.SearchConfig(
    c_puct_base=None,
    fpu="value",
    fpu_value=0,
    symmetry="none",
    solver=False,
    threads=1,
    batch_size=1,
    in_flight=1,
)
WIDTH, HEIGHT, GAP, LEVEL = 144, 44, 14, 46  # of a node, and between nodes
MARGIN = 10
NEW, OLD, INK = "#c2410c", "#8a8471", "#222"


@dataclass
class Node:
    """A node of the picture."""

    lines: tuple[str, str]
    x: float = 0.0
    y: float = 0.0
    visited: bool = True
    walked: bool = False  #: whether the last simulation passed through
    children: list[Node] = field(default_factory=list)

    def all(self) -> Iterator[Node]:
        """Yield the node and those below it."""
        yield self
        for child in self.children:
            yield from child.all()


def root_of(tree: SearchTree, before: SearchTree | None, priors: dict[int, float]) -> Node:
    """Return the picture of a tree; ``before`` is the tree before the last simulation.

    ``priors``: of all moves of the root, to show those without visits too.
    """
    node = Node(("X to move", f"N {tree.visits}"), walked=True)
    node.children = children_of(tree, before)
    visited = {child.action for child in tree.children}
    for at, (action, prior) in enumerate(sorted(priors.items())):
        if action not in visited:
            unvisited = Node((f"X plays {action + 1}", f"P {prior:.2f}  N 0"), visited=False)
            node.children.insert(at, unvisited)
    return node


def children_of(tree: SearchTree, before: SearchTree | None) -> list[Node]:
    """Return the pictures of the visited moves of a position."""
    known = {} if before is None else {child.action: child for child in before.children}
    nodes = []
    for child in sorted(tree.children, key=lambda child: child.action or 0):
        numbers = f"P {child.prior:.2f}  N {child.visits}  Q {child.q:+.2f}"
        node = Node((f"{'XO'[tree.to_move or 0]} plays {child.name}", numbers))
        earlier = known.get(child.action)
        node.walked = earlier is None or child.visits > earlier.visits
        node.children = children_of(child, earlier)
        nodes.append(node)
    return nodes


def place(node: Node, left: float, level: int) -> float:
    """Place a tree right of ``left``; return its width."""
    node.y = MARGIN + level * (HEIGHT + LEVEL)
    if not node.children:
        node.x = left
        return WIDTH
    width = -GAP
    for child in node.children:
        width += GAP + place(child, left + width + GAP, level + 1)
    node.x = (node.children[0].x + node.children[-1].x) / 2
    return width


def edge(parent: Node, child: Node) -> str:
    """Return the line from a node to its child."""
    walked = parent.walked and child.walked
    style = f'stroke="{NEW}" stroke-width="3"' if walked else f'stroke="{OLD}"'
    return (
        f'<line x1="{parent.x + WIDTH / 2:g}" y1="{parent.y + HEIGHT:g}" '
        f'x2="{child.x + WIDTH / 2:g}" y2="{child.y:g}" {style}/>'
    )


def box(node: Node) -> str:
    """Return a node."""
    colour = NEW if node.walked else INK
    dashes = "" if node.visited else ' stroke-dasharray="4 3"'
    return (
        f'<rect x="{node.x:g}" y="{node.y:g}" width="{WIDTH}" height="{HEIGHT}" rx="5" '
        f'fill="#fff" stroke="{colour}" stroke-width="{2 if node.walked else 1}"{dashes}/>'
    ) + "".join(
        f'<text x="{node.x + WIDTH / 2:g}" y="{node.y + y}" fill="{INK}">{line}</text>'
        for y, line in zip((18, 35), node.lines, strict=True)
    )


def tree_svg(root: Node) -> str:
    """Return the picture of a tree, with the path of the last simulation in colour."""
    width = 2 * MARGIN + place(root, MARGIN, 0)
    nodes = list(root.all())
    height = max(node.y for node in nodes) + HEIGHT + MARGIN
    edges = [edge(node, child) for node in nodes for child in node.children]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
            f'viewBox="0 0 {width:g} {height:g}" font-family="sans-serif" font-size="13" '
            'text-anchor="middle">',
            '<rect width="100%" height="100%" fill="#fff"/>',
            *edges,
            *map(box, nodes),
            "</svg>\n",
        ]
    )


def board(state: pyengine.State, shares: dict[int, float]) -> str:
    """Return the board with a share on each move."""
    points = [(point_of(state, action), share) for action, share in shares.items()]
    return board_svg(board_of(state), share_marks([(p, share) for p, share in points if p])) + "\n"


def pictures() -> Iterator[tuple[str, str]]:
    """Yield the names of the pictures and their contents."""
    game = pyengine.load_game("connect_four")
    state = game.new_initial_state([int(move) - 1 for move in MOVES.split()])
    with pyengine.Engine(game, "connect4", config=TEXTBOOK) as engine:
        before = None
        for simulation in range(1, 6):
            result = engine.search(state, simulations=1)
            tree = result.tree(max_depth=9)
            priors = dict(zip(result.actions.tolist(), result.priors.tolist(), strict=True))
            if simulation == 1:
                yield "priors", board(state, priors)
            if simulation != 4:
                yield f"simulation-{simulation}", tree_svg(root_of(tree, before, priors))
            before = tree
        result = engine.search(state, simulations=95)
    yield "visits", board(state, {a: float(result.policy[a]) for a in result.actions.tolist()})


def main(folder: Path) -> None:
    """Write the pictures."""
    for name, picture in pictures():
        (folder / f"alphazero-{name}.svg").write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "pictures")
