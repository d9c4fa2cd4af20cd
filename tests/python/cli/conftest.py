"""Shared fixtures."""

from __future__ import annotations

from pathlib import Path

import pytest

import pyengine
from pyengine.doctor import DoctorReport


@pytest.fixture(autouse=True)
def state_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Save games of ``pyengine play`` below the temporary directory."""
    home = tmp_path / "state"
    monkeypatch.setenv("XDG_STATE_HOME", str(home))
    return home


@pytest.fixture(scope="session")
def report() -> DoctorReport:
    """Return the doctor's report, without a search with each bundled network."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pyengine.doctor.report.bundled_models", dict)
        return pyengine.doctor()


@pytest.fixture
def examined_once(report: DoctorReport, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make ``pyengine doctor`` print the same report in all tests."""
    monkeypatch.setattr("pyengine.cli.doctor.examine", lambda _device: report)
