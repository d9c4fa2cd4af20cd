"""Write the tables of benchmarks/README.md from benchmarks/results/*.json.

The files are reports from ``pyengine bench --out FOLDER``, with ``command`` and ``date`` added by
hand. A marker above each table names the files and the figures to show::

    <!-- results: tree | us, bytes/node -->             a line per row, with these figures
    <!-- results: latency | ms | knob -->               a line per knob; several values: a range
    <!-- results: saturation | ratio | game x knob -->  one figure as a grid
    <!-- results: cpp | ns | game x knob | ^games/ -->  only rows with a matching name

The parts of a row's name are ``layer/game/evaluator/knob``.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any

from pyengine.benchmarks.common import columns

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"
PAGE = BENCHMARKS / "README.md"
SECTION = re.compile(r"(<!-- results: (.*?) -->\n)```\n.*?```\n", re.DOTALL)
PARTS = ("layer", "game", "evaluator", "knob")

Row = dict[str, Any]


def with_tables(page: str) -> str:
    """Return the page with all tables replaced."""
    return SECTION.sub(lambda match: f"{match[1]}```\n{table(match[2])}\n```\n", page)


def table(marker: str) -> str:
    """Return the sources and the lines of a table."""
    names, figures, axes, pattern = (*re.split(r"\s*\|\s*", marker, maxsplit=3), "", "")[:4]
    files = [BENCHMARKS / "results" / f"{name}.json" for name in names.split("+")]
    reports = [json.loads(file.read_text("utf-8")) for file in files]
    titles = re.split(r",\s*", figures)
    down, _, across = axes.partition(" x ")
    lines: dict[str, dict[str, list[Any]]] = {}
    for row in (row for report in reports for row in report["rows"]):
        if not re.search(pattern, row["name"]) or all(row.get(title) is None for title in titles):
            continue
        line = lines.setdefault(part_of(row["name"], down or "game/evaluator/knob"), {})
        for title in titles:
            column = part_of(row["name"], across) if across else title
            line.setdefault(column, []).append(row.get(title))
    shown = [
        {"name": name} | {key: span(line[key]) for key in line} for name, line in lines.items()
    ]
    return "\n".join([*dict.fromkeys(map(source, reports)), *columns(shown)])


def part_of(name: str, parts: str) -> str:
    """Return the parts of a row's name selected by, for example, "game/knob"."""
    of_name = dict(zip(PARTS, name.split("/", 3), strict=False))
    return "/".join(of_name[part] for part in parts.split("/") if part in of_name)


def span(values: list[Any]) -> Any:
    """Return a single value, "MINIMUM to MAXIMUM", or None."""
    known = sorted({value for value in values if value is not None})
    if len(known) > 1 and not isinstance(known[0], str):
        return f"{known[0]:,} to {known[-1]:,}"
    return "/".join(known) if len(known) > 1 else next(iter(known), None)


def source(report: dict[str, Any]) -> str:
    """Return the command, date, version and processor of a report."""
    machine = report["machine"]
    command = report.get("command", f"pyengine bench {report['suite']}")
    return ", ".join([command, report.get("date", ""), machine["pyengine"], machine["cpu"]])


def main() -> int:
    """Write the page, or check that it is up to date."""
    parser = argparse.ArgumentParser(description="Write the tables of benchmarks/README.md.")
    parser.add_argument("--check", action="store_true", help="only compare; exit 1 if different")
    check = parser.parse_args().check
    page = PAGE.read_text("utf-8")
    written = with_tables(page)
    if not check:
        PAGE.write_text(written, "utf-8")
    elif page != written:
        print("benchmarks/README.md is out of date: run tools/benchmark_tables.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
