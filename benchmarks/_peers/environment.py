"""Environments of the peers: virtual environments with pinned packages in a cache folder."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import pyengine

Made = TypeVar("Made")

#: Prefixes of the error lines of pip, CMake and compilers.
_ERROR = re.compile(r"^(ERROR|CMake Error)|\berror:")

#: Timeout in seconds of one installation command.
PATIENCE = 1800.0

#: Every package with its version, including dependencies, to make the comparison reproducible.
PACKAGES = {
    "openspiel": (
        "absl-py==2.5.1",
        "attrs==26.1.0",
        "cmake==4.4.4",
        "ml_collections==1.1.0",
        "ninja==1.13.2",
        "numpy==2.4.6",
        "open_spiel==2.0.2",
        "PyYAML==6.0.3",
        "scipy==1.17.1",
        "typing_extensions==4.16.0",
    ),
    "paths": ("igraph==1.0.0", "numpy==2.4.6", "rustworkx==0.18.1", "texttable==1.7.0"),
    "scipy": ("numpy==2.4.6", "scipy==1.17.1"),
    "jax": (
        "absl-py==2.5.1",
        "chex==0.1.92",
        "jax==0.10.2",
        "jaxlib==0.10.2",
        "mctx==0.0.71",
        "ml_dtypes==0.6.0",
        "numpy==2.4.6",
        "opt_einsum==3.4.0",
        "pgx==2.6.0",
        "scipy==1.17.1",
        "svgwrite==1.4.3",
        "toolz==1.2.0",
        "typing_extensions==4.16.0",
    ),
}


class PeerError(pyengine.EngineError):
    """A peer is unavailable or has failed. The suite continues without it."""


def cache_folder() -> Path:
    """Return the folder of the peers: ``$PYENGINE_PEERS``, or a folder in the user's cache."""
    named = os.environ.get("PYENGINE_PEERS")
    if named:
        return Path(named).expanduser().absolute()
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else Path.home() / ".cache") / "pyengine" / "peers"


def say(text: str) -> None:
    """Show progress on stderr. Results go to stdout."""
    print(f"peers: {text}", file=sys.stderr, flush=True)


@dataclass(frozen=True)
class Environment:
    """A virtual environment with the packages of one peer.

    Attributes:
        name: key of ``PACKAGES``.
        folder: folder of all peers.
    """

    name: str
    folder: Path

    @property
    def root(self) -> Path:
        """The virtual environment."""
        return self.folder / self.name

    @property
    def scripts(self) -> Path:
        """The folder of its programs."""
        return self.root / ("Scripts" if os.name == "nt" else "bin")

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.scripts / ("python.exe" if os.name == "nt" else "python")

    @property
    def packages(self) -> str:
        """The pinned packages, one per line, as recorded by a completed installation."""
        return "".join(f"{package}\n" for package in PACKAGES[self.name])

    @property
    def ready(self) -> bool:
        """Whether exactly these packages are already installed."""
        mark = self.root / "installed.txt"
        return mark.is_file() and mark.read_text() == self.packages and self.python.exists()

    def prepare(self, install: bool) -> None:
        """Install missing packages. Raises PeerError with the end of the installer's output.

        Args:
            install: False = use the existing installation and download nothing.
        """
        if self.ready:
            return
        if not install:
            raise PeerError(f"{self.name}: not installed in {self.root}; run once without --quick")
        say(f"installing {self.name} into {self.root} ...")
        shutil.rmtree(self.root, ignore_errors=True)
        try:
            venv.create(self.root, with_pip=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise PeerError(
                f"{self.name}: no virtual environment in {self.root}: {error}"
            ) from error
        pip = [str(self.python), "-m", "pip", "--disable-pip-version-check", "install", "-q"]
        command(f"{self.name}: pip", [*pip, "--no-deps", *PACKAGES[self.name]])
        (self.root / "installed.txt").write_text(self.packages)

    def site_packages(self) -> Path:
        """Return the folder of its packages."""
        code = "import sysconfig; print(sysconfig.get_path('platlib'))"
        return Path(command(f"{self.name}: python", [str(self.python), "-c", code]).strip())


def command(what: str, words: Sequence[str], path: Path | None = None) -> str:
    """Run a program and return its output. Raises PeerError if it fails.

    Args:
        what: prefix of the error message.
        words: the program and its arguments.
        path: folder to search first for programs.
    """
    environment = dict(os.environ)
    if path is not None:
        environment["PATH"] = os.pathsep.join([str(path), environment.get("PATH", "")])
    try:
        done = subprocess.run(
            [str(word) for word in words],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=environment,
            timeout=PATIENCE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise PeerError(f"{what}: {error}") from error
    if done.returncode != 0:
        raise PeerError(f"{what}: {last_words(done.stdout)}")
    return done.stdout


def last_words(output: str) -> str:
    """Return the most likely reason in a failed program's output."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    if not lines:
        return "it said nothing"
    if any(line.startswith("Traceback") for line in lines):
        return lines[-1]
    errors = (i for i, line in enumerate(lines) if _ERROR.search(line))
    first = next(errors, len(lines) - 1)
    return " ".join(lines[first : first + 3])  # CMake gives the reason in the lines below


def version_of(program: str) -> str:
    """Return the first line of a program's version output."""
    return command(program, [program, "--help"]).splitlines()[0]


def find_program(*names: str) -> str | None:
    """Return the path of the first installed program. Debian keeps games in a separate folder."""
    places = os.pathsep.join([os.environ.get("PATH", ""), "/usr/games"])
    return next((found for name in names if (found := shutil.which(name, path=places))), None)


def attempt(make: Callable[[], Made], notes: list[str]) -> Made | None:
    """Return the result of a factory, or None with a note if the peer is unavailable."""
    try:
        return make()
    except PeerError as reason:
        say(f"continuing without it: {reason}")
        notes.append(f"missing: {reason}")
        return None
