"""AlphaGo's whole way on 9x9, in one command: two networks, a rollout policy, and their search.

    python models/alphago9.py --directory runs/alphago9
    python models/alphago9.py --directory /tmp/try --quick     # every stage, in a minute

Stages, each of which leaves a product in the directory and is skipped where that is there:

    games/                shards: games of a stronger player, by search with a network of others
    policy_sl.onnx        a policy network that learnt these games' moves
    policy_rl.onnx        the same, improved by policy gradient against earlier versions of itself
    rollout_policy.npz    a fast rollout policy, learnt from the same games
    value_games/          games of the reinforced policy, one position of each
    value.onnx            a value network that learnt their results
    table.md              each step against the one before and against GNU Go, and lambda

Ctrl-C at any time; the same command goes on. Needs the extra ``train``, and for the table GNU Go
3.8 (``apt-get install gnugo``). The teacher is looked for in ``../shared`` or ``$PYENGINE_SHARED``.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from alphago.folder import Run
from alphago.learning import learn
from alphago.reinforce import reinforce
from alphago.settings import MATCHES, QUICK, Settings
from alphago.strength import measure, table
from alphago.value_games import play_value_games
from measure.arguments import whole
from measure.context import ROOT, network

import pyengine
from pyengine.data.manifest import MANIFEST
from pyengine.train import RolloutFitProgress, rollout_policy

__all__ = ["STAGES", "main"]

_SHARED = Path(os.environ.get("PYENGINE_SHARED", ROOT.parent / "shared"))
_TEACHER = _SHARED / "nets" / "go9x9_pyaq.onnx"


@dataclass(frozen=True)
class Stage:
    """A stage: what it leaves in the folder, and what makes it."""

    product: str
    make: Callable[[Run], None]

    def done(self, run: Run) -> bool:
        """Return whether its product is there."""
        path = run.path(self.product)
        return (path / "complete").exists() if self.product.endswith("/") else path.exists()


def games(run: Run) -> None:
    """Self-play of the teacher."""
    settings, out = run.settings, run.path("games")
    there = pyengine.Dataset(out).games if (out / MANIFEST).exists() else 0
    if there < settings.teacher_games:
        search = pyengine.SearchConfig(
            simulations=settings.teacher_simulations, threads=run.threads
        )
        config = pyengine.SelfPlayConfig(
            search=search,
            resign_threshold=None,  # to the end: the dead have to be captured
            seed=settings.seed,
        )
        pyengine.selfplay(
            run.game,
            network(run.teacher),
            games=settings.teacher_games - there,
            out=out,
            config=config,
            spec=settings.spec,
            on_progress=lambda told: run.say(
                f"games: {there + told.games:,} of {settings.teacher_games:,}"
            ),
        )
    (out / "complete").touch()


def supervised(run: Run) -> None:
    """The policy network, by the moves of the games."""
    steps = run.settings.policy_steps
    learn(run, run.path("games"), "policy_sl", "alphago_zero", steps, value_weight=0.0)


def reinforced(run: Run) -> None:
    """The policy network, by its own games."""
    reinforce(run, run.path("policy_sl.pt"), "policy_rl")


def rollouts(run: Run) -> None:
    """The rollout policy, by the moves of the games."""

    def show(told: RolloutFitProgress) -> None:
        run.say(f"rollout policy: epoch {told.epoch} of {told.epochs}")

    fit = rollout_policy(
        run.path("games"),
        run.path("rollout_policy.npz"),
        seed=run.settings.seed,
        on_progress=show,
    )
    run.say("")
    print(f"rollout policy: {fit}", flush=True)


def value_games(run: Run) -> None:
    """Positions with results, one a game."""
    policies = [
        pyengine.OnnxEvaluator(run.path(f"{name}.onnx"), providers=["cpu"], threads=run.threads)
        for name in ("policy_sl", "policy_rl")
    ]
    play_value_games(
        run,
        "value_games",
        lambda states: policies[0].evaluate(states)[0],
        lambda states: policies[1].evaluate(states)[0],
    )
    (run.path("value_games") / "complete").touch()


def value(run: Run) -> None:
    """The value network."""
    learn(run, run.path("value_games"), "value", "value", run.settings.value_steps, 1.0)


def strength(run: Run) -> None:
    """The table."""
    rows = []
    for row in measure(run):
        rows.append(row)
        run.say("")
        print(row[2], flush=True)
    run.path("table.md").write_text(table(rows))


#: In the order of the run.
STAGES = (
    Stage("games/", games),
    Stage("policy_sl.onnx", supervised),
    Stage("policy_rl.onnx", reinforced),
    Stage("rollout_policy.npz", rollouts),
    Stage("value_games/", value_games),
    Stage("value.onnx", value),
    Stage("table.md", strength),
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status."""
    parser = argparse.ArgumentParser(description="AlphaGo's whole way on 9x9.")
    parser.add_argument("--directory", type=Path, required=True, help="of the run")
    parser.add_argument("--teacher", type=Path, default=_TEACHER, help="ONNX of a stronger player")
    parser.add_argument("--quick", action="store_true", help="small sizes: whether all stages work")
    parser.add_argument(
        "--scale", type=float, default=1.0, help="of the games and steps (0.1: a tenth of them)"
    )
    parser.add_argument("--blocks", type=whole, help="of both networks")
    parser.add_argument("--filters", type=whole, help="of both networks")
    parser.add_argument("--match-games", type=whole, help="of each match of the table")
    parser.add_argument("--match-simulations", type=whole, help="a move of its searches")
    parser.add_argument("--gnugo-level", type=whole, help="1 to 10 (default)")
    parser.add_argument(
        "--threads", type=whole, default=1, help="of searches and PyTorch (default 1)"
    )
    parser.add_argument("--until", metavar="PRODUCT", help="the last stage, such as value.onnx")
    args = parser.parse_args(arguments)
    products = [stage.product for stage in STAGES]
    if args.until is not None and args.until not in products:
        parser.error(f"--until must be one of {', '.join(products)}, found {args.until}")
    if not 0 < args.scale <= 100:
        parser.error(f"--scale must be above 0 and at most 100, found {args.scale}")
    if not args.teacher.is_file():
        parser.error(f"expected the teacher's ONNX file, found no {args.teacher}")
    settings = (QUICK if args.quick else Settings()).scaled(args.scale)
    options = {
        "blocks": args.blocks,
        "filters": args.filters,
        "match_games": args.match_games,
        "simulations": args.match_simulations,
        "gnugo_level": args.gnugo_level,
    }
    chosen = {name: value for name, value in options.items() if value is not None}
    other_matches = not MATCHES.isdisjoint(chosen)
    run = Run(
        folder=args.directory,
        settings=replace(settings, **chosen),
        teacher=args.teacher,
        threads=args.threads,
    )
    try:
        run.begin()
        for stage in STAGES:
            if stage.done(run) and not (other_matches and stage is STAGES[-1]):
                print(f"{stage.product} is there", flush=True)
            else:
                print(f"{stage.product} ...", flush=True)
                stage.make(run)
                run.say("")
            if stage.product == args.until:
                break
    except KeyboardInterrupt:
        run.say("")
        print("stopped; the same command goes on from here", file=sys.stderr)
        return 130
    except (pyengine.EngineError, OSError) as error:
        run.say("")
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
