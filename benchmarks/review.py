"""The review of a game: all positions together, one after another, and bare ONNX Runtime."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyengine
from pyengine.data.game_file import GameFile
from pyengine.eval import Evaluator
from pyengine.eval.bundled import game_of_model
from pyengine.review import review_game

if TYPE_CHECKING or __package__:
    from . import common, many_trees, networks
    from .common import Options, Report, check
    from .intervals import median, median_columns
    from .modelled import ModelledDevice
    from .networks import Network
    from .pairs import Rate, in_turns, pace, rate_of, ratios
else:  # run as a script
    import common
    import many_trees
    import networks
    from common import Options, Report, check
    from intervals import median, median_columns
    from modelled import ModelledDevice
    from networks import Network
    from pairs import Rate, in_turns, pace, rate_of, ratios

NAME = "review"
DESCRIPTION = "rows per second of a game's review relative to bare ONNX Runtime"

MODEL = "go9"
MOVES, SIMULATIONS = 60, 400
QUICK_MOVES, QUICK_SIMULATIONS = 6, 8
#: A review may take 1.1 times as long as bare inference of its rows.
ASKED = round(1 / 1.1, 3)
DEVICE_BATCH = 64
LEAST_PAIRS, MOST_PAIRS = 6, 12


@dataclass(frozen=True)
class Run:
    """A review, or a search of each position, with a new engine.

    Attributes:
        rate: rows per second, without the engine's setup.
        seconds, used: wall-clock time, and processor time.
    """

    rate: Rate
    seconds: float
    used: float


def played(moves: int) -> GameFile:
    """Return a game that the network plays against itself with few simulations."""
    game = game_of_model(MODEL)
    assert game is not None
    state = game.new_initial_state()
    config = pyengine.SearchConfig(simulations=16, temperature=0.5, deterministic=True, seed=3)
    with pyengine.Engine(game, MODEL, config=config) as engine:
        for _ in range(moves):
            state.apply_action(engine.search(state).action)
    return GameFile(game, game.new_initial_state(), tuple(state.history()))


def run_once(
    file: GameFile, evaluator: Evaluator, config: pyengine.SearchConfig, *, together: bool
) -> Run:
    """Review the game, or search its positions one after another."""
    with pyengine.Engine(file.game, evaluator, config=config) as engine:
        begun, used = time.perf_counter(), time.process_time()
        if together:
            check("every position is reviewed", None not in review_game(file, engine).evaluations)
        else:
            for state in file.positions:
                engine.search(state)
        seconds, used = time.perf_counter() - begun, time.process_time() - used
        rows = engine.stats()["evaluations"]
    return Run(Rate(rows / seconds, rows / used), seconds, used)


def measure(file: GameFile, network: Network, threads: int, options: Options) -> dict[str, Any]:
    """Measure the review, separate searches and bare ONNX Runtime in turns."""
    each = QUICK_SIMULATIONS if options.quick else SIMULATIONS
    config = pyengine.SearchConfig(simulations=each, threads=threads)
    bare = networks.bare_calls(network, config.batch_size, threads)
    runs = [run_once(file, network.evaluator, config, together=True)]  # the first is slower

    def review() -> Run:
        runs.append(run_once(file, network.evaluator, config, together=True))
        return runs[-1]

    rounds = in_turns(
        pace(options, options.seconds, LEAST_PAIRS, MOST_PAIRS),
        review,
        lambda: rate_of(bare, runs[-1].seconds),
        lambda: run_once(file, network.evaluator, config, together=False),
    )
    reviews, theirs, separate = zip(*rounds, strict=True)
    return {
        "asked": ASKED,
        **ratios([run.rate for run in reviews], theirs),
        "onnxruntime/s": median([rate.wall for rate in theirs]),
        "review/s": median([run.rate.wall for run in reviews]),
        "seconds": median([run.seconds for run in reviews]),
        "cpu gain": median([b.used / a.used for a, b in zip(reviews, separate, strict=True)]),
    }


def measure_device(options: Options) -> dict[str, Any]:
    """Measure a review and separate searches in turns, on a modelled accelerator."""
    game = pyengine.load_game(many_trees.GAME)
    moves = list(range(0, 3 * (QUICK_MOVES if options.quick else MOVES), 3))
    file = GameFile(game, game.new_initial_state(), tuple(moves))
    each = QUICK_SIMULATIONS if options.quick else SIMULATIONS
    config = pyengine.SearchConfig(simulations=each, batch_size=DEVICE_BATCH, threads=2)
    device = ModelledDevice()
    rounds = in_turns(
        pace(options, options.seconds, LEAST_PAIRS, MOST_PAIRS),
        lambda: run_once(file, device, config, together=True),
        lambda: run_once(file, device, config, together=False),
    )
    return {
        "seconds": median([review.seconds for review, _ in rounds]),
        **median_columns("gain", [b.seconds / a.seconds for a, b in rounds]),
    }


def run(report: Report, options: Options) -> None:
    """Measure on one thread and on two."""
    moves = QUICK_MOVES if options.quick else MOVES
    path = pyengine.bundled_models()[MODEL]
    file = played(moves)
    network = Network(MODEL, path, file.game, pyengine.OnnxEvaluator(path))
    for threads in common.thread_counts():
        with report.row(f"review/{file.game.name}/{MODEL}/moves={moves},threads={threads}") as row:
            networks.check_answers(network)
            row.update(measure(file, network, threads, options))
    with report.row(
        f"review/{many_trees.GAME}/device/moves={moves},batch={DEVICE_BATCH},threads=2"
    ) as row:
        row.update(measure_device(options))
    report.notes.append(
        f"{SIMULATIONS} simulations for each position; score, lines and losses count as the "
        "review's time, creating the engine does not; gain: time of searching one position after "
        "another, relative to the review; device: the modelled accelerator of the suite device"
    )


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line."""
    return common.main(NAME, DESCRIPTION, run, arguments)


if __name__ == "__main__":
    sys.exit(main())
