"""The contents and metadata of the wheel and the source distribution."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tarfile
import tomllib
import venv
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import pyengine
from pyengine.eval import runtime

ROOT = Path(__file__).resolve().parents[3]
INSTALLED = Path(pyengine.__file__).parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
DISTRIBUTION = PROJECT["name"]
MODELS = sorted((ROOT / "models").glob("*.onnx"))
SUITES = sorted((ROOT / "benchmarks").glob("*.py"))
PATH = os.environ.get("PATH", "")


def test_the_tests_use_the_installed_package() -> None:
    assert ROOT / "src" not in INSTALLED.parents


def test_the_version_is_the_same_everywhere() -> None:
    core = importlib.import_module("pyengine._core")
    assert metadata.version(DISTRIBUTION) == PROJECT["version"]
    assert core.__version__ == PROJECT["version"]
    assert pyengine.__version__ == PROJECT["version"]


SHOW_VERSION = """
include("{root}/cmake/version.cmake")
message("${{pyengine_version}} ${{pyengine_release}}")
"""


def cmake_version(folder: Path, version: str, *, given: bool) -> str:
    """Return the output of CMake for a version passed as a variable or read from a file."""
    cmake = shutil.which("cmake", path=os.pathsep.join([str(Path(sys.executable).parent), PATH]))
    if cmake is None:
        pytest.skip("cmake is not installed")
    (folder / "cmake").mkdir()
    shutil.copy(ROOT / "cmake" / "version.cmake", folder / "cmake")
    (folder / "pyproject.toml").write_text(
        f'[project]\nname = "x"\nversion = "{"9" if given else version}"\n'
    )
    (folder / "show.cmake").write_text(SHOW_VERSION.format(root=folder.as_posix()))
    definitions = [f"-DSKBUILD_PROJECT_VERSION_FULL={version}"] if given else []
    command = [cmake, *definitions, "-P", str(folder / "show.cmake")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return " ".join(done.stderr.split())


@pytest.mark.parametrize("given", [True, False], ids=["given", "read"])
@pytest.mark.parametrize(
    ("version", "release"),
    [
        ("0.2.0", "0.2.0"),
        ("0.2.0rc1", "0.2.0"),
        ("1.2.3.4.5b10.post2.dev3+a.b", "1.2.3.4"),
    ],
)
def test_the_extension_gets_the_full_version(
    version: str, release: str, given: bool, tmp_path: Path
) -> None:
    assert cmake_version(tmp_path, version, given=given) == f"{version} {release}"


@pytest.mark.parametrize("version", ["", "x", "0.2.0-rc1", "0.02", "v1"])
def test_a_version_that_is_not_normalized_is_refused(version: str, tmp_path: Path) -> None:
    assert f'"{version}"' in cmake_version(tmp_path, version, given=False)


def test_the_package_is_typed() -> None:
    assert (INSTALLED / "py.typed").is_file()
    assert (INSTALLED / "_core.pyi").read_text() == (ROOT / "src/pyengine/_core.pyi").read_text()


def test_the_command_pyengine_is_installed() -> None:
    (script,) = metadata.entry_points(group="console_scripts", name="pyengine")
    assert callable(script.load())


def test_the_bundled_models_match_the_manifest() -> None:
    manifest = (INSTALLED / "models" / "manifest.toml").read_text()
    for model in MODELS:
        installed = INSTALLED / "models" / model.name
        assert hashlib.sha256(installed.read_bytes()).hexdigest() in manifest
        assert installed.stat().st_size < 2_000_000
    levels = (INSTALLED / "models" / "levels.toml").read_text()
    assert levels == (ROOT / "models" / "levels.toml").read_text()


def test_the_benchmark_suites_are_installed() -> None:
    for suite in SUITES:
        assert (INSTALLED / "benchmarks" / suite.name).read_text() == suite.read_text()


def test_the_wheel_has_no_other_files() -> None:
    files = [path.relative_to(INSTALLED) for path in INSTALLED.rglob("*")]
    strays = [
        path.as_posix()
        for path in files
        if path.suffix in {".cpp", ".h", ".txt", ".npz", ".json"}
        and path.parts[0] not in {"cmake", "include", "templates"}  # for games in C++
    ]
    assert strays == []
    assert not [path for path in files if path.suffix == ".so" and path.stem[:5] != "_core"]


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
    system: str, machine: str, expected: str
) -> None:
    environment = {"sys_platform": system, "platform_machine": machine, "extra": ""}
    chosen = [
        requirement.name
        for requirement in map(Requirement, PROJECT["dependencies"])
        if requirement.marker is None or requirement.marker.evaluate(environment)
    ]
    assert [name for name in chosen if name.startswith("onnxruntime")] == [expected]


def test_the_required_onnx_runtime_is_the_oldest_supported() -> None:
    names = ("onnxruntime", "onnxruntime-gpu")
    required = [r for r in map(Requirement, PROJECT["dependencies"]) if r.name in names]
    assert [str(r.specifier) for r in required] == [f">={runtime.OLDEST}"] * 2


@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13", "3.14"])
def test_each_python_gets_one_range_of_numpy(python: str) -> None:
    chosen = [
        r
        for r in map(Requirement, PROJECT["dependencies"])
        if r.name == "numpy" and r.marker and r.marker.evaluate({"python_version": python})
    ]
    assert len(chosen) == 1


@pytest.mark.slow
def test_the_wheel_works_without_onnxruntime_gpu(tmp_path: Path) -> None:
    wheels = sorted((ROOT / "build" / "dist").glob("*.whl"))
    if not wheels:
        pytest.skip("no wheel in build/dist")
    venv.create(tmp_path, with_pip=True)
    python = tmp_path / ("Scripts" if os.name == "nt" else "bin") / "python"

    def output(*arguments: str) -> str:
        command = [str(python), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout

    output("-m", "pip", "install", "numpy", f"onnxruntime>={runtime.OLDEST}")
    output("-m", "pip", "install", "--no-deps", str(wheels[-1]))
    assert output("-c", "import pyengine; print(pyengine.doctor().ok)") == "True\n"
    problems = output("-m", "pip", "check").splitlines()
    assert [line.split()[3:] for line in problems] in (
        [],
        [["onnxruntime-gpu,", "which", "is", "not", "installed."]],
    )


# --- the source distribution ---------------------------------------------------------------------

needs_sources = pytest.mark.skipif(
    importlib.util.find_spec("scikit_build_core") is None or not (ROOT / ".git").exists(),
    reason="needs scikit-build-core and a checkout",
)


def make_sdist(folder: Path) -> Path:
    """Return the source distribution of the checkout."""
    code = "import sys; from scikit_build_core.build import build_sdist; build_sdist(sys.argv[1])"
    command = [sys.executable, "-c", code, str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (path,) = folder.glob("*.tar.gz")
    return path


@needs_sources
def test_an_sdist_has_the_sources_and_nothing_else(tmp_path: Path) -> None:
    path = make_sdist(tmp_path)
    with tarfile.open(path) as archive:
        packed = {name.partition("/")[2] for name in archive.getnames()}
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True)
    names = {name for name in done.stdout.split("\0") if name and (ROOT / name).exists()}
    expected = {name for name in names if not name.startswith((".ci/", ".github/"))}
    assert packed == expected | {"PKG-INFO"}
    networks = sum(file.stat().st_size for file in (ROOT / "models").glob("*.onnx"))
    assert path.stat().st_size < networks + 2_000_000


@needs_sources
@pytest.mark.slow
def test_an_sdist_installs_without_a_network(tmp_path: Path) -> None:
    """Install with installed build requirements, without an index, and with closed proxies."""
    closed = dict.fromkeys(("http_proxy", "https_proxy"), "http://127.0.0.1:9")
    command = [sys.executable, "-m", "pip", "install", "--no-index", "--no-build-isolation"]
    command += ["--no-deps", "--target", str(tmp_path / "there"), str(make_sdist(tmp_path))]
    done = subprocess.run(
        command, env={**os.environ, **closed}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    show = f"import sys; sys.path.insert(0, {str(tmp_path / 'there')!r}); import pyengine as p"
    command = [sys.executable, "-c", f"{show}; print(p.__file__, p.__version__)"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert shown.split() == [str(tmp_path / "there/pyengine/__init__.py"), PROJECT["version"]]
