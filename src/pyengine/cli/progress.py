"""Bars on stderr, where that is a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import (  # noqa: TID253
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
)

from pyengine.cli import common

__all__ = ["games_bar"]


@contextmanager
def games_bar(games: int) -> Iterator[Callable[[int, str], None] | None]:
    """Show a bar of games, which is told how many are done and a word on them.

    None where stderr is no terminal.
    """
    err = common.console(stderr=True)
    if not err.is_terminal:
        yield None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=err, transient=True) as bar:
        task = bar.add_task("games", total=games)
        yield lambda done, told: bar.update(task, completed=done, description=told)
