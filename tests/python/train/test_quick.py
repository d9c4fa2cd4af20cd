"""Settings fitted to a few minutes."""

from __future__ import annotations

import pytest

pytest.importorskip("pydantic", reason="training needs pydantic: the extra train")

import pyengine
from pyengine.train import RunFile
from pyengine.train.loop.quick import GameFacts, Rates, quick_run

FACTS = GameFacts(
    name="connect_four",
    title="connect_four-quick",
    planes=("own[0]", "opp[0]", "ones"),
    grid=False,
    plies=21.0,
)


def fitted(minutes: float, speed: float = 1.0, playouts: float = 5e5) -> RunFile:
    """Return the run of some minutes on a machine of some relative speed."""
    rates = Rates(playouts=playouts, simulations=2e4 * speed, samples=3e3 * speed)
    return RunFile.from_toml(quick_run(minutes, FACTS, rates))


def simulations(run: RunFile) -> int:
    return run.selfplay_config(0).search.simulations or 0


@pytest.mark.parametrize("speed", [0.001, 0.1, 1.0, 100.0])
@pytest.mark.parametrize("minutes", [0.01, 1, 5, 15, 60, 600])
def test_settings_of_any_minutes_and_speed_are_valid(minutes: float, speed: float) -> None:
    run = fitted(minutes, speed)
    assert run.run.minutes == minutes
    assert simulations(run) >= 16


@pytest.mark.parametrize("minutes", [5, 15, 60])
def test_a_run_has_time_for_several_candidates(minutes: float) -> None:
    run = fitted(minutes)
    total = run.train.optimiser.total_steps
    assert total is not None
    assert total / run.gate.every_steps == pytest.approx(12, rel=0.1)
    assert total * run.train.learner.batch_size <= 3e3 * 60 * minutes
    positions = run.gate.every_steps * run.train.learner.batch_size
    assert run.window.minimum_positions * run.window.samples_per_position < positions


def test_a_slow_machine_searches_less_per_move() -> None:
    assert simulations(fitted(5, 0.1)) < simulations(fitted(5, 10))


@pytest.mark.parametrize(
    ("playouts", "first"), [(5e5, "rollout"), (1e4, "rollout"), (5e3, "random")]
)
def test_the_first_games_use_playouts_unless_they_are_slower_than_a_network(
    playouts: float, first: str
) -> None:
    assert fitted(5, playouts=playouts).selfplay.first == first


def test_faster_playouts_search_more_before_there_is_a_network() -> None:
    many, few = (fitted(5, playouts=rate).selfplay.first_simulations for rate in (5e5, 1e4))
    assert many == 4 * simulations(fitted(5))
    assert few == simulations(fitted(5))


def test_a_quick_run_of_a_game_is_measured_and_valid() -> None:
    pytest.importorskip("torch", reason="training needs PyTorch: the extra train")
    pytest.importorskip("onnx", reason="export needs onnx: the extra train")
    from pyengine.train.loop import measured

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measured, "_SECONDS", 0.05)
        run = RunFile.from_toml(measured.measured_run("mnk(rows=4,columns=4,k=3)", 5))
    assert (run.train.network.kind, run.run.name) == ("convolutional", "mnk-quick")
    with pytest.raises(pyengine.ConfigError, match=r"run\.minutes: expected a number > 0"):
        measured.measured_run("tic_tac_toe", -1.0)
    assert run.game.planes == ("own[0]", "opp[0]", "legal", "first_to_move", "ones")
