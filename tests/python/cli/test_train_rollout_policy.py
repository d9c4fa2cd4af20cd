"""``pyengine train --rollout-policy``: what it writes, prints and refuses."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from pyengine import RolloutPolicy, SearchConfig, SelfPlayConfig, selfplay

pytest.importorskip("typer", reason="the extra cli is not installed")


def call(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pyengine.cli", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_policy_is_learnt_from_shards_and_searches_with_it(tmp_path: Path) -> None:
    config = SelfPlayConfig(search=SearchConfig(simulations=8), concurrent_games=4)
    selfplay("go(board_size=5)", "rollout", games=6, out=tmp_path / "games", config=config)
    file = tmp_path / "policy.npz"
    done = call("train", "--rollout-policy", tmp_path / "games", "-o", file, "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["games"], told["policy"]) == (5, str(file))
    assert told["held_out"]["log_likelihood"] < 0
    assert set(RolloutPolicy.load(file).features) == set(RolloutPolicy.FEATURES)
    found = call("search", "go(board_size=5)", "-m", file, "-n", 50, "--json")
    assert found.returncode == 0, found.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--rollout-policy", "."), "needs --output"),
        (("--rollout-policy", "nowhere", "-o", "p.npz"), "nowhere does not exist"),
        (("--rollout-policy", ".", "-o", "p.npz", "run.toml"), "is no run"),
        (("run.toml", "-o", "p.npz"), "need --rollout-policy"),
    ],
)
def test_wrong_use_is_exit_status_2(arguments: tuple[str, ...], said: str) -> None:
    done = call("train", *arguments)
    assert done.returncode == 2
    assert said in " ".join(done.stderr.split()).replace("│ ", "").replace(" │", "")
