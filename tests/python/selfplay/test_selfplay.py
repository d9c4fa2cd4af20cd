"""Self-play through the public API, including interruptions and failures."""

from __future__ import annotations

import json
import os
import signal
import threading
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyengine
from pyengine.data import CUT_SHORT, FinishedGame, ShardWriter
from pyengine.selfplay import SelfPlayer, SelfPlayInterrupted
from toy_games import ToyGame, ToyState


def small(**changes: Any) -> pyengine.SelfPlayConfig:
    """Return settings for fast games."""
    search = pyengine.SearchConfig(simulations=20, threads=2, memory_limit=64 << 20)
    return pyengine.SelfPlayConfig(search=search, concurrent_games=8).replace(**changes)


def play(game: Any, evaluator: Any, config: pyengine.SelfPlayConfig, number: int) -> list[Any]:
    """Return the finished games of a player."""
    player = SelfPlayer(game, evaluator, config)
    games: list[Any] = []
    player.run(number, games.extend)
    return games + player.take()


@pytest.mark.parametrize("evaluator", ["uniform", "rollout", "connect4"])
def test_games_become_a_dataset(tmp_path: Path, evaluator: str) -> None:
    report = pyengine.selfplay(
        "connect_four",
        evaluator,
        games=2,
        out=tmp_path,
        config=small(resign_threshold=None),
    )
    data = pyengine.Dataset(tmp_path)
    assert (report.games, report.open_games) == (2, 0)
    assert len(data) == report.positions > 2 * 6
    assert report.first_wins + report.draws + report.second_wins == 2
    row = data[0]
    assert set(np.unique(row["value"])) <= {-1.0, 0.0, 1.0}
    assert row["policy"].sum() == pytest.approx(1.0)
    assert "2 games" in str(report)
    assert max(map(len, str(report).splitlines())) <= 80
    json.dumps(report.to_dict())


def test_a_second_run_adds_different_games(tmp_path: Path) -> None:
    for _ in range(2):
        pyengine.selfplay("tic_tac_toe", "uniform", games=10, out=tmp_path, config=small())
    lines = [
        json.loads(line)
        for path in sorted(tmp_path.glob("*.jsonl"))
        for line in path.read_text().splitlines()
    ]
    assert sorted(line["number"] for line in lines) == list(range(20))
    first = {tuple(line["moves"]) for line in lines if line["number"] < 10}
    second = {tuple(line["moves"]) for line in lines if line["number"] >= 10}
    assert first != second


def test_records_match_the_positions_of_the_game() -> None:
    game = pyengine.load_game("othello(board_size=6)")
    games = play(game, "uniform", small(resign_threshold=None), 3)
    assert len(games) == 3
    for finished in games:
        state = game.new_initial_state()
        assert finished.ply.tolist() == list(range(len(finished.moves)))
        assert np.array_equal(finished.action, finished.moves)
        for ply, move in enumerate(finished.moves):
            bits, fill, _ = pyengine._core.encode_planes([state], pyengine.ModelSpec())
            assert np.array_equal(bits[0], finished.bits[ply])
            assert np.array_equal(fill[0], finished.fill[ply])
            assert set(np.flatnonzero(finished.visits[ply])) <= set(state.legal_actions())
            state.apply_action(int(move))
        assert state.is_terminal()
        assert tuple(state.returns()) == finished.returns


def test_first_moves_vary_and_later_moves_have_the_most_visits() -> None:
    search = small().search.replace(solver=False)
    config = small(search=search, noise=False, temperature_moves=2, resign_threshold=None)
    games = play("connect_four", "rollout", config, 20)
    assert len({tuple(game.moves[:2]) for game in games}) > 5
    for game in games:
        late = game.ply >= 2
        best = game.visits[late].max(axis=1)
        chosen = game.visits[late][np.arange(late.sum()), game.action[late]]
        assert np.array_equal(best, chosen)


@pytest.mark.parametrize(
    ("games", "rows", "expected"),
    [
        (None, 8, (768, 128)),  # the defaults
        (10, 8, (10, 8)),
        (10_000, 8, (10_000, 256)),
        (None, 64, (384, 64)),
    ],
)
def test_on_a_device_concurrent_games_determine_the_batch_size(
    games: int | None, rows: int, expected: tuple[int, int]
) -> None:
    config = small(concurrent_games=games, search=small().search.replace(batch_size=rows))
    sized = config.sized(2)
    assert (sized.concurrent_games, sized.search.batch_size) == expected
    without = config.sized(0)
    assert (without.concurrent_games, without.search.batch_size) == (games or 64, rows)
    assert sized.sized(2) == sized


def test_self_play_on_a_device_fills_its_batches_by_default() -> None:
    modelled = pytest.importorskip("pyengine.benchmarks.modelled")
    device = modelled.ModelledDevice(latency=5e-3)  # long enough to fill a batch
    config = pyengine.SelfPlayConfig(search=pyengine.SearchConfig(simulations=1, threads=2))
    player = SelfPlayer("connect_four", device, config)
    assert player.config.concurrent_games == 768
    player.run(768, lambda games: [None for _ in games])
    assert player.report().batch_fill > 64
    assert SelfPlayer("connect_four", "uniform", config).config.concurrent_games == 64


def test_a_second_run_starts_with_the_resignation_threshold_of_the_first(tmp_path: Path) -> None:
    config = small(resign_threshold=-0.1, resign_off_fraction=1.0, resign_false_positives=0.0)
    first = pyengine.selfplay("connect_four", "rollout", games=30, out=tmp_path, config=config)
    assert first.played_on == 30
    assert first.resign_threshold is not None
    assert first.resign_threshold < -0.1
    with ShardWriter(tmp_path, pyengine.load_game("connect_four"), pyengine.ModelSpec()) as writer:
        known = writer.played_on()
    player = SelfPlayer("connect_four", "rollout", config, played_on=known)
    assert player.report().played_on == 30
    assert player.report().resign_threshold == first.resign_threshold
    second = pyengine.selfplay("connect_four", "rollout", games=1, out=tmp_path, config=config)
    assert second.played_on == 31
    with pytest.raises(pyengine.ConfigError, match="played_on: expected numbers"):
        SelfPlayer("connect_four", "rollout", config, played_on=[-2.0])


class Seen(ToyState):
    """An endless game; the observation is the number of moves."""

    def observation_tensor(self) -> np.ndarray[Any, Any]:
        return np.full((1, 1, self.actions), len(self.moves), np.float32)


def test_an_endless_game_is_cut_short_as_a_draw(tmp_path: Path) -> None:
    report = pyengine.selfplay(
        ToyGame(Seen),
        "uniform",
        games=5,
        out=tmp_path,
        config=small(max_plies=12, concurrent_games=2),
        spec=pyengine.ModelSpec(planes=("observation",)),
    )
    assert (report.games, report.draws, report.cut_short, report.plies) == (5, 5, 5, 60)
    assert "5 cut short" in str(report)
    rows = np.load(tmp_path / "shard-000000.npy")
    assert set(rows["value"]) == {0.0}
    assert (rows["flags"] & CUT_SHORT).all()
    assert not pyengine.Dataset(tmp_path)[0]["decided"]


def test_a_game_that_ends_at_max_plies_has_its_result(tmp_path: Path) -> None:
    report = pyengine.selfplay(
        "go(board_size=3,max_game_length=6)",
        "uniform",
        games=8,
        out=tmp_path,
        config=small(max_plies=6, resign_threshold=None),
    )
    assert (report.games, report.cut_short, report.draws) == (8, 0, 0)
    data = pyengine.Dataset(tmp_path, full_only=False, final_board=True)
    assert max(len(line.moves) for piece in data.pieces for line in piece.lines()) == 6
    batch = next(data.batches(100))
    assert batch["decided"].all()
    assert batch["ended"].all()
    assert (batch["value"] != 0).all()


@pytest.mark.parametrize("evaluator", ["connect4", "rollout"])
def test_one_thread_is_deterministic(evaluator: str, tmp_path: Path) -> None:
    def moves(name: str, seed: int) -> list[Any]:
        config = small(seed=seed, concurrent_games=2, resign_threshold=None)
        config = config.replace(search=config.search.replace(threads=1, simulations=4))
        out = tmp_path / name
        pyengine.selfplay("connect_four", evaluator, games=2, out=out, config=config)
        pieces = pyengine.Dataset(out, full_only=False).pieces
        return sorted((line.number, line.moves) for piece in pieces for line in piece.lines())

    first = moves("first", 1)
    assert moves("again", 1) == first
    assert moves("other", 2) != first


def test_false_from_on_progress_ends_self_play_early(tmp_path: Path) -> None:
    report = pyengine.selfplay(
        "othello",
        "rollout",
        games=100_000,
        out=tmp_path,
        config=small(),
        on_progress=lambda report: False,
    )
    assert report.games < 100_000
    assert len(pyengine.Dataset(tmp_path, full_only=False)) == report.positions


def test_finished_games_are_written_if_the_evaluator_fails(tmp_path: Path) -> None:
    calls = count()

    def evaluate(planes: np.ndarray[Any, Any]) -> Any:
        if next(calls) == 400:
            raise RuntimeError("out of order")
        return np.zeros((len(planes), 9), np.float32), np.zeros(len(planes), np.float32)

    with pytest.raises(pyengine.EvaluationError, match="out of order"):
        pyengine.selfplay("tic_tac_toe", evaluate, games=10_000, out=tmp_path, config=small())
    assert len(pyengine.Dataset(tmp_path, full_only=False)) > 0


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
def test_ctrl_c_closes_the_shard(tmp_path: Path) -> None:
    config = small(search=small().search.replace(simulations=200))
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(SelfPlayInterrupted) as stopped:
        pyengine.selfplay("tic_tac_toe", "rollout", games=10**6, out=tmp_path, config=config)
    data = pyengine.Dataset(tmp_path, full_only=False)
    assert stopped.value.report.games == data.games > 0


def test_ctrl_c_while_games_are_passed_on_loses_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    created = 0

    def interrupted(**fields: Any) -> FinishedGame:
        nonlocal created
        created += 1
        if created in (3, 30):  # the second time, the last games are being written
            signal.raise_signal(signal.SIGINT)
        return FinishedGame(**fields)

    monkeypatch.setattr("pyengine.selfplay.player.FinishedGame", interrupted)
    search = small().search.replace(simulations=300, solver=False)
    config = small(concurrent_games=64, search=search)
    with pytest.raises(SelfPlayInterrupted) as stopped:
        pyengine.selfplay("tic_tac_toe", "uniform", games=10**6, out=tmp_path, config=config)
    assert created >= 30
    written = pyengine.Dataset(tmp_path, full_only=False).games
    assert stopped.value.report.games == written == created
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_while_the_last_games_are_taken_does_not_stop_the_next_run() -> None:
    player = SelfPlayer("tic_tac_toe", "uniform", small())
    taken: list[Any] = []

    def take(games: Any) -> None:
        taken.extend(games)
        if len(taken) == 8:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        player.run(8, take, every=3600.0)
    assert player.run(8, taken.extend)
    assert len(taken) == 16


def test_a_plain_search_plays_different_games_with_noise() -> None:
    search = pyengine.SearchConfig(simulations=16, symmetry="none", threads=1)
    config = pyengine.SelfPlayConfig(search=search, resign_threshold=None)
    assert (config.search.dirichlet_fraction, config.search.temperature) == (0.25, 1.0)
    games = play("connect_four", "uniform", config, 20)
    assert len({tuple(game.moves) for game in games}) == 20


def test_explicit_search_settings_are_preserved_and_noise_can_be_disabled() -> None:
    search = pyengine.SearchConfig(simulations=7, dirichlet_fraction=0.4, temperature=0.5)
    config = pyengine.SelfPlayConfig(search=search)
    assert config.search == search
    assert pyengine.SelfPlayConfig().search.simulations == 800
    assert config.replace(noise=False).search.dirichlet_fraction == 0.0


def test_a_failed_start_leaves_the_directory_usable(tmp_path: Path) -> None:
    with pytest.raises(pyengine.ModelError):
        pyengine.selfplay("othello", "connect4", games=1, out=tmp_path / "new", config=small())
    assert not (tmp_path / "new").exists()
    game, spec = pyengine.load_game("othello"), pyengine.ModelSpec()
    with ShardWriter(tmp_path, game, spec):
        pass
    report = pyengine.selfplay("tic_tac_toe", "uniform", games=2, out=tmp_path, config=small())
    assert len(pyengine.Dataset(tmp_path)) == report.positions
    with pytest.raises(pyengine.ConfigError, match="another game or spec"):
        pyengine.selfplay("othello", "uniform", games=1, out=tmp_path, config=small())


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("concurrent_games", 0),
        ("noise", 1),
        ("full_search_fraction", 0.0),
        ("resign_threshold", -2.0),
        ("search", pyengine.SearchConfig(seconds=1.0)),
        ("search", "fast"),
        ("opening_random_moves", -1),
    ],
)
def test_the_error_names_a_setting_out_of_range(field: str, value: Any) -> None:
    with pytest.raises(pyengine.ConfigError, match=field):
        small(**{field: value})


def test_presets_match_the_papers() -> None:
    zero = pyengine.SelfPlayConfig.alphago_zero("go")
    assert zero.search.simulations == 1600
    assert zero.search.dirichlet_alpha == 0.03
    assert zero.search.dirichlet_fraction == 0.25
    assert (zero.search.fpu, zero.search.fpu_value) == ("value", 0.0)
    assert zero.search.c_puct_base is None
    assert (zero.temperature_moves, zero.resign_off_fraction) == (30, 0.1)
    fast = pyengine.SelfPlayConfig.fast("othello")
    assert (fast.full_search_fraction, fast.forced_playouts) == (0.25, 2.0)
    assert pyengine.SelfPlayConfig.from_dict(fast.to_dict()) == fast
