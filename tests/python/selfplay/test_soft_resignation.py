"""Soft resignation: a game that would be resigned goes on with fast searches of low weight."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyengine
from pyengine.selfplay import SelfPlayer
from toy_games import ToyGame, ToyState

LENGTH = 20
SPEC = pyengine.ModelSpec(planes=("observation",))


class Long(ToyState):
    """The first player wins after 20 moves; the observation is the number of moves."""

    def is_terminal(self) -> bool:
        return len(self.moves) >= LENGTH

    def returns(self) -> list[float]:
        return [1.0, -1.0]

    def observation_tensor(self) -> np.ndarray[Any, Any]:
        return np.full((1, 1, self.actions), len(self.moves), np.float32)


def evaluator(recovery: int = LENGTH) -> Any:
    """Return an evaluator by which the second player is lost before the ply ``recovery``."""

    def evaluate(planes: np.ndarray[Any, Any]) -> Any:
        ply = planes[:, 0, 0, 0]
        value = np.where(ply < recovery, np.where(ply % 2 == 0, 0.95, -0.95), 0.0)
        return np.zeros((len(planes), 3), np.float32), value.astype(np.float32)

    return evaluate


def config_of(**changes: Any) -> pyengine.SelfPlayConfig:
    search = pyengine.SearchConfig(
        simulations=2, threads=1, memory_limit=64 << 20, reuse_tree=False, solver=False
    )
    config = pyengine.SelfPlayConfig(
        search=search, concurrent_games=4, resign_off_fraction=0.0, fast_simulations=1
    )
    return config.replace(**changes)


def games_of(number: int, given: Any, **changes: Any) -> list[Any]:
    player = SelfPlayer(ToyGame(Long), given, config_of(**changes), spec=SPEC)
    games: list[Any] = []
    player.run(number, games.extend)
    return games


def test_without_a_weight_a_resigned_game_ends() -> None:
    for game in games_of(4, evaluator()):
        assert (game.resigned, len(game.moves), game.returns) == (1, 1, (1.0, -1.0))


def test_a_resigned_game_goes_on_to_its_end_with_fast_searches() -> None:
    for game in games_of(4, evaluator(), soft_resign_weight=1.0):
        assert (game.resigned, len(game.moves), game.returns) == (-1, LENGTH, (1.0, -1.0))
        assert game.ply.tolist() == list(range(LENGTH))
        assert game.full.tolist() == [1, 1] + [0] * (LENGTH - 2)


def test_the_weight_is_the_share_of_recorded_positions() -> None:
    games = games_of(30, evaluator(), soft_resign_weight=0.25)
    assert all(game.ply[:2].tolist() == [0, 1] for game in games)
    low = sum(len(game.ply) - 2 for game in games)
    assert 0.15 < low / (30 * (LENGTH - 2)) < 0.35
    assert all(len(game.ply) == 2 for game in games_of(4, evaluator(), soft_resign_weight=0.0))


def test_full_searches_return_when_the_side_recovers() -> None:
    for game in games_of(4, evaluator(recovery=9), soft_resign_weight=1.0):
        assert game.full.tolist() == [1, 1] + [0] * 8 + [1] * (LENGTH - 10)


def test_games_that_measure_resignation_are_played_with_full_searches() -> None:
    for game in games_of(4, evaluator(), soft_resign_weight=0.0, resign_off_fraction=1.0):
        assert game.resignation_off
        assert game.full.all()
        assert len(game.ply) == LENGTH


def test_records_with_gaps_are_read_back(tmp_path: Path) -> None:
    config = config_of(soft_resign_weight=0.5)
    report = pyengine.selfplay(
        ToyGame(Long), evaluator(), games=8, out=tmp_path, config=config, spec=SPEC
    )
    assert report.resigned == 0
    data = pyengine.Dataset(tmp_path, full_only=False, reply=True, horizons=(6,))
    assert len(data) == report.positions < 8 * LENGTH
    batch = next(data.batches(report.positions))
    assert batch["decided"].all()
    assert len(pyengine.Dataset(tmp_path)) == 8 * 2


def test_fast_searches_must_not_be_larger_than_full_ones() -> None:
    with pytest.raises(pyengine.ConfigError, match="fast_simulations: expected at most"):
        config_of(soft_resign_weight=0.1, fast_simulations=3)
