"""Examples in docstrings run, and the most used names have an example."""

from __future__ import annotations

import doctest
import importlib
import inspect
import operator
import pkgutil
from pathlib import Path
from types import ModuleType

import pytest

import pyengine

#: Programs that run when imported, and the compiled module.
LEFT_OUT = {"__main__", "benchmarks", "_core", "generation"}


def modules() -> list[ModuleType]:
    """Return the modules of the package except those of missing extras."""
    result = []
    for info in pkgutil.walk_packages(pyengine.__path__, "pyengine."):
        if LEFT_OUT & set(info.name.split(".")):
            continue
        try:
            result.append(importlib.import_module(info.name))
        except ModuleNotFoundError as error:
            if (error.name or "").startswith("pyengine"):
                raise
    return [pyengine, *result]


FINDER = doctest.DocTestFinder(exclude_empty=True)
EXAMPLES = {
    test.name: test for module in modules() for test in FINDER.find(module) if test.examples
}
#: doctest does not search the compiled module.
EXAMPLES["State"] = doctest.DocTestParser().get_doctest(
    inspect.getdoc(pyengine.State) or "", {}, "State", None, None
)


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_prints_the_documented_output(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    output: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    runner.run(EXAMPLES[name], out=output.append, clear_globs=False)
    assert runner.summarize(verbose=False).failed == 0, "".join(output)


MOST_USED = """
    CallbackEvaluator Dataset Engine Engine.analyze ModelSpec OnnxEvaluator SearchConfig
    SearchResult SelfPlayConfig State StateEvaluator check_game convert games.as_game load_game
    match match.tune search selfplay
"""


@pytest.mark.parametrize("name", MOST_USED.split())
def test_the_most_used_names_have_an_example(name: str) -> None:
    documented = operator.attrgetter(name)(pyengine)
    assert ">>> " in (inspect.getdoc(documented) or "")


def test_every_option_of_every_command_has_a_help_text() -> None:
    typer = pytest.importorskip("typer")
    from pyengine.cli.app import app

    for name, command in typer.main.get_command(app).commands.items():
        for option in command.params:
            hidden = getattr(option, "hidden", False)
            assert hidden or getattr(option, "help", None), f"pyengine {name} {option.name}"
