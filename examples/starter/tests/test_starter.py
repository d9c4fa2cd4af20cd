"""The rules keep their promises and have the right number of move sequences."""

import pytest

import pyengine

GAME = pyengine.load_game("starter")


def test_random_games_break_no_promise() -> None:
    report = pyengine.check_game(GAME, games=50)
    assert report.ok, report


@pytest.mark.parametrize(("plies", "sequences"), [(1, 16), (2, 240), (3, 3_360)])
def test_counts_of_move_sequences(plies: int, sequences: int) -> None:
    assert pyengine.perft(GAME.new_initial_state(), plies) == sequences


def test_symmetries_move_the_corner_to_all_corners() -> None:
    corners = {GAME.symmetry_action(k, 0) for k in range(GAME.num_symmetries)}
    assert corners == {0, 3, 12, 15}


def test_the_board_is_shown() -> None:
    state = GAME.new_initial_state([5])
    assert "X" in str(state).splitlines()[2]


def test_a_search_finds_the_winning_move() -> None:
    state = GAME.new_initial_state([0, 4, 1, 5])
    result = pyengine.Engine(GAME, "rollout").search(state, simulations=2_000)
    assert (result.action, result.proven) == (2, 1)
