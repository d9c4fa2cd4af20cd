"""The context of measurements: saved results, thoroughness, progress."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyengine
from measure.findings import Finding, of_match
from pyengine.benchmarks.networks import THIRD_PARTY
from pyengine.match import MatchResult, Openings, match

__all__ = ["Context", "Measurement", "Progress", "network"]

_BATCH = 64  # trees searched together
_QUICK = 10  # a quick run divides the numbers of cases and games by this
_LINE_SECONDS = 60.0

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]


class Progress:
    """Shows progress: on a terminal a line that is overwritten, otherwise a line per minute."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def __call__(self, text: str) -> None:
        """Show a text; "" clears the line."""
        if sys.stderr.isatty():
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
        elif text and time.monotonic() - self._last >= _LINE_SECONDS:
            self._last = time.monotonic()
            print(text, file=sys.stderr, flush=True)


@dataclass(frozen=True)
class Measurement:
    """A measurement; ``run`` takes the name of the finding."""

    name: str
    run: Callable[[str], Finding]

    def __call__(self) -> Finding:
        return self.run(self.name)


@dataclass(frozen=True, kw_only=True)
class Context:
    """The settings of all measurements."""

    work: Path  #: folder of match records and solver results, from which measurements resume
    shared: Path  #: folder of third-party networks and test cases
    quick: bool = False  #: use a tenth of the cases and games
    threads: int = 1  #: search threads
    seed: int = 0
    say: Callable[[str], None] = field(default_factory=Progress)

    def some(self, cases: Sequence[Any]) -> Sequence[Any]:
        """Return all cases, or a tenth if ``quick``."""
        return cases[::_QUICK] if self.quick else cases

    def engine(
        self, game: pyengine.Game, evaluator: Any, simulations: int, **settings: Any
    ) -> pyengine.Engine:
        """Return a player that searches many trees together, each as in a serial search."""
        return pyengine.Engine(
            game,
            evaluator,
            simulations=simulations,
            threads=self.threads,
            batch_size=_BATCH,
            in_flight=1,
            reuse_tree=False,
            seed=self.seed,
            **settings,
        )

    def opponent(self, name: str) -> pyengine.OnnxEvaluator:
        """Open a third-party network. Raises ConfigError if it is absent."""
        path = self.shared / "nets" / f"{name}.onnx"
        if not path.exists():
            raise pyengine.ConfigError(
                f"the network {path} does not exist: "
                "set PYENGINE_SHARED to the folder that holds nets/"
            )
        return pyengine.OnnxEvaluator(path, spec=THIRD_PARTY[name][1], providers=["cpu"], threads=1)

    def duel(
        self,
        game: str,
        ours: tuple[Any, int],
        theirs: tuple[Any, int],
        name: str,
        *,
        games: int,
        plies: int = 4,
        least: float | None = None,
        more_than: float | None = None,
    ) -> Finding:
        """Play a match between two evaluators.

        Args:
            game: text form of the game.
            ours: the measured evaluator and its simulations.
            theirs: an evaluator, "rollout" or a third-party network, and its simulations.
            name, games, plies, least, more_than: see :meth:`play`.

        """
        loaded = pyengine.load_game(game)
        other, simulations = theirs
        if isinstance(other, str) and other != "rollout":
            other = self.opponent(other)
        with (
            closing(self.engine(loaded, *ours)) as a,
            closing(self.engine(loaded, other, simulations)) as b,
        ):
            return self.play(name, a, b, games, plies=plies, least=least, more_than=more_than)

    def play(
        self,
        name: str,
        a: pyengine.Engine,
        b: Any,
        games: int,
        *,
        plies: int = 4,
        least: float | None = None,
        more_than: float | None = None,
    ) -> Finding:
        """Play or resume a match from random openings, each played with both colours.

        Args:
            name: name of the finding and of the file of games.
            a, b: the players.
            games: number of games, a tenth if ``quick``.
            plies: random moves per opening.
            least: target: at least this score.
            more_than: target: more than this score.

        """
        result = self.played(name, a, b, games, plies=plies)
        return of_match(name, result, least=least, more_than=more_than)

    def played(
        self, name: str, a: pyengine.Engine, b: Any, games: int, *, plies: int = 4
    ) -> MatchResult:
        """Play a match as :meth:`play` does; return its result."""
        total = max(2, games // _QUICK) if self.quick else games

        def show(result: MatchResult) -> None:
            score = f", score {result.score:.1%}" if result.games else ""
            self.say(f"{name}: {result.games} of {total} games{score}")

        file = "".join(letter if letter.isalnum() else "-" for letter in name)
        self.work.mkdir(parents=True, exist_ok=True)
        return match(
            a,
            b,
            games=total,
            seed=self.seed,
            openings=Openings(plies=plies),
            record=self.work / f"{file}.jsonl",
            on_progress=show,
        )


def network(model: Path) -> pyengine.OnnxEvaluator:
    """Open the measured network on the CPU; third-party networks are recognised by name."""
    _, spec = THIRD_PARTY.get(model.stem, ("", None))
    return pyengine.OnnxEvaluator(model, spec=spec, providers=["cpu"], threads=1)
