"""The examples of docstrings do what they say, and the most used names have one."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
from pathlib import Path
from types import ModuleType

import pytest

import pyengine

#: Programs, which run when they are imported; the compiled module; an old name, which warns.
LEFT_OUT = {"__main__", "benchmarks", "_core", "generation"}


def modules() -> list[ModuleType]:
    """Return the modules of the package, but for those of extras that are absent."""
    found = []
    for info in pkgutil.walk_packages(pyengine.__path__, "pyengine."):
        if LEFT_OUT & set(info.name.split(".")):
            continue
        try:
            found.append(importlib.import_module(info.name))
        except ModuleNotFoundError as error:
            if (error.name or "").startswith("pyengine"):
                raise
    return [pyengine, *found]


FINDER = doctest.DocTestFinder(exclude_empty=True)
EXAMPLES = {
    test.name: test for module in modules() for test in FINDER.find(module) if test.examples
}
#: Of the compiled module doctest finds none by itself.
EXAMPLES["State"] = doctest.DocTestParser().get_doctest(
    inspect.getdoc(pyengine.State) or "", {}, "State", None, None
)


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_does_what_it_says(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    told: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    runner.run(EXAMPLES[name], out=told.append, clear_globs=False)
    assert runner.summarize(verbose=False).failed == 0, "".join(told)


MOST_USED = [
    "CallbackEvaluator",
    "Dataset",
    "Engine",
    "Engine.analyze",
    "ModelSpec",
    "OnnxEvaluator",
    "SearchConfig",
    "SearchResult",
    "SelfPlayConfig",
    "State",
    "StateEvaluator",
    "as_game",
    "check_game",
    "convert",
    "load_game",
    "match",
    "search",
    "selfplay",
    "tune",
]


@pytest.mark.parametrize("name", MOST_USED)
def test_the_most_used_names_have_an_example(name: str) -> None:
    first, *rest = name.split(".")
    found = getattr(pyengine, first)
    for part in rest:
        found = getattr(found, part)
    assert ">>> " in (inspect.getdoc(found) or "")


def test_every_option_of_every_command_has_a_meaning() -> None:
    typer = pytest.importorskip("typer")
    from pyengine.cli.app import app

    for name, command in typer.main.get_command(app).commands.items():
        for option in command.params:
            hidden = getattr(option, "hidden", False)
            assert hidden or getattr(option, "help", None), f"pyengine {name} {option.name}"
