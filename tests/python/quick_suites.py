"""Cached quick runs of the installed benchmark suites."""

from __future__ import annotations

import functools
import importlib
import tempfile
from typing import Any

import pytest

#: Variables of the user's environment that affect a suite.
_USER_VARIABLES = ("PYENGINE_SHARED", "PYENGINE_PEERS", "PYENGINE_RECORDS", "XDG_CACHE_HOME")


@functools.cache
def quick(suite: str) -> dict[str, Any]:
    """Return the report of a quick run with only the bundled networks. Fails if a row fails."""
    package = importlib.import_module("pyengine.benchmarks")
    common = importlib.import_module("pyengine.benchmarks.common")
    module = importlib.import_module(f"pyengine.benchmarks.{package.module_of(suite)}")
    report = common.Report(suite, module.DESCRIPTION)
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        for variable in _USER_VARIABLES:
            patch.delenv(variable, raising=False)
        patch.setenv("PYENGINE_PEERS", folder)
        common.run_kept(report, module.run, common.Options(quick=True))
    assert not report.failed, report.table()
    plain: dict[str, Any] = report.to_dict()
    return plain


def rows_of(suite: str) -> dict[str, dict[str, Any]]:
    """Return the rows of a quick run by name."""
    return {row["name"]: row for row in quick(suite)["rows"]}
