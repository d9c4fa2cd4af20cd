"""The learning curve of a run: Elo against games of self-play, as a picture."""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import Any

from pyengine.errors import ConfigError
from pyengine.train.files import read_lines
from pyengine.train.state import RunFolder

__all__ = ["plot_curve"]


def plot_curve(directory: str | os.PathLike[str], path: str | os.PathLike[str]) -> Path:
    """Draw the candidates of a run; a bar is the interval of 95 % of a candidate's own match.

    Args:
        directory: of the run.
        path: the picture; its ending says the format (.svg, .png, .pdf).

    Raises:
        ConfigError: matplotlib is missing, no candidate was judged, or the file cannot be written.

    """
    lines = [line for line in read_lines(RunFolder(directory).curve) if "score" in line]
    if not lines:
        raise ConfigError(f"expected candidates that were judged, found none in {directory}")
    try:
        kind = importlib.import_module("matplotlib.figure")
    except ModuleNotFoundError as error:
        raise ConfigError(
            "the picture needs matplotlib: pip install 'pyengine-search[plot]'"
        ) from error
    figure = kind.Figure(figsize=(7, 4), layout="constrained")
    _draw(figure.add_subplot(), lines)
    target = Path(path)
    try:
        figure.savefig(target)
    except (OSError, ValueError) as error:
        raise ConfigError(f"{target} cannot be written: {error}") from error
    return target


def _draw(axes: Any, lines: list[dict[str, Any]]) -> None:
    taken = [line for line in lines if line["accepted"]]
    others = [line for line in lines if not line["accepted"]]
    axes.plot([0, *(x["games"] for x in taken)], [0, *(x["elo"] for x in taken)], color="C0")
    for group, colour, name in ((taken, "C0", "taken"), (others, "C7", "rejected")):
        if not group:
            continue
        low = [x["elo"] - x["elo_low"] if x["elo_low"] is not None else 0 for x in group]
        high = [x["elo_high"] - x["elo"] if x["elo_high"] is not None else 0 for x in group]
        bars = [[max(0.0, each) for each in side] for side in (low, high)]
        games, elo = [x["games"] for x in group], [x["elo"] for x in group]
        axes.errorbar(games, elo, bars, fmt=".", color=colour, label=name, elinewidth=0.8)
    axes.set_xlabel("games of self-play")
    axes.set_ylabel("Elo above the first network")
    axes.grid(alpha=0.3)
    axes.legend()
