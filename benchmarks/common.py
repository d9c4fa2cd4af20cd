"""Code shared by the suites: options, reports, machine description and command line."""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import textwrap
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyengine
from pyengine import _core
from pyengine.base import machine
from pyengine.base.files import check_output, replacing
from pyengine.cli import LEAST_WIDTH

if TYPE_CHECKING or __package__:
    from . import bars, plot
else:  # run as a script
    import bars

    import plot

#: Compiler signatures in binaries.
_COMPILER = re.compile(rb"GCC: \([^)]*\) [\d.]+|clang version [\d.]+")


class CheckError(Exception):
    """A wrong answer: its rate is meaningless and is not printed."""


def check(claim: str, holds: object, found: object = None) -> None:
    """Raise CheckError with the actual value ``found`` unless the claim holds."""
    if not holds:
        raise CheckError(claim if found is None else f"{claim}; got {found}")


@dataclass(frozen=True)
class Options:
    """User options.

    Attributes:
        quick: run a smoke test of a few seconds instead of a measurement.
        seconds: approximate time per measured row.
        models: folder of networks. None = ``$PYENGINE_SHARED/nets`` if it exists.
        model, game, spec: the user's network, its game as text, and its spec as a JSON file (None =
            read it from the network file). The networks in ``models`` are then skipped.
        trace: output file for search timelines, in suites that support them. None = no timelines.
        keep: file of rows for a resumable suite, read at the start and rewritten after every row.
        minutes: time after which a resumable suite starts no further row.
        only: words that a row's name must all contain, in the suites of ``SELECTABLE``.
        games: games per match, instead of the suite's number.
        records: folder from which matches and proofs resume. None = ``$PYENGINE_RECORDS`` if set.
            A quick run neither reads nor writes records.
    """

    quick: bool = False
    seconds: float = 2.0
    models: Path | None = None
    model: Path | None = None
    game: str | None = None
    spec: Path | None = None
    trace: Path | None = None
    keep: Path | None = None
    minutes: float = 20.0
    only: tuple[str, ...] = ()
    games: int | None = None
    records: Path | None = None


@dataclass
class Report:
    """Rows of figures, with a header that describes the machine and configuration.

    Attributes:
        name: name of the suite.
        description: one line that explains the figures.
        fingerprint: fingerprint of the search configuration, or empty if none is used.
        rows: each has ``name`` (``layer/game/evaluator/knob``) and figures by title. A row that
            could not be measured, or gave wrong answers, has the reason under ``failed`` instead.
            ``asked`` is the target of the figure after it, or of ``ratio`` if present; None = for
            comparison only. ``from`` and ``to`` are the interval of that figure.
        notes: lines below the table.
        group: assigns a row to a group with a separate table. None = one table.
    """

    name: str
    description: str = ""
    fingerprint: str = ""
    rows: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    machine: dict[str, str] = field(default_factory=lambda: describe_machine())
    group: Callable[[dict[str, Any]], str] | None = None

    @property
    def failed(self) -> bool:
        """Whether any answer was wrong or any row could not be measured."""
        return any("failed" in row for row in self.rows)

    @contextmanager
    def attempt(self, name: str) -> Iterator[None]:
        """Record any exception raised inside the block as a failed row of this name."""
        try:
            yield
        except Exception as error:  # the other rows still run
            self.rows.append({"name": name, "failed": reason_of(error)})

    @contextmanager
    def row(self, name: str) -> Iterator[dict[str, Any]]:
        """Collect the figures of a row. If the block raises, the row records only the reason."""
        figures: dict[str, Any] = {"name": name}
        announce(name)
        try:
            with self.attempt(name):
                yield figures
                self.rows.append(figures)
        finally:
            announce("")

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "suite": self.name,
            "description": self.description,
            "machine": self.machine,
            "config": self.fingerprint,
            "rows": self.rows,
            "notes": self.notes,
        }

    def table(self, width: int | None = None) -> str:
        """Return header, rows and notes as text that fits the given number of terminal columns."""
        lines = [f"{self.name}: {self.description}"]
        lines += [f"  {key}: {value}" for key, value in self.machine.items()]
        if self.fingerprint:
            lines.append(f"  config: {self.fingerprint}")
        lines = _broken(lines, width)
        for rows in self._groups():
            lines += ["", *columns(rows, width)]
        failures = [f"{row['name']}: FAILED: {row['failed']}" for row in _failures(self.rows)]
        return "\n".join([*lines, *_broken([*failures, *self.notes], width)])

    def _groups(self) -> list[list[dict[str, Any]]]:
        if self.group is None:
            return [self.rows]
        groups: dict[str, list[dict[str, Any]]] = {}
        for row in self.rows:
            if "failed" not in row:
                groups.setdefault(self.group(row), []).append(row)
        return list(groups.values()) or [[]]


def reason_of(error: Exception) -> str:
    """Describe an error. For unexpected types, include the type and location."""
    if isinstance(error, CheckError | pyengine.EngineError):
        return str(error)
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({Path(place.filename).name}:{place.lineno})"


def announce(name: str) -> None:
    """Show the row being measured on a terminal. An empty name clears the line."""
    if sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
        print(f"\r\x1b[K{name}", end="", file=sys.stderr, flush=True)


def _failures(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row for row in rows if "failed" in row]


def terminal_width() -> int | None:
    """Return the terminal width in columns, or None if the output is not a terminal."""
    if not sys.stdout.isatty():
        return None
    return max(shutil.get_terminal_size().columns, LEAST_WIDTH)


def _broken(lines: list[str], width: int | None) -> list[str]:
    """Wrap prose at spaces and indent the continuation lines."""
    if width is None:
        return lines
    return [
        part
        for line in lines
        for part in textwrap.wrap(
            line, width, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
        )
    ]


def columns(rows: list[dict[str, Any]], width: int | None = None) -> list[str]:
    """Return rows as lines of a table, without details (dicts) and rows that have no figures.

    A table wider than ``width`` is split into parts that each repeat the names.
    """
    good = [row for row in rows if "failed" not in row]
    if not good:
        return ["no figures"]
    titles = list(
        dict.fromkeys(
            title for row in good for title, value in row.items() if not isinstance(value, dict)
        )
    )
    cells = [titles, *([_cell(row.get(title)) for title in titles] for row in good)]
    widths = [max(len(line[i]) for line in cells) for i in range(len(titles))]
    lines: list[str] = []
    for part in _parts(widths, width):
        lines += [""] if lines else []
        lines += [
            "  ".join(
                line[i].rjust(widths[i]) if i else line[i].ljust(widths[i]) for i in part
            ).rstrip()
            for line in cells
        ]
    return lines


def _parts(widths: list[int], width: int | None) -> list[list[int]]:
    """Split columns of the given widths into tables that each repeat the first column."""
    parts = [[0]]
    for i, own in enumerate(widths[1:], 1):
        taken = sum(widths[j] + 2 for j in parts[-1])
        if width is not None and len(parts[-1]) > 1 and taken + own > width:
            parts.append([0])
        parts[-1].append(i)
    return parts


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def describe_machine() -> dict[str, str]:
    """Return the facts needed to interpret the figures."""
    load = os.getloadavg() if hasattr(os, "getloadavg") else ()
    return {
        "machine": f"{platform.system()} {platform.machine()}, {machine.cores()} cores",
        "cpu": f"{machine.cpu_name()} ({' '.join(machine.simd()) or 'vectors unknown'})",
        "pyengine": f"{pyengine.__version__} ({_commit()})",
        "compiler": _compiler(),
        "python": platform.python_version(),
        "onnxruntime": _version("onnxruntime", "onnxruntime-gpu"),
        "load before": ", ".join(f"{x:.1f}" for x in load) or "unknown",
    }


def _commit() -> str:
    """Return the commit of the checkout, or the commit that the wheel was built from."""
    folder = Path(__file__).resolve().parent
    if not (folder.parent / "pyproject.toml").exists():
        try:
            built = importlib.import_module("pyengine.benchmarks._commit").COMMIT
        except ModuleNotFoundError:
            return "installed"
        return f"installed, built from commit {built}"
    command = ["git", "-C", str(folder), "describe", "--always", "--dirty"]
    try:
        found = subprocess.run(command, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return "no commit known"
    return "commit " + found.stdout.strip()


def _compiler() -> str:
    found = _COMPILER.search(Path(str(_core.__file__)).read_bytes())
    return found[0].decode() if found else "unknown"


def _version(*packages: str) -> str:
    for package in packages:
        try:
            return f"{importlib.metadata.version(package)} ({package})"
        except importlib.metadata.PackageNotFoundError:
            continue
    return "absent"


def thread_counts() -> list[int]:
    """Return 1, and also 2 on a machine with two or more cores."""
    return [n for n in (1, 2) if n <= machine.cores()]


def main(
    name: str,
    description: str,
    run: Callable[[Report, Options], None],
    arguments: list[str] | None,
    check_options: Callable[[Options], None] | None = None,
) -> int:
    """Run a suite from the command line. Exit with status 1 if a row failed.

    ``check_options`` raises an EngineError for invalid options before anything runs.
    """
    parser = argparse.ArgumentParser(prog=name, description=description)
    parser.add_argument("--quick", action="store_true", help="smoke test, no measurement")
    parser.add_argument("--seconds", type=float, default=2.0, help="approximate time per row")
    parser.add_argument("--models", type=Path, metavar="FOLDER", help="networks of others")
    parser.add_argument("--model", type=Path, metavar="FILE.onnx", help="your own network")
    parser.add_argument("--game", help='its game, such as "go(board_size=9)"')
    parser.add_argument("--spec", type=Path, metavar="FILE.json", help="its spec")
    parser.add_argument("--trace", type=Path, metavar="FILE", help="search timelines, if supported")
    parser.add_argument(
        "--minutes", type=float, default=20.0, help="time limit of a resumable suite"
    )
    parser.add_argument(
        "--only", action="append", default=[], metavar="WORD", help="rows of a match suite"
    )
    parser.add_argument("--games", type=int, help="games per match")
    parser.add_argument("--records", type=Path, metavar="FOLDER", help="where matches resume")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the report to a file")
    parser.add_argument(
        "--plot", type=Path, metavar="FILE", help="also draw a chart (extra `plot`)"
    )
    given = vars(parser.parse_args(arguments))
    if given["model"] is not None and given["game"] is None:
        parser.error("--model needs --game")
    if not given["minutes"] > 0:
        parser.error("--minutes must be above 0")
    to_json, to_plot = given.pop("json"), given.pop("plot")
    try:
        for file in (to_json, to_plot, given["trace"]):
            if file is not None:
                check_output(file)
        options = Options(**given | {"only": tuple(given["only"])}, keep=to_json)
        if check_options is not None:
            check_options(options)
    except pyengine.EngineError as error:
        parser.error(str(error))
    report = Report(name, description)
    interrupted = run_kept(report, run, options)
    print(report.table(terminal_width()))
    try:
        if to_json is not None:
            with replacing(to_json) as temporary:
                temporary.write_text(json.dumps(report.to_dict(), indent=1) + "\n", "utf-8")
        if to_plot is not None:
            plot.draw([report.to_dict()], to_plot)
    except pyengine.EngineError as error:
        print(error, file=sys.stderr)
        return 130 if interrupted else 1
    if report.failed:
        print("some rows failed", file=sys.stderr)
    return 130 if interrupted else int(report.failed)


def run_kept(report: Report, run: Callable[[Report, Options], None], options: Options) -> bool:
    """Run a suite and add verdicts to its rows.

    An exception outside a row becomes a failed row with the suite's name.

    Returns whether Ctrl-C ended the suite before its last row.
    """
    interrupted = False
    try:
        with report.attempt(report.name):
            run(report, options)
    except KeyboardInterrupt:
        interrupted = True
        report.notes.append("interrupted: partial results")
    if options.quick:
        report.notes.append("quick: smoke test, no measurement")
    else:
        bars.decide(report.rows)
    return interrupted
