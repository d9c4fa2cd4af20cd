"""models/tactics.py: setting up third-party positions, and resuming a measurement."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def positions() -> Any:
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


def test_a_measurement_resumes(
    tmp_path: Path,
    shared: Callable[..., Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    import tactics

    monkeypatch.setenv("PYENGINE_SHARED", str(shared("oracles").parent))
    command = ["--quick", "--most", "100", "--only", "values", "--work", str(tmp_path)]
    for _ in range(2):
        assert tactics.main(command) == 0
        assert "values: go9x9_pyaq, 100 simulations: " in capsys.readouterr().out
    (record,) = tmp_path.iterdir()
    assert len(record.read_text().splitlines()) == 2
