"""``pyengine train``: rollout policies, and the messages about a run."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from commands import printed, run
from pyengine import SearchConfig, SelfPlayConfig, selfplay
from pyengine.cli import train as train_command
from pyengine.cli import train_progress
from pyengine.eval import RolloutPolicy
from pyengine.train import RunReport
from pyengine.train.loop.run import RunProgress
from pyengine.train.loop.runfile import RunFile
from pyengine.train.loop.state import Best


def test_a_policy_learnt_from_shards_can_search(tmp_path: Path) -> None:
    config = SelfPlayConfig(search=SearchConfig(simulations=8), concurrent_games=4)
    selfplay("go(board_size=5)", "rollout", games=6, out=tmp_path / "games", config=config)
    file = tmp_path / "policy.npz"
    report = json.loads(
        printed("train", "--rollout-policy", tmp_path / "games", "-o", file, "--json")
    )
    assert (report["games"], report["policy"]) == (5, str(file))
    assert report["held_out"]["log_likelihood"] < 0
    assert set(RolloutPolicy.load(file).features) == set(RolloutPolicy.FEATURES)
    assert printed("search", "go(board_size=5)", "-m", file, "-n", 50, "--json")


def progress(best: Best | None, step: int = 0, **changes: Any) -> RunProgress:
    values: dict[str, Any] = {
        "seconds": 66.0, "games": 20, "positions": 400, "positions_per_second": 8.0, "step": step,
        "policy": None, "value": None, "best": best, "window": 0, "gate": "", "restarts": 0,
        "finishing": False,
    }  # fmt: skip
    return RunProgress(**(values | changes))


def network(step: int) -> Best:
    return Best(name="candidate.onnx", sha256="0", step=step, generation=step, elo=50.0)


PLAYOUTS = Best(name="rollout", sha256=None, step=0, generation=0, elo=0.0)


@pytest.mark.parametrize(
    ("best", "verdict", "reached"),
    [
        (
            network(0),
            "",
            "no candidate has passed the gate: the best network is still the untrained",
        ),
        (PLAYOUTS, "", "no candidate has beaten rollout, which plays the games"),
        (network(1), "", "generation 1, +50 Elo"),
        (replace(network(2), elo=-20.0), "", "generation 2 is not stronger than the first player"),
        (network(1), "step 9 scored 40 % ...: no progress", "+50 Elo; step 9 scored 40 %"),
    ],
)
def test_a_report_presents_only_progress_as_progress(
    best: Best, verdict: str, reached: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = progress(best, 2, verdict=verdict)
    train_command._print(RunReport(reason="minutes", progress=shown, folder=tmp_path), False)
    text = capsys.readouterr().out
    assert text.startswith("reached the limit of minutes: 20 games")
    assert reached in text


#: A candidate of 100 steps needs 500 positions, and the first step 450.
SHORT = RunFile.from_toml(
    """
    [run]
    minutes = 2
    [game]
    name = "connect_four"
    [train]
    batch_size = 20
    [window]
    minimum_positions = 450
    samples_per_position = 4
    full_only = false
    [gate]
    every_steps = 100
    """
)


@pytest.mark.parametrize(
    ("changes", "label", "text"),
    [
        ({}, "learner waits", "for 50 more positions (minimum_positions = 450)"),
        (
            {"usable": 450, "step": 95},
            "learner waits",
            "for 30 more positions (samples_per_position",
        ),
        ({"usable": 450, "step": 50}, "learner waits", ""),
        ({"positions_per_second": 0.0}, "forecast", "first candidate (step 100, 500 positions)"),
        ({}, "forecast", "first candidate in at least 12 s (step 100, 500 positions); 100 games"),
        ({"samples_per_second": 100.0}, "forecast", "first candidate in about 26 s (step 100"),
        ({"step": 100}, "forecast", "100 games in about 3 min"),
        ({"step": 100, "games": 200, "positions": 4000}, "forecast", "1,000 games in about 33 min"),
        ({"positions_per_second": 0.0}, "warning", ""),
        ({}, "warning", ""),
        ({"positions_per_second": 0.5}, "warning", "2 minutes are too short for a candidate"),
        (
            {"positions_per_second": 1.5},
            "warning",
            "2 minutes are too short for the candidate of step",
        ),
        ({"positions_per_second": 0.5, "step": 100}, "warning", ""),
        ({"verdict": "step 9 scored 40 %"}, "last match", "step 9 scored 40 %"),
    ],
)
def test_progress_shows_what_is_awaited_and_when(
    changes: dict[str, Any], label: str, text: str
) -> None:
    facts = dict(train_progress.facts(progress(network(0), **{"usable": 400} | changes), SHORT))
    assert facts.get(label, "").startswith(text)
    assert bool(facts.get(label)) == bool(text)


def test_a_limit_that_is_too_short_is_reported_at_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with train_progress.train_progress(SHORT) as show:
        for rate in (0.0, 0.0, 0.5, 0.5):
            show(progress(network(0), usable=400, positions_per_second=rate))
        lines = "".join(capsys.readouterr().err.split("\n")).split("minutes 1.1 of 2")
    assert len(lines) == 3  # the first state, and the first with the warning
    assert "too short" in lines[1]


def test_a_quick_run_needs_a_game_and_minutes() -> None:
    for arguments in ([], ["connect_four"], ["--minutes", 5], ["mnk", "--minutes", 5, "--resume"]):
        assert "--quick requires a game and --minutes" in run("train", "--quick", *arguments).err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("xiangqi", 'unknown game "xiangqi"'),
        ("mnk", "mnk-quick already holds a run: resume it"),
        ("mnk --directory other", "other must be new, empty or hold a run"),
    ],
)
def test_a_quick_run_that_cannot_begin_is_refused_before_measuring(
    arguments: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for file in ("runs/mnk-quick/run.toml", "other/file"):
        Path(file).parent.mkdir(parents=True)
        Path(file).touch()
    done = run("train", "--quick", "--minutes", 5, *arguments.split())
    assert (done.status, words in done.words) == (2, True)
    assert "measuring" not in done.err


@pytest.mark.parametrize("game", ["connect_four", "mnk(rows=4)"])
def test_a_game_without_a_run_file_is_told_about_quick_runs(
    game: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / game).mkdir()  # such as the project of the game
    assert "for a game: --quick" in run("train", game).words


def test_a_quick_run_is_shown_as_a_run_file(monkeypatch: pytest.MonkeyPatch) -> None:
    measured = pytest.importorskip("pyengine.train.loop.measured", reason="needs PyTorch")
    monkeypatch.setattr(measured, "_SECONDS", 0.05)
    shown = run("train", "tic_tac_toe", "--quick", "--minutes", 2, "--show")
    assert (shown.status, RunFile.from_toml(shown.out).run.minutes) == (0, 2)
