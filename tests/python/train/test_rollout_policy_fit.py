"""Fitting a rollout policy to games."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pyengine import (
    ConfigError,
    Dataset,
    IllegalActionError,
    ModelError,
    SearchConfig,
    SelfPlayConfig,
    load_game,
    selfplay,
)
from pyengine.eval import RolloutPolicy
from pyengine.train import RolloutFitProgress, rollout_policy
from pyengine.train.rollout_policy_fit import (
    PATTERNS,
    _Examples,
    _Weights,
    pattern_classes,
)

GO = load_game("go(board_size=7,superko=simple)")


def teacher() -> RolloutPolicy:
    """Return a policy that prefers captures and nearby replies and avoids the first line."""
    numbers = np.arange(PATTERNS)
    edge = ((numbers >> 2 & 3) == 3) | ((numbers >> 6 & 3) == 3)
    edge |= ((numbers >> 8 & 3) == 3) | ((numbers >> 12 & 3) == 3)
    features = {"capture_stone": 2.0, "capture_chain": 3.0, "distance_2": 1.0, "escape": 1.5}
    features |= {"self_atari_stone": -2.0, "self_atari_chain": -2.0}
    return RolloutPolicy(np.where(edge, -1.5, 0.0), np.zeros(PATTERNS), features)


def games_of(policy: RolloutPolicy, count: int, seed: int = 0) -> list[list[int]]:
    """Return games played by a policy."""
    rng = np.random.default_rng(seed)
    states = [GO.new_initial_state() for _ in range(count)]
    live = list(states)
    while live:
        for state, row in zip(live, policy.probabilities(live), strict=True):
            chances = row.astype(float)
            state.apply_action(int(rng.choice(len(row), p=chances / chances.sum())))
        live = [state for state in live if not state.is_terminal()]
    return [state.history() for state in states]


@pytest.fixture(scope="module")
def played() -> list[list[int]]:
    return games_of(teacher(), 150)


def test_the_weights_of_the_playing_policy_are_recovered(
    played: list[list[int]], tmp_path: Path
) -> None:
    seen: list[RolloutFitProgress] = []
    file = tmp_path / "policy.npz"
    fit = rollout_policy(played, file, game=GO, on_progress=seen.append)
    assert [progress.epoch for progress in seen] == list(range(1, 9))
    assert seen[-1].log_likelihood > seen[0].log_likelihood
    scores = fit.held_out
    assert scores.log_likelihood > scores.uniform_log_likelihood + 0.2
    assert scores.top1 > 1.5 * scores.uniform_top1
    for name, weight in teacher().features.items():
        if abs(weight) >= 2:
            assert fit.policy.features[name] * np.sign(weight) > abs(weight) / 3, name
    assert RolloutPolicy.load(file).digest == fit.policy.digest


def test_the_gradient_matches_finite_differences(played: list[list[int]]) -> None:
    examples = _Examples([(GO, played[0]), (GO, played[1])], pattern_classes(), "games")
    batch = next(examples.batches(None))
    weights = _Weights()
    weights.all[:] = np.random.default_rng(1).normal(0, 0.3, len(weights.all))
    _, gradient = weights.gradient(batch)
    largest = np.argsort(-np.abs(gradient))[:40]
    for index in largest:
        values = []
        for step in (1e-4, -1e-4):
            moved = _Weights()
            moved.all[:] = weights.all
            moved.all[index] += step
            values.append(moved.gradient(batch)[0])
        assert gradient[index] == pytest.approx((values[0] - values[1]) / 2e-4, rel=1e-3, abs=1e-7)


def test_symmetric_patterns_share_a_class() -> None:
    classes = pattern_classes()
    assert np.array_equal(classes[classes], classes)
    # Burnside's lemma; a reflection fixes two points and swaps three pairs.
    assert len(np.unique(classes)) == (4**8 + 2 * 4**2 + 4**4 + 4 * 4**5) // 8
    up, left = 1 << 2, 1 << 6
    assert classes[up] == classes[left] != classes[1]


def test_games_are_read_from_shards_datasets_sgf_and_states(tmp_path: Path) -> None:
    config = SelfPlayConfig(search=SearchConfig(simulations=8), concurrent_games=4)
    selfplay(GO, "rollout", games=4, out=tmp_path / "shards", config=config)
    quiet = lambda _: None  # noqa: E731
    by_folder = rollout_policy(tmp_path / "shards", epochs=1, on_progress=quiet)
    by_dataset = rollout_policy(Dataset(tmp_path / "shards"), epochs=1, on_progress=quiet)
    assert by_folder.policy.digest == by_dataset.policy.digest
    states = [GO.new_initial_state(m) for m in games_of(teacher(), 3)]
    assert rollout_policy(states, epochs=1, on_progress=quiet).games == 2
    pytest.importorskip("sgfmill")
    for number in range(3):
        (tmp_path / f"{number}.sgf").write_text("(;GM[1]SZ[7]RE[B+1];B[dd];W[cc];B[ec])")
    by_sgf = rollout_policy(
        [tmp_path / f"{number}.sgf" for number in range(3)], game=GO, epochs=1, on_progress=quiet
    )
    assert (by_sgf.games, by_sgf.positions, by_sgf.held_out.positions) == (2, 6, 3)


@pytest.mark.parametrize(
    ("games", "options", "error", "message"),
    [
        ([[24]], {"game": GO}, ConfigError, "expected at least 2, got 1"),
        ([[24], [24]], {}, ConfigError, "got \\[24\\]"),
        ([[49], [49]], {"game": GO}, ConfigError, "not passes"),
        ([[24, 24], [24, 24]], {"game": GO}, IllegalActionError, "24|D4"),
        ([[24], [24]], {"game": "gomoku"}, ModelError, "expected a game of Go"),
        ([[24], [24]], {"game": GO, "epochs": 0}, ConfigError, "epochs"),
        ([[24], [24]], {"game": GO, "held_out": 1.0}, ConfigError, "held_out"),
        ([[24], [24]], {"game": GO, "prior": float("nan")}, ConfigError, "prior"),
        (
            [GO.new_initial_state([1]), load_game("go").new_initial_state([1])],
            {"game": GO},
            ConfigError,
            "expected go",
        ),
        ([GO.state_from_board(["......."] * 6 + ["X......"])] * 2, {}, ConfigError, "by hand"),
        (5, {"game": GO}, ConfigError, "got 5"),
        (GO.new_initial_state([1]), {}, ConfigError, "expected at least 2, got 1"),
        ([["D4"], ["D4"]], {"game": GO}, ConfigError, "expected an int"),
        ("nowhere.sgf", {"game": GO}, ConfigError, "nowhere.sgf"),
        ("nowhere.sgf", {}, ConfigError, "does not exist"),
        (__file__, {}, ConfigError, r"expected game=\.\.\. \(--game\) for SGF files"),
    ],
)
def test_invalid_games_and_arguments_are_refused(
    games: Any, options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        rollout_policy(games, **options)


def test_the_error_for_sgf_files_without_usable_games_gives_the_reason(tmp_path: Path) -> None:
    pytest.importorskip("sgfmill")
    (tmp_path / "1.sgf").write_text("(;GM[1]SZ[19]RE[B+1];B[dd];W[cc])")
    (tmp_path / "2.sgf").write_text("(;GM[1]SZ[7];B[dd];W[cc])")
    with pytest.raises(
        ConfigError, match=r"(?s)expected SGF .* of go.*got 0 games.*skipped 1.*1\.sgf"
    ):
        rollout_policy(tmp_path, game=GO)


def test_a_folder_without_games_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no game")
    with pytest.raises(ConfigError, match="has neither shards nor SGF files"):
        rollout_policy(tmp_path)


def test_an_unwritable_output_is_refused_before_fitting(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="does not exist"):
        rollout_policy([[24], [24]], tmp_path / "none" / "policy.npz", game=GO)


def test_a_callback_ends_a_fit_and_a_fit_is_reproducible(played: list[list[int]]) -> None:
    seen: list[RolloutFitProgress] = []

    def stop(progress: RolloutFitProgress) -> bool:
        seen.append(progress)
        return False

    fits = [rollout_policy(played[:10], game=GO, on_progress=stop) for _ in range(2)]
    assert [progress.epoch for progress in seen] == [1, 1]
    assert fits[0].policy.digest == fits[1].policy.digest
