"""models/make_models.py: a run becomes a network, a manifest entry, a curve and README tables."""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

import pyengine
from conftest import ROOT
from pyengine.base.files import sha256_of
from pyengine.match.statistics import elo_of_score
from pyengine.train.loop.rating import Rating
from pyengine.train.loop.state import Best, RunFolder

pytest.importorskip("matplotlib", reason="the learning curve needs the extra plot")

MODELS = ROOT / "models"
SETTINGS = MODELS / "runs" / "tic_tac_toe.toml"


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    """Return a resumed run of tic-tac-toe that ended with the bundled network."""
    folder = RunFolder(tmp_path / "run")
    for directory in (folder.models, folder.log):
        directory.mkdir(parents=True)
    (folder.path / "run.toml").write_bytes(SETTINGS.read_bytes())
    folder.candidate(400).write_bytes((MODELS / "tic_tac_toe.onnx").read_bytes())
    sha = sha256_of(folder.candidate(400))
    folder.set_best(
        Best(name=folder.candidate(400).name, sha256=sha, step=400, generation=2, elo=300.0)
    )
    curve = [
        {"step": step, "generation": generation, "games": 10 * step, "elo": 0.0, "accepted": taken}
        | {"opponents": [{"step": other, "wins": wins, "draws": 4, "losses": 96 - wins}]}
        | {"wins": wins, "draws": 4, "losses": 96 - wins, "score": 0.6}
        for step, generation, other, wins, taken in (
            (200, 1, 0, 80, True),
            (300, 2, 200, 40, False),
            (400, 2, 200, 70, True),
        )
    ]
    folder.curve.write_text("".join(json.dumps(line) + "\n" for line in curve))
    events = ["begins", "interrupted", "begins", "minutes"]
    lines = [json.dumps({"time": 0.0, "event": event, "seconds": 0.0}) for event in events]
    (folder.log / "run.jsonl").write_text("\n".join(lines) + "\n")
    folder.set_seconds(61.4)
    return folder


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    """Run the script and return its exit status."""
    import make_models

    monkeypatch.setattr(sys, "argv", ["make_models.py", "--game", "tic_tac_toe", *arguments])
    return int(make_models.main())


def test_a_finished_run_becomes_a_bundled_network(
    folder: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "README.md").write_bytes((MODELS / "README.md").read_bytes())
    arguments = ("--only-measure", "--directory", str(folder.path), "--out", str(out))
    assert run(monkeypatch, *arguments) == 0
    entry: dict[str, Any] = tomllib.loads((out / "manifest.toml").read_text())["tic_tac_toe"]
    assert entry["sha256"] == sha256_of(out / "tic_tac_toe.onnx")
    assert entry["games"] == ["tic_tac_toe"]
    made = entry["made"]
    assert made["command"] == "python models/make_models.py --game tic_tac_toe"
    assert (made["seconds"], made["sittings"], made["step"]) == (61, 2, 400)
    fit = [elo_of_score(82.25 / 100.5), elo_of_score(72.25 / 100.5)]
    assert made["curve"] == [[2000, round(fit[0])], [4000, round(sum(fit))]]
    assert made["elo_above_first"] == round(sum(fit)) != 300
    assert [row["reached"] for row in entry["targets"]] == [True, True]
    assert (out / "curves" / "tic_tac_toe.svg").stat().st_size > 1000
    assert "### tic_tac_toe\n\n1 minute in 2 sittings" in (out / "README.md").read_text()


def test_a_run_with_other_settings_is_refused(
    folder: RunFolder,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = SETTINGS.read_text().replace("simulations = 48", "simulations = 49")
    (folder.path / "run.toml").write_text(text)
    arguments = ("--only-measure", "--directory", str(folder.path), "--out", str(tmp_path))
    assert run(monkeypatch, *arguments) == 2
    assert "simulations" in capsys.readouterr().err
    assert not (tmp_path / "tic_tac_toe.onnx").exists()


def test_a_run_resumed_with_other_rates_is_refused(
    folder: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import make_models

    committed = tmp_path / "committed.toml"
    monkeypatch.setattr(make_models, "run_file", lambda name: committed)
    text = SETTINGS.read_text()
    for path, rates in ((committed, "[2e-3]"), (folder.path / "run.toml", "[1e-3]")):
        path.write_text(text.replace('"constant"', f'"steps"\nrates = {rates}'))
    with pytest.raises(pyengine.ConfigError, match=r"expected the rates of .*committed\.toml"):
        make_models.bundle("tic_tac_toe", folder, tmp_path)


def test_a_run_without_a_network_is_refused(folder: RunFolder, tmp_path: Path) -> None:
    import make_models

    (folder.path / "best.json").unlink()
    with pytest.raises(pyengine.ConfigError, match="has no network"):
        make_models.bundle("tic_tac_toe", folder, tmp_path)


def test_a_long_curve_keeps_its_last_point(folder: RunFolder) -> None:
    import make_models

    line = {"accepted": True}
    folder.curve.write_text(
        "".join(json.dumps({**line, "games": n, "step": n}) + "\n" for n in range(1, 101))
    )
    fit: dict[int, Rating | None] = {n: Rating(elo=1.0, error=0.0) for n in range(1, 101)}
    points = make_models.curve_points(folder, {**fit, 3: None})
    assert len(points) <= 40
    assert points[-1] == [100, 1]
    assert points == sorted(points)
