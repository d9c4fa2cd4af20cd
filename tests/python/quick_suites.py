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


def _run_probes_here(fresh: Any, patch: pytest.MonkeyPatch) -> None:
    """Start a process for some of the probes only, since each start costs a second."""
    stream, call = fresh.stream, fresh.call

    def probe_of(file: str, name: str) -> Any:
        return getattr(suite_module(Path(file).stem), name)

    def stream_here(file: str, probe: str, *, seconds: float, **arguments: Any) -> Any:
        if arguments["part"] == "bare":
            return stream(file, probe, seconds=seconds, **arguments)
        return probe_of(file, probe)(**arguments)

    def call_here(file: str, probe: str, **arguments: Any) -> Any:
        if probe in ("cap", "interrupt"):  # peak of memory; Ctrl-C
            return call(file, probe, **arguments)
        return probe_of(file, probe)(**arguments)

    patch.setattr(fresh, "stream", stream_here)
    patch.setattr(fresh, "call", call_here)


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
        if suite in ("gpu", "latency", "memory"):
            _run_probes_here(suite_module("fresh"), patch)
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
