"""The gate: matches of candidates, what they prove, and the curve that they draw."""

from __future__ import annotations

from pathlib import Path

import pytest

import pyengine
from pyengine.train import GateConfig, judge, plot_curve
from pyengine.train.files import append_line, read_lines

TIC_TAC_TOE = pyengine.load_game("tic_tac_toe")
CONNECT_FOUR = pyengine.load_game("connect_four")


def test_a_stronger_candidate_passes_after_all_its_games() -> None:
    found = judge("rollout", "uniform", [CONNECT_FOUR], GateConfig(games=20, simulations=40))
    assert found.accepted
    assert found.complete
    assert found.games == found.wins + found.draws + found.losses == 20
    assert found.elo > 35


def test_a_weaker_candidate_fails_as_soon_as_it_cannot_pass() -> None:
    found = judge("uniform", "rollout", [CONNECT_FOUR], GateConfig(games=100, simulations=40))
    assert not found.accepted
    assert found.losses + found.draws / 2 >= 45
    assert found.score < 0.55


def test_equal_players_do_not_pass() -> None:
    config = GateConfig(games=20, simulations=20)
    assert not judge("uniform", "uniform", [TIC_TAC_TOE], config).accepted


def test_sprt_may_decide() -> None:
    config = GateConfig(games=400, simulations=40, method="sprt", elo0=0, elo1=100)
    found = judge("rollout", "uniform", [CONNECT_FOUR], config)
    assert found.accepted
    assert found.games < 400


def test_in_latest_mode_the_games_are_for_the_curve() -> None:
    config = GateConfig(mode="latest", games=20, simulations=40)
    found = judge("uniform", "rollout", [CONNECT_FOUR], config)
    assert found.accepted
    assert found.games == 20
    assert found.elo < 0


def test_games_are_shared_between_boards() -> None:
    games = [pyengine.load_game(f"mnk(rows={n},columns={n},k=3)") for n in (3, 4, 5)]
    config = GateConfig(mode="latest", games=11, simulations=4)
    assert judge("uniform", "uniform", games, config).games == 11


def test_an_interrupted_judgement_goes_on(tmp_path: Path) -> None:
    config = GateConfig(mode="latest", games=40, simulations=20)
    seen: list[int] = []

    def stop() -> bool:
        return bool(seen) and seen[-1] >= 8

    first = judge(
        "rollout",
        "uniform",
        [CONNECT_FOUR],
        config,
        stop=stop,
        on_progress=lambda result: seen.append(result.games),
        record=tmp_path / "match",
    )
    assert not first.complete
    assert not first.accepted
    kept = len(read_lines(tmp_path / "match-0.jsonl"))
    assert kept >= first.games
    second = judge("rollout", "uniform", [CONNECT_FOUR], config, record=tmp_path / "match")
    assert second.complete
    assert second.games == 40


def test_the_learning_curve_is_a_picture(tmp_path: Path) -> None:
    with pytest.raises(pyengine.ConfigError, match="found none"):
        plot_curve(tmp_path, tmp_path / "curve.svg")
    pytest.importorskip("matplotlib", reason="pictures need matplotlib: the extra plot")
    for games, accepted, low in ((10, True, 5.0), (20, False, None)):
        line = {"games": games, "accepted": accepted, "elo": 20.0, "score": 0.6}
        append_line(tmp_path / "curve.jsonl", {**line, "elo_low": low, "elo_high": 40.0})
    with pytest.raises(pyengine.ConfigError, match="cannot be written"):
        plot_curve(tmp_path, tmp_path / "curve.nothing")
    assert plot_curve(tmp_path, tmp_path / "curve.svg").read_text().count("<svg") == 1
