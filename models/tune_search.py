"""Tune the defaults of exploration: c_puct, c_puct_base, c_puct_factor, fpu and fpu_value.

    python models/tune_search.py                               # run it again to resume after Ctrl-C
    python models/tune_search.py --candidate c_puct=1.1 fpu_value=0.2      # only the matches

Needs Optuna (``pip install optuna``).

Matches are too noisy an objective: with 200 games the score of a setting has a standard error of
3 %, more than most settings differ by. So the optimiser sees positions instead. In positions from
games of three games, each setting searches with a small and a larger budget. Where its move differs
from that of the present defaults, a far larger search values both moves, or the solver where it is
fast. The mean difference, times the choices that a player has in a game, estimates the score
against the defaults (the performance difference lemma, Kakade and Langford, 2002). The estimate is
cheap because all settings search the same positions, so that the cache answers nearly all
evaluations, and values are saved. It has little noise because the same moves always get the same
values.

The values come from two searches, one at each end of the tuned range, so that they favour neither.
They share the network's errors with the tuned searches; matches do not, and decide in the end:

1. Trials: Optuna's TPE sampler maximises the mean gain over games and budgets. Trials that are
   worse than the median after the small budget are pruned.
2. Finalists: the best trials choose moves in positions that no trial has seen.
3. Matches: the best finalist, or ``--candidate``, plays the defaults at each budget.

Only settings that win the matches with 95 % confidence should become defaults.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import optuna
from measure.arguments import whole
from measure.context import ROOT, Progress
from measure.regret import GAMES, SERIAL, Contest, Reference

import pyengine
from pyengine.benchmarks.matches import balanced_openings
from pyengine.cli.options import search_settings
from pyengine.match import MatchResult, match
from pyengine.match.interval import score_interval

Settings = dict[str, Any]

WORK = ROOT / "build" / "tune_search"
_FINALISTS = 6
_GAMES = 120  # from which the positions are drawn
_QUICK_GAMES = 2
_STARTUP = 15  # random trials, before any is pruned


@dataclass(frozen=True)
class Budget:
    """A search budget.

    Attributes:
        simulations: of each search.
        positions: number of positions per game in which a trial chooses moves.
        reference: simulations of the searches that value these moves.
        games: in the match in each game.
    """

    simulations: int
    positions: int
    reference: int
    games: int


BUDGETS = (Budget(100, 1500, 1000, 400), Budget(800, 300, 6400, 200))
QUICK = (Budget(8, 10, 16, 4), Budget(16, 5, 32, 4))

_LOWEST = {"reduction": 0.6, "value": -1.0}  # fpu_value at low=1; 0 at low=0
#: parameters of the first trials: AlphaZero's pseudocode and lc0, after the defaults
_KNOWN = (
    {"c_puct": 2.5, "c_puct_factor": 2.0, "c_puct_base": 19652, "fpu": "value", "low": 1.0},
    {"c_puct": 1.745, "c_puct_factor": 3.0, "c_puct_base": 38739, "fpu": "reduction", "low": 0.55},
)

say = Progress()


def suggest(trial: optuna.Trial) -> Settings:
    """Return the settings of a trial. ``low`` is how pessimistic its first-play value is."""
    settings: Settings = {
        "c_puct": trial.suggest_float("c_puct", 0.5, 4.0, log=True),
        "c_puct_factor": trial.suggest_float("c_puct_factor", 0.0, 3.0),
        "c_puct_base": trial.suggest_float("c_puct_base", 1_000, 100_000, log=True),
        "fpu": trial.suggest_categorical("fpu", sorted(_LOWEST)),
    }
    low = trial.suggest_float("low", 0.0, 1.0)
    return settings | {"fpu_value": low * _LOWEST[settings["fpu"]]}


@dataclass(frozen=True)
class Tuning:
    """The positions of all games, and what settings gain on them."""

    references: dict[str, Reference]
    budgets: tuple[Budget, ...]

    def gains(
        self, settings: Settings, budget: Budget, *, held_out: bool = False
    ) -> dict[str, list[float]]:
        """Return the gains over the defaults in the positions of each game."""
        gains = {}
        for name, reference in self.references.items():
            positions = reference.positions(budget.positions, held_out=held_out)
            ours, theirs = (
                reference.choose(positions, simulations=budget.simulations, **each)
                for each in (settings, {})
            )
            gains[name] = reference.gains(positions, ours, theirs, budget.reference)
        return gains

    def objective(self, trial: optuna.Trial) -> float:
        """Return the mean gain over games and budgets, in points per game."""
        settings = suggest(trial)
        means: list[float] = []
        for budget in self.budgets:
            gains = self.gains(settings, budget)
            trial.set_user_attr(str(budget.simulations), _means(gains))
            means.append(_mean(gains))
            trial.report(statistics.fmean(means), len(means))
            if len(means) < len(self.budgets) and trial.should_prune():
                raise optuna.TrialPruned
        return statistics.fmean(means)


def _means(gains: dict[str, list[float]]) -> dict[str, float]:
    return {name: statistics.fmean(each) for name, each in gains.items()}


def _mean(gains: dict[str, list[float]]) -> float:
    """Return the mean gain; all games have the same weight."""
    return statistics.fmean(_means(gains).values())


def _defaults() -> dict[str, Any]:
    """Return the parameters of the present defaults."""
    config = pyengine.SearchConfig().to_dict()
    names = ("c_puct", "c_puct_factor", "c_puct_base", "fpu")
    low = config["fpu_value"] / _LOWEST[config["fpu"]]
    return {name: config[name] for name in names} | {"low": low}


def optimise(tuning: Tuning, file: Path, trials: int) -> list[Settings]:
    """Run the trials that are left; return the settings of the best."""
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    references = " ".join(reference.key for reference in tuning.references.values())
    study = optuna.create_study(
        # Gains are relative to the defaults and depend on the references.
        study_name=f"{tuning.budgets} against {_text(_defaults())} by {references}",
        storage=f"sqlite:///{file}",
        load_if_exists=True,
        direction="maximize",
        sampler=optuna.samplers.TPESampler(
            seed=0,
            multivariate=True,
            n_startup_trials=_STARTUP,
        ),
        pruner=optuna.pruners.MedianPruner(n_startup_trials=_STARTUP),
    )
    for known in (_defaults(), *_KNOWN):
        study.enqueue_trial(dict(known), skip_if_exists=True)
    begun, before = time.monotonic(), _finished(study)

    def show(study: optuna.Study, trial: optuna.trial.FrozenTrial) -> None:
        done = _finished(study)
        left = (trials - done) * (time.monotonic() - begun) / (done - before)
        print(
            f"trial {done} of {trials}, {left / 60:.0f} minutes left: {_describe(trial)}; "
            f"best {study.best_value:+.2%}",
            flush=True,
        )

    if before < trials:
        study.optimize(tuning.objective, n_trials=trials - before, callbacks=[show])
    complete = study.get_trials(states=[optuna.trial.TrialState.COMPLETE])
    complete.sort(key=lambda trial: trial.value or 0.0, reverse=True)
    return [suggest(optuna.trial.FixedTrial(trial.params)) for trial in complete]


def _finished(study: optuna.Study) -> int:
    states = (optuna.trial.TrialState.COMPLETE, optuna.trial.TrialState.PRUNED)
    return len(study.get_trials(deepcopy=False, states=states))


def _describe(trial: optuna.trial.FrozenTrial) -> str:
    settings = suggest(optuna.trial.FixedTrial(trial.params))
    gains = (
        f"at {budget} " + ", ".join(f"{name} {gain:+.2%}" for name, gain in means.items())
        for budget, means in sorted(trial.user_attrs.items(), key=lambda item: int(item[0]))
    )
    return f"{_text(settings)}: {'; '.join(gains)}"


def _text(settings: Settings) -> str:
    """Return the exact settings: they name records, and ``--candidate`` reads them."""
    return " ".join(f"{name}={value}" for name, value in settings.items())


def best_of(tuning: Tuning, finalists: Sequence[Settings]) -> Settings:
    """Return the finalist with the largest gain on positions that no trial has seen."""
    means: list[float] = []
    for settings in finalists:
        gains = [tuning.gains(settings, budget, held_out=True) for budget in tuning.budgets]
        means.append(statistics.fmean(map(_mean, gains)))
        columns = ", ".join(
            f"{_estimate(each)} at {budget.simulations}"
            for budget, each in zip(tuning.budgets, gains, strict=True)
        )
        print(f"finalist {_text(settings)}: {columns}", flush=True)
    return finalists[means.index(max(means))]


def _estimate(gains: dict[str, list[float]]) -> str:
    """Describe the mean gain with its 95 % interval."""
    variances = [statistics.variance(each) / len(each) for each in gains.values()]
    error = 1.96 * math.sqrt(sum(variances)) / len(gains)
    return f"{_mean(gains):+.2%} ± {error:.2%}"


def play(
    contest: Contest, candidate: Settings, budget: Budget, args: argparse.Namespace
) -> MatchResult:
    """Play or resume a match of the candidate against the defaults."""
    title = f"{contest.network}, {budget.simulations} simulations, {_text(candidate)}"
    shared: Settings = SERIAL | {"simulations": budget.simulations, "threads": args.threads}
    args.work.mkdir(parents=True, exist_ok=True)
    with (
        closing(pyengine.Engine(contest.game, contest.network, **shared | candidate)) as a,
        closing(pyengine.Engine(contest.game, contest.network, **shared)) as b,
    ):
        return match(
            a, b, games=budget.games, seed=1, concurrent_games=64,
            openings=balanced_openings(contest.game, contest.network),
            record=args.work / f"match-{title.replace(', ', '-').replace(' ', '-')}.jsonl",
            on_progress=_Remaining(title, budget.games),
        )  # fmt: skip


class _Remaining:
    """Shows the progress of a match and the time left."""

    def __init__(self, title: str, games: int) -> None:
        self._title = title
        self._games = games
        self._begun = time.monotonic()
        self._resumed: int | None = None  # games at the first report

    def __call__(self, result: MatchResult) -> None:
        if self._resumed is None:
            self._resumed = result.games
        new = result.games - self._resumed
        seconds = time.monotonic() - self._begun
        left = f"{seconds * (self._games - result.games) / new / 60:.0f}" if new else "?"
        say(f"{self._title}: {result.games} of {self._games} games, {left} minutes left")


def compare(candidate: Settings, args: argparse.Namespace) -> None:
    """Play the candidate against the defaults in all games with each budget."""
    for budget in args.budgets:
        results = []
        for contest in GAMES.values():
            results.append(play(contest, candidate, budget, args))
            say("")
            print(f"{contest.network}, {budget.simulations} simulations: {results[-1]}", flush=True)
        low, high = together(results)
        print(
            f"all games, {budget.simulations} simulations: score [{low:.1%}, {high:.1%}]",
            flush=True,
        )


def together(results: Sequence[MatchResult]) -> tuple[float, float]:
    """Return the 95 % interval of the score over all matches; pairs are the samples."""
    pairs: dict[tuple[int, int], list[float]] = defaultdict(list)
    for number, result in enumerate(results):
        for game in result.records:
            pairs[number, game.pair].append(game.points)
    return score_interval(
        [sum(each) for each in pairs.values()], [len(each) for each in pairs.values()]
    )


def tune(args: argparse.Namespace) -> Settings:
    """Run trials and finalists; return the best settings."""
    with ExitStack() as stack:
        references = {}
        for name, contest in GAMES.items():
            games = _QUICK_GAMES if args.quick else _GAMES
            references[name] = Reference(
                contest, args.work, games=games, threads=args.threads, say=say
            )
            stack.callback(references[name].close)
        tuning = Tuning(references, args.budgets)
        finalists = optimise(tuning, args.work / "study.sqlite", args.trials)[:_FINALISTS]
        return best_of(tuning, finalists)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status."""
    parser = argparse.ArgumentParser(description="Tune the exploration of the search.")
    parser.add_argument("--trials", type=whole, default=100, help="in total (default 100)")
    parser.add_argument(
        "--candidate", nargs="+", metavar="NAME=VALUE", help="play only the matches, with these"
    )
    parser.add_argument("--no-matches", action="store_true", help="stop after the finalists")
    parser.add_argument("--threads", type=whole, default=1, help="search threads (default 1)")
    parser.add_argument("--quick", action="store_true", help="few positions, games, simulations")
    parser.add_argument("--work", type=Path, default=WORK, help="folder of saved results")
    args = parser.parse_args(arguments)
    args.budgets = QUICK if args.quick else BUDGETS
    try:
        candidate = search_settings("--candidate", args.candidate)
        pyengine.SearchConfig(**candidate)
        candidate = candidate or tune(args)
        if not args.no_matches:
            compare(candidate, args)
    except pyengine.EngineError as error:
        say("")
        print(error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        say("")
        print("stopped: run the same command to resume", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
