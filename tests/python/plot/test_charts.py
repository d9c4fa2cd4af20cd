"""Charts show what they are given."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import pyengine

pytest.importorskip("matplotlib", reason="matplotlib is absent (extra `plot`)")

from pyengine import plot


def searched(moves: list[int]) -> list[pyengine.SearchResult]:
    game = pyengine.load_game("connect_four")
    states = [game.new_initial_state(moves[:n]) for n in range(len(moves))]
    with pyengine.Engine(game, "connect4", simulations=20) as engine:
        return engine.search_many(states)


def test_the_win_rate_is_the_first_players() -> None:
    results = searched([3, 3, 3, 0, 3])
    line = plot.win_rate(results).figure.axes[0].lines[0]
    expected = [r.win_rate if n % 2 == 0 else 1 - r.win_rate for n, r in enumerate(results)]
    assert line.get_xdata().tolist() == [0, 1, 2, 3, 4]
    assert line.get_ydata().tolist() == expected


def test_a_chart_is_saved_in_the_format_of_its_suffix(tmp_path: Path) -> None:
    chart = plot.win_rate(searched([3]))
    assert chart.save(tmp_path / "game.svg").read_text("utf-8").startswith("<?xml")
    assert chart._repr_png_().startswith(b"\x89PNG")
    with pytest.raises(pyengine.ConfigError, match=r"game\.nothing"):
        chart.save(tmp_path / "game.nothing")


def test_no_evaluation_has_no_chart() -> None:
    with pytest.raises(pyengine.ConfigError, match="game: expected at least one evaluated"):
        plot.win_rate([])


def test_benchmarks_are_bars(tmp_path: Path) -> None:
    report = {
        "suite": "tree",
        "machine": {"cpu": "a processor", "pyengine": "0"},
        "rows": [{"name": "tree/go9", "ratio": 1.5}],
    }
    file = tmp_path / "tree.json"
    file.write_text(json.dumps(report), "utf-8")
    axes = plot.benchmarks(file).figure.axes[0]
    assert [bar.get_width() for bar in axes.patches] == [1.5]
