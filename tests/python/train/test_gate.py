"""The gate: matches of candidates, acceptance, and the learning curve."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyengine
from conftest import ROOT
from pyengine.base.files import sha256_of
from pyengine.eval.evaluators import CallbackEvaluator
from pyengine.games import as_game
from pyengine.train import GateConfig, RunFile, play_gate, plot_curve
from pyengine.train.json_files import append_line, read_lines
from pyengine.train.loop.curve import rated, results
from pyengine.train.loop.part import Part
from pyengine.train.loop.part_gate import work
from pyengine.train.loop.rating import ratings
from pyengine.train.loop.state import Best, RunFolder
from run_games import run_of
from toy_games import ToyGame, ToyState

TIC_TAC_TOE = pyengine.load_game("tic_tac_toe")
CONNECT_FOUR = pyengine.load_game("connect_four")


def test_a_stronger_candidate_is_accepted_after_all_its_games() -> None:
    result = play_gate("rollout", "uniform", [CONNECT_FOUR], GateConfig(games=20, simulations=40))
    assert result.accepted
    assert result.complete
    assert result.games == result.wins + result.draws + result.losses == 20
    assert result.score > 0.55


def test_a_weaker_candidate_is_rejected_as_soon_as_it_cannot_pass() -> None:
    result = play_gate("uniform", "rollout", [CONNECT_FOUR], GateConfig(games=100, simulations=40))
    assert not result.accepted
    assert result.losses + result.draws / 2 >= 45
    assert result.score < 0.55


def test_equal_players_do_not_pass() -> None:
    config = GateConfig(games=20, simulations=20)
    assert not play_gate("uniform", "uniform", [TIC_TAC_TOE], config).accepted


def test_sprt_decides_before_all_games_are_played() -> None:
    config = GateConfig(games=400, simulations=40, method="sprt", elo0=0, elo1=100)
    result = play_gate("rollout", "uniform", [CONNECT_FOUR], config)
    assert result.accepted
    assert result.games < 400
    assert result.sprt is not None
    assert result.sprt.expected_games == 68


def test_latest_mode_accepts_a_candidate_that_loses() -> None:
    config = GateConfig(mode="latest", games=20, simulations=40)
    result = play_gate("uniform", "rollout", [CONNECT_FOUR], config)
    assert result.accepted
    assert result.games == 20
    assert result.score < 0.5


def test_games_are_shared_between_boards() -> None:
    games = [pyengine.load_game(f"mnk(rows={n},columns={n},k=3)") for n in (3, 4, 5)]
    config = GateConfig(mode="latest", games=11, simulations=4)
    assert play_gate("uniform", "uniform", games, config).games == 11


def test_unfinished_games_are_draws() -> None:
    # One limit leaves room for all opening moves, the other does not.
    game = as_game(ToyGame(ToyState))
    config = GateConfig(mode="latest", games=4, simulations=4, plies=4)
    for max_plies in (3, 12):
        result = play_gate("uniform", "uniform", [game], config, max_plies=max_plies)
        assert (result.games, result.draws) == (4, 4)


def test_a_match_is_interrupted_within_a_round_of_moves(tmp_path: Path) -> None:
    batches = 0  # 64 searches of 1,000 simulations would need 1,000

    def slow_after_stop(planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        nonlocal batches
        batches += 1
        if batches > 3:
            time.sleep(0.05)
        return np.zeros((len(planes), 7)), np.zeros(len(planes))

    slow_after_stop.identity = "slow"  # type: ignore[attr-defined]

    result = play_gate(
        CallbackEvaluator(slow_after_stop),
        "uniform",
        [CONNECT_FOUR],
        GateConfig(games=64, simulations=1000, batch_size=64),
        stop=lambda: batches > 3,
        record=tmp_path / "match",
    )
    assert not result.complete
    assert result.games == 0
    assert 3 < batches < 500


def test_the_default_number_of_games_is_enough_for_the_sequential_test() -> None:
    test = GateConfig(method="sprt")
    assert test.sprt is not None
    assert test.most_games == test.sprt.games_for() == 1054
    assert (GateConfig().most_games, test.games_of_anchors) == (200, 100)
    assert GateConfig(mode="latest", method="sprt", games=20).most_games == 20
    with pytest.raises(pyengine.ConfigError, match="one game for method"):
        play_gate("uniform", "uniform", [TIC_TAC_TOE, CONNECT_FOUR], test)


# --- the part -------------------------------------------------------------------------------------


class Watched(Part):
    """A part that records its statuses and stops when it is told to."""

    def __init__(self, folder: RunFolder, stop: Callable[[], bool] = lambda: False) -> None:
        super().__init__("gate", folder, folder.run())
        self.statuses: list[dict[str, Any]] = []
        self._stop_at = stop

    def publish(self, values: dict[str, Any], *, now: bool = False) -> None:
        self.statuses.append(values)
        if values.get("games") and self._stop_at():
            self.stop()


def new_run(tmp_path: Path, mode: str, against: int = 1, games: int = 8) -> RunFolder:
    """Return a run of tic-tac-toe; all its networks are the bundled one."""
    folder = RunFolder(tmp_path / "run")
    gate = {"mode": mode, "against": against, "games": games, "simulations": 2}
    folder.begin(run_of(gate=gate))
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


def change(folder: RunFolder, old: str, new: str) -> None:
    """Change the text of the run file."""
    text = folder.run().text
    assert old in text
    folder.set_run(RunFile.from_toml(text.replace(old, new)))


def records(folder: RunFolder) -> list[str]:
    return sorted(file.name for file in folder.log.glob("match-*.jsonl"))


def best_of(folder: RunFolder) -> Best:
    best = folder.best()
    assert best is not None
    return best


def test_a_candidate_plays_the_previous_network_and_an_older_one(tmp_path: Path) -> None:
    folder = new_run(tmp_path, "latest", against=3)
    for step in (100, 200, 300, 400, 500):
        write(folder, step)
        curve = evaluate(folder)
    opponents = [[(o["step"], games(o)) for o in line["opponents"]] for line in curve]
    assert opponents == [
        [(0, 8)],
        [(100, 4), (0, 4)],
        [(200, 4), (0, 4)],
        [(300, 4), (100, 4)],
        [(400, 4), (200, 4)],
    ]
    assert [line["generation"] for line in curve] == [1, 2, 3, 4, 5]
    assert [games(line) for line in curve] == [8] * 5
    assert folder.best() == network(folder, 500, generation=5, elo=curve[-1]["elo"])
    last = rated(folder)[500]
    assert last is not None
    assert curve[-1]["elo"] == pytest.approx(last.elo)
    assert curve[-1]["elo_low"] == pytest.approx(last.elo - 1.96 * last.error)
    assert list(folder.log.glob("match-*")) == []


def games(line: dict[str, Any]) -> int:
    return int(line["wins"] + line["draws"] + line["losses"])


@pytest.mark.parametrize("mode", ["latest", "gate"])
def test_an_interrupted_evaluation_adds_no_line_and_is_resumed(tmp_path: Path, mode: str) -> None:
    folder = new_run(tmp_path, mode, games=40)
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
    assert games(curve[1]) == 40 or not curve[1]["accepted"]
    if mode == "latest":
        assert [line["opponents"][0]["step"] for line in curve] == [0, 100, 200]
        assert folder.candidates() == [0, 100, 200, 300]
    assert records(folder) == []


def test_an_interrupted_match_restarts_if_the_threads_have_changed(tmp_path: Path) -> None:
    folder = new_run(tmp_path, "latest", games=40)
    write(folder, 100)
    interrupt(folder)
    assert len(records(folder)) == 1
    before = folder.run()
    change(folder, "plies = 2", "plies = 2\nthreads = 2")
    folder.run().refuse_changes(before)
    assert games(evaluate(folder)[0]) == 40
    assert records(folder) == []


def test_a_network_is_evaluated_after_its_gate_was_killed(tmp_path: Path) -> None:
    folder = new_run(tmp_path, "latest")
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
    folder = new_run(tmp_path, "gate")
    write(folder, 50)
    write(folder, 100)
    append_line(folder.curve, evaluated(100, 0, 6, 4) | {"elo": 70.0})
    evaluate(folder)
    assert best_of(folder) == network(folder, 100, generation=1, elo=70.0)
    assert folder.candidates() == [0, 100]


def test_the_nearest_older_generation_replaces_a_missing_one(tmp_path: Path) -> None:
    folder = new_run(tmp_path, "latest", against=2)
    for step in (100, 300):
        write(folder, step)
        append_line(folder.curve, evaluated(step, 0, 5, 5))
        folder.set_best(network(folder, step, generation=step // 100))
    write(folder, 400)
    assert [o["step"] for o in evaluate(folder)[-1]["opponents"]] == [300, 100]
    folder.candidate(300).unlink()
    folder.candidate(400).unlink()
    write(folder, 500)
    assert [o["step"] for o in evaluate(folder)[-1]["opponents"]] == [100]


def test_a_gate_without_games_adds_a_line_per_candidate(tmp_path: Path) -> None:
    folder = new_run(tmp_path, "latest", games=0)
    write(folder, 100)
    line = evaluate(folder)[0]
    assert (line["step"], line["accepted"], "wins" in line) == (100, True, False)


def test_the_status_shows_the_games_the_score_and_the_expected_games(tmp_path: Path) -> None:
    folder = new_run(tmp_path, "latest")
    change(folder, "plies = 2", 'plies = 2\nmethod = "sprt"')
    write(folder, 100)
    states = [values["state"] for values in watch(folder)]
    shown = re.compile(r"step 100: (\d) of 8 games \(SPRT, 526 expected\)(, \d+%)?")
    assert shown.fullmatch(states[0])
    assert states[-1] == "ended"


def test_gate_games_use_the_max_plies_of_self_play(tmp_path: Path) -> None:
    folder = new_run(tmp_path, "latest")
    change(folder, "opening_random_moves = 3", "opening_random_moves = 0\nmax_plies = 3")
    write(folder, 100)
    (line,) = evaluate(folder)
    assert (line["wins"], line["draws"], line["losses"]) == (0, 8, 0)


def accepting(tmp_path: Path, games: int) -> RunFolder:
    """Return a run whose gate accepts a candidate that draws one game."""
    folder = new_run(tmp_path, "gate", games=games)
    change(folder, "plies = 2", "plies = 2\nthreshold = 0.0")
    return folder


def test_an_accepted_candidate_plays_anchor_games(tmp_path: Path) -> None:
    folder = accepting(tmp_path, games=8)
    for step in (100, 200):
        write(folder, step)
        curve = evaluate(folder)
    assert [line["accepted"] for line in curve] == [True, True]
    anchors = [[(o["step"], games(o)) for o in line["anchors"]] for line in curve]
    assert anchors == [[(0, 4)], [(100, 4)]]
    assert [games(line) for line in curve] == [8, 8]
    last = rated(folder)[200]
    assert last is not None
    assert curve[-1]["elo"] == pytest.approx(last.elo)
    assert records(folder) == []


def test_interrupted_anchor_games_are_resumed(tmp_path: Path) -> None:
    folder = accepting(tmp_path, games=60)
    write(folder, 100)
    interrupt(folder, "anchor")
    assert read_lines(folder.curve) == []
    assert len(records(folder)) == 2
    assert best_of(folder).step == 100
    (line,) = evaluate(folder)
    assert (line["step"], line["generation"], line["accepted"]) == (100, 1, True)
    assert [games(opponent) for opponent in line["anchors"]] == [30]
    assert records(folder) == []


def test_a_network_in_use_stays_accepted_if_its_match_is_repeated(tmp_path: Path) -> None:
    folder = accepting(tmp_path, games=60)
    write(folder, 100)
    interrupt(folder, "anchor")
    # With other threads the match is repeated, here with a different result.
    change(folder, "threshold = 0.0", "threshold = 1.0\nthreads = 2")
    (line,) = evaluate(folder)
    assert line["accepted"]
    assert [games(opponent) for opponent in line["anchors"]] == [30]
    assert best_of(folder) == network(folder, 100, generation=1, elo=line["elo"])


def test_a_rejected_candidate_plays_no_anchor_games(tmp_path: Path) -> None:
    folder = new_run(tmp_path, "gate")
    change(folder, "plies = 2", "plies = 2\nthreshold = 1.0")
    write(folder, 100)
    (line,) = evaluate(folder)
    assert not line["accepted"]
    assert "anchors" not in line


def test_the_newest_accepted_networks_are_kept(tmp_path: Path) -> None:
    folder = new_run(tmp_path, "latest", against=2, games=4)
    change(folder, "plies = 2", "plies = 2\nkeep_accepted = 1")
    for step in range(100, 700, 100):
        write(folder, step)
        curve = evaluate(folder)
    assert folder.candidates() == [0, 400, 500, 600]  # the last two will still play
    opponents = [[o["step"] for o in line["opponents"]] for line in curve[-2:]]
    assert opponents == [[400, 300], [500, 400]]
    assert GateConfig(mode="latest").most_accepted == 100
    assert GateConfig(mode="latest", keep_accepted=0).most_accepted > 10**9


# --- the curve ------------------------------------------------------------------------------------


def evaluated(step: int, opponent: int, wins: int, losses: int) -> dict[str, Any]:
    """Return the line of an accepted candidate with one opponent."""
    match = {"step": opponent, "wins": wins, "draws": 0, "losses": losses}
    facts = {"step": step, "generation": step // 100, "games": 10 * step, "elo": 0.0}
    return {**match, **facts, "accepted": True, "opponents": [match]}


def test_the_rating_of_equal_players_does_not_rise_by_selection() -> None:
    rng = np.random.default_rng(0)
    lines = []
    for step in range(100, 2100, 100):
        wins = 0
        while wins <= 110:  # only candidates above 55 % are accepted
            wins = int(rng.binomial(200, 0.5))
        anchors = int(rng.binomial(200, 0.5))
        line = evaluated(step, step - 100, wins, 200 - wins)
        match = {"step": step - 100, "wins": anchors, "draws": 0, "losses": 200 - anchors}
        lines.append(line | {"anchors": [match]})
    fair = ratings(results(lines))[2000]
    selected = ratings(results([line | {"anchors": []} for line in lines]))[2000]
    assert fair is not None
    assert selected is not None
    assert abs(fair.elo) < 2 * fair.error
    assert selected.elo > 6 * selected.error


def test_the_command_draws_the_learning_curve(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(pyengine.ConfigError, match="no candidate was evaluated"):
        plot_curve(tmp_path, tmp_path / "curve.svg")
    matplotlib = pytest.importorskip("matplotlib", reason="pictures need the extra plot")
    pytest.importorskip("typer", reason="the command needs the extra cli")
    from pyengine.cli import main

    append_line(tmp_path / "curve.jsonl", evaluated(100, 0, 6, 4))
    append_line(tmp_path / "curve.jsonl", evaluated(200, 100, 4, 6) | {"accepted": False})
    append_line(tmp_path / "curve.jsonl", evaluated(300, 250, 1, 1))
    with pytest.raises(pyengine.ConfigError, match="cannot be written"):
        plot_curve(tmp_path, tmp_path / "curve.nothing")
    picture = tmp_path / "curve.svg"
    with matplotlib.rc_context({"svg.fonttype": "none"}):
        assert main(["train", "--curve", str(picture), "--directory", str(tmp_path)]) == 0
    assert capsys.readouterr().out == f"{picture}\n"
    drawing = picture.read_text()
    assert drawing.count("<svg") == 1
    assert "left out: 1 that no games join to the first" in drawing
