"""Write, or check, the tables of ``docs/reference/``: each stands between two comments.

Usage: ``python tools/make_reference.py [--check]`` with the package installed (``make reference``).

A table comes from the docstrings of ``src/pyengine``, which ``help()`` shows, and from the command
line's own options. The comment before a table says which:

    <!-- settings: pyengine.SearchConfig -->     values, default and meaning of each field
    <!-- fields: pyengine.SearchResult -->       type and meaning of each field
    <!-- entries: pyengine.ModelSpec Planes -->  names and meanings of a block of a docstring
    <!-- game: go -->                            parameters of a game
    <!-- methods: pyengine.State -->             methods and attributes of a class
    <!-- errors -->                              the classes of errors
    <!-- names -->                               what ``pyengine`` exports
    <!-- command: play -->                       arguments and options of a command
    <!-- end -->
"""

from __future__ import annotations

import ast
import difflib
import enum
import functools
import inspect
import re
import sys
import typing
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "pyengine"
PAGES = ROOT / "docs" / "reference"

_TABLE = re.compile(r"(<!-- (\w+)(?:: (.+?))? -->\n).*?(<!-- end -->\n)", re.S)
_ENTRY = re.compile(r"([\w\[\]\*]+)(?: \((.*?), default (.*?)\))?: (.*)", re.S)


@dataclass(frozen=True)
class Entry:
    """A line of a block of a docstring: ``name (values, default DEFAULT): meaning``."""

    name: str
    values: str  #: which are allowed; empty where the block does not say
    default: str
    meaning: str
    inner: tuple[Entry, ...] = ()  #: entries below it, of a game its parameters


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
    """The lines of a block, without their common indentation."""
    for line in lines:
        if line and not line.startswith("    "):
            return
        yield line[4:]


def _entries(lines: list[str]) -> Iterator[Entry]:
    """Read entries; what is indented below one goes on with it, or is an entry of its own in it."""
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
        if match is None:
            continue
        name, values, default, meaning = match.groups(default="")
        yield Entry(name, values, default, meaning, tuple(_entries(rest[inner:])))


def _is_setting(line: str) -> bool:
    return re.match(r"\w+ \(", line) is not None and "," in line


# --- what the sources say


@functools.cache
def _module(name: str) -> ast.Module:
    for path in (
        SOURCE / f"{name.replace('.', '/')}{end}" for end in (".py", ".pyi", "/__init__.py")
    ):
        if path.is_file():
            return ast.parse(path.read_text("utf-8"))
    raise SystemExit(f"no module {name} in {SOURCE}")


@functools.cache
def _found(path: str) -> tuple[str, ast.ClassDef | ast.FunctionDef]:
    """The module that defines what a dotted path names, and its definition."""
    module, _, name = path.removeprefix("pyengine").lstrip(".").rpartition(".")
    for node in ast.walk(_module(module or "__init__")):
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == name:
            return module or "__init__", node
        if isinstance(node, ast.ImportFrom) and any(alias.name == name for alias in node.names):
            return _found(f"{node.module}.{name}")
    raise SystemExit(f"no class or function {path} in {SOURCE}")


def definition(path: str) -> ast.ClassDef | ast.FunctionDef:
    """Return the class or function of a dotted path, wherever in ``pyengine`` it is defined."""
    return _found(path)[1]


def _doc(path: str) -> str:
    return ast.get_docstring(definition(path)) or ""


def exported(module: str = "__init__") -> list[str]:
    """Return ``__all__`` of a module."""
    for node in _module(module).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return sorted(ast.literal_eval(node.value), key=str.lower)
    raise SystemExit(f"{module} has no __all__")


# --- tables


def markdown(text: str) -> str:
    """Return a docstring's text as a cell of a Markdown table."""
    text = re.sub(r":\w+:`([^`<]+?) <[^`]+>`", r"`\1`", text)
    text = re.sub(r":\w+:`~?(?:pyengine\.)?([^`]+)`", r"`\1`", text)
    return text.replace("``", "`").replace("|", "\\|")


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [f"| {' | '.join(cells)} |" for cells in (head, ("---",) * len(head), *rows)]
    return "\n".join(lines) + "\n"


def _settings(entries: tuple[Entry, ...], first: str = "field") -> str:
    rows = [
        (f"`{e.name}`", markdown(e.values), f"`{e.default}`", markdown(e.meaning)) for e in entries
    ]
    return _table((first, "values", "default", "meaning"), rows)


def settings_table(path: str) -> str:
    """Return the settings of a class."""
    return _settings(blocks(_doc(path))["Attributes"])


def fields_table(path: str) -> str:
    """Return the fields of a class of results, with their types."""
    types = _types(path)
    rows = []
    for entry in blocks(_doc(path))["Attributes"]:
        kind = types.get(entry.name, "")
        shown = "array" if "NDArray" in kind else kind.replace("|", "\\|")
        rows.append((f"`{entry.name}`", shown and f"`{shown}`", markdown(entry.meaning)))
    return _table(("field", "type", "meaning"), rows)


def _types(path: str) -> dict[str, str]:
    """The annotations of a class's fields, those of its bases in this package included."""
    module, node = _found(path)
    assert isinstance(node, ast.ClassDef)
    imported = _imported(module)
    types: dict[str, str] = {}
    for base in (ast.unparse(base) for base in node.bases):
        if "." in base or base in imported:
            types |= _types(imported.get(base, base))
    aliases = _aliases(path)
    return types | {
        ast.unparse(line.target): aliases.get(kind := ast.unparse(line.annotation), kind)
        for line in node.body
        if isinstance(line, ast.AnnAssign)
    }


def _imported(module: str) -> dict[str, str]:
    """The names that a module imports from this package, and their dotted paths."""
    return {
        alias.name: f"{line.module}.{alias.name}"
        for line in _module(module).body
        if isinstance(line, ast.ImportFrom) and (line.module or "").startswith("pyengine.")
        for alias in line.names
    }


def _aliases(path: str) -> dict[str, str]:
    """The names that a class's module gives types, and what they stand for."""
    body = _module(_found(path)[0]).body
    return {
        ast.unparse(line.target): ast.unparse(line.value)
        for line in body
        if isinstance(line, ast.AnnAssign) and line.value is not None
    }


def entries_table(argument: str) -> str:
    """Return a block of a docstring: ``PATH TITLE``."""
    path, title = argument.split()
    rows = [(f"`{e.name}`", markdown(e.meaning)) for e in blocks(_doc(path))[title]]
    return _table(("name", "meaning"), rows)


def games() -> dict[str, Entry]:
    """Return the games that ``help(pyengine.load_game)`` describes, with their parameters."""
    return {entry.name: entry for entry in blocks(_doc("games.load_game"))["Games"]}


def game_table(name: str) -> str:
    """Return the parameters of a game."""
    return _settings(games()[name].inner, "parameter")


def methods_table(path: str) -> str:
    """Return the public methods and attributes of a class, with the first paragraph of each."""
    rows = []
    for node in definition(path).body:
        if not isinstance(node, ast.FunctionDef) or node.name.startswith("_"):
            continue
        shown = node.name if _is_property(node) else f"{node.name}({_arguments(node)})"
        first = " ".join((ast.get_docstring(node) or "").split("\n\n")[0].split())
        rows.append((f"`{shown}`", markdown(first)))
    return _table(("name", "meaning"), rows)


def _is_property(node: ast.FunctionDef) -> bool:
    return any(isinstance(d, ast.Name) and d.id == "property" for d in node.decorator_list)


def _arguments(node: ast.FunctionDef) -> str:
    """The arguments of a method, without their types."""
    node = ast.parse(ast.unparse(node)).body[0]  # a copy
    assert isinstance(node, ast.FunctionDef)
    for argument in (*node.args.args, *node.args.kwonlyargs):
        argument.annotation = None
    for argument in (node.args.vararg, node.args.kwarg):
        if argument is not None:
            argument.annotation = None
    return ast.unparse(node.args).removeprefix("self").removeprefix("cls").removeprefix(", ")


def errors_table(_: str) -> str:
    """Return the classes of errors, their bases and when each is raised."""
    rows = []
    for path in ("errors", "train.errors"):
        for name in exported(path):
            node = definition(f"{path}.{name}")
            assert isinstance(node, ast.ClassDef)
            bases = ", ".join(f"`{ast.unparse(base)}`" for base in node.bases)
            module = "pyengine" if path == "errors" else "pyengine.train"
            meaning = " ".join((ast.get_docstring(node) or "").split())
            rows.append((f"`{module}.{name}`", bases, markdown(meaning)))
    return _table(("class", "bases", "raised for"), rows)


def names_table(_: str) -> str:
    """Return what ``pyengine`` exports: each name, what it is, and the page that describes it."""
    rows = []
    for name in exported():
        page = _page_of(name)
        first = "Version of the package." if name == "__version__" else _summary(name)
        rows.append((f"`{name}`", markdown(first), f"[{page.stem}]({page.name})"))
    return _table(("name", "what it is", "page"), rows)


def _summary(name: str) -> str:
    doc = " ".join(_doc(name).split("\n\n")[0].split())
    return re.split(r"(?<=\.) ", doc)[0]


def _page_of(name: str) -> Path:
    """The page whose heading has the name, else the first that mentions it."""
    pages = [page for page in sorted(PAGES.glob("*.md")) if page.name != "README.md"]
    for pattern in (rf"^#.*`{name}\b", rf"^\| `pyengine\.{name}`", rf"`(?:pyengine\.)?{name}\b"):
        for page in pages:
            if re.search(pattern, page.read_text("utf-8"), re.M):
                return page
    raise SystemExit(f"no page of {PAGES} describes {name}")


def command_table(name: str) -> str:
    """Return the arguments and options of a command."""
    rows = []
    for parameter in parameters(name):
        shown = ", ".join(f"`{flag}`" for flag in parameter.flags)
        default = "" if parameter.default in (None, "", False) else f"`{parameter.default}`"
        rows.append((shown, parameter.values, default, markdown(parameter.help)))
    doc = inspect.getdoc(commands()[name]) or ""
    return f"{doc}\n\n" + _table(("argument", "values", "default", "meaning"), rows)


@dataclass(frozen=True)
class Parameter:
    """An argument or option of a command."""

    flags: tuple[str, ...]
    values: str  #: empty for a flag
    default: str | None
    help: str


@functools.cache
def commands() -> dict[str, Callable[..., None]]:
    """Return the functions of the command line by the names of their commands."""
    from pyengine.cli.app import app

    found = {info.callback.__name__: info.callback for info in app.registered_commands}
    for group in app.registered_groups:
        for info in group.typer_instance.registered_commands:
            found[f"{group.name} {info.name}"] = info.callback
    return found


def parameters(name: str) -> list[Parameter]:
    """Return the arguments and options of a command, as its function declares them."""
    function = commands()[name]
    hints = typing.get_type_hints(function, include_extras=True)
    found = []
    for parameter in inspect.signature(function).parameters.values():
        hint, declared = typing.get_args(hints[parameter.name])[:2]
        if declared.hidden:  # a former name
            continue
        default = parameter.default
        given = default is not parameter.empty and default is not None and default is not False
        found.append(
            Parameter(
                flags=_flags(parameter.name, declared),
                values=_values_of(hint, declared),
                default=str(getattr(default, "value", default)) if given else None,
                help=" ".join((declared.help or "").split()),
            )
        )
    return found


def _flags(name: str, declared: Any) -> tuple[str, ...]:
    """The flags of an option; the name of an argument in capitals."""
    if isinstance(declared.default, str):  # where typer keeps the first flag
        return (declared.default, *(declared.param_decls or ()))
    return ((declared.metavar or name).strip("[]").upper(),)


def _values_of(hint: Any, declared: Any) -> str:
    """What an argument takes; empty for a flag."""
    kind = next((one for one in typing.get_args(hint) if one is not type(None)), hint)
    kind = next(iter(typing.get_args(kind)), kind)  # of a list
    if kind is bool:
        return ""
    if issubclass(kind, enum.Enum):
        return " or ".join(f"`{one.value}`" for one in kind)
    name = "path" if issubclass(kind, Path) else kind.__name__
    if declared.max is not None:
        return f"{name} in [{declared.min}, {declared.max}]"
    return name if declared.min is None else f"{name} >= {declared.min}"


KINDS: dict[str, Callable[[str], str]] = {
    "settings": settings_table,
    "fields": fields_table,
    "entries": entries_table,
    "game": game_table,
    "methods": methods_table,
    "errors": errors_table,
    "names": names_table,
    "command": command_table,
}


def written(text: str) -> str:
    """Return a page with its tables as they should be."""

    def table(match: re.Match[str]) -> str:
        begin, kind, argument, end = match.groups()
        return f"{begin}\n{KINDS[kind](argument or '')}\n{end}"

    return _TABLE.sub(table, text)


def main() -> int:
    """Write the tables, or with ``--check`` compare them and print the difference."""
    status = 0
    pages = sorted(PAGES.glob("*.md"), key=lambda page: page.name == "README.md")  # it links others
    for page in pages:
        old = page.read_text("utf-8")
        new = written(old)
        if old == new:
            continue
        if "--check" in sys.argv[1:]:
            lines = difflib.unified_diff(
                old.splitlines(), new.splitlines(), str(page), "generated", lineterm="", n=0
            )
            print("\n".join(list(lines)[:40]))
            print("docs/reference does not describe the code: run `make reference`")
            status = 1
        else:
            page.write_text(new, "utf-8")
            print(f"wrote {page.relative_to(ROOT)}")
    return status


if __name__ == "__main__":
    sys.exit(main())
