"""Every suite runs briefly on all bundled networks, from the installed package."""

from __future__ import annotations

import importlib

import pytest

import pyengine
from quick_suites import quick, rows_of

pytest.importorskip("pyengine.benchmarks.common", reason="the suites are not installed")
SUITES = importlib.import_module("pyengine.benchmarks.suites").SUITES
#: Their subjects are networks; the others search without one, with playouts or a modelled device.
OF_NETWORKS = ("evaluator", "saturation", "selfplay", "threads", "parallel-strength")


@pytest.mark.parametrize("suite", SUITES)
def test_a_suite_runs_and_no_row_fails(suite: str) -> None:
    report = quick(suite)
    assert report["suite"] == suite
    assert report["description"]
    assert report["rows"] or any(note.startswith("missing: ") for note in report["notes"])
    assert not [row for row in report["rows"] if "failed" in row]


@pytest.mark.parametrize("suite", OF_NETWORKS)
def test_a_suite_of_networks_measures_every_bundled_one(suite: str) -> None:
    if suite == "threads" and pyengine.base.machine.cores() < 2:
        pytest.skip("one core")
    measured = {name.split("/")[2] for name in rows_of(suite)}
    assert set(pyengine.bundled_models()) <= measured


@pytest.mark.parametrize("suite", OF_NETWORKS)
def test_a_ratio_states_its_interval_and_confidence(suite: str) -> None:
    rows = [row for row in rows_of(suite).values() if "ratio" in row]
    for row in rows:
        assert row["from"] <= row["ratio"] <= row["to"]
        assert row["confidence %"] == (50 if row.get("pairs") == 2 else 0)
    assert rows or pyengine.base.machine.cores() < 2
