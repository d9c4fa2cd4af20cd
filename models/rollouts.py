"""Measure a rollout policy: its playouts against uniform ones, at equal time.

    python models/rollouts.py runs/alphago9/rollout_policy.npz
    python models/rollouts.py policy.npz --simulations 20000 --games 400

Both sides search with one thread and one playout per leaf, by UCT or, with --priors, by PUCT with
the policy's probabilities as priors. The side with uniform playouts gets --simulations, the other
the number of simulations that takes the same time, measured first on the same positions. The match
itself depends on no clock and can be resumed.
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
from pyengine.eval import Evaluator, PolicyEvaluator, RolloutPolicy

__all__ = ["main", "time_ratio"]

WORK = ROOT / "build" / "rollouts"
_GAME = "go(board_size=9,komi=7.0,superko=simple)"
_POSITIONS = 15  # timed positions
_TIMED = 2000  # simulations per timed search
_PLIES = 4  # random moves per opening


def _positions(game: pyengine.Game) -> list[pyengine.State]:
    """Return positions of random games, from early to late."""
    rng = np.random.default_rng(0)
    positions = []
    for number in range(_POSITIONS):
        state = game.new_initial_state()
        for _ in range(4 * number):
            state.apply_action(int(rng.choice(state.legal_actions()[:-1])))
        positions.append(state)
    return positions


def time_ratio(a: pyengine.Engine, b: pyengine.Engine) -> float:
    """Return the median ratio of the search times of a and b, measured alternately."""

    def seconds(engine: pyengine.Engine, state: pyengine.State) -> float:
        start = time.perf_counter()
        engine.search(state, simulations=_TIMED)
        return time.perf_counter() - start

    positions = _positions(a.game)
    return median(seconds(a, state) / seconds(b, state) for state in positions)


def _engine(game: pyengine.Game, evaluator: Evaluator, n: int, seed: int) -> pyengine.Engine:
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


def _with_priors(policy: RolloutPolicy, rollouts: Evaluator) -> Evaluator:
    return pyengine.MixedEvaluator(PolicyEvaluator(policy), rollouts, mix=1)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status: 1 = not shown to be stronger, 2 = an error."""
    parser = argparse.ArgumentParser(description="Compare playouts by a policy with uniform ones.")
    parser.add_argument("policy", type=Path, metavar="POLICY.npz")
    parser.add_argument("--game", default=_GAME, help=f"default {_GAME}")
    parser.add_argument("--simulations", type=whole, default=10_000, help="for the uniform side")
    parser.add_argument(
        "--priors",
        choices=("neither", "policy", "both"),
        default="neither",
        help="which side uses the policy as priors (default neither)",
    )
    parser.add_argument("--games", type=whole, default=200)
    parser.add_argument("--ratio", type=above_0, help="ratio of times (default: measured)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--work", type=Path, default=WORK, help="folder of match records")
    parser.add_argument("--json", action="store_true", help="print JSON")
    args = parser.parse_args(arguments)
    try:
        return _measured(args)
    except pyengine.EngineError as error:
        print(error, file=sys.stderr)
        return 2


def _measured(args: argparse.Namespace) -> int:
    """Measure and print; return the exit status."""
    game = pyengine.load_game(args.game)
    policy = RolloutPolicy.load(args.policy)
    n = args.simulations
    by_policy: Evaluator = pyengine.RolloutEvaluator(policy=policy)
    uniform: Evaluator = pyengine.RolloutEvaluator()
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
            finding = context.play(name, a, b, args.games, plies=_PLIES, more_than=0.5)
        except KeyboardInterrupt:
            context.say("")
            print(f"stopped: resume with --ratio {ratio:.3f}", file=sys.stderr)
            return 130
    context.say("")
    stronger = finding.interval is not None and finding.interval[0] > 0.5
    if args.json:
        print(json.dumps({**finding.to_dict(), "ratio": round(ratio, 3)}, indent=1))
    else:
        print(f"{finding}; a search by the policy takes {ratio:.2f} times as long")
    return 0 if stronger else 1


if __name__ == "__main__":
    sys.exit(main())
