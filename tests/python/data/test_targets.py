"""Targets from the rest of a game (replies, values, last boards), and sampling by surprise."""

from __future__ import annotations

import json
import pickle
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyengine
from data_games import PLAIN, TIC, all_rows, cut, finished, play, some, write
from pyengine import ConfigError, ModelSpec
from pyengine.data import Dataset, FinishedGame, Layout
from pyengine.selfplay import SelfPlayer

GO = pyengine.load_game("go(board_size=5,komi=2.5)")
OTHELLO = pyengine.load_game("othello(board_size=4)")
FOUR = pyengine.load_game("connect_four(rows=4,columns=5)")
HORIZONS = (1.0, 6.0, 50.0)
STONES = {"X": 1, "O": -1, ".": 0}


def written(tmp_path: Path, rng: random.Random, game: Any = TIC, spec: ModelSpec = PLAIN) -> Any:
    """Return games and their directory of several shards; 30 % of the searches are fast."""
    games = [finished(game, spec, number, rng, plies=20, full=0.7) for number in range(12)]
    games[3] = replace(games[3], taught=np.arange(len(games[3].full), dtype=np.uint8) % 2)
    return games, write(tmp_path / "data", game, spec, games, positions=40)


def rows_of(dataset: Dataset) -> dict[tuple[int, int], Any]:
    """Return the rows of a dataset by game and ply."""
    return {(int(row["game"]), int(row["ply"])): row for row in dataset}


# Replies and short-term values


def value_ahead(game: FinishedGame, at: int, horizon: float) -> float:
    """Compute the short-term value term by term."""
    decay = horizon / (1 + horizon)
    player, total, left, root = game.to_move[at], 0.0, 1.0, 0.0
    for later in range(at, len(game.ply)):
        root = game.root_value[later] * (1 if game.to_move[later] == player else -1)
        total += left * (1 - decay) * root
        left *= decay
    return float(total + left * (root if game.cut_short else game.returns[player]))


def values_ahead(game: FinishedGame, *horizons: float) -> list[list[float]]:
    """Return the short-term values for each position."""
    return [[value_ahead(game, at, h) for h in horizons] for at in range(len(game.ply))]


def test_the_reply_is_the_policy_of_the_next_position(tmp_path: Path, rng: random.Random) -> None:
    games, path = written(tmp_path, rng)
    rows = rows_of(Dataset(path, full_only=False, reply=True))
    assert len(rows) == sum(len(game.ply) for game in games)
    for game in games:
        for at in range(len(game.ply)):
            row, is_last = rows[game.number, at], at + 1 == len(game.ply)
            taught = game.taught is None or is_last or game.taught[at + 1]
            if is_last or (not taught and game.full[at + 1]):
                assert not row["replied"]
                assert not row["reply"].any()
            else:
                assert row["replied"]
                np.testing.assert_array_equal(row["reply"], rows[game.number, at + 1]["policy"])


def test_symmetries_and_the_spec_apply_to_the_reply(tmp_path: Path, rng: random.Random) -> None:
    spec = ModelSpec(policy_rows="bottom_up", pass_index=0)
    _, path = written(tmp_path, rng, GO, spec)
    dataset = Dataset(path, full_only=False, reply=True)
    numbers = np.arange(len(dataset) - 1)
    numbers = numbers[dataset.rows(numbers)["replied"]]
    for k in range(GO.num_symmetries):
        symmetries = np.full(len(numbers), k, np.uint8)
        now, then = dataset.rows(numbers, symmetries), dataset.rows(numbers + 1, symmetries)
        np.testing.assert_array_equal(now["reply"], then["policy"])


def test_short_term_values_are_weighted_means(tmp_path: Path, rng: random.Random) -> None:
    games, path = written(tmp_path, rng, GO)
    games += [finished(GO, PLAIN, 0, rng)] * 2  # two consecutive games with the same number
    games.append(finished(GO, PLAIN, 20, rng, plies=4, cut_short=True))
    write(path, GO, PLAIN, games[-3:])
    dataset = Dataset(path, full_only=False, horizons=HORIZONS)
    values = dataset.rows(range(len(dataset)))["short_values"]
    assert values.dtype == np.float32
    expected = [row for game in games for row in values_ahead(game, *HORIZONS)]
    np.testing.assert_allclose(values, expected, atol=1e-5)


@pytest.mark.parametrize(
    ("column", "values", "replied"),
    [
        ("root_value", [0.5, 0.5, -1.0, 0.5, 0.5], [0, 2, 3]),  # a fast search of a loss
        ("to_move", [0, 0, 1, 1, 1], [1]),  # a second move of the same player
    ],
)
def test_some_positions_have_no_reply(
    column: str, values: list[float], replied: list[int], tmp_path: Path, rng: random.Random
) -> None:
    game = finished(TIC, PLAIN, 0, rng, plies=5, full=0.0, returns=(1.0, -1.0))
    game = replace(game, **{column: np.array(values, getattr(game, column).dtype)})
    path = write(tmp_path, TIC, PLAIN, [game])
    batch = next(
        Dataset(path, reply=True, horizons=(2.0,), full_only=False).batches(9, shuffle=False)
    )
    assert np.flatnonzero(batch["replied"]).tolist() == replied
    np.testing.assert_allclose(batch["short_values"], values_ahead(game, 2.0), atol=1e-5)


# Last boards


def test_ownership_and_score_of_a_known_game_of_go(tmp_path: Path) -> None:
    game = pyengine.load_game("go(board_size=5,komi=0.5)")
    state = game.new_initial_state()
    for name in ["b5", "d5", "b4", "d4", "b3", "d3", "b2", "d2", "b1", "d1", "pass", "pass"]:
        state.apply_action(state.string_to_action(name))
    assert state.is_terminal()
    moves = np.array(state.history(), np.uint16)
    one = finished(game, PLAIN, 0, random.Random(0))
    one = cut(one, len(moves), moves=moves, action=moves, returns=(-1.0, 1.0))
    black, white, *_ = Dataset(write(tmp_path, game, PLAIN, [one]), final_board=True)
    np.testing.assert_array_equal(black["ownership"], [[1, 1, 0, -1, -1]] * 5)
    np.testing.assert_array_equal(white["ownership"], [[-1, -1, 0, 1, 1]] * 5)
    assert (black["score"], white["score"], bool(black["ended"])) == (-0.5, 0.5, True)


def test_ownership_and_komi_add_up_to_the_score(tmp_path: Path, rng: random.Random) -> None:
    games = [finished(GO, PLAIN, number, rng) for number in range(4)]
    dataset = Dataset(write(tmp_path, GO, PLAIN, games, positions=40), final_board=True)
    batch = next(dataset.batches(9999, shuffle=False, augment=False))
    assert batch["ended"].all()
    types = {name: batch[name].dtype for name in ("ownership", "score", "ended")}
    assert types == {"ownership": np.float32, "score": np.float32, "ended": np.bool_}
    komi = np.where(np.concatenate([game.to_move for game in games]) == 0, -2.5, 2.5)
    np.testing.assert_array_equal(batch["ownership"].sum(axis=(1, 2)) + komi, batch["score"])
    np.testing.assert_array_equal(np.sign(batch["score"]), batch["value"])


@pytest.mark.parametrize("game", [OTHELLO, FOUR, TIC])
def test_in_other_games_a_point_belongs_to_the_player_with_a_stone_on_it(
    game: Any, tmp_path: Path, rng: random.Random
) -> None:
    games = [finished(game, PLAIN, number, rng) for number in range(4)]
    dataset = Dataset(write(tmp_path, game, PLAIN, games), final_board=True)
    batch = next(dataset.batches(9999, shuffle=False, augment=False))
    expected: list[Any] = []
    for one in games:
        rows = game.new_initial_state(one.moves.tolist()).board_rows()
        board = np.array([[STONES[stone] for stone in row] for row in rows])
        expected += [board * (1 if player == 0 else -1) for player in one.to_move]
    np.testing.assert_array_equal(batch["ownership"], expected)
    if game is OTHELLO:
        np.testing.assert_array_equal(batch["score"], batch["ownership"].sum(axis=(1, 2)))
    else:
        assert "score" not in batch


def test_games_not_played_to_their_end_have_no_target(tmp_path: Path, rng: random.Random) -> None:
    whole = finished(GO, PLAIN, 0, rng)
    first, second = whole.returns
    backwards = whole.moves[::-1]
    games = [
        whole,
        replace(whole, number=1, resigned=0),
        finished(GO, PLAIN, 2, rng, plies=6),
        replace(whole, number=3, returns=(second, first)),  # another result, as in human games
        replace(whole, number=4, moves=backwards, action=backwards),  # inconsistent moves
        replace(whole, number=5),
    ]
    dataset = Dataset(write(tmp_path, GO, PLAIN, games), final_board=True)
    batch = next(dataset.batches(9999, shuffle=False))
    for number in range(6):
        mine, ended = batch["game"] == number, number in (0, 5)
        assert (batch["ended"][mine] == ended).all()
        assert batch["ownership"][mine].any() == ended
        assert batch["score"][mine].any() == ended


@pytest.mark.parametrize("rows", ["top_down", "bottom_up"])
@pytest.mark.parametrize("game", [GO, FOUR])
def test_symmetries_apply_to_planes_and_ownership(
    game: Any, rows: str, tmp_path: Path, rng: random.Random
) -> None:
    """Record the last board itself, so that its planes equal its targets."""
    areas = ("own_area", "opp_area") if game is GO else ("own[0]", "opp[0]")
    spec = ModelSpec(planes=("own[0]", "opp[0]", *areas), rows=rows)
    states = play(game, rng)
    last = states[-1]
    bits = pyengine._core.encode_planes([last], spec)[0]
    to_move = np.array([len(states) % 2 == 0], np.uint8)
    moves = np.array(last.history(), np.uint16)
    changes: dict[str, Any] = {"bits": bits, "to_move": to_move, "action": moves[:1]}
    changes |= {"moves": moves, "returns": tuple(last.returns())}
    ended = cut(finished(game, spec, 0, rng), 1, **changes)
    dataset = Dataset(write(tmp_path, game, spec, [ended]), final_board=True)
    for k in range(game.num_symmetries):
        batch = dataset.rows(np.array([0]), np.array([k], np.uint8))
        own, other, own_area, other_area = batch["planes"][0]
        owned = batch["ownership"][0]
        assert (owned[own > 0] == 1).all()
        assert (owned[other > 0] == -1).all()
        assert own.any()
        np.testing.assert_array_equal(owned, own_area - other_area)


def test_final_board_is_refused_for_games_without_a_board(tmp_path: Path) -> None:
    file = tmp_path / "matches.py"
    file.write_text("from toy_games import Matches, ToyGame\nGAME = ToyGame(Matches)\n")
    game = pyengine.load_game(f"{file}:GAME")
    path = write(tmp_path / "data", game, ModelSpec(planes=("ones",)), [])
    with pytest.raises(ConfigError, match="final_board: expected data of a built-in game"):
        Dataset(path, final_board=True)


# All targets

ALL_TARGETS: dict[str, Any] = {"reply": True, "horizons": HORIZONS, "final_board": True}
NAMES = ("reply", "replied", "short_values", "ownership", "score", "ended")


def test_targets_do_not_depend_on_window_or_full_only(tmp_path: Path, rng: random.Random) -> None:
    _, path = written(tmp_path, rng, GO)
    every = rows_of(Dataset(path, full_only=False, **ALL_TARGETS))
    dataset = Dataset(path, window=7, **ALL_TARGETS)
    assert 0 < len(dataset) < len(every)
    for row in pickle.loads(pickle.dumps(dataset)):
        same = every[int(row["game"]), int(row["ply"])]
        for name in NAMES:
            np.testing.assert_array_equal(row[name], same[name])
    list(dataset)
    dataset.set_window(3)
    assert set(dataset._targets._known) == {piece.path for piece in dataset.pieces}
    assert rows_of(dataset).keys() < every.keys()


def test_all_ways_to_read_return_the_requested_targets(tmp_path: Path, rng: random.Random) -> None:
    _, path = written(tmp_path, rng, GO)
    dataset, plain = Dataset(path, **ALL_TARGETS), Dataset(path)
    drawn, same = (data.sample(5, np.random.default_rng(0)) for data in (plain, dataset))
    for batch in (same, next(dataset.batches(5)), dataset.rows(np.arange(5))):
        assert batch.keys() - drawn.keys() == set(NAMES)
        assert batch["short_values"].shape == (5, 3)
        assert batch["reply"].shape == batch["policy"].shape
    for name, column in drawn.items():
        np.testing.assert_array_equal(column, same[name])


# Surprise


def surprising(rng: random.Random, count: int = 12, first: int = 0) -> list[FinishedGame]:
    """Return games with made-up surprises; 30 % of the searches are fast."""
    rand = np.random.default_rng(3)
    games = some(rng, count, first, full=0.7)
    games = [replace(g, surprise=rand.exponential(size=len(g.ply))) for g in games]
    games[0] = replace(games[0], taught=np.arange(len(games[0].full), dtype=np.uint8) % 2)
    games[1] = replace(games[1], surprise=np.zeros(len(games[1].ply)))
    return games


def weights_of(game: FinishedGame, share: float) -> list[float]:
    """Compute the weights position by position."""
    n = len(game.full)
    taught = game.full.astype(bool) & (np.ones(n, bool) if game.taught is None else game.taught > 0)
    surprise = np.asarray(game.surprise).astype(np.float16).astype(float)
    total = surprise[taught].sum()
    if total == 0:
        return [1.0] * n
    drawn = 1 - share + share * taught.sum() * surprise / total
    return list(np.where(taught, drawn, 1.0))


def assert_drawn_by(dataset: Dataset, weights: dict[Any, float], size: int = 20_000) -> None:
    """Assert that counts in a sample are within five standard deviations of expectation."""
    batch = dataset.sample(size, np.random.default_rng(1), augment=False)
    keys, counts = np.unique(np.stack([batch["game"], batch["ply"]], 1), axis=0, return_counts=True)
    seen = {(int(game), int(ply)): int(n) for (game, ply), n in zip(keys, counts, strict=True)}
    assert seen.keys() <= weights.keys()
    for key, weight in weights.items():
        expected = size * weight / sum(weights.values())
        assert abs(seen.get(key, 0) - expected) <= 5 * np.sqrt(expected) + 1e-9, key


@pytest.mark.parametrize(("share", "full_only"), [(0.0, True), (0.5, False), (1.0, True)])
def test_positions_are_sampled_by_surprise(
    share: float, full_only: bool, tmp_path: Path, rng: random.Random
) -> None:
    games = surprising(rng)
    path = write(tmp_path / "data", TIC, PLAIN, games, surprise=True, positions=40)
    dataset = Dataset(path, surprise_weight=share, full_only=full_only)
    weights = {
        (game.number, at): weight
        for game in games
        for at, weight in enumerate(weights_of(game, share))
        if game.full[at] or not full_only
    }
    assert_drawn_by(dataset, weights)
    assert_drawn_by(pickle.loads(pickle.dumps(dataset)), weights)


def test_surprise_respects_weights_and_windows(tmp_path: Path, rng: random.Random) -> None:
    first, second = surprising(rng), surprising(rng, 6, first=100)
    paths = [
        write(tmp_path / str(i), TIC, PLAIN, games, surprise=True, positions=20)
        for i, games in enumerate((first, second))
    ]
    dataset = Dataset(paths, surprise_weight=0.5, full_only=False, weights=[1, 3], window=[5, None])
    for newest in (first[-5:], first[-2:]):
        weights = {}
        for games, share in ((newest, 1), (second, 3)):
            local = {(g.number, at): w for g in games for at, w in enumerate(weights_of(g, 0.5))}
            weights |= {key: share * w / sum(local.values()) for key, w in local.items()}
        assert_drawn_by(dataset, weights)
        dataset.set_window([2, None])


def test_recorded_surprise_appears_in_rows_and_format(tmp_path: Path, rng: random.Random) -> None:
    games = surprising(rng)
    paths = [tmp_path / "plain", tmp_path / "data"]
    for surprise, path in enumerate(paths):
        write(path, TIC, PLAIN, games, surprise=bool(surprise))
    before, now = (json.loads((path / "manifest.json").read_text()) for path in paths)
    assert (before["format"], now["format"]) == (3, 4)
    assert "surprise" not in before["layout"]
    assert now["layout"] == before["layout"] | {"surprise": True}
    plain, dataset = map(Dataset, paths)
    assert "surprise" not in plain[0]
    assert Layout.from_dict(now["layout"]) == dataset.layout
    assert dataset.layout.dtype.itemsize == plain.layout.dtype.itemsize + 2
    batch = all_rows(paths[1])
    expected = np.concatenate([np.asarray(game.surprise) for game in games])
    np.testing.assert_allclose(batch["surprise"], expected, rtol=1e-3)
    with pytest.raises(ConfigError, match=r"surprise_weight: expected data that record .*plain"):
        Dataset(paths[0], surprise_weight=0.5)
    with pytest.raises(ConfigError, match="surprise: expected False, got True"):
        Dataset(paths)


def test_self_play_records_the_divergence_from_the_priors(tmp_path: Path) -> None:
    search = pyengine.SearchConfig(simulations=20, threads=1, root_policy_temperature=1.5)
    config = pyengine.SelfPlayConfig(
        search=search, concurrent_games=4, record_surprise=True, full_search_fraction=0.6
    )
    pyengine.selfplay("tic_tac_toe", "uniform", games=8, out=tmp_path / "data", config=config)
    dataset = Dataset(tmp_path / "data", full_only=False, surprise_weight=0.5)
    batch = all_rows(tmp_path / "data")
    policy, legal = batch["policy"].astype(float), 9 - batch["ply"]
    shares = np.where(policy > 0, policy * legal[:, None], 1.0)
    expected = np.where(batch["full"], (policy * np.log(shares)).sum(1), 0.0)
    np.testing.assert_allclose(batch["surprise"], expected, atol=2e-3)
    assert dataset.sample(5, np.random.default_rng(0))["planes"].shape[0] == 5
    games: list[FinishedGame] = []
    unrecorded = config.replace(record_surprise=False)
    SelfPlayer("tic_tac_toe", "uniform", unrecorded).run(2, games.extend)
    assert all(game.surprise is not None for game in games)


def test_a_directory_cannot_mix_data_with_and_without_surprise(
    tmp_path: Path, rng: random.Random
) -> None:
    for before in (False, True):
        path = write(tmp_path / str(before), TIC, PLAIN, surprising(rng), surprise=before)
        with pytest.raises(ConfigError, match=f"set record_surprise to {before}"):
            write(path, TIC, PLAIN, [], surprise=not before)
