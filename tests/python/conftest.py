"""What the tests share: where the oracles are, and random choices."""

from __future__ import annotations

import csv
import json
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

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
