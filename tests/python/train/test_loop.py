"""The loop: its processes, limits, restarts and resuming."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import pyengine
from conftest import ROOT
from pyengine import train
from pyengine.data import Dataset
from pyengine.match import Openings
from pyengine.train.json_files import lock, read_lines
from pyengine.train.loop.child import ProcessChild, ThreadChild
from pyengine.train.loop.part import PARTS, PERMANENT, Part, outcome, run_part
from pyengine.train.loop.run import _Supervisor
from pyengine.train.loop.state import RunFolder
from run_games import Ending, play_games, run_of

pytest.importorskip("torch", reason="training needs PyTorch: the extra train")
pytest.importorskip("onnx", reason="export needs onnx: the extra train")

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the loop is tested on POSIX")


def start_thread(name: str, folder: RunFolder) -> ThreadChild:
    """Start a part in a thread, which starts faster than a process."""
    return ThreadChild(name, folder, folder.run())


def run_here(
    run: train.RunFile, path: Path, *, resume: bool = False, on_progress: Any = None
) -> train.RunReport:
    """Run the loop with its parts in threads."""
    return train.train_run(run, path, resume=resume, on_progress=on_progress, start=start_thread)


def part_of(name: str, folder: RunFolder) -> Part:
    """Return a part of the run in a folder."""
    return Part(name, folder, folder.run())


def alive(pid: int) -> bool:
    """Return whether a process exists and is not a zombie."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_a_run_ends_at_its_limit_and_can_be_resumed(tmp_path: Path) -> None:
    shown: list[train.RunProgress] = []
    report = run_here(run_of(run={"steps": 20}), tmp_path, on_progress=shown.append)
    assert report.reason == "steps"
    assert shown[-1] == report.progress
    assert not report.progress.finishing
    assert (report.progress.step, report.progress.restarts) == (20, 0)
    assert report.model is not None
    assert pyengine.OnnxEvaluator(report.model).spec == run_of().spec
    curve = read_lines(tmp_path / "curve.jsonl")
    assert curve[-1]["step"] == report.progress.step
    assert [line["accepted"] for line in curve] == [True] * len(curve)
    data = Dataset(tmp_path / "data" / "tic_tac_toe", verify=True)
    assert data.games == report.progress.games

    with pytest.raises(pyengine.ConfigError, match="already holds a run"):
        train.train_run(run_of(run={"steps": 40}), tmp_path)
    with pytest.raises(pyengine.ConfigError, match=r"\[gate\] mode: 'latest' is now 'gate'"):
        train.train_run(run_of(run={"steps": 40}, gate={"mode": "gate"}), tmp_path, resume=True)
    second = run_here(run_of(run={"steps": 40}), tmp_path, resume=True)
    assert second.progress.step == 40
    assert second.progress.games > report.progress.games
    assert second.progress.seconds > report.progress.seconds
    steps = [line["step"] for line in read_lines(tmp_path / "checkpoints" / "log.jsonl")]
    assert steps == sorted(set(steps))

    (tmp_path / "data" / "tic_tac_toe" / "manifest.json").write_text("{")
    status, message = outcome(lambda: run_part(part_of("learner", RunFolder(tmp_path))))
    assert status == PERMANENT
    assert re.search(r"DataError: .*manifest\.json is damaged", message)
    assert list((tmp_path / "checkpoints").glob("*.pt"))


def test_a_run_on_two_boards_uses_int8_copies_and_exports_the_final_board(tmp_path: Path) -> None:
    games = ["othello(board_size=4)", "othello(board_size=6)"]
    run, folder = (
        run_of(
            run={"steps": 20},
            game={"name": games},
            selfplay={"precision": "int8"},
            train={
                "export_final_board": True,
                "loss": {"ownership_weight": 1.5, "score_weight": 0.0015},
            },
        ),
        RunFolder(tmp_path),
    )
    report = run_here(run, tmp_path)
    assert report.model == folder.candidate(20)
    assert folder.played(20) == folder.played_copy(20)
    lines = read_lines(tmp_path / "checkpoints" / "log.jsonl")
    assert all(line["ownership"] > 0 and line["score"] > 0 for line in lines)
    for game, size in zip(games, (4, 6), strict=True):
        with pyengine.Engine(game, report.model, simulations=20) as engine:
            result = engine.search(engine.game.new_initial_state())
        assert result.ownership is not None
        assert result.score is not None
        assert result.ownership.shape == (size, size)
        data = Dataset(folder.data(game), final_board=True)
        assert data.spec == run.spec
        assert next(data.batches(len(data)))["ended"].all()


def test_the_first_network_plays_with_its_own_simulations(tmp_path: Path) -> None:
    selfplay = {"first": "rollout", "first_simulations": 32}
    run = run_of(run={"steps": 100}, selfplay=selfplay, gate={"games": 0})
    report = run_here(run, tmp_path)
    assert report.progress.best is not None
    assert report.progress.best.is_network
    data = Dataset(tmp_path / "data" / "tic_tac_toe", verify=True)
    (last,) = data.configurations
    assert last["search"]["simulations"] == 16
    assert data.games == report.progress.games


def test_killed_parts_are_restarted_while_two_processes_learn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pyengine.train.loop.child._BACKOFF", (0.0,))
    folder = RunFolder(tmp_path)
    teams: list[list[int]] = []
    killed: dict[str, int] = {}

    def kill_each_once(progress: train.RunProgress) -> bool:
        team = folder.status("learner").get("processes")
        if team and team not in teams:
            teams.append(team)
            if len(teams) == 1:
                os.kill(team[1], signal.SIGKILL)  # the learner's first process then exits too
        for part in ("selfplay", "gate"):
            pid = folder.status(part).get("pid")
            if teams and part not in killed and pid is not None:
                killed[part] = pid
                os.kill(pid, signal.SIGKILL)
        restarted = len(killed) == 2 and all(folder.status(p)["pid"] != killed[p] for p in killed)
        return not (restarted and len(teams) == 2 and progress.step >= 5)

    # The uniform evaluator pauses when the learner has enough data, and so leaves it the cores.
    run = run_of(selfplay={"first": "uniform"}, train={"processes": 2})
    report = train.train_run(run, tmp_path, on_progress=kill_each_once)
    assert (report.reason, report.progress.restarts) == ("stopped", 3)
    assert [len(team) for team in teams] == [2, 2]
    pids = [*teams[0], *teams[1], *(folder.status(part)["pid"] for part in killed)]
    assert not any(alive(pid) for pid in pids)
    Dataset(tmp_path / "data" / "tic_tac_toe", verify=True)
    assert list(folder.checkpoints.glob("*.pt"))


def test_a_damaged_shard_is_named_before_training_on_it(tmp_path: Path) -> None:
    folder, run = RunFolder(tmp_path), run_of()
    folder.begin(run)
    play_games(folder, run, 60, simulations=8, concurrent_games=16)
    shard = sorted(folder.data("tic_tac_toe").glob("shard-*.npy"))[-1]
    content = bytearray(shard.read_bytes())
    content[-40] ^= 1
    shard.write_bytes(content)
    with pytest.raises(pyengine.DataError, match=rf"{shard.name}.*damaged"):
        run_part(part_of("learner", folder))
    assert not list(folder.checkpoints.glob("*.pt"))


def test_a_second_supervisor_and_a_second_part_are_refused(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    folder.begin(run_of())
    with (
        lock(folder.lock("supervisor"), "a run"),
        pytest.raises(pyengine.EngineError, match="is already running"),
    ):
        train.train_run(run_of(), tmp_path, resume=True)
    for _ in range(2):  # the first lock has been released
        with (
            lock(folder.lock("gate"), "a part"),
            pytest.raises(pyengine.EngineError, match=r"the part gate of .* is already running"),
        ):
            run_part(part_of("gate", folder))


def test_parts_exit_with_their_supervisor_and_the_run_resumes_until_ctrl_c(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("typer", reason="the command needs the extra cli")
    from pyengine.cli import main

    folder = RunFolder(tmp_path / "run")
    code = "import sys; from pyengine import train; train.train_run(*sys.argv[1:])"
    process = subprocess.Popen([sys.executable, "-c", code, run_of().text, str(folder.path)])
    wait_for_steps(folder, 5)
    pids = [folder.status(part)["pid"] for part in PARTS]
    process.kill()
    process.wait()
    deadline = time.monotonic() + 300
    while any(alive(pid) for pid in pids):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    Dataset(folder.data("tic_tac_toe"), verify=True)

    (folder.path / "status" / "learner.json").unlink()
    monkeypatch.setattr(
        "pyengine.cli.train.train_run", partial(train.train_run, start=start_thread)
    )
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        threading.Thread(target=send_ctrl_c, args=(folder,), daemon=True).start()
        assert main(["train", "--directory", str(folder.path), "--resume"]) == 130
    finally:
        signal.signal(signal.SIGINT, before)
    hint = " ".join(capsys.readouterr().err.split())
    assert f"pyengine train --directory {folder.path} --resume" in hint
    games = folder.produced("tic_tac_toe").games
    assert Dataset(folder.data("tic_tac_toe"), verify=True).games == games
    assert max(int(path.stem[-10:]) for path in folder.checkpoints.glob("*.pt")) >= 6


def wait_for_steps(folder: RunFolder, steps: int) -> None:
    deadline = time.monotonic() + 300
    while folder.status("learner").get("step", 0) < steps:
        assert time.monotonic() < deadline
        time.sleep(0.1)


def send_ctrl_c(folder: RunFolder) -> None:
    """Interrupt this process when the learner of a run has made six steps."""
    wait_for_steps(folder, 6)
    os.kill(os.getpid(), signal.SIGINT)


def error_of(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """Return the error message of the command, on one line."""
    pytest.importorskip("typer", reason="the command needs the extra cli")
    from pyengine.cli import main

    assert main(["train", *arguments]) in (1, 2)
    return " ".join(capsys.readouterr().err.replace("│", " ").split())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "expected a RUN.toml"),
        (["--part", "chess", "x.toml"], "--part"),
        (["no-such-file.toml"], "no-such-file.toml"),
        (["x.toml", "--part", "gate", "--minutes", "1"], "--part cannot be combined"),
        (["x.toml", "--actors", "2"], "--actors requires --ray"),
        (["x.toml", "--ray", "local", "--part", "gate"], "--part cannot be combined with --ray"),
    ],
)
def test_wrong_use_of_the_command_is_refused(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert message in error_of(arguments, capsys)


def test_a_part_refuses_settings_that_differ_from_its_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, folder = tmp_path / "run.toml", RunFolder(tmp_path / "run")
    folder.begin(run_of())
    file.write_text(run_of(gate={"mode": "gate"}).text)
    arguments = [str(file), "--directory", str(folder.path), "--part", "gate"]
    assert "[gate] mode: 'latest' is now 'gate'" in error_of(arguments, capsys)


def test_the_command_names_the_limit_reached_in_an_earlier_session(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("typer", reason="the command needs the extra cli")
    from pyengine.cli import main

    ending = partial(train.train_run, start=lambda name, _folder: Ending(name, 0))
    monkeypatch.setattr("pyengine.cli.train.train_run", ending)
    run, folder = run_of(run={"minutes": 1}), RunFolder(tmp_path)
    folder.begin(run)
    folder.set_seconds(61.0)
    assert main(["train", "--directory", str(tmp_path), "--resume"]) == 0
    output = " ".join(capsys.readouterr().out.split())
    assert "the run has already reached its limit of minutes" in output
    assert "raise --minutes, or minutes in" in output


def test_redirected_progress_ends_with_the_final_state(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("typer", reason="the command needs the extra cli")
    from pyengine.cli.train_progress import train_progress

    run, folder = run_of(run={"games": 3}), RunFolder(tmp_path)
    folder.begin(run)
    progress = _Supervisor(run, folder, None, ProcessChild)._progress()
    with train_progress(run) as show:
        for games in (0, 1, 2):
            show(replace(progress, games=games))
    lines = "".join(capsys.readouterr().err.split("\n")).split("minutes ")[1:]
    assert [line.split("self-play ")[1][:7] for line in lines] == ["0 games", "2 games"]


def test_a_short_run_ends_stronger_than_it_began(tmp_path: Path) -> None:
    text = (ROOT / "models" / "runs" / "tic_tac_toe.toml").read_text()
    report = run_here(train.RunFile.from_toml(text.replace("minutes = 1", "steps = 200")), tmp_path)
    assert report.model is not None
    settings = pyengine.SearchConfig(simulations=4, threads=1, batch_size=64, in_flight=1)
    first = RunFolder(tmp_path).candidate(0)
    with (
        pyengine.Engine("tic_tac_toe", report.model, config=settings) as last,
        pyengine.Engine("tic_tac_toe", first, config=settings) as initial,
    ):
        result = pyengine.match(last, initial, games=200, openings=Openings(plies=2))
    assert result.score_interval[0] > 0.6
