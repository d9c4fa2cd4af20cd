"""The suite of training data runs, and its bars of size hold on any machine. Nothing is timed."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = "pyengine.benchmarks"

pytest.importorskip(f"{PACKAGE}.common", reason="the suites are not installed")


def test_shards_are_compared_with_the_files_they_become(tmp_path: Path) -> None:
    file = tmp_path / "data.json"
    command = [sys.executable, "-m", PACKAGE, "data", "--quick", "--json", str(file)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = {row["name"].split("/")[2:][0]: row for row in json.loads(file.read_text())["rows"]}
    formats = {"shards", "npz", "npz compressed"}
    if importlib.util.find_spec("pyarrow") is not None:
        formats.add("parquet")
    assert set(rows) == formats
    assert all(row.get("positions/s", 1) > 0 for row in rows.values())
    assert rows["shards"]["smaller"] >= 8
