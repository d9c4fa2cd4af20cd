"""The name of a bundled network is the name of its game, and a misfit says what would fit."""

from __future__ import annotations

from typing import Any

import pytest

import pyengine
from pyengine.eval.bundled import MisfitError, load_named
from pyengine.exact.solver import Solver
from pyengine.match import RandomPlayer
from pyengine.selfplay import SelfPlayConfig

MODELS = pyengine.bundled_models()
pytestmark = pytest.mark.skipif("go9" not in MODELS, reason="this build has no go9")


@pytest.mark.parametrize(
    ("name", "game", "network"),
    [
        ("go9", "go(board_size=9,komi=7)", "go9"),
        ("go9(komi=6)", "go(board_size=9,komi=6)", "go9"),
        ("connect4", "connect_four", "connect4"),
        ("othello", "othello", "othello"),  # a game and a network
        ("gomoku", "gomoku", "gomoku"),  # the game's board, which is not the network's main one
        ("gomoku17", "gomoku", "gomoku17"),
        ("go(board_size=9)", "go(board_size=9,komi=7.5)", "go9"),
    ],
)
def test_an_engine_needs_no_evaluator(name: str, game: str, network: str) -> None:
    with pyengine.Engine(name) as engine:
        assert engine.game == pyengine.load_game(game)
        assert engine.evaluator.path == MODELS[network]


def test_a_game_object_gets_its_network() -> None:
    with pyengine.Engine(pyengine.load_game("tic_tac_toe")) as engine:
        assert engine.evaluator.path == MODELS["tic_tac_toe"]


def test_without_a_network_for_the_game_the_error_names_a_way_out() -> None:
    with pytest.raises(pyengine.ConfigError, match=r'go9 plays 9x9.*"rollout"'):
        pyengine.Engine("go(board_size=5)")
    with pytest.raises(pyengine.ConfigError, match="no network is bundled"):
        pyengine.Engine("mnk")


def test_parameters_replace_those_of_the_network() -> None:
    assert load_named("go9", komi=5.5).params["komi"] == 5.5
    assert load_named("go9", rows=9, columns=7).board_shape == (9, 7)
    with pytest.raises(pyengine.ConfigError, match="komi given twice"):
        load_named("go9(komi=6)", komi=5.5)
    with pytest.raises(pyengine.ConfigError, match="go9"):
        pyengine.load_game("go9")  # the registry of games knows no networks


def test_functions_take_the_name_of_a_network(tmp_path: Any) -> None:
    game = pyengine.load_game("tic_tac_toe")
    assert Solver("connect4").game == pyengine.load_game("connect_four")
    players = RandomPlayer(1), RandomPlayer(2)
    assert pyengine.match(*players, game="connect4", games=2).games == 2
    config = SelfPlayConfig(search=pyengine.SearchConfig(simulations=2))
    report = pyengine.selfplay("go7", "uniform", games=1, out=tmp_path, config=config)
    assert report.games == 1
    assert load_named("tic_tac_toe") == game


@pytest.mark.parametrize(
    ("game", "network", "words", "params"),
    [
        ("go", "go9", 'go9 plays 9x9: load_game("go", board_size=9)', {"board_size": 9}),
        ("go9(board_size=13)", None, "go9 plays 9x9", {"board_size": 9}),
        ("go(rows=9,columns=7)", "go7", "go7 plays 7x7", {"board_size": 7}),
        ("connect_four(columns=8)", "connect4", "connect4 plays 6x7", {"columns": 7}),
        ("othello", "go9", "go9 plays go(board_size=9,komi=7), not othello", {}),
    ],
)
def test_a_misfit_says_what_the_network_plays(
    game: str, network: str | None, words: str, params: dict[str, int]
) -> None:
    for make in (pyengine.Engine, _selfplay):
        with pytest.raises(MisfitError) as error:
            make(game, network)
        assert words in str(error.value)
        assert error.value.params == params


def _selfplay(game: str, network: str | None) -> Any:
    return pyengine.selfplay(game, network or "go9", games=1, out="never-written")
