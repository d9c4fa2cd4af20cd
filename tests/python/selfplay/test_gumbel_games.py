"""Gumbel self-play: the preset, the policy target, the choice of moves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyengine
from pyengine import SearchConfig, SelfPlayConfig
from pyengine.selfplay.player import SelfPlayer


def small(**changes: Any) -> SelfPlayConfig:
    config = SelfPlayConfig.gumbel("connect_four", simulations=16)
    search = config.search.replace(threads=1)
    quiet = config.replace(concurrent_games=8, search=search, resign_threshold=None)
    return quiet.replace(opening_random_moves=0).replace(**changes)


def games_of(config: SelfPlayConfig, count: int = 24, evaluator: str = "uniform") -> list[Any]:
    player = SelfPlayer("connect_four", evaluator, config)
    games: list[Any] = []
    player.run(count, games.extend)
    return games + player.take()


def test_the_gumbel_preset_uses_no_other_noise() -> None:
    config = SelfPlayConfig.gumbel("connect_four")
    assert config.search.algorithm == "gumbel"
    assert config.search.simulations == 32
    assert (config.search.temperature, config.search.dirichlet_fraction) == (0.0, 0.0)
    assert config.search.gumbel_noise
    assert (config.temperature_moves, config.opening_random_moves) == (10, 4)
    assert SelfPlayConfig.gumbel("go", simulations=64).search.simulations == 64
    assert not config.replace(noise=False).search.gumbel_noise
    assert SelfPlayConfig.from_dict(config.to_dict()) == config


def test_forced_playouts_require_puct() -> None:
    with pytest.raises(pyengine.ConfigError, match="forced_playouts: expected 0 unless"):
        SelfPlayConfig(search=SearchConfig(algorithm="gumbel"), forced_playouts=2.0)


def test_the_policy_target_is_the_improved_policy() -> None:
    # The first search of a game starts with an empty tree, so another engine gets the same result.
    config = small(noise=False, concurrent_games=1)
    search = config.search.replace(solver=False, symmetry="none", batch_size=1, in_flight=1)
    first = games_of(config.replace(search=search), 1, "connect4")[0]
    result = pyengine.search(
        pyengine.load_game("connect_four").new_initial_state(),
        evaluator="connect4",
        **search.to_dict(),
    )
    target = first.visits[0] / first.visits[0].sum()
    np.testing.assert_allclose(target, result.improved_policy, atol=2e-5)
    assert abs(int(first.visits[0].sum()) - 65535) <= 4  # rounded move by move


def openings(config: SelfPlayConfig) -> set[tuple[int, ...]]:
    return {tuple(game.moves[:4]) for game in games_of(config)}


def test_noise_varies_the_opening_moves() -> None:
    assert len(openings(small())) > 20
    assert len(openings(small(noise=False))) == 1


def test_later_moves_do_not_depend_on_the_noise() -> None:
    # Seven simulations visit each of seven equal moves once, so only the noise can break ties.
    search = small().search.replace(simulations=7, solver=False)
    assert len(openings(small(search=search))) > 20
    assert openings(small(search=search, temperature_moves=0)) == {(0, 0, 0, 0)}


def test_fast_searches_are_not_policy_targets(tmp_path: Path) -> None:
    config = small(full_search_fraction=0.5, fast_simulations=4)
    pyengine.selfplay("connect_four", "uniform", games=3, out=tmp_path, config=config)
    full = [bool(row["full"]) for row in pyengine.Dataset(tmp_path, full_only=False)]
    assert any(full)
    assert not all(full)
