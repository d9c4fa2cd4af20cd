"""The review of a game: all positions together, one after another, and bare ONNX Runtime."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyengine
from pyengine.data.game_file import GameFile
from pyengine.eval.bundled import game_of_model
from pyengine.review import review_game

if TYPE_CHECKING or __package__:
    from . import common, networks
    from .common import Options, Report, check
    from .intervals import median, median_columns
    from .networks import Network
    from .pairs import Rate, in_turns, pace, rate_of, ratios
else:  # run as a script
    import common
    import networks
    from common import Options, Report, check
    from intervals import median, median_columns
    from networks import Network
    from pairs import Rate, in_turns, pace, rate_of, ratios

NAME = "review"
DESCRIPTION = "rows per second of a game's review relative to bare ONNX Runtime"

MODEL = "go9"
MOVES, SIMULATIONS = 60, 400
QUICK_MOVES, QUICK_SIMULATIONS = 6, 8
#: A review may take 1.1 times as long as bare inference of its rows.
ASKED = round(1 / 1.1, 3)
LEAST_PAIRS, MOST_PAIRS = 6, 12


@dataclass(frozen=True)
class Run:
    """A review, or a search of each position, with a new engine.

    Attributes:
        rate: rows per second, without the engine's setup.
        seconds: wall-clock time.
    """

    rate: Rate
    seconds: float


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


def run_once(file: GameFile, network: Network, threads: int, *, together: bool, each: int) -> Run:
    """Review the game, or search its positions one after another."""
    config = pyengine.SearchConfig(simulations=each, threads=threads)
    with pyengine.Engine(file.game, network.evaluator, config=config) as engine:
        begun, used = time.perf_counter(), time.process_time()
        if together:
            check("every position is reviewed", None not in review_game(file, engine).evaluations)
        else:
            for state in file.positions:
                engine.search(state)
        seconds, used = time.perf_counter() - begun, time.process_time() - used
        rows = engine.stats()["evaluations"]
    return Run(Rate(rows / seconds, rows / used), seconds)


def measure(file: GameFile, network: Network, threads: int, options: Options) -> dict[str, Any]:
    """Measure the review, separate searches and bare ONNX Runtime in turns."""
    each = QUICK_SIMULATIONS if options.quick else SIMULATIONS
    bare = networks.bare_calls(network, pyengine.SearchConfig().batch_size, threads)
    runs = [run_once(file, network, threads, together=True, each=each)]  # the first is slower

    def review() -> Run:
        runs.append(run_once(file, network, threads, together=True, each=each))
        return runs[-1]

    rounds = in_turns(
        pace(options, options.seconds, LEAST_PAIRS, MOST_PAIRS),
        review,
        lambda: rate_of(bare, runs[-1].seconds),
        lambda: run_once(file, network, threads, together=False, each=each),
    )
    reviews, theirs, separate = zip(*rounds, strict=True)
    gain = [b.seconds / a.seconds for a, b in zip(reviews, separate, strict=True)]
    return {
        "asked": ASKED,
        **ratios([run.rate for run in reviews], theirs),
        "onnxruntime/s": median([rate.wall for rate in theirs]),
        "review/s": median([run.rate.wall for run in reviews]),
        "seconds": median([run.seconds for run in reviews]),
        "gain": median_columns("gain", gain)["gain"],
    }


def run(report: Report, options: Options) -> None:
    """Measure on one thread and on two."""
    moves = QUICK_MOVES if options.quick else MOVES
    path = pyengine.bundled_models()[MODEL]
    file = played(moves)
    network = Network(MODEL, path, file.game, pyengine.OnnxEvaluator(path))
    for threads in common.thread_counts():
        with report.row(f"review/{MODEL}/moves={moves},threads={threads}") as row:
            networks.check_answers(network)
            row.update(measure(file, network, threads, options))
    report.notes.append(
        f"{SIMULATIONS} simulations for each position; the score, the lines and the losses count "
        "as the review's time, creating the engine does not; gain: time of searching one position "
        "after another, relative to the review"
    )


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line."""
    return common.main(NAME, DESCRIPTION, run, arguments)


if __name__ == "__main__":
    sys.exit(main())
