"""Proofs of the suite ``graph``: Connect Four positions that a tree and a graph prove."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pyengine import DataError, Engine, SearchConfig

if TYPE_CHECKING or __package__:
    from . import matches, solver
    from .common import Options, Report, check
    from .intervals import CONFIDENCE, Interval, median
    from .matches import Progress, selects
    from .solver import Position
else:  # run as a script
    import matches
    import solver
    from common import Options, Report, check
    from intervals import CONFIDENCE, Interval, median
    from matches import Progress, selects
    from solver import Position

SETS = ("L2_R1", "L2_R2")  # of Pons
POSITIONS = 100
SIMULATIONS = 1_000_000
QUICK_POSITIONS, QUICK_SIMULATIONS = 3, 20_000
SEED = 41  # of the choice of positions
LEAST_RATIO = 2.0  # simulations of the tree, relative to the graph's

RESAMPLES = 2_000  # of the bootstrap

Pairs = npt.NDArray[np.float64]  # simulations of the tree and of the graph, by position

CONFIG = SearchConfig(threads=1, in_flight=1, batch_size=1, cache_entries=0)


@dataclass(frozen=True)
class Attempt:
    """A search that ends with a proof or after the last simulation.

    Attributes:
        moves: of the position.
        graph: whether equal positions share a node.
        proven: the value for the player to move, or None.
        simulations, nodes: of the search.
    """

    moves: tuple[int, ...]
    graph: bool
    proven: int | None
    simulations: int
    nodes: int


class Attempts:
    """The finished searches of a set of positions, in a file of JSON lines if there is one."""

    def __init__(self, file: Path | None) -> None:
        """Read the searches of earlier runs. Raises DataError if the file is damaged."""
        self._file = file
        self._finished: dict[tuple[tuple[int, ...], bool], Attempt] = {}
        for attempt in _read(file):
            self._finished[attempt.moves, attempt.graph] = attempt

    def of(self, position: Position, graph: bool, simulations: int) -> Attempt:
        """Return the search of a position, from the file or by searching."""
        moves = tuple(position.state.history())
        attempt = self._finished.get((moves, graph))
        if attempt is None:
            attempt = prove(position, graph, simulations)
            self._finished[moves, graph] = attempt
            if self._file is not None:
                with self._file.open("a", encoding="utf-8") as lines:
                    lines.write(json.dumps(asdict(attempt)) + "\n")
        if attempt.proven is not None and position.score is not None:
            known = (position.score > 0) - (position.score < 0)
            check(f"the value is {known}: {list(moves)}", attempt.proven == known, attempt.proven)
        return attempt


def _read(file: Path | None) -> Iterator[Attempt]:
    """Read the searches, then remove a last line that a crash cut off."""
    if file is None or not file.exists():
        return
    data = file.read_bytes()
    end = data.rfind(b"\n") + 1
    for number, line in enumerate(data[:end].splitlines(), 1):
        try:
            fields = json.loads(line)
            yield Attempt(**{**fields, "moves": tuple(fields["moves"])})
        except (ValueError, TypeError, KeyError) as error:
            raise DataError(f"{file}, line {number}: expected a search, got {line!r}") from error
    os.truncate(file, end)


def prove(position: Position, graph: bool, simulations: int) -> Attempt:
    """Search a position with equal priors until it is proven."""
    config = CONFIG.replace(simulations=simulations, graph=graph)
    with Engine(position.state.game, "uniform", config=config) as engine:
        result = engine.search(position.state)
    moves = tuple(position.state.history())
    return Attempt(moves, graph, result.proven, result.simulations, result.nodes)


def positions_of(name: str, options: Options) -> list[Position]:
    """Return the positions of a set, drawn with a fixed seed; none if its file is missing."""
    [subject] = [one for one in solver.SUBJECTS if one.name == name]
    every = solver.published(subject)
    if options.quick:
        return solver.made_up(subject)[:QUICK_POSITIONS]
    return random.Random(SEED).sample(every, POSITIONS) if every else []


def figures(attempts: list[tuple[Attempt, Attempt]]) -> dict[str, Any]:
    """Return the row of a set, for pairs of a tree's and a graph's search."""
    proven = [(a, b) for a, b in attempts if a.proven is not None and b.proven is not None]
    row: dict[str, Any] = {
        "positions": len(attempts),
        "proven by the tree": sum(a.proven is not None for a, _ in attempts),
        "proven": sum(b.proven is not None for _, b in attempts),
        "asked": LEAST_RATIO,
    }
    if not proven:
        return row
    check("both prove the same value", all(a.proven == b.proven for a, b in proven))
    simulations = np.array([(a.simulations, b.simulations) for a, b in proven], dtype=float)
    ratios = simulations[:, 0] / simulations[:, 1]
    return {
        **row,
        "ratio": _ratio_of_totals(simulations),
        **_interval(simulations).columns(),
        "median ratio": median(ratios.tolist()),
        "mean ratio": float(np.exp(np.log(ratios).mean())),
        "both": len(proven),
    }


def _ratio_of_totals(simulations: Pairs) -> float:
    tree, graph = simulations.sum(axis=0)
    return float(tree / graph)


def _interval(simulations: Pairs) -> Interval:
    """Return the bootstrap interval of the ratio of totals; the positions are the samples."""
    rng = np.random.default_rng(0)
    draws = rng.integers(len(simulations), size=(RESAMPLES, len(simulations)))
    tree, graph = simulations[draws].sum(axis=1).T
    tail = 100 * (1 - CONFIDENCE) / 2
    low, high = np.percentile(tree / graph, [tail, 100 - tail])
    return Interval(float(low), float(high), CONFIDENCE)


def measure(name: str, positions: list[Position], options: Options, row: str) -> dict[str, Any]:
    """Try to prove every position with a tree and with a graph."""
    attempts = Attempts(matches.record_file(options, row))
    simulations = QUICK_SIMULATIONS if options.quick else SIMULATIONS
    progress = Progress(row, len(positions), "positions")
    pairs: list[tuple[Attempt, Attempt]] = []
    try:
        for position in positions:
            plain, graph = (attempts.of(position, side, simulations) for side in (False, True))
            pairs.append((plain, graph))
            progress.show(len(pairs))
    finally:
        progress.close()
    return figures(pairs)


def rows(report: Report, options: Options) -> None:
    """Add a row for each set of positions, or a note if it is missing."""
    for name in SETS:
        row_name = f"{report.name}/connect_four/uniform/proofs,{name}"
        if not selects(options, row_name):
            continue
        positions = positions_of(name, options)
        if not positions:
            report.notes.append(
                f"{row_name}: not measured, no published positions beside this checkout or in"
                " $PYENGINE_SHARED"
            )
            continue
        with matches.reserved(report, options, row_name) as free:
            if free:
                with report.row(row_name) as row:
                    row.update(measure(name, positions, options, row_name))
