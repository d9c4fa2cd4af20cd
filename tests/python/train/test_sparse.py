"""Sparse matrices against NumPy's dense ones."""

from __future__ import annotations

import random

import numpy as np
import pytest

from pyengine.train.loop.sparse import Factors


@pytest.mark.parametrize("rows", [1, 2, 7, 40])
@pytest.mark.parametrize("density", [0.0, 0.1, 1.0])
def test_what_is_solved_and_inverted_is_what_numpy_finds(
    rng: random.Random, rows: int, density: float
) -> None:
    links = {
        (a, b): rng.gauss(0, 1) for a in range(rows) for b in range(a) if rng.random() < density
    }
    dense = np.zeros((rows, rows))
    for (a, b), value in links.items():
        dense[a, b] = dense[b, a] = value
    diagonal = np.abs(dense).sum(axis=1) + np.array([rng.uniform(0.1, 1.0) for _ in range(rows)])
    dense[np.diag_indices(rows)] = diagonal
    right = np.array([rng.gauss(0, 1) for _ in range(rows)])
    factors = Factors(diagonal.tolist(), links)
    assert factors.solve(right.tolist()) == pytest.approx(np.linalg.solve(dense, right))
    assert factors.inverse_diagonal() == pytest.approx(np.diag(np.linalg.inv(dense)))


@pytest.mark.parametrize("kind", ["chain", "star"])
def test_rows_of_a_chain_and_of_a_star_have_few_neighbours(kind: str) -> None:
    """So that the work is linear: those who meet players before them, and those who meet one."""
    rows, back = 2000, 4
    others = {"chain": lambda row: {row - 1, row - back}, "star": lambda row: {row // 1000 * 1000}}
    links = {
        (row, other): -1.0 for row in range(rows) for other in others[kind](row) if 0 <= other < row
    }
    factors = Factors([5.0] * rows, links) if kind == "chain" else Factors([1001.0] * rows, links)
    assert max(len(each.shares) for each in factors._steps) <= 2 * back
