"""Comparison of a converted network with the original: evaluations, choices and games."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from time import perf_counter
from typing import Any, Literal, TypeAlias, TypedDict

import numpy as np
import numpy.typing as npt

from pyengine.base.checks import check_callback, check_type, integer, number
from pyengine.conversion.onnx_graph import BATCH
from pyengine.errors import ConfigError
from pyengine.eval.evaluators import Evaluator
from pyengine.eval.spec import ModelSpec
from pyengine.games.game import Game, State
from pyengine.match import MatchResult, Openings, Sprt
from pyengine.match.openings import Book

#: "undecided": too few games.
Outcome: TypeAlias = Literal["passed", "failed", "undecided"]

_RISK = 0.05  # of passing a network weaker by the margin, and of failing an equal one


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits of the difference between a converted network and the original.

    The figures are those of :class:`Comparison`; ``agreement`` is the smallest that passes. A
    network that is itself uncertain may differ more: a policy or value figure also passes if it is
    at most ``turned`` times the change under symmetries of the original, which is the difference
    between its evaluation and its mean over all symmetries of the board.

    Attributes:
        margin: Elo at equal simulations, above 0. The match passes if it shows, at a one-sided
            level of 95 %, that the network is weaker by less than this.
    """

    policy_mean: float = 0.04
    policy_99: float = 0.25
    value_mean: float = 0.03
    agreement: float = 0.90
    regret: float = 0.01
    ownership_mean: float = 0.03
    score_mean: float = 0.5
    turned: float = 0.25
    margin: float = 50.0

    def __post_init__(self) -> None:
        for field in fields(self):
            number(field.name, getattr(self, field.name), "a number")
        number("margin", self.margin, "an Elo difference above 0", lambda margin: margin > 0)

    def test(self) -> Sprt:
        """Return the sequential test of the match: weaker by the margin, or equal."""
        return Sprt(elo0=-self.margin, elo1=0.0, alpha=_RISK, beta=_RISK)


#: Called with a stage ("games", "calibration", "comparison", "match") and its progress, 0 to 1.
OnProgress: TypeAlias = Callable[[str, float], object]


class CheckOptions(TypedDict, total=False):
    """The keyword arguments of the conversions, see :func:`pyengine.conversion.quantise`."""

    spec: ModelSpec | None
    positions: int
    games: int
    simulations: int
    match_seconds: float
    seed: int
    limits: Limits
    write_undecided: bool
    on_progress: OnProgress | None


@dataclass(frozen=True, kw_only=True)
class Checks:
    """:class:`CheckOptions` with their defaults."""

    spec: ModelSpec | None = None
    positions: int = 1000
    games: int = 800
    simulations: int = 32
    match_seconds: float = 600.0
    seed: int = 0
    limits: Limits = Limits()
    write_undecided: bool = False
    on_progress: OnProgress | None = None

    def __post_init__(self) -> None:
        """Raise ConfigError for a wrong value."""
        for name, least in (("seed", 0), ("positions", BATCH), ("games", 0), ("simulations", 1)):
            integer(name, getattr(self, name), least)
        seconds = self.match_seconds
        number("match_seconds", seconds, "seconds above 0", lambda seconds: seconds > 0)
        check_type("limits", self.limits, Limits, "Limits")
        check_callback("on_progress", self.on_progress)


@dataclass(frozen=True)
class LimitCheck:
    """A measured figure and its limit; ``detail`` explains the figure to people."""

    name: str
    measured: float
    limit: float
    outcome: Outcome
    detail: str = ""

    @property
    def passed(self) -> bool:
        """Whether the outcome is "passed"."""
        return self.outcome == "passed"

    @classmethod
    def at_most(cls, name: str, measured: float, limit: float, detail: str) -> LimitCheck:
        return cls(name, measured, limit, "passed" if measured <= limit else "failed", detail)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {**vars(self), "passed": self.passed}


@dataclass(frozen=True)
class Comparison:
    """Differences of two evaluations of the same positions.

    Attributes:
        positions: number of positions.
        policy_mean, policy_99, policy_max: total variation of the policies, which is half the sum
            of the absolute differences of all probabilities: mean, 99th percentile, maximum.
        value_mean, value_max: absolute difference of the values.
        agreement: share of positions with the same most likely move.
        regret: probability lost by the second's choice, according to the first, mean.
        ownership_mean: absolute difference of the ownerships, mean over points and positions; None
            unless both networks predict them.
        score_mean: the same for the scores, in points.
    """

    positions: int
    policy_mean: float
    policy_99: float
    policy_max: float
    value_mean: float
    value_max: float
    agreement: float
    regret: float
    ownership_mean: float | None = None
    score_mean: float | None = None

    def checks(self, limits: Limits, turned: Comparison | None = None) -> list[LimitCheck]:
        """Return the checks of all figures; ``turned`` is the change under symmetries."""

        def check(name: str, field: str, detail: str) -> LimitCheck:
            allowed = 0.0 if turned is None else limits.turned * float(getattr(turned, field))
            limit = max(getattr(limits, field), allowed)
            return LimitCheck.at_most(name, getattr(self, field), limit, detail)

        agreement = limits.agreement
        if turned is not None:
            agreement = min(agreement, 1 - limits.turned * (1 - turned.agreement))
        outcome: Outcome = "passed" if self.agreement >= agreement else "failed"
        detail = f"the same, of {self.positions:,} positions"
        checks = [
            check("policy, mean", "policy_mean", "total variation"),
            check("policy, 99 %", "policy_99", f"max {self.policy_max:.3f}"),
            check("value, mean", "value_mean", f"max {self.value_max:.3f}"),
            LimitCheck("first choice", self.agreement, agreement, outcome, detail),
            check("choice, loss", "regret", "probability in the original"),
        ]
        for name, measured, limit, detail in (
            ("ownership, mean", self.ownership_mean, limits.ownership_mean, "in [-1, 1] per point"),
            ("score, mean", self.score_mean, limits.score_mean, "points"),
        ):
            if measured is not None:
                checks.append(LimitCheck.at_most(name, measured, limit, detail))
        return checks


_Evaluation = tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]


def compare(original: Evaluator, converted: Evaluator, states: Sequence[State]) -> Comparison:
    """Compare two networks on at least one state."""
    game = states[0].game
    result = _compare(original.evaluate(states, game=game), converted.evaluate(states, game=game))
    if not (original.has_final_board and converted.has_final_board):
        return result
    networks = (original, converted)
    boards = (network.evaluate_final_board(states, game=game) for network in networks)
    ownership, score = (_mean_difference(*pair) for pair in zip(*boards, strict=True))
    return replace(result, ownership_mean=ownership, score_mean=score)


def _mean_difference(
    first: npt.NDArray[np.float32] | None, second: npt.NDArray[np.float32] | None
) -> float | None:
    if first is None or second is None:
        return None
    return float(np.abs(first.astype(np.float64) - second).mean())


def symmetry_change(network: Evaluator, states: Sequence[State]) -> Comparison | None:
    """Compare a network with its mean over the board's symmetries; None without symmetries."""
    game = states[0].game
    if game.num_symmetries == 1:
        return None
    return _compare(
        network.evaluate(states, game=game), network.evaluate(states, game=game, symmetry="average")
    )


def _compare(first: _Evaluation, second: _Evaluation) -> Comparison:
    """Compare policies [N,A] and values [N]."""
    (p, v), (q, w) = first, second
    variation = np.abs(p.astype(np.float64) - q).sum(axis=1) / 2
    values = np.abs(v.astype(np.float64) - w)
    best, other = p.argmax(axis=1), q.argmax(axis=1)
    rows = np.arange(len(p))
    return Comparison(
        positions=len(p),
        policy_mean=float(variation.mean()),
        policy_99=float(np.quantile(variation, 0.99)),
        policy_max=float(variation.max()),
        value_mean=float(values.mean()),
        value_max=float(values.max()),
        agreement=float((best == other).mean()),
        regret=float((p[rows, best] - p[rows, other]).mean()),
    )


def match_check(result: MatchResult, limits: Limits, simulations: int) -> LimitCheck:
    """Return the outcome of the sequential test of :meth:`Limits.test`."""
    state = result.sprt
    assert state is not None
    outcomes: dict[str | None, Outcome] = {"elo1": "passed", "elo0": "failed", None: "undecided"}
    outcome = outcomes[state.accepted]
    games = "no game finished"
    if result.games:
        low, high = result.score_interval
        games = (
            f"{result.wins} won, {result.draws} drawn, {result.losses} lost at {simulations} "
            f"simulations: score {result.score:.1%} [{low:.1%}, {high:.1%}]"
        )
    margin = f"{limits.margin:g} Elo"
    verdicts = {
        "passed": f"less than {margin} weaker, one-sided 95 %",
        "failed": f"more likely {margin} weaker than equal, one-sided 95 %",
        "undecided": f"too few games to tell {margin} weaker from equal",
    }
    detail = f"{games}; {verdicts[outcome]}"
    return LimitCheck("match, evidence", state.llr, state.upper, outcome, detail)


def distinct_openings(
    game: Game, evaluator: Evaluator, count: int, seed: int, seconds: float
) -> list[tuple[int, ...]]:
    """Return 1 to ``count`` openings that lead to different positions.

    They are random moves after which the network sees neither side ahead, or any random moves if
    the game has too few of these.
    """
    openings: list[tuple[int, ...]] = [()]
    end = perf_counter() + seconds
    for plies, max_value in ((4, 0.7), (4, None), (2, None)):
        rules = Openings(plies=plies, max_value=max_value, evaluator=evaluator)
        more = _distinct(game, Book(game, rules, seed), count, end)
        openings = max(openings, more, key=len)
        if len(openings) == count or perf_counter() >= end:
            break
    return openings


def _distinct(game: Game, book: Book, count: int, end: float) -> list[tuple[int, ...]]:
    """Return openings of a book until a position repeats or the time is up."""
    openings: dict[int, tuple[int, ...]] = {}
    while len(openings) < count and (perf_counter() < end or not openings):
        try:
            opening = book.opening(len(openings))
        except ConfigError:  # no opening is balanced, or all end the game
            break
        position = game.new_initial_state(opening).hash()
        if position in openings:
            break
        openings[position] = opening
    return list(openings.values())
