"""``pyengine train``: rollout policies, and the messages about a run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commands import printed
from pyengine import SearchConfig, SelfPlayConfig, selfplay
from pyengine.cli import train as train_command
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


def progress(best: Best | None, step: int = 0) -> RunProgress:
    return RunProgress(
        seconds=66.0, games=20, positions=400, positions_per_second=9.0, step=step, policy=None,
        value=None, best=best, window=0, gate="", restarts=0, finishing=False,
    )  # fmt: skip


def network(step: int) -> Best:
    return Best(name="candidate.onnx", sha256="0", step=step, generation=step, elo=0.0)


def test_a_run_without_an_improvement_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for best in (network(0), network(1)):
        report = RunReport(reason="minutes", progress=progress(best, 2), folder=tmp_path)
        train_command._print(report, as_json=False)
    first, second = capsys.readouterr().out.split("candidate.onnx\n")[:2]
    assert first.startswith("reached the limit of minutes: 20 games")
    assert "the best network is still the untrained one" in first
    assert "generation 1, +0 Elo" in second


def test_a_waiting_learner_shows_how_many_positions_it_needs() -> None:
    run = RunFile.from_toml('[game]\nname = "connect_four"\n[window]\nminimum_positions = 1234\n')
    facts = dict(train_command._facts(progress(network(0)), run))
    assert "starts at 1,234 positions of full searches" in facts["learner"]
    assert "starts" not in dict(train_command._facts(progress(network(0), 1), run))["learner"]
