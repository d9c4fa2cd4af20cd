"""The public :func:`doctor`: what would be used here, why, and whether it works."""

from __future__ import annotations

import dataclasses
import importlib.metadata
import platform
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyengine import _core
from pyengine.base import machine
from pyengine.base.files import sha256_of
from pyengine.base.integers import integer
from pyengine.doctor.checks import Check, failed, passed, skipped, verdict
from pyengine.errors import EngineError
from pyengine.eval import runtime
from pyengine.eval.bundled import game_of_model, manifest
from pyengine.eval.evaluators import OnnxEvaluator, bundled_models
from pyengine.eval.runtime import RuntimeReport
from pyengine.games.game import load_game
from pyengine.search.engine import search

__all__ = ["DoctorReport", "doctor", "runtime_checks"]

_PACKAGES = ("numpy", "onnxruntime-gpu", "onnxruntime", "torch", "typer", "rich")
_NO_LIBRARY = re.compile(
    r"\[ONNXRuntimeError\].* error: (\S+): cannot open shared object file.*", re.DOTALL
)
_SIMULATIONS = 400  # of the search that tests itself
_MODEL_SIMULATIONS = 64  # of the search with each bundled network


@dataclass(frozen=True, repr=False)
class DoctorReport(RuntimeReport):
    """What would be used to search here, why, and whether it works.

    Attributes:
        provider: the provider that ``providers=None`` would give; empty when there is none.
        reason: why that one.
        library: path of ONNX Runtime's shared library.
        version: of ONNX Runtime.
        build: of ONNX Runtime.
        available: providers that the library was built with, most wanted first.
        problems: why each of the GPU's providers cannot be had; without those that can.
        warnings: what a user should mend.
        python: version of this process's Python.
        platform: of this process.
        packages: versions of the packages that matter; those absent are left out.
        cpu: the processor.
        cores: that this process may use.
        simd: vector instructions of the processor.
        memory: bytes that this process may use; 0 where unknown.
        checks: the self-test, line by line.
    """

    python: str = ""
    platform: str = ""
    packages: dict[str, str] = dataclasses.field(default_factory=dict)
    cpu: str = ""
    cores: int = 0
    simd: tuple[str, ...] = ()
    memory: int = 0
    checks: tuple[Check, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether nothing failed."""
        return all(check.verdict != "FAIL" for check in self.checks)

    def facts(self) -> dict[str, str]:
        """Return what is used, for people: label and text."""
        packages = ", ".join(f"{name} {version}" for name, version in self.packages.items())
        memory = f"{self.memory / 2**30:.1f} GiB" if self.memory else "unknown"
        return {
            "pyengine": f"{_core.__version__} in {Path(_core.__file__).parent}",
            "Python": f"{self.python} on {self.platform}",
            "packages": packages,
            "processor": f"{self.cpu}, {self.cores} cores, {' '.join(self.simd) or 'SIMD unknown'}",
            "memory": memory,
            "ONNX Runtime": f"{self.version} in {self.library}" if self.library else "not found",
            "built with": ", ".join(self.available) or "-",
            "would use": f"{self.provider or 'nothing'}: {_in_words(self.reason)}",
        }

    def to_dict(self) -> dict[str, Any]:
        """Return all values as plain Python objects, fit for JSON."""
        return {**dataclasses.asdict(self), "ok": self.ok, "pyengine": _core.__version__}

    def __repr__(self) -> str:
        """Return the essentials in one line."""
        broken = [check.name for check in self.checks if check.verdict == "FAIL"]
        return f"DoctorReport(ok={self.ok}, provider={self.provider!r}, failed={broken})"

    def __str__(self) -> str:
        """Return facts and checks, one a line."""
        lines = [f"{label:>13}  {text}" for label, text in self.facts().items()]
        lines += ["", *map(str, self.checks)]
        return "\n".join(lines)


def doctor(device_id: int = 0) -> DoctorReport:
    """Find out what would be used to search here, and why; try it. Takes a second or two.

    Never raises for what it finds: see ``checks`` of the report. ``device_id`` names the GPU.
    Raises ConfigError where it is no int of at least 0.
    """
    found = runtime.runtime_report(min(integer("device_id", device_id, 0), 2**31 - 1))
    fields = {f.name: getattr(found, f.name) for f in dataclasses.fields(found)}
    runtimes = (
        dataclasses.replace(check, detail=_in_words(check.detail))
        for check in runtime_checks(found)
    )
    checks = (*runtimes, *_model_checks(found), _search_check())
    return DoctorReport(
        **fields,
        python=platform.python_version(),
        platform=platform.platform(),
        packages=_versions(),
        cpu=machine.cpu_name(),
        cores=machine.cores(),
        simd=machine.simd(),
        memory=machine.memory_bytes(),
        checks=checks,
    )


def runtime_checks(found: RuntimeReport) -> Iterator[Check]:
    """Check that there is one ONNX Runtime, and which of its providers work."""
    if not found.library:
        yield failed("ONNX Runtime", found.reason)
        return
    yield _version_check(found)
    if found.warnings:
        yield failed("one ONNX Runtime", "; ".join(found.warnings))
    for name in (*found.available, *(n for n in found.problems if n not in found.available)):
        problem = found.problems.get(name)
        if problem:
            yield skipped(name, problem)
        elif name in (runtime.CPU, runtime.CUDA, runtime.TENSORRT):
            yield passed(name, "works")
        else:
            yield skipped(name, "is there, but not used by this engine")


def _in_words(reason: str) -> str:
    """Return ONNX Runtime's reason, or in words that a library is not there."""
    return _NO_LIBRARY.sub(r"\1 is not installed", reason)


def _version_check(found: RuntimeReport) -> Check:
    said = f"{found.version}, {found.library}"
    if not runtime.is_too_old(found.version):
        return passed("ONNX Runtime", said)
    return failed(
        "ONNX Runtime",
        f"{said}: expected {runtime.OLDEST} or later; before, a network's file may have any other "
        "file of this machine read as its weights",
    )


def _versions() -> dict[str, str]:
    found = {}
    for name in _PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def _model_checks(found: RuntimeReport) -> Iterator[Check]:
    """Check every bundled network: the file is the one that was shipped, and a search uses it."""
    models = bundled_models()
    if not models:
        yield skipped("bundled models", "this build holds none")
    sums = manifest()
    for name, path in models.items():
        label = f"model {name}"
        wanted = sums.get(name, {}).get("sha256")
        real = sha256_of(path)
        if wanted is None:
            yield failed(label, f"{path} is not in manifest.toml: its sha256 cannot be checked")
        elif wanted != real:
            yield failed(label, f"{path} is damaged: expected sha256 {wanted}, found {real}")
        elif not found.library:
            yield skipped(label, "no ONNX Runtime to run it")
        else:
            yield _try_model(label, name, path)


def _try_model(label: str, name: str, path: Path) -> Check:
    game = game_of_model(name)
    if game is None:
        return failed(label, f"{path}: its game is not known")
    try:
        evaluator = OnnxEvaluator(path)
        result = search(
            game.new_initial_state(), evaluator=evaluator, simulations=_MODEL_SIMULATIONS
        )
    except EngineError as error:
        return failed(label, str(error))
    rate = result.evaluations / result.seconds
    return passed(
        label,
        f"{game}: sha256 is right, {rate:,.0f} positions/s on {evaluator.provider}",
        positions_per_second=rate,
        provider=evaluator.provider,
    )


def _search_check() -> Check:
    """Search Connect Four with three in a row: the fourth must be found and proven."""
    name = "search"
    state = load_game("connect_four").new_initial_state([2, 2, 3, 3, 4, 4])
    try:
        result = search(state, evaluator="rollout", simulations=_SIMULATIONS)
    except EngineError as error:
        return failed(name, str(error))
    right = result.action in (1, 5) and result.proven == 1
    return verdict(
        right,
        name,
        f"a win in one {'found and proven' if right else 'was missed'}: "
        f"{result.simulations} simulations in {1000 * result.seconds:.1f} ms",
    )
