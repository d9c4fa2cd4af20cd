"""The tables of models/README.md, written from the manifest."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import manifest

__all__ = ["update"]

_BEGIN, _END = "<!-- figures: written by make_models.py -->\n", "<!-- end of figures -->\n"


def update(folder: Path) -> None:
    """Update the tables of a folder's README.md, if it exists."""
    file = folder / "README.md"
    if not file.exists():
        return
    text = file.read_text("utf-8")
    before, begin, rest = text.partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if begin and end:
        entries = manifest.read(folder / "manifest.toml")
        file.write_text(before + begin + tables(entries) + end + after, "utf-8")


def tables(entries: Mapping[str, Any]) -> str:
    """Return a section per trained network with its origin, curve and measurements."""
    made = {name: entry for name, entry in entries.items() if "run" in entry.get("made", {})}
    return "\n".join(_section(name, entry) for name, entry in made.items())


def _section(name: str, entry: Mapping[str, Any]) -> str:
    made = entry["made"]
    minutes = _counted(round(made["seconds"] / 60), "minute")
    sittings = _counted(made["sittings"], "sitting")
    lines = [
        f"### {name}",
        "",
        f"{minutes} in {sittings} on {made['machine']}: "
        f"{made['games']:,} self-play games, {made['positions']:,} positions, "
        f"step {made['step']:,}; {entry['bytes'] / 1e6:.2f} MB. "
        f"[Settings]({made['run']}), [learning curve](curves/{name}.svg).",
        "",
        "| | measured | counted | target |",
        "|---|---|---|---|",
        *(_row(row) for row in entry.get("targets", [])),
        "",
    ]
    return "\n".join(lines)


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")


def _row(row: Mapping[str, Any]) -> str:
    figure = f"{row['figure']:.1%}"
    if "interval" in row:
        low, high = row["interval"]
        figure += f" [{100 * low:.1f}, {100 * high:.1f}]"
    target = ""
    for key, sign in (("least", "≥"), ("more_than", ">"), ("most", "≤")):
        if key in row:
            goal = ", optional" if row.get("goal") else ""
            target = (
                f"{sign} {100 * row[key]:g}%{goal}: {'reached' if row['reached'] else 'missed'}"
            )
    return f"| {row['name']} | {figure} | {row['result']} | {target} |"
