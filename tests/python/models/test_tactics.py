"""models/tactics.py: setting up third-party positions, and resuming a measurement."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

MODELS = Path(__file__).resolve().parents[3] / "models"


@pytest.fixture
def positions(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(MODELS))
    from measure import positions

    return positions


def test_positions_are_set_up_exactly(positions: Any, shared: Callable[..., Path]) -> None:
    folder = shared("oracles", "03-go-tactics")
    boards = {}
    for file in ("genmove_upto13x13.jsonl", "fuego_value_tests.jsonl"):
        for case in map(json.loads, (folder / file).read_text().splitlines()):
            boards[case["id"]] = (case["board"], "BW".index(case["to_move"]))
    cases = [*positions.go_moves(folder.parents[1]), *positions.go_values(folder.parents[1])]
    assert len(cases) == 221
    for case in cases:
        board, mover = boards[case.name]
        rows = "".join(case.state.board_rows())
        assert (rows, case.state.current_player()) == (board, mover)
        assert case.right <= set(case.state.legal_actions())
    assert len(list(positions.gomoku_wins(folder.parents[1]))) == 6


def test_a_measurement_resumes(tmp_path: Path, shared: Callable[..., Path]) -> None:
    folder = shared("oracles").parent
    command = [sys.executable, str(MODELS / "tactics.py"), "--quick", "--most", "100"]
    command += ["--only", "values", "--work", str(tmp_path)]
    environment = {**os.environ, "PYENGINE_SHARED": str(folder)}
    for _ in range(2):
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=False, timeout=120
        )
        assert done.returncode == 0, done.stderr
        assert "values: go9x9_pyaq, 100 simulations: " in done.stdout
    (record,) = tmp_path.iterdir()
    assert len(record.read_text().splitlines()) == 2
