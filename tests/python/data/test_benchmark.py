"""The benchmark suite for training data runs, and its size limits hold on any machine."""

from __future__ import annotations

import importlib.util

from quick_suites import rows_of


def test_shards_are_compared_with_other_formats() -> None:
    rows = {name.split("/")[2]: row for name, row in rows_of("data").items()}
    formats = {"shards", "npz", "npz compressed"}
    if importlib.util.find_spec("pyarrow") is not None:
        formats.add("parquet")
    assert set(rows) == formats
    assert all(row.get("positions/s", 1) > 0 for row in rows.values())
    assert rows["shards"]["smaller"] >= 8
