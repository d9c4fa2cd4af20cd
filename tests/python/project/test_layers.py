"""Includes in src/cpp follow the order of its folders, and the core prints nothing."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
CORE = ROOT / "src" / "cpp"
# Lowest first: a file may include headers of its folder and of the preceding folders.
LAYERS = ["base", "games", "eval", "exact", "search", "selfplay", "api"]
PRINTING = re.compile(
    r"\bstd::(?:cout|cerr|clog|print|println)\b|\b(?:f?printf|f?puts|putchar)\s*\("
)
COMMENT = re.compile(r"//.*?$|/\*.*?\*/", re.DOTALL | re.MULTILINE)

CORE_FILES = sorted(path for path in CORE.rglob("*") if path.suffix in {".h", ".cpp"})
HEADERS = {path.relative_to(CORE).as_posix() for path in CORE_FILES if path.suffix == ".h"}


def name_of(path: Path) -> str:
    """Return the path relative to src/cpp."""
    return path.relative_to(CORE).as_posix()


def includes(path: Path) -> list[str]:
    """Return the headers that a file includes."""
    return re.findall(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', path.read_text(), re.MULTILINE)


def test_every_folder_of_the_core_is_a_known_layer() -> None:
    assert {path.name for path in CORE.iterdir()} <= set(LAYERS)


def offenders(forbidden: Callable[[Path], list[str]]) -> dict[str, list[str]]:
    """Return the non-empty results of ``forbidden`` by file."""
    results = {name_of(path): forbidden(path) for path in CORE_FILES}
    return {name: lines for name, lines in results.items() if lines}


def test_includes_point_from_a_layer_to_itself_or_below() -> None:
    def upward(path: Path) -> list[str]:
        above = LAYERS[LAYERS.index(name_of(path).split("/")[0]) + 1 :]
        return [include for include in includes(path) if include.split("/")[0] in above]

    assert offenders(upward) == {}


#: Sibling folders that a folder may not include.
ABOVE = {
    "games/common": ("games/go/",),
    "eval/network": ("eval/ort/",),
    "search/tree": ("search/rules/", "search/run/"),
    "search/rules": ("search/run/",),
}


def test_includes_follow_the_order_within_a_layer() -> None:
    assert all((CORE / room).is_dir() for room in ABOVE)

    def upward(path: Path) -> list[str]:
        forbidden = ABOVE.get(name_of(path.parent), ())
        return [include for include in includes(path) if include.startswith(forbidden)]

    assert offenders(upward) == {}


def test_quoted_includes_are_relative_to_src_cpp() -> None:
    def unknown(path: Path) -> list[str]:
        quoted = re.findall(r'^\s*#\s*include\s*"([^"]+)"', path.read_text(), re.MULTILINE)
        return [include for include in quoted if include not in HEADERS]

    assert offenders(unknown) == {}


def test_eval_includes_no_concrete_game() -> None:
    concrete = {"games/list.h", *includes(CORE / "games" / "list.h")} & HEADERS
    concrete -= {"games/any/foreign.h"}  # an abstract class, for users' games

    def games(path: Path) -> list[str]:
        if name_of(path).split("/")[0] != "eval":
            return []
        return [include for include in includes(path) if include in concrete]

    assert offenders(games) == {}


def test_the_core_does_not_include_python() -> None:
    def python(path: Path) -> list[str]:
        return [include for include in includes(path) if re.match(r"Python\.h|pybind11/", include)]

    assert offenders(python) == {}


def test_the_core_prints_nothing() -> None:
    def printing(path: Path) -> list[str]:
        return PRINTING.findall(COMMENT.sub("", path.read_text()))

    assert offenders(printing) == {}


def test_module_cpp_is_a_list_of_calls() -> None:
    body = (ROOT / "bindings" / "module.cpp").read_text().split("PYBIND11_MODULE")[1]
    calls = [line for line in body.splitlines() if "bind_" in line]
    assert calls
    assert len(body.splitlines()) <= len(calls) + 5
