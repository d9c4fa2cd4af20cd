"""What the suites share: options, the report, the description of the machine, the command line."""

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
else:  # run as a file
    import bars
    import plot

#: Compilers as they sign what they made.
_COMPILER = re.compile(rb"GCC: \([^)]*\) [\d.]+|clang version [\d.]+")


class CheckError(Exception):
    """An answer is wrong: its rate means nothing and is not printed."""


def check(claim: str, holds: object, found: object = None) -> None:
    """Raise CheckError unless the claim holds; ``found`` is what was found instead."""
    if not holds:
        raise CheckError(claim if found is None else f"{claim}; got {found}")


@dataclass(frozen=True)
class Options:
    """What the user may choose.

    Attributes:
        quick: a sign of life in seconds instead of a measurement.
        seconds: time of each measured row, about.
        models: folder of networks; None = ``$PYENGINE_SHARED/nets`` when there is one.
        model, game, spec: a network of the user's own, its game as text, its spec as a JSON file
            (None = as the file itself says). The networks of the folders are then left out.
        trace: file for timelines of searches, of the suites that have them; None = none is made.
        keep: file of a resumable suite's rows: read before, written after every row; None = none.
        minutes: after them a resumable suite begins no further row.
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


@dataclass
class Report:
    """Rows of figures under a header that says where they come from.

    Attributes:
        name: of the suite.
        description: what the figures mean, one line.
        fingerprint: of the search configuration; empty where none is used.
        rows: each has ``name`` (``layer/game/evaluator/knob``) and figures by title; a row whose
            answers were wrong, or that could not be measured, has ``failed`` with the reason
            instead. ``asked`` is what the figure after it (``ratio`` where there is one) should
            reach; None = for comparison. ``from`` and ``to`` are the interval of that figure.
        notes: lines below the table.
        group: of a row; each group has a table of its own. None = one table.
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
        """Whether some answer was wrong or some row could not be measured."""
        return any("failed" in row for row in self.rows)

    @contextmanager
    def attempt(self, name: str) -> Iterator[None]:
        """Leave a failed row of this name where an error is raised inside, whatever it is."""
        try:
            yield
        except Exception as error:  # the other rows go on
            self.rows.append({"name": name, "failed": reason_of(error)})

    @contextmanager
    def row(self, name: str) -> Iterator[dict[str, Any]]:
        """Collect the figures of a row; an error inside leaves the reason and no figures."""
        figures: dict[str, Any] = {"name": name}
        announce(name)
        try:
            with self.attempt(name):
                yield figures
                self.rows.append(figures)
        finally:
            announce("")

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {
            "suite": self.name,
            "description": self.description,
            "machine": self.machine,
            "config": self.fingerprint,
            "rows": self.rows,
            "notes": self.notes,
        }

    def table(self, width: int | None = None) -> str:
        """Return header, rows and notes as text, in so many columns of a terminal."""
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
    """Return what is wrong; of an error that no one expected, also its kind and place."""
    if isinstance(error, CheckError | pyengine.EngineError):
        return str(error)
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({Path(place.filename).name}:{place.lineno})"


def announce(name: str) -> None:
    """Show on a terminal which row is being measured; nothing = clear the line."""
    if sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
        print(f"\r\x1b[K{name}", end="", file=sys.stderr, flush=True)


def _failures(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row for row in rows if "failed" in row]


def terminal_width() -> int | None:
    """Return the columns of the terminal that the tables go to; None = no terminal."""
    if not sys.stdout.isatty():
        return None
    return max(shutil.get_terminal_size().columns, LEAST_WIDTH)


def _broken(lines: list[str], width: int | None) -> list[str]:
    """Return prose broken between words, after which it is indented."""
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
    """Return rows as lines of a table; those without figures are left out, and details (dicts).

    A table wider than ``width`` comes in parts, each with the names.
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
    """Share columns among tables of so many characters; each begins with the first column."""
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
    """Return what a reader needs to weigh the figures."""
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
    """The commit of the checkout that the suites lie in, or of which the wheel was built."""
    folder = Path(__file__).resolve().parent
    if not (folder.parent / "pyproject.toml").exists():
        try:
            built = importlib.import_module("pyengine.benchmarks._commit").COMMIT
        except ModuleNotFoundError:
            return "installed"
        return f"installed, built of commit {built}"
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
    """1, and 2 where there are two cores."""
    return [n for n in (1, 2) if n <= machine.cores()]


def main(
    name: str,
    description: str,
    run: Callable[[Report, Options], None],
    arguments: list[str] | None,
    check_options: Callable[[Options], None] | None = None,
) -> int:
    """Run a suite from the command line; exit status 1 when a row failed.

    ``check_options`` raises an EngineError for what would stop it, before anything runs.
    """
    parser = argparse.ArgumentParser(prog=name, description=description)
    parser.add_argument("--quick", action="store_true", help="a sign of life, no measurement")
    parser.add_argument("--seconds", type=float, default=2.0, help="of each row, about")
    parser.add_argument("--models", type=Path, metavar="FOLDER", help="networks of others")
    parser.add_argument("--model", type=Path, metavar="FILE.onnx", help="a network of your own")
    parser.add_argument("--game", help='its game, such as "go(board_size=9)"')
    parser.add_argument("--spec", type=Path, metavar="FILE.json", help="its spec")
    parser.add_argument("--trace", type=Path, metavar="FILE", help="timelines, where it has them")
    parser.add_argument("--minutes", type=float, default=20.0, help="of a resumable suite")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the report there as well")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="and a picture (extra `plot`)")
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
        options = Options(**given, keep=to_json)
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
    """Run a suite and say of each row whether its bar is met.

    What is raised outside of a row becomes a failed row of the suite's name.

    Returns whether Ctrl-C ended it before its last row.
    """
    interrupted = False
    try:
        with report.attempt(report.name):
            run(report, options)
    except KeyboardInterrupt:
        interrupted = True
        report.notes.append("interrupted: the rows so far")
    if options.quick:
        report.notes.append("quick: a sign of life, no measurement")
    else:
        bars.decide(report.rows)
    return interrupted
