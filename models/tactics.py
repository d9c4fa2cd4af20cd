"""Measure how often searches find the right move in third-party positions.

    python models/tactics.py                 # the whole table; run it again to resume after Ctrl-C
    python models/tactics.py --only values --quick

Positions of GNU Go, Fuego and Renju puzzles and the network ``go9x9_pyaq`` are in ``../shared`` or
``$PYENGINE_SHARED``. The right moves are human opinions, so only the rate is meaningful, not a
single case.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from measure.context import ROOT, Context
from measure.findings import Finding, share
from measure.positions import Case, go_moves, go_values, gomoku_wins

import pyengine

__all__ = ["SETS", "Player", "main", "measure"]

WORK = ROOT / "build" / "tactics"
_GO = "go9x9_pyaq"
_GOMOKU = ROOT / "models" / "gomoku.onnx"


@dataclass(frozen=True)
class Player:
    """A search: playouts by UCT, or a network by PUCT."""

    name: str
    simulations: int
    network: str | None = None

    def engine(self, game: str, context: Context) -> pyengine.Engine:
        """Return an engine that searches one position at a time."""
        loaded = pyengine.load_game(game)
        settings: dict[str, Any] = {
            "simulations": self.simulations,
            "threads": context.threads,
            "reuse_tree": False,
            "seed": context.seed,
        }
        if self.network is None:
            return pyengine.Engine(loaded, "rollout", algorithm="uct", **settings)
        evaluator = context.opponent(_GO) if self.network == _GO else str(_GOMOKU)
        return pyengine.Engine(loaded, evaluator, **settings)


@dataclass(frozen=True)
class Set:
    """Positions and the searches to measure on them."""

    cases: Callable[[Path], Iterable[Case]]
    players: tuple[Player, ...]


_UCT = (Player("UCT", 10_000), Player("UCT", 100_000))
_PYAQ = tuple(Player(_GO, simulations, _GO) for simulations in (100, 1_000, 10_000))
SETS = {
    "moves": Set(go_moves, (*_PYAQ[:2], _UCT[0], _PYAQ[2], _UCT[1])),
    "values": Set(go_values, (*_UCT, *_PYAQ)),
    "gomoku": Set(
        gomoku_wins, (*_UCT, Player("gomoku", 1_000, "gomoku"), Player("gomoku", 10_000, "gomoku"))
    ),
}


def measure(name: str, player: Player, context: Context) -> Finding:
    """Return how often a search finds the solution; results are saved after each position."""
    cases = context.some(list(SETS[name].cases(context.shared)))
    title = f"{name}: {player.name}, {player.simulations:,} simulations"
    context.work.mkdir(parents=True, exist_ok=True)
    file = context.work / f"{name}-{player.name}-{player.simulations}-{context.seed}.jsonl"
    known = dict(map(json.loads, file.read_text().splitlines())) if file.exists() else {}
    with file.open("a") as record:
        for number, case in enumerate(cases):
            if case.name in known:
                continue
            context.say(f"{title}: {number} of {len(cases)}")
            with closing(player.engine(case.game, context)) as engine:
                known[case.name] = case.passed(engine.search(case.state))
            record.write(json.dumps([case.name, known[case.name]]) + "\n")
            record.flush()
    return share(title, [known[case.name] for case in cases])


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status."""
    parser = argparse.ArgumentParser(description="Measure searches on third-party positions.")
    parser.add_argument("--only", choices=tuple(SETS), help="one set of positions")
    parser.add_argument("--most", type=int, help="skip searches of more simulations")
    parser.add_argument("--quick", action="store_true", help="a tenth of the positions")
    parser.add_argument("--threads", type=int, default=1, help="search threads (default 1)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--work", type=Path, default=WORK, help="folder of saved results")
    args = parser.parse_args(arguments)
    shared = Path(os.environ.get("PYENGINE_SHARED", ROOT.parent / "shared"))
    context = Context(
        work=args.work, shared=shared, quick=args.quick, threads=args.threads, seed=args.seed
    )
    try:
        for name, positions in SETS.items():
            for player in positions.players:
                if args.only not in (None, name):
                    continue
                if args.most is not None and player.simulations > args.most:
                    continue
                finding = measure(name, player, context)
                context.say("")
                print(finding, flush=True)
    except pyengine.EngineError as error:
        context.say("")
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        context.say("")
        print("stopped: run the same command to resume", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
