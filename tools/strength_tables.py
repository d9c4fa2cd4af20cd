"""Write the tables and the picture of docs/guides/strength.md.

    python tools/strength_tables.py --records FOLDER    # first add the matches of a folder

The figures are in benchmarks/results/strength.json, and the matches are those of ``pyengine bench
strength --records FOLDER``. An unfinished one is added with its games so far. On the page, a marker
``<!-- strength: FAMILY -->`` begins the table of a family, and ``<!-- end -->`` ends it.
"""

from __future__ import annotations

import argparse
import datetime
import json
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pyengine import ConfigError
from pyengine.benchmarks import common, strength
from pyengine.benchmarks.contests import CONTESTS, FAMILIES, Contest

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "guides" / "strength.md"
PICTURE = ROOT / "docs" / "pictures" / "strength.svg"
RESULTS = ROOT / "benchmarks" / "results" / "strength.json"
SECTION = re.compile(r"(<!-- strength: (\S+) -->\n).*?(<!-- end -->\n)", re.DOTALL)
#: Families whose tables are elsewhere.
ELSEWHERE = {"gumbel", "playouts", "endings"}

Row = Mapping[str, Any]


def with_matches(rows: Mapping[str, Row], folder: Path) -> dict[str, Row]:
    """Return the rows, replaced or extended by the matches of a folder of records."""
    read = {contest.name: strength.from_record(contest, folder) for contest in CONTESTS}
    added = {name: {"name": name, **row} for name, row in read.items() if row is not None}
    return {**rows, **added}


def with_tables(page: str, rows: Mapping[str, Row]) -> str:
    """Return the page with all tables replaced."""
    return SECTION.sub(lambda match: f"{match[1]}{table(match[2], rows)}\n{match[3]}", page)


def table(family: str, rows: Mapping[str, Row]) -> str:
    """Return the lines of a family's table: a match per line and a column per budget."""
    lines: dict[str, dict[int, str]] = {}
    for contest in of_family(family):
        line = lines.setdefault(title(contest), {})
        line[contest.ours["simulations"]] = cell(contest, rows.get(contest.name))
    budgets = sorted({budget for line in lines.values() for budget in line})
    header = ["match", *(f"{budget} simulations" for budget in budgets)]
    table = [header, ["---"] * len(header)]
    table += [[name, *(line.get(b, "") for b in budgets)] for name, line in lines.items()]
    return "\n".join(f"| {' | '.join(line)} |" for line in table)


def of_family(family: str) -> list[Contest]:
    """Return the matches of a family."""
    return [contest for contest in CONTESTS if contest.family == family]


def title(contest: Contest) -> str:
    """Return the name of a match without its budget."""
    what = contest.what.partition(",")[0]
    return f"`{contest.evaluator}`" + ("" if what == contest.family else f", {what}")


def cell(contest: Contest, row: Row | None) -> str:
    """Return the Elo of a match with its interval, and what is unusual about it."""
    if row is None:
        return "not measured"
    notes = []
    if row["games"] < contest.games:
        notes.append(f"{row['games']} of {contest.games} games")
    if "cost ratio" in row:
        notes.append(f"{row['their simulations']} theirs")
    low, high = elo_text(row["Elo from"], "-inf"), elo_text(row["Elo to"], "+inf")
    elo = elo_text(row["Elo"], "+inf" if row["score %"] > 50 else "-inf")
    text = f"{elo} [{low}, {high}]"
    return text + (f" ({', '.join(notes)})" if notes else "")


def elo_text(elo: float | None, infinite: str) -> str:
    """Return a rounded Elo with its sign."""
    if elo is None:
        return infinite
    return f"{round(elo):+}" if round(elo) else "0"


def draw(rows: Mapping[str, Row], file: Path) -> None:
    """Draw the Elo of all matches of the page with finite intervals."""
    import matplotlib
    from matplotlib.figure import Figure

    shown = [
        (contest, rows[contest.name])
        for contest in CONTESTS
        if contest.family not in ELSEWHERE
        and contest.name in rows
        and None not in (rows[contest.name]["Elo from"], rows[contest.name]["Elo to"])
    ]
    families = [name for name in FAMILIES if any(contest.family == name for contest, _ in shown)]
    places = [n + families.index(contest.family) for n, (contest, _) in enumerate(shown)]
    elo = [row["Elo"] for _, row in shown]
    errors = [
        [row["Elo"] - row["Elo from"] for _, row in shown],
        [row["Elo to"] - row["Elo"] for _, row in shown],
    ]
    matplotlib.rcParams["svg.hashsalt"] = "strength"  # the same file for the same figures
    height = 1.2 + 0.22 * (len(shown) + len(families))
    figure = Figure(figsize=(8, height), layout="constrained")
    axes = figure.subplots()
    axes.errorbar(elo, places, xerr=errors, fmt="o", markersize=4, color="#2a7f62", linewidth=1.5)
    axes.axvline(0, color="black", linewidth=1)
    axes.set_yticks(places, [_label(contest) for contest, _ in shown], fontsize=8)
    axes.invert_yaxis()
    axes.set_xlabel("Elo, 95 % interval", fontsize=8)
    axes.tick_params(axis="x", labelsize=8)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    figure.savefig(file, metadata={"Date": None})


def _label(contest: Contest) -> str:
    return f"{contest.what.replace(',simulations=', ', ')}: {contest.evaluator}"


def read_rows() -> dict[str, Row]:
    """Return the published rows by name."""
    if not RESULTS.exists():
        return {}
    rows: list[Row] = json.loads(RESULTS.read_text("utf-8"))["rows"]
    return {str(row["name"]): row for row in rows}


def write_rows(rows: Iterable[Row]) -> None:
    """Write the published rows in the format of a report."""
    report = common.Report(strength.NAME, strength.DESCRIPTION, rows=[dict(row) for row in rows])
    given = {
        "command": "pyengine bench strength --records FOLDER",
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
    }
    RESULTS.write_text(json.dumps(given | report.to_dict(), indent=1) + "\n", "utf-8")


def main() -> int:
    """Write the page, or check that it is up to date."""
    parser = argparse.ArgumentParser(description="Write the tables of docs/guides/strength.md.")
    parser.add_argument("--check", action="store_true", help="only compare; exit 1 if different")
    parser.add_argument("--records", type=Path, metavar="FOLDER", help="matches to add")
    arguments = parser.parse_args()
    rows = read_rows()
    if arguments.records is not None:
        try:
            rows = with_matches(rows, arguments.records)
        except ConfigError as error:
            parser.error(f"--records: {error}")
        write_rows(rows.values())
        draw(rows, PICTURE)
    page = PAGE.read_text("utf-8")
    written = with_tables(page, rows)
    if not arguments.check:
        PAGE.write_text(written, "utf-8")
    elif page != written:
        print("docs/guides/strength.md is out of date: run tools/strength_tables.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
