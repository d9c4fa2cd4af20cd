"""Finding ONNX Runtime and the libraries of the GPU; what would be used and why.

The engine loads the shared library inside the installed ``onnxruntime`` or ``onnxruntime-gpu``
package itself and calls it from C++. Its telemetry is switched off before: the engine sets
``ORT_DISABLE_TELEMETRY=1`` unless the variable is set already.

One process should not use CUDA through this engine *and* through ``import onnxruntime``: both
copies would share one provider library. On the CPU they live side by side.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.metadata
import importlib.util
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path

from pyengine import _core
from pyengine.errors import ModelError

__all__ = ["DoctorReport", "doctor", "driver_problem", "find_library", "preload_cuda"]

#: Names another ONNX Runtime than the installed package's: the path of the shared library.
LIBRARY_VARIABLE = "PYENGINE_ORT_LIBRARY"

CPU = "CPUExecutionProvider"
CUDA = "CUDAExecutionProvider"
TENSORRT = "TensorrtExecutionProvider"

_PATTERNS = {
    "linux": "libonnxruntime.so*",
    "darwin": "libonnxruntime*.dylib",
    "win32": "onnxruntime.dll",
}
_DRIVERS = {"linux": "libcuda.so.1", "win32": "nvcuda.dll"}
#: Folders below ``nvidia/`` of the wheels for CUDA 13 (one folder) and 12 (one a library).
_CUDA_FOLDERS = (
    "cu13", "cuda_runtime", "cuda_nvrtc", "nvjitlink", "cublas", "cufft", "curand", "cudnn",
)  # fmt: skip


@functools.cache
def find_library() -> Path:
    """Return the path of ONNX Runtime's shared library.

    Raises:
        ModelError: no ONNX Runtime is installed; says where it was looked for.

    """
    named = os.environ.get(LIBRARY_VARIABLE)
    if named:
        return Path(named)
    spec = importlib.util.find_spec("onnxruntime")  # does not import it
    folders = list(spec.submodule_search_locations or []) if spec is not None else []
    pattern = _PATTERNS.get(sys.platform, "libonnxruntime.so*")
    for folder in folders:
        found = sorted((Path(folder) / "capi").glob(pattern))
        if found:
            return found[-1]
    raise ModelError(
        "ONNX Runtime is needed to run a network: expected the package onnxruntime-gpu or "
        f"onnxruntime (1.20 or later) with {pattern}, found {folders or 'no such package'}. "
        "Install one with pip"
    )


def driver_problem() -> str | None:
    """Return why the driver of an NVIDIA GPU cannot be loaded; None when it can."""
    driver = _DRIVERS.get(sys.platform)
    return f"there is none for {sys.platform}" if driver is None else _try_load(driver)


@functools.cache
def preload_cuda() -> tuple[str, ...]:
    """Load the CUDA libraries of the ``nvidia-*`` wheels, so that ONNX Runtime finds them.

    Does nothing where there is no driver of a GPU. Returns the paths of what was loaded.
    """
    if driver_problem() is not None:
        return ()
    libraries = _cuda_libraries()
    loaded: list[str] = []
    while True:  # each may need another one: go round until nothing more loads
        done = [path for path in libraries if _try_load(path) is None]
        if not done:
            return tuple(loaded)
        loaded += done
        libraries = [path for path in libraries if path not in done]


def _cuda_libraries() -> list[str]:
    spec = importlib.util.find_spec("nvidia")
    folders = list(spec.submodule_search_locations or []) if spec is not None else []
    windows = sys.platform == "win32"
    inside, pattern = ("bin", "*.dll") if windows else ("lib", "*.so*")
    found: list[str] = []
    for folder in folders:
        for name in _CUDA_FOLDERS:
            place = Path(folder) / name / inside
            found += [
                str(path) for path in sorted(place.rglob(pattern)) if "stubs" not in path.parts
            ]
            if windows and place.is_dir():
                os.add_dll_directory(str(place))  # type: ignore[attr-defined,unused-ignore]
    return found


def _try_load(library: str) -> str | None:
    """Load a shared library for good; return why it cannot be, or None."""
    try:
        ctypes.CDLL(library)
    except OSError as error:
        return str(error)
    return None


@dataclass(frozen=True)
class DoctorReport:
    """What would be used to run a network here, and why.

    Attributes:
        provider: the provider that ``providers=None`` would give; empty when there is none.
        reason: why that one.
        library, version, build: of ONNX Runtime.
        available: providers that the library was built with, most wanted first.
        problems: why each of the GPU's providers cannot be had; without those that can.
        warnings: what a user should mend.
    """

    provider: str
    reason: str
    library: str = ""
    version: str = ""
    build: str = ""
    available: tuple[str, ...] = ()
    problems: dict[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


def doctor(device_id: int = 0) -> DoctorReport:
    """Find out what would be used to run a network, and why; never raises for what it finds."""
    warnings = _package_warnings()
    try:
        library = find_library()
        version, build, available = _core.ort_report(library)
    except ModelError as error:
        return DoctorReport(provider="", reason=str(error), warnings=warnings)
    if CUDA in available:
        preload_cuda()
    problems = {
        name: problem
        for name in (CUDA, TENSORRT)
        if (problem := _core.ort_provider_problem(library, name, device_id))
    }
    works = CUDA not in problems
    return DoctorReport(
        provider=CUDA if works else CPU,
        reason="the GPU works" if works else problems[CUDA],
        library=str(library),
        version=version,
        build=build,
        available=tuple(available),
        problems=problems,
        warnings=warnings,
    )


def _package_warnings() -> tuple[str, ...]:
    """Both wheels of ONNX Runtime in one environment overwrite each other's files."""
    installed = []
    for name in ("onnxruntime", "onnxruntime-gpu"):
        try:
            installed.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            continue
    if len(installed) < 2:
        return ()
    return (
        f"{' and '.join(installed)} are both installed and overwrite each other: uninstall both, "
        "then install one",
    )
