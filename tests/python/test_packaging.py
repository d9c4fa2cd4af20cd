"""What an installed wheel promises: one version, types, models, the suites, one ONNX Runtime."""

from __future__ import annotations

import hashlib
import importlib
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import pyengine

ROOT = Path(__file__).resolve().parents[2]
INSTALLED = Path(pyengine.__file__).parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
DISTRIBUTION = PROJECT["name"]
MODELS = sorted((ROOT / "models").glob("*.onnx"))
SUITES = sorted((ROOT / "benchmarks").glob("*.py"))


def test_the_tests_run_on_the_installed_package_and_not_on_the_sources() -> None:
    assert ROOT / "src" not in INSTALLED.parents


def test_the_version_is_the_same_everywhere() -> None:
    core = importlib.import_module("pyengine._core")
    assert metadata.version(DISTRIBUTION) == PROJECT["version"]
    assert core.__version__ == PROJECT["version"]
    assert pyengine.__version__ == PROJECT["version"]


def test_type_checkers_find_the_types_of_the_package() -> None:
    assert (INSTALLED / "py.typed").is_file()
    assert (INSTALLED / "_core.pyi").read_text() == (ROOT / "src/pyengine/_core.pyi").read_text()


def test_the_command_pyengine_is_installed() -> None:
    (script,) = metadata.entry_points(group="console_scripts", name="pyengine")
    assert callable(script.load())


@pytest.mark.parametrize("model", MODELS, ids=lambda path: path.stem)
def test_a_bundled_model_is_installed_as_the_manifest_describes_it(model: Path) -> None:
    installed = INSTALLED / "models" / model.name
    manifest = tomllib.loads((INSTALLED / "models" / "manifest.toml").read_text())
    assert hashlib.sha256(installed.read_bytes()).hexdigest() in str(manifest)
    assert installed.stat().st_size < 2_000_000


@pytest.mark.parametrize("suite", SUITES, ids=lambda path: path.stem)
def test_a_benchmark_suite_is_installed(suite: Path) -> None:
    assert (INSTALLED / "benchmarks" / suite.name).read_text() == suite.read_text()


def test_no_other_files_travel_in_the_wheel() -> None:
    strays = [
        path.relative_to(INSTALLED).as_posix()
        for path in INSTALLED.rglob("*")
        if path.suffix in {".cpp", ".h", ".txt", ".npz", ".json"}
    ]
    assert strays == []


@pytest.mark.parametrize("python", ["3.11", "3.14"])
@pytest.mark.parametrize(
    ("system", "machine", "expected"),
    [
        ("linux", "x86_64", "onnxruntime-gpu"),
        ("win32", "AMD64", "onnxruntime-gpu"),
        ("linux", "aarch64", "onnxruntime"),
        ("darwin", "arm64", "onnxruntime"),
        ("darwin", "x86_64", "onnxruntime"),
        ("win32", "ARM64", "onnxruntime"),
    ],
)
def test_each_platform_gets_exactly_one_onnx_runtime(
    system: str, machine: str, expected: str, python: str
) -> None:
    environment = {
        "sys_platform": system,
        "platform_machine": machine,
        "python_version": python,
        "extra": "",
    }
    chosen = [
        requirement.name
        for requirement in map(Requirement, PROJECT["dependencies"])
        if requirement.marker is None or requirement.marker.evaluate(environment)
    ]
    assert [name for name in chosen if name.startswith("onnxruntime")] == [expected]
