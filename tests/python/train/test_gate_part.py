"""The gate's part: evaluates candidates, and what remains after interruptions."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT
from pyengine.base.files import sha256_of
from pyengine.train import GateConfig, GateResult, RunFile
from pyengine.train.json_files import append_line, read_lines
from pyengine.train.loop.curve import rated
from pyengine.train.loop.part import Part
from pyengine.train.loop.part_gate import work
from pyengine.train.loop.state import Best, RunFolder
from run_games import curve_line, run_of

PLAYOUTS = Best(name="rollout", sha256=None, step=0, generation=0, elo=0.0)


class Watched(Part):
    """A gate that records its statuses and stops during a match once ``stop`` says so."""

    def __init__(self, folder: RunFolder, stop: Callable[[], bool] = lambda: False) -> None:
        super().__init__("gate", folder, folder.run())
        self.statuses: list[dict[str, Any]] = []
        self._should_stop = stop

    def publish(self, values: dict[str, Any], *, now: bool = False) -> None:
        self.statuses.append(values)
        if values.get("games") and self._should_stop():
            self.stop()


def run_with(*, selfplay: dict[str, Any] | None = None, **gate: Any) -> RunFile:
    """Return a run of tic-tac-toe with these settings of the gate and of self-play."""
    gate = {"against": 1, "games": 8, "simulations": 2, **gate}
    return run_of(selfplay=selfplay or {}, gate=gate)


def begin(tmp_path: Path, **settings: Any) -> RunFolder:
    """Begin the run of :func:`run_with`; all its networks are the bundled one."""
    folder = RunFolder(tmp_path / "run")
    folder.begin(run_with(**settings))
    write(folder, 0)
    folder.set_best(network(folder, 0, generation=0))
    return folder


def network(folder: RunFolder, step: int, generation: int, elo: float = 0.0) -> Best:
    """Return the network of a candidate's file."""
    path = folder.candidate(step)
    return Best(name=path.name, sha256=sha256_of(path), step=step, generation=generation, elo=elo)


def write(folder: RunFolder, step: int) -> None:
    """Write a candidate."""
    folder.candidate(step).write_bytes((ROOT / "models" / "tic_tac_toe.onnx").read_bytes())


def evaluate(folder: RunFolder) -> list[dict[str, Any]]:
    """Run the gate on all candidates and return the curve."""
    watch(folder)
    return read_lines(folder.curve)


def watch(folder: RunFolder) -> list[dict[str, Any]]:
    """Run the gate on all candidates and return its statuses."""
    part = Watched(folder)
    part.finish()
    work(part)
    return part.statuses


def interrupt(folder: RunFolder, record: str = "match") -> None:
    """Run the gate until a match with this word in the name of its record has begun."""
    work(Watched(folder, lambda: any(record in name for name in records(folder))))


def records(folder: RunFolder) -> list[str]:
    return sorted(file.name for file in folder.log.glob("match-*.jsonl"))


def games_of(line: dict[str, Any]) -> int:
    """Return the number of games in a line of the curve, or against one of its opponents."""
    return int(line["wins"] + line["draws"] + line["losses"])


def best_of(folder: RunFolder) -> Best:
    best = folder.best()
    assert best is not None
    return best


def test_a_candidate_plays_the_previous_network_and_an_older_one(tmp_path: Path) -> None:
    folder = begin(tmp_path, mode="latest", against=3)
    for step in (100, 200, 300, 400, 500):
        write(folder, step)
        curve = evaluate(folder)
    opponents = [[(o["step"], games_of(o)) for o in line["opponents"]] for line in curve]
    assert opponents == [
        [(0, 8)],
        [(100, 4), (0, 4)],
        [(200, 4), (0, 4)],
        [(300, 4), (100, 4)],
        [(400, 4), (200, 4)],
    ]
    assert [line["generation"] for line in curve] == [1, 2, 3, 4, 5]
    assert [games_of(line) for line in curve] == [8] * 5
    assert folder.best() == network(folder, 500, generation=5, elo=curve[-1]["elo"])
    last = rated(folder)[500]
    assert last is not None
    assert curve[-1]["elo"] == pytest.approx(last.elo)
    assert curve[-1]["elo_low"] == pytest.approx(last.elo - 1.96 * last.error)
    assert list(folder.log.glob("match-*")) == []


@pytest.mark.parametrize("mode", ["latest", "gate"])
def test_an_interrupted_evaluation_adds_no_line_and_is_resumed(tmp_path: Path, mode: str) -> None:
    folder = begin(tmp_path, mode=mode, games=40)
    write(folder, 100)
    curve = evaluate(folder)
    write(folder, 200)
    interrupt(folder)
    assert read_lines(folder.curve) == curve
    assert [name[:14] for name in records(folder)] == ["match-00000200"]
    recorded = len((folder.log / records(folder)[0]).read_text().splitlines()) - 1
    assert 0 < recorded < 40
    before = curve[0]["step"] * curve[0]["accepted"]
    assert best_of(folder).step == (200 if mode == "latest" else before)

    write(folder, 300)
    progress = [values["games"] for values in watch(folder) if values.get("step") == 200]
    assert min(progress) >= recorded
    curve = read_lines(folder.curve)
    assert [line["step"] for line in curve] == [100, 200, 300]
    assert games_of(curve[1]) == 40 or not curve[1]["accepted"]
    if mode == "latest":
        assert [line["opponents"][0]["step"] for line in curve] == [0, 100, 200]
        assert folder.candidates() == [0, 100, 200, 300]
    assert records(folder) == []


def test_an_interrupted_match_restarts_if_the_threads_have_changed(tmp_path: Path) -> None:
    folder = begin(tmp_path, mode="latest", games=40)
    write(folder, 100)
    interrupt(folder)
    assert len(records(folder)) == 1
    before = folder.run()
    folder.set_run(run_with(mode="latest", games=40, threads=2))
    folder.run().refuse_changes(before)
    assert games_of(evaluate(folder)[0]) == 40
    assert records(folder) == []


def test_a_network_is_evaluated_after_its_gate_was_killed(tmp_path: Path) -> None:
    folder = begin(tmp_path, mode="latest")
    write(folder, 100)
    evaluate(folder)
    write(folder, 200)
    folder.set_best(network(folder, 200, generation=2, elo=best_of(folder).elo))
    assert folder.evaluated() == 100
    for step in (100, 150):  # from earlier gates
        (folder.log / f"match-{step:08d}-0.jsonl").write_text("")
    write(folder, 150)
    write(folder, 300)
    curve = evaluate(folder)
    assert [line["step"] for line in curve] == [100, 200, 300]
    assert [line["generation"] for line in curve] == [1, 2, 3]
    assert [line["opponents"][0]["step"] for line in curve] == [0, 100, 200]
    assert records(folder) == []


def test_a_gate_killed_after_writing_a_line_completes_the_evaluation(tmp_path: Path) -> None:
    folder = begin(tmp_path, mode="gate")
    write(folder, 50)
    write(folder, 100)
    append_line(folder.curve, curve_line(100, 0, 6, 4) | {"elo": 70.0})
    evaluate(folder)
    assert best_of(folder) == network(folder, 100, generation=1, elo=70.0)
    assert folder.candidates() == [0, 100]


def test_the_nearest_older_generation_replaces_a_missing_one(tmp_path: Path) -> None:
    folder = begin(tmp_path, mode="latest", against=2)
    for step in (100, 300):
        write(folder, step)
        append_line(folder.curve, curve_line(step, 0, 5, 5))
        folder.set_best(network(folder, step, generation=step // 100))
    write(folder, 400)
    assert [o["step"] for o in evaluate(folder)[-1]["opponents"]] == [300, 100]
    folder.candidate(300).unlink()
    folder.candidate(400).unlink()
    write(folder, 500)
    assert [o["step"] for o in evaluate(folder)[-1]["opponents"]] == [100]


def test_a_gate_without_games_adds_a_line_per_candidate(tmp_path: Path) -> None:
    folder = begin(tmp_path, mode="latest", games=0)
    write(folder, 100)
    line = evaluate(folder)[0]
    assert (line["step"], line["accepted"], "wins" in line) == (100, True, False)


def test_the_status_shows_the_games_the_score_and_the_expected_games(tmp_path: Path) -> None:
    folder = begin(tmp_path, mode="latest", method="sprt")
    write(folder, 100)
    states = [values["state"] for values in watch(folder)]
    shown = re.compile(r"step 100: (\d) of 8 games \(SPRT, 526 expected\)(, \d+%)?")
    assert shown.fullmatch(states[0])
    assert states[-1] == "ended"


def test_gate_games_use_the_max_plies_of_self_play(tmp_path: Path) -> None:
    selfplay = {"opening_random_moves": 0, "max_plies": 3}
    folder = begin(tmp_path, mode="latest", selfplay=selfplay)
    write(folder, 100)
    (line,) = evaluate(folder)
    assert (line["wins"], line["draws"], line["losses"]) == (0, 8, 0)


@pytest.mark.parametrize("mode", ["latest", "gate"])
def test_a_first_network_that_loses_to_playouts_is_rejected(
    mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    selfplay = {"first": "rollout", "first_simulations": 160}  # with [search] simulations = 16
    folder = begin(tmp_path, mode=mode, games=4, simulations=2, selfplay=selfplay)
    folder.candidate(0).unlink()
    folder.set_best(PLAYOUTS)
    results = {100: (1, 3), 200: (3, 1), 300: (1, 3)}

    def play(played: Path, *_: Any, best_simulations: int | None, **__: Any) -> GateResult:
        simulations.append(best_simulations)
        wins, losses = results[int(played.stem[-8:])]
        accepted = mode == "latest" or wins > losses
        return GateResult(accepted=accepted, complete=True, wins=wins, draws=0, losses=losses)

    monkeypatch.setattr("pyengine.train.loop.part_gate.play_gate", play)
    best = []
    simulations: list[int | None] = []
    for step in results:
        write(folder, step)
        evaluate(folder)
        best.append((best_of(folder).name, best_of(folder).generation))
    last = (network(folder, 300, 2).name, 2) if mode == "latest" else best[1]
    assert best == [("rollout", 0), (folder.candidate(200).name, 1), last]
    assert [line["opponents"][0]["step"] for line in read_lines(folder.curve)] == [0, 0, 200]
    assert simulations[:2] == [20, 20]  # in proportion to those of self-play
    assert simulations[-1] is None


#: A gate that accepts a candidate that draws one game.
LENIENT = {"mode": "gate", "threshold": 0.0}


def test_an_accepted_candidate_plays_anchor_games(tmp_path: Path) -> None:
    folder = begin(tmp_path, **LENIENT, games=8)
    for step in (100, 200):
        write(folder, step)
        curve = evaluate(folder)
    assert [line["accepted"] for line in curve] == [True, True]
    anchors = [[(o["step"], games_of(o)) for o in line["anchors"]] for line in curve]
    assert anchors == [[(0, 4)], [(100, 4)]]
    assert [games_of(line) for line in curve] == [8, 8]
    last = rated(folder)[200]
    assert last is not None
    assert curve[-1]["elo"] == pytest.approx(last.elo)
    assert records(folder) == []


def test_interrupted_anchor_games_are_resumed(tmp_path: Path) -> None:
    folder = begin(tmp_path, **LENIENT, games=60)
    write(folder, 100)
    interrupt(folder, "anchor")
    assert read_lines(folder.curve) == []
    assert len(records(folder)) == 2
    assert best_of(folder).step == 100
    (line,) = evaluate(folder)
    assert (line["step"], line["generation"], line["accepted"]) == (100, 1, True)
    assert [games_of(opponent) for opponent in line["anchors"]] == [30]
    assert records(folder) == []


def test_a_network_in_use_stays_accepted_if_its_match_is_repeated(tmp_path: Path) -> None:
    folder = begin(tmp_path, **LENIENT, games=60)
    write(folder, 100)
    interrupt(folder, "anchor")
    # With other threads the match is repeated, here with a different result.
    folder.set_run(run_with(mode="gate", games=60, threshold=1.0, threads=2))
    (line,) = evaluate(folder)
    assert line["accepted"]
    assert [games_of(opponent) for opponent in line["anchors"]] == [30]
    assert best_of(folder) == network(folder, 100, generation=1, elo=line["elo"])


def test_a_rejected_candidate_plays_no_anchor_games(tmp_path: Path) -> None:
    folder = begin(tmp_path, mode="gate", threshold=1.0)
    write(folder, 100)
    (line,) = evaluate(folder)
    assert not line["accepted"]
    assert "anchors" not in line


def test_the_newest_accepted_networks_are_kept(tmp_path: Path) -> None:
    folder = begin(tmp_path, mode="latest", against=2, games=4, keep_accepted=1)
    for step in range(100, 700, 100):
        write(folder, step)
        curve = evaluate(folder)
    assert folder.candidates() == [0, 400, 500, 600]  # the last two will still play
    opponents = [[o["step"] for o in line["opponents"]] for line in curve[-2:]]
    assert opponents == [[400, 300], [500, 400]]


def test_a_hundred_accepted_networks_are_kept_by_default_and_all_with_0() -> None:
    assert GateConfig(mode="latest").most_accepted == 100
    assert GateConfig(mode="latest", keep_accepted=0).most_accepted > 10**9
