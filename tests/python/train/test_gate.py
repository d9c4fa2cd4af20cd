"""The match of a candidate against the best network, and the decision."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

import pyengine
from pyengine.eval.evaluators import CallbackEvaluator
from pyengine.games import as_game
from pyengine.train import GateConfig, play_gate
from toy_games import ToyGame, ToyState

TIC_TAC_TOE = pyengine.load_game("tic_tac_toe")
CONNECT_FOUR = pyengine.load_game("connect_four")


def test_a_stronger_candidate_is_accepted_after_all_its_games() -> None:
    result = play_gate("rollout", "uniform", [CONNECT_FOUR], GateConfig(games=20, simulations=40))
    assert result.accepted
    assert result.complete
    assert result.games == result.wins + result.draws + result.losses == 20
    assert result.score > 0.55


def test_a_weaker_candidate_is_rejected_as_soon_as_it_cannot_pass() -> None:
    result = play_gate("uniform", "rollout", [CONNECT_FOUR], GateConfig(games=100, simulations=40))
    assert not result.accepted
    assert result.losses + result.draws / 2 >= 45
    assert result.score < 0.55


def test_equal_players_do_not_pass() -> None:
    config = GateConfig(games=20, simulations=20)
    assert not play_gate("uniform", "uniform", [TIC_TAC_TOE], config).accepted


def test_sprt_decides_before_all_games_are_played() -> None:
    config = GateConfig(games=400, simulations=40, method="sprt", elo0=0, elo1=100)
    result = play_gate("rollout", "uniform", [CONNECT_FOUR], config)
    assert result.accepted
    assert result.games < 400
    assert result.sprt is not None
    assert result.sprt.expected_games == 68


def test_latest_mode_accepts_a_candidate_that_loses() -> None:
    config = GateConfig(mode="latest", games=20, simulations=40)
    result = play_gate("uniform", "rollout", [CONNECT_FOUR], config)
    assert result.accepted
    assert result.games == 20
    assert result.score < 0.5


def test_games_are_shared_between_boards() -> None:
    games = [pyengine.load_game(f"mnk(rows={n},columns={n},k=3)") for n in (3, 4, 5)]
    config = GateConfig(mode="latest", games=11, simulations=4)
    assert play_gate("uniform", "uniform", games, config).games == 11


def test_unfinished_games_are_draws() -> None:
    # One limit leaves room for all opening moves, the other does not.
    game = as_game(ToyGame(ToyState))
    config = GateConfig(mode="latest", games=4, simulations=4, plies=4)
    for max_plies in (3, 12):
        result = play_gate("uniform", "uniform", [game], config, max_plies=max_plies)
        assert (result.games, result.draws) == (4, 4)


def test_a_match_is_interrupted_within_a_round_of_moves(tmp_path: Path) -> None:
    batches = 0  # 64 searches of 1,000 simulations would need 1,000

    def slow_after_stop(planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        nonlocal batches
        batches += 1
        if batches > 3:
            time.sleep(0.05)
        return np.zeros((len(planes), 7)), np.zeros(len(planes))

    slow_after_stop.identity = "slow"  # type: ignore[attr-defined]

    result = play_gate(
        CallbackEvaluator(slow_after_stop),
        "uniform",
        [CONNECT_FOUR],
        GateConfig(games=64, simulations=1000, batch_size=64),
        stop=lambda: batches > 3,
        record=tmp_path / "match",
    )
    assert not result.complete
    assert result.games == 0
    assert 3 < batches < 500


def test_the_default_number_of_games_is_enough_for_the_sequential_test() -> None:
    test = GateConfig(method="sprt")
    assert test.sprt is not None
    assert test.most_games == test.sprt.games_for() == 1054
    assert (GateConfig().most_games, test.games_of_anchors) == (200, 100)
    assert GateConfig(mode="latest", method="sprt", games=20).most_games == 20
    with pytest.raises(pyengine.ConfigError, match="one game for method"):
        play_gate("uniform", "uniform", [TIC_TAC_TOE, CONNECT_FOUR], test)
