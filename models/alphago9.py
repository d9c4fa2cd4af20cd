"""The AlphaGo pipeline on 9x9: two networks, a rollout policy, and the search that combines them.

    python models/alphago9.py --directory runs/alphago9
    python models/alphago9.py --directory /tmp/try --quick     # all stages in a minute

Each stage writes a product to the directory and is skipped if the product exists:

    games/                shards of games by the teacher, a search with a third-party network
    policy_sl.onnx        a policy network trained on the moves of these games
    policy_rl.onnx        the same, improved by policy gradient against earlier versions of itself
    rollout_policy.npz    a fast rollout policy, fitted to the same games
    value_games/          games of the reinforced policy, one position per game
    value.onnx            a value network trained on their results
    table.md              each step against the previous one and GNU Go, and the choice of lambda

Ctrl-C stops the run; the same command resumes it. Needs the extra ``train`` and, for the table,
GNU Go 3.8 (``apt-get install gnugo``). The teacher is in ``../shared`` or ``$PYENGINE_SHARED``.
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
    """A stage of the run and its product, a file or a folder."""

    product: str
    make: Callable[[Run], None]

    def done(self, run: Run) -> bool:
        """Return whether the product exists."""
        path = run.path(self.product)
        return (path / "complete").exists() if self.product.endswith("/") else path.exists()


def games(run: Run) -> None:
    """Play the teacher's games."""
    settings, out = run.settings, run.path("games")
    existing = pyengine.Dataset(out).games if (out / MANIFEST).exists() else 0
    if existing < settings.teacher_games:
        search = pyengine.SearchConfig(
            simulations=settings.teacher_simulations, threads=run.threads
        )
        config = pyengine.SelfPlayConfig(
            search=search,
            resign_threshold=None,  # dead stones must be captured before the game is scored
            seed=settings.seed,
        )
        pyengine.selfplay(
            run.game,
            network(run.teacher),
            games=settings.teacher_games - existing,
            out=out,
            config=config,
            spec=settings.spec,
            on_progress=lambda progress: run.say(
                f"games: {existing + progress.games:,} of {settings.teacher_games:,}"
            ),
        )
    (out / "complete").touch()


def supervised(run: Run) -> None:
    """Train the policy network on the moves of the games."""
    steps = run.settings.policy_steps
    learn(run, run.path("games"), "policy_sl", "alphago_zero", steps, value_weight=0.0)


def reinforced(run: Run) -> None:
    """Improve the policy network by policy gradient."""
    reinforce(run, run.path("policy_sl.pt"), "policy_rl")


def rollouts(run: Run) -> None:
    """Fit the rollout policy to the moves of the games."""

    def show(progress: RolloutFitProgress) -> None:
        run.say(f"rollout policy: epoch {progress.epoch} of {progress.epochs}")

    fit = rollout_policy(
        run.path("games"),
        run.path("rollout_policy.npz"),
        seed=run.settings.seed,
        on_progress=show,
    )
    run.say("")
    print(f"rollout policy: {fit}", flush=True)


def value_games(run: Run) -> None:
    """Play the games that train the value network."""
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
    """Train the value network."""
    learn(run, run.path("value_games"), "value", "value", run.settings.value_steps, 1.0)


def strength(run: Run) -> None:
    """Write the table."""
    rows = []
    for row in measure(run):
        rows.append(row)
        run.say("")
        print(row[2], flush=True)
    run.path("table.md").write_text(table(rows))


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
    parser = argparse.ArgumentParser(description="Run the AlphaGo pipeline on 9x9.")
    parser.add_argument("--directory", type=Path, required=True, help="folder of the run")
    parser.add_argument("--teacher", type=Path, default=_TEACHER, help="ONNX of a stronger player")
    parser.add_argument("--quick", action="store_true", help="a small run that tests all stages")
    parser.add_argument(
        "--scale", type=float, default=1.0, help="factor for games and steps (0.1 = a tenth)"
    )
    parser.add_argument("--blocks", type=whole, help="blocks of both networks")
    parser.add_argument("--filters", type=whole, help="filters of both networks")
    parser.add_argument("--match-games", type=whole, help="games per match of the table")
    parser.add_argument("--match-simulations", type=whole, help="simulations per move of the table")
    parser.add_argument("--gnugo-level", type=whole, help="1 to 10 (default 10)")
    parser.add_argument(
        "--threads", type=whole, default=1, help="threads of searches and PyTorch (default 1)"
    )
    parser.add_argument("--until", metavar="PRODUCT", help="the last stage, such as value.onnx")
    args = parser.parse_args(arguments)
    products = [stage.product for stage in STAGES]
    if args.until is not None and args.until not in products:
        parser.error(f"--until must be one of {', '.join(products)}, got {args.until}")
    if not 0 < args.scale <= 100:
        parser.error(f"--scale must be above 0 and at most 100, got {args.scale}")
    if not args.teacher.is_file():
        parser.error(f"the teacher {args.teacher} does not exist")
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
                print(f"{stage.product} exists", flush=True)
            else:
                print(f"{stage.product} ...", flush=True)
                stage.make(run)
                run.say("")
            if stage.product == args.until:
                break
    except KeyboardInterrupt:
        run.say("")
        print("stopped: run the same command to resume", file=sys.stderr)
        return 130
    except (pyengine.EngineError, OSError) as error:
        run.say("")
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
