"""The Gomoku network on 17 features: its training data, and its strength."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyengine
from pyengine.match import ValuePlayer

BLACK_WINS = [0, 20, 1, 30, 2, 50, 3, 70, 4]  # on 15x15: five in the top row
WHITE_WINS = [100, 0, 20, 1, 30, 2, 50, 3, 70, 4]


@pytest.fixture
def recipe() -> Any:
    import gomoku17

    return gomoku17


@pytest.fixture
def games(recipe: Any) -> Any:
    """Return a game won by Black and a game won by White."""
    game = pyengine.load_game("gomoku")
    return recipe.RandomGames(game, [BLACK_WINS, WHITE_WINS], [1.0, -1.0])


@pytest.mark.parametrize(
    ("result", "last", "worth"),
    [(1, False, 0.75), (-1, False, 0.25), (1, True, 1.0), (-1, True, 0.0), (0, True, 0.5)],
)
def test_the_worth_of_a_position_follows_from_its_game(
    recipe: Any, result: int, last: bool, worth: float
) -> None:
    assert recipe.worth(result, last) == worth


def test_every_position_after_the_first_move_is_drawn_equally_often(games: Any) -> None:
    """Two of the 9 + 10 positions end a game."""
    assert len(games) == 19
    rows = games.sample(1900, np.random.default_rng(0), augment=False)
    stones = (rows["planes"][:, 0] > 0).sum(axis=(1, 2))
    assert stones.min() == 1
    assert stones.max() == 10
    counts = {value: int((rows["value"] == value).sum()) for value in (-1, -0.5, 0.5, 1)}
    assert sum(counts.values()) == 1900
    for value, expected in ((-1, 100), (-0.5, 900), (0.5, 800), (1, 100)):
        assert abs(counts[value] - expected) < 5 * expected**0.5


def test_last_positions_are_drawn_more_often_on_request(recipe: Any, games: Any) -> None:
    only = recipe.RandomGames(games.game, games.moves, games.results, last_share=1.0)
    rows = only.sample(50, np.random.default_rng(0))
    assert set(rows["value"]) == {-1.0, 1.0}
    stones = (rows["planes"][:, 0] > 0).sum(axis=(1, 2))
    assert np.array_equal(stones == 9, rows["value"] == 1)


def test_planes_are_those_of_a_symmetric_position(games: Any) -> None:
    rows = games.sample(40, np.random.default_rng(1))
    points = [games.game.symmetry_points(k) for k in range(8)]
    known = {
        games.game.new_initial_state([turned[move] for move in moves[:ply]])
        .observation_tensor(pyengine.ModelSpec.gomoku17())
        .tobytes()
        for moves in games.moves
        for ply in range(1, len(moves) + 1)
        for turned in points
    }
    assert {row.tobytes() for row in rows["planes"]} <= known
    assert not rows["policy"].any()


def test_random_games_follow_the_rules_and_the_seed(recipe: Any) -> None:
    game = pyengine.load_game("gomoku")
    some = recipe.RandomGames.play(game, 5, seed=3)
    more = recipe.RandomGames.play(game, 6, seed=3)
    assert more.moves[:5] == some.moves
    for moves, result in zip(more.moves, more.results, strict=True):
        state = game.new_initial_state(moves)
        assert state.is_terminal()
        assert state.returns()[0] == result
    assert len({tuple(moves) for moves in more.moves}) == 6


def test_the_interval_is_wilsons(recipe: Any) -> None:
    assert recipe.Score(1000, 0, 0, 10.0).interval == pytest.approx((0.99617, 1.0), abs=1e-5)
    assert recipe.Score(962, 0, 38, 10.0).interval == pytest.approx((0.94826, 0.97220), abs=1e-4)


def test_the_network_evaluates_for_the_first_player_and_is_not_for_search() -> None:
    network = pyengine.OnnxEvaluator(pyengine.bundled_models()["gomoku17"])
    assert network.spec is not None
    assert network.spec.planes == pyengine.ModelSpec.gomoku17().planes
    assert network.spec.value_for == "first_player"
    assert pyengine.eval.bundled.model_of_game(pyengine.load_game("gomoku")) != "gomoku17"


def test_it_completes_five_in_a_row_by_value_alone() -> None:
    player = ValuePlayer("gomoku17", ends="evaluator")
    game = pyengine.load_game("gomoku")
    whites = [14, 150, 75, 220]
    for first, step in ((3, 1), (18, 15), (50, 16), (40, 14)):
        line = [first + i * step for i in range(5)]
        moves = [move for pair in zip(line[:4], whites, strict=True) for move in pair]
        choice = player.search_many([game.new_initial_state(moves)])[0]
        state = game.new_initial_state([*moves, choice.action])
        assert state.returns()[0] == 1, str(state)


def test_black_beats_random_moves_by_value_alone(recipe: Any) -> None:
    """These are the first of 1,000 measured games."""
    score = recipe.measure(pyengine.bundled_models()["gomoku17"], games=6, seed=1)
    assert score.games == score.wins == 6
