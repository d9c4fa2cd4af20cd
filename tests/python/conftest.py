"""Shared fixtures, and the check that the tests leave no process behind."""

from __future__ import annotations

import contextlib
import csv
import json
import os
import random
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from left_processes import RUN_MARK, left_processes

ROOT = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("PYENGINE_SHARED", ROOT.parent / "shared"))

Case = dict[str, Any]


def shared_path(*parts: str) -> Path:
    """Return a path in the folder of third-party cases; skip the test if it is absent."""
    path = SHARED.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"third-party cases absent: no {path} (set PYENGINE_SHARED to their folder)")
    return path


@pytest.fixture(scope="session")
def shared() -> Callable[..., Path]:
    """Return :func:`shared_path`."""
    return shared_path


@pytest.fixture(scope="session")
def oracle() -> Callable[[str], list[Case]]:
    """Return a function that reads the cases in ``oracles/FOLDER/FILE`` (JSON lines, JSON, CSV)."""

    def read(name: str) -> list[Case]:
        path = shared_path("oracles", *name.split("/"))
        if path.suffix == ".csv":
            with path.open(newline="") as file:
                return list(csv.DictReader(file))
        if path.suffix == ".json":
            return [json.loads(path.read_text())]
        return [json.loads(line) for line in path.read_text().splitlines() if line.strip()]

    return read


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> random.Random:
    """Return a generator seeded by the test's name."""
    return random.Random(request.node.nodeid)


def pytest_configure(config: pytest.Config) -> None:
    """Restore signal handlers, and mark the processes that the tests start.

    A background job ignores SIGINT, a job under nohup ignores SIGHUP, and child processes inherit
    this.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
    if not is_worker(config):
        os.environ[RUN_MARK] = str(os.getpid())


def is_worker(config: pytest.Config) -> bool:
    """Return whether this process is a worker of pytest-xdist."""
    return hasattr(config, "workerinput")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail the run if it leaves processes behind, and kill them."""
    if is_worker(session.config):
        return
    left = left_processes(os.environ[RUN_MARK], patience=5.0)
    for process, command in left.items():
        print(f"\nleft behind by the tests: process {process}: {command}")
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    if left:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
