"""Includes in src/cpp follow the order of its folders, and the core prints nothing."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
CORE = ROOT / "src" / "cpp"
# Lowest first: a file may include headers of its folder and of the preceding folders.
LAYERS = ["base", "games", "eval", "exact", "search", "selfplay", "plugin"]
PRINTING = re.compile(
    r"\bstd::(?:cout|cerr|clog|print|println)\b|\b(?:f?printf|f?puts|putchar)\s*\("
)
COMMENT = re.compile(r"//.*?$|/\*.*?\*/", re.DOTALL | re.MULTILINE)

#: Sibling folders that a folder may not include.
SIBLINGS_ABOVE = {
    "games/common": ("games/go/",),
    "eval/network": ("eval/ort/",),
    "search/tree": ("search/rules/", "search/run/"),
    "search/rules": ("search/run/",),
}

FILES = sorted(path for path in CORE.rglob("*") if path.suffix in {".h", ".cpp"})
GENERATED = {"plugin/headers.h"}
HEADERS = GENERATED | {path.relative_to(CORE).as_posix() for path in FILES if path.suffix == ".h"}


def name_of(path: Path) -> str:
    """Return the path relative to src/cpp."""
    return path.relative_to(CORE).as_posix()


def layer_of(name: str) -> str:
    return name.split("/")[0]


def includes(path: Path, *, quoted: bool = False) -> list[str]:
    """Return the headers that a file includes."""
    marks = '"' if quoted else '<"'
    return re.findall(rf'^\s*#\s*include\s*[{marks}]([^>"]+)[>"]', path.read_text(), re.MULTILINE)


#: The list and its games, without what holds for any game.
CONCRETE_GAMES = {"games/list.h", *includes(CORE / "games" / "list.h")} & HEADERS
CONCRETE_GAMES = {name for name in CONCRETE_GAMES if not name.startswith(("base/", "games/any/"))}


def above(path: Path) -> list[str]:
    layers = LAYERS[LAYERS.index(layer_of(name_of(path))) + 1 :]
    return [include for include in includes(path) if layer_of(include) in layers]


def siblings_above(path: Path) -> list[str]:
    forbidden = SIBLINGS_ABOVE.get(name_of(path.parent), ())
    return [include for include in includes(path) if include.startswith(forbidden)]


def not_relative_to_the_core(path: Path) -> list[str]:
    return [include for include in includes(path, quoted=True) if include not in HEADERS]


def concrete_games_in_eval(path: Path) -> list[str]:
    return sorted(CONCRETE_GAMES & {*includes(path)}) if layer_of(name_of(path)) == "eval" else []


def python(path: Path) -> list[str]:
    return [include for include in includes(path) if re.match(r"Python\.h|pybind11/", include)]


def printing(path: Path) -> list[str]:
    return PRINTING.findall(COMMENT.sub("", path.read_text()))


@pytest.mark.parametrize(
    "forbidden",
    [above, siblings_above, not_relative_to_the_core, concrete_games_in_eval, python, printing],
)
def test_the_core_has_no(forbidden: Callable[[Path], list[str]]) -> None:
    offenders = {name_of(path): forbidden(path) for path in FILES}
    assert {name: lines for name, lines in offenders.items() if lines} == {}


def test_every_folder_of_the_core_is_known() -> None:
    assert {path.name for path in CORE.iterdir()} <= set(LAYERS)
    assert all((CORE / folder).is_dir() for folder in SIBLINGS_ABOVE)


def test_module_cpp_is_a_list_of_calls() -> None:
    body = (ROOT / "bindings" / "module.cpp").read_text().split("PYBIND11_MODULE")[1]
    calls = [line for line in body.splitlines() if "bind_" in line]
    assert calls
    assert len(body.splitlines()) <= len(calls) + 5
