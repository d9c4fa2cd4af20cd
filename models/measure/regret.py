"""The expected gain of search settings: the values of the moves that they choose."""

from __future__ import annotations

import hashlib
import json
import random
import sqlite3
import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyengine
from pyengine.benchmarks.matches import balanced_openings
from pyengine.match import GameRecord, match
from pyengine.match.identity import identity_of

__all__ = ["GAMES", "SERIAL", "Contest", "Position", "Reference"]

Settings = dict[str, Any]

#: many trees searched together, each as in a serial search
SERIAL: Settings = {"symmetry": "none", "in_flight": 1, "batch_size": 32, "reuse_tree": False}
_TOGETHER = 64
_CACHE_ENTRIES = 2**21  # later trials find most of their rows here
#: Two searches at opposite ends of the tuned range evaluate a move, to favour neither end.
_NARROW: Settings = {"c_puct": 0.8, "fpu": "reduction", "fpu_value": 0.4}
_WIDE: Settings = {"c_puct": 2.5, "fpu": "reduction", "fpu_value": 0.0}


@dataclass(frozen=True)
class Contest:
    """A game and its network. With at most ``solved_empties`` empty points it is solved."""

    game: str
    network: str
    solved_empties: int = 0


GAMES = {
    "connect4": Contest("connect_four", "connect4", 36),
    "gomoku": Contest("gomoku(board_size=9)", "gomoku"),
    "othello": Contest("othello", "othello", 18),
}


#: the moves from the initial state
Position = tuple[int, ...]


class Reference:
    """Compares the moves of two settings in positions of one game.

    Args:
        contest: the game.
        work: folder of the games and of the values of moves, from which a run resumes.
        games: number of games from which the positions are drawn.
        threads: search threads.
        seed: of the games and positions.
        say: shows the progress.
    """

    def __init__(
        self,
        contest: Contest,
        work: Path,
        *,
        games: int,
        threads: int = 1,
        seed: int = 0,
        say: Callable[[str], None],
    ) -> None:
        work.mkdir(parents=True, exist_ok=True)
        self._contest = contest
        self._say = say
        self._game = pyengine.load_game(contest.game)
        self._settings: Settings = SERIAL | {"threads": threads, "seed": seed}
        self._engine = pyengine.Engine(
            self._game, contest.network, **self._settings, cache_entries=_CACHE_ENTRIES
        )
        decides = [identity_of(self._engine), contest.solved_empties, _NARROW, _WIDE]
        #: digest of the network and settings that decide values, which are saved under it
        self.key = hashlib.sha256(json.dumps(decides).encode()).hexdigest()[:16]
        saved = work / f"{contest.network}-{self.key}.sqlite"
        self._values = _Values(contest, self._engine, saved, say)
        played = self._play(games, work / f"{contest.network}.jsonl", seed)
        choices = list(self._choices(played))
        #: mean number of choices of a player in a game, without the opening and forced moves
        self.decisions = len(choices) / len(played) / 2
        self._positions = sorted(set(choices))
        random.Random(seed).shuffle(self._positions)

    def close(self) -> None:
        """Close the engine and the file of values."""
        self._engine.close()
        self._values.close()

    def positions(self, number: int, *, held_out: bool = False) -> list[Position]:
        """Return random positions; those held out are never among the others."""
        half = len(self._positions) // 2
        first, last = (half, len(self._positions)) if held_out else (0, half)
        return self._positions[first:last][:number]

    def choose(self, positions: Sequence[Position], **settings: Any) -> list[int]:
        """Return the move that a search with these settings chooses in each position."""
        states = [self._game.new_initial_state(moves) for moves in positions]
        return [result.action for result in self._engine.search_many(states, **settings)]

    def gains(
        self,
        positions: Sequence[Position],
        ours: Sequence[int],
        theirs: Sequence[int],
        simulations: int,
    ) -> list[float]:
        """Return what our move gains over theirs in each position, in points of a whole game.

        The mean over positions estimates our score minus 1/2 in games against them.

        Args:
            positions: the positions.
            ours: our move in each.
            theirs: their move in each.
            simulations: of the searches that evaluate a move.
        """
        moves = list(zip(positions, ours, theirs, strict=True))
        values = self._values.of(
            {(*line, move) for line, a, b in moves if a != b for move in (a, b)}, simulations
        )
        points = self.decisions / 2  # a score is half a value
        return [
            0.0 if a == b else points * (values[*line, a] - values[*line, b])
            for line, a, b in moves
        ]

    def _play(self, games: int, record: Path, seed: int) -> tuple[GameRecord, ...]:
        """Play games between the defaults and a wide search, or read them."""
        name, network = self._contest.game, self._contest.network
        shared: Settings = self._settings | {"simulations": 100}
        with (
            closing(pyengine.Engine(self._game, network, **shared)) as a,
            closing(pyengine.Engine(self._game, network, **shared | _WIDE)) as b,
        ):
            return match(
                a, b, games=games, seed=seed, concurrent_games=_TOGETHER, record=record,
                openings=balanced_openings(name, network),
                on_progress=lambda done: self._say(f"{name}: {done.games} of {games} games"),
            ).records  # fmt: skip

    def _choices(self, games: Iterable[GameRecord]) -> Iterator[Position]:
        """Yield the positions of all games with more than one legal move."""
        for game in games:
            for ply in range(len(game.moves)):
                line = (*game.opening, *game.moves[:ply])
                if len(self._game.new_initial_state(line).legal_actions()) > 1:
                    yield line


class _Values:
    """The values of moves, saved in a file."""

    def __init__(
        self, contest: Contest, engine: pyengine.Engine, file: Path, say: Callable[[str], None]
    ) -> None:
        self._contest = contest
        self._engine = engine
        self._say = say
        self._saved = sqlite3.connect(file)
        self._saved.execute(
            "CREATE TABLE IF NOT EXISTS moves"
            " (line TEXT, simulations INT, value REAL, PRIMARY KEY (line, simulations))"
        )

    def close(self) -> None:
        self._saved.close()

    def of(self, lines: Iterable[Position], simulations: int) -> dict[Position, float]:
        """Return the value of the last move of each line, for the player who makes it."""
        values = {}
        unknown = []
        for line in lines:
            row = self._saved.execute(
                "SELECT value FROM moves WHERE line = ? AND simulations = ?",
                (str(line), simulations),
            ).fetchone()
            if row is None:
                unknown.append(line)
            else:
                values[line] = row[0]
        unknown.sort()
        for first in range(0, len(unknown), _TOGETHER):
            self._say(f"{self._contest.game}: {first:,} of {len(unknown):,} moves evaluated")
            chunk = unknown[first : first + _TOGETHER]
            new = self._evaluate(chunk, simulations)
            with self._saved:
                self._saved.executemany(
                    "INSERT INTO moves VALUES (?, ?, ?)",
                    [(str(line), simulations, value) for line, value in new.items()],
                )
            values |= new
        return values

    def _evaluate(self, lines: Sequence[Position], simulations: int) -> dict[Position, float]:
        """Return exact values of positions that are over or can be solved, and search others."""
        values = {}
        searched = []
        for line in lines:
            before = self._engine.game.new_initial_state(line[:-1])
            after = self._engine.game.new_initial_state(line)
            mover = before.current_player()
            sign = 1 if after.current_player() == mover else -1
            if after.is_terminal():
                values[line] = after.returns()[mover]
            elif _empties(after) <= self._contest.solved_empties:
                values[line] = float(sign * pyengine.solve(after).value)
            else:
                searched.append((line, after, sign))
        if searched:
            states = [after for _, after, _ in searched]
            results = [
                self._engine.search_many(states, simulations=simulations // 2, **settings)
                for settings in (_NARROW, _WIDE)
            ]
            for (line, _, sign), each in zip(searched, zip(*results, strict=True), strict=True):
                values[line] = sign * _value(each)
        return values


def _empties(state: pyengine.State) -> int:
    return sum(row.count(".") for row in state.board_rows())


def _value(results: Sequence[pyengine.SearchResult]) -> float:
    """Return a proven value, else the mean."""
    proven = [float(result.proven) for result in results if result.proven is not None]
    return proven[0] if proven else statistics.fmean(result.value for result in results)
