"""The faults in tests/mutants.toml match the sources and the tests."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
FAULTS = tomllib.loads((ROOT / "tests" / "mutants.toml").read_text())["fault"]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault["name"])
def test_a_fault_has_its_line_and_its_test(fault: dict[str, Any]) -> None:
    assert (ROOT / fault["file"]).read_text().count(fault["old"]) == 1
    file, _, name = fault["caught_by"].partition("::")
    assert name.partition("[")[0] in (ROOT / file).read_text()
