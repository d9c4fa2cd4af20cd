"""Figures that go with a win rate."""

from __future__ import annotations

import pytest

import pyengine
from pyengine.protocols.winrate import lead_from_win_rate, lower_confidence_bound

GO9 = pyengine.load_game("go(board_size=9)")


@pytest.mark.parametrize(
    ("win_rate", "lead"), [(0.5, 0.0), (0.75, 4.5), (0.25, -4.5), (1.0, 28.6), (0.0, -28.6)]
)
def test_a_lead_grows_with_the_log_odds_and_is_limited(win_rate: float, lead: float):
    assert lead_from_win_rate(win_rate, GO9) == pytest.approx(lead, abs=0.1)


def test_a_lower_bound_approaches_the_win_rate_with_more_visits():
    bounds = [lower_confidence_bound(0.6, visits) for visits in (0, 1, 10, 1000, 10**9)]
    assert bounds == sorted(bounds)
    assert bounds[0] == 0.0
    assert bounds[-1] == pytest.approx(0.6, abs=1e-3)
