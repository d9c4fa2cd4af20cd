"""SVG pictures of trees: the root on the left, one column per level."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape

WIDTH, HEIGHT = 116, 38  #: pixels of a node
_GAP, _LEVEL = 10, 58  # pixels between nodes of a column, and between columns
_MARGIN = 8
_GOOD, _BAD = "#1f6fb2", "#d9701a"  # of values above and below 0; distinguishable without colour
_STYLES = (' font-weight="bold"', "")  # of the two lines
_INK, _LINES = "#222", "#8a8471"


@dataclass(kw_only=True)
class TreeNode:
    """A node to draw."""

    lines: Sequence[str]  #: two lines of text
    share: float  #: of the visits of the root, in [0, 1]: the width of the line to it
    value: float  #: in [-1, 1], or NaN: the colour
    dashed: bool = False
    hidden: int = 0  #: number of children that are not drawn
    children: list[TreeNode] = field(default_factory=list)


@dataclass(kw_only=True)
class _Placed:
    node: TreeNode
    column: int
    y: float
    children: list[_Placed]


def tree_svg(root: TreeNode) -> str:
    """Return the picture of a tree. Nodes are in columns by level, centred on their children."""
    bottom, placed = _place(root, 0, 0.0)
    nodes = list(_walk(placed))
    columns = 1 + max(each.column for each in nodes)
    width = 2 * _MARGIN + columns * WIDTH + (columns - 1) * _LEVEL
    height = 2 * _MARGIN + bottom - _GAP
    return "".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
            f'viewBox="0 0 {width:g} {height:g}" font-family="sans-serif" font-size="12">',
            '<rect width="100%" height="100%" fill="#fff"/>',
            *(_link(each, child) for each in nodes for child in each.children),
            *(_box(each) for each in nodes),
            "</svg>",
        ]
    )


def _place(node: TreeNode, column: int, top: float) -> tuple[float, _Placed]:
    """Place a subtree below ``top``; return where the next one may begin."""
    children, bottom = [], top
    for child in node.children:
        bottom, placed = _place(child, column + 1, bottom)
        children.append(placed)
    if children:
        y = (children[0].y + children[-1].y) / 2
    else:
        y, bottom = top, top + HEIGHT + _GAP
    return bottom, _Placed(node=node, column=column, y=y, children=children)


def _walk(placed: _Placed) -> Iterator[_Placed]:
    yield placed
    for child in placed.children:
        yield from _walk(child)


def _left(placed: _Placed) -> float:
    return _MARGIN + placed.column * (WIDTH + _LEVEL)


def _link(parent: _Placed, child: _Placed) -> str:
    x, y = _left(parent) + WIDTH, _MARGIN + parent.y + HEIGHT / 2
    end, below = _left(child), _MARGIN + child.y + HEIGHT / 2
    middle = (x + end) / 2
    return (
        f'<path d="M{x:g},{y:g}C{middle:g},{y:g} {middle:g},{below:g} {end:g},{below:g}" '
        f'fill="none" stroke="{_LINES}" stroke-width="{1 + 7 * child.node.share:.2f}"/>'
    )


def _box(placed: _Placed) -> str:
    node, x, y = placed.node, _left(placed), _MARGIN + placed.y
    known = not math.isnan(node.value)
    colour = _GOOD if known and node.value >= 0 else _BAD
    strength = 0.5 * min(abs(node.value), 1.0) if known else 0.0
    dashes = ' stroke-dasharray="4 3"' if node.dashed else ""
    texts = [
        f'<text x="{x + 8:g}" y="{y + 15 + 16 * i:g}" fill="{_INK}"{style}>{escape(line)}</text>'
        for i, (line, style) in enumerate(zip(node.lines, _STYLES, strict=True))
    ]
    more = (
        f'<text x="{x + WIDTH - 6:g}" y="{y + 14:g}" font-size="11" text-anchor="end" '
        f'fill="{_INK}">+{node.hidden:,}</text>'
    )
    return "".join(
        [
            f'<rect x="{x:g}" y="{y:g}" width="{WIDTH}" height="{HEIGHT}" rx="5" fill="#fff"/>',
            f'<rect x="{x:g}" y="{y:g}" width="{WIDTH}" height="{HEIGHT}" rx="5" fill="{colour}" '
            f'fill-opacity="{strength:.2f}" stroke="{_INK}"{dashes}/>',
            *texts,
            more if node.hidden else "",
        ]
    )
