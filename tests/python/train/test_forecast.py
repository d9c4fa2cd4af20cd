"""Forecasts of a run: plain functions of its progress and settings."""

from __future__ import annotations

import math
from typing import Any

import pytest

pytest.importorskip("pydantic", reason="training needs pydantic: the extra train")

from pyengine.train import RunProgress
from pyengine.train.loop import forecast
from pyengine.train.loop.forecast import Wait
from pyengine.train.loop.meter import Meter
from run_games import run_of

#: A step trains on 32 positions, so a candidate of 20 steps needs 640 samples: 160 positions.
RUN = run_of(
    run={"minutes": 1},
    train={"batch_size": 32},
    window={"minimum_positions": 100, "samples_per_position": 4},
    gate={"every_steps": 20},
)


def progress(**changes: Any) -> RunProgress:
    """Return the progress of a run: ten games, of whose positions half are usable."""
    values: dict[str, Any] = {
        "seconds": 30.0, "games": 10, "positions": 80, "positions_per_second": 8.0, "usable": 40,
        "step": 0, "policy": None, "value": None, "best": None, "window": 0, "gate": "",
        "restarts": 0, "finishing": False,
    }  # fmt: skip
    return RunProgress(**(values | changes))


@pytest.mark.parametrize(
    ("changes", "wait"),
    [
        ({"usable": 0}, Wait("minimum_positions", 100)),
        ({"usable": 99}, Wait("minimum_positions", 1)),
        ({"usable": 100}, None),
        ({"usable": 104, "step": 12}, None),
        ({"usable": 104, "step": 13}, Wait("samples_per_position", 8)),
    ],
)
def test_the_learner_waits_for_a_setting_and_so_many_positions(
    changes: dict[str, Any], wait: Wait | None
) -> None:
    assert forecast.wait_of(progress(**changes), RUN) == wait


@pytest.mark.parametrize(
    ("changes", "seconds"),
    [
        ({"positions_per_second": 0.0}, None),
        ({"positions": 0, "usable": 0, "games": 0}, None),
        ({}, 30.0),  # 120 more positions, of which 4 a second are usable
        ({"usable": 160, "positions": 320}, None),  # the learner's speed is unknown
        ({"samples_per_second": 64.0}, 30.0),  # training takes 10 s, which begin after 15 s
        ({"samples_per_second": 16.0}, 55.0),  # 15 s to start, and 40 s to train
        ({"usable": 160, "step": 10, "samples_per_second": 32.0}, 10.0),
    ],
)
def test_the_first_candidate_takes_its_positions_and_its_steps(
    changes: dict[str, Any], seconds: float | None
) -> None:
    assert forecast.seconds_to_candidate(progress(**changes), RUN) == seconds


def test_games_take_as_long_as_their_positions() -> None:
    assert forecast.seconds_to_games(progress(), 100) == 90.0  # a game a second
    assert forecast.seconds_to_games(progress(games=0), 100) is None


def test_a_run_without_a_limit_of_minutes_has_infinite_time() -> None:
    assert forecast.seconds_left(progress(), RUN) == 30.0
    assert forecast.seconds_left(progress(), run_of()) == math.inf


def test_a_rate_is_the_mean_of_the_last_half_minute() -> None:
    meter = Meter(begun=0.0)
    meter.add(1.0, 100)
    assert meter.rate(10.0) == pytest.approx(10)
    meter.add(35.0, 60)
    assert meter.rate(40.0) == pytest.approx(2)
    meter.add(90.0, 0)
    assert meter.rate(95.0) == pytest.approx(1), "nothing for a minute"
