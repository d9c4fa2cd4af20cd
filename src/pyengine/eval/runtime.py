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
import importlib.util
import os
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

from pyengine import _core
from pyengine.errors import ModelError

#: The first ONNX Runtime that keeps a network's external data inside the network's folder.
OLDEST = "1.24.1"

#: Names another ONNX Runtime than the installed package's: the path of the shared library.
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
#: Folders below ``nvidia/`` of the wheels for CUDA 13 (one folder) and 12 (one a library).
_CUDA_FOLDERS = (
    "cu13", "cuda_runtime", "cuda_nvrtc", "nvjitlink", "cublas", "cufft", "curand", "cudnn",
)  # fmt: skip


@functools.cache
def find_library() -> Path:
    """Return the path of ONNX Runtime's shared library.

    Packages of ONNX Runtime share one folder, which may hold several libraries. A process loads
    one: that of ``onnxruntime-gpu``, which has the CPU's provider as well, else the newest.

    Raises:
        ModelError: no ONNX Runtime is installed.

    """
    named = os.environ.get(LIBRARY_VARIABLE)
    if named:
        return Path(named)
    spec = importlib.util.find_spec("onnxruntime")  # does not import it
    folders = list(spec.submodule_search_locations or []) if spec is not None else []
    pattern = _PATTERNS.get(sys.platform, "libonnxruntime.so*")
    found = [path for folder in folders for path in (Path(folder) / "capi").glob(pattern)]
    if len(found) > 1:
        gpu = _recorded_names("onnxruntime-gpu")
        return max(found, key=lambda path: (path.name in gpu, _numbers(path.name)))
    if found:
        return found[0]
    raise ModelError(
        "ONNX Runtime is needed to run a network: expected the package onnxruntime-gpu or "
        f"onnxruntime ({OLDEST} or later) with {pattern}, got {folders or 'no such package'}. "
        f"{_advice(_packages()) or 'Install one with pip'}"
    )


def is_too_old(version: str) -> bool:
    """Return whether a network's external data may name any file, as before :data:`OLDEST`."""
    return _numbers(version) < _numbers(OLDEST)


def _numbers(text: str) -> tuple[int, ...]:
    """Return the numbers of a version, or of a file's name that has one."""
    return tuple(int(digits) for digits in re.findall(r"\d+", text))


def _recorded_names(package: str) -> frozenset[str]:
    """Return the names of the files that a package installed; none where it is not there."""
    from importlib import metadata  # slow to import

    try:
        files = metadata.files(package)
    except metadata.PackageNotFoundError:
        return frozenset()
    return frozenset(file.name for file in files or ())


def _packages() -> list[str]:
    """Return the packages that have files in the folder ``onnxruntime``."""
    from importlib import metadata

    return sorted(set(metadata.packages_distributions().get("onnxruntime", [])))


def _advice(packages: list[str]) -> str:
    """Return the commands that leave one whole ONNX Runtime; "" without a package."""
    if not packages:
        return ""
    one = "onnxruntime-gpu" if driver_problem() is None else "onnxruntime"
    return f"Fix it with `pip uninstall -y {' '.join(packages)}` and then `pip install {one}`"


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
class RuntimeReport:
    """What would be used to run a network here, and why.

    Attributes:
        provider: the provider that ``providers=None`` would give; empty when there is none.
        reason: why that one.
        library: path of ONNX Runtime's shared library.
        version: of ONNX Runtime.
        build: of ONNX Runtime.
        available: providers that the library was built with, most wanted first.
        problems: why each of the GPU's providers cannot be had; without those that can.
        warnings: what a user should fix.
    """

    provider: str
    reason: str
    library: str = ""
    version: str = ""
    build: str = ""
    available: tuple[str, ...] = ()
    problems: dict[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


def runtime_report(device_id: int = 0) -> RuntimeReport:
    """Return what would be used to run a network, and why; never raises."""
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

    each = [f"{name} {metadata.version(name)}" for name in packages]
    return (f"{' and '.join(each)} overwrite each other's files. {_advice(packages)}",)
