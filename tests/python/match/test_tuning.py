"""Tuning on a simulated machine whose best setting is known; nothing is timed."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyengine
from pyengine.match import tune
from pyengine.match.tuning import Setting, _Halving, rounds_of, settings_for
from wrong_values import check_refused

CORES = 4


def true_rate(setting: Setting) -> float:
    """Return the speed of a made-up machine of four cores: best at 4 threads and batches of 16.

    Rows of a batch share a fixed cost; beyond 16 they no longer fit into the cache; a thread
    without a batch of its own in flight idles.
    """
    busy = min(setting.threads, setting.in_flight / setting.batch_size)
    row = 1.0 + 4.0 / setting.batch_size + 0.02 * max(0, setting.batch_size - 16)
    return 10_000 * busy / row


def noisy(share: float, seed: int = 1) -> Callable[[Setting, float], float]:
    rng = np.random.default_rng(seed)
    return lambda setting, _: true_rate(setting) * (1 + share * float(rng.standard_normal()))


def test_the_choice_is_within_5_percent_of_the_best_of_the_grid() -> None:
    grid = settings_for(CORES, False)
    best = max(map(true_rate, grid))
    for seed in range(20):
        search = _Halving(noisy(0.02, seed))
        assert search.run(grid, 60.0)
        assert true_rate(search.best().setting) >= 0.95 * best


def test_ties_go_to_fewer_leaves_in_flight_which_cost_less_than_5_percent() -> None:
    def best(rate: Callable[[Setting], float], settings: list[Setting]) -> Setting:
        search = _Halving(lambda setting, _: rate(setting))
        search.run(settings, 60.0)
        return search.best().setting

    grid = settings_for(CORES, False)
    assert best(true_rate, grid) == Setting(in_flight=64, batch_size=16, threads=4)
    assert best(lambda _: 1_000.0, grid).in_flight == 1
    slow, fast = Setting(1, 1, 1), Setting(in_flight=256, batch_size=64, threads=4)
    assert best(lambda setting: 1.05 if setting == fast else 1.0, [fast, slow]) == fast


def test_every_setting_is_measured_and_finalists_most_often() -> None:
    grid = settings_for(CORES, False)
    measured: list[tuple[Setting, float]] = []

    def measure(setting: Setting, seconds: float) -> float:
        measured.append((setting, seconds))
        return true_rate(setting)

    search = _Halving(measure)
    search.run(grid, 60.0)
    assert {setting for setting, _ in measured} == set(grid)
    assert sum(seconds for _, seconds in measured) == pytest.approx(60.0)
    trials = search.table()
    assert trials[0].rounds == rounds_of(len(grid))
    assert trials[0].measurements > trials[-1].measurements == 1
    assert [t.rounds for t in trials] == sorted((t.rounds for t in trials), reverse=True)


def test_settings_of_a_round_are_measured_in_turns() -> None:
    grid = [Setting(n, n, 1) for n in (1, 2, 3)]
    order: list[int] = []

    def measure(setting: Setting, _: float) -> float:
        order.append(setting.batch_size)
        return 1.0

    _Halving(measure).run(grid, 10.0)
    assert order == [1, 2, 3, 3, 2, 1, 1, 2, 3, 3, 2, 1, 1, 2, 3]


def test_progress_reaches_1_and_reports_the_best_after_the_first_round() -> None:
    reports: list[tuple[float, Any]] = []
    grid = settings_for(CORES, False)
    _Halving(noisy(0.01), lambda share, best: reports.append((share, best))).run(grid, 30.0)
    shares = [share for share, _ in reports]
    assert shares == sorted(shares)
    assert math.isclose(shares[-1], 1.0)
    assert reports[0][1] is None
    assert reports[-1][1].rate > 0


def test_ctrl_c_returns_the_best_so_far_or_raises_before_any_measurement() -> None:
    grid = settings_for(CORES, False)

    def interrupted_after(count: int) -> _Halving:
        left = iter(range(count))

        def measure(setting: Setting, _: float) -> float:
            if next(left, None) is None:
                raise KeyboardInterrupt
            return true_rate(setting)

        return _Halving(measure)

    search = interrupted_after(len(grid) + 3)
    assert not search.run(grid, 60.0)
    assert true_rate(search.best().setting) >= 0.95 * max(map(true_rate, grid))
    search = interrupted_after(3)
    assert not search.run(grid, 60.0)
    tried = [trial.setting for trial in search.table()]
    assert len(tried) == 3
    assert search.best().rate == max(map(true_rate, tried))
    with pytest.raises(KeyboardInterrupt):
        interrupted_after(0).run(grid, 60.0)


@pytest.mark.parametrize("cores", [1, 6, 64])
@pytest.mark.parametrize("on_device", [False, True])
def test_the_grid_ranges_from_one_thread_to_all_cores(cores: int, on_device: bool) -> None:
    grid = settings_for(cores, on_device)
    threads = {setting.threads for setting in grid}
    assert {1, cores} <= threads <= set(range(1, cores + 1))
    assert all(s.batch_size <= s.in_flight <= 4096 for s in grid)
    assert len(set(grid)) == len(grid)


@pytest.mark.parametrize(
    ("provider", "on_device"),
    [
        ("CPUExecutionProvider", False),
        (None, False),
        ("CUDAExecutionProvider without CUDA graphs (a node is on the CPU)", True),
        ("CUDAExecutionProvider + CPU", True),
    ],
)
def test_the_provider_decides_between_the_grids(
    provider: str | None, on_device: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    class ChosenError(Exception):
        pass

    def choose(cores: int, device: bool) -> list[Setting]:
        assert device is on_device
        raise ChosenError

    monkeypatch.setattr(sys.modules["pyengine.match.tuning"], "settings_for", choose)
    with pyengine.Engine("connect_four", "rollout", threads=1) as engine:
        monkeypatch.setattr(engine, "stats", lambda: {"provider": provider})
        with pytest.raises(ChosenError):
            tune(engine, seconds=0.1)


def test_tune_returns_a_usable_configuration() -> None:
    with pyengine.Engine("connect_four", "rollout", c_puct=2.0, threads=1) as engine:
        result = tune(engine, seconds=0.2)
    assert result.complete
    assert result.config.c_puct == 2.0
    best = result.best.setting
    assert result.config.threads == best.threads
    assert result.config.batch_size == best.batch_size
    assert result.config.in_flight == best.in_flight
    assert result.best in result.trials
    assert "<- chosen" in str(result)
    assert max(map(len, str(result).splitlines())) <= 80
    assert len(repr(result)) < 200
    assert json.loads(json.dumps(result.to_dict()))["rate"] == result.best.rate


def test_tune_accepts_evaluators_without_rows_and_solved_games() -> None:
    with pyengine.Engine("tic_tac_toe", "uniform") as engine:
        assert tune(engine, seconds=0.05).best.rate > 0


def test_tune_refuses_seconds_out_of_range() -> None:
    with pyengine.Engine("tic_tac_toe", "uniform") as engine:
        check_refused(
            lambda seconds: tune(engine, seconds=seconds),
            {"0": 0, "-1": -1, "NaN": math.nan, "infinity": math.inf},
            "seconds",
        )
