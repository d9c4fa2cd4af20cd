"""Targets from later in a game: the opponent's reply and the values of some plies on."""

from __future__ import annotations

import pickle
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyengine
from data_games import PLAIN, TIC, finished, write
from pyengine import ConfigError, ModelSpec
from pyengine.data import Dataset, FinishedGame
from pyengine.data.worked_out import replies

GO = pyengine.load_game("go", board_size=5)
HORIZONS = (1.0, 6.0, 50.0)


def written(tmp_path: Path, rng: random.Random, game: Any = TIC, spec: ModelSpec = PLAIN) -> Any:
    """Return games, and their directory of several shards; a third of the searches was fast."""
    games = [finished(game, spec, number, rng, plies=20, full=0.7) for number in range(12)]
    games[3] = replace(games[3], taught=np.arange(len(games[3].full), dtype=np.uint8) % 2)
    return games, write(tmp_path / "data", game, spec, games, positions=40)


def rows_of(dataset: Dataset) -> dict[tuple[int, int], Any]:
    """Return the rows by game and ply."""
    rows = [dataset[number] for number in range(len(dataset))]
    return {(int(row["game"]), int(row["ply"])): row for row in rows}


def value_ahead(game: FinishedGame, at: int, horizon: float) -> float:
    """Return the definition, term by term."""
    decay = horizon / (1 + horizon)
    player, total, left = game.to_move[at], 0.0, 1.0
    for later in range(at, len(game.ply)):
        sign = 1 if game.to_move[later] == player else -1
        total += left * (1 - decay) * sign * game.root_value[later]
        left *= decay
    return float(total + left * game.returns[player])


def test_the_reply_is_the_policy_of_the_next_position(tmp_path: Path, rng: random.Random) -> None:
    games, path = written(tmp_path, rng)
    found = rows_of(Dataset(path, full_only=False, reply=True))
    assert len(found) == sum(len(game.ply) for game in games)
    missing = 0
    for game in games:
        for at in range(len(game.ply)):
            row = found[game.number, at]
            taught = game.taught is None or at + 1 == len(game.ply) or game.taught[at + 1]
            untaught = not taught and game.full[at + 1]
            if at + 1 == len(game.ply) or untaught:
                assert not row["replied"]
                assert not row["reply"].any()
                missing += 1
            else:
                assert row["replied"]
                np.testing.assert_array_equal(row["reply"], found[game.number, at + 1]["policy"])
    assert missing > len(games)


def test_a_reply_keeps_four_bytes(tmp_path: Path, rng: random.Random) -> None:
    game = finished(TIC, PLAIN, 0, rng)
    layout = Dataset(write(tmp_path / "data", TIC, PLAIN, [game], positions=40)).layout
    assert replies(game.records(layout)).dtype == np.int32


def test_a_fast_search_of_a_lost_position_is_no_reply(tmp_path: Path, rng: random.Random) -> None:
    game = finished(TIC, PLAIN, 0, rng, full=0.0)
    values = np.zeros(len(game.ply), np.float32)
    values[2] = -1.0
    path = write(tmp_path / "data", TIC, PLAIN, [replace(game, root_value=values)], positions=40)
    found = rows_of(Dataset(path, full_only=False, reply=True))
    replied = [bool(found[0, at]["replied"]) for at in range(len(game.ply))]
    assert replied == [at not in (1, len(game.ply) - 1) for at in range(len(game.ply))]


def test_values_ahead_are_weighted_means_of_the_roots(tmp_path: Path, rng: random.Random) -> None:
    games, path = written(tmp_path, rng, GO)
    found = rows_of(Dataset(path, full_only=False, horizons=HORIZONS))
    for game in games:
        for at in range(len(game.ply)):
            values = found[game.number, at]["short_values"]
            assert values.dtype == np.float32
            expected = [value_ahead(game, at, horizon) for horizon in HORIZONS]
            np.testing.assert_allclose(values, expected, atol=1e-5)


def test_the_values_of_a_game_that_was_cut_short_end_with_its_last_root_value(
    tmp_path: Path, rng: random.Random
) -> None:
    game = finished(TIC, PLAIN, 0, rng, plies=4, cut_short=True, root_value=np.full(4, 0.5))
    game.root_value[1::2] = -0.5  # of the other player
    dataset = Dataset(write(tmp_path / "data", TIC, PLAIN, [game]), horizons=(1, 50))
    found = np.array([dataset[row]["short_values"] for row in range(4)])
    np.testing.assert_allclose(found, np.repeat(game.root_value[:, None], 2, 1), atol=1e-6)


def test_games_of_one_number_are_told_apart(tmp_path: Path, rng: random.Random) -> None:
    games = [finished(TIC, PLAIN, 0, rng), finished(TIC, PLAIN, 0, rng)]
    dataset = Dataset(write(tmp_path / "data", TIC, PLAIN, games), horizons=(50,))
    expected = [value_ahead(game, at, 50) for game in games for at in range(len(game.ply))]
    found = [float(dataset[row]["short_values"][0]) for row in range(len(dataset))]
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_a_window_and_full_searches_alone_leave_the_targets_as_they_are(
    tmp_path: Path, rng: random.Random
) -> None:
    _, path = written(tmp_path, rng)
    every = rows_of(Dataset(path, full_only=False, reply=True, horizons=HORIZONS))
    some = Dataset(path, window=7, reply=True, horizons=HORIZONS)
    assert 0 < len(some) < len(every)
    for key, row in rows_of(some).items():
        for name in ("reply", "replied", "short_values"):
            np.testing.assert_array_equal(row[name], every[key][name])
    some.set_window(3)
    assert set(some._worked_out._known) == {piece.path for piece in some.pieces}
    assert rows_of(some).keys() < every.keys()


def test_a_reply_turns_with_the_board_and_follows_the_spec(
    tmp_path: Path, rng: random.Random
) -> None:
    spec = ModelSpec(policy_rows="bottom_up", pass_index=0)
    _, path = written(tmp_path, rng, GO, spec)
    dataset = Dataset(path, full_only=False, reply=True)
    numbers = np.arange(len(dataset) - 1)
    following = dataset.rows(numbers)["replied"]
    numbers = numbers[following]
    for k in range(GO.num_symmetries):
        symmetries = np.full(len(numbers), k, np.uint8)
        now = dataset.rows(numbers, symmetries)
        then = dataset.rows(numbers + 1, symmetries)
        np.testing.assert_array_equal(now["reply"], then["policy"])


def test_a_player_who_moves_again_is_no_opponent_who_replies(
    tmp_path: Path, rng: random.Random
) -> None:
    game = finished(TIC, PLAIN, 0, rng)
    twice = np.minimum(np.arange(len(game.ply)) // 2, 1).astype(np.uint8)  # 0 0 1 1 1 ...
    game = replace(game, to_move=twice)
    path = write(tmp_path / "data", TIC, PLAIN, [game])
    batch = next(Dataset(path, reply=True, horizons=(2.0,)).batches(99, shuffle=False))
    assert np.flatnonzero(batch["replied"]).tolist() == [1]
    expected = [value_ahead(game, at, 2.0) for at in range(len(game.ply))]
    np.testing.assert_allclose(batch["short_values"][:, 0], expected, atol=1e-5)


def test_every_way_to_read_shows_the_targets_and_none_without_being_asked(
    tmp_path: Path, rng: random.Random
) -> None:
    _, path = written(tmp_path, rng)
    names = {"reply", "replied", "short_values"}
    dataset = Dataset(path, reply=True, horizons=HORIZONS)
    again = pickle.loads(pickle.dumps(dataset))
    for each in (dataset, again):
        batches = [
            each.sample(5, np.random.default_rng(0)),
            next(each.batches(5)),
            each.rows(np.arange(5)),
        ]
        for batch in batches:
            assert names < batch.keys()
            assert batch["short_values"].shape == (5, 3)
            assert batch["reply"].shape == batch["policy"].shape
    plain = Dataset(path)
    drawn = plain.sample(5, np.random.default_rng(0))
    assert not names & drawn.keys()
    for name, column in drawn.items():
        np.testing.assert_array_equal(column, dataset.sample(5, np.random.default_rng(0))[name])


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("reply", 1),
        ("reply", "yes"),
        ("horizons", 6),
        ("horizons", "6"),
        ("horizons", [6, 0]),
        ("horizons", [float("nan")]),
        ("horizons", [None]),
    ],
)
def test_a_wrong_argument_is_named(
    argument: str, value: Any, tmp_path: Path, rng: random.Random
) -> None:
    _, path = written(tmp_path, rng)
    with pytest.raises(ConfigError, match=f"{argument}: expected "):
        Dataset(path, **{argument: value})
