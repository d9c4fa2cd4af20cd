"""The server that most tests ask, and a training run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import pyengine
from serving import Client

RUN = '[game]\nname = "tic_tac_toe"\n'
CURVE = {"step": 20, "generation": 1, "games": 40, "elo": 100.0, "accepted": True}
OPPONENT = {"step": 0, "wins": 8, "draws": 1, "losses": 1}


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with Client(threads=1, max_searches=3, memory=512 << 20) as client:
        yield client


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Return the folder of a run with a candidate, three losses and 60 games."""
    folder = tmp_path / "toes"
    for name in ("status", "checkpoints"):
        (folder / name).mkdir(parents=True)
    (folder / "run.toml").write_text(RUN)
    (folder / "curve.jsonl").write_text(json.dumps({**CURVE, "opponents": [OPPONENT]}) + "\n")
    losses = [{"step": step, "policy": 2.0, "value": 0.5} for step in range(10, 40, 10)]
    (folder / "checkpoints" / "log.jsonl").write_text("\n".join(map(json.dumps, losses)) + "\n")
    status = {"games": 40, "positions": 300, "positions_per_second": 12.5}
    (folder / "status" / "selfplay.json").write_text(json.dumps(status))
    pyengine.selfplay("tic_tac_toe", "uniform", games=60, out=folder / "data" / "tic_tac_toe")
    return folder
