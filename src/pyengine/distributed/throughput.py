"""A model of the throughput of a run on a cluster: self-play, learner and network traffic.

``python -m pyengine.distributed.throughput`` prints a table; see ``--help`` for its inputs.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pyengine.errors import ConfigError

#: Games of AlphaGo Zero's three-day run [Silver et al. 2017].
ALPHAGO_ZERO_GAMES = 4_900_000

_DAY = 86_400.0  # seconds


@dataclass(frozen=True, kw_only=True)
class Games:
    """The cost of a game. The defaults are AlphaGo Zero's on 19x19."""

    moves: float = 200.0  #: searched moves per game (an assumption; not published)
    simulations: float = 1600.0  #: per move [AlphaGo Zero]
    evaluated: float = 1.0  #: share of simulations that evaluate a row; the others end in the
    #: cache, a terminal state or the reused tree
    learnt: float = 1.0  #: share of positions that are trained on: those of full searches

    def __post_init__(self) -> None:
        _positive(self, "moves", "simulations")
        for name in ("evaluated", "learnt"):
            if not 0 < getattr(self, name) <= 1:
                raise ConfigError(f"{name}: expected a number in (0, 1], got {getattr(self, name)}")

    @classmethod
    def measured(cls, report: Mapping[str, Any], learnt: float = 1.0) -> Games:
        """Return the cost of games in a self-play run.

        Args:
            report: :meth:`SelfPlayReport.to_dict`, or the output of ``pyengine selfplay --json``.
            learnt: share of positions that are trained on.

        """
        games, positions, simulations, rows = _counts(
            report, "games", "positions", "simulations", "evaluations"
        )
        return cls(
            moves=positions / games,
            simulations=simulations / positions,
            evaluated=min(1.0, rows / simulations),
            learnt=learnt,
        )

    @property
    def evaluations(self) -> float:
        """Network rows per game."""
        return self.moves * self.simulations * self.evaluated

    @property
    def positions(self) -> float:
        """Training positions per game."""
        return self.moves * self.learnt


@dataclass(frozen=True, kw_only=True)
class ActorRate:
    """The speed of an actor."""

    evaluations: float  #: network rows per second

    def __post_init__(self) -> None:
        _positive(self, "evaluations")

    @classmethod
    def measured(cls, report: Mapping[str, Any]) -> ActorRate:
        """Return the speed in a self-play report; see :meth:`Games.measured`."""
        rows, seconds = _counts(report, "evaluations", "seconds")
        return cls(evaluations=rows / seconds)

    def games(self, games: Games) -> float:
        """Return games per second."""
        return self.evaluations / games.evaluations

    def positions(self, games: Games) -> float:
        """Return training positions per second."""
        return self.games(games) * games.positions


@dataclass(frozen=True, kw_only=True)
class Learning:
    """The speed of the learner."""

    samples: float  #: positions per second: steps times batch size
    samples_per_position: float = 1.5  #: ``window.samples_per_position``; AlphaGo Zero: 1.46

    def __post_init__(self) -> None:
        _positive(self, "samples", "samples_per_position")

    @property
    def appetite(self) -> float:
        """New positions per second that keep the learner busy."""
        return self.samples / self.samples_per_position


@dataclass(frozen=True, kw_only=True)
class Shipping:
    """The network traffic. The defaults are for 19x19, 17 planes and a network of 20 blocks."""

    position: float = 1491.0  #: bytes of a recorded position
    network: float = 46e6 * 2  #: bytes of a network: 23 million weights of 4 bytes
    seconds_of_a_network: float = 370.0  #: between two networks that pass the gate

    def __post_init__(self) -> None:
        _positive(self, "position", "network", "seconds_of_a_network")


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A run of equal actors and one learner."""

    actors: int
    actor: ActorRate
    games: Games
    learning: Learning
    shipping: Shipping
    nodes: int = 1  #: besides the driver; each fetches a network once

    def __post_init__(self) -> None:
        _positive(self, "actors")
        if self.nodes < 0:
            raise ConfigError(f"nodes: expected an int of at least 0, got {self.nodes}")

    @property
    def games_per_second(self) -> float:
        """Games per second of all actors."""
        return self.actors * self.actor.games(self.games)

    @property
    def positions_per_second(self) -> float:
        """Training positions per second of all actors."""
        return self.actors * self.actor.positions(self.games)

    @property
    def learner_busy(self) -> float:
        """Share of the time that the learner is busy; at most 1."""
        return min(1.0, self.positions_per_second / self.learning.appetite)

    @property
    def actors_that_fill_the_learner(self) -> float:
        """Actors at which the learner is fully busy; with more it samples each position less."""
        return self.learning.appetite / self.actor.positions(self.games)

    @property
    def samples_per_position(self) -> float:
        """Samples per position: the setting, or less if the learner is too slow."""
        return min(
            self.learning.samples_per_position, self.learning.samples / self.positions_per_second
        )

    @property
    def bytes_in(self) -> float:
        """Bytes of games per second that arrive at the driver."""
        return self.positions_per_second / self.games.learnt * self.shipping.position

    @property
    def bytes_out(self) -> float:
        """Mean bytes of networks per second that leave the driver."""
        return self.nodes * self.shipping.network / self.shipping.seconds_of_a_network

    def seconds(self, games: float) -> float:
        """Return the seconds for a number of games."""
        return games / self.games_per_second


def _counts(report: Mapping[str, Any], *names: str) -> list[float]:
    for name in names:
        if not isinstance(report.get(name), int | float) or not report[name] > 0:
            raise ConfigError(f"report.{name}: expected a number > 0, got {report.get(name)!r}")
    return [float(report[name]) for name in names]


def _positive(owner: object, *names: str) -> None:
    for name in names:
        if not getattr(owner, name) > 0:
            raise ConfigError(f"{name}: expected a number > 0, got {getattr(owner, name)}")


def report(plan: Plan, counts: Sequence[int], goal: float = ALPHAGO_ZERO_GAMES) -> str:
    """Return a table with a row per number of actors; ``goal`` is a number of games."""
    head = (
        f"{'actors':>8} {'evals/s':>10} {'games/s':>8} {'positions/s':>12} {'learner':>8} "
        f"{'samples/pos':>12} {'MB/s in':>8} {'MB/s out':>9} {'days':>9}"
    )
    lines = [head]
    for count in counts:
        row = replace(plan, actors=count)
        lines.append(
            f"{count:>8,} {count * row.actor.evaluations:>10,.0f} {row.games_per_second:>8.3g} "
            f"{row.positions_per_second:>12,.1f} {row.learner_busy:>8.0%} "
            f"{row.samples_per_position:>12.2f} {row.bytes_in / 1e6:>8.2g} "
            f"{row.bytes_out / 1e6:>9.2g} {row.seconds(goal) / _DAY:>9,.1f}"
        )
    enough = plan.actors_that_fill_the_learner
    lines.append(
        f"days: until {goal:,.0f} games; {enough:,.1f} actors keep the learner busy "
        f"({plan.learning.appetite:,.0f} positions/s)"
    )
    return "\n".join(lines)


def main(args: Sequence[str] | None = None) -> int:
    """Print the table for command-line arguments and return the exit status."""
    parser = _parser()
    options = parser.parse_args(args)
    try:
        text = report(_plan(options), options.actors, options.goal)
    except (ConfigError, OSError, ValueError, RecursionError) as error:
        parser.error(str(error))
    sys.stdout.write(text + "\n")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="pyengine.distributed.throughput", description=__doc__)
    games, learning, shipping = Games(), Learning(samples=1), Shipping()
    numbers = {
        "--evaluations": (4000.0, "network rows per second of an actor"),
        "--simulations": (games.simulations, "per move"),
        "--moves": (games.moves, "per game"),
        "--evaluated": (games.evaluated, "share of simulations that evaluate a row"),
        "--learnt": (games.learnt, "share of positions that are trained on"),
        "--samples": (5500.0, "positions per second of the learner"),
        "--samples-per-position": (learning.samples_per_position, "training samples per position"),
        "--position-bytes": (shipping.position, "per recorded position"),
        "--network-bytes": (shipping.network, "per network"),
        "--network-seconds": (shipping.seconds_of_a_network, "between two new networks"),
        "--goal": (float(ALPHAGO_ZERO_GAMES), "games"),
    }
    for name, (default, text) in numbers.items():
        parser.add_argument(name, type=float, default=default, help=f"{text} ({default:g})")
    parser.add_argument("--actors", type=int, nargs="+", default=[1, 4, 16, 64, 256, 1024])
    parser.add_argument("--nodes", type=int, default=8, help="nodes that fetch each network (8)")
    parser.add_argument(
        "--measured",
        type=Path,
        help="output of `pyengine selfplay --json`, the source of --evaluations, --simulations, "
        "--moves and --evaluated",
    )
    return parser


def _plan(options: argparse.Namespace) -> Plan:
    rate = ActorRate(evaluations=options.evaluations)
    games = Games(
        moves=options.moves,
        simulations=options.simulations,
        evaluated=options.evaluated,
        learnt=options.learnt,
    )
    if options.measured is not None:
        measured = json.loads(options.measured.read_text("utf-8"))
        rate, games = ActorRate.measured(measured), Games.measured(measured, options.learnt)
    return Plan(
        actors=1,
        actor=rate,
        games=games,
        learning=Learning(
            samples=options.samples, samples_per_position=options.samples_per_position
        ),
        shipping=Shipping(
            position=options.position_bytes,
            network=options.network_bytes,
            seconds_of_a_network=options.network_seconds,
        ),
        nodes=options.nodes,
    )


if __name__ == "__main__":
    sys.exit(main())
