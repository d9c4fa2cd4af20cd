"""What a converted network must keep of the original: its evaluations, its choices, its games."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from pyengine.base.arguments import number
from pyengine.base.settings import Settings
from pyengine.errors import ConfigError
from pyengine.eval.evaluators import Evaluator
from pyengine.games.game import Game, State
from pyengine.match import MatchResult, Openings, Sprt, match
from pyengine.match.openings import Book
from pyengine.search.config import SearchConfig
from pyengine.search.engine import Engine

__all__ = ["Comparison", "LimitCheck", "Limits", "Outcome", "compare", "play_match", "turned"]

OnResult = Callable[[MatchResult], object]

#: Undecided: the games do not tell, whatever they look like.
Outcome: TypeAlias = Literal["passed", "failed", "undecided"]

_RISK = 0.05  # of passing a network that is weaker by the margin, and of failing an equal one
_OPENINGS_SHARE = 0.2  # of the match's time, at most, goes to its openings


@dataclass(frozen=True, kw_only=True)
class Limits(Settings):
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
            points and positions, where both networks tell them.
        score_mean (float, default 0.5): absolute difference of the scores, in points, mean over the
            positions, where both networks tell them.
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
        for name in self.names():
            number(name, getattr(self, name), "a number")
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
            where not both tell them.
        score_mean: absolute difference of the scores, in points, mean over the positions; None
            where not both tell them.
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

        def most(name: str, field: str, least_limit: float, detail: str) -> LimitCheck:
            measured = float(getattr(self, field))
            own = 0.0 if turned is None else limits.turned * float(getattr(turned, field))
            limit = max(least_limit, own)
            return LimitCheck(name, measured, limit, _outcome(measured <= limit), detail)

        changed = 0.0 if turned is None else limits.turned * (1 - turned.agreement)
        agreement = min(limits.agreement, 1 - changed)
        return [
            most("policy, mean", "policy_mean", limits.policy_mean, "total variation"),
            most("policy, 99 %", "policy_99", limits.policy_99, f"max {self.policy_max:.3f}"),
            most("value, mean", "value_mean", limits.value_mean, f"max {self.value_max:.3f}"),
            LimitCheck(
                "first choice",
                self.agreement,
                agreement,
                _outcome(self.agreement >= agreement),
                f"the same, of {self.positions:,} positions",
            ),
            most("choice, loss", "regret", limits.regret, "probability in the original"),
            *self._final_board_checks(limits),
        ]

    def _final_board_checks(self, limits: Limits) -> list[LimitCheck]:
        figures = (
            ("ownership, mean", self.ownership_mean, limits.ownership_mean, "in [-1, 1] a point"),
            ("score, mean", self.score_mean, limits.score_mean, "points"),
        )
        return [
            LimitCheck(name, measured, limit, _outcome(measured <= limit), detail)
            for name, measured, limit, detail in figures
            if measured is not None
        ]


def _outcome(within: bool) -> Outcome:
    return "passed" if within else "failed"


_Answers = tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]


def compare(original: Evaluator, converted: Evaluator, states: Sequence[State]) -> Comparison:
    """Compare what two networks say of the states, at least one."""
    game = states[0].game
    found = _compare(original.evaluate(states, game=game), converted.evaluate(states, game=game))
    if not (original.has_final_board and converted.has_final_board):
        return found
    said = (each.evaluate_final_board(states, game=game) for each in (original, converted))
    ownership, score = (_mean_difference(*both) for both in zip(*said, strict=True))
    return replace(found, ownership_mean=ownership, score_mean=score)


def _mean_difference(
    first: npt.NDArray[np.float32] | None, second: npt.NDArray[np.float32] | None
) -> float | None:
    if first is None or second is None:
        return None
    return float(np.abs(first.astype(np.float64) - second).mean())


def turned(network: Evaluator, states: Sequence[State]) -> Comparison | None:
    """Compare what a network says of a position and the mean over the board's symmetries.

    None where the board has none.
    """
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

    ``name`` is what the converted network is called. A sequential test of pairs of
    games ends the match: it passes or fails the network. Undecided is what it has not decided after
    ``games``, after ``seconds``, or when the game has no further openings: the players are nearly
    deterministic, so an opening played again proves nothing.
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
    """Return what a match says of a converted network, from its side."""
    test = limits.test()
    state = result.sprt
    outcome: Outcome = "undecided"
    if state is not None and state.accepted is not None:
        outcome = "passed" if state.accepted == "elo1" else "failed"
    found = "no game finished"
    if result.games:
        low, high = result.score_interval
        found = (
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
    return LimitCheck("match, evidence", llr, test.upper, outcome, f"{found}; {says[outcome]}")


def _openings(
    game: Game, evaluator: Evaluator, count: int, seed: int, seconds: float
) -> list[tuple[int, ...]]:
    """Return at most ``count`` openings that lead to different positions, at least one.

    They are random moves that leave the game undecided, as far as the network can tell. Where the
    game has too few of them, others do.
    """
    most: list[tuple[int, ...]] = [()]
    end = perf_counter() + seconds
    for plies, max_value in ((4, 0.7), (4, None), (2, None)):
        rules = Openings(plies=plies, max_value=max_value, evaluator=evaluator)
        found = _distinct(game, Book(game, rules, seed), count, end)
        most = max(most, found, key=len)
        if len(most) == count or perf_counter() >= end:
            break
    return most


def _distinct(game: Game, book: Book, count: int, end: float) -> list[tuple[int, ...]]:
    """Return openings of a book until one leads to a known position, or the time is over."""
    found: dict[int, tuple[int, ...]] = {}
    while len(found) < count and (perf_counter() < end or not found):
        try:
            opening = book.opening(len(found))
        except ConfigError:  # none is open, or balanced
            break
        position = game.new_initial_state(opening).hash()
        if position in found:
            break
        found[position] = opening
    return list(found.values())
