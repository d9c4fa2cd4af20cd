"""Measure a rollout policy: playouts by it against uniform ones, at equal time.

    python models/rollouts.py runs/alphago9/rollout_policy.npz
    python models/rollouts.py policy.npz --simulations 20000 --games 400

Both sides search with one thread and one playout a leaf: by UCT or, where --priors says so, by PUCT
with the policy's probabilities as priors. The times of a search are taken in turns on the same
positions; the side with uniform playouts gets --simulations, the other as many as take as long. So
the match itself depends on no clock, and goes on where it was stopped.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from statistics import median

import numpy as np
from measure.arguments import above_0, whole
from measure.context import ROOT, Context

import pyengine

__all__ = ["main", "time_ratio"]

WORK = ROOT / "build" / "rollouts"
_GAME = "go(board_size=9,komi=7.0,superko=simple)"
_POSITIONS = 15  # that are timed
_TIMED = 2000  # simulations of a search that is timed
_PLIES = 4  # random ones at the beginning of a game


def _positions(game: pyengine.Game) -> list[pyengine.State]:
    """Positions of random games, from the beginning to late."""
    rng = np.random.default_rng(0)
    found = []
    for number in range(_POSITIONS):
        state = game.new_initial_state()
        for _ in range(4 * number):
            state.apply_action(int(rng.choice(state.legal_actions()[:-1])))
        found.append(state)
    return found


def time_ratio(a: pyengine.Engine, b: pyengine.Engine) -> float:
    """Return how much longer a's searches take than b's: the median over positions, in turns."""

    def seconds(engine: pyengine.Engine, state: pyengine.State) -> float:
        begun = time.perf_counter()
        engine.search(state, simulations=_TIMED)
        return time.perf_counter() - begun

    positions = _positions(a.game)
    return median(seconds(a, state) / seconds(b, state) for state in positions)


def _engine(
    game: pyengine.Game, evaluator: pyengine.Evaluator, n: int, seed: int
) -> pyengine.Engine:
    return pyengine.Engine(
        game,
        evaluator,
        algorithm="puct" if isinstance(evaluator, pyengine.MixedEvaluator) else "uct",
        simulations=n,
        threads=1,
        batch_size=1,
        reuse_tree=False,
        seed=seed,
    )


def _with_priors(
    policy: pyengine.RolloutPolicy, rollouts: pyengine.Evaluator
) -> pyengine.Evaluator:
    return pyengine.MixedEvaluator(pyengine.PolicyEvaluator(policy), rollouts, mix=1)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status: 1 = not shown to be stronger, 2 = an error."""
    parser = argparse.ArgumentParser(description="Playouts by a policy against uniform ones.")
    parser.add_argument("policy", type=Path, metavar="POLICY.npz")
    parser.add_argument("--game", default=_GAME, help=f"default {_GAME}")
    parser.add_argument("--simulations", type=whole, default=10_000, help="with uniform playouts")
    parser.add_argument(
        "--priors",
        choices=("neither", "policy", "both"),
        default="neither",
        help="the side whose tree has the policy's priors (default neither)",
    )
    parser.add_argument("--games", type=whole, default=200)
    parser.add_argument("--ratio", type=above_0, help="of times, instead of measuring it")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--work", type=Path, default=WORK, help="folder of the matches' records")
    parser.add_argument("--json", action="store_true", help="for programs")
    args = parser.parse_args(arguments)
    try:
        return _measured(args)
    except pyengine.EngineError as error:
        print(error, file=sys.stderr)
        return 2


def _measured(args: argparse.Namespace) -> int:
    """Measure and print; return the exit status."""
    game = pyengine.load_game(args.game)
    policy = pyengine.RolloutPolicy.load(args.policy)
    n = args.simulations
    by_policy: pyengine.Evaluator = pyengine.RolloutEvaluator(policy=policy)
    uniform: pyengine.Evaluator = pyengine.RolloutEvaluator()
    if args.priors != "neither":
        by_policy = _with_priors(policy, by_policy)
    if args.priors == "both":
        uniform = _with_priors(policy, uniform)
    ratio = args.ratio
    if ratio is None:
        with (
            closing(_engine(game, by_policy, n, args.seed)) as a,
            closing(_engine(game, uniform, n, args.seed)) as b,
        ):
            ratio = time_ratio(a, b)
    fewer = max(1, round(n / ratio))
    context = Context(work=args.work / policy.digest, shared=ROOT.parent / "shared", seed=args.seed)
    name = (
        f"{fewer:,} simulations by the policy against {n:,} by uniform playouts, "
        f"its priors: {args.priors}"
    )
    with (
        closing(_engine(game, by_policy, fewer, args.seed)) as a,
        closing(_engine(game, uniform, n, args.seed)) as b,
    ):
        try:
            found = context.play(name, a, b, args.games, plies=_PLIES, more_than=0.5)
        except KeyboardInterrupt:
            context.say("")
            print(f"stopped; --ratio {ratio:.3f} goes on from here", file=sys.stderr)
            return 130
    context.say("")
    shown = found.interval is not None and found.interval[0] > 0.5
    if args.json:
        print(json.dumps({**found.to_dict(), "ratio": round(ratio, 3)}, indent=1))
    else:
        print(f"{found}; a search by the policy takes {ratio:.2f} times as long")
    return 0 if shown else 1


if __name__ == "__main__":
    sys.exit(main())
