"""The folders of src/cpp are the architecture: includes point one way and the core is silent."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
CORE = ROOT / "src" / "cpp"
# Lowest first: a file may include its own folder's headers and those before it.
LAYERS = ["base", "games", "eval", "exact", "search", "selfplay", "api"]
PRINTING = re.compile(
    r"\bstd::(?:cout|cerr|clog|print|println)\b|\b(?:f?printf|f?puts|putchar)\s*\("
)
COMMENT = re.compile(r"//.*?$|/\*.*?\*/", re.DOTALL | re.MULTILINE)

CORE_FILES = sorted(path for path in CORE.rglob("*") if path.suffix in {".h", ".cpp"})
HEADERS = {path.relative_to(CORE).as_posix() for path in CORE_FILES if path.suffix == ".h"}


def name_of(path: Path) -> str:
    """Return the path below src/cpp, as includes write it."""
    return path.relative_to(CORE).as_posix()


def includes(path: Path) -> list[str]:
    """Return what stands between the quotes or brackets of every include."""
    return re.findall(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', path.read_text(), re.MULTILINE)


def test_every_folder_of_the_core_is_a_known_layer() -> None:
    assert {path.name for path in CORE.iterdir()} <= set(LAYERS)


def offenders(forbidden: Callable[[Path], list[str]]) -> dict[str, list[str]]:
    """Return by file what ``forbidden`` finds, for the files where it finds anything."""
    found = {name_of(path): forbidden(path) for path in CORE_FILES}
    return {name: lines for name, lines in found.items() if lines}


def test_includes_point_from_a_layer_to_itself_or_below() -> None:
    def upward(path: Path) -> list[str]:
        above = LAYERS[LAYERS.index(name_of(path).split("/")[0]) + 1 :]
        return [include for include in includes(path) if include.split("/")[0] in above]

    assert offenders(upward) == {}


#: By room: the rooms beside it that it may not include.
ABOVE = {
    "games/common": ("games/go/",),
    "eval/network": ("eval/ort/",),
    "search/tree": ("search/rules/", "search/run/"),
    "search/rules": ("search/run/",),
}


def test_the_tree_knows_no_rule_no_rule_knows_the_walk_and_networks_no_runtime() -> None:
    assert all((CORE / room).is_dir() for room in ABOVE)

    def upward(path: Path) -> list[str]:
        forbidden = ABOVE.get(name_of(path.parent), ())
        return [include for include in includes(path) if include.startswith(forbidden)]

    assert offenders(upward) == {}


def test_includes_of_the_project_are_written_from_src_cpp() -> None:
    def unknown(path: Path) -> list[str]:
        quoted = re.findall(r'^\s*#\s*include\s*"([^"]+)"', path.read_text(), re.MULTILINE)
        return [include for include in quoted if include not in HEADERS]

    assert offenders(unknown) == {}


def test_evaluation_knows_no_concrete_game() -> None:
    concrete = {"games/list.h", *includes(CORE / "games" / "list.h")} & HEADERS
    concrete -= {"games/any/foreign.h"}  # an abstract class, for games that are not ours

    def games(path: Path) -> list[str]:
        if name_of(path).split("/")[0] != "eval":
            return []
        return [include for include in includes(path) if include in concrete]

    assert offenders(games) == {}


def test_python_is_known_to_the_bindings_alone() -> None:
    def python(path: Path) -> list[str]:
        return [include for include in includes(path) if re.match(r"Python\.h|pybind11/", include)]

    assert offenders(python) == {}


def test_the_core_prints_nothing() -> None:
    def printing(path: Path) -> list[str]:
        return PRINTING.findall(COMMENT.sub("", path.read_text()))

    assert offenders(printing) == {}
