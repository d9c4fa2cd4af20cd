"""Ratings of synthetic players with known strengths."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from statistics import fmean, stdev

import pytest

from pyengine.match.statistics import score_of_elo
from pyengine.train.loop.rating import Pairing, Rating, ratings


def played(rng: random.Random, true: Sequence[float], a: int, b: int, games: int) -> Pairing:
    """Simulate games between two players, without draws."""
    wins = sum(rng.random() < score_of_elo(true[a] - true[b]) for _ in range(games))
    return Pairing(player=a, opponent=b, wins=wins, draws=0, losses=games - wins)


def chain(rng: random.Random, true: Sequence[float], games: int, back: int) -> list[Pairing]:
    """Let each player meet its predecessor and the player ``back`` places earlier."""
    others = [sorted({a - 1, max(0, a - back)}) for a in range(len(true))]
    return [
        played(rng, true, a, b, games) for a in range(1, len(true)) for b in others[a] if b != a
    ]


def rating_of(result: dict[int, Rating | None], player: int) -> Rating:
    rating = result[player]
    assert rating is not None
    return rating


def test_strengths_are_recovered_within_their_errors(rng: random.Random) -> None:
    true = [0.0, 150, 250, 320, 400, 430, 500, 480, 560, 600, 640, 700]
    result = ratings(chain(rng, true, games=400, back=4))
    assert sorted(result) == list(range(len(true)))
    assert result[0] == Rating(elo=0.0, error=0.0)
    errors = [
        (rating_of(result, a).elo - true[a]) / rating_of(result, a).error
        for a in range(1, len(true))
    ]
    assert max(map(abs, errors)) < 4
    assert all(10 < rating_of(result, a).error < 40 for a in range(1, len(true)))


def test_the_rating_of_a_long_chain_is_unbiased(rng: random.Random) -> None:
    true = [15.0 * a for a in range(60)]
    ends = [rating_of(ratings(chain(rng, true, games=20, back=4)), 59).elo for _ in range(30)]
    assert abs(fmean(ends) - true[-1]) < 4 * stdev(ends) / math.sqrt(len(ends))


def test_ratings_do_not_depend_on_how_games_are_grouped() -> None:
    one = ratings([Pairing(player=1, opponent=0, wins=20, draws=6, losses=4)])
    two = ratings(
        [
            Pairing(player=0, opponent=1, wins=4, draws=0, losses=15),
            Pairing(player=1, opponent=0, wins=5, draws=6, losses=0),
        ]
    )
    assert rating_of(one, 1).elo == pytest.approx(rating_of(two, 1).elo)
    assert rating_of(one, 1).elo == pytest.approx(400 * math.log10(23.25 / 7.25))


def test_the_rating_of_a_clean_sweep_is_finite() -> None:
    result = ratings(
        [Pairing(player=a + 1, opponent=a, wins=40, draws=0, losses=0) for a in (0, 1)]
    )
    assert rating_of(result, 1).elo == pytest.approx(400 * math.log10(40.25 / 0.25))
    assert rating_of(result, 2).elo == pytest.approx(2 * rating_of(result, 1).elo)
    assert rating_of(result, 2).error > rating_of(result, 1).error > 100


def test_players_that_beat_each_other_in_a_circle_are_equal() -> None:
    result = ratings(
        [Pairing(player=a, opponent=(a + 1) % 3, wins=4000, draws=0, losses=0) for a in range(3)]
    )
    assert [round(rating_of(result, a).elo, 6) for a in range(3)] == [0, 0, 0]


def test_unconnected_players_have_no_rating() -> None:
    result = ratings(
        [
            Pairing(player=1, opponent=0, wins=1, draws=0, losses=1),
            Pairing(player=5, opponent=4, wins=1, draws=0, losses=1),
            Pairing(player=3, opponent=0, wins=0, draws=0, losses=0),
        ]
    )
    assert result.keys() == {0, 1, 4, 5}
    assert (result[4], result[5]) == (None, None)
    assert rating_of(result, 1).elo == pytest.approx(0)
    assert ratings([]) == {0: Rating(elo=0.0, error=0.0)}
