"""What an int8 network must keep of the original: its judgements, its choices, its games."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt

from pyengine.config import SearchConfig
from pyengine.engine import Engine
from pyengine.errors import ConfigError
from pyengine.evaluators import Evaluator
from pyengine.games import Game, State
from pyengine.match import MatchResult, Openings, match
from pyengine.settings import Settings

__all__ = ["Check", "Comparison", "Limits", "compare", "play_match", "turned"]

OnResult = Callable[[MatchResult], object]


@dataclass(frozen=True, kw_only=True)
class Limits(Settings):
    """What a converted network may lose.

    Policies are compared by total variation: half the sum of the differences of all probabilities,
    the share of the moves drawn that would be others.

    A network that is itself unsure may lose more: a figure also passes when it is no worse than
    ``turned`` times what turning the board changes in the original (its answer as the board lies
    against the mean over all symmetries).
    """

    policy_mean: float = 0.04  #: total variation, mean over the positions
    policy_99: float = 0.25  #: total variation, exceeded in one position of a hundred
    value_mean: float = 0.03  #: absolute difference of the values, in [-1, 1]
    agreement: float = 0.90  #: least share of positions with the same likeliest move
    regret: float = 0.01  #: mean probability, in the original, lost by the other choice
    turned: float = 0.25  #: share of what turning the board changes; 0: the limits above alone


@dataclass(frozen=True)
class Check:
    """One figure and its limit."""

    name: str
    measured: float
    limit: float
    passed: bool
    detail: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return dict(vars(self))


@dataclass(frozen=True)
class Comparison:
    """Two networks, or two readings of one, on the same positions.

    Attributes:
        positions: how many.
        policy_mean, policy_99, policy_max: total variation.
        value_mean, value_max: absolute difference.
        agreement: share of positions with the same likeliest move.
        regret: mean probability, in the first, lost by the other choice.
    """

    positions: int
    policy_mean: float
    policy_99: float
    policy_max: float
    value_mean: float
    value_max: float
    agreement: float
    regret: float

    def checks(self, limits: Limits, turned: Comparison | None = None) -> list[Check]:
        """Return each figure with its limit; ``turned``: what turning the board changes."""

        def most(name: str, field: str, least_limit: float, detail: str) -> Check:
            measured = float(getattr(self, field))
            own = 0.0 if turned is None else limits.turned * float(getattr(turned, field))
            limit = max(least_limit, own)
            return Check(name, measured, limit, measured <= limit, detail)

        changed = 0.0 if turned is None else limits.turned * (1 - turned.agreement)
        agreement = min(limits.agreement, 1 - changed)
        return [
            most("policy, mean", "policy_mean", limits.policy_mean, "total variation"),
            most("policy, 99 %", "policy_99", limits.policy_99, f"max {self.policy_max:.3f}"),
            most("value, mean", "value_mean", limits.value_mean, f"max {self.value_max:.3f}"),
            Check(
                "first choice",
                self.agreement,
                agreement,
                self.agreement >= agreement,
                f"the same, of {self.positions:,} positions",
            ),
            most("choice, loss", "regret", limits.regret, "probability in the original"),
        ]


_Answers = tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]


def compare(original: Evaluator, converted: Evaluator, states: Sequence[State]) -> Comparison:
    """Compare what two networks say of the states, at least one."""
    game = states[0].game
    return _compare(original.evaluate(states, game=game), converted.evaluate(states, game=game))


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
    *,
    games: int,
    simulations: int,
    seconds: float,
    seed: int,
    on_progress: OnResult | None = None,
) -> tuple[MatchResult, Check]:
    """Let both play at equal simulations from varied openings, colours alternated.

    After ``seconds`` the match ends with the games it has. The check fails when the 95 % interval
    of the converted network's score lies below one half; without a finished game it passes.
    """
    end = perf_counter() + seconds

    def go_on(result: MatchResult) -> bool:
        if on_progress is not None:
            on_progress(result)
        return perf_counter() < end

    config = SearchConfig(simulations=simulations, reuse_tree=False, seed=seed)
    with Engine(game, converted, config=config) as a, Engine(game, original, config=config) as b:

        def play(openings: Openings) -> MatchResult:
            names = ("int8", "original")
            return match(
                a, b, games=games, seed=seed, openings=openings, names=names, on_progress=go_on
            )

        result = _with_openings(play, original)
    low, high = result.score_interval if result.games else (0.0, 1.0)
    detail = (
        f"{result.wins} won, {result.draws} drawn, {result.losses} lost "
        f"at {simulations} simulations: score {_percent(result.score)} "
        f"[{_percent(low)}, {_percent(high)}]"
        if result.games
        else f"no game was finished within {seconds:.0f} s"
    )
    return result, Check("match, at best", high, 0.5, high >= 0.5, detail)


def _percent(share: float) -> str:
    return "-" if math.isnan(share) else f"{share:.1%}"


def _with_openings(play: Callable[[Openings], MatchResult], judge: Evaluator) -> MatchResult:
    """Play from random moves that leave the game undecided, as far as the network can tell.

    Where the game has too few such openings others do.
    """
    for plies, most in ((4, 0.7), (4, None), (2, None)):
        try:
            return play(Openings(plies=plies, max_value=most, judge=judge))
        except ConfigError:
            continue
    return play(Openings(plies=0))
