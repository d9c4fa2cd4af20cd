"""The code, commands and links in the README and in docs/ work.

The ``python`` blocks of a page run in order in one folder with a network ``model.onnx``, and can
import the programs of ``examples/``. A line ``<!-- needs: torch -->`` before a block skips it if
the module is missing. A ``text`` block after a ``python`` block is its output, compared without
numbers. Commands in ``console`` blocks are run; for commands in ``sh`` blocks, only the names of
the options are checked.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import re
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
MORE_PAGES = [
    *(ROOT / name for name in ("ARCHITECTURE.md", "CONTRIBUTING.md")),
    *(ROOT / folder / "README.md" for folder in ("models", "benchmarks", "examples")),
]
BLOCK = re.compile(
    r"(?:^<!-- needs: (?P<needs>[^>]*?) -->\n)?^```(?P<kind>\w+)\n(?P<code>.*?)^```$"
    r"(?:\n\n^```text\n(?P<output>.*?)^```$)?",
    re.MULTILINE | re.DOTALL,
)
KINDS = {"cmake", "python", "console", "sh", "text", "toml"}
NUMBER = re.compile(r"[-+]?\d[\d,.]*%?")


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    kind: str
    code: str
    line: int  #: the line of the page where the code begins
    needs: tuple[str, ...]  #: required modules
    output: str | None


def blocks(page: Path, kind: str) -> list[Block]:
    """Return the blocks of one kind."""
    text = page.read_text(encoding="utf-8")
    return [
        Block(
            kind=kind,
            code=match["code"],
            line=text[: match.start("code")].count("\n"),
            needs=tuple(re.split(r",\s*", match["needs"])) if match["needs"] else (),
            output=match["output"],
        )
        for match in BLOCK.finditer(text)
        if match["kind"] == kind
    ]


def with_blocks(kind: str) -> list[Any]:
    """Return the pages with blocks of a kind as test parameters."""
    return [page for page in named(PAGES) if blocks(page.values[0], kind)]


def named(pages: list[Path]) -> list[Any]:
    """Return pages as test parameters."""
    return [pytest.param(page, id=f"{page.parent.name}/{page.stem}") for page in pages]


def masked(text: str) -> list[str]:
    """Return the lines with numbers replaced."""
    return [" ".join(NUMBER.sub("N", line).split()) for line in text.strip().splitlines()]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a working folder with a network."""
    shutil.copy(ROOT / "models" / "connect4.onnx", tmp_path / "model.onnx")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("page", with_blocks("python"))
def test_the_python_of_a_page_runs(page: Path) -> None:
    names: dict[str, Any] = {"__name__": "guide"}
    for block in blocks(page, "python"):
        if any(importlib.util.find_spec(module) is None for module in block.needs):
            continue
        code = compile("\n" * block.line + block.code, str(page), "exec")
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, names)
        if block.output is not None:
            assert masked(printed.getvalue()) == masked(block.output)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("page", with_blocks("console"))
def test_the_commands_of_a_page_run(page: Path) -> None:
    pytest.importorskip("typer")
    import commands

    for block in blocks(page, "console"):
        for line in block.code.splitlines():
            program, *arguments = shlex.split(line.removeprefix("$ "), comments=True)
            assert program == "pyengine"
            done = commands.run(*arguments)
            assert done.status == 0, f"{line}\n{done.err}"


def options_of(words: list[str]) -> set[str]:
    """Return the options of a command or subcommand of pyengine."""
    typer = pytest.importorskip("typer")
    from pyengine.cli.app import app

    command = typer.main.get_command(app)
    for word in words:
        if hasattr(command, "commands"):
            assert word in command.commands
            command = command.commands[word]
    return {name for parameter in command.params for name in parameter.opts}


def check_command(line: str) -> None:
    """Check that the command and its options exist."""
    program, *arguments = [*shlex.split(line, comments=True), ""]
    if program == "pyengine" and not arguments[0].startswith("-"):
        options = {word.split("=")[0] for word in arguments[1:] if re.match(r"--?[a-z]", word)}
        assert options - {"-h", "--help"} <= options_of(arguments[:-1]), line


@pytest.mark.parametrize("page", named([*PAGES, *MORE_PAGES]))
def test_commands_options_and_programs_on_a_page_exist(page: Path) -> None:
    for block in blocks(page, "sh"):
        for line in block.code.replace("\\\n", " ").splitlines():
            check_command(line)
    text = page.read_text(encoding="utf-8")
    prose = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    for line in re.findall(r"`(pyengine [^`]*)`", prose):
        check_command(line)
    programs = re.findall(r"(?<![\w/])(?:models|examples|tools)/\w+\.py\b", text)
    assert [name for name in programs if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("page", named(PAGES))
def test_code_on_a_page_has_a_known_language_and_fits_a_terminal(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert set(re.findall(r"^```(\w+)$", text, re.MULTILINE)) <= KINDS
    code = re.findall(r"^```.*?^```", text, re.MULTILINE | re.DOTALL)
    assert [line for block in code for line in block.splitlines() if len(line) > 100] == []


@pytest.mark.parametrize("page", named([*PAGES, *MORE_PAGES]))
def test_links_lead_to_an_existing_file_and_heading(page: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)", page.read_text(encoding="utf-8")):
        file, _, anchor = link.partition("#")
        if link.startswith("https://"):
            continue
        target = (page.parent / file) if file else page
        assert target.is_file(), link  # the site has no pages for folders
        if anchor:
            titles = re.findall(r"^#+ (.+)$", target.read_text(encoding="utf-8"), re.MULTILINE)
            anchors = {re.sub(r"[^\w -]", "", t).lower().replace(" ", "-") for t in titles}
            assert anchor in anchors, link


def test_pages_cited_in_the_code_exist() -> None:
    for folder in ("src", "bindings", "tests", "benchmarks", "tools", "models"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (".py", ".h", ".cpp"):
                for page in re.findall(r"docs/[\w/-]+\.md", path.read_text(encoding="utf-8")):
                    assert (ROOT / page).exists(), f"{path}: {page}"


def test_the_help_of_every_command_names_a_page() -> None:
    typer = pytest.importorskip("typer")
    from pyengine.cli.app import app

    todo = list(typer.main.get_command(app).commands.values())
    for command in todo:
        todo += getattr(command, "commands", {}).values()
        if not hasattr(command, "commands"):
            page = re.fullmatch(r"Guide: (docs/\S+\.md)", command.epilog or "")
            assert page is not None, command.name
            assert (ROOT / page[1]).is_file(), command.name


def test_the_readme_links_to_every_guide() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    guides = {f"docs/guides/{page.name}" for page in (ROOT / "docs" / "guides").glob("*.md")}
    assert guides == set(re.findall(r"\((docs/guides/[a-z-]+\.md)\)", text))
