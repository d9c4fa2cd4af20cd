"""What the tests of docs/reference/ share: its pages, the tool that writes them, public classes."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import importlib.util
import inspect
import operator
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from conftest import ROOT
from pyengine.base.settings import Settings
from pyengine.errors import EngineError
from pyengine.train.loop import run_configs

FOLDER = ROOT / "docs" / "reference"
TEXT = {page.name: page.read_text("utf-8") for page in sorted(FOLDER.glob("*.md"))}

_ROOMS = ("train", "data", "match", "conversion", "distributed")
MODULES = [
    importlib.import_module(name) for name in ("pyengine", *(f"pyengine.{r}" for r in _ROOMS))
]


def _load_tool() -> ModuleType:
    """Return tools/make_reference.py as a module."""
    file = ROOT / "tools" / "make_reference.py"
    spec = importlib.util.spec_from_file_location("make_reference", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look it up
    spec.loader.exec_module(module)
    return module


tool = _load_tool()


def public_names() -> Iterator[tuple[str, Any]]:
    """Yield dotted names and what they mean, but for what needs an extra that is absent."""
    for module in (*MODULES, run_configs):
        for name in module.__all__:
            try:
                yield f"{module.__name__}.{name}", getattr(module, name)
            except EngineError:
                continue


def _records() -> dict[type, set[str]]:
    found: dict[type, set[str]] = {}
    for path, kind in public_names():
        if inspect.isclass(kind) and dataclasses.is_dataclass(kind):
            found.setdefault(kind, set()).add(path)
    return found


#: Public dataclasses, and the names by which they are exported.
RECORDS = _records()
SETTINGS = [kind for kind in RECORDS if issubclass(kind, Settings)]


def described(kind: type) -> tuple[Any, ...]:
    """Return the entries of a class's docstring."""
    return tool.blocks(kind.__doc__ or "").get("Attributes", ())


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
