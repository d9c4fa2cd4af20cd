"""Suites device, threads, memory and latency run and check their answers. Nothing is timed."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import pyengine
from quick_suites import rows_of

PACKAGE = "pyengine.benchmarks"

common = pytest.importorskip(f"{PACKAGE}.common", reason="the suites are not installed")
device = pytest.importorskip(f"{PACKAGE}.device")
fresh = pytest.importorskip(f"{PACKAGE}.fresh")
modelled = pytest.importorskip(f"{PACKAGE}.modelled")


def test_the_device_suite_says_what_share_of_the_device_is_used() -> None:
    rows = rows_of("device")
    costs = [row for name, row in rows.items() if "/fast_device/" in name]
    assert {row["threads"] for row in costs} >= {16, 32}
    for row in rows.values():
        if "busy" in row or "ratio" in row or row in costs:
            continue
        assert 0 < row["utilisation"] <= 1.0
        assert row["utilisation"] <= row["in service"] + 1e-9 <= 1.05  # equal where all are full
        assert 0 <= row["padding"] < 0.5
        assert 0 < row["fill"] <= 256


def test_the_device_suite_writes_timelines(tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    report = common.Report("device")
    device.run(report, common.Options(trace=file))
    assert not report.failed
    assert all(0 < row["evaluate"] <= 1 for row in report.rows)
    events = json.loads(file.read_text())["traceEvents"]
    assert {event["name"] for event in events} == {"process_name", "gather", "evaluate", "decode"}
    spans = [event for event in events if event["ph"] == "X"]
    assert all(span["dur"] >= 0 and span["tid"] >= 0 and span["args"]["rows"] > 0 for span in spans)
    threads = {
        kind: {(span["pid"], span["tid"]) for span in spans if span["name"] == kind}
        for kind in ("gather", "evaluate")
    }  # each search numbers its own threads
    assert threads["gather"].isdisjoint(threads["evaluate"])


@pytest.mark.skipif(pyengine.base.machine.cores() < 2, reason="one core")
def test_the_threads_suite_compares_two_threads_with_one() -> None:
    rows = rows_of("threads")
    assert any("rollout" in name for name in rows)
    assert any(name.endswith("trees=64") for name in rows)
    assert all(row["ratio"] > 0 and row["cpu ratio"] > 0 for row in rows.values())


@pytest.mark.skipif(not fresh.knows_memory(), reason="no /proc/self/status here")
def test_the_memory_suite_measures_visits_caps_and_growth() -> None:
    rows = rows_of("memory")
    assert sum(name.endswith("/visits") for name in rows) == 4
    for name, row in rows.items():
        if "/cap=" in name:
            assert row["MiB above the cap"] <= row["asked"]
    assert sum("growth" in row for row in rows.values()) == 2


def test_the_latency_suite_times_what_blocks_a_caller() -> None:
    rows = rows_of("latency")
    calls = {name.split("/")[3].split(",")[0] for name in rows}
    assert {"advance", "clear", "close", "stop", "interrupt", "simulations=1"} <= calls
    assert all(row.get("ms", row.get("us")) > 0 for row in rows.values())


def test_a_modelled_device_evaluates_equal_positions_alike_and_counts_its_rows() -> None:
    device = modelled.ModelledDevice(0.0, 0.0)
    game = pyengine.load_game("connect_four")
    first, second = game.new_initial_state(), game.new_initial_state()
    second.apply_action(3)
    policy, value = device.evaluate([first, second, first])
    assert np.array_equal(policy[0], policy[2])
    assert not np.array_equal(policy[0], policy[1])
    assert value[0] == value[2] != value[1]
    np.testing.assert_allclose(policy.sum(1), 1, rtol=1e-5)
    counters = device.counters()
    assert (counters["batches"], counters["rows"]) == (1, 3)


def test_a_modelled_device_of_256_rows_serves_156098_rows_a_second() -> None:
    assert modelled.ModelledDevice().capacity(256) == pytest.approx(156_098, abs=1)
    with pytest.raises(pyengine.ConfigError, match="streams"):
        modelled.ModelledDevice(streams=-1)


def test_a_probe_that_fails_says_what_its_process_said(tmp_path: Path) -> None:
    file = tmp_path / "probe.py"
    file.write_text("raise SystemExit('nothing to measure')")
    with pytest.raises(pyengine.EngineError, match="nothing to measure"):
        fresh.call(file, "anything")
