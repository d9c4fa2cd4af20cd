"""The progress of ``pyengine train``: a table on a terminal, otherwise lines."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from rich.live import Live
from rich.table import Table
from rich.text import Text

from pyengine.cli.output import console
from pyengine.train import ActorProgress, RunFile, RunProgress
from pyengine.train.loop import forecast

_LINE_SECONDS = 30.0  # between lines without a terminal


@contextmanager
def train_progress(run: RunFile) -> Iterator[Callable[[RunProgress], None]]:
    """Show a live table on a terminal; otherwise print a line to stderr from time to time.

    A warning is printed at once.
    """
    err = console(stderr=True)
    if err.is_terminal:
        with Live(console=err, transient=True, refresh_per_second=4) as live:
            yield lambda progress: live.update(_table(facts(progress, run)))
        return
    printed = -_LINE_SECONDS  # time.monotonic() may start at 0
    waiting: RunProgress | None = None
    warned = False

    def print_waiting() -> None:
        nonlocal printed, waiting
        if waiting is not None:
            text = ", ".join(f"{name} {value}" for name, value in facts(waiting, run))
            console(stderr=True).print(Text(text))
            printed, waiting = time.monotonic(), None

    def add(progress: RunProgress) -> None:
        nonlocal waiting, warned
        waiting = progress
        warning = warning_of(progress, run)
        if time.monotonic() - printed >= _LINE_SECONDS or (warning and not warned):
            print_waiting()
        warned = warned or bool(warning)

    try:
        yield add
    finally:
        print_waiting()


def _table(facts: list[tuple[str, str]]) -> Table:
    table = Table.grid(padding=(0, 2))
    for name, value in facts:
        table.add_row(Text(name, style="bold"), value)
    return table


def facts(progress: RunProgress, run: RunFile) -> list[tuple[str, str]]:
    """Return the labels and values of the display."""
    best, limits = progress.best, run.run

    def of(value: str, limit: object) -> str:
        return value if limit is None else f"{value} of {limit}"

    generated = f"{progress.games:,} games, {progress.positions:,} positions"
    learnt = of(f"{progress.step:,}", limits.steps) + f" steps, window {progress.window:,}"
    if progress.policy is not None and progress.value is not None:
        learnt += f", loss: policy {progress.policy:.3f}, value {progress.value:.3f}"
    strength = "-"
    if best is not None:
        generation = of(str(best.generation), limits.generations)
        strength = f"generation {generation}, step {best.step:,}, Elo {best.elo:+.0f}"
    lines = (
        ("warning", warning_of(progress, run)),
        ("minutes", of(f"{progress.seconds / 60:.1f}", limits.minutes)),
        ("self-play", f"{generated}, {progress.positions_per_second:.1f} positions/s"),
        ("actors", _crew(progress.actors)),
        ("learner", learnt),
        ("learner waits", wait_text(progress, run)),
        ("forecast", forecast_text(progress, run)),
        ("gate", progress.gate or "-"),
        ("last match", progress.verdict),
        ("best", strength),
        ("restarts", str(progress.restarts or "")),
        ("candidate", progress.failure or ""),
        ("finishing", "evaluating the last candidate" if progress.finishing else ""),
    )
    return [(name, value) for name, value in lines if value]


def wait_text(progress: RunProgress, run: RunFile) -> str:
    """Describe what the learner waits for, "" if it may train."""
    wait = forecast.wait_of(progress, run)
    if wait is None or progress.finishing:
        return ""
    value = getattr(run.window, wait.setting)
    return f"for {wait.missing:,} more {_usable(run)} ({wait.setting} = {value:,})"


def forecast_text(progress: RunProgress, run: RunFile) -> str:
    """Describe when the first candidate and the next power of ten of games are due."""
    if progress.finishing:
        return ""
    parts = []
    if progress.step < run.gate.every_steps:
        seconds = forecast.seconds_to_candidate(progress, run)
        least = "about" if progress.samples_per_second > 0 else "at least"
        when = "" if seconds is None else f" in {least} {duration(seconds)}"
        needed = f"{forecast.positions_of_candidate(run):,} {_usable(run)}"
        parts.append(f"first candidate{when} (step {run.gate.every_steps:,}, {needed})")
    games = run.run.games or max(100, 10 ** math.ceil(math.log10(progress.games + 1)))
    seconds = forecast.seconds_to_games(progress, games)
    if seconds is not None:
        parts.append(f"{games:,} games in about {duration(seconds)}")
    return "; ".join(parts)


def warning_of(progress: RunProgress, run: RunFile) -> str:
    """Explain why the limit in minutes is too short for a candidate, or return ""."""
    left = forecast.seconds_left(progress, run)
    start = forecast.seconds_to_positions(progress, run.window.minimum_positions)
    seconds = forecast.seconds_to_candidate(progress, run)
    if progress.finishing or progress.step >= run.gate.every_steps or seconds is None:
        return ""
    if start is not None and start > left:
        return (
            f"{run.run.minutes:g} minutes are too short for a candidate: training starts in about "
            f"{duration(start)} (minimum_positions = {run.window.minimum_positions:,})"
        )
    if seconds > left:
        return (
            f"{run.run.minutes:g} minutes are too short for the candidate of step "
            f"{run.gate.every_steps:,}, due in about {duration(seconds)}: the only one will be "
            "that of the last step"
        )
    return ""


def duration(seconds: float) -> str:
    """Return a rounded duration: ``50 s``, ``12 min``, ``3.4 h``."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _usable(run: RunFile) -> str:
    return "positions of full searches" if run.window.full_only else "positions"


def _crew(actors: Sequence[ActorProgress]) -> str:
    """Describe the states of the actors and their total rate by node."""
    parts = []
    for node in sorted({actor.node for actor in actors}):
        crew = [actor for actor in actors if actor.node == node]
        states = Counter(actor.state.split()[0] for actor in crew)
        counts = ", ".join(f"{count} {state}" for state, count in states.most_common())
        speed = f", {sum(actor.positions_per_second for actor in crew):.1f}/s" if node else ""
        parts.append(f"{node or 'not placed yet'}: {counts}{speed}")
    deaths = sum(actor.deaths for actor in actors)
    return "; ".join(parts) + (f"; {deaths} died" if deaths else "")
