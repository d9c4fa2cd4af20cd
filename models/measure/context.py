"""How measurements are run: what they keep, how thorough they are, how they show progress."""

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

_BATCH = 64  # rows: as many trees are searched at once
_QUICK = 10  # times fewer cases and games
_LINE_SECONDS = 60.0

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]


class Progress:
    """Shows progress: on a terminal one line that is written anew, elsewhere a line a minute."""

    def __init__(self) -> None:
        """Begin."""
        self._said = time.monotonic()

    def __call__(self, text: str) -> None:
        """Show a text; "" takes the line away."""
        if sys.stderr.isatty():
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
        elif text and time.monotonic() - self._said >= _LINE_SECONDS:
            self._said = time.monotonic()
            print(text, file=sys.stderr, flush=True)


@dataclass(frozen=True)
class Measurement:
    """One thing to measure."""

    name: str  #: of the finding
    run: Callable[[str], Finding]  #: is given the name

    def __call__(self) -> Finding:
        """Measure."""
        return self.run(self.name)


@dataclass(frozen=True, kw_only=True)
class Context:
    """What all measurements share."""

    work: Path  #: records of matches and answers of solvers, so that a measurement goes on
    shared: Path  #: networks and cases of others
    quick: bool = False  #: a tenth of the cases and games
    threads: int = 1  #: of the searches
    seed: int = 0
    say: Callable[[str], None] = field(default_factory=Progress)

    def some(self, cases: Sequence[Any]) -> Sequence[Any]:
        """Return all cases, or with ``quick`` a tenth of them."""
        return cases[::_QUICK] if self.quick else cases

    def engine(
        self, game: pyengine.Game, evaluator: Any, simulations: int, **settings: Any
    ) -> pyengine.Engine:
        """Return a player that searches many trees at once, each like a serial search."""
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
        """Return a network of others. Raises ConfigError where it is absent."""
        path = self.shared / "nets" / f"{name}.onnx"
        if not path.exists():
            raise pyengine.ConfigError(
                f"expected the network {name}.onnx of others, found no {path}: "
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
        """Play a match between two evaluators, each with its number of simulations.

        Args:
            game: by name.
            ours: the evaluator that is measured, and its simulations.
            theirs: an evaluator, "rollout" or the name of a network of others, and its simulations.
            name, games, plies, least, more_than: see :meth:`play`.

        """
        played = pyengine.load_game(game)
        other, simulations = theirs
        if isinstance(other, str) and other != "rollout":
            other = self.opponent(other)
        with (
            closing(self.engine(played, *ours)) as a,
            closing(self.engine(played, other, simulations)) as b,
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
        """Play a match from random openings, each by both sides; it goes on where it was stopped.

        Args:
            name: of the finding; the file of the games is called after it.
            a, b: the players.
            games: how many, with ``quick`` a tenth.
            plies: random moves of an opening.
            least: score that is asked.
            more_than: score that is asked to be exceeded.

        """
        result = self.played(name, a, b, games, plies=plies)
        return of_match(name, result, least=least, more_than=more_than)

    def played(
        self, name: str, a: pyengine.Engine, b: Any, games: int, *, plies: int = 4
    ) -> MatchResult:
        """Play a match as :meth:`play` does; return its games."""
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
    """Open the network that is measured, on the CPU; those of others are known by their names."""
    _, spec = THIRD_PARTY.get(model.stem, ("", None))
    return pyengine.OnnxEvaluator(model, spec=spec, providers=["cpu"], threads=1)
