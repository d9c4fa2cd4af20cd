"""The reference of the package as Markdown, from docstrings and declared settings.

Without PyTorch, names that need it are left out.
"""

from __future__ import annotations

import contextlib
import html
import importlib
import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pdoc.doc

from docstring_markdown import Link, cell, inline, markdown, table
from pyengine import EngineError

SITE = Path(__file__).resolve().parents[1] / "docs" / "site.toml"
#: The documented modules: those in the navigation of the site, after the package itself.
MODULES = re.findall(r"docs/reference/(pyengine\.[\w.]+)\.md", SITE.read_text(encoding="utf-8"))
LONGEST = 400  #: characters of a signature that is shown whole


@dataclass(frozen=True)
class Entry:
    """A public class, function or constant and the page that describes it."""

    name: str  #: with its room, such as "pyengine.search.Engine"
    page: str
    value: Any

    @property
    def short(self) -> str:
        """The name without the room."""
        return self.name.rpartition(".")[2]


def entries(module: str) -> list[Entry]:
    """Return the public names of a module, without those of missing extras."""
    room = importlib.import_module(module)
    names = getattr(room, "__all__", None) or [
        name for name, value in vars(room).items() if getattr(value, "__module__", "") == module
    ]
    found = []
    for name in sorted(names, key=str.lower):
        with contextlib.suppress(EngineError):  # PyTorch is missing
            found.append(Entry(f"{module}.{name}", f"{module}.md", getattr(room, name)))
    return [entry for entry in found if entry.short[0] != "_" and not inspect.ismodule(entry.value)]


def link_to(known: dict[str, Entry]) -> Link:
    """Return the function from a name in a docstring to its address."""

    def link(name: str) -> str | None:
        owner, _, member = name.removesuffix("()").removeprefix("pyengine.").rpartition(".")
        for each in (known.get(member), known.get(owner.rpartition(".")[2])):
            if each is not None:
                has_heading = callable(getattr(each.value, member, None))
                return f"{each.page}#{each.name}{f'.{member}' if has_heading else ''}"
        return None

    return link


def heading(level: int, title: str, anchor: str) -> str:
    """Return a heading with an explicit anchor."""
    return f"{'#' * level} {title} {{#{anchor}}}"


def signature_and_doc(name: str, function: Any) -> tuple[str, str]:
    """Return the signature of a function and the rest of its docstring."""
    doc = inspect.getdoc(function) or ""
    if re.match(rf"{name}\(.*\) -> ", doc):  # pybind11 writes the signature as the first line
        first, _, doc = doc.partition("\n")
        signature = first.removeprefix(name)
    else:
        try:
            signature = str(inspect.signature(function)).replace("'", "")
        except ValueError:  # a class from C++
            signature = ""
    signature = re.sub(r"\b(pyengine|typing|collections|numpy)(\.\w+)*\.(?=\w)", "", signature)
    signature = re.sub(r"\bself: \w+", "self", signature)
    if len(signature) > LONGEST:  # one keyword for each setting
        signature = re.sub(r"\*, .*\)( -> .*)$", r"*, **settings)\1", signature)
    return signature, doc.strip()


def function_block(name: str, function: Any, link: Link) -> list[str]:
    """Return the signature and the description of a function."""
    signature, doc = signature_and_doc(name.rpartition(".")[2], function)
    return [f"```python\n{name}{signature}\n```", markdown(doc, link)]


def variables(cls: type) -> Iterator[tuple[str, str]]:
    """Yield the attributes that are described in the class's body, and its properties."""
    documented = pdoc.doc.Class(cls.__module__, cls.__qualname__, cls, (cls.__module__, ""))
    for member in documented.members.values():
        inherited = member.taken_from[0] in ("builtins", "pydantic.main")
        if member.kind == "variable" and member.name[0] != "_" and not inherited:
            text = re.sub(r"^\(\w+: [\w.]+\) -> .*\n*", "", member.docstring)
            if text:
                yield member.name, text


def class_block(entry: Entry, link: Link) -> list[str]:
    """Return the description of a class: docstring, attributes, methods."""
    cls = entry.value
    doc = inspect.getdoc(cls) or ""
    parts = [markdown(doc, link)]
    if not issubclass(cls, Exception) and cls.__init__ is not object.__init__:
        with contextlib.suppress(ValueError):
            signature = str(inspect.signature(cls)).replace("'", "")
            if len(signature) <= LONGEST:
                parts.insert(0, f"```python\n{entry.short}{signature}\n```")
    listed = set(re.findall(r"^    (\w+)(?: \(.*)?:", doc, re.MULTILINE))
    rows = [(f"`{n}`", cell(text, link)) for n, text in variables(cls) if n not in listed]
    if rows:
        parts.append(table(("attribute", "meaning"), rows))
    for name, value in inspect.getmembers(cls):
        own = getattr(value, "__module__", None) or ""
        if name[0] == "_" or not callable(value) or inspect.isclass(value):
            continue
        if own.startswith("pyengine") or (not own and name in vars(cls)):
            parts.append(heading(3, f"{entry.short}.{name}", f"{entry.name}.{name}"))
            parts += function_block(f"{entry.short}.{name}", value, link)
    return parts


def block(entry: Entry, link: Link) -> list[str]:
    """Return the description of a public name."""
    title = [heading(2, entry.short, entry.name)]
    if inspect.isclass(entry.value):
        return title + class_block(entry, link)
    if callable(entry.value):
        return title + function_block(entry.short, entry.value, link)
    return [*title, f"```python\n{entry.short} = {entry.value!r}\n```"]


def summary(entry: Entry, link: Link) -> tuple[str, str]:
    """Return a row of an overview: the name and the first line of its description."""
    _, doc = signature_and_doc(entry.short, entry.value) if callable(entry.value) else ("", "")
    return f"[`{entry.short}`]({link(entry.short)})", inline(doc.split("\n")[0], link)


def overview(top: list[Entry], known: dict[str, Entry], link: Link) -> str:
    """Return the first page: what the package itself exports, and its rooms."""
    text = inspect.getdoc(importlib.import_module("pyengine")) or ""
    names = [summary(entry, link) for entry in top if entry.short in known]
    rooms = []
    for name in MODULES:
        doc = inspect.getdoc(importlib.import_module(name)) or ""
        rooms.append((f"[`{name}`]({name}.md)", inline(doc.split("\n")[0], link)))
    parts = ["# pyengine", markdown(text, link), table(("name", "meaning"), names)]
    return "\n\n".join([*parts, "## Modules", table(("module", "contents"), rooms)]) + "\n"


def run_file(link: Link) -> str:
    """Return the page of a run file's settings, from their declarations."""
    from pyengine.train.loop.runfile import RunFile
    from pyengine.train.settings import Section

    parts = ["# Run files", "The settings of `pyengine train`, by section of the TOML file."]
    todo = [cls for cls in Section.__subclasses__() if cls is not RunFile]
    for cls in sorted(todo, key=lambda cls: cls.section):
        if cls.section:
            parts += [f"## {cls.section}", markdown(cls.__doc__ or "", link)]
    return "\n\n".join(parts) + "\n"


def command_line() -> str:
    """Return the page of the commands, from their help texts."""
    from click import Context
    from typer.cli import get_docs_for_click
    from typer.main import get_command

    from pyengine.cli.app import app

    command = get_command(app)
    text = get_docs_for_click(obj=command, ctx=Context(command), name="pyengine")
    text = re.sub(r"Guide: docs/(\S+\.md)", r"[Guide](../\1)", text)
    # A help text begins with examples, which typer runs together.
    return re.sub(
        r"^(#+ `pyengine.*`\n\n)\x08\n(pyengine (?:.+\n)+)",
        lambda match: f"{match[1]}```sh\n{html.unescape(match[2])}```\n",
        text,
        flags=re.MULTILINE,
    )


def pages() -> dict[str, str]:
    """Return the pages by file name."""
    rooms = {name: entries(name) for name in ["pyengine", *MODULES]}
    # A name is described in its own room; deeper rooms come later and win.
    known = {entry.short: entry for name in MODULES for entry in rooms[name]}
    only_top = [entry for entry in rooms["pyengine"] if entry.short not in known]
    known |= {entry.short: entry for entry in only_top}
    link = link_to(known)
    result = {}
    for name in MODULES:
        room = importlib.import_module(name)
        text = "" if callable(room) else inspect.getdoc(room) or ""
        title = [f"# {name}", markdown(text, link)]
        blocks = [part for entry in rooms[name] for part in block(entry, link)]
        result[f"{name}.md"] = "\n\n".join([*title, *blocks]) + "\n"
    extra = [part for entry in only_top for part in block(entry, link)]
    result["pyengine.md"] = overview(rooms["pyengine"], known, link)
    result["pyengine.md"] += "\n" + "\n\n".join(extra) + "\n"
    result["run-file.md"] = run_file(link)
    result["command-line.md"] = command_line()
    return result


def write(folder: Path) -> None:
    """Write the pages."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (folder / name).write_text(text, encoding="utf-8")
