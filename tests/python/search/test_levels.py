"""Levels of play: their settings, their measured order, and games without levels."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

import pyengine
from pyengine.search.levels import level_config, level_of, levels_of, opponents_of

GAMES = (
    "tic_tac_toe",
    "connect_four",
    "othello",
    "gomoku(board_size=9)",
    "go(board_size=9,komi=7)",
)
pytestmark = pytest.mark.skipif(
    "go9" not in pyengine.bundled_models(), reason="this build has no go9"
)


@pytest.mark.parametrize("name", GAMES)
def test_levels_rise_from_random_to_strongest(name: str) -> None:
    levels = levels_of(pyengine.load_game(name))
    assert [level.number for level in levels] == list(range(1, len(levels) + 1))
    assert (levels[0].name, levels[-1].name) == ("random", "strongest")
    assert len({level.name for level in levels}) == len(levels)
    elos = [level.elo for level in levels]
    assert elos == sorted(elos)
    for level in levels:
        assert level.interval is not None
        assert level.elo is not None
        assert level.interval[0] <= level.elo <= level.interval[1]
        assert level.games >= 40
        pyengine.SearchConfig(**level.settings())


def test_the_lowest_level_plays_every_move_equally_often() -> None:
    game = pyengine.load_game("connect_four")
    state = game.new_initial_state()
    with pyengine.Engine(game, seed=1, threads=1, **level_config(game, 1)) as engine:
        counts = Counter(engine.search(state).action for _ in range(700))
    assert set(counts) == set(state.legal_actions())
    assert all(60 < count < 140 for count in counts.values())


def test_a_level_is_chosen_by_number_or_name() -> None:
    game = pyengine.load_game("othello")
    assert level_of(game, 2) == level_of(game, "2") == level_of(game, "Beginner")
    assert level_config(game, "strongest") == {"simulations": 400, "reuse_tree": False}


def test_levels_have_elo_only_on_the_measured_board() -> None:
    go7 = levels_of(pyengine.load_game("go(board_size=7)"))
    assert go7
    assert all(level.elo is None and level.interval is None for level in go7)
    assert opponents_of(pyengine.load_game("go(board_size=7)")) == ()
    assert opponents_of(pyengine.load_game("connect_four"))


@pytest.mark.parametrize(
    ("game", "level", "words"),
    [
        ("othello", 0, "expected 1 to 8"),
        ("othello", "best", "beginner"),
        ("mnk", 1, "no bundled network plays it"),
        ("go(board_size=5)", 1, "no bundled network plays it"),
    ],
)
def test_an_unknown_level_is_refused(game: str, level: Any, words: str) -> None:
    with pytest.raises(pyengine.ConfigError, match=words):
        level_config(pyengine.load_game(game), level)
