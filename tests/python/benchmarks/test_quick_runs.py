"""Every suite runs briefly and checks its answers. Nothing is timed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyengine
from quick_suites import quick, rows_of, suite_module

common, device, fresh, modelled, suites = map(
    suite_module, ("common", "device", "fresh", "modelled", "suites")
)

ONE_CORE = pyengine.base.machine.cores() < 2


@pytest.mark.parametrize("suite", suites.SUITES)
def test_a_suite_runs_and_no_row_fails(suite: str) -> None:
    report = quick(suite)
    assert suite == suite_module(suites.module_of(suite)).NAME
    assert report["description"]
    assert report["rows"] or any(note.startswith("missing: ") for note in report["notes"])


@pytest.mark.parametrize(
    ("suite", "parts"),
    [
        ("evaluator", ["tiny"]),
        ("parallel-strength", ["tiny"]),
        ("saturation", ["tree=10000,batch=8,threads=1", "searches=64x200,batch=8,threads=1"]),
        ("selfplay", ["games=64,batch=8,threads=1"]),
        pytest.param(
            "threads",
            ["tiny", "rollout", "trees=64"],
            marks=pytest.mark.skipif(ONE_CORE, reason="one core"),
        ),
    ],
)
def test_a_ratio_states_its_interval_and_confidence(suite: str, parts: list[str]) -> None:
    ratios = {name: row for name, row in rows_of(suite).items() if "ratio" in row}
    for part in parts:
        assert any(part in name for name in ratios)
    for row in ratios.values():
        assert 0 < row["from"] <= row["ratio"] <= row["to"]
        assert row["confidence %"] == (50 if row.get("pairs") == 2 else 0)


def test_the_tree_suite_times_every_game() -> None:
    games = ("tic_tac_toe", "connect_four", "othello", "gomoku15", "go19", "go9")
    rows = [f"{game}/uniform" for game in games] + ["go19/17 planes"]
    assert list(rows_of("tree")) == [f"tree/{row}/threads=1" for row in rows]
    assert all(row["us"] > 0 for row in rows_of("tree").values())


@pytest.mark.skipif(not fresh.knows_memory(), reason="no /proc/self/status here")
def test_the_memory_suite_measures_visits_caps_and_growth() -> None:
    rows = rows_of("memory")
    assert sum(name.endswith("/visits") for name in rows) == 4
    for name, row in rows.items():
        if "/cap=" in name:
            assert row["MiB above the cap"] <= row["asked"]
    assert sum("growth" in row for row in rows.values()) == 2


def test_the_latency_suite_times_every_call_that_blocks() -> None:
    rows = rows_of("latency")
    calls = {name.split("/")[3].split(",")[0] for name in rows}
    assert {"advance", "clear", "close", "stop", "interrupt", "simulations=1"} <= calls
    assert all(row.get("ms", row.get("us")) > 0 for row in rows.values())


# The modelled device


def test_the_device_suite_states_utilisation_and_fill() -> None:
    rows = rows_of("device")
    costs = [row for name, row in rows.items() if "/fast_device/" in name]
    assert {row["threads"] for row in costs} >= {16, 32}
    for row in rows.values():
        if "busy" in row or "ratio" in row or row in costs:
            continue
        assert 0 < row["utilisation"] <= 1.0
        assert row["utilisation"] <= row["in service"] + 1e-9 <= 1.05  # equal if every row is full
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

    def threads(kind: str) -> set[tuple[int, int]]:
        """Each search numbers its own threads."""
        return {(span["pid"], span["tid"]) for span in spans if span["name"] == kind}

    assert threads("gather").isdisjoint(threads("evaluate"))


def test_a_modelled_device_evaluates_equal_positions_alike_and_counts_its_rows() -> None:
    device = modelled.ModelledDevice(0.0, 0.0)
    game = pyengine.load_game("connect_four")
    first, second = game.new_initial_state(), game.new_initial_state([3])
    policy, value = device.evaluate([first, second, first])
    assert np.array_equal(policy[0], policy[2])
    assert not np.array_equal(policy[0], policy[1])
    assert value[0] == value[2] != value[1]
    np.testing.assert_allclose(policy.sum(1), 1, rtol=1e-5)
    counters = device.counters()
    assert (counters["batches"], counters["rows"]) == (1, 3)


def test_a_modelled_device_serves_156098_rows_a_second_in_batches_of_256() -> None:
    assert modelled.ModelledDevice().capacity(256) == pytest.approx(156_098, abs=1)
    with pytest.raises(pyengine.ConfigError, match="streams"):
        modelled.ModelledDevice(streams=-1)


# Probes: measurements in a process of their own

PROBE = """
import json, sys, time
print("a library prints something")
print(json.dumps({"a": 1}), flush=True)
if sys.argv[1] == "fails":
    raise SystemExit("a reason")
time.sleep(60 if sys.argv[1] == "hangs" else 0)
"""


@pytest.fixture
def probe_file(tmp_path: Path) -> Path:
    file = tmp_path / "probe.py"
    file.write_text(PROBE)
    return file


@pytest.mark.parametrize(
    ("probe", "seconds", "error"),
    [("ends", 60, None), ("fails", 60, "a reason"), ("hangs", 3, "timed out after 3 s")],
)
def test_a_probe_yields_its_rows_at_once_and_reports_how_it_ended(
    probe: str, seconds: float, error: str | None, probe_file: Path
) -> None:
    stream: Any = fresh.stream(probe_file, probe, seconds=seconds)
    assert next(stream) == {"a": 1}
    if error is None:
        assert list(stream) == []
    else:
        with pytest.raises(fresh.FreshError, match=error):
            next(stream)


def test_a_closed_stream_ends_its_process(
    probe_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[Any] = []
    popen = fresh.subprocess.Popen

    def record(*arguments: Any, **options: Any) -> Any:
        started.append(popen(*arguments, **options))
        return started[-1]

    monkeypatch.setattr(fresh.subprocess, "Popen", record)
    stream = fresh.stream(probe_file, "hangs", seconds=50)
    next(stream)
    stream.close()
    assert started[0].poll() is not None


def test_a_call_returns_the_answer_or_raises_the_reason(probe_file: Path) -> None:
    assert fresh.call(probe_file, "ends") == {"a": 1}
    with pytest.raises(pyengine.EngineError, match="a reason"):
        fresh.call(probe_file, "fails")
