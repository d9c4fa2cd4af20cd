"""Cached quick runs of the installed benchmark suites, on one tiny network."""

from __future__ import annotations

import functools
import re
import tempfile
from pathlib import Path
from typing import Any

import pytest

from tiny_models import DEFAULT, TinyModel

#: Variables of the user's environment that affect a suite.
_USER_VARIABLES = ("PYENGINE_SHARED", "PYENGINE_PEERS", "PYENGINE_RECORDS", "XDG_CACHE_HOME")


def write_tiny(path: Path, **fields: Any) -> Path:
    """Write a network for Connect Four."""
    return TinyModel(planes=(3, 6, 7), actions=7, metadata=DEFAULT, **fields).write(path)


def suite_module(name: str) -> Any:
    """Return a module of the installed suites; skip the test if they are not installed."""
    return pytest.importorskip(f"pyengine.benchmarks.{name}", reason="the suites are not installed")


def _one_per_question(contests: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the first contest of each kind, whatever its numbers of simulations."""
    return tuple({re.sub(r"\d+", "", one.what): one for one in reversed(contests)}.values())


def _first_in_process(stream: Any) -> Any:
    """Return a stand-in for ``fresh.stream`` that starts a process only for the first part.

    Each start costs a second.
    """

    def stand_in(file: str, probe: str, *, seconds: float, **arguments: Any) -> Any:
        if arguments["part"] == "bare":
            return stream(file, probe, seconds=seconds, **arguments)
        return suite_module("gpu_probes").rows(**arguments)

    return stand_in


@functools.cache
def quick(suite: str) -> dict[str, Any]:
    """Return the report of a quick run. Fails if a row fails."""
    common, networks, suites = map(suite_module, ("common", "networks", "suites"))
    module = suite_module(suites.module_of(suite))
    report = common.Report(suite, module.DESCRIPTION)
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tiny = networks.Candidate(write_tiny(folder / "tiny.onnx"), "connect_four").open()
        patch.setattr(networks, "find_networks", lambda *_: [tiny])
        if suite == "gpu":
            fresh = suite_module("fresh")
            patch.setattr(fresh, "stream", _first_in_process(fresh.stream))
        if suite == "strength":
            patch.setattr(module, "CONTESTS", _one_per_question(module.CONTESTS))
        for variable in _USER_VARIABLES:
            patch.delenv(variable, raising=False)
        patch.setenv("PYENGINE_PEERS", str(folder / "peers"))
        common.run_kept(report, module.run, common.Options(quick=True))
    assert not report.failed, report.table()
    plain: dict[str, Any] = report.to_dict()
    return plain


def rows_of(suite: str) -> dict[str, dict[str, Any]]:
    """Return the rows of a quick run by name."""
    return {row["name"]: row for row in quick(suite)["rows"]}
