"""How fast a run on a cluster goes: actors times positions a second, the learner's appetite, bytes.

``python -m pyengine.distributed.throughput`` prints a table; ``--help`` says how to give figures of
your own.
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

#: Games of AlphaGo Zero's run of three days [Silver et al. 2017].
ALPHAGO_ZERO_GAMES = 4_900_000

_DAY = 86_400.0  # seconds


@dataclass(frozen=True, kw_only=True)
class Games:
    """What a game costs. The defaults are AlphaGo Zero's, on 19x19."""

    moves: float = 200.0  #: of a mean game, those that are searched (an assumption: not published)
    simulations: float = 1600.0  #: of a mean move [AlphaGo Zero]
    evaluated: float = 1.0  #: of simulations, the share that costs a row of the network; the others
    #: end in what is known: the cache, ends of games, the tree that is kept
    learnt: float = 1.0  #: of positions, the share that is learnt: those of full searches

    def __post_init__(self) -> None:
        """Check all fields."""
        _positive(self, "moves", "simulations")
        for name in ("evaluated", "learnt"):
            if not 0 < getattr(self, name) <= 1:
                raise ConfigError(f"{name}: expected (0, 1], got {getattr(self, name)}")

    @classmethod
    def measured(cls, report: Mapping[str, Any], learnt: float = 1.0) -> Games:
        """Return what games cost in self-play that was measured.

        Args:
            report: of :class:`~pyengine.SelfPlayReport`, as ``to_dict`` or ``pyengine selfplay
                --json`` has it.
            learnt: share of the positions that are learnt.

        Raises ConfigError where nothing was played.

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
        """Rows of the network for a game."""
        return self.moves * self.simulations * self.evaluated

    @property
    def positions(self) -> float:
        """Positions of a game that are learnt."""
        return self.moves * self.learnt


@dataclass(frozen=True, kw_only=True)
class ActorRate:
    """What an actor does."""

    evaluations: float  #: rows of the network a second

    def __post_init__(self) -> None:
        """Check the field."""
        _positive(self, "evaluations")

    @classmethod
    def measured(cls, report: Mapping[str, Any]) -> ActorRate:
        """Return the rate of self-play that was measured; arguments as of :class:`Games`."""
        rows, seconds = _counts(report, "evaluations", "seconds")
        return cls(evaluations=rows / seconds)

    def games(self, games: Games) -> float:
        """Return games a second."""
        return self.evaluations / games.evaluations

    def positions(self, games: Games) -> float:
        """Return learnt positions a second."""
        return self.games(games) * games.positions


@dataclass(frozen=True, kw_only=True)
class Learning:
    """What the learner does, and what it wants."""

    samples: float  #: positions a second that it can go through: steps times batch
    samples_per_position: float = 1.5  #: ``window.samples_per_position``; AlphaGo Zero's: 1.46

    def __post_init__(self) -> None:
        """Check all fields."""
        _positive(self, "samples", "samples_per_position")

    @property
    def appetite(self) -> float:
        """New positions a second that keep it busy."""
        return self.samples / self.samples_per_position


@dataclass(frozen=True, kw_only=True)
class Shipping:
    """What travels. The defaults are those of 19x19 with 17 planes and a network of 20 blocks."""

    position: float = 1491.0  #: bytes of a record
    network: float = 46e6 * 2  #: bytes of a network: 23 million weights of 4 bytes
    seconds_of_a_network: float = 370.0  #: between two that pass the gate

    def __post_init__(self) -> None:
        """Check all fields."""
        _positive(self, "position", "network", "seconds_of_a_network")


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A run: so many equal actors, a learner, and what they ship."""

    actors: int
    actor: ActorRate
    games: Games
    learning: Learning
    shipping: Shipping
    nodes: int = 1  #: besides the driver's; each fetches a network once

    def __post_init__(self) -> None:
        """Check all fields."""
        _positive(self, "actors")
        if self.nodes < 0:
            raise ConfigError(f"nodes: expected >= 0, got {self.nodes}")

    @property
    def games_per_second(self) -> float:
        """Of all actors."""
        return self.actors * self.actor.games(self.games)

    @property
    def positions_per_second(self) -> float:
        """Of all actors; those that are learnt."""
        return self.actors * self.actor.positions(self.games)

    @property
    def learner_busy(self) -> float:
        """Share of the time that the learner has something to do; at most 1."""
        return min(1.0, self.positions_per_second / self.learning.appetite)

    @property
    def actors_that_fill_the_learner(self) -> float:
        """With more of them the learner falls behind, or learns each position less often."""
        return self.learning.appetite / self.actor.positions(self.games)

    @property
    def samples_per_position(self) -> float:
        """How often a position is learnt: what is asked, or less where the learner is too slow."""
        return min(
            self.learning.samples_per_position, self.learning.samples / self.positions_per_second
        )

    @property
    def bytes_in(self) -> float:
        """Bytes a second of games that arrive at the driver's node."""
        return self.positions_per_second / self.games.learnt * self.shipping.position

    @property
    def bytes_out(self) -> float:
        """Bytes a second of networks that leave the driver's node, on the mean."""
        return self.nodes * self.shipping.network / self.shipping.seconds_of_a_network

    def seconds(self, games: float) -> float:
        """Return how long so many games take."""
        return games / self.games_per_second


def _counts(report: Mapping[str, Any], *names: str) -> list[float]:
    """Return counts of a report. Raises ConfigError for one that is not there, or 0."""
    for name in names:
        if not isinstance(report.get(name), int | float) or not report[name] > 0:
            raise ConfigError(f"report.{name}: expected > 0, got {report.get(name)!r}")
    return [float(report[name]) for name in names]


def _positive(of: object, *names: str) -> None:
    for name in names:
        if not getattr(of, name) > 0:
            raise ConfigError(f"{name}: expected > 0, got {getattr(of, name)}")


def report(plan: Plan, counts: Sequence[int], goal: float = ALPHAGO_ZERO_GAMES) -> str:
    """Return a table: a row for each number of actors, with the days until so many games."""
    head = (
        f"{'actors':>8} {'evals/s':>10} {'games/s':>8} {'positions/s':>12} {'learner':>8} "
        f"{'samples/pos':>12} {'MB/s in':>8} {'MB/s out':>9} {'days':>9}"
    )
    lines = [head]
    for count in counts:
        each = replace(plan, actors=count)
        lines.append(
            f"{count:>8,} {count * each.actor.evaluations:>10,.0f} {each.games_per_second:>8.3g} "
            f"{each.positions_per_second:>12,.1f} {each.learner_busy:>8.0%} "
            f"{each.samples_per_position:>12.2f} {each.bytes_in / 1e6:>8.2g} "
            f"{each.bytes_out / 1e6:>9.2g} {each.seconds(goal) / _DAY:>9,.1f}"
        )
    enough = plan.actors_that_fill_the_learner
    lines.append(
        f"days: until {goal:,.0f} games; {enough:,.1f} actors keep the learner busy "
        f"({plan.learning.appetite:,.0f} positions/s)"
    )
    return "\n".join(lines)


def main(args: Sequence[str] | None = None) -> int:
    """Print the table for the figures of the command line; returns the exit status."""
    parser = _parser()
    given = parser.parse_args(args)
    try:
        text = report(_plan(given), given.actors, given.goal)
    except (ConfigError, OSError, ValueError, RecursionError) as error:
        parser.error(str(error))
    sys.stdout.write(text + "\n")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="pyengine.distributed.throughput", description=__doc__)
    games, learning, shipping = Games(), Learning(samples=1), Shipping()
    numbers = {
        "--evaluations": (4000.0, "rows of the network a second, of an actor"),
        "--simulations": (games.simulations, "of a mean move"),
        "--moves": (games.moves, "of a mean game"),
        "--evaluated": (games.evaluated, "share of simulations that cost a row"),
        "--learnt": (games.learnt, "share of positions that are learnt"),
        "--samples": (5500.0, "positions a second that the learner goes through"),
        "--samples-per-position": (learning.samples_per_position, "how often each is learnt"),
        "--position-bytes": (shipping.position, "of a record"),
        "--network-bytes": (shipping.network, "of a network"),
        "--network-seconds": (shipping.seconds_of_a_network, "between two networks"),
        "--goal": (float(ALPHAGO_ZERO_GAMES), "games"),
    }
    for name, (default, text) in numbers.items():
        parser.add_argument(name, type=float, default=default, help=f"{text} ({default:g})")
    parser.add_argument("--actors", type=int, nargs="+", default=[1, 4, 16, 64, 256, 1024])
    parser.add_argument("--nodes", type=int, default=8, help="that fetch each network (8)")
    parser.add_argument(
        "--measured",
        type=Path,
        help="what `pyengine selfplay --json` printed, for --evaluations, --simulations, --moves "
        "and --evaluated",
    )
    return parser


def _plan(given: argparse.Namespace) -> Plan:
    """Return the plan of the command line, for one actor."""
    rate = ActorRate(evaluations=given.evaluations)
    games = Games(
        moves=given.moves,
        simulations=given.simulations,
        evaluated=given.evaluated,
        learnt=given.learnt,
    )
    if given.measured is not None:
        found = json.loads(given.measured.read_text("utf-8"))
        rate, games = ActorRate.measured(found), Games.measured(found, given.learnt)
    return Plan(
        actors=1,
        actor=rate,
        games=games,
        learning=Learning(samples=given.samples, samples_per_position=given.samples_per_position),
        shipping=Shipping(
            position=given.position_bytes,
            network=given.network_bytes,
            seconds_of_a_network=given.network_seconds,
        ),
        nodes=given.nodes,
    )


if __name__ == "__main__":
    sys.exit(main())
