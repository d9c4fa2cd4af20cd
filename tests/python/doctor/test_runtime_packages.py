"""The choice between installed ONNX Runtime packages, tested with fake packages."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import pyengine
from pyengine.eval import runtime

Install = Callable[..., None]

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="only on Linux does the library's name contain the version"
)


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Return a function that installs a fake ONNX Runtime package and hides the real one."""
    standard = [path for path in sys.path if "-packages" not in path]
    monkeypatch.setattr(sys, "path", [str(tmp_path), *standard])
    monkeypatch.setattr(runtime, "find_library", runtime.find_library.__wrapped__)  # no cache
    monkeypatch.delitem(sys.modules, "onnxruntime", raising=False)
    monkeypatch.delenv(runtime.LIBRARY_VARIABLE, raising=False)
    capi = tmp_path / "onnxruntime" / "capi"
    capi.mkdir(parents=True)
    (tmp_path / "onnxruntime" / "__init__.py").touch()

    def fake(package: str, version: str, *, library: bool = True) -> None:
        name = f"onnxruntime/capi/libonnxruntime.so.{version}"
        if library:
            (tmp_path / name).write_text(package)
        info = tmp_path / f"{package.replace('-', '_')}-{version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Name: {package}\nVersion: {version}\n")
        (info / "RECORD").write_text(f"onnxruntime/__init__.py,,\n{name},,\n")

    return fake


def library_name() -> str:
    return runtime.find_library().name


@pytest.mark.parametrize(
    ("packages", "version"),
    [
        ({"onnxruntime": "1.32.0", "onnxruntime-gpu": "1.31.1"}, "1.31.1"),
        ({"onnxruntime": "1.24.1", "onnxruntime-gpu": "1.30.0"}, "1.30.0"),
        ({"onnxruntime": "1.9.0", "onnxruntime-qnn": "1.32.0", "onnxruntime-openvino": "1.4.1"},
         "1.32.0"),
    ],
)  # fmt: skip
def test_the_gpu_package_or_else_the_highest_version_is_preferred(
    install: Install, packages: dict[str, str], version: str
) -> None:
    for package, number in packages.items():
        install(package, number)
    assert library_name() == f"libonnxruntime.so.{version}"


def commands(text: str) -> list[str]:
    """Return the parts of a text in backticks."""
    return text.split("`")[1::2]


@pytest.mark.parametrize(
    ("problem", "package"), [(None, "onnxruntime-gpu"), ("no libcuda.so.1", "onnxruntime")]
)
def test_the_warning_says_how_to_fix_two_packages(
    install: Install, monkeypatch: pytest.MonkeyPatch, problem: str | None, package: str
) -> None:
    monkeypatch.setattr(runtime, "driver_problem", lambda: problem)
    install("onnxruntime", "1.30.0")
    install("onnxruntime-gpu", "1.30.0")
    (warning,) = runtime.runtime_report().warnings
    assert "onnxruntime 1.30.0 and onnxruntime-gpu 1.30.0 overwrite each other's files" in warning
    assert commands(warning) == [
        "pip uninstall -y onnxruntime onnxruntime-gpu",
        f"pip install {package}",
    ]


def test_a_single_package_causes_no_warning(install: Install) -> None:
    install("onnxruntime", "1.30.0")
    assert runtime.runtime_report().warnings == ()


def test_the_error_for_a_missing_library_says_how_to_fix_it(install: Install) -> None:
    install("onnxruntime-gpu", "1.30.0", library=False)  # as after `pip uninstall onnxruntime`
    with pytest.raises(pyengine.ModelError, match=r"1\.24\.1 or later") as error:
        library_name()
    assert "pip uninstall -y onnxruntime-gpu" in commands(str(error.value))


def test_versions_are_compared_as_numbers() -> None:
    versions = ("1.9.0", "1.23.2", "1.24.0", "1.24.1", "1.32.0")
    assert [runtime.is_too_old(version) for version in versions] == [True] * 3 + [False] * 2
