"""What docstrings say of settings, games and planes, read as data."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
import operator
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyengine
from pyengine.base.checks import Settings
from pyengine.errors import EngineError
from pyengine.train.loop import run_configs

_ENTRY = re.compile(r"([\w\[\]\*]+)(?: \((.*?), default (.*?)\))?: (.*)", re.S)


@dataclass(frozen=True)
class Entry:
    """A line of a block of a docstring: ``name (values, default DEFAULT): meaning``."""

    name: str
    values: str  #: empty if the block does not give them
    default: str
    meaning: str
    inner: tuple[Entry, ...] = ()  #: the parameters of a game


def blocks(doc: str) -> dict[str, tuple[Entry, ...]]:
    """Return the blocks of a docstring by title: ``Attributes``, ``Planes``, ``Games``."""
    found: dict[str, tuple[Entry, ...]] = {}
    lines = inspect.cleandoc(doc).splitlines()
    for number, line in enumerate(lines):
        if re.fullmatch(r"[A-Z]\w+:", line):
            body = list(_indented(lines[number + 1 :]))
            if any(_ENTRY.match(entry) for entry in body):
                found[line[:-1]] = tuple(_entries(body))
    return found


def _indented(lines: list[str]) -> Iterator[str]:
    """Yield the lines of a block without their common indentation."""
    for line in lines:
        if line and not line.startswith("    "):
            return
        yield line[4:]


def _entries(lines: list[str]) -> Iterator[Entry]:
    """Yield entries; deeper lines continue the entry above, or are its inner entries."""
    groups: list[list[str]] = []
    for line in lines:
        if line.startswith("    "):
            groups[-1].append(line[4:])
        elif line:
            groups.append([line])
    for first, *rest in groups:
        inner = next((i for i, line in enumerate(rest) if _is_setting(line)), len(rest))
        text = " ".join([first, *(line.strip() for line in rest[:inner] if line.strip())])
        match = _ENTRY.fullmatch(text)
        if match is not None:
            name, values, default, meaning = match.groups(default="")
            yield Entry(name, values, default, meaning, tuple(_entries(rest[inner:])))


def _is_setting(line: str) -> bool:
    return re.match(r"\w+ \(", line) is not None and "," in line


def described(kind: type) -> tuple[Entry, ...]:
    """Return the entries of a class's docstring."""
    return blocks(kind.__doc__ or "").get("Attributes", ())


def games() -> dict[str, Entry]:
    """Return the games in the docstring of ``load_game``, with their parameters."""
    return {entry.name: entry for entry in blocks(pyengine.load_game.__doc__ or "")["Games"]}


def _records() -> list[type]:
    """Return the public dataclasses, except those whose extra is absent."""
    rooms = ("data", "match", "conversion", "distributed", "train")
    modules = [pyengine, *(importlib.import_module(f"pyengine.{room}") for room in rooms)]
    records: dict[type, None] = {}
    for module in (*modules, run_configs):
        for name in filter(lambda name: not name.startswith("_"), dir(module)):
            try:
                kind = getattr(module, name)
            except EngineError:
                continue
            if inspect.isclass(kind) and dataclasses.is_dataclass(kind):
                records[kind] = None
    return list(records)


#: The public dataclasses, and those of them that are settings.
RECORDS = _records()
SETTINGS = [kind for kind in RECORDS if issubclass(kind, Settings)]


def evaluated(text: str, names: dict[str, Any] | None = None) -> Any:
    """Return the value of a default: a literal, or a product or power of numbers and names."""
    operators: dict[type, Any] = {ast.Mult: operator.mul, ast.Pow: operator.pow}
    operators[ast.Sub] = operator.sub

    def value(node: ast.expr) -> Any:
        match node:
            case ast.Name(id=name):
                return (names or {})[name]
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -value(operand)
            case ast.BinOp(left=left, op=op, right=right):
                return operators[type(op)](value(left), value(right))
            case _:
                return ast.literal_eval(node)

    return value(ast.parse(text, mode="eval").body)
