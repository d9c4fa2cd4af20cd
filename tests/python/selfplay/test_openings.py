"""Self-play from given positions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyengine
from pyengine.selfplay import SelfPlayer
from toy_games import ToyGame, ToyState

GO = pyengine.load_game("go(board_size=5,komi=0.5)")
HANDICAP = GO.state_from_board([".....", ".X...", ".....", "...X.", "....."], player=1)
LINES = [(3, 3), (3, 2), (0,)]


def small(**changes: Any) -> pyengine.SelfPlayConfig:
    search = pyengine.SearchConfig(simulations=4, threads=1, memory_limit=64 << 20)
    config = pyengine.SelfPlayConfig(search=search, concurrent_games=8, resign_threshold=None)
    return config.replace(**changes)


def games_from(openings: Any, count: int = 20, **changes: Any) -> list[Any]:
    """Return games of connect four that start from openings."""
    player = SelfPlayer("connect_four", "uniform", small(**changes), openings=openings)
    games: list[Any] = []
    player.run(count, games.extend)
    return games


def begins_with(game: Any, moves: tuple[int, ...]) -> bool:
    return tuple(game.moves[: len(moves)]) == moves


def test_all_games_start_from_openings_drawn_at_random() -> None:
    games = games_from(LINES)
    assert all(any(begins_with(game, line) for line in LINES) for game in games)
    assert all(any(begins_with(game, line) for game in games) for line in LINES)


def test_the_moves_of_an_opening_are_not_positions_of_the_data() -> None:
    for game in games_from([(3, 3, 2)]):
        assert game.ply.tolist() == list(range(3, len(game.moves)))


def test_the_other_games_start_from_the_initial_position() -> None:
    with_opening = [begins_with(game, (6, 6, 6)) for game in games_from(
        [(6, 6, 6)], 60, opening_fraction=0.5, temperature_moves=42
    )]  # fmt: skip
    assert 15 <= sum(with_opening) <= 45
    none = games_from([(6, 6, 6)], opening_fraction=0.0)
    assert {game.ply[0] for game in none} == {0}


def test_random_moves_follow_the_opening() -> None:
    games = games_from([(3, 3)], opening_random_moves=3)
    assert all(begins_with(game, (3, 3)) for game in games)
    assert {int(game.ply[0]) for game in games} == {2, 3, 4, 5}


def test_data_of_games_from_a_set_up_position_are_read_back(tmp_path: Path) -> None:
    after = HANDICAP.clone()
    after.apply_action(12)
    pyengine.selfplay(
        GO, "uniform", games=6, out=tmp_path, config=small(), openings=[HANDICAP, after]
    )
    data = pyengine.Dataset(tmp_path, full_only=False, final_board=True)
    lines = [line for piece in data.pieces for line in piece.lines()]
    assert {line.start for line in lines} == {HANDICAP.serialize()}
    spec = data.layout.spec
    rows = iter([data[i] for i in range(len(data))])
    for line in lines:
        state = line.start_state(GO)
        for ply, move in enumerate(line.moves):
            if len(line.moves) - ply <= line.positions:
                planes = pyengine._core.encode_planes([state], spec)[0][0]
                row = next(rows)
                assert row["ply"] == ply
                assert np.count_nonzero(row["planes"][:2]) == int(np.unpackbits(planes).sum())
            state.apply_action(move)
        assert tuple(state.returns()) == line.returns
    assert next(data.batches(100))["ended"].all()


def test_a_file_has_moves_or_a_serialised_state_in_each_line(tmp_path: Path) -> None:
    file = tmp_path / "openings.txt"
    file.write_text(f"# handicap\n{HANDICAP.serialize()}\n\nC3 D4\n")
    player = SelfPlayer(GO, "uniform", small(), openings=file)
    moves = [player.openings[1].action_to_string(move) for move in player.openings[1].history()]
    assert (player.openings[0], moves) == (HANDICAP, ["C3", "D4"])


def test_games_of_a_user_start_from_lists_of_moves() -> None:
    spec = pyengine.ModelSpec(planes=("ones",))
    config = small(max_plies=6, concurrent_games=2)
    player = SelfPlayer(ToyGame(ToyState), "uniform", config, spec=spec, openings=[[0, 1]])
    games: list[Any] = []
    player.run(3, games.extend)
    assert [tuple(game.moves[:2]) for game in games] == [(0, 1)] * 3


def test_equal_seeds_give_equal_openings() -> None:
    first, again = ([tuple(g.moves) for g in games_from(LINES, seed=5)] for _ in range(2))
    assert sorted(first) == sorted(again)


@pytest.mark.parametrize(
    ("openings", "message"),
    [
        ([], "openings: expected at least one"),
        (3, "openings: expected States or lists of actions, got 3"),
        ([[3], "3"], r"openings\[1\]: expected a State or a list of actions"),
        ([[3], [2.5]], r"openings\[1\]: expected a State or a list of actions"),
        ([[3] * 7], r"openings\[0\]: .*not legal"),
        ([[0, 1, 0, 1, 0, 1, 0]], r"openings\[0\]: the game is over"),
        ([[0, 1] * 3], r"openings\[0\]: expected fewer moves than .* = 6, got 6"),
        ([HANDICAP], r"openings\[0\]: expected a state of connect_four"),
        ("absent.txt", "absent.txt does not exist"),
    ],
)
def test_openings_that_no_game_can_start_from_are_refused(openings: Any, message: str) -> None:
    with pytest.raises(pyengine.ConfigError, match=message):
        games_from(openings, max_plies=6)


@pytest.mark.parametrize(
    ("line", "message"),
    [("4 9", "line 2: "), (HANDICAP.serialize(), "line 2: a serialised state: expected one")],
)
def test_an_error_in_a_file_names_its_line(tmp_path: Path, line: str, message: str) -> None:
    file = tmp_path / "openings.txt"
    file.write_text(f"4 4\n{line}\n")
    with pytest.raises(pyengine.ConfigError, match=message):
        games_from(file)
