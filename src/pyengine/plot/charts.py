"""Charts: win rates over a game, learning curves, benchmarks."""

from __future__ import annotations

import importlib
import io
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyengine.base.extras import need
from pyengine.base.files import path_of, replacing, unwritten
from pyengine.errors import ConfigError
from pyengine.games.board_layout import game_look
from pyengine.review import Review
from pyengine.search.result import SearchResult

_DPI = 110  # of bitmaps


@dataclass(frozen=True)
class Chart:
    """A chart, shown as a picture in notebooks.

    Attributes:
        figure: the ``matplotlib.figure.Figure``, which may be changed.
    """

    figure: Any

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the picture; the suffix selects the format (.svg, .png, .pdf).

        Raises ConfigError for an unknown format, DataError if the file cannot be written.
        """
        target = path_of("path", path)
        try:
            with replacing(target) as temporary:
                self.figure.savefig(temporary, dpi=_DPI, format=target.suffix[1:] or "png")
        except ValueError as error:  # unknown format
            raise ConfigError(unwritten(target, error)) from error
        return target

    def _repr_png_(self) -> bytes:
        picture = io.BytesIO()
        self.figure.savefig(picture, dpi=_DPI, format="png")
        return picture.getvalue()


def win_rate(game: Review | Sequence[SearchResult]) -> Chart:
    """Plot the first player's win rate over a game.

    Args:
        game: a review, whose predicted lead in points is drawn too, or the results of searches of
            the game's positions.

    Raises ConfigError without an evaluation, EngineError if matplotlib is missing.
    """
    if isinstance(game, Review):
        known = [(ply, e) for ply, e in enumerate(game.evaluations) if e is not None]
        rates = [(ply, e.win_rate) for ply, e in known]
        leads = [(ply, e.score) for ply, e in known if e.score is not None]
        player = game.colours[0]
    else:
        rates, leads = [_rate(place, result) for place, result in enumerate(game)], []
        player = _first_player(game)
    if not rates:
        raise ConfigError("game: expected at least one evaluated position, got none")
    figure = _figure()
    axes = figure.add_subplot()
    axes.plot(*zip(*rates, strict=True), color="C0", label="win rate")
    axes.axhline(0.5, color="#888", linewidth=0.8)
    axes.set(ylim=(0, 1), xlabel="moves played", ylabel=f"win rate, {player}")
    axes.yaxis.set_major_formatter(need("matplotlib.ticker", "plot").PercentFormatter(1.0))
    axes.grid(alpha=0.3)
    if leads:
        _draw_leads(axes, leads)
    return Chart(figure)


def _draw_leads(axes: Any, leads: Sequence[tuple[int, float]]) -> None:
    points = axes.twinx()
    points.plot(*zip(*leads, strict=True), color="C1", linestyle="--", label="lead")
    most = max(10.0, *(abs(lead) for _, lead in leads))
    points.set(ylim=(-most, most), ylabel="lead in points (dashed)")


def _rate(place: int, result: SearchResult) -> tuple[int, float]:
    """Return the number of moves played and the win rate of the first player."""
    state = result.state
    plies = len(state.history()) if hasattr(state, "history") else place
    rate = result.win_rate
    return plies, rate if state.current_player() == 0 else 1 - rate


def _first_player(results: Sequence[SearchResult]) -> str:
    game: Any = getattr(results[0].state, "game", None) if results else None
    return game_look(game).names[0] if hasattr(game, "has_board") else "first player"


def learning_curve(directory: str | os.PathLike[str]) -> Chart:
    """Plot the Elo of a training run's networks; see :func:`pyengine.train.plot_curve`."""
    curve = importlib.import_module("pyengine.train.loop.curve")  # imports PyTorch
    return Chart(curve.curve_figure(directory))


def benchmarks(*files: str | os.PathLike[str]) -> Chart:
    """Plot reports of ``pyengine bench SUITE --json FILE``, relative to their targets.

    Raises ConfigError if no row has a ratio or a target.
    """
    reports = [json.loads(path_of("files", file).read_text("utf-8")) for file in files]
    return Chart(importlib.import_module("pyengine.benchmarks.plot").figure_of(reports))


def _figure() -> Any:
    return need("matplotlib.figure", "plot").Figure(figsize=(7, 3.5), layout="constrained")
