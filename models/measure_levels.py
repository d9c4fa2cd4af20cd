"""Measure the levels of play against each other, and against UCT and GNU Go.

    python models/measure_levels.py                  # run it again to resume after Ctrl-C
    python models/measure_levels.py --game othello --games 20 --dry-run

Adjacent levels of levels.toml play matches, as do the levels listed under ``uct`` (UCT with 1,000
playouts) and ``gnugo`` (GNU Go at level 10). The Elo of all players is fitted to all games of a
game; the first level is 0. The script writes Elo, 95 % intervals and results to levels.toml.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import manifest
from measure.arguments import whole
from measure.context import ROOT, Progress
from measure.gnugo import gnugo

import pyengine
from pyengine.match import MatchResult, Openings, match
from pyengine.search.levels import Level
from pyengine.train.loop.rating import Pairing, Rating, ratings

WORK = ROOT / "build" / "levels"
FILE = Path(__file__).resolve().parent / "levels.toml"
HEADER = """\
# Levels of play, weakest first: see pyengine/search/levels.py for the fields. Written by
# measure_levels.py, which preserves the settings.
# game: the measured game; opening_moves: random moves before each measured game; uct, gnugo: the
# levels that play UCT with 1,000 playouts and GNU Go 3.8 at level 10; slow_games: the most games in
# a match of the last level or of another program.
# elo: above level 1, fitted to all games; interval: its 95 % interval; games: of the level;
# below: wins, draws and losses against the level below.
"""
_PLAYOUTS = 1000
_GNUGO_LEVEL = 10
_TITLES = {
    "uct": f"UCT with {_PLAYOUTS:,} playouts",
    "gnugo": f"GNU Go 3.8 at level {_GNUGO_LEVEL}",
}

say = Progress()


@dataclass(frozen=True)
class Rung:
    """A player on the ladder of a game."""

    name: str
    open: Callable[[], Any]  #: returns the player, which has close()


@dataclass(frozen=True)
class Duel:
    """A match to play: indices of two rungs."""

    a: int
    b: int


def ladder(table: dict[str, Any], threads: int) -> tuple[list[Rung], list[Duel]]:
    """Return the players of a game, levels first, and their matches."""
    game = pyengine.load_game(table["game"])
    rows = [_level(number, row) for number, row in enumerate(table["levels"], 1)]

    def engine(level: Level) -> pyengine.Engine:
        return pyengine.Engine(game, threads=threads, seed=level.number, **level.settings())

    def uct() -> pyengine.Engine:
        return pyengine.Engine(
            game, "rollout", algorithm="uct", simulations=_PLAYOUTS, threads=threads,
            reuse_tree=False,
        )  # fmt: skip

    rungs = [Rung(str(level), lambda level=level: engine(level)) for level in rows]
    duels = [Duel(number, number - 1) for number in range(1, len(rungs))]
    for name, opponent in (("uct", uct), ("gnugo", lambda: gnugo(_GNUGO_LEVEL, 0))):
        levels = table.get(name, [])
        if levels:
            rungs.append(Rung(name, opponent))
            duels += [Duel(level - 1, len(rungs) - 1) for level in levels]
    return rungs, duels


def _level(number: int, row: dict[str, Any]) -> Level:
    settings = ("name", "simulations", "temperature", "noise")
    return Level(number=number, **{key: row[key] for key in settings if key in row})


def play(
    key: str, table: dict[str, Any], duel: Duel, rungs: list[Rung], args: argparse.Namespace
) -> MatchResult:
    """Play or resume a match."""
    a, b = rungs[duel.a], rungs[duel.b]
    last = len(table["levels"]) - 1
    is_slow = duel.a == last or duel.b > last
    games = min(args.games, table["slow_games"]) if is_slow else args.games
    title = f"{key}: {a.name} against {b.name}"

    def show(result: MatchResult) -> None:
        score = f", score {result.score:.1%}" if result.games else ""
        say(f"{title}: {result.games} of {games} games{score}")

    args.work.mkdir(parents=True, exist_ok=True)
    file = "".join(letter if letter.isalnum() else "-" for letter in title)
    with closing(a.open()) as first, closing(b.open()) as second:
        result = match(
            first,
            second,
            games=games,
            game=table["game"],
            openings=Openings(plies=table["opening_moves"]),
            record=args.work / f"{file}.jsonl",
            on_progress=show,
        )
    say("")
    print(f"{title}: +{result.wins} ={result.draws} -{result.losses}", flush=True)
    return result


def measured(
    table: dict[str, Any], rungs: list[Rung], results: dict[Duel, MatchResult]
) -> dict[str, Any]:
    """Return the table with the results of all matches."""
    fit = ratings(
        Pairing(
            player=duel.a, opponent=duel.b, wins=result.wins, draws=result.draws,
            losses=result.losses,
        )
        for duel, result in results.items()
    )  # fmt: skip
    levels = []
    for index, row in enumerate(table["levels"]):
        games = sum(r.games for duel, r in results.items() if index in (duel.a, duel.b))
        row = row | _elo(fit.get(index)) | {"games": games}
        below = results.get(Duel(index, index - 1))
        levels.append(row if below is None else row | {"below": _counts(below)})
    opponents = [
        {"name": _TITLES[rungs[index].name], **_elo(fit.get(index)), **_against(index, results)}
        for index in range(len(levels), len(rungs))
        if fit.get(index) is not None
    ]
    return {**table, "levels": levels, **({"opponents": opponents} if opponents else {})}


def _elo(rating: Rating | None) -> dict[str, Any]:
    if rating is None:
        return {}
    low, high = rating.interval
    return {"elo": round(rating.elo), "interval": [round(low), round(high)]}


def _against(opponent: int, results: dict[Duel, MatchResult]) -> dict[str, str]:
    """Return the results of the levels that played an opponent."""
    return {
        f"level_{duel.a + 1}": _counts(result)
        for duel, result in results.items()
        if duel.b == opponent
    }


def _counts(result: MatchResult) -> str:
    return f"+{result.wins} ={result.draws} -{result.losses}"


def measure(key: str, table: dict[str, Any], args: argparse.Namespace) -> dict[str, Any]:
    """Play all matches of a game; return its table with the results."""
    rungs, duels = ladder(table, args.threads)
    results: dict[Duel, MatchResult] = {}
    for duel in duels:
        try:
            results[duel] = play(key, table, duel, rungs, args)
        except pyengine.EngineError as error:  # for example, GNU Go is not installed
            say("")
            print(f"{key}: {rungs[duel.b].name}: not measured: {error}", file=sys.stderr)
    return measured(table, rungs, results)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status."""
    tables = manifest.read(FILE)
    parser = argparse.ArgumentParser(description="Measure the levels of play.")
    parser.add_argument("--game", action="append", choices=sorted(tables), help="default: all")
    parser.add_argument("--games", type=whole, default=100, help="per match (default 100)")
    parser.add_argument("--threads", type=whole, default=2, help="search threads (default 2)")
    parser.add_argument("--work", type=Path, default=WORK, help="folder of records")
    parser.add_argument("--dry-run", action="store_true", help="do not write levels.toml")
    args = parser.parse_args(arguments)
    try:
        for key in args.game or tables:
            table = measure(key, tables[key], args)
            for level in _summary(table):
                print(level, flush=True)
            if not args.dry_run:
                manifest.update(FILE, key, table, HEADER)
    except KeyboardInterrupt:
        say("")
        print("stopped: run the same command to resume", file=sys.stderr)
        return 130
    return 0


def _summary(table: dict[str, Any]) -> Iterator[str]:
    for row in (*table["levels"], *table.get("opponents", ())):
        low, high = row.get("interval", ("?", "?"))
        yield f"  {row['name']:<14} {row.get('elo', '?'):>6} [{low}, {high}]"


if __name__ == "__main__":
    sys.exit(main())
