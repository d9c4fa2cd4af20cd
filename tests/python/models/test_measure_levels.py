"""models/measure_levels.py: matches between levels, written to levels.toml and resumed."""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path

import pytest

from conftest import ROOT


def test_results_are_written_beside_the_settings_and_matches_resume(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import measure_levels

    file = tmp_path / "levels.toml"
    shutil.copy(ROOT / "models" / "levels.toml", file)
    before = tomllib.loads(file.read_text())
    monkeypatch.setattr(measure_levels, "FILE", file)
    arguments = ["--game", "tic_tac_toe", "--games", "4", "--work", str(tmp_path / "work")]
    assert measure_levels.main(arguments) == 0
    written = tomllib.loads(file.read_text())
    games = [level["games"] for level in written["tic_tac_toe"]["levels"]]
    assert games == [4, 8, 4]
    for name in ("name", "simulations", "noise"):
        rows = [[row.get(name) for row in t["tic_tac_toe"]["levels"]] for t in (before, written)]
        assert rows[0] == rows[1]
    assert written["go"] == before["go"]
    records = {path.name: path.read_bytes() for path in (tmp_path / "work").glob("*.jsonl")}
    assert len(records) == 2
    assert measure_levels.main([*arguments, "--dry-run"]) == 0
    assert records == {p.name: p.read_bytes() for p in (tmp_path / "work").glob("*.jsonl")}
    assert "beginner" in capsys.readouterr().out
