"""The checks of this installation: :func:`doctor` and its report."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib.metadata
import platform
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pyengine import _core
from pyengine.base import machine
from pyengine.base.checks import integer
from pyengine.base.files import sha256_of
from pyengine.errors import EngineError
from pyengine.eval import runtime
from pyengine.eval.bundled import game_of_model, manifest
from pyengine.eval.evaluators import OnnxEvaluator, bundled_models
from pyengine.eval.runtime import RuntimeReport
from pyengine.games.game import load_game
from pyengine.search.engine import search

_PACKAGES = ("numpy", "onnxruntime-gpu", "onnxruntime", "torch", "typer", "rich")
_NO_LIBRARY = re.compile(
    r"\[ONNXRuntimeError\].* error: (\S+): cannot open shared object file.*", re.DOTALL
)
_SIMULATIONS = 400  # in the search without a network
_MODEL_SIMULATIONS = 64  # in the search with each bundled network


@dataclass(frozen=True)
class Check:
    """The result of one check, with its measurements."""

    name: str
    verdict: Literal["PASS", "FAIL", "SKIP"]
    detail: str
    data: dict[str, Any] = field(default_factory=dict)  #: JSON-compatible values

    def __str__(self) -> str:
        """Return a one-line summary."""
        return f"{self.verdict}  {self.name}: {self.detail}"


def verdict(ok: bool, name: str, detail: str, **data: Any) -> Check:
    """Return a check that passed or failed."""
    return Check(name, "PASS" if ok else "FAIL", detail, data)


def skipped(name: str, detail: str) -> Check:
    """Return a check that could not run; the detail gives the reason."""
    return Check(name, "SKIP", detail)


@dataclass(frozen=True, repr=False)
class DoctorReport(RuntimeReport):
    """The provider, libraries and hardware that a search would use, with a self-test."""

    python: str = ""  #: version
    platform: str = ""  #: operating system and architecture
    packages: dict[str, str] = field(default_factory=dict)  #: versions by name
    cpu: str = ""  #: name of the processor
    cores: int = 0  #: available to this process
    simd: tuple[str, ...] = ()  #: vector instruction sets
    memory: int = 0  #: bytes available to this process; 0 if unknown
    checks: tuple[Check, ...] = ()  #: the self-test

    @property
    def ok(self) -> bool:
        """Whether no check failed."""
        return all(check.verdict != "FAIL" for check in self.checks)

    def facts(self) -> dict[str, str]:
        """Return the facts as text by label."""
        memory = f"{self.memory / 2**30:.1f} GiB" if self.memory else "unknown"
        return {
            "pyengine": f"{_core.__version__} in {Path(_core.__file__).parent}",
            "Python": f"{self.python} on {self.platform}",
            "packages": ", ".join(f"{name} {number}" for name, number in self.packages.items()),
            "processor": f"{self.cpu}, {self.cores} cores, {' '.join(self.simd) or 'SIMD unknown'}",
            "memory": memory,
            "ONNX Runtime": f"{self.version} in {self.library}" if self.library else "not found",
            "built with": ", ".join(self.available) or "-",
            "would use": f"{self.provider or 'nothing'}: {_in_words(self.reason)}",
        }

    def to_dict(self) -> dict[str, Any]:
        """Return all values as JSON-compatible objects."""
        return {**dataclasses.asdict(self), "ok": self.ok, "pyengine": _core.__version__}

    def __repr__(self) -> str:
        """Return a one-line summary."""
        broken = [check.name for check in self.checks if check.verdict == "FAIL"]
        return f"DoctorReport(ok={self.ok}, provider={self.provider!r}, failed={broken})"

    def __str__(self) -> str:
        """Return facts and checks, one per line."""
        lines = [f"{label:>13}  {text}" for label, text in self.facts().items()]
        return "\n".join([*lines, "", *map(str, self.checks)])


def doctor(device_id: int = 0) -> DoctorReport:
    """Report the provider, libraries and hardware that a search would use, and test them.

    Takes a second or two. A problem is reported as a failed check, never as an exception.
    ``device_id`` is the number of the GPU; a negative one raises ConfigError.
    """
    report = runtime.runtime_report(integer("device_id", device_id, 0, 2**31 - 1))
    return DoctorReport(
        **vars(report),
        python=platform.python_version(),
        platform=platform.platform(),
        packages=_versions(),
        cpu=machine.cpu_name(),
        cores=machine.cores(),
        simd=machine.simd(),
        memory=machine.memory_bytes(),
        checks=(*runtime_checks(report), *_model_checks(report), _search_check()),
    )


def runtime_checks(report: RuntimeReport) -> Iterator[Check]:
    """Check that there is exactly one ONNX Runtime and which of its providers work."""
    if not report.library:
        yield verdict(False, "ONNX Runtime", report.reason)
        return
    old = runtime.is_too_old(report.version)
    advice = (
        f": expected {runtime.OLDEST} or later; in older versions a model can read any file as "
        "its weights"
    )
    about = f"{report.version}, {report.library}{advice if old else ''}"
    yield verdict(not old, "ONNX Runtime", about)
    if report.warnings:
        yield verdict(False, "one ONNX Runtime", "; ".join(report.warnings))
    for name in dict.fromkeys((*report.available, *report.problems)):
        if name in report.problems:
            yield skipped(name, _in_words(report.problems[name]))
        elif name in (runtime.CPU, runtime.CUDA, runtime.TENSORRT):
            yield verdict(True, name, "works")
        else:
            yield skipped(name, "is available, but not used by this engine")


def _in_words(reason: str) -> str:
    """Shorten ONNX Runtime's reason if a library is not installed."""
    return _NO_LIBRARY.sub(r"\1 is not installed", reason)


def _versions() -> dict[str, str]:
    installed = {}
    for name in _PACKAGES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            installed[name] = importlib.metadata.version(name)
    return installed


def _model_checks(report: RuntimeReport) -> Iterator[Check]:
    """Check the digest of every bundled network, and search with it."""
    models = bundled_models()
    if not models:
        yield skipped("bundled models", "this build contains none")
    sums = manifest()
    for name, path in models.items():
        label = f"model {name}"
        expected, actual = sums.get(name, {}).get("sha256"), sha256_of(path)
        if expected is None:
            yield verdict(False, label, f"{path} is not in manifest.toml, so it cannot be checked")
        elif expected != actual:
            damage = f"{path} is damaged: expected sha256 {expected}, got {actual}"
            yield verdict(False, label, damage)
        elif not report.library:
            yield skipped(label, "no ONNX Runtime to run it")
        else:
            yield _try_model(label, name, path)


def _try_model(label: str, name: str, path: Path) -> Check:
    game = game_of_model(name)
    assert game is not None
    try:
        evaluator = OnnxEvaluator(path)
        result = search(
            game.new_initial_state(), evaluator=evaluator, simulations=_MODEL_SIMULATIONS
        )
    except EngineError as error:
        return verdict(False, label, str(error))
    rate = result.evaluations / result.seconds
    detail = f"{game}: sha256 matches, {rate:,.0f} positions/s on {evaluator.provider}"
    return verdict(True, label, detail, positions_per_second=rate, provider=evaluator.provider)


def _search_check() -> Check:
    """Check that a search finds and proves a win in one move."""
    state = load_game("connect_four").new_initial_state([2, 2, 3, 3, 4, 4])
    try:
        result = search(state, evaluator="rollout", simulations=_SIMULATIONS)
    except EngineError as error:
        return verdict(False, "search", str(error))
    ok = result.action in (1, 5) and result.proven == 1
    return verdict(
        ok,
        "search",
        f"{'proved' if ok else 'missed'} a win in one: "
        f"{result.simulations} simulations in {1000 * result.seconds:.1f} ms",
    )
