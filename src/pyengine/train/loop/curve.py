"""The learning curve of a run: Elo against the number of self-play games."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pyengine.base.extras import need
from pyengine.base.files import path_of, replacing, unwritten
from pyengine.errors import ConfigError
from pyengine.train.loop.rating import Pairing, Rating, ratings
from pyengine.train.loop.state import RunFolder

#: A line of ``curve.jsonl``.
Line = Mapping[str, Any]


def rated(folder: RunFolder) -> dict[int, Rating | None]:
    """Return the ratings of a run's networks by step; the first one has Elo 0.

    The fit uses all games of the run: see :func:`~pyengine.train.loop.rating.ratings`.
    """
    return ratings(results(folder.evaluations()))


def results(lines: Sequence[Line]) -> list[Pairing]:
    """Return the results in a curve's lines; players are identified by step.

    For a network accepted because of its results, its anchor games count instead: it was selected
    for its score, which therefore overstates its strength.
    """
    return [
        Pairing(
            player=line["step"],
            opponent=opponent["step"],
            wins=opponent["wins"],
            draws=opponent["draws"],
            losses=opponent["losses"],
        )
        for line in lines
        for opponent in line.get("anchors") or line.get("opponents", ())
    ]


def lost(line: Line) -> bool:
    """Whether a candidate scored below half against its predecessor."""
    first = _previous(line)
    return first is not None and first["wins"] < first["losses"]


def verdict(lines: Sequence[Line], first: str) -> str:
    """Describe the newest candidate's match: ``step 500 scored 35 % against rollout: rejected``.

    ``first``: the name of the player of the first games; a network is called ``first network``.
    """
    other = _previous(lines[-1]) if lines else None
    if other is None:
        return ""
    line = lines[-1]
    games = other["wins"] + other["draws"] + other["losses"]
    score = (other["wins"] + other["draws"] / 2) / games
    name = "the first network" if first == "random" else first
    if other.get("generation", 0) > 0:
        name = f"generation {other['generation']}"
    outcome = "rejected" if not line["accepted"] else "no progress" if lost(line) else "accepted"
    return f"step {line['step']:,} scored {score:.0%} of {games} games against {name}: {outcome}"


def _previous(line: Line) -> Line | None:
    """Return a candidate's results against its predecessor, None without games."""
    played: Sequence[Line] = line.get("anchors") or line.get("opponents") or ()
    some = [other for other in played[:1] if other["wins"] + other["draws"] + other["losses"] > 0]
    return some[0] if some else None


def plot_curve(directory: str | os.PathLike[str], path: str | os.PathLike[str]) -> Path:
    """Plot the ratings of a run's candidates from :func:`rated`.

    Bars are 95 % intervals of the Elo above the first network; neighbours share most of the error.

    Args:
        directory: of the run.
        path: the picture; the suffix selects the format (.svg, .png, .pdf).

    Raises:
        ConfigError: no candidate was evaluated, or the format is unknown.
        DataError: the curve is damaged, or the file cannot be written.
        EngineError: matplotlib is missing.

    """
    target = path_of("path", path)
    figure = curve_figure(directory)
    try:
        with replacing(target) as temporary:
            figure.savefig(temporary, format=target.suffix[1:] or "png")
    except ValueError as error:  # unknown format
        raise ConfigError(unwritten(target, error)) from error
    return target


def curve_figure(directory: str | os.PathLike[str]) -> Any:
    """Return the matplotlib figure of :func:`plot_curve`, whose errors it raises."""
    folder = RunFolder(path_of("directory", directory))
    fit = rated(folder)
    lines = [line for line in folder.evaluations() if line.get("step") in fit]
    if not lines:
        raise ConfigError(f"no candidate was evaluated in {directory}")
    figure = need("matplotlib.figure", "plot").Figure(figsize=(7, 4), layout="constrained")
    _draw(figure.add_subplot(), lines, fit)
    return figure


def _draw(axes: Any, lines: Sequence[Line], fit: Mapping[int, Rating | None]) -> None:
    points = [(line, rating) for line in lines if (rating := fit[line["step"]]) is not None]
    gains = [(line, rating) for line, rating in points if line["accepted"] and not lost(line)]
    losses = [(line, rating) for line, rating in points if line["accepted"] and lost(line)]
    rejected = [(line, rating) for line, rating in points if not line["accepted"]]
    elos = [0, *(rating.elo for _, rating in gains)]
    axes.plot([0, *(line["games"] for line, _ in gains)], elos, color="C0")
    for group, colour, name in (
        (gains, "C0", "accepted"),
        (losses, "C1", "accepted, but lost to its predecessor"),
        (rejected, "C7", "rejected"),
    ):
        if group:
            games, elo = [line["games"] for line, _ in group], [rating.elo for _, rating in group]
            bars = [rating.interval[1] - rating.elo for _, rating in group]
            axes.errorbar(games, elo, bars, fmt=".", color=colour, label=name, elinewidth=0.8)
    if len(points) < len(lines):
        left_out = f"{len(lines) - len(points)} that no games join to the first"
        axes.plot([], [], " ", label=f"left out: {left_out}")
    axes.set_xlabel("games of self-play")
    axes.set_ylabel("Elo above the first network")
    axes.grid(alpha=0.3)
    axes.legend(loc="lower right")
