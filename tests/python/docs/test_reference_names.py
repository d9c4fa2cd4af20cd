"""docs/reference names what there is: commands, errors, classes, signatures, links."""

from __future__ import annotations

import ast
import builtins
import importlib
import inspect
import re
from collections.abc import Iterator
from typing import Any

import pytest

import pyengine
from conftest import ROOT
from pyengine import errors
from pyengine.errors import EngineError
from pyengine.train.loop import run_configs
from reference_pages import FOLDER, MODULES, TEXT, public_names, tool


def test_every_option_of_every_command_has_a_meaning() -> None:
    pytest.importorskip("typer")
    for name in tool.commands():
        assert f"<!-- command: {name} -->" in TEXT["command-line.md"]
        for parameter in tool.parameters(name):
            assert parameter.help, f"pyengine {name} {parameter.flags[0]}"


def test_the_commands_are_those_of_the_program() -> None:
    typer = pytest.importorskip("typer")
    from pyengine.cli.app import app

    commands = dict(typer.main.get_command(app).commands)
    below = commands.pop("convert").commands
    commands |= {f"convert {name}": command for name, command in below.items()}
    assert set(commands) == set(tool.commands())
    for name, command in commands.items():
        shown = (option for option in command.params if not getattr(option, "hidden", False))
        flags = {flag for option in shown for flag in option.opts if flag[0] == "-"}
        told = {flag for p in tool.parameters(name) for flag in p.flags if flag[0] == "-"}
        assert told == flags


# --- errors and names


def test_every_error_is_described() -> None:
    for path, found in public_names():
        if inspect.isclass(found) and issubclass(found, EngineError):
            assert f"| `{path}` |" in TEXT["errors.md"]
    made = {
        name for name, found in vars(errors).items() if inspect.isclass(found) and name[0] != "_"
    }
    assert made <= set(pyengine.__all__)


def test_every_public_name_is_on_a_page() -> None:
    for name in pyengine.__all__:
        assert f"| `{name}` |" in TEXT["README.md"]
    pages = "\n".join(TEXT.values())
    for module in MODULES:
        for name in module.__all__:
            assert re.search(rf"`(?:pyengine\.)?(?:[\w]+\.)?{name}\b", pages), f"{module}: {name}"


def resolved(path: str) -> Any:
    """Return what a dotted name on a page means; None for a field, or where its extra is absent.

    Raises LookupError where it means nothing.
    """
    first, *rest = path.removeprefix("pyengine.").split(".")
    for module in (*MODULES, run_configs, importlib.import_module("pyengine.match.tuning")):
        try:
            found = getattr(module, first)
        except EngineError:
            return None
        except AttributeError:
            continue
        for name in rest:
            if name in getattr(found, "__dataclass_fields__", ()):
                return None
            found = getattr(found, name)
        return found
    raise LookupError(path)


CODE = [
    (page, code)
    for page, text in TEXT.items()
    for code in re.findall(r"`([^`\n]+)`", re.sub(r"```.*?```", "", text, flags=re.S))
]


@pytest.mark.parametrize("page", TEXT)
def test_the_pages_name_what_there_is(page: str) -> None:
    for code in (code for where, code in CODE if where == page):
        is_class = re.fullmatch(r"(pyengine\.)?[A-Z]\w*[a-z]\w*(\.\w+)*", code)
        if is_class and not hasattr(builtins, code) and code != "Path":
            resolved(code)


def signatures() -> Iterator[tuple[str, Any, ast.Call]]:
    """Yield what the text of the pages writes as ``name(arguments)``."""
    for page, text in TEXT.items():
        flat = re.sub(r"```.*?```|<!-- .*?<!-- end -->", "", text, flags=re.S).replace("\n", " ")
        for code in re.findall(r"`([\w.]+\([^`]*\))`", flat):
            try:
                call = ast.parse(code, mode="eval").body
                found = resolved(code.split("(")[0])
            except (SyntaxError, LookupError):
                continue
            assert isinstance(call, ast.Call)
            yield f"{page}: {code}", found, call


def test_the_pages_write_signatures_as_they_are() -> None:
    checked = 0
    for where, found, call in signatures():
        try:
            parameters = inspect.signature(found).parameters
        except (TypeError, ValueError):  # an extra that is absent, or the compiled module
            continue
        for argument in call.args:
            if isinstance(argument, ast.Name):  # else an example with values
                assert argument.id in parameters, where
        for keyword in call.keywords:
            if keyword.arg is None:
                continue
            free = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
            assert keyword.arg in parameters or free, where
            default = parameters[keyword.arg].default if keyword.arg in parameters else None
            if len(call.keywords) > 1 and default is not inspect.Parameter.empty and not free:
                assert ast.literal_eval(keyword.value) == default, where
        checked += 1
    assert checked > 15


def test_links_lead_somewhere() -> None:
    for page, text in TEXT.items():
        for file, anchor in re.findall(r"\]\(([\w./-]*)(?:#([\w-]+))?\)", text):
            target = FOLDER / (file or page)
            assert target.is_file(), f"{page}: {file}"
            if anchor:
                titles = re.findall(r"^#+ (.+)$", target.read_text("utf-8"), re.M)
                anchors = {re.sub(r"[^\w -]", "", t).lower().replace(" ", "-") for t in titles}
                assert anchor in anchors, f"{page}: {file}#{anchor}"


def test_the_code_cites_pages_and_headings_that_there_are() -> None:
    folders = ("src", "bindings", "tests", "benchmarks", "tools", "models")
    sources = [
        path
        for folder in folders
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".py", ".h", ".cpp")
    ]
    cited = 0
    for path in sources:
        text = re.sub(r"\n\s*(?:///?|#)? *", " ", path.read_text("utf-8"))
        for page, heading in re.findall(r'docs/reference/([\w-]+\.md)(?:, "([^"]+)")?', text):
            titles = re.findall(r"^#+ (.+)$", TEXT[page], re.M)
            assert not heading or heading in {title.replace("`", "") for title in titles}, path
            cited += 1
    assert cited >= 4
