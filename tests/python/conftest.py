"""What the tests share: the oracles, random choices, and a clean start and end."""

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
    """Return a path in the folder of third-party cases; skip the test where it is absent."""
    path = SHARED.joinpath(*parts)
    if not path.exists():
        pytest.skip(f"third-party cases absent: no {path} (set PYENGINE_SHARED to their folder)")
    return path


@pytest.fixture(scope="session")
def shared() -> Callable[..., Path]:
    """Return paths in the folder of third-party cases."""
    return shared_path


@pytest.fixture(scope="session")
def oracle() -> Callable[[str], list[Case]]:
    """Read ``FOLDER/FILE`` of the oracles as a list of cases: JSON lines, JSON or CSV."""

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
    """Return a generator seeded by the test's name: the same choices in every run."""
    return random.Random(request.node.nodeid)


def pytest_configure(config: pytest.Config) -> None:
    """Let signals reach the tests, and mark the processes that they start.

    A job in the background ignores SIGINT, one under nohup SIGHUP, and every program that it starts
    inherits that.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
    if not is_worker(config):
        os.environ[RUN_MARK] = str(os.getpid())


def is_worker(config: pytest.Config) -> bool:
    """Whether another pytest process started this one to run some of its tests."""
    return hasattr(config, "workerinput")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run that leaves a process behind, and end the process."""
    if is_worker(session.config):
        return
    left = left_processes(os.environ[RUN_MARK], patience=5.0)
    for process, command in left.items():
        print(f"\nleft behind by the tests: process {process}: {command}")
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    if left:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
