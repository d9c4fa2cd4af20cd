"""A model of the throughput of a run on a cluster: self-play, learner and network traffic.

``python -m pyengine.distributed.throughput`` prints a table; see ``--help`` for its inputs.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from pyengine.errors import ConfigError

_DAY = 86_400.0  # seconds


def _input(default: float, meaning: str) -> Any:
    """Return a field that is also an option of the command."""
    return field(default=default, metadata={"help": f"{meaning} ({default:g})"})


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A run of equal actors and one learner; inputs are above 0, ``nodes`` at least 0.

    The defaults are those of AlphaGo Zero's three days: Go 19x19, 17 planes, 20 blocks. Its 200
    moves per game are an assumption, since the number is not published.
    """

    actors: int = 1
    nodes: float = _input(8, "nodes besides the driver; each fetches a network once")
    evaluations: float = _input(4000, "network rows per second of an actor")
    simulations: float = _input(1600, "per move")
    moves: float = _input(200, "searched moves per game")
    evaluated: float = _input(1, "share of simulations that evaluate a row")
    learnt: float = _input(1, "share of positions that are trained on: those of full searches")
    samples: float = _input(5500, "positions per second of the learner: steps times batch size")
    samples_per_position: float = _input(1.5, "most samples of a position; AlphaGo Zero: 1.46")
    position_bytes: float = _input(1491, "per recorded position")
    network_bytes: float = _input(92e6, "per network: 23 million weights of 4 bytes")
    network_seconds: float = _input(370, "between two networks that pass the gate")
    goal: float = _input(4_900_000, "games of the run")

    def __post_init__(self) -> None:
        for entry in fields(self):
            value = getattr(self, entry.name)
            if not value > 0 and not (entry.name == "nodes" and value == 0):
                raise ConfigError(f"{entry.name}: expected a number > 0, got {value}")
        for name in ("evaluated", "learnt"):
            if getattr(self, name) > 1:
                raise ConfigError(f"{name}: expected a number in (0, 1], got {getattr(self, name)}")

    def measured(self, report: Mapping[str, Any]) -> Plan:
        """Return the plan with the actor and the games of a self-play run.

        ``report``: :meth:`SelfPlayReport.to_dict`, or the output of ``pyengine selfplay --json``.
        """
        names = ("games", "positions", "simulations", "evaluations", "seconds")
        for name in names:
            if not isinstance(report.get(name), int | float) or not report[name] > 0:
                raise ConfigError(f"report.{name}: expected a number > 0, got {report.get(name)!r}")
        games, positions, simulations, rows, seconds = (float(report[name]) for name in names)
        return replace(
            self,
            evaluations=rows / seconds,
            moves=positions / games,
            simulations=simulations / positions,
            evaluated=min(1.0, rows / simulations),
        )

    @property
    def games_per_second(self) -> float:
        """Games per second of all actors."""
        rows_per_game = self.moves * self.simulations * self.evaluated
        return self.actors * self.evaluations / rows_per_game

    @property
    def positions_per_second(self) -> float:
        """Training positions per second of all actors."""
        return self.games_per_second * self.moves * self.learnt

    @property
    def appetite(self) -> float:
        """New positions per second that keep the learner busy."""
        return self.samples / self.samples_per_position

    @property
    def learner_busy(self) -> float:
        """Share of the time that the learner is busy; at most 1."""
        return min(1.0, self.positions_per_second / self.appetite)

    @property
    def actors_that_fill_the_learner(self) -> float:
        """Actors at which the learner is fully busy; with more it samples each position less."""
        return self.appetite / self.positions_per_second * self.actors

    @property
    def actual_samples_per_position(self) -> float:
        """``samples_per_position``, or less if the learner is too slow."""
        return min(self.samples_per_position, self.samples / self.positions_per_second)

    @property
    def bytes_in(self) -> float:
        """Bytes of games per second that arrive at the driver."""
        return self.games_per_second * self.moves * self.position_bytes

    @property
    def bytes_out(self) -> float:
        """Mean bytes of networks per second that leave the driver."""
        return self.nodes * self.network_bytes / self.network_seconds

    @property
    def days(self) -> float:
        """Days until the goal."""
        return self.goal / self.games_per_second / _DAY

    def table(self, counts: Sequence[int]) -> str:
        """Return a table with a row per number of actors."""
        head = (
            f"{'actors':>8} {'evals/s':>10} {'games/s':>8} {'positions/s':>12} {'learner':>8} "
            f"{'samples/pos':>12} {'MB/s in':>8} {'MB/s out':>9} {'days':>9}"
        )
        rows = [replace(self, actors=count)._row() for count in counts]
        last = (
            f"days: until {self.goal:,.0f} games; {self.actors_that_fill_the_learner:,.1f} actors "
            f"keep the learner busy ({self.appetite:,.0f} positions/s)"
        )
        return "\n".join([head, *rows, last])

    def _row(self) -> str:
        return (
            f"{self.actors:>8,} {self.actors * self.evaluations:>10,.0f} "
            f"{self.games_per_second:>8.3g} {self.positions_per_second:>12,.1f} "
            f"{self.learner_busy:>8.0%} {self.actual_samples_per_position:>12.2f} "
            f"{self.bytes_in / 1e6:>8.2g} {self.bytes_out / 1e6:>9.2g} {self.days:>9,.1f}"
        )


def main(args: Sequence[str] | None = None) -> int:
    """Print the table for command-line arguments and return the exit status."""
    parser = argparse.ArgumentParser(prog="pyengine.distributed.throughput", description=__doc__)
    inputs = {entry.name: entry for entry in fields(Plan) if entry.metadata}
    for name, entry in inputs.items():
        option = f"--{name.replace('_', '-')}"
        parser.add_argument(option, type=float, default=entry.default, help=entry.metadata["help"])
    parser.add_argument("--actors", type=int, nargs="+", default=[1, 4, 16, 64, 256, 1024])
    parser.add_argument(
        "--measured",
        type=Path,
        help="output of `pyengine selfplay --json`, the source of --evaluations, --simulations, "
        "--moves and --evaluated",
    )
    options = parser.parse_args(args)
    try:
        plan = Plan(**{name: getattr(options, name) for name in inputs})
        if options.measured is not None:
            plan = plan.measured(json.loads(options.measured.read_text("utf-8")))
        print(plan.table(options.actors))
    except (ConfigError, OSError, ValueError) as error:
        parser.error(str(error))
    return 0


if __name__ == "__main__":
    sys.exit(main())
