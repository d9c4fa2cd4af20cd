"""Accelerator utilisation during search, on a modelled device that every machine can run."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

import pyengine
from pyengine.base import machine
from pyengine.eval import Evaluator

if TYPE_CHECKING or __package__:
    from . import common, device_costs, networks, timeline
    from .common import Options, Report, check
    from .intervals import median, median_columns
    from .modelled import ModelledDevice, planes_of
    from .pairs import Rate, in_turns, pace, ratios, samples
else:  # run as a script
    import common
    import device_costs
    import networks
    import timeline
    from common import Options, Report, check
    from intervals import median, median_columns
    from modelled import ModelledDevice, planes_of
    from pairs import Rate, in_turns, pace, ratios, samples

NAME = "device"
DESCRIPTION = "utilisation of a modelled accelerator by a search"

BATCH = 256
#: Leaves in flight across all trees: two batches in service, one queued and one being gathered.
#: With many trees, twice that, because each tree yields only a few leaves per turn.
ONE_TREE = 4 * BATCH
MANY_TREES = 8 * BATCH
REPEATS = 6
TREES = 64
SIMULATIONS = 100_000  # for one tree
SMALL_TREES = 1024  # for short searches, measured including their start and end


@dataclass(frozen=True)
class Subject:
    """A game searched on the device.

    Attributes:
        name, game: display name, and text for ``load_game``.
        trees: number of trees searched concurrently.
        asked: target utilisation. None = for comparison only.
        algorithm: search algorithm.
        simulations: simulations per tree. None = as many as fit the time.
    """

    name: str
    game: str
    trees: int
    asked: float | None
    algorithm: Literal["puct", "gumbel"] = "puct"
    simulations: int | None = None

    @property
    def knobs(self) -> str:
        """The last part of the row's name."""
        text = f"trees={self.trees},in_flight={config_for(self).in_flight}"
        if self.simulations is None:
            return text
        return f"{text},{self.algorithm},simulations={self.simulations}"


SUBJECTS = [
    Subject("connect_four", "connect_four", TREES, 0.97),
    Subject("go19", "go", TREES, 0.90),
    Subject("go19", "go", 1, 0.93),
    Subject("gomoku15", "gomoku", 1, 0.85),
    Subject("othello", "othello", 1, 0.85),
    Subject("connect_four", "connect_four", 1, None),
    *(
        Subject("gomoku15", "gomoku", SMALL_TREES, None, algorithm, simulations)
        for simulations in (16, 32, 64)
        for algorithm in ("puct", "gumbel")
    ),
]


#: Number of workers of one tree with default settings, and the evaluation time per row.
WORKERS = 16
WORKER_ROW = 1e-3  # seconds
WORKERS_ASKED = 14.0
WORKER_GAMES = ("connect_four", "gomoku")


def busy_workers(game: str, options: Options) -> dict[str, Any]:
    """Return the average number of workers of one tree that are inside an evaluation."""
    network = ModelledDevice(latency=0.0, per_row=WORKER_ROW, streams=0, buckets=False)
    config = pyengine.SearchConfig(threads=WORKERS, cache_entries=0)
    state = pyengine.load_game(game).new_initial_state()

    def once() -> float:
        engine.clear()
        before, begun = network.counters()["busy"], time.perf_counter()
        engine.search(state, seconds=0.2 if options.quick else options.seconds)
        seconds = time.perf_counter() - begun
        return float(network.counters()["busy"] - before) / seconds

    with pyengine.Engine(game, network, config=config) as engine:
        busy = samples(pace(options, least=REPEATS), once)
        stats = engine.stats()
    return {
        "asked": WORKERS_ASKED,
        **median_columns("busy", busy),
        "fill": stats["evaluations"] / stats["batches"],
        "collisions/row": stats["collisions"] / stats["evaluations"],
        "threads": WORKERS,
    }


#: Two devices compared with one, with enough trees to keep both busy.
DEVICES = 2
DEVICES_ASKED = 1.9
TREES_OF_DEVICES = Subject("connect_four", "connect_four", DEVICES * TREES, None)


def two_devices(options: Options) -> dict[str, Any]:
    """Return the ratio of rows per second on two devices to one, measured alternately."""
    game = pyengine.load_game(TREES_OF_DEVICES.game)
    in_flight = MANY_TREES // TREES
    config = config_for(TREES_OF_DEVICES).replace(in_flight=in_flight)
    seconds = 0.1 if options.quick else options.seconds / 2
    simulations = int(seconds * ModelledDevice().capacity(BATCH) / TREES_OF_DEVICES.trees)

    def once(devices: int) -> Rate:
        device = ModelledDevice(devices=devices)
        states = [game.new_initial_state()] * TREES_OF_DEVICES.trees
        with pyengine.Engine(game, device, config=config) as engine:
            begun, used = time.perf_counter(), time.process_time()
            results = engine.search_many(states, simulations=devices * simulations)
            seconds, used = time.perf_counter() - begun, time.process_time() - used
        rows = sum(result.evaluations for result in results)
        check(
            "the devices evaluated the rows that the search counts",
            device.counters()["rows"] == rows,
            rows,
        )
        return Rate(rows / seconds, rows / used)

    found = in_turns(pace(options, least=REPEATS), lambda: once(1), lambda: once(DEVICES))
    one, two = [each[0] for each in found], [each[1] for each in found]
    return {
        "asked": DEVICES_ASKED,
        **ratios(two, one),
        "cpu us/row": median([1e6 / rate.cpu for rate in two]),
        "threads": config.threads,
    }


def config_for(subject: Subject) -> pyengine.SearchConfig:
    """Return typical settings for such a device: one thread per core."""
    in_flight = ONE_TREE if subject.trees == 1 else max(16, MANY_TREES // subject.trees)
    return pyengine.SearchConfig(
        algorithm=subject.algorithm,
        batch_size=BATCH,
        in_flight=in_flight,
        threads=machine.cores(),
        cache_entries=0,  # identical trees would hit each other's cached evaluations
        memory_limit=4 << 30,
    )


def simulations_of(subject: Subject, device: ModelledDevice, options: Options) -> int:
    """Return simulations per tree: the target's number for one tree, else what fits the seconds."""
    if subject.simulations is not None:
        return subject.simulations
    if options.quick:
        return 2_000 if subject.trees == 1 else 50
    if subject.trees == 1:
        return SIMULATIONS
    return max(500, int(options.seconds * device.capacity(BATCH) / subject.trees))


def search_once(subject: Subject, device: ModelledDevice, simulations: int) -> dict[str, float]:
    """Search in a new engine. Return the load on the device and the processor."""
    game = pyengine.load_game(subject.game)
    config = config_for(subject).replace(simulations=simulations)
    before = device.counters()
    with pyengine.Engine(game, device, config=config) as engine:
        begun, used = time.perf_counter(), time.process_time()
        results = engine.search_many([game.new_initial_state()] * subject.trees)
        seconds, used = time.perf_counter() - begun, time.process_time() - used
        stats = engine.stats()
    done = {key: value - before[key] for key, value in device.counters().items()}
    check_results(results, simulations, done, stats)
    return {
        "utilisation": done["rows"] / (device.capacity(BATCH) * seconds),
        "in service": done["busy"] / (device.streams * seconds),
        "fill": done["rows"] / done["batches"],
        "padding": done["padding"] / (done["rows"] + done["padding"]),
        "collisions/row": stats["collisions"] / done["rows"],
        "cpu us/row": used / done["rows"] * 1e6,
        "late us": done["late"] / done["batches"] * 1e6,
    }


def check_results(
    results: list[pyengine.SearchResult], simulations: int, done: dict[str, Any], stats: Any
) -> None:
    """Check that each simulation is a visit and each evaluated row is counted once."""
    for result in results:
        visits = int(result.visits.sum())
        check("every simulation is one visit", visits == simulations, visits)
        check("priors sum to 1", abs(float(result.priors.sum()) - 1) < 1e-3, result.priors.sum())
        values = result.q[result.visits > 0]
        check("q is in [-1, 1]", bool(np.all(np.abs(values) <= 1)), values)
    rows = sum(result.evaluations for result in results)
    check(
        "the device evaluated the rows that the search counts", done["rows"] == rows, done["rows"]
    )
    check("the engine counts the device's padding", stats["padding"] == done["padding"])


def measure(subject: Subject, options: Options) -> dict[str, Any]:
    """Search several times and return medians."""
    spec = planes_of(pyengine.load_game(subject.game))
    device = ModelledDevice(spec=spec)
    simulations = simulations_of(subject, device, options)
    found = samples(pace(options, least=REPEATS), lambda: search_once(subject, device, simulations))
    config = config_for(subject)
    check("no more threads than cores", config.threads <= machine.cores(), config.threads)
    columns = {title: [one[title] for one in found] for title in found[0]}
    return {
        "asked": subject.asked,
        **median_columns("utilisation", columns.pop("utilisation")),
        **{title: median(values) for title, values in columns.items()},
        "threads": config.threads,
    }


#: Simulations per tree of the searches recorded in a timeline.
TRACED = (
    Subject("connect_four", "connect_four", TREES, None, simulations=200),
    Subject("go19", "go", 1, None, simulations=5_000),
)


def traced_subjects(report: Report, options: Options) -> list[tuple[Subject, Evaluator]]:
    """Return the searches to record: many trees and one tree, on the user's network if given."""
    if options.model is None:
        return [
            (subject, ModelledDevice(spec=planes_of(pyengine.load_game(subject.game))))
            for subject in TRACED
        ]
    game = str(options.game)
    return [
        (replace(subject, name=network.name, game=game), network.evaluator)
        for network in networks.find_networks(report, options)
        for subject in TRACED
    ]


def trace_searches(report: Report, options: Options, file: Path) -> None:
    """Write the timelines and report the share of time spent in each step."""
    searches = {}
    for subject, evaluator in traced_subjects(report, options):
        name = f"device/{subject.name}/trace/{subject.knobs}"
        with report.row(name) as row:
            traced, config = timeline.Traced(evaluator), config_for(subject)
            game = pyengine.load_game(subject.game)
            with pyengine.Engine(game, traced, config=config) as engine:
                states = [game.new_initial_state()] * subject.trees
                engine.search_many(states, simulations=subject.simulations)
            searches[name] = traced.take()
            row.update(timeline.shares(searches[name], config.threads))
            row["spans"] = len(searches[name])
    timeline.write(file, searches)
    report.notes.append(
        f"{file}: timelines for chrome://tracing or ui.perfetto.dev; evaluate: fraction of time"
        " with a batch in evaluation; gather, decode: fraction of the search threads' time"
    )


def run(report: Report, options: Options) -> None:
    """Measure every subject, or record timelines of some."""
    report.fingerprint = config_for(SUBJECTS[0]).fingerprint()
    if options.trace is not None:
        trace_searches(report, options, options.trace)
        return
    for subject in SUBJECTS:
        with report.row(f"device/{subject.name}/modelled/{subject.knobs}") as row:
            row.update(measure(subject, options))
    with report.row(
        f"device/connect_four/modelled/devices=2,trees={TREES_OF_DEVICES.trees}"
    ) as row:
        row.update(two_devices(options))
    for game in WORKER_GAMES:
        with report.row(f"device/{game}/1ms_a_row_on_the_cpu/trees=1,threads={WORKERS}") as row:
            row.update(busy_workers(game, options))
    device_costs.run(report, options)
    device = ModelledDevice()
    report.notes += [
        f"the device: {device.latency * 1e3:g} ms and {device.per_row * 1e6:g} us per row, batches"
        f" of {BATCH}, {device.streams} in service concurrently: {device.capacity(BATCH):,.0f}"
        f" rows/s; {device.streams + 1} threads submit batches and sleep until they finish",
        "utilisation: real rows relative to capacity, including start and end of the search;"
        " median of new engines; in service: fraction of time; late us: delay from a batch's"
        " end to its feeder's wake-up; above about 20, other programs lower the figures",
    ]


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line."""
    return common.main(NAME, DESCRIPTION, run, arguments)


if __name__ == "__main__":
    sys.exit(main())
