"""Fraction of a network's speed that remains in self-play, and the utilisation of a device."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import pyengine
from pyengine.selfplay import SelfPlayer

if TYPE_CHECKING or __package__:
    from . import common, networks
    from .common import Options, Report, check
    from .intervals import median, median_columns
    from .modelled import ModelledDevice
    from .networks import Network
    from .pairs import Rate, in_turns, pace, rate_of, ratios, samples
else:  # run as a script
    import common
    import networks
    from common import Options, Report, check
    from intervals import median, median_columns
    from modelled import ModelledDevice
    from networks import Network
    from pairs import Rate, in_turns, pace, rate_of, ratios, samples

NAME = "selfplay"
DESCRIPTION = "positions per second in self-play of 64 games relative to bare inference"

GAMES = 64
BATCH = 8
DEVICE_BATCH = 256
SIMULATIONS = 200
LEAST_PAIRS, MOST_PAIRS = 6, 16
_ENDLESS = 1 << 40  # number of games
#: Target of the ratio by network name, and of the device's utilisation.
ASKED = {"go9x9_pyaq": 0.95, "connect4_sunshine": 0.95}
DEVICE_ASKED = 0.95
TOO_SMALL = {"tic_tac_toe"}


def config_for(game: pyengine.Game, batch: int, threads: int) -> pyengine.SelfPlayConfig:
    """Return AlphaGo Zero's settings with a smaller budget, so that games finish within a row."""
    preset = pyengine.SelfPlayConfig.alphago_zero(game)
    search = preset.search.replace(
        simulations=SIMULATIONS, batch_size=batch, threads=threads, cache_entries=0
    )
    return preset.replace(search=search, concurrent_games=GAMES)


@dataclass
class Turn:
    """Counts of self-play during the measured time."""

    rows: int = 0
    batches: int = 0
    games: int = 0
    positions: int = 0
    seconds: float = 0.0
    used: float = 0.0  # processor time

    @property
    def rate(self) -> Rate:
        """Rows per second."""
        return Rate(self.rows / self.seconds, self.rows / self.used)


def play_for(player: SelfPlayer, seconds: float) -> Turn:
    """Continue the games for the given time. Check the records without writing them."""
    before = player.report()
    begun, used = time.perf_counter(), time.process_time()
    turn = Turn()

    def take(games: Any) -> bool:
        for game in games:
            check_game(game)
            turn.games += 1
        return time.perf_counter() - begun < seconds

    player.run(_ENDLESS, take, every=0.05)
    turn.seconds, turn.used = time.perf_counter() - begun, time.process_time() - used
    after = player.report()
    turn.rows = after.evaluations - before.evaluations
    turn.batches = after.batches - before.batches
    turn.positions = after.positions - before.positions
    return turn


def check_game(game: Any) -> None:
    """Check that a record's rows are the game's moves in order and its policies are visits."""
    plies = np.asarray(game.ply)
    check("rows are in the order of the plies", bool(np.all(np.diff(plies.astype(int)) > 0)))
    check("actions are the moves", bool(np.array_equal(game.moves[plies], game.action)))
    check("full searches have visits", bool(np.all(game.visits.sum(axis=1) > 0)))


def measure(network: Network, threads: int, options: Options) -> dict[str, Any]:
    """Measure bare ONNX Runtime and self-play alternately. The games continue between turns."""
    bare = networks.bare_calls(network, BATCH, threads)
    player = SelfPlayer(network.game, network.evaluator, config_for(network.game, BATCH, threads))
    length = 0.2 if options.quick else max(1.0, options.seconds / 2)
    rate_of(bare, length / 4)
    play_for(player, length / 2)  # the first calls are slower
    rounds = pace(options, 4 * options.seconds, LEAST_PAIRS, MOST_PAIRS)
    found = in_turns(rounds, lambda: play_for(player, length), lambda: rate_of(bare, length))
    turns, theirs = zip(*found, strict=True)
    return {
        **ratios([turn.rate for turn in turns], theirs),
        "onnxruntime/s": median([rate.wall for rate in theirs]),
        **figures(turns),
    }


def figures(turns: Sequence[Turn]) -> dict[str, float]:
    """Return the figures of self-play."""
    seconds = sum(turn.seconds for turn in turns)
    return {
        "selfplay/s": sum(turn.rows for turn in turns) / seconds,
        "fill": sum(turn.rows for turn in turns) / max(1, sum(turn.batches for turn in turns)),
        "games/s": sum(turn.games for turn in turns) / seconds,
        "positions/s": sum(turn.positions for turn in turns) / seconds,
    }


def measure_device(game: pyengine.Game, options: Options) -> dict[str, Any]:
    """Measure the utilisation of a modelled device by self-play."""
    device = ModelledDevice(spec=pyengine.ModelSpec.alphago_zero(game))
    threads = min(2, len(common.thread_counts()))
    player = SelfPlayer(game, device, config_for(game, DEVICE_BATCH, threads))
    length = 0.3 if options.quick else max(2.0, options.seconds)
    play_for(player, length / 4)
    rounds = pace(options, least=LEAST_PAIRS)
    turns = samples(rounds, lambda: play_for(player, length))
    capacity = device.capacity(DEVICE_BATCH)
    return {
        "asked": DEVICE_ASKED,
        **median_columns("ratio", [turn.rate.wall / capacity for turn in turns]),
        **figures(turns),
    }


def run(report: Report, options: Options) -> None:
    """Measure every network on one thread and on two, then the modelled device."""
    report.fingerprint = pyengine.SelfPlayConfig().fingerprint()
    for network in networks.find_networks(report, options):
        if network.game.name in TOO_SMALL and not options.quick:
            continue
        for threads in common.thread_counts():
            knobs = f"games={GAMES},batch={BATCH},threads={threads}"
            with report.row(f"selfplay/{network.game.name}/{network.name}/{knobs}") as row:
                row["asked"] = ASKED.get(network.name)
                row.update(measure(network, threads, options))
    for text in () if options.model else ("connect_four", "go"):
        knobs = f"games={GAMES},batch={DEVICE_BATCH}"
        with report.row(f"selfplay/{text}/modelled/{knobs}") as row:
            row.update(measure_device(pyengine.load_game(text), options))
    report.notes.append(
        f"AlphaGo Zero's settings with {SIMULATIONS} simulations; moves, records and their planes"
        " count against it, files do not. Networks: medians of pairs measured alternately, cpu"
        " ratio by processor time. Device: rows relative to its capacity"
    )


def main(arguments: list[str] | None = None) -> int:
    """Run from the command line."""
    return common.main(NAME, DESCRIPTION, run, arguments)


if __name__ == "__main__":
    sys.exit(main())
