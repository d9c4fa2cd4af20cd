"""Policy surprise: recorded where that is asked for, and positions drawn by it."""

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
from data_games import PLAIN, TIC, finished, write
from pyengine import ConfigError, DataError
from pyengine.data import Dataset, FinishedGame, Layout, convert
from pyengine.selfplay import SelfPlayer


def some(rng: random.Random, count: int = 12, first: int = 0) -> list[FinishedGame]:
    """Return games with made-up surprises; a third of the searches was fast."""
    games = [finished(TIC, PLAIN, first + number, rng, full=0.7) for number in range(count)]
    rand = np.random.default_rng(3)
    games = [replace(g, surprise=rand.exponential(size=len(g.ply))) for g in games]
    games[0] = replace(games[0], taught=np.arange(len(games[0].full), dtype=np.uint8) % 2)
    games[1] = replace(games[1], surprise=np.zeros(len(games[1].ply)))
    return games


def weights_of(game: FinishedGame, share: float) -> list[float]:
    """Return the definition, position by position."""
    taught = [
        bool(full) and (game.taught is None or bool(game.taught[at]))
        for at, full in enumerate(game.full)
    ]
    assert game.surprise is not None
    surprise = np.asarray(game.surprise).astype(np.float16).astype(float)
    total = sum(surprise[at] for at in range(len(taught)) if taught[at])
    if total == 0:
        return [1.0] * len(taught)
    return [
        1 - share + share * sum(taught) * surprise[at] / total if taught[at] else 1.0
        for at in range(len(taught))
    ]


def drawn(dataset: Dataset, size: int = 40_000) -> dict[tuple[int, int], int]:
    """Count which positions a sample has."""
    batch = dataset.sample(size, np.random.default_rng(1))
    keys, counts = np.unique(np.stack([batch["game"], batch["ply"]], 1), axis=0, return_counts=True)
    return {(int(game), int(ply)): int(n) for (game, ply), n in zip(keys, counts, strict=True)}


def assert_drawn_by(counts: dict[tuple[int, int], int], weights: dict[Any, float]) -> None:
    """Compare with what is expected, within five standard deviations of a count."""
    size, total = sum(counts.values()), sum(weights.values())
    for key, weight in weights.items():
        expected = size * weight / total
        assert abs(counts.get(key, 0) - expected) <= 5 * np.sqrt(expected) + 1e-9, key


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("full_only", [True, False])
def test_positions_are_drawn_by_their_surprise(
    share: float, full_only: bool, tmp_path: Path, rng: random.Random
) -> None:
    games = some(rng)
    path = write(tmp_path / "data", TIC, PLAIN, games, surprise=True, positions=40)
    dataset = Dataset(path, surprise_weight=share, full_only=full_only)
    weights = {
        (game.number, at): weight
        for game in games
        for at, weight in enumerate(weights_of(game, share))
        if game.full[at] or not full_only
    }
    assert_drawn_by(drawn(dataset), weights)
    assert_drawn_by(drawn(pickle.loads(pickle.dumps(dataset))), weights)


def test_weights_of_directories_and_moving_windows_hold(tmp_path: Path, rng: random.Random) -> None:
    first, second = some(rng), some(rng, 6, first=100)
    paths = [
        write(tmp_path / str(i), TIC, PLAIN, games, surprise=True, positions=20)
        for i, games in enumerate((first, second))
    ]
    dataset = Dataset(paths, surprise_weight=0.5, full_only=False, weights=[1, 3], window=[5, None])
    for kept in (first[-5:], first[-2:]):
        counts = drawn(dataset)
        weights = {}
        for games, share in ((kept, 1), (second, 3)):
            own = {(g.number, at): w for g in games for at, w in enumerate(weights_of(g, 0.5))}
            weights |= {key: share * w / sum(own.values()) for key, w in own.items()}
        assert_drawn_by(counts, weights)
        assert sum(counts.values()) == sum(counts.get(key, 0) for key in weights)
        dataset.set_window([2, None])


def test_rows_and_files_show_it(tmp_path: Path, rng: random.Random) -> None:
    games = some(rng)
    path = write(tmp_path / "data", TIC, PLAIN, games, surprise=True)
    batch = next(Dataset(path, full_only=False).batches(999, shuffle=False))
    expected = np.concatenate([np.asarray(game.surprise) for game in games])
    np.testing.assert_allclose(batch["surprise"], expected, rtol=1e-3)
    (file,) = convert(path, "npz", on_progress=lambda *_: None)
    np.testing.assert_array_equal(np.load(file)["surprise"], batch["surprise"])


def test_the_format_changes_with_it_alone(tmp_path: Path, rng: random.Random) -> None:
    games = some(rng)
    plain = write(tmp_path / "plain", TIC, PLAIN, games)
    path = write(tmp_path / "data", TIC, PLAIN, games, surprise=True)
    before, now = (json.loads((at / "manifest.json").read_text()) for at in (plain, path))
    assert (before["format"], now["format"]) == (3, 4)
    assert "surprise" not in before["layout"]
    assert now["layout"] == before["layout"] | {"surprise": True}
    assert "surprise" not in Dataset(plain)[0]
    assert Dataset(path).layout.dtype.itemsize == Dataset(plain).layout.dtype.itemsize + 2
    assert Layout.from_dict(now["layout"]) == Dataset(path).layout
    write(path, TIC, PLAIN, some(rng, 2, first=50), surprise=True)
    assert Dataset(path).games == 14


def test_other_formats_are_refused(tmp_path: Path, rng: random.Random) -> None:
    path = write(tmp_path / "data", TIC, PLAIN, some(rng), surprise=True)
    manifest = path / "manifest.json"
    text = manifest.read_text()
    manifest.write_text(text.replace('"format": 4', '"format": 5'))
    with pytest.raises(DataError, match="expected format 3 or 4, found 5"):
        Dataset(path)
    manifest.write_text(text.replace('"format": 4', '"format": 3'))
    with pytest.raises(DataError, match="expected format 4, found 3"):
        Dataset(path)
    manifest.write_text(text.replace('"surprise": true', '"surprise": 1'))
    with pytest.raises(DataError, match=r"layout\.surprise: expected true or false, found 1"):
        Dataset(path)


def test_what_does_not_fit_is_refused(tmp_path: Path, rng: random.Random) -> None:
    games = some(rng)
    plain = write(tmp_path / "plain", TIC, PLAIN, games)
    path = write(tmp_path / "data", TIC, PLAIN, games, surprise=True)
    with pytest.raises(ConfigError, match=r"surprise_weight: expected data that record .*plain"):
        Dataset(plain, surprise_weight=0.5)
    for wrong in (-0.1, 1.1, "half", True):
        with pytest.raises(ConfigError, match=r"surprise_weight: expected a number in \[0, 1\]"):
            Dataset(path, surprise_weight=wrong)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="surprise: expected False, found True"):
        Dataset([plain, path])
    with pytest.raises(ConfigError, match="expected data without surprise"):
        write(path, TIC, PLAIN, games)
    with pytest.raises(ConfigError, match="surprise: expected a bool, found 1"):
        write(tmp_path / "new", TIC, PLAIN, games, surprise=1)
    layout = Layout.of(TIC, PLAIN, surprise=True)
    n = len(games[0].ply)
    for column, message in (
        (None, "surprise: expected an array of numbers, found None"),
        (np.zeros(n + 1), "surprise of a game must have the shape"),
        (np.full(n, -1.0), "surprise must be numbers of at least 0"),
        (np.full(n, np.nan), "surprise must be numbers of at least 0"),
    ):
        with pytest.raises(ConfigError, match=message):
            replace(games[0], surprise=column).records(layout)


def test_self_play_records_the_divergence_from_the_priors(tmp_path: Path) -> None:
    search = pyengine.SearchConfig(simulations=20, threads=1, root_policy_temperature=1.5)
    config = pyengine.SelfPlayConfig(
        search=search, concurrent_games=4, record_surprise=True, full_search_fraction=0.6
    )
    pyengine.selfplay("tic_tac_toe", "uniform", games=8, out=tmp_path / "data", config=config)
    dataset = Dataset(tmp_path / "data", full_only=False, surprise_weight=0.5)
    batch = next(dataset.batches(999, shuffle=False, augment=False))
    policy, legal = batch["policy"].astype(float), 9 - batch["ply"]
    shares = np.where(policy > 0, policy * legal[:, None], 1.0)
    expected = np.where(batch["full"], (policy * np.log(shares)).sum(1), 0.0)
    np.testing.assert_allclose(batch["surprise"], expected, atol=2e-3)
    assert dataset.sample(5, np.random.default_rng(0))["planes"].shape[0] == 5


@pytest.mark.parametrize(
    ("before", "message"),
    [
        (False, "expected data with surprise .*, found records that have no surprise: write to"),
        (True, "expected data without surprise .*, found records that have surprise: write to"),
    ],
)
def test_a_directory_keeps_to_what_it_records(before: bool, message: str, tmp_path: Path) -> None:
    config = pyengine.SelfPlayConfig(
        search=pyengine.SearchConfig(simulations=10, threads=1), record_surprise=before
    )
    arguments: Any = {"games": 2, "out": tmp_path / "data"}
    pyengine.selfplay("tic_tac_toe", "uniform", config=config, **arguments)
    other = config.replace(record_surprise=not before)
    with pytest.raises(ConfigError, match=message):
        pyengine.selfplay("tic_tac_toe", "uniform", config=other, **arguments)


def test_games_have_it_whether_it_is_recorded_or_not() -> None:
    search = pyengine.SearchConfig(simulations=10, threads=1)
    player = SelfPlayer("tic_tac_toe", "uniform", pyengine.SelfPlayConfig(search=search))
    games: list[Any] = []
    player.run(2, lambda found: games.extend(found))
    assert all(len(game.surprise) == len(game.ply) for game in games)
