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


# Turns


def order_of(pace: Any, sides: str) -> tuple[str, list[tuple[str, ...]]]:
    """Return the order in which the sides were measured, and the rounds."""
    order: list[str] = []

    def side(name: str) -> Any:
        def call() -> str:
            order.append(name)
            return name

        return call

    rounds = pairs.in_turns(pace, *map(side, sides))
    return "".join(order), rounds


def test_each_side_is_as_often_first() -> None:
    assert order_of(pairs.Pace(0.0, 4), "AB") == ("ABBAABBA", [("A", "B")] * 4)
    assert order_of(pairs.Pace(0.0, 2), "ABC") == ("ABCCBA", [("A", "B", "C")] * 2)


def test_the_number_of_rounds_is_even() -> None:
    assert len(order_of(pairs.Pace(0.0, 5), "AB")[1]) == 6
    assert len(order_of(pairs.Pace(1e9, 2, 8), "AB")[1]) == 8


def test_a_drift_and_the_place_in_a_pair_cancel() -> None:
    """A machine that slows down, and whose second call is slower: equal sides stay equal."""
    clock = iter(range(1000))

    def call() -> float:
        now = next(clock)
        return 1.0 / (1 + 0.01 * now) / (1.2 if now % 2 else 1.0)

    rounds = pairs.in_turns(pairs.Pace(0.0, 10), call, call)
    each = [a / b for a, b in rounds]
    interval = intervals.of_median(each)
    assert interval.low < 1 < interval.high
    assert statistics.median(each) == pytest.approx(1, abs=0.02)


def test_quick_runs_measure_every_side_first_once() -> None:
    quick = pairs.pace(common.Options(quick=True), 1e9, 50)
    assert order_of(quick, "AB")[0] == "ABBA"
    assert pairs.samples(quick, lambda: 7) == [7]
    assert pairs.pace(common.Options(), 3.0, 8, 20) == (3.0, 8, 20)


def test_ratios_are_of_pairs() -> None:
    theirs = [pairs.Rate(wall, 1.0) for wall in (100, 50, 200, 100, 100, 100)]
    ours = [pairs.Rate(wall, 2.0) for wall in (110, 60, 200, 90, 120, 100)]
    row = pairs.ratios(ours, theirs)
    assert row["ratio"] == pytest.approx(1.05)  # 0.9 1 1 1.1 1.2 1.2
    assert (row["from"], row["to"], row["confidence %"]) == (0.9, 1.2, 96.875)
    assert (row["pairs"], row["cpu ratio"]) == (6, 2)


def test_processor_time_that_is_not_known_gives_no_ratio() -> None:
    assert pairs.ratios([pairs.Rate(1, 1)], [pairs.Rate(1, 0)])["cpu ratio"] is None


def test_a_rate_is_of_one_call_at_least() -> None:
    assert pairs.rate_of([lambda: 1, lambda: 1], 0.0).wall > 0


def test_an_interrupt_does_not_leave_threads_at_work(monkeypatch: pytest.MonkeyPatch) -> None:
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
        (5, 1, 5, 0.9375),  # all that 5 values give
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


def test_the_interval_of_the_median_covers_as_often_as_it_says() -> None:
    draw = random.Random(1)
    for count in (6, 12):
        found = [
            intervals.of_median([draw.expovariate(1) for _ in range(count)]) for _ in range(3000)
        ]
        covered = sum(one.low <= 0.6931472 <= one.high for one in found) / len(found)
        assert covered == pytest.approx(found[0].confidence, abs=0.015)


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
    found = intervals.of_share(count, total)
    assert found == (pytest.approx(low, abs=6e-5), pytest.approx(high, abs=6e-5), 0.95)


# Verdicts


def row_of(title: str, measured: float, asked: float, *interval: float) -> dict[str, Any]:
    """Return a row with an interval of 95 %, or of the confidence that is its last number."""
    ends = dict(zip(("from", "to", "confidence %"), (*interval, 95.0)[:3], strict=False))
    return {"name": "suite/row", "asked": asked, title: measured, **(ends if interval else {})}


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
def test_a_bar_is_met_or_missed_where_the_whole_interval_says_so(
    row: dict[str, Any], verdict: str | None
) -> None:
    rows = [dict(row)]
    bars.decide(rows)
    assert rows[0].get("bar") == verdict
    assert len(bars.summary(rows)) == (verdict is not None)


def test_the_summary_prints_the_interval() -> None:
    [short] = bars.summary([row_of("ms", 0.5, 1.0, 0.4, 1.1)])
    table = "\n".join(common.columns([short]))
    assert "<= 1" in table
    assert "not decided" in table
    assert (short["from"], short["to"], short["confidence %"]) == (0.4, 1.1, 95.0)


def test_a_table_wider_than_the_terminal_comes_in_parts_with_the_names() -> None:
    rows = [{"name": f"row {i}", **{f"figure {j}": i * j for j in range(9)}} for i in range(2)]
    wide, narrow = common.columns(rows), common.columns(rows, 40)
    assert max(map(len, narrow)) <= 40 < max(map(len, wide))
    assert narrow.count("") == 2
    heads = [line for line in narrow if line.startswith("name ")]
    assert " ".join(heads).split().count("figure") == 9
    assert sum(line.startswith("row 1 ") for line in narrow) == 3
    assert common.columns(rows, 200) == wide


def test_notes_are_broken_between_words() -> None:
    report = common.Report("suite", "words " * 20)
    report.notes.append("a note " * 20)
    assert max(map(len, report.table(60).splitlines())) <= 60
    assert "a note a note " * 9 in report.table()


def test_a_bar_says_how_much_of_what_is_asked_is_there() -> None:
    most = bars.bar_of(row_of("ms", 0.5, 1.0))
    least = bars.bar_of(row_of("ratio", 0.4, 0.8))
    assert (most.reached, least.reached) == (2.0, 0.5)


def test_a_quick_run_states_no_verdict() -> None:
    report = common.Report("suite")
    common.run_kept(
        report,
        lambda report, _: report.rows.append(row_of("ratio", 2.0, 1.0, 1.9, 2.1)),
        common.Options(quick=True),
    )
    assert "bar" not in report.rows[0]
    assert "no measurement" in report.table()
