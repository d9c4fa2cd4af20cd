"""Convert the package's docstrings (Google's sections, reStructuredText's roles) to Markdown."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable

#: Returns the link to a documented name, or None.
Link = Callable[[str], str | None]

SECTION = re.compile(r"(Args|Attributes|Raises|Returns|Example|Planes|Keys|Games|Features):")
TABLES = {
    "Args": "argument",
    "Attributes": "attribute",
    "Keys": "key",
    "Planes": "plane",
    "Raises": "error",
}
ENTRY = re.compile(r"(?P<name>[*\w\[\]-]+)(?: \((?P<type>.+?)\))?: (?P<text>.*)", re.DOTALL)
CODE = re.compile(r":\w+:`~?([^`]+)`|``(.+?)``|(\*\*|[*<>|\[\]])", re.DOTALL)


def inline(text: str, link: Link) -> str:
    """Return running text with roles as links, code in backticks and the rest escaped."""

    def replaced(match: re.Match[str]) -> str:
        name, code, special = match.groups()
        if special:
            return {"<": "&lt;", ">": "&gt;"}.get(special, "".join(f"\\{c}" for c in special))
        target = link(name) if name else None
        shown = f"`{name.removeprefix('pyengine.') if name else code}`".replace("|", "\\|")
        return f"[{shown}]({target})" if target else shown

    return CODE.sub(replaced, text)


def cell(text: str, link: Link) -> str:
    """Return text as one cell of a table."""
    return " ".join(inline(text, link).split())


def table(header: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """Return a table of cells."""
    lines = [header, tuple("---" for _ in header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def entries(body: str) -> list[re.Match[str]]:
    """Return the entries ``name (type): text`` of a section; later lines of each are indented."""
    items = re.split(r"\n(?! )", body)
    return [match for item in items if (match := ENTRY.fullmatch(item))]


def settings_table(title: str, body: str, link: Link) -> str:
    """Return a section of entries as a table, with columns for values and defaults if any."""
    rows = [(f"`{e['name']}`", e["type"] or "", cell(e["text"], link)) for e in entries(body)]
    if not any(values for _, values, _ in rows):
        return table((TABLES[title], "meaning"), [(name, text) for name, _, text in rows])
    return table(
        (TABLES[title], "values", "default", "meaning"),
        [(name, *values_and_default(values), text) for name, values, text in rows],
    )


def values_and_default(text: str) -> tuple[str, str]:
    """Split ``int >= 1, default 8`` into two cells."""
    values, _, default = " ".join(text.split()).partition(", default ")
    return tuple(f"`{part}`".replace("|", "\\|") if part else "" for part in (values, default))


def section(title: str, body: str, link: Link) -> str:
    """Return a section of a docstring as Markdown."""
    if title == "Example":
        return f"```python\n{body}\n```"
    if title == "Returns":
        return f"**Returns:** {inline(body, link)}"
    if title in TABLES and entries(body):
        return settings_table(title, body, link)
    return f"**{title}**\n\n```text\n{body}\n```"


def markdown(docstring: str, link: Link) -> str:
    """Return a docstring as Markdown."""
    blocks: list[str] = []
    lines = inspect.cleandoc(docstring).splitlines()
    while lines:
        line = lines.pop(0)
        if match := SECTION.fullmatch(line):
            body = indented(lines)
            blocks.append("\n" + section(match[1], body, link) + "\n")
        elif line.startswith("    "):  # a formula or a program
            lines.insert(0, line)
            blocks.append("\n```text\n" + indented(lines) + "\n```\n")
        else:
            blocks.append(line)
    return "\n".join(inlined(blocks, link)).strip()


def inlined(blocks: list[str], link: Link) -> list[str]:
    """Return the blocks, with adjacent lines of running text converted together."""
    result: list[str] = []
    text: list[str] = []
    for block in [*blocks, "\n"]:
        if block.startswith("\n"):
            result += [inline("\n".join(text), link), block]
            text = []
        else:
            text.append(block)
    return result


def indented(lines: list[str]) -> str:
    """Take the leading indented and blank lines and return them without their indentation."""
    taken: list[str] = []
    while lines and (lines[0].startswith(" ") or not lines[0]):
        taken.append(lines.pop(0))
    return inspect.cleandoc("\n" + "\n".join(taken))
