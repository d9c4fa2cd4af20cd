"""Graph search against tree search: shared positions, cost of a simulation, proofs."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import pyengine
from pyengine import Engine, SearchConfig, SearchResult

if TYPE_CHECKING or __package__:
    from . import common, graph_proofs, matches, networks, saturation, tree
    from .common import Options, Report, check
    from .intervals import counted, median, median_columns
    from .matches import selects
    from .pairs import in_turns, pace
else:  # run as a script
    import common
    import graph_proofs
    import matches
    import networks
    import saturation
    import tree
    from common import Options, Report, check
    from intervals import counted, median, median_columns
    from matches import selects
    from pairs import in_turns, pace

NAME = "graph"
DESCRIPTION = "graph search against tree search: shared positions, cost of a simulation, proofs"

#: One leaf at a time, so that equal settings give equal searches.
SERIAL = SearchConfig(threads=1, in_flight=1, batch_size=1, symmetry="none")
SIMULATIONS = 10_000
MANY_SIMULATIONS = 1_000_000  # memory grows in steps of 2 MiB
QUICK_SIMULATIONS = 500
MOST_COST = 1.35  # processor time of a graph's simulation, relative to a tree's
LEAST_PAIRS, MOST_PAIRS = 6, 40


@dataclass(frozen=True)
class Subject:
    """A game, its evaluator, and the least factor by which a graph has fewer nodes.

    Attributes:
        name, game: display name, and text for ``load_game``.
        evaluator: "uniform" or a bundled network.
        floor: least nodes of the tree ÷ nodes of the graph. None = no target.
    """

    name: str
    game: str
    evaluator: str = "uniform"
    floor: float | None = None

    def row(self, knob: str) -> str:
        """Return a row's name."""
        return f"{NAME}/{self.name}/{self.evaluator}/{knob}"


UNIFORM = (
    Subject("tic_tac_toe", "tic_tac_toe", floor=2.5),
    Subject("connect_four", "connect_four", floor=2.0),
    Subject("gomoku9", "gomoku(board_size=9)"),
    Subject("gomoku15", "gomoku"),
    Subject("mnk774", "mnk(rows=7,columns=7,k=4)"),
    Subject("othello", "othello"),
    Subject("go9", "go(board_size=9)"),
)
NETWORKS = (
    Subject("tic_tac_toe", "tic_tac_toe", "tic_tac_toe"),
    Subject("connect_four", "connect_four", "connect4", floor=1.4),
    Subject("gomoku9", "gomoku(board_size=9)", "gomoku", floor=1.5),
    Subject("othello", "othello", "othello"),
    Subject("go9", "go(board_size=9,komi=7)", "go9"),
)


@dataclass(frozen=True)
class Searched:
    """A search from the initial position of a new engine.

    Attributes:
        result: the result.
        held: bytes of the tree, without the cache.
        cpu_us: microseconds of processor time per simulation.
    """

    result: SearchResult
    held: int
    cpu_us: float


def search(subject: Subject, config: SearchConfig) -> Searched:
    """Search the initial position. Raise CheckError if the result is inconsistent."""
    game = pyengine.load_game(subject.game)
    with Engine(game, subject.evaluator, config=config) as engine:
        empty = engine.stats()["bytes"]
        begun = time.process_time()
        result = engine.search(game.new_initial_state())
        seconds = time.process_time() - begun
        held = engine.stats()["bytes"] - empty
    visits = int(result.visits.sum())
    check("every simulation is one visit", visits == result.simulations, visits)
    values = result.q[result.visits > 0]
    check("q is in [-1, 1]", bool(np.all(np.abs(values) <= 1)), values)
    return Searched(result, held, 1e6 * seconds / result.simulations)


def both(subject: Subject, config: SearchConfig) -> tuple[Searched, Searched]:
    """Search with a tree and with a graph. Raise CheckError if they contradict each other."""
    tree, graph = (search(subject, config.replace(graph=shared)) for shared in (False, True))
    proofs = {one.result.proven for one in (tree, graph)} - {None}
    check("both prove the same value", len(proofs) <= 1, proofs)
    check("a graph has at most as many nodes", graph.result.nodes <= tree.result.nodes)
    return tree, graph


def sharing(subject: Subject, simulations: int, floor: float | None) -> dict[str, Any]:
    """Compare nodes, bytes and evaluations at equal simulations."""
    tree, graph = both(subject, SERIAL.replace(simulations=simulations))
    check("both complete the simulations", tree.result.simulations == graph.result.simulations)
    ratio = tree.result.nodes / graph.result.nodes
    return {
        "asked": floor,
        "ratio": ratio,
        **counted(ratio).columns(),
        "tree nodes": tree.result.nodes,
        "nodes": graph.result.nodes,
        "tree MiB": tree.held / 2**20,
        "MiB": graph.held / 2**20,
        "tree evaluations": tree.result.evaluations,
        "evaluations": graph.result.evaluations,
    }


def cost(subject: Subject, options: Options) -> dict[str, Any]:
    """Compare the processor time of a simulation with a free evaluator, alternately."""
    config = tree.CONFIG.replace(simulations=QUICK_SIMULATIONS) if options.quick else tree.CONFIG
    both(subject, config)  # the first searches are slower
    rounds = in_turns(
        pace(options, options.seconds, LEAST_PAIRS, MOST_PAIRS),
        lambda: search(subject, config.replace(graph=True)),
        lambda: search(subject, config.replace(graph=False)),
    )
    return {
        "asked": MOST_COST,
        **median_columns("x tree", [graph.cpu_us / plain.cpu_us for graph, plain in rounds]),
        "cpu us": median([graph.cpu_us for graph, _ in rounds]),
        "tree cpu us": median([plain.cpu_us for _, plain in rounds]),
        "pairs": len(rounds),
    }


def sharing_rows(report: Report, options: Options) -> None:
    """Count what equal positions share, with equal priors and with the bundled networks."""
    plans = [(subject, SIMULATIONS, subject.floor) for subject in (*UNIFORM, *NETWORKS)]
    # Tic-tac-toe is proven before.
    plans += [(subject, MANY_SIMULATIONS, None) for subject in UNIFORM[1:]]
    for subject, simulations, floor in plans:
        name = subject.row(f"sharing,simulations={simulations}")
        if not selects(options, name) or (options.quick and simulations == MANY_SIMULATIONS):
            continue
        with report.row(name) as row:
            row.update(sharing(subject, QUICK_SIMULATIONS if options.quick else simulations, floor))


def cost_rows(report: Report, options: Options) -> None:
    """Measure the cost of a simulation with a free evaluator."""
    for subject in UNIFORM:
        name = subject.row("cost,threads=1")
        if selects(options, name):
            with report.row(name) as row:
                row.update(cost(subject, options))


def saturation_rows(report: Report, options: Options) -> None:
    """Measure positions per second inside the search relative to bare ONNX Runtime."""
    for network in networks.find_networks(report, options):
        if network.game.name in saturation.TOO_SMALL and not options.quick:
            continue
        for shared in (True, False):
            knob = f"saturation,graph={shared}"
            name = f"{NAME}/{network.game.name}/{network.name}/{knob}"
            if selects(options, name):
                with report.row(name) as row:
                    row.update(saturation.measure(network, 1, 1, options, graph=shared))


def run(report: Report, options: Options) -> None:
    """Compare the two searches."""
    report.fingerprint = SERIAL.fingerprint()
    report.group = lambda row: str(row["name"]).split("/")[3].split(",")[0]
    sharing_rows(report, options)
    cost_rows(report, options)
    saturation_rows(report, options)
    graph_proofs.rows(report, options)
    report.notes.append(
        "sharing: from the initial position, one leaf at a time, nodes of the tree relative to"
        " those of the graph; MiB: without the cache, in steps of 2; cost: processor time of a"
        " simulation of a graph relative to a tree's, measured alternately; saturation: as in the"
        " suite of this name; proofs: simulations of the tree relative to those of the graph, over"
        " positions that both prove with one thread and equal priors; records for resuming:"
        f" {matches.where_recorded(options)}"
    )


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line."""
    return common.main(NAME, DESCRIPTION, run, arguments)


if __name__ == "__main__":
    sys.exit(main())
