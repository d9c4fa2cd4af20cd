"""Report files that are rewritten after every row, so that a later run can resume."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pyengine import DataError
from pyengine.base.files import replacing


def load(file: Path, suite: str) -> dict[str, Any] | None:
    """Return a suite's report from a file, or None if the file has none or does not exist.

    Raises DataError if the file exists but contains no reports, because it must not be overwritten.
    """
    if not file.exists():
        return None
    try:
        held = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise _damaged(file, f"an unreadable file: {error}") from error
    if not isinstance(held, dict):
        raise _damaged(file, f"a {type(held).__name__}")
    reports = {held["suite"]: held} if "suite" in held else held
    for name, report in reports.items():
        if not _is_report(report):
            raise _damaged(file, f"no rows of figures under {name!r}")
    found: dict[str, Any] | None = reports.get(suite)
    return found


def save(file: Path, suite: str, report: dict[str, Any]) -> None:
    """Write a report atomically. Raises DataError."""
    with replacing(file) as temporary:
        temporary.write_text(json.dumps({suite: report}, indent=1) + "\n", "utf-8")


def _is_report(report: Any) -> bool:
    if not isinstance(report, dict) or not isinstance(report.get("machine"), dict):
        return False
    rows = report.get("rows")
    return isinstance(rows, list) and all(
        isinstance(row, dict) and isinstance(row.get("name"), str) for row in rows
    )


def _damaged(file: Path, found: str) -> DataError:
    return DataError(
        f"{file}: expected the reports of an earlier `pyengine bench`, got {found}; "
        "move the file away or name another one"
    )
