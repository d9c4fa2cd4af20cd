"""Draw the cells that different path searches expand. Run: python draw_path_search.py [FILE.svg]"""

import argparse
from itertools import groupby
from pathlib import Path

import numpy as np

import pyengine

ROWS, COLUMNS, CELL = 40, 60, 5
START, GOAL = (20, 6), (20, 53)
COLOURS = {"blocked": "#444", 1: "#f4a261", 2: "#a8d5e2"}  # frontier, closed


def panel(title, free, search):
    """Return the picture of one search, with one SVG path per kind of cell."""
    cells = np.where(free, search.status.astype(object), "blocked")
    shapes = dict.fromkeys((*COLOURS, 0), "")  # 0: unseen, not drawn
    for row in range(ROWS):
        x = 0
        for kind, run in groupby(cells[row]):
            width = CELL * len(list(run))
            shapes[kind] += f"M{x} {row * CELL}h{width}v{CELL}h-{width}z"
            x += width
    line = " ".join(f"{(c + 0.5) * CELL:g},{(r + 0.5) * CELL:g}" for r, c in search.path)
    return [
        f'<text y="-6">{title}: {search.expanded:,} expanded, cost {search.cost:g}</text>',
        *(f'<path fill="{COLOURS[kind]}" d="{shapes[kind]}"/>' for kind in COLOURS),
        f'<polyline points="{line}" fill="none" stroke="#c1121f" stroke-width="2"/>',
    ]


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("file", type=Path, nargs="?", default="path-search.svg")
file = parser.parse_args().file

free = np.random.default_rng(4).random((ROWS, COLUMNS)) > 0.15
free[8:33, 36] = False  # a wall
free[START] = free[GOAL] = True
grid = pyengine.Grid(free)
manhattan = np.abs(np.indices(free.shape) - np.reshape(GOAL, (2, 1, 1))).sum(axis=0)
uneven = manhattan * np.random.default_rng(1).random(free.shape)
SEARCHES = {
    "h = 0": {"h": 0},
    "A*": {"h": "manhattan"},
    "A*, inconsistent h": {"h": uneven},
    "weighted A*, 2 h": {"weight_h": 2},
    "greedy": {"weight_g": 0},
}
size = f'viewBox="0 0 {2 * COLUMNS * CELL + 30} {3 * (ROWS * CELL + 30)}"'
picture = [
    f'<svg xmlns="http://www.w3.org/2000/svg" font-family="sans-serif" font-size="11" {size}>'
]
picture.append('<rect width="100%" height="100%" fill="white"/>')
for number, (title, how) in enumerate(SEARCHES.items()):
    search = pyengine.astar(grid, START, GOAL, keep_status=True, **how)
    print(
        f"| {title} | {search.expanded:,} | {search.reopened}",
        f"| {search.cost:g} | {search.bound:g} |",
    )
    left, top = 10 + number % 2 * (COLUMNS * CELL + 10), 20 + number // 2 * (ROWS * CELL + 30)
    picture += [f'<g transform="translate({left} {top})">', *panel(title, free, search), "</g>"]
file.write_text("\n".join([*picture, "</svg>\n"]))
print(f"drawn: {file}")
