"""What becomes of a run: a bundled network, its entry, its curve, and the tables of the README."""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

import pyengine
from conftest import ROOT
from pyengine.bundled import sha256_of
from pyengine.match.statistics import elo_of_score
from pyengine.train import RunFile
from pyengine.train.files import append_line, read_lines
from pyengine.train.rating import Rating
from pyengine.train.state import Best, RunFolder

pytest.importorskip("matplotlib", reason="the learning curve needs the extra plot")

MODELS = ROOT / "models"
SETTINGS = MODELS / "runs" / "tic_tac_toe.toml"

CHAINS = """
[game]
name = "tic_tac_toe"
[network]
blocks = 1
[gate]
mode = "latest"
against = {against}
games = {games}
simulations = 2
plies = 2
"""


@pytest.fixture(autouse=True)
def models_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    """The scripts lie beside the networks, in no package."""
    monkeypatch.syspath_prepend(str(MODELS))


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    """Return a run of tic-tac-toe in two sittings that ended with the bundled network."""
    made = RunFolder(tmp_path / "run")
    for place in (made.models, made.log):
        place.mkdir(parents=True)
    (made.path / "run.toml").write_bytes(SETTINGS.read_bytes())
    made.candidate(400).write_bytes((MODELS / "tic_tac_toe.onnx").read_bytes())
    sha = sha256_of(made.candidate(400))
    made.set_best(
        Best(name=made.candidate(400).name, sha256=sha, step=400, generation=2, elo=300.0)
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
    made.curve.write_text("".join(json.dumps(line) + "\n" for line in curve))
    events = ["begins", "interrupted", "begins", "minutes"]
    lines = [json.dumps({"time": 0.0, "event": event, "seconds": 0.0}) for event in events]
    (made.log / "run.jsonl").write_text("\n".join(lines) + "\n")
    made.set_seconds(61.4)
    return made


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    """Run the script and return its exit status."""
    import make_models

    monkeypatch.setattr(sys, "argv", ["make_models.py", "--game", "tic_tac_toe", *arguments])
    return int(make_models.main())


def test_a_finished_run_becomes_a_bundled_network(
    folder: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file, its entry with account and targets, the curve, and the table."""
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
    """What is bundled comes from the committed run file."""
    text = SETTINGS.read_text().replace("simulations = 48", "simulations = 49")
    (folder.path / "run.toml").write_text(text)
    arguments = ("--only-measure", "--directory", str(folder.path), "--out", str(tmp_path))
    assert run(monkeypatch, *arguments) == 2
    assert "simulations" in capsys.readouterr().err
    assert not (tmp_path / "tic_tac_toe.onnx").exists()


def test_a_run_without_a_network_is_refused(folder: RunFolder, tmp_path: Path) -> None:
    import make_models

    (folder.path / "best.json").unlink()
    with pytest.raises(pyengine.ConfigError, match="expected a network of the run, found none"):
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


def chains(tmp_path: Path, networks: int, against: int = 4, games: int = 6) -> RunFolder:
    """Return a run whose candidates met only the network ``against`` generations back."""
    made = RunFolder(tmp_path / "chains")
    made.begin(RunFile.from_toml(CHAINS.format(against=against, games=games)))
    for step in range(networks + 1):
        made.candidate(step).write_bytes((MODELS / "tic_tac_toe.onnx").read_bytes())
        counts = {"wins": 3, "draws": 0, "losses": 3}
        line = {"step": step, "generation": step, "games": step, "elo": 0.0, "accepted": True}
        if step:
            append_line(made.curve, {**line, **counts})
    return made


def test_matches_of_neighbours_join_chains_that_never_met(tmp_path: Path) -> None:
    import joining

    made = chains(tmp_path, 6)
    wanted = joining.pairs(made)
    assert sorted(wanted) == [
        (2, 1),
        (3, 1),
        (3, 2),
        (4, 2),
        (4, 3),
        (5, 3),
        (5, 4),
        (6, 4),
        (6, 5),
    ]
    told: list[str] = []
    joining.join(made, told.append)
    found = read_lines(made.joining)
    assert [(each["player"], each["opponent"]) for each in found] == wanted
    assert all(each["wins"] + each["draws"] + each["losses"] == 6 for each in found)
    assert any(text.startswith("joining match 9 of 9: ") for text in told)
    assert list(made.log.iterdir()) == []
    joining.join(made, told.append)
    assert read_lines(made.joining) == found


def test_joining_goes_on_where_ctrl_c_ended_it(tmp_path: Path) -> None:
    import joining

    made = chains(tmp_path, 3, games=40)
    asked = 0

    def interrupt(text: str) -> None:
        nonlocal asked
        asked += "match 2" in text and " 0 games" not in text
        if asked == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        joining.join(made, interrupt)
    assert len(read_lines(made.joining)) == 1
    (record,) = made.log.iterdir()
    kept = len(record.read_text().splitlines()) - 1
    assert 0 < kept < 40
    told: list[str] = []
    joining.join(made, told.append)
    assert int(told[0].split()[5]) >= kept
    assert told[0].startswith("joining match 2 of 3: ")
    assert len(read_lines(made.joining)) == 3


@pytest.mark.parametrize("against", [2, 3, 4, 5])
def test_of_a_long_run_some_neighbours_meet_and_all_chains_are_joined(
    tmp_path: Path, against: int
) -> None:
    import joining

    made = chains(tmp_path, 170, against)
    wanted = joining.pairs(made)
    assert len(wanted) <= 25
    assert max(newer for newer, _ in wanted) == 170
    assert min(older for _, older in wanted) < 20
    met = {(newer % against, older % against) for newer, older in wanted}
    together = {0}
    for _ in range(against):
        together |= {chain for two in met for chain in two if together & set(two)}
    assert together == set(range(against))


def test_a_run_whose_neighbours_have_met_is_left_alone(folder: RunFolder, tmp_path: Path) -> None:
    import joining

    made = chains(tmp_path, 5, against=1)
    assert joining.pairs(made) == []
    folder.candidate(0).write_bytes(b"")
    folder.candidate(200).write_bytes(b"")
    assert joining.pairs(folder) == []
    joining.join(chains(tmp_path / "without", 5, games=0), lambda text: None)
