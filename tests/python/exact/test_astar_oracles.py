"""pyengine.astar on published problems: MovingAI's grids, Korf's fifteen-puzzles."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyengine import Grid, SlidingPuzzle, astar

GOAL = tuple(range(16))


def grid_of(path: Path) -> Grid:
    """Read a map: a header of four lines, then rows of cells; ``.`` and ``G`` are free."""
    rows = path.read_text().splitlines()[4:]
    return Grid(np.array([[cell in ".G" for cell in row] for row in rows]), connectivity=8)


def test_all_scenarios_are_optimal(shared: Callable[..., Path]) -> None:
    folder = shared("oracles", "08-astar")
    checked = 0
    for file in sorted((folder / "scen").iterdir()):
        scenarios = [
            fields for line in file.read_text().splitlines()[1:] if (fields := line.split())
        ]
        grid = grid_of(folder / "maps" / Path(scenarios[0][1]).name)
        for fields in scenarios:
            x, y, to_x, to_y = map(int, fields[4:8])
            result = astar(grid, (y, x), (to_y, to_x))
            assert result.optimal, (file.name, fields)
            # Files without "random" in their name have costs with six digits.
            rel = 1e-7 if "random" in file.name else 1e-5
            assert result.cost == pytest.approx(float(fields[8]), rel=rel, abs=1e-7), fields
            checked += 1
    assert checked > 6000


@pytest.mark.parametrize(
    ("method", "count"),
    [
        ("astar", 4),
        ("ida", 4),
        pytest.param("astar", 20, marks=pytest.mark.slow),
        pytest.param("ida", 100, marks=pytest.mark.slow),
    ],
)
def test_the_easiest_of_korfs_puzzles(
    oracle: Callable[[str], list[dict[str, Any]]], method: str, count: int
) -> None:
    cases = sorted(oracle("08-astar/korf15.jsonl"), key=lambda case: case["own_ida_nodes"])
    for case in cases[:count]:
        result = astar(
            SlidingPuzzle(4, 4), case["tiles"], GOAL, method=method, memory_limit=8 * 2**30
        )
        assert (result.cost, result.optimal) == (case["optimal_moves"], True)
