"""The learning curve of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyengine
from pyengine.train import plot_curve
from pyengine.train.json_files import append_line
from pyengine.train.loop.curve import lost, results, verdict
from pyengine.train.loop.rating import ratings
from run_games import curve_line


def test_the_rating_of_equal_players_does_not_rise_by_selection() -> None:
    rng = np.random.default_rng(0)
    lines = []
    for step in range(100, 2100, 100):
        wins = 0
        while wins <= 110:  # only candidates above 55 % are accepted
            wins = int(rng.binomial(200, 0.5))
        anchors = int(rng.binomial(200, 0.5))
        line = curve_line(step, step - 100, wins, 200 - wins)
        match = {"step": step - 100, "wins": anchors, "draws": 0, "losses": 200 - anchors}
        lines.append(line | {"anchors": [match]})
    fair = ratings(results(lines))[2000]
    selected = ratings(results([line | {"anchors": []} for line in lines]))[2000]
    assert fair is not None
    assert selected is not None
    assert abs(fair.elo) < 2 * fair.error
    assert selected.elo > 6 * selected.error


@pytest.mark.parametrize(
    ("changes", "outcome"),
    [
        ({}, "step 100 scored 40% of 10 games against rollout: no progress"),
        ({"accepted": False}, "step 100 scored 40% of 10 games against rollout: rejected"),
        (
            {"anchors": [{"wins": 6, "draws": 0, "losses": 4}]},
            "60% of 10 games against rollout: acc",
        ),
        ({"opponents": []}, ""),
        (
            {"opponents": [{"wins": 1, "draws": 2, "losses": 1, "generation": 3}]},
            "generation 3: acc",
        ),
    ],
)
def test_a_candidate_that_lost_is_no_progress(changes: dict[str, Any], outcome: str) -> None:
    line = curve_line(100, 0, 4, 6) | changes
    assert outcome in verdict([line], "rollout")
    assert bool(outcome) == bool(verdict([line], "rollout"))
    assert lost(line) == ("40%" in outcome)


def test_the_command_draws_the_learning_curve(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(pyengine.ConfigError, match="no candidate was evaluated"):
        plot_curve(tmp_path, tmp_path / "curve.svg")
    matplotlib = pytest.importorskip("matplotlib", reason="pictures need the extra plot")
    pytest.importorskip("typer", reason="the command needs the extra cli")
    from pyengine.cli import main

    append_line(tmp_path / "curve.jsonl", curve_line(100, 0, 6, 4))
    append_line(tmp_path / "curve.jsonl", curve_line(200, 100, 4, 6) | {"accepted": False})
    append_line(tmp_path / "curve.jsonl", curve_line(300, 250, 1, 1))
    append_line(tmp_path / "curve.jsonl", curve_line(400, 100, 4, 6))
    with pytest.raises(pyengine.ConfigError, match="cannot be written"):
        plot_curve(tmp_path, tmp_path / "curve.nothing")
    picture = tmp_path / "curve.svg"
    with matplotlib.rc_context({"svg.fonttype": "none"}):
        assert main(["train", "--curve", str(picture), "--directory", str(tmp_path)]) == 0
    assert capsys.readouterr().out == f"{picture}\n"
    drawing = picture.read_text()
    assert drawing.count("<svg") == 1
    assert "accepted, but lost to its predecessor" in drawing
    assert "left out: 1 that no games join to the first" in drawing
