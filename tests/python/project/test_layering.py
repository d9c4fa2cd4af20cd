"""Sizes that the style asks for: test_layers.py has the rules that fail; sizes only warn."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
FOLDERS = ["src", "bindings", "benchmarks"]
MOST_LINES = {".h": 250, ".cpp": 500, ".py": 500}
MOST_LINES_OF_A_FUNCTION = 50


def sources(*suffixes: str) -> list[Path]:
    """Return the project's files with these suffixes."""
    found = (path for folder in FOLDERS for path in (ROOT / folder).rglob("*"))
    return sorted(path for path in found if path.suffix in suffixes)


def name_of(path: Path) -> str:
    """Return the path below the root."""
    return path.relative_to(ROOT).as_posix()


def long_files() -> Iterator[str]:
    """Name the files that are longer than the style asks for."""
    for path in sources(*MOST_LINES):
        lines = path.read_text().count("\n")
        if lines > MOST_LINES[path.suffix]:
            yield f"{name_of(path)}: {lines} lines, the aim is {MOST_LINES[path.suffix]}"


def python_functions(path: Path) -> Iterator[tuple[str, int]]:
    """Return name and length of the functions of a module."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, (node.end_lineno or node.lineno) - node.lineno + 1


def cpp_functions(path: Path) -> Iterator[tuple[str, int]]:
    """Return first line and length of what begins at the margin and ends with ``}``."""
    begin = 0
    head = ""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if re.match(r"[A-Za-z].*\)[^;]*\{$|[A-Za-z:].*\($", line) and "namespace" not in line:
            begin, head = number, line
        elif line.startswith("}") and begin:
            yield head, number - begin + 1
            begin = 0


def long_functions() -> Iterator[str]:
    """Name the functions that are longer than the style asks for."""
    for path in sources(".cpp", ".py"):
        functions = python_functions(path) if path.suffix == ".py" else cpp_functions(path)
        for name, lines in functions:
            if lines > MOST_LINES_OF_A_FUNCTION:
                yield f"{name_of(path)}: {name} has {lines} lines, the aim is 50"


def test_files_and_functions_are_as_short_as_the_style_asks() -> None:
    for message in [*long_files(), *long_functions()]:
        warnings.warn(message, stacklevel=1)


def test_module_cpp_is_a_list_of_calls() -> None:
    body = (ROOT / "bindings" / "module.cpp").read_text().split("PYBIND11_MODULE")[1]
    calls = [line for line in body.splitlines() if "bind_" in line]
    assert calls
    assert len(body.splitlines()) <= len(calls) + 5
