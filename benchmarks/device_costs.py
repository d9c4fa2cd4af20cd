"""Processor time and context switches of a search that feeds a device.

The device is so fast that the processor limits the search.
"""

from __future__ import annotations

import importlib.util
import time
from typing import TYPE_CHECKING

import pyengine
from pyengine.base import machine

if TYPE_CHECKING or __package__:
    from .common import Options, Report, check
    from .intervals import median, median_columns
    from .modelled import ModelledDevice, planes_of
    from .pairs import in_turns, pace, samples
else:  # run as a script
    from common import Options, Report, check
    from intervals import median, median_columns
    from modelled import ModelledDevice, planes_of
    from pairs import in_turns, pace, samples

GAME, BOARD = "gomoku", 9
TREES, SIMULATIONS, BATCH = 512, 200, 256
ONE_TREE_GAMES = ("go", "gomoku", "othello", "connect_four")
ONE_TREE_SIMULATIONS = 100_000
LATENCY, PER_ROW = 0.5e-3, 0.4e-6  # seconds
THREADS = sorted({machine.cores(), 16, 32})
#: Processor time per row, in microseconds.
ASKED_US = 2.8 if "avx512f" in machine.simd() else 4.0
#: Voluntary context switches per row: how often a thread gives up its core to wait.
ASKED_SWITCHES = 0.012
#: Whether the system counts context switches. Windows does not.
KNOWS_SWITCHES = importlib.util.find_spec("resource") is not None


def switches() -> int:
    """Return the number of voluntary context switches of this process."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_nvcsw


def costs(threads: int, options: Options) -> dict[str, float]:
    """Search many trees once and return the costs per row."""
    game = pyengine.load_game(GAME, board_size=BOARD)
    config = pyengine.SearchConfig(
        batch_size=BATCH,
        threads=threads,
        cache_entries=0,  # identical trees would hit each other's cached evaluations
        memory_limit=4 << 30,
    )
    trees, simulations = (64, 20) if options.quick else (TREES, SIMULATIONS)
    with pyengine.Engine(game, ModelledDevice(LATENCY, PER_ROW), config=config) as engine:
        begun, used = time.perf_counter(), time.process_time()
        switched = switches()
        results = engine.search_many([game.new_initial_state()] * trees, simulations=simulations)
        switched, used = switches() - switched, time.process_time() - used
        seconds = time.perf_counter() - begun
    visits = {int(result.visits.sum()) for result in results}
    check("every simulation is one visit", visits == {simulations}, visits)
    rows = sum(result.evaluations for result in results)
    return {
        "cpu us/row": used / rows * 1e6,
        "switches/row": switched / rows,
        "rows/s": rows / seconds,
    }


def one_tree(game: str, options: Options) -> dict[str, float]:
    """Search one tree with many leaves in flight. Return costs per row and rows per second."""
    config = pyengine.SearchConfig(
        batch_size=BATCH,
        in_flight=4 * BATCH,
        threads=machine.cores(),
        cache_entries=0,
        memory_limit=4 << 30,
        simulations=2_000 if options.quick else ONE_TREE_SIMULATIONS,
    )
    loaded = pyengine.load_game(game)
    device = ModelledDevice(LATENCY, PER_ROW, spec=planes_of(loaded))
    with pyengine.Engine(loaded, device, config=config) as engine:
        begun, used = time.perf_counter(), time.process_time()
        result = engine.search(loaded.new_initial_state())
        used, seconds = time.process_time() - used, time.perf_counter() - begun
    check("every simulation is one visit", result.visits.sum() == config.simulations)
    return {"rows/s": result.evaluations / seconds, "cpu us/row": used / result.evaluations * 1e6}


def measure_one_tree(report: Report, options: Options) -> None:
    """Report rows per second of one tree for each game."""
    for game in ONE_TREE_GAMES:
        found = samples(pace(options, options.seconds), lambda game=game: one_tree(game, options))
        with report.row(f"device/{game}/fast_device/trees=1,in_flight={4 * BATCH}") as row:
            row.update(
                **median_columns("rows/s", [one["rows/s"] for one in found]),
                threads=machine.cores(),
                **{"cpu us/row": median([one["cpu us/row"] for one in found])},
            )


def measure(report: Report, options: Options) -> None:
    """Report time per row and context switches for each thread count, measured alternately."""
    sides = [lambda threads=threads: costs(threads, options) for threads in THREADS]
    rounds = in_turns(pace(options, options.seconds), *sides)
    for side, threads in enumerate(THREADS):
        found = [each[side] for each in rounds]
        for title, asked in (("cpu us/row", ASKED_US), ("switches/row", ASKED_SWITCHES)):
            with report.row(name_of(threads, title)) as row:
                row.update(
                    asked=asked,
                    **median_columns(title, [one[title] for one in found]),
                    threads=threads,
                    **{"rows/s": median([one["rows/s"] for one in found])},
                )


def name_of(threads: int, title: str) -> str:
    """Return a row's name."""
    figure = title.split("/")[0].replace(" ", "_")
    return f"device/{GAME}{BOARD}/fast_device/trees={TREES},threads={threads},{figure}"


def run(report: Report, options: Options) -> None:
    """Measure one tree, and many trees if the system counts context switches."""
    measure_one_tree(report, options)
    if not KNOWS_SWITCHES:
        report.notes.append("fast_device: this system does not count switches; not measured")
        return
    measure(report, options)
    report.notes.append(
        f"fast_device: {LATENCY * 1e3:g} ms and {PER_ROW * 1e6:g} us per row, faster than the"
        f" processor; {TREES} trees of {SIMULATIONS} simulations; switches/row: how"
        " often a thread gave up its core to wait"
    )
