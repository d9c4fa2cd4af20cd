"""What a converted network must keep of the original: its evaluations, its choices, its games."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from time import perf_counter
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from pyengine.base.arguments import number
from pyengine.errors import ConfigError
from pyengine.eval.evaluators import Evaluator
from pyengine.games.game import Game, State
from pyengine.match import MatchResult, Openings, Sprt, match
from pyengine.match.openings import Book
from pyengine.search.config import SearchConfig
from pyengine.search.engine import Engine

OnResult = Callable[[MatchResult], object]

#: Undecided: too few games to tell.
Outcome: TypeAlias = Literal["passed", "failed", "undecided"]

_RISK = 0.05  # of passing a network that is weaker by the margin, and of failing an equal one
_OPENINGS_SHARE = 0.2  # of the match's time, at most, goes to its openings


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What a converted network may lose.

    Policies are compared by total variation: half the sum of the differences of all probabilities,
    the share of the moves drawn that would be others.

    A network that is itself unsure may lose more: a figure of policy or value also passes when it
    is no worse than ``turned`` times what turning the board changes in the original (its answer as
    the board lies against the mean over all symmetries).

    Attributes:
        policy_mean (float, default 0.04): total variation of the policies, mean over the positions.
        policy_99 (float, default 0.25): total variation that one position of a hundred may exceed.
        value_mean (float, default 0.03): absolute difference of the values, mean over the
            positions.
        agreement (float, default 0.90): least share of positions with the same likeliest move.
        regret (float, default 0.01): mean probability, in the original, lost by the other choice.
        ownership_mean (float, default 0.03): absolute difference of the ownerships, mean over
            points and positions, if both networks predict them.
        score_mean (float, default 0.5): absolute difference of the scores, in points, mean over the
            positions, if both networks predict them.
        turned (float, default 0.25): share of what turning the board changes that is allowed in any
            case; 0 = the limits above alone.
        margin (float > 0, default 50.0): Elo at equal simulations. The match passes when it shows,
            at a one-sided level of 95 %, that the network is weaker by less than this.
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
        """Check the numbers."""
        for field in fields(self):
            number(field.name, getattr(self, field.name), "a number")
        number("margin", self.margin, "an Elo difference above 0", lambda margin: margin > 0)

    def test(self) -> Sprt:
        """Return the sequential test that the match ends with: weaker by the margin, or equal?"""
        return Sprt(elo0=-self.margin, elo1=0.0, alpha=_RISK, beta=_RISK)


@dataclass(frozen=True)
class LimitCheck:
    """One figure and its limit.

    Attributes:
        name: of the figure.
        measured: what was measured.
        limit: what it is compared with.
        outcome: ``"passed"``, ``"failed"`` or ``"undecided"``.
        detail: what was compared, for people.
    """

    name: str
    measured: float
    limit: float
    outcome: Outcome
    detail: str = ""

    @property
    def passed(self) -> bool:
        """Whether the figure is shown to be within its limit."""
        return self.outcome == "passed"

    @classmethod
    def of(
        cls, name: str, measured: float, limit: float, within: bool, detail: str = ""
    ) -> LimitCheck:
        """Return a check that passed or failed."""
        return cls(name, measured, limit, "passed" if within else "failed", detail)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {**vars(self), "passed": self.passed}


@dataclass(frozen=True)
class Comparison:
    """Two networks, or two readings of one, on the same positions.

    Attributes:
        positions: how many.
        policy_mean: total variation of the policies, mean over the positions.
        policy_99: the same, exceeded in one position of a hundred.
        policy_max: the same, the largest.
        value_mean: absolute difference of the values, mean over the positions.
        value_max: the same, the largest.
        agreement: share of positions with the same likeliest move.
        regret: mean probability, in the first, lost by the other choice.
        ownership_mean: absolute difference of the ownerships, mean over points and positions; None
            unless both predict them.
        score_mean: absolute difference of the scores, in points, mean over the positions; None
            unless both predict them.
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
        """Return each figure with its limit; ``turned``: what turning the board changes."""

        def most(name: str, field: str, detail: str) -> LimitCheck:
            own = 0.0 if turned is None else limits.turned * float(getattr(turned, field))
            measured, limit = float(getattr(self, field)), max(getattr(limits, field), own)
            return LimitCheck.of(name, measured, limit, measured <= limit, detail)

        changed = 0.0 if turned is None else limits.turned * (1 - turned.agreement)
        agreement = min(limits.agreement, 1 - changed)
        same = f"the same, of {self.positions:,} positions"
        alike = self.agreement >= agreement
        checks = [
            most("policy, mean", "policy_mean", "total variation"),
            most("policy, 99 %", "policy_99", f"max {self.policy_max:.3f}"),
            most("value, mean", "value_mean", f"max {self.value_max:.3f}"),
            LimitCheck.of("first choice", self.agreement, agreement, alike, same),
            most("choice, loss", "regret", "probability in the original"),
        ]
        for name, measured, limit, detail in (
            ("ownership, mean", self.ownership_mean, limits.ownership_mean, "in [-1, 1] a point"),
            ("score, mean", self.score_mean, limits.score_mean, "points"),
        ):
            if measured is not None:
                checks.append(LimitCheck.of(name, measured, limit, measured <= limit, detail))
        return checks


_Answers = tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]


def compare(original: Evaluator, converted: Evaluator, states: Sequence[State]) -> Comparison:
    """Compare two networks on states, at least one."""
    game = states[0].game
    result = _compare(original.evaluate(states, game=game), converted.evaluate(states, game=game))
    if not (original.has_final_board and converted.has_final_board):
        return result
    boards = (each.evaluate_final_board(states, game=game) for each in (original, converted))
    ownership, score = (_mean_difference(*both) for both in zip(*boards, strict=True))
    return replace(result, ownership_mean=ownership, score_mean=score)


def _mean_difference(
    first: npt.NDArray[np.float32] | None, second: npt.NDArray[np.float32] | None
) -> float | None:
    if first is None or second is None:
        return None
    return float(np.abs(first.astype(np.float64) - second).mean())


def turned(network: Evaluator, states: Sequence[State]) -> Comparison | None:
    """Compare a network with its mean over the board's symmetries; None if there are none."""
    game = states[0].game
    if game.num_symmetries == 1:
        return None
    return _compare(
        network.evaluate(states, game=game),
        network.evaluate(states, game=game, symmetry="average"),
    )


def _compare(first: _Answers, second: _Answers) -> Comparison:
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


def play_match(
    game: Game,
    original: Evaluator,
    converted: Evaluator,
    limits: Limits,
    *,
    name: str,
    games: int,
    simulations: int,
    seconds: float,
    seed: int,
    on_progress: OnResult | None = None,
) -> tuple[MatchResult, LimitCheck]:
    """Let both play at equal simulations from varied openings, each twice with colours swapped.

    A sequential test of pairs of games ends the match: it passes or fails the network. The match is
    undecided if that takes more than ``games`` or ``seconds``, or if the game has no further
    openings: the players are nearly deterministic, so an opening played again proves nothing.
    """
    end = perf_counter() + seconds

    def go_on(result: MatchResult) -> bool:
        if on_progress is not None:
            on_progress(result)
        return perf_counter() < end

    openings = _openings(game, original, (games + 1) // 2, seed, seconds * _OPENINGS_SHARE)
    config = SearchConfig(simulations=simulations, reuse_tree=False, seed=seed)
    with Engine(game, converted, config=config) as a, Engine(game, original, config=config) as b:
        result = match(
            a,
            b,
            games=min(games, 2 * len(openings)),
            openings=openings,
            sprt=limits.test(),
            names=(name, "original"),
            on_progress=go_on,
        )
    return result, _match_check(result, limits, simulations)


def _match_check(result: MatchResult, limits: Limits, simulations: int) -> LimitCheck:
    test = limits.test()
    state = result.sprt
    outcome: Outcome = "undecided"
    if state is not None and state.accepted is not None:
        outcome = "passed" if state.accepted == "elo1" else "failed"
    games = "no game finished"
    if result.games:
        low, high = result.score_interval
        games = (
            f"{result.wins} won, {result.draws} drawn, {result.losses} lost at {simulations} "
            f"simulations: score {result.score:.1%} [{low:.1%}, {high:.1%}]"
        )
    margin = f"{limits.margin:g} Elo"
    says = {
        "passed": f"less than {margin} weaker, one-sided 95 %",
        "failed": f"likelier {margin} weaker than equal, one-sided 95 %",
        "undecided": f"too few games to tell {margin} weaker from equal",
    }
    llr = 0.0 if state is None else state.llr
    return LimitCheck("match, evidence", llr, test.upper, outcome, f"{games}; {says[outcome]}")


def _openings(
    game: Game, evaluator: Evaluator, count: int, seed: int, seconds: float
) -> list[tuple[int, ...]]:
    """Return at most ``count`` openings that lead to different positions, at least one.

    They are random moves after which the network sees neither side ahead; if the game has too few
    of these, any random moves.
    """
    most: list[tuple[int, ...]] = [()]
    end = perf_counter() + seconds
    for plies, max_value in ((4, 0.7), (4, None), (2, None)):
        rules = Openings(plies=plies, max_value=max_value, evaluator=evaluator)
        most = max(most, _distinct(game, Book(game, rules, seed), count, end), key=len)
        if len(most) == count or perf_counter() >= end:
            break
    return most


def _distinct(game: Game, book: Book, count: int, end: float) -> list[tuple[int, ...]]:
    """Return openings of a book until one leads to a known position, or time is up."""
    openings: dict[int, tuple[int, ...]] = {}
    while len(openings) < count and (perf_counter() < end or not openings):
        try:
            opening = book.opening(len(openings))
        except ConfigError:  # none is open, or balanced
            break
        position = game.new_initial_state(opening).hash()
        if position in openings:
            break
        openings[position] = opening
    return list(openings.values())
