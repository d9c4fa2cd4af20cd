"""The rules keep their promises and have the right number of move sequences."""

import random

import pytest

import pyengine

GAME = pyengine.load_game("starter")


def test_random_games_break_no_promise() -> None:
    report = pyengine.check_game(GAME, games=50)
    assert report.ok, report


@pytest.mark.parametrize(("plies", "sequences"), [(1, 16), (2, 240), (3, 3_360)])
def test_counts_of_move_sequences(plies: int, sequences: int) -> None:
    assert pyengine.perft(GAME.new_initial_state(), plies) == sequences


@pytest.mark.parametrize("k", range(GAME.num_symmetries))
def test_a_mirrored_game_has_mirrored_boards_actions_and_results(k: int) -> None:
    """Check a mapping of actions such as point * K + d; the initial board must stay the same."""
    points, rng = GAME.symmetry_points(k), random.Random(k)
    state, mirror = GAME.new_initial_state(), GAME.new_initial_state()
    while not state.is_terminal():
        images = {action: GAME.symmetry_action(k, action) for action in state.legal_actions()}
        assert sorted(images.values()) == sorted(mirror.legal_actions())
        action = rng.choice(list(images))
        state.apply_action(action)
        mirror.apply_action(images[action])
        board = "".join(mirror.board_rows())
        assert [board[point] for point in points] == list("".join(state.board_rows()))
    assert mirror.returns() == state.returns()


def test_the_board_is_shown() -> None:
    state = GAME.new_initial_state([5])
    assert "X" in str(state).splitlines()[2]


def test_a_search_finds_the_winning_move() -> None:
    state = GAME.new_initial_state([0, 4, 1, 5])
    result = pyengine.Engine(GAME, "rollout").search(state, simulations=2_000)
    assert (result.action, result.proven) == (2, 1)
