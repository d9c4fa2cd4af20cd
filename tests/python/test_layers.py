"""The folders of src/cpp are the architecture: includes point one way and the core is silent."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CORE = ROOT / "src" / "cpp"
BINDINGS = ROOT / "bindings"
# Lowest first: a file may include its own folder's headers and those before it.
LAYERS = ["base", "games", "eval", "exact", "search", "selfplay", "api"]
# eval/ judges positions of any game: of games/ it may know what is common to all of them.
COMMON_TO_GAMES = {
    "any_game.h",
    "game.h",
    "list.h",
    "params.h",
    "registry.h",
    "state.h",
    "symmetry.h",
}
PRINTING = re.compile(
    r"\bstd::(cout|cerr|clog|print|println)\b|\b(f?printf|puts|fputs|putchar)\s*\("
)
COMMENT = re.compile(r"//.*?$|/\*.*?\*/", re.DOTALL | re.MULTILINE)

CORE_FILES = sorted(path for path in CORE.rglob("*") if path.suffix in {".h", ".cpp"})


def name_of(path: Path) -> str:
    """Return the path below src/cpp, as includes write it."""
    return path.relative_to(CORE).as_posix()


def code_of(path: Path) -> str:
    """Return the file's text without comments."""
    return COMMENT.sub("", path.read_text())


def includes(path: Path) -> list[str]:
    """Return what stands between the quotes or brackets of every include."""
    return re.findall(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', path.read_text(), re.MULTILINE)


def test_every_folder_of_the_core_is_a_known_layer() -> None:
    assert {path.name for path in CORE.iterdir()} <= set(LAYERS)


@pytest.mark.parametrize("path", CORE_FILES, ids=name_of)
def test_includes_point_from_a_layer_to_itself_or_below(path: Path) -> None:
    layer = name_of(path).split("/")[0]
    allowed = LAYERS[: LAYERS.index(layer) + 1]
    ours = [include for include in includes(path) if (CORE / include).exists()]
    assert [include for include in ours if include.split("/")[0] not in allowed] == []


@pytest.mark.parametrize("path", CORE_FILES, ids=name_of)
def test_includes_of_the_project_are_written_from_src_cpp(path: Path) -> None:
    quoted = re.findall(r'^\s*#\s*include\s*"([^"]+)"', path.read_text(), re.MULTILINE)
    assert [include for include in quoted if not (CORE / include).exists()] == []


@pytest.mark.parametrize("path", sorted((CORE / "eval").glob("*")), ids=name_of)
def test_evaluation_knows_no_concrete_game(path: Path) -> None:
    games = [include for include in includes(path) if include.startswith("games/")]
    assert [include for include in games if include.split("/")[1] not in COMMON_TO_GAMES] == []


@pytest.mark.parametrize("path", CORE_FILES, ids=name_of)
def test_python_is_known_to_the_bindings_alone(path: Path) -> None:
    found = [include for include in includes(path) if re.match(r"Python\.h|pybind11/", include)]
    assert found == []


@pytest.mark.parametrize("path", CORE_FILES, ids=name_of)
def test_the_core_prints_nothing(path: Path) -> None:
    assert "iostream" not in includes(path)
    assert PRINTING.findall(code_of(path)) == []


@pytest.mark.parametrize("path", sorted(BINDINGS.glob("*")), ids=lambda path: path.name)
def test_bindings_are_one_flat_folder_of_cpp_files(path: Path) -> None:
    assert path.suffix in {".cpp", ".h"}
