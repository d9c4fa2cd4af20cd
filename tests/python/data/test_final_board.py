"""The last board of a game as a target: whose each point is, and by how many points one leads."""

from __future__ import annotations

import pickle
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyengine
from data_games import PLAIN, TIC, finished, play, write
from pyengine import ConfigError, ModelSpec
from pyengine.data import Dataset
from pyengine.games.go_area import area

GO = pyengine.load_game("go(board_size=5,komi=2.5)")
OTHELLO = pyengine.load_game("othello(board_size=4)")
FOUR = pyengine.load_game("connect_four(rows=4,columns=5)")
STONES = {"X": 1, "O": -1, ".": 0}


def written(tmp_path: Path, rng: random.Random, game: Any, spec: ModelSpec = PLAIN) -> Any:
    """Return games that were played to their end, and their directory of several shards."""
    games = [finished(game, spec, number, rng) for number in range(8)]
    return games, write(tmp_path / "data", game, spec, games, positions=40)


def stones_at_the_end(game: Any, moves: Any) -> np.ndarray:
    rows = game.new_initial_state([int(move) for move in moves]).board_rows()
    return np.array([[STONES[stone] for stone in row] for row in rows])


def test_ownership_of_a_game_of_go_whose_score_is_known(tmp_path: Path) -> None:
    game = pyengine.load_game("go(board_size=5,komi=0.5)")
    first, second = ["b5", "b4", "b3", "b2", "b1"], ["d5", "d4", "d3", "d2", "d1"]
    state = game.new_initial_state()
    for names in zip(first, second, strict=True):
        for name in names:
            state.apply_action(state.string_to_action(name))
    for name in ("pass", "pass"):
        state.apply_action(state.string_to_action(name))
    assert state.is_terminal()
    one = finished(game, PLAIN, 0, random.Random(0))
    moves = np.array(state.history(), np.uint16)
    one = replace(one, **{name: getattr(one, name)[: len(moves)] for name in columns_of(one)})
    one = replace(one, moves=moves, action=moves, returns=(-1.0, 1.0))
    dataset = Dataset(write(tmp_path / "data", game, PLAIN, [one]), final_board=True)
    black, white = dataset[0], dataset[1]
    np.testing.assert_array_equal(black["ownership"], [[1, 1, 0, -1, -1]] * 5)
    np.testing.assert_array_equal(white["ownership"], [[-1, -1, 0, 1, 1]] * 5)
    assert (black["score"], white["score"]) == (-0.5, 0.5)
    assert bool(black["ended"])


def columns_of(game: Any) -> list[str]:
    return [name for name in ("bits", "fill", "dense", "visits") if len(getattr(game, name))] + [
        "root_value",
        "network_value",
        "ply",
        "action",
        "to_move",
        "full",
    ]


def test_ownership_and_komi_add_up_to_the_score(tmp_path: Path, rng: random.Random) -> None:
    games, path = written(tmp_path, rng, GO)
    batch = next(Dataset(path, final_board=True).batches(9999, shuffle=False, augment=False))
    assert batch["ended"].all()
    assert {name: batch[name].dtype for name in ("ownership", "score", "ended")} == {
        "ownership": np.float32,
        "score": np.float32,
        "ended": np.bool_,
    }
    to_move = np.concatenate([game.to_move for game in games])
    komi = np.where(to_move == 0, -2.5, 2.5)
    np.testing.assert_array_equal(batch["ownership"].sum(axis=(1, 2)) + komi, batch["score"])
    np.testing.assert_array_equal(np.sign(batch["score"]), batch["value"])
    for game in games:
        first, second = area(GO.new_initial_state(game.moves.tolist()).board_rows())
        mine = batch["score"][batch["game"] == game.number]
        np.testing.assert_array_equal(mine * (1 - 2.0 * game.to_move), first - second - 2.5)


@pytest.mark.parametrize("game", [OTHELLO, FOUR, TIC])
def test_elsewhere_a_point_is_whose_stone_is_there(
    game: Any, tmp_path: Path, rng: random.Random
) -> None:
    games, path = written(tmp_path, rng, game)
    batch = next(Dataset(path, final_board=True).batches(9999, shuffle=False, augment=False))
    ends = [stones_at_the_end(game, one.moves) for one in games]
    for number, player, found in zip(
        batch["game"],
        np.concatenate([one.to_move for one in games]),
        batch["ownership"],
        strict=True,
    ):
        np.testing.assert_array_equal(found, ends[number] * (1 if player == 0 else -1))
    if game is OTHELLO:
        np.testing.assert_array_equal(batch["score"], batch["ownership"].sum(axis=(1, 2)))
    else:
        assert "score" not in batch


def test_games_that_were_not_played_to_their_end_have_no_target(
    tmp_path: Path, rng: random.Random
) -> None:
    whole = finished(GO, PLAIN, 0, rng)
    short = finished(GO, PLAIN, 2, rng, plies=6)
    lost = tuple(-one for one in whole.returns)
    backwards = whole.moves[::-1]
    games = [
        whole,
        replace(whole, number=1, resigned=0),
        short,
        replace(whole, number=3, returns=lost),  # as people score it, who took dead stones off
        replace(whole, number=4, moves=backwards, action=backwards),  # from another start
        replace(whole, number=5),
    ]
    path = write(tmp_path / "data", GO, PLAIN, games)
    batch = next(Dataset(path, final_board=True).batches(9999, shuffle=False))
    for number in range(6):
        mine = batch["game"] == number
        ended = number in (0, 5)
        assert (batch["ended"][mine] == ended).all()
        assert batch["ownership"][mine].any() == ended
        assert batch["score"][mine].any() == ended


@pytest.mark.parametrize("rows", ["top_down", "bottom_up"])
@pytest.mark.parametrize("game", [GO, FOUR])
def test_planes_and_ownership_turn_together(
    game: Any, rows: str, tmp_path: Path, rng: random.Random
) -> None:
    """A record of the last board itself: what it shows is what it teaches."""
    areas = ("own_area", "opp_area") if game is GO else ("own[0]", "opp[0]")
    spec = ModelSpec(planes=("own[0]", "opp[0]", *areas), rows=rows)
    states = play(game, rng)
    one = finished(game, spec, 0, rng)
    last = states[-1]
    bits = pyengine._core.encode_planes([last], spec)[0]
    single = {name: getattr(one, name)[:1] for name in columns_of(one)}
    single |= {"bits": bits, "to_move": np.array([len(states) % 2 == 0], np.uint8)}
    ended = replace(one, **single)
    moves = np.array(last.history(), np.uint16)
    ended = replace(ended, moves=moves, returns=tuple(last.returns()), action=moves[single["ply"]])
    dataset = Dataset(write(tmp_path / "data", game, spec, [ended]), final_board=True)
    for k in range(game.num_symmetries):
        batch = dataset.rows(np.array([0]), np.array([k], np.uint8))
        own, other, own_area, other_area = batch["planes"][0]
        owned = batch["ownership"][0]
        assert (owned[own > 0] == 1).all()
        assert (owned[other > 0] == -1).all()
        assert own.any()
        np.testing.assert_array_equal(owned, own_area - other_area)


def test_a_window_and_full_searches_alone_leave_the_targets_as_they_are(
    tmp_path: Path, rng: random.Random
) -> None:
    games = [finished(GO, PLAIN, number, rng, full=0.6) for number in range(9)]
    path = write(tmp_path / "data", GO, PLAIN, games, positions=120)
    every = Dataset(path, full_only=False, final_board=True)
    some = Dataset(path, window=5, final_board=True)
    wanted = {(int(row["game"]), int(row["ply"])): row for row in every}
    assert 0 < len(some) < len(every)
    for row in [*some, *pickle.loads(pickle.dumps(some))]:
        same = wanted[int(row["game"]), int(row["ply"])]
        np.testing.assert_array_equal(row["ownership"], same["ownership"])
        assert row["score"] == same["score"]


def test_nothing_changes_without_being_asked(tmp_path: Path, rng: random.Random) -> None:
    _, path = written(tmp_path, rng, OTHELLO)
    plain = Dataset(path).sample(5, np.random.default_rng(0))
    asked = Dataset(path, final_board=True).sample(5, np.random.default_rng(0))
    assert asked.keys() - plain.keys() == {"ownership", "score", "ended"}
    for name, column in plain.items():
        np.testing.assert_array_equal(column, asked[name])


def test_games_without_a_board_and_wrong_flags_are_refused(
    tmp_path: Path, rng: random.Random
) -> None:
    own = tmp_path / "own.py"
    own.write_text("from toy_games import Matches, ToyGame\nGAME = ToyGame(Matches)\n")
    game = pyengine.load_game(f"{own}:GAME")
    path = write(tmp_path / "data", game, ModelSpec(planes=("ones",)), [])
    with pytest.raises(ConfigError, match="final_board: expected data of a game"):
        Dataset(path, final_board=True)
    _, path = written(tmp_path / "other", rng, TIC)
    with pytest.raises(ConfigError, match="final_board: expected "):
        Dataset(path, final_board=1)  # type: ignore[arg-type]
