"""The model of a cluster's throughput."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import pyengine
from pyengine.distributed.throughput import (
    ALPHAGO_ZERO_GAMES,
    ActorRate,
    Games,
    Learning,
    Plan,
    Shipping,
)
from pyengine.distributed.throughput import main as throughput_main


def alphago_zero(actors: int) -> Plan:
    """Return AlphaGo Zero's run per the paper, with an assumed 200 moves per game."""
    samples = 700_000 * 2048 / (3 * 86_400)  # in three days
    return Plan(
        actors=actors,
        actor=ActorRate(evaluations=1600 / 0.4),  # a search of 1,600 takes 0.4 s
        games=Games(moves=200, simulations=1600),
        learning=Learning(samples=samples, samples_per_position=1.46),
        shipping=Shipping(),
    )


def test_the_model_gives_alphago_zeros_three_days(oracle: Callable[[str], Any]) -> None:
    (constants,) = oracle("10-published-constants/constants.json")
    published = constants["alphago_zero_2017"]
    run = published["run_3_days"]
    assert run["games"] == ALPHAGO_ZERO_GAMES
    assert Games().simulations == published["selfplay_simulations_per_move"]
    plan = alphago_zero(actors=1512)
    assert plan.seconds(run["games"]) / 86_400 == pytest.approx(3, rel=0.01)
    assert plan.games_per_second == pytest.approx(18.9, rel=0.01)
    learnt = run["steps"] * run["mini_batch"] / (run["games"] * plan.games.positions)
    assert plan.samples_per_position == pytest.approx(learnt, rel=0.01)
    assert plan.learner_busy > 0.99
    between = 3 * 86_400 / run["steps"] * published["checkpoint_every_steps"]
    assert Shipping().seconds_of_a_network == pytest.approx(between, rel=0.01)


def test_surplus_actors_reduce_the_samples_per_position() -> None:
    enough = alphago_zero(actors=1).actors_that_fill_the_learner
    few, many = alphago_zero(round(enough / 2)), alphago_zero(round(enough * 2))
    assert few.learner_busy == pytest.approx(0.5, rel=0.01)
    assert few.samples_per_position == 1.46
    assert many.learner_busy == 1
    assert many.samples_per_position == pytest.approx(0.73, rel=0.01)


def test_positions_without_a_full_search_are_sent_but_not_trained_on() -> None:
    full, some = Games(learnt=1.0), Games(learnt=0.25)
    plans = [dataclasses.replace(alphago_zero(8), games=games) for games in (full, some)]
    assert plans[0].games_per_second == plans[1].games_per_second
    assert plans[0].bytes_in == plans[1].bytes_in
    assert plans[0].positions_per_second == 4 * plans[1].positions_per_second


def test_the_table_has_a_row_per_number_of_actors(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert throughput_main(["--actors", "1512", "3024", "--samples-per-position", "1.46"]) == 0
    head, *rows, last = capsys.readouterr().out.splitlines()
    assert head.split()[0] == "actors"
    assert [row.split()[0] for row in rows] == ["1,512", "3,024"]
    assert [float(row.split()[-1]) for row in rows] == [3.0, 1.5]
    assert "until 4,900,000 games" in last
    with pytest.raises(SystemExit):
        throughput_main(["--moves", "0"])
    assert "moves: expected a number > 0, got 0" in capsys.readouterr().err


def test_the_model_predicts_the_positions_of_self_play(tmp_path: Path) -> None:
    config = pyengine.SelfPlayConfig(
        search=pyengine.SearchConfig(simulations=20, threads=1, cache_entries=0),
        concurrent_games=8,
        resign_threshold=None,
    )
    measured = [
        pyengine.selfplay(
            "connect_four", "connect4", games=games, out=tmp_path / str(games), config=config
        )
        for games in (20, 40)
    ]
    games = Games.measured(measured[0].to_dict())
    rate = ActorRate.measured(measured[1].to_dict())
    found = rate.positions(games) * measured[1].seconds
    assert found == pytest.approx(measured[1].positions, rel=0.15)
    assert rate.games(games) * measured[1].seconds == pytest.approx(40, rel=0.2)
    with pytest.raises(pyengine.ConfigError, match=r"report\.games: expected a number > 0, got 0"):
        Games.measured(pyengine.SelfPlayReport().to_dict())


def test_the_table_accepts_a_self_play_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    counts = {"games": 10, "positions": 400, "simulations": 40_000, "evaluations": 20_000}
    (tmp_path / "here.json").write_text(json.dumps({**counts, "seconds": 2.0}))
    command = ["--measured", str(tmp_path / "here.json"), "--actors", "3", "--goal", "150"]
    assert throughput_main(command) == 0
    row = capsys.readouterr().out.splitlines()[1].split()
    assert row[:4] == ["3", "30,000", "15", "600.0"]
