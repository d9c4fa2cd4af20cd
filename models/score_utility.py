"""Measure the points gained and the wins lost by score utility.

    python models/score_utility.py models/go9.onnx      # run it again to resume after Ctrl-C

A Go network plays its copy whose value counts points (``pyengine convert score-utility``) from
random openings, with both colours. Margins are area scores of the final boards; all stones count as
alive, as in the rules.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
from collections import defaultdict
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from measure.context import ROOT, Context, network
from measure.student import student

import pyengine
from pyengine.base.files import sha256_of
from pyengine.conversion.score_utility import POINTS, with_score_utility
from pyengine.games.go_area import area
from pyengine.match import GameRecord, MatchResult

__all__ = ["main", "margin", "report"]

WORK = ROOT / "build" / "score_utility"


def margin(game: pyengine.Game, played: GameRecord) -> float:
    """Return the lead in points of the first player of the match at the end of a game."""
    state = game.new_initial_state([*played.opening, *played.moves])
    first, second = area(state)
    ahead = first - second - float(game.params["komi"])
    return ahead if played.a_plays == 0 else -ahead


def report(game: pyengine.Game, result: MatchResult) -> str:
    """Return the gains and losses of the copy, the first player of the match."""
    low, high = result.score_interval
    pairs: dict[int, list[float]] = defaultdict(list)
    for played in result.records:
        pairs[played.pair].append(margin(game, played))
    means = [statistics.fmean(margins) for margins in pairs.values()]
    mean, width = statistics.fmean(means), math.inf
    if len(means) > 1:
        width = student(len(means) - 1) * statistics.stdev(means) / math.sqrt(len(means))
    lines = [
        f"score of the copy: {result.score:.1%} [{low:.1%}, {high:.1%}] of {result.games} games",
        f"points ahead: {mean:+.2f} [{mean - width:+.2f}, {mean + width:+.2f}], by pairs",
    ]
    for name, sign in (("wins of the copy", 1), ("wins of the network", -1)):
        won = [sign * margin(game, r) for r in result.records if r.result == sign]
        if won:
            lines.append(f"{name}: {len(won)}, by {statistics.fmean(won):.1f} points on average")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status."""
    parser = argparse.ArgumentParser(description="Measure score utility.")
    parser.add_argument("model", type=Path, metavar="MODEL.onnx", help="a network with a score")
    parser.add_argument("--game", default="go(board_size=9,komi=7)", help="a game of Go")
    parser.add_argument("--weight", type=float, default=0.1, help="score's weight (default 0.1)")
    parser.add_argument("--points", type=float, default=POINTS, help="lead worth half the weight")
    parser.add_argument("--games", type=int, default=400, help="games of the match (default 400)")
    parser.add_argument("--simulations", type=int, default=100, help="per move (default 100)")
    parser.add_argument("--threads", type=int, default=1, help="search threads (default 1)")
    parser.add_argument("--work", type=Path, default=WORK, help="folder of match records")
    args = parser.parse_args(arguments)
    if not args.model.is_file():
        parser.error(f"{args.model} does not exist")
    try:
        print(report(*_played(args)))
    except KeyboardInterrupt:
        print("stopped: run the same command to resume", file=sys.stderr)
        return 130
    except pyengine.EngineError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def _played(args: argparse.Namespace) -> tuple[pyengine.Game, MatchResult]:
    """Play the match; return its game and result."""
    game = pyengine.load_game(args.game)
    if game.name != "go":
        raise pyengine.ConfigError(f"expected a game of Go, got {game}")
    words = (sha256_of(args.model)[:16], args.weight, args.points, args.simulations, game)
    name = "".join(letter if letter.isalnum() else "-" for letter in " ".join(map(str, words)))
    context = Context(work=args.work / name, shared=ROOT, threads=args.threads)
    context.work.mkdir(parents=True, exist_ok=True)  # for the copy
    copy = context.work / "copy.onnx"
    with_score_utility(args.model, copy, weight=args.weight, points=args.points)
    with (
        closing(context.engine(game, network(copy), args.simulations)) as ours,
        closing(context.engine(game, network(args.model), args.simulations)) as theirs,
    ):
        result = context.played("games", ours, theirs, args.games)
    context.say("")
    return game, result


if __name__ == "__main__":
    sys.exit(main())
