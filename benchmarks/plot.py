"""Bar charts of reports, relative to the targets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pyengine.base.files import replacing, unwritten
from pyengine.errors import ConfigError, DataError

if TYPE_CHECKING or __package__:
    from .bars import Bar, bar_of
else:  # run as a script
    from bars import Bar, bar_of

_COLOURS = {"met": "#2a7f62", "missed": "#b8432f", "not decided": "#c99a2e", "-": "#8a8f98"}
_HEIGHT = 0.34  # inches per row


class Line(NamedTuple):
    """A bar of the chart: its length, colour and label."""

    name: str
    length: float
    verdict: str
    label: str


def lines_of(rows: Sequence[dict[str, Any]]) -> tuple[list[Line], str]:
    """Return the bars for the rows, and the meaning of their lengths.

    Rows with a target are drawn as a multiple of it, and the suite's other rows are left out. If no
    row has a target, their ratios are drawn.
    """
    bars = [bar for bar in map(bar_of, rows) if bar is not None]
    if bars:
        return [
            Line(
                bar.row,
                bar.reached,
                bar.verdict,
                _label(bar),
            )
            for bar in bars
        ], "multiple of the target"
    ratios = [row for row in rows if isinstance(row.get("ratio"), int | float)]
    return [
        Line(str(row["name"]), float(row["ratio"]), "-", f"{row['ratio']:.4g}") for row in ratios
    ], "ratio"


def _label(bar: Bar) -> str:
    """Return the label of a bar: figure, interval and target."""
    interval = bar.interval
    lies = "" if interval is None else f" [{interval.low:.4g}, {interval.high:.4g}]"
    asked = f"{'≤' if bar.at_most else '≥'} {bar.asked:.4g}"
    return f"{bar.measured:.4g}{lies} {bar.title} (required {asked})"


def draw(reports: Sequence[dict[str, Any]], file: Path) -> None:
    """Draw reports in the format of ``Report.to_dict()``. The suffix selects the image format.

    Raises ConfigError if matplotlib is missing or cannot write the file, or if no report has a
    figure to draw.
    """
    figure = figure_of(reports)
    try:
        with replacing(file) as temporary:
            figure.savefig(temporary, dpi=120, format=file.suffix[1:] or "png")
    except DataError as error:
        raise ConfigError(f"plot: {error}") from error
    except ValueError as error:  # unknown image format
        raise ConfigError(f"plot: {unwritten(file, error)}") from error


def figure_of(reports: Sequence[dict[str, Any]]) -> Any:
    """Return the matplotlib figure of :func:`draw`."""
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError as error:
        raise ConfigError(
            "plot: charts need matplotlib: pip install 'pyengine-search[plot]'"
        ) from error
    parts = [(report, *lines_of(report["rows"])) for report in reports]
    parts = [part for part in parts if part[1]]
    if not parts:
        raise ConfigError("plot: expected rows with a ratio or a target, got none")
    counts = [len(lines) + 3 for _, lines, _ in parts]
    figure = Figure(figsize=(12, max(2.5, _HEIGHT * sum(counts))), layout="constrained")
    grid = figure.subplots(len(parts), 1, squeeze=False, height_ratios=counts)
    for axes, (report, lines, meaning) in zip(grid[:, 0], parts, strict=True):
        _draw_part(axes, report, lines, meaning)
    machine = parts[0][0]["machine"]
    figure.suptitle(f"{machine['cpu']}; {machine['pyengine']}", fontsize=9, color="#555555")
    return figure


def _draw_part(axes: Any, report: dict[str, Any], lines: list[Line], meaning: str) -> None:
    """Draw the bars of a suite from top to bottom."""
    places = range(len(lines))
    prefix = f"{report['suite']}/"
    lengths = [line.length if math.isfinite(line.length) else 0.0 for line in lines]
    positive = [length for length in lengths if length > 0]
    wide = bool(positive) and max(positive) > 10 * min(positive)
    if wide:  # a bar many times too long would hide the others
        axes.set_xscale("log")
        floor = min(*positive, 1.0) / 2
        lengths = [max(length, floor) for length in lengths]
        axes.set_xlim(floor, max(*positive, 1.0) * 8)
    else:
        axes.set_xlim(0, max([*positive, 1.0]) * 1.45)
    colours = [_COLOURS.get(line.verdict, _COLOURS["-"]) for line in lines]
    axes.barh(places, lengths, color=colours, height=0.7)
    axes.axvline(1.0, color="black", linewidth=1)
    for place, length, line in zip(places, lengths, lines, strict=True):
        axes.annotate(
            line.label,
            (length, place),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
            fontsize=8,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8},
        )
    axes.set_yticks(places, [line.name.removeprefix(prefix) for line in lines], fontsize=8)
    axes.invert_yaxis()
    axes.set_ylim(len(lines) - 0.4, -0.6)
    axes.set_title(report["suite"], loc="left", fontsize=11, fontweight="bold")
    axes.set_xlabel(meaning, fontsize=8)
    axes.xaxis.set_major_formatter("{x:g}")
    axes.tick_params(axis="x", labelsize=8)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
