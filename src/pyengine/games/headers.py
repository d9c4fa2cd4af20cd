"""Where the installed package keeps what a game in C++ is built with."""

from __future__ import annotations

from pathlib import Path

from pyengine import _core

_ROOT = Path(_core.__file__).parent  # in an editable install, not the folder of this file


def get_include() -> str:
    """Return the directory of the C++ headers; games include ``<pyengine/plugin/game.h>``."""
    return str(_ROOT / "include")


def get_cmake_dir() -> str:
    """Return the directory of the CMake package: ``find_package(pyengine CONFIG HINTS ...)``."""
    return str(_ROOT / "cmake")
