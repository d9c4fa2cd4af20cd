"""Printing: text, JSON and progress bars."""

from __future__ import annotations

import contextlib
import json
import math
import sys
from collections.abc import Callable, Iterator
from typing import Any, ParamSpec

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Column
from rich.text import Text

from pyengine.cli import LEAST_WIDTH

P = ParamSpec("P")


def console(*, stderr: bool = False) -> Console:
    """Return a console that prints plain text if the stream is not a terminal.

    Output on stdout is at least :data:`LEAST_WIDTH` columns wide; a narrower terminal wraps it.
    """
    result = Console(stderr=stderr, highlight=False, soft_wrap=True)
    if not stderr and result.width < LEAST_WIDTH:
        result.width = LEAST_WIDTH
    return result


def show(text: str) -> None:
    """Print plain text on stdout."""
    console().print(Text(text))


def say(out: Console, text: Text, *, indent: int = 0) -> None:
    """Print text; on a terminal, wrap it and indent all lines but the first."""
    if not out.is_terminal:
        out.print(text)
        return
    lines = text.wrap(out, max(out.width - indent, 1))
    for number, line in enumerate(lines):
        line.rstrip()
        out.print(Text(" " * indent if number else "") + line)


def say_facts(out: Console, facts: dict[str, str], width: int) -> None:
    """Print each non-empty fact after its label, padded to a width."""
    for label, text in facts.items():
        if text:
            say(out, Text.assemble((f"{label:<{width}}", "bold"), text), indent=width)


@contextlib.contextmanager
def when_stopped(how_to_continue: str) -> Iterator[None]:
    """After Ctrl-C, explain on stderr how to continue."""
    try:
        yield
    except KeyboardInterrupt:
        say(console(stderr=True), Text(f"stopped; {how_to_continue}"))
        raise


def print_json(value: Any) -> None:
    """Print a value as JSON; NaN and infinities become null."""
    sys.stdout.write(json.dumps(_plain(value), indent=2, allow_nan=False) + "\n")


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    return value


@contextlib.contextmanager
def progress_bar(
    total: float, describe: Callable[P, tuple[float, str]], *, counted: bool = True
) -> Iterator[Callable[P, None] | None]:
    """Show a bar on stderr; yield a function that updates it, or None without a terminal.

    ``describe`` returns the amount done, up to ``total``, and a short text. ``counted``: also show
    the two numbers.
    """
    err = console(stderr=True)
    if not err.is_terminal:
        yield None
        return
    words = TextColumn(
        "{task.description}", markup=False, table_column=Column(no_wrap=True, ratio=1)
    )
    count: tuple[ProgressColumn, ...] = (MofNCompleteColumn(),) if counted else ()
    columns = (BarColumn(bar_width=20), *count, TimeRemainingColumn(), words)
    with Progress(*columns, console=err, transient=True, expand=True) as bar:
        task = bar.add_task("", total=total, visible=counted)

        def advance(*progress: P.args, **more: P.kwargs) -> None:
            done, text = describe(*progress, **more)
            bar.update(task, completed=done, description=text, visible=True)

        yield advance
