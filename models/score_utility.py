"""Measure what the utility of the score gains in points and costs in wins.

    python models/score_utility.py models/go9.onnx      # Ctrl-C, and it goes on

A network of Go plays its copy whose value counts points (``pyengine convert score-utility``) from
random openings, each with both colours. Margins are points of area when a game ends, all stones
alive, as the rules count them.
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
    """Return by how many points the first player of the match is ahead when a game ends."""
    state = game.new_initial_state([*played.opening, *played.moves])
    first, second = area(state.board_rows())
    ahead = first - second - float(game.params["komi"])
    return ahead if played.a_plays == 0 else -ahead


def report(game: pyengine.Game, result: MatchResult) -> str:
    """Return what the copy, the first player of the match, gained and lost."""
    low, high = result.score_interval
    pairs: dict[int, list[float]] = defaultdict(list)
    for played in result.records:
        pairs[played.pair].append(margin(game, played))
    means = [statistics.fmean(each) for each in pairs.values()]
    mean, width = statistics.fmean(means), math.inf
    if len(means) > 1:
        width = student(len(means) - 1) * statistics.stdev(means) / math.sqrt(len(means))
    lines = [
        f"score of the copy: {result.score:.1%} [{low:.1%}, {high:.1%}] of {result.games} games",
        f"points ahead: {mean:+.2f} [{mean - width:+.2f}, {mean + width:+.2f}], by pairs of games",
    ]
    for name, sign in (("wins of the copy", 1), ("wins of the network", -1)):
        won = [sign * margin(game, each) for each in result.records if each.result == sign]
        if won:
            lines.append(f"{name}: {len(won)}, by {statistics.fmean(won):.1f} points on average")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status."""
    parser = argparse.ArgumentParser(description="Measure the utility of the score.")
    parser.add_argument("model", type=Path, metavar="MODEL.onnx", help="a network with a score")
    parser.add_argument("--game", default="go(board_size=9,komi=7)", help="of Go")
    parser.add_argument("--weight", type=float, default=0.1, help="of the score (default 0.1)")
    parser.add_argument("--points", type=float, default=POINTS, help="worth half of the weight")
    parser.add_argument("--games", type=int, default=400, help="of the match (default 400)")
    parser.add_argument("--simulations", type=int, default=100, help="of a move (default 100)")
    parser.add_argument("--threads", type=int, default=1, help="of the searches (default 1)")
    parser.add_argument("--work", type=Path, default=WORK, help="folder of what is kept")
    args = parser.parse_args(arguments)
    if not args.model.is_file():
        parser.error(f"expected an ONNX file, found no {args.model}")
    try:
        print(report(*_played(args)))
    except KeyboardInterrupt:
        print("stopped; the same command goes on from here", file=sys.stderr)
        return 130
    except pyengine.EngineError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def _played(args: argparse.Namespace) -> tuple[pyengine.Game, MatchResult]:
    """Play the match; return its game and what is found."""
    game = pyengine.load_game(args.game)
    if game.name != "go":
        raise pyengine.ConfigError(f"expected a game of Go, found {game}")
    words = (sha256_of(args.model)[:16], args.weight, args.points, args.simulations, game)
    name = "".join(letter if letter.isalnum() else "-" for letter in " ".join(map(str, words)))
    context = Context(work=args.work / name, shared=ROOT, threads=args.threads)
    context.work.mkdir(parents=True, exist_ok=True)  # the copy comes before the match
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
