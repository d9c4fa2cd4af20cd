"""Pairs, intervals and verdicts of the benchmark suites, on made-up figures."""

from __future__ import annotations

import importlib
import random
import statistics
import threading
from typing import Any

import pytest

PACKAGE = "pyengine.benchmarks"

common = pytest.importorskip(f"{PACKAGE}.common", reason="the suites are not installed")
bars = importlib.import_module(f"{PACKAGE}.bars")
intervals = importlib.import_module(f"{PACKAGE}.intervals")
pairs = importlib.import_module(f"{PACKAGE}.pairs")


# Pairs


@pytest.mark.parametrize(
    ("pace", "sides", "order"),
    [
        (pairs.Pace(0.0, 4), "AB", "ABBAABBA"),
        (pairs.Pace(0.0, 2), "ABC", "ABCCBA"),
        (pairs.Pace(0.0, 5), "AB", "ABBAABBAABBA"),  # an even number of rounds
        (pairs.Pace(1e9, 2, 4), "AB", "ABBAABBA"),  # no more than the maximum
        (pairs.pace(common.Options(quick=True), 1e9, 50), "AB", "ABBA"),
    ],
)
def test_each_side_goes_first_equally_often(pace: Any, sides: str, order: str) -> None:
    calls: list[str] = []
    rounds = pairs.in_turns(pace, *[lambda side=side: calls.append(side) or side for side in sides])
    assert "".join(calls) == order
    assert set(rounds) == {tuple(sides)}


def test_drift_and_position_do_not_bias_the_ratio() -> None:
    """On a machine that slows down, and whose second call is slower, equal sides stay equal."""
    clock = iter(range(1000))

    def call() -> float:
        now = next(clock)
        return 1.0 / (1 + 0.01 * now) / (1.2 if now % 2 else 1.0)

    ratios = [a / b for a, b in pairs.in_turns(pairs.Pace(0.0, 10), call, call)]
    interval = intervals.of_median(ratios)
    assert interval.low < 1 < interval.high
    assert statistics.median(ratios) == pytest.approx(1, abs=0.02)


def test_a_row_states_the_median_of_the_paired_ratios() -> None:
    theirs = [pairs.Rate(wall, 1.0) for wall in (100, 50, 200, 100, 100, 100)]
    ours = [pairs.Rate(wall, 2.0) for wall in (110, 60, 200, 90, 120, 100)]
    row = pairs.ratios(ours, theirs)
    assert row["ratio"] == pytest.approx(1.05)  # 0.9 1 1 1.1 1.2 1.2
    assert (row["from"], row["to"], row["confidence %"]) == (0.9, 1.2, 96.875)
    assert (row["pairs"], row["cpu ratio"]) == (6, 2)


def test_unknown_processor_time_gives_no_ratio() -> None:
    assert pairs.ratios([pairs.Rate(1, 1)], [pairs.Rate(1, 0)])["cpu ratio"] is None


def test_a_rate_counts_at_least_one_call() -> None:
    assert pairs.rate_of([lambda: 1, lambda: 1], 0.0).wall > 0


def test_an_interrupt_leaves_no_threads_running(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(pairs, "wait", interrupted)
    before = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        pairs.rate_of([lambda: 1], 1e9)
    assert threading.active_count() == before


# Intervals


@pytest.mark.parametrize(
    ("count", "low", "high", "confidence"),
    [
        (1, 1, 1, 0.0),
        (2, 1, 2, 0.5),
        (5, 1, 5, 0.9375),  # the most that five values give
        (6, 1, 6, 0.96875),
        (8, 1, 8, 0.9921875),
        (9, 2, 8, 0.9609375),
        (10, 2, 9, 0.978515625),
        (25, 8, 18, 0.9567147493362427),
    ],
)
def test_the_interval_of_the_median_is_that_of_the_sign_test(
    count: int, low: float, high: float, confidence: float
) -> None:
    values = list(range(1, count + 1))
    random.Random(0).shuffle(values)
    assert intervals.of_median(values) == (low, high, pytest.approx(confidence, rel=1e-12))


@pytest.mark.parametrize(
    ("count", "total", "low", "high"),
    [  # Clopper and Pearson 1934; Newcombe 1998, table I: 81 of 263
        (81, 263, 0.2527, 0.3676),
        (0, 20, 0.0, 0.1684),
        (20, 20, 0.8316, 1.0),
        (128, 128, 0.9716, 1.0),
    ],
)
def test_the_interval_of_a_share_is_exact(count: int, total: int, low: float, high: float) -> None:
    interval = intervals.of_share(count, total)
    assert interval == (pytest.approx(low, abs=6e-5), pytest.approx(high, abs=6e-5), 0.95)


# Verdicts


def row_of(title: str, measured: float, required: float, *interval: float) -> dict[str, Any]:
    """Return a row; the interval is (low, high), at 95 %, or (low, high, confidence)."""
    ends = dict(zip(("from", "to", "confidence %"), (*interval, 95.0)[:3], strict=False))
    return {"name": "suite/row", "asked": required, title: measured, **(ends if interval else {})}


@pytest.mark.parametrize(
    ("row", "verdict"),
    [
        (row_of("ratio", 0.98, 0.97, 0.97, 0.99), "met"),
        (row_of("ratio", 0.98, 0.97, 0.969, 0.99), "not decided"),
        (row_of("ratio", 0.96, 0.97, 0.95, 0.97), "not decided"),
        (row_of("ratio", 0.96, 0.97, 0.95, 0.969), "missed"),
        (row_of("ms", 0.5, 1.0, 0.4, 1.0), "met"),
        (row_of("ms", 0.5, 1.0, 0.4, 1.1), "not decided"),
        (row_of("ms", 1.5, 1.0, 1.1, 2.0), "missed"),
        (row_of("ratio", 2.0, 0.97, 1.9, 2.1, 93.75), "not decided"),  # five pairs
        (row_of("ratio", 2.0, 0.97), "not decided"),  # no interval
        (row_of("smaller", 9.0, 8.0, 9.0, 9.0, 100.0), "met"),
        (row_of("ratio", 2.0, 1.0, 1.9, 2.1) | {"bar": "-"}, "-"),
        ({"name": "suite/row", "asked": None, "ratio": 0.1}, None),
        ({"name": "suite/row", "ratio": 0.1}, None),
        ({"name": "suite/row", "asked": 1.0, "failed": "why"}, None),
    ],
)
def test_a_verdict_needs_the_whole_interval_on_one_side(
    row: dict[str, Any], verdict: str | None
) -> None:
    rows = [dict(row)]
    bars.decide(rows)
    assert rows[0].get("bar") == verdict
    assert len(bars.summary(rows)) == (verdict is not None)


def test_the_summary_states_requirement_interval_and_verdict() -> None:
    [short] = bars.summary([row_of("ms", 0.5, 1.0, 0.4, 1.1)])
    table = "\n".join(common.columns([short]))
    assert "<= 1" in table
    assert "not decided" in table
    assert (short["from"], short["to"], short["confidence %"]) == (0.4, 1.1, 95.0)


def test_a_bar_knows_the_reached_share_of_its_requirement() -> None:
    most = bars.bar_of(row_of("ms", 0.5, 1.0))
    least = bars.bar_of(row_of("ratio", 0.4, 0.8))
    assert (most.reached, least.reached) == (2.0, 0.5)


def test_a_quick_run_states_no_verdict() -> None:
    report = common.Report("suite")
    row = row_of("ratio", 2.0, 1.0, 1.9, 2.1)
    common.run_kept(report, lambda *_: report.rows.append(row), common.Options(quick=True))
    assert "bar" not in report.rows[0]
    assert "no measurement" in report.table()


# Tables


def test_a_table_wider_than_the_terminal_is_split_into_parts() -> None:
    rows = [{"name": f"row {i}", **{f"figure {j}": i * j for j in range(9)}} for i in range(2)]
    narrow = common.columns(rows, 40)
    assert max(map(len, narrow)) <= 40
    assert sum(line.startswith("row 1 ") for line in narrow) == 3  # each part repeats the names
    assert common.columns(rows, 200) == common.columns(rows)


def test_notes_are_wrapped_at_spaces() -> None:
    report = common.Report("suite", "words " * 20, notes=["a note " * 20])
    assert max(map(len, report.table(60).splitlines())) <= 60
    assert "a note a note " * 9 in report.table()
