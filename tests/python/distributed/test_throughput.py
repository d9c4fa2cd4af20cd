"""The model of a cluster's throughput."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import pyengine
from pyengine.distributed.throughput import Plan
from pyengine.distributed.throughput import main as throughput_main

#: AlphaGo Zero's three days: a search of 1,600 simulations takes 0.4 s.
ALPHAGO_ZERO = Plan(
    actors=1512,
    evaluations=1600 / 0.4,
    samples=700_000 * 2048 / (3 * 86_400),
    samples_per_position=1.46,
)


def test_the_model_gives_alphago_zeros_three_days(oracle: Callable[[str], Any]) -> None:
    (constants,) = oracle("10-published-constants/constants.json")
    published = constants["alphago_zero_2017"]
    run = published["run_3_days"]
    plan = ALPHAGO_ZERO
    assert plan.goal == run["games"]
    assert plan.simulations == published["selfplay_simulations_per_move"]
    assert plan.days == pytest.approx(3, rel=0.01)
    assert plan.games_per_second == pytest.approx(18.9, rel=0.01)
    learnt = run["steps"] * run["mini_batch"] / (run["games"] * plan.moves)
    assert plan.actual_samples_per_position == pytest.approx(learnt, rel=0.01)
    assert plan.learner_busy > 0.99
    between = 3 * 86_400 / run["steps"] * published["checkpoint_every_steps"]
    assert plan.network_seconds == pytest.approx(between, rel=0.01)


def test_surplus_actors_reduce_the_samples_per_position() -> None:
    enough = ALPHAGO_ZERO.actors_that_fill_the_learner
    few, many = (
        dataclasses.replace(ALPHAGO_ZERO, actors=round(enough * share)) for share in (0.5, 2)
    )
    assert few.learner_busy == pytest.approx(0.5, rel=0.01)
    assert few.actual_samples_per_position == 1.46
    assert many.learner_busy == 1
    assert many.actual_samples_per_position == pytest.approx(0.73, rel=0.01)


def test_positions_without_a_full_search_are_sent_but_not_trained_on() -> None:
    full, some = ALPHAGO_ZERO, dataclasses.replace(ALPHAGO_ZERO, learnt=0.25)
    assert full.games_per_second == some.games_per_second
    assert full.bytes_in == some.bytes_in
    assert full.positions_per_second == 4 * some.positions_per_second


def test_the_table_has_a_row_per_number_of_actors(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert throughput_main(["--actors", "1512", "3024", "--samples-per-position", "1.46"]) == 0
    head, *rows, last = capsys.readouterr().out.splitlines()
    assert head.split()[0] == "actors"
    assert [row.split()[0] for row in rows] == ["1,512", "3,024"]
    assert [float(row.split()[-1]) for row in rows] == [3.0, 1.5]
    assert "until 4,900,000 games" in last

    measured = pyengine.SelfPlayReport(
        games=10, positions=400, simulations=40_000, evaluations=20_000, seconds=2.0
    )
    (tmp_path / "here.json").write_text(json.dumps(measured.to_dict()))
    command = ["--measured", str(tmp_path / "here.json"), "--actors", "3", "--goal", "150"]
    assert throughput_main(command) == 0
    row = capsys.readouterr().out.splitlines()[1].split()
    assert row[:4] == ["3", "30,000", "15", "600.0"]


def test_wrong_inputs_are_refused_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        throughput_main(["--moves", "0"])
    assert "moves: expected a number > 0, got 0" in capsys.readouterr().err
    with pytest.raises(pyengine.ConfigError, match=r"learnt: expected a number in \(0, 1\]"):
        Plan(learnt=1.5)
    with pytest.raises(pyengine.ConfigError, match=r"report\.games: expected a number > 0, got 0"):
        Plan().measured(pyengine.SelfPlayReport().to_dict())
