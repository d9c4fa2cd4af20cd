"""Effect of leaves in flight on playing strength, and of settings on throughput.

For many trees that share batches, see ``many_trees.py``.

A search with many leaves in flight plays the serial search (one leaf in flight) with the same
number of simulations. The parallel side searches one tree at a time on each core, with a batch
size equal to its leaves in flight: all rows of a batch are leaves of one tree, selected before
any of them is evaluated. ``fill`` shows the average number of rows. This side has no cache, which
would answer leaves immediately. The serial side, whose results depend on neither, shares
batches among trees and has a cache.
"""

from __future__ import annotations

import json
import queue
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyengine
from pyengine import MatchResult, SearchConfig
from pyengine.base import machine
from pyengine.base.files import replacing
from pyengine.match.identity import identity_of

if TYPE_CHECKING or __package__:
    from . import common, many_trees, matches, networks, variants
    from .common import Options, Report, check
    from .matches import Progress, balanced_openings, games_of, score_of, selects
    from .networks import Network
    from .power import StrengthBar, error_of_interval
else:  # run as a script
    import common
    import many_trees
    import matches
    import networks
    import variants
    from common import Options, Report, check
    from matches import Progress, balanced_openings, games_of, score_of, selects
    from networks import Network
    from power import StrengthBar, error_of_interval

NAME = "parallel-strength"
DESCRIPTION = "score of searches with leaves in flight against the serial search; costs of settings"

#: Settings of both sides. Without random symmetries both evaluate alike, and only the search
#: differs.
BASE = SearchConfig(symmetry="none")
SERIAL = BASE.replace(in_flight=1, cache_entries=1 << 20)
NETWORKS = ("gomoku8x8_5", "connect4_sunshine")
BUNDLED = ("gomoku", "connect4")  # used if those are missing
THREADS = machine.cores()


@dataclass(frozen=True)
class Contest:
    """A match against the serial search, and its target.

    Attributes:
        in_flight: leaves in flight, and rows per batch.
        collision: see SearchConfig.
        simulations: simulations per move, for both sides.
        games: number of games.
        concurrent: number of concurrent games.
        bar: target of the score, or None.
    """

    in_flight: int
    collision: str
    simulations: int
    games: int
    concurrent: int
    bar: StrengthBar | None = None

    @property
    def knob(self) -> str:
        """The last part of the row's name."""
        return f"{self.collision},in_flight={self.in_flight},simulations={self.simulations}"

    @property
    def config(self) -> SearchConfig:
        """Settings of the parallel side."""
        return BASE.replace(
            in_flight=self.in_flight,
            batch_size=self.in_flight,
            collision=self.collision,
            simulations=self.simulations,
            threads=1,
            cache_entries=0,
        )

    def verdict(self, result: MatchResult) -> str:
        """Return the verdict, or "-" if there is no target or games are missing."""
        if self.bar is None or result.games < self.games:
            return "-"
        return self.bar.verdict(*result.score_interval)


#: Number of games. If there is no true loss, at least three of four matches are "met", at the
#: variance observed so far.
CONTESTS = (
    Contest(16, "virtual_visit", 800, 1000, 64, StrengthBar(least=0.47, reach=0.49)),
    Contest(16, "virtual_loss", 800, 400, 64),
    Contest(64, "virtual_visit", 10_000, 600, 16, StrengthBar(least=0.47, reach=0.5)),
    Contest(64, "virtual_loss", 10_000, 100, 16),
)
QUICK = (
    Contest(4, "virtual_visit", 16, 2, 2),
    Contest(4, "virtual_loss", 16, 2, 2),
)
#: Minimum ratio for each variant.
ASKED = {"deterministic": 0.75, "fill": 0.98, "average": 0.95}


class OneTreeAtATime:
    """A player that searches each state separately, using all cores."""

    def __init__(self, network: Network, config: SearchConfig) -> None:
        """Create an engine for each core."""
        self._config = config
        self._engines = [
            pyengine.Engine(network.game, network.evaluator, config=config, seed=i)
            for i in range(THREADS)
        ]
        self._idle: queue.SimpleQueue[pyengine.Engine] = queue.SimpleQueue()
        for engine in self._engines:
            self._idle.put(engine)
        self._leaving = False

    def search_many(self, states: Sequence[Any]) -> list[Any]:
        """Search each state in a separate tree that has exclusive use of the evaluator."""
        self._leaving = False
        with ThreadPoolExecutor(len(self._engines)) as pool:
            searches = [pool.submit(self._search, state) for state in states]
            try:
                return [search.result() for search in searches]
            except BaseException:  # Ctrl-C reaches only this thread
                self._leaving = True
                for engine in self._engines:
                    engine.stop()
                raise

    def _search(self, state: Any) -> Any:
        if self._leaving:
            return None
        engine = self._idle.get()
        try:
            result = engine.search(state)
        finally:
            self._idle.put(engine)
        visits = int(result.visits.sum())
        check("every simulation is one visit", visits == result.simulations, visits)
        return result

    def stats(self) -> dict[str, int]:
        """Return the sums of the engines' counters."""
        all_stats = [engine.stats() for engine in self._engines]
        keys = ("simulations", "evaluations", "batches", "collisions")
        return {key: sum(stats[key] for stats in all_stats) for key in keys}

    def close(self) -> None:
        """Close the engines."""
        for engine in self._engines:
            engine.close()

    @property
    def identity(self) -> str:
        """Identify the network and settings, to match a record to its contest."""
        return f"one tree at a time: {json.dumps(identity_of(self._engines[0]))}"


class Counters:
    """Counters of the parallel side in a match, over all resumed runs."""

    def __init__(self, record: Path | None) -> None:
        """Load the counters that earlier runs saved next to the record."""
        self._file = None if record is None else record.with_suffix(".counters.json")
        self.sums: dict[str, int] = {}
        if self._file is not None and self._file.exists():
            self.sums = json.loads(self._file.read_text("utf-8"))

    def add(self, stats: dict[str, int]) -> None:
        """Count a call and save the sums."""
        for key, value in stats.items():
            self.sums[key] = self.sums.get(key, 0) + value
        if self._file is not None:
            with replacing(self._file) as temporary:
                temporary.write_text(json.dumps(self.sums) + "\n", "utf-8")


def play(
    network: Network, contest: Contest, options: Options, name: str
) -> tuple[MatchResult, dict[str, int]]:
    """Play or resume a match. Return it with the parallel side's counters."""
    games = options.games or contest.games
    record = matches.record_file(options, name)
    counters = Counters(record)
    player = OneTreeAtATime(network, contest.config)
    serial = SERIAL.replace(simulations=contest.simulations)
    progress = Progress(name, games)
    try:
        with pyengine.Engine(network.game, network.evaluator, config=serial) as other:
            result = pyengine.match(
                player,
                other,
                games=games,
                game=network.game,
                openings=balanced_openings(network.game.name, network.evaluator),
                concurrent_games=contest.concurrent,
                record=record,
                names=(contest.knob, "serial"),
                on_progress=progress,
            )
            check("the serial side never collides", other.stats()["collisions"] == 0)
    finally:
        progress.close()
        counters.add(player.stats())
        player.close()
    return result, counters.sums


def figures(contest: Contest, result: MatchResult, sums: dict[str, int]) -> dict[str, Any]:
    """Return a match's row, after checking that the parallel side did search in parallel."""
    fill = sums.get("evaluations", 0) / max(1, sums.get("batches", 0))
    enough = contest.in_flight / 4  # young trees and forced moves have fewer
    check(f"batches hold {enough:.0f} leaves of a tree and more", fill >= enough, fill)
    asked = None if contest.bar is None else 100 * contest.bar.least
    return {
        **games_of(result),
        "asked": asked,
        **score_of(result),
        "fill": fill,
        "collisions/sim": sums["collisions"] / max(1, sums["simulations"]),
        "bar": contest.verdict(result),
    }


def strength_rows(report: Report, network: Network, options: Options) -> None:
    """Play all contests with a network."""
    for contest in QUICK if options.quick else CONTESTS:
        name = f"{NAME}/{network.game.name}/{network.name}/{contest.knob}"
        if not selects(options, name):
            continue
        with report.row(name) as row:
            networks.check_answers(network)
            result, sums = play(network, contest, options, name)
            row.update(figures(contest, result, sums))
            if contest.bar is not None:
                told = contest.bar.told(error_of_interval(*result.score_interval))
                report.notes.append(f"{name}: verdict probabilities at a true loss of {told}")


def cost_rows(report: Report, network: Network, options: Options) -> None:
    """Measure the cost of settings."""
    for variant, least in ASKED.items():
        for threads in common.thread_counts():
            knob = f"{variant},batch={variants.CONFIG.batch_size},threads={threads}"
            name = f"{NAME}/{network.game.name}/{network.name}/{knob}"
            if not selects(options, name):
                continue
            with report.row(name) as row:
                row["asked"] = least
                row.update(variants.measure(network, variant, threads, options))


def tree_rows(report: Report, options: Options) -> None:
    """Compare the moves of many trees that share batches with those of the serial search."""
    simulations = 40 if options.quick else many_trees.SIMULATIONS
    for subject in many_trees.QUICK if options.quick else many_trees.SUBJECTS:
        names = {
            threads: f"{NAME}/{many_trees.GAME}/{subject.evaluator}/{subject.knob(threads)}"
            for threads in many_trees.THREADS
        }
        if not any(selects(options, name) for name in names.values()):
            continue
        with report.attempt(f"{NAME}/{many_trees.GAME}/{subject.evaluator}/serial search"):
            states = many_trees.positions(subject.trees)
            serial = many_trees.serial_moves(subject, states, simulations)
            for threads, name in names.items():
                if selects(options, name):
                    with report.row(name) as row:
                        row.update(
                            many_trees.measure(subject, threads, states, serial, simulations)
                        )


def find_networks(report: Report, options: Options) -> list[Network]:
    """Return the user's network, else the suite's, else the bundled ones. A quick run uses all."""
    found = networks.find_networks(report, options)
    if options.model is not None or options.quick:
        return found
    chosen = [network for network in found if network.name in NETWORKS]
    return chosen or [network for network in found if network.name in BUNDLED]


def run(report: Report, options: Options) -> None:
    """Play all matches and measure all costs."""
    report.fingerprint = BASE.fingerprint()
    report.notes.append(_explanation(options))
    tree_rows(report, options)
    for network in find_networks(report, options):
        strength_rows(report, network, options)
        cost_rows(report, network, options)
    if not report.rows:
        report.notes.append("no row: no network, or no row matches --only")


def _explanation(options: Options) -> str:
    return (
        "score: search with leaves in flight against in_flight=1, equal simulations, every"
        " opening with both colours, 95 % interval from pairs, met: it lies at or above the"
        " target and reaches 49 % with 16 in flight, 50 % with 64; missed: it does not reach it, a"
        " loss is proven; same %: trees of one search_many"
        " whose move is that of the serial search; fill: rows per batch, all from one"
        " tree; deterministic: simulations/s, fill: rows/s, both against the default settings;"
        f" average: rows/s against bare ONNX Runtime; medians of {variants.PAIRS} pairs measured"
        f" alternately; match records for resuming: {matches.where_recorded(options)}"
    )


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line."""
    return common.main(NAME, DESCRIPTION, run, arguments)


if __name__ == "__main__":
    sys.exit(main())
