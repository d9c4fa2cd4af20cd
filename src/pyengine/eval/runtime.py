"""The shared libraries of ONNX Runtime and CUDA.

The engine loads the library of the installed ``onnxruntime`` or ``onnxruntime-gpu`` package and
calls it from C++. It first sets ``ORT_DISABLE_TELEMETRY=1``, unless the variable is set already.

Do not use CUDA through both this engine and ``import onnxruntime`` in one process: the two copies
would share one provider library. On the CPU they can coexist.
"""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import os
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

from pyengine import _core
from pyengine.errors import ModelError

#: The first ONNX Runtime that refuses external data outside the network's folder.
OLDEST = "1.24.1"

#: Path of a shared library to use instead of the installed package's.
LIBRARY_VARIABLE = "PYENGINE_ORT_LIBRARY"

CPU = "CPUExecutionProvider"
CUDA = "CUDAExecutionProvider"
TENSORRT = "TensorrtExecutionProvider"

_PATTERNS = {
    "linux": "libonnxruntime.so*",
    "darwin": "libonnxruntime.*dylib",
    "win32": "onnxruntime.dll",
}
_DRIVERS = {"linux": "libcuda.so.1", "win32": "nvcuda.dll"}
#: Folders below ``nvidia/``: one for CUDA 13, one per library for CUDA 12.
_CUDA_FOLDERS = (
    "cu13", "cuda_runtime", "cuda_nvrtc", "nvjitlink", "cublas", "cufft", "curand", "cudnn",
)  # fmt: skip


@functools.cache
def find_library() -> Path:
    """Return the path of ONNX Runtime's shared library.

    Packages of ONNX Runtime share one folder, which may hold several libraries. The library of
    ``onnxruntime-gpu`` comes first, since it also has the CPU provider, then the newest.

    Raises ModelError if ONNX Runtime is not installed.
    """
    override = os.environ.get(LIBRARY_VARIABLE)
    if override:
        return Path(override)
    pattern = _PATTERNS.get(sys.platform, "libonnxruntime.so*")
    libraries = [
        path for folder in _folders("onnxruntime") for path in (folder / "capi").glob(pattern)
    ]
    if libraries:
        gpu = _recorded_names("onnxruntime-gpu") if len(libraries) > 1 else ()
        return max(libraries, key=lambda path: (path.name in gpu, _numbers(path.name)))
    raise ModelError(
        f"running a network needs onnxruntime or onnxruntime-gpu, {OLDEST} or later, which is not "
        f"installed or has no {pattern}. {_advice(_packages()) or 'Install one with pip'}"
    )


def _folders(package: str) -> list[Path]:
    """Return the folders of a package without importing it."""
    spec = importlib.util.find_spec(package)
    return [Path(folder) for folder in (spec and spec.submodule_search_locations) or ()]


def is_too_old(version: str) -> bool:
    """Return whether a version of ONNX Runtime is older than :data:`OLDEST`."""
    return _numbers(version) < _numbers(OLDEST)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(digits) for digits in re.findall(r"\d+", text))


def _recorded_names(package: str) -> frozenset[str]:
    """Return the names of the files that a package installed."""
    from importlib import metadata  # slow to import

    try:
        files = metadata.files(package)
    except metadata.PackageNotFoundError:
        return frozenset()
    return frozenset(file.name for file in files or ())


def _packages() -> list[str]:
    """Return the packages with files in the folder ``onnxruntime``."""
    from importlib import metadata

    return sorted(set(metadata.packages_distributions().get("onnxruntime", [])))


def _advice(packages: list[str]) -> str:
    """Return the commands that leave one complete ONNX Runtime, "" without packages."""
    if not packages:
        return ""
    package = "onnxruntime-gpu" if driver_problem() is None else "onnxruntime"
    return f"Fix it with `pip uninstall -y {' '.join(packages)}` and then `pip install {package}`"


def driver_problem() -> str | None:
    """Return why the NVIDIA driver cannot be loaded, or None."""
    driver = _DRIVERS.get(sys.platform)
    return f"NVIDIA has no driver for {sys.platform}" if driver is None else _try_load(driver)


@functools.cache
def preload_cuda() -> tuple[str, ...]:
    """Load the CUDA libraries of the ``nvidia-*`` wheels for ONNX Runtime; return their paths.

    Does nothing without a GPU driver.
    """
    if driver_problem() is not None:
        return ()
    libraries = _cuda_libraries()
    loaded: list[str] = []
    while True:  # libraries depend on each other: repeat until no more can be loaded
        done = [path for path in libraries if _try_load(path) is None]
        if not done:
            return tuple(loaded)
        loaded += done
        libraries = [path for path in libraries if path not in done]


def _cuda_libraries() -> list[str]:
    windows = sys.platform == "win32"
    inside, pattern = ("bin", "*.dll") if windows else ("lib", "*.so*")
    paths: list[Path] = []
    for folder in _folders("nvidia"):
        for name in _CUDA_FOLDERS:
            libraries = folder / name / inside
            paths += (p for p in sorted(libraries.rglob(pattern)) if "stubs" not in p.parts)
            if windows and libraries.is_dir():
                os.add_dll_directory(str(libraries))  # type: ignore[attr-defined,unused-ignore]
    return [str(path) for path in paths]


def _try_load(library: str) -> str | None:
    """Load a shared library for the rest of the process; return the error, or None."""
    try:
        ctypes.CDLL(library)
    except OSError as error:
        return str(error)
    return None


@dataclass(frozen=True)
class RuntimeReport:
    """How networks would run on this machine.

    Without ONNX Runtime only ``reason`` and ``warnings`` have values.
    """

    provider: str  #: the choice of ``providers=None``
    reason: str  #: of that choice
    library: str = ""
    version: str = ""
    build: str = ""
    available: tuple[str, ...] = ()  #: providers of the library, the most preferred first
    problems: dict[str, str] = field(default_factory=dict)  #: by unavailable GPU provider
    warnings: tuple[str, ...] = ()  #: problems of the installation for the user to fix


def runtime_report(device_id: int = 0) -> RuntimeReport:
    """Return how networks would run on this machine. Never raises."""
    warnings = _package_warnings()
    try:
        library = find_library()
        version, build, available = _core.ort_report(library)
    except ModelError as error:
        return RuntimeReport(provider="", reason=str(error), warnings=warnings)
    if CUDA in available:
        preload_cuda()
    problems = {
        name: problem
        for name in (CUDA, TENSORRT)
        if (problem := _core.ort_provider_problem(library, name, device_id))
    }
    works = CUDA not in problems
    return RuntimeReport(
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
    packages = _packages()
    if len(packages) < 2:
        return ()
    from importlib import metadata

    versions = [f"{name} {metadata.version(name)}" for name in packages]
    return (f"{' and '.join(versions)} overwrite each other's files. {_advice(packages)}",)
