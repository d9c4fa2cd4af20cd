"""Elo, score intervals and sequential tests."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from pyengine import MatchResult
from pyengine.match import GameRecord, Sprt, SprtState
from pyengine.match.interval import score_interval
from pyengine.match.statistics import PAIR_SCORES, elo_of_score, score_of_elo

Z = 1.959963984540054  # 97.5 % of the normal distribution


@pytest.mark.parametrize(("score", "elo"), [(0.5, 0.0), (0.75, 190.8485), (10 / 11, 400.0)])
def test_elo_is_the_logarithm_of_the_odds(score: float, elo: float) -> None:
    assert elo_of_score(score) == pytest.approx(elo, abs=1e-3)
    assert elo_of_score(1 - score) == pytest.approx(-elo, abs=1e-3)
    assert score_of_elo(elo) == pytest.approx(score, abs=1e-6)


def test_without_losses_or_games_elo_and_interval_stay_defined() -> None:
    assert (elo_of_score(1.0), elo_of_score(0.0)) == (math.inf, -math.inf)
    assert math.isnan(elo_of_score(math.nan))
    assert score_interval([], []) == (0.0, 1.0)


def test_fully_won_or_lost_groups_give_the_clopper_pearson_interval() -> None:
    low, high = score_interval([2.0] * 10, [2] * 10)
    assert low == pytest.approx(0.025**0.1)  # ten wins of ten have a probability of 2.5 % there
    assert high == pytest.approx(1.0)
    assert score_interval([0.0] * 10, [2] * 10) == pytest.approx((1 - high, 1 - low))
    assert score_interval([1.0] * 7 + [0.0] * 3, [1] * 10) == pytest.approx((0.347547, 0.933260))
    for groups in (1, 50, 500, 20_000):
        low, _ = score_interval([2.0] * groups, [2] * groups)
        assert low == pytest.approx(0.025 ** (1 / groups), abs=1e-7)


def test_draws_alone_do_not_prove_equality() -> None:
    end = 0.025**0.1 / 2  # decisive pairs may still be possible
    assert score_interval([1.0] * 10, [2] * 10) == pytest.approx((end, 1 - end))


def test_the_interval_has_the_quantiles_of_randomly_weighted_groups() -> None:
    points = [0.0] * 3 + [0.5] * 2 + [1.0] * 9 + [1.5] * 4 + [2.0] * 2 + [1.0]
    games = [2] * 20 + [1]
    rng = np.random.default_rng(3)
    weights = rng.exponential(size=(200_000, 22)) * [*games, 2]
    means = [
        (weights @ [*np.divide(points, games), extra]) / weights.sum(axis=1) for extra in (0, 1)
    ]
    expected = np.quantile(means[0], 0.025), np.quantile(means[1], 0.975)
    assert score_interval(points, games) == pytest.approx(expected, abs=1e-3)


def test_pairs_that_agree_prove_less_than_pairs_that_differ() -> None:
    agree = score_interval([0.0, 2.0] * 50, [2] * 100)
    differ = score_interval([1.0] * 100, [2] * 100)
    assert agree[1] - agree[0] > 5 * (differ[1] - differ[0])


def true_scores() -> Iterator[tuple[float, ...]]:
    """Yield distributions of the five pair scores: one-sided, drawish and polarised."""
    for low, high in itertools.combinations(range(5), 2):
        for share in (0.005, 0.02, 0.07, 0.15, 0.3, 0.5):
            shares = [0.0] * 5
            shares[low], shares[high] = share, 1 - share
            yield tuple(shares)
    for win, draw in ((0.9, 0.1), (0.95, 0.0), (0.99, 0.01), (0.5, 0.45), (0.05, 0.9)):
        game = (1 - win - draw, draw, win)
        yield tuple(np.convolve(game, game))


@pytest.mark.parametrize("pairs", [1, 2, 4])
def test_the_interval_holds_for_few_pairs_whatever_their_scores(pairs: int) -> None:
    """The coverage is computed exactly, by summing over all results."""
    results = [c for c in itertools.product(range(pairs + 1), repeat=5) if sum(c) == pairs]
    ends = {}
    for counts in results:
        points = [2 * s for s, n in zip(PAIR_SCORES, counts, strict=True) for _ in range(n)]
        ends[counts] = score_interval(points, [2] * pairs)
    for shares in true_scores():
        score = float(np.dot(shares, PAIR_SCORES))
        held = sum(
            math.factorial(pairs)
            * math.prod(p**n / math.factorial(n) for p, n in zip(shares, counts, strict=True))
            for counts, (low, high) in ends.items()
            if low - 1e-9 <= score <= high + 1e-9
        )
        assert held >= 0.95, shares


def test_many_pairs_give_nearly_a_normal_interval() -> None:
    points = [0.0] * 100 + [1.0] * 300 + [2.0] * 100
    low, high = score_interval(points, [2] * 500)
    assert high - low < 1.06 * 2 * Z * math.sqrt(0.1 / 500)


def test_the_bounds_of_the_sequential_test_are_walds() -> None:
    test = Sprt(alpha=0.05, beta=0.1)
    assert test.lower == pytest.approx(math.log(0.1 / 0.95))
    assert test.upper == pytest.approx(math.log(0.9 / 0.05))


def test_the_ratio_of_decisive_pairs_is_bernoullis() -> None:
    test = Sprt(elo0=0, elo1=elo_of_score(0.6))
    expected = 70 * math.log(0.6 / 0.5) + 30 * math.log(0.4 / 0.5)
    assert test.llr([30, 0, 0, 0, 70]) == pytest.approx(expected, rel=0.01)


def test_the_ratio_of_small_differences_is_the_normal_distributions() -> None:
    counts = [100, 900, 2000, 1000, 150]
    scores = (0.0, 0.25, 0.5, 0.75, 1.0)
    n = sum(counts)
    mean = sum(c * s for c, s in zip(counts, scores, strict=True)) / n
    variance = sum(c * (s - mean) ** 2 for c, s in zip(counts, scores, strict=True)) / n
    low, high = score_of_elo(0), score_of_elo(5)
    expected = n * (high - low) * (2 * mean - low - high) / (2 * variance)
    assert Sprt(elo0=0, elo1=5).llr(counts) == pytest.approx(expected, rel=0.02)


def test_the_ratio_is_zero_between_symmetric_hypotheses() -> None:
    test = Sprt(elo0=-20, elo1=20)
    assert test.llr([5, 10, 40, 10, 5]) == pytest.approx(0, abs=1e-9)
    assert test.llr([9, 10, 40, 10, 2]) == pytest.approx(-test.llr([2, 10, 40, 10, 9]))
    assert test.llr([0] * 5) == 0


def test_the_interval_holds_after_a_test_has_ended_the_match() -> None:
    """The interval of a match with a fixed number of games would hold in 83 %."""
    rng = random.Random(5)
    test = Sprt(elo0=0, elo1=60, alpha=0.1, beta=0.1)
    held = 0
    for _ in range(60):
        counts = [0] * 5
        while test.state(counts).accepted is None:
            counts[rng.choices((0, 2, 4), (0.165, 0.5, 0.335))[0]] += 1
        low, high = result_of(counts, test).score_interval
        held += low <= 0.585 <= high
    assert held >= 57


def result_of(counts: Sequence[int], test: Sprt) -> MatchResult:
    """Return the result of a match ended by the test, from the number of pairs by score."""
    pairs = [p for p, n in zip(((-1, -1), (-1, 0), (0, 0), (0, 1), (1, 1)), counts, strict=True)
             for _ in range(n)]  # fmt: skip
    records = [
        GameRecord(pair=pair, a_plays=a_plays, opening=(), moves=(), result=result)
        for pair, results in enumerate(pairs)
        for a_plays, result in enumerate(results)
    ]
    return MatchResult(
        names=("a", "b"), records=tuple(records), sprt=test.state(counts), stop_reason="sprt"
    )


@pytest.mark.parametrize(
    ("test", "draws"),
    [
        (Sprt(elo0=0, elo1=100), 0.0),
        (Sprt(elo0=-50, elo1=0, alpha=0.1, beta=0.05), 0.5),
        (Sprt(elo0=300, elo1=500), 0.0),
    ],
    ids=repr,
)
def test_nine_of_ten_tests_are_decided_in_time_and_correctly(test: Sprt, draws: float) -> None:
    for elo, accepted in ((test.elo0, "elo0"), (test.elo1, "elo1")):
        states = [simulated(test, elo, draws, seed) for seed in range(40)]
        decided = [state for state in states if state.accepted is not None]
        assert len(decided) >= 33  # 36 expected; 1.6 standard deviations less
        assert sum(state.accepted == accepted for state in decided) >= 0.85 * len(decided)
        mean = 2 * sum(state.pairs for state in states) / len(states)
        assert mean < 1.25 * test.expected_games


def simulated(test: Sprt, elo: float, draws: float, seed: int) -> SprtState:
    """Return the end of a test within its number of games, checked at intervals."""
    score = score_of_elo(elo)
    draws = min(draws, 2 * min(score, 1 - score))
    shares = (1 - score - draws / 2, draws, score - draws / 2)
    pairs = np.random.default_rng(seed).choice(3, p=shares, size=(test.games_for() // 2, 2)).sum(1)
    counts = np.cumsum(np.eye(5, dtype=int)[pairs], axis=0)

    def ended(pair: int) -> bool:
        return test.state(counts[pair].tolist()).accepted is not None

    every = max(1, len(pairs) // 25)  # checking every pair would be slower
    watched = range(every - 1, len(pairs), every)
    return test.state(counts[next(filter(ended, watched), -1)].tolist())


def test_a_test_of_200_games_would_leave_most_candidates_undecided() -> None:
    """A gate of that size decided only 12 % of candidates with +35 Elo."""
    test = Sprt(elo0=0, elo1=35)
    assert test.games_for(0.12) == pytest.approx(200, rel=0.05)
    assert test.games_for(0.5) < test.expected_games < test.games_for() < test.games_for(0.99)
    drift = (score_of_elo(35) - 0.5) ** 2 / (1 / 8) / 2  # of a pair without draws, at elo0
    assert test.expected_games == pytest.approx(2 * 0.9 * math.log(19) / drift, rel=0.01)
