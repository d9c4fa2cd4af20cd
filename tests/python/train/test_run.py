"""The folder of a run, its limits and failures."""

from __future__ import annotations

import errno
import json
import random
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import pyengine
from pyengine.train import RunFile, RunProgress, TrainingError, train_run
from pyengine.train.json_files import append_line, lock, read_lines
from pyengine.train.loop import part_selfplay
from pyengine.train.loop.part import PERMANENT, Part
from pyengine.train.loop.state import RunFolder
from run_games import SMALL, Ending, run_of

#: A line of the curve without matches.
LINE = '"step": 1, "generation": 0, "games": 0, "elo": 0, "accepted": true'

#: A run that reaches its limit at once.
SHORT = run_of(run={"minutes": 1e-6})


def ending(status: int = 0) -> Callable[[str, RunFolder], Ending]:
    """Return a function that starts parts which run until asked to stop."""
    return lambda name, _folder: Ending(name, status)


def test_a_folder_holds_one_run(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    with pytest.raises(pyengine.ConfigError, match=r"run\.toml does not exist"):
        folder.run()
    run = RunFile.from_toml(SMALL)
    folder.begin(run)
    assert folder.run() == run
    with pytest.raises(pyengine.ConfigError, match="already holds a run"):
        folder.begin(run)


@pytest.mark.parametrize("resume", [False, True])
def test_a_run_does_not_start_among_other_files(resume: bool, tmp_path: Path) -> None:
    (tmp_path / "manifest.json").touch()
    with pytest.raises(pyengine.ConfigError, match=r"new, empty or hold a run .* manifest\.json"):
        train_run(SMALL, tmp_path, resume=resume)
    with pytest.raises(pyengine.ConfigError, match="new, empty or hold a run"):
        RunFolder(tmp_path).begin(RunFile.from_toml(SMALL))
    assert list(tmp_path.iterdir()) == [tmp_path / "manifest.json"]


def test_a_run_starts_beside_settings_output_and_locks(tmp_path: Path) -> None:
    for name in ("settings.toml", "out.log", ".hidden"):
        (tmp_path / name).write_text("")
    (tmp_path / "lock").mkdir()
    RunFolder(tmp_path).begin(RunFile.from_toml(SMALL))
    assert (tmp_path / "run.toml").exists()


@pytest.mark.parametrize(
    ("limit", "value", "before"),
    [("minutes", 1, True), ("minutes", 2, False), ("steps", 7, True), ("steps", 8, False)],
)
def test_a_report_says_whether_the_limit_was_reached_earlier(
    limit: str, value: int, before: bool, tmp_path: Path
) -> None:
    run, folder = run_of(run={limit: value}), RunFolder(tmp_path)
    folder.begin(run)
    folder.set_seconds(60.0)
    append_line(folder.curve, json.loads(f"{{{LINE}}}") | {"step": 7})

    def learn(_progress: RunProgress) -> bool:
        folder.set_status("learner", {"step": 7})  # as a resumed learner does
        return before

    report = train_run(run, tmp_path, resume=True, on_progress=learn, start=ending())
    assert (report.reason, report.ended_before) == (limit if before else "stopped", before)


def test_a_limit_reached_in_this_session_was_not_reached_earlier(tmp_path: Path) -> None:
    report = train_run(SHORT, tmp_path, start=ending())
    assert (report.reason, report.ended_before) == ("minutes", False)


def test_each_board_has_its_own_data_folder(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    names = ["gomoku(board_size=8)", "gomoku(board_size=15)", "tic_tac_toe", "go(komi=7.5)"]
    folders = [folder.data(name).name for name in names]
    assert folders == ["gomoku-board_size-8", "gomoku-board_size-15", "tic_tac_toe", "go-komi-7.5"]


def test_a_truncated_line_does_not_affect_others(tmp_path: Path) -> None:
    path = tmp_path / "curve.jsonl"
    append_line(path, {"step": 1})
    with path.open("a") as file:
        file.write('{"step": 2, "ga')
    append_line(path, {"step": 3})
    assert read_lines(path) == [{"step": 1}, {"step": 3}]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        *((name, None) for name in ("best.json", "clock.json", "curve.jsonl")),  # a directory
        ("best.json", '{"name": 1'),
        ("best.json", "[]"),
        ("best.json", '{"name": "x", "sha256": null, "step": "1", "generation": 0, "elo": 0}'),
        ("best.json", '{"name": "x", "sha256": null, "step": 1, "generation": 0, "elo": NaN}'),
        ("best.json", '{"name": "x"}'),
        ("clock.json", '{"seconds": null}'),
        ("curve.jsonl", '{"step": 1}'),
        ("curve.jsonl", f'{{{LINE}, "opponents": 3}}'),
        ("curve.jsonl", f'{{{LINE}, "opponents": [{{"step": 0}}]}}'),
    ],
)
def test_a_damaged_file_is_refused_by_name(name: str, text: str | None, tmp_path: Path) -> None:
    if text is None:
        (tmp_path / name).mkdir()
    else:
        (tmp_path / name).write_text(text)
    folder = RunFolder(tmp_path)
    with pytest.raises(pyengine.DataError, match=re.escape(name)):
        (folder.best(), folder.seconds(), folder.evaluated())


def test_any_damage_to_the_curve_raises_only_data_errors(
    tmp_path: Path, rng: random.Random
) -> None:
    folder, match = RunFolder(tmp_path), {"step": 0, "wins": 3, "draws": 0, "losses": 1}
    line = json.loads(f"{{{LINE}}}") | {"opponents": [match]}
    for step in (1, 2):
        append_line(folder.curve, line | {"step": step})
    whole = folder.curve.read_bytes()
    for number in range(0, len(whole), 4):
        flipped = bytearray(whole)
        flipped[number] ^= 1 << rng.randrange(8)
        for damaged in (whole[:number], flipped):
            folder.curve.write_bytes(damaged)
            with suppress(pyengine.DataError):
                assert len(folder.evaluations()) <= 2


def test_a_part_failing_at_the_end_is_reported_after_all_have_exited(tmp_path: Path) -> None:
    parts: list[Ending] = []

    def start(name: str, _folder: RunFolder) -> Ending:
        parts.append(Ending(name, 1 if name == "selfplay" else 0))
        return parts[-1]

    with pytest.raises(TrainingError, match=r"selfplay failed .* run ended\): OSError.*No space"):
        train_run(SHORT, tmp_path, start=start)
    assert all(part.status() is not None for part in parts)


def test_a_permanent_failure_ends_the_run_with_its_last_output(tmp_path: Path) -> None:
    class Failed(Ending):
        def _start(self) -> None:
            self._now = PERMANENT

    with pytest.raises(TrainingError, match=r"exit status 2, 0 restarts\): OSError"):
        train_run(SMALL, tmp_path, start=lambda name, _folder: Failed(name, PERMANENT))


def fill_disk(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Let writes to the files of this name fail as on a full disk."""
    write = Path.write_text

    def write_text(path: Path, *args: Any, **options: Any) -> int:
        if path.name.startswith(name):
            full()
        return write(path, *args, **options)

    monkeypatch.setattr(Path, "write_text", write_text)


def full(*_args: object, **_options: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.parametrize("name", ["run.toml", "clock.json"])
def test_a_full_disk_names_the_file_that_cannot_be_written(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill_disk(monkeypatch, name)
    with pytest.raises(pyengine.DataError, match=rf"{name} cannot be .*No space"):
        train_run(SHORT, tmp_path, start=ending())


def test_a_full_disk_does_not_hide_the_first_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill_disk(monkeypatch, "clock.json")
    with pytest.raises(TrainingError, match="selfplay failed"):
        train_run(SHORT, tmp_path, start=ending(1))


def test_a_part_continues_when_its_status_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = RunFolder(tmp_path)
    folder.begin(SHORT)
    fill_disk(monkeypatch, "gate.json")
    Part("gate", folder, SHORT).publish({"state": "works"}, now=True)
    assert folder.status("gate") == {}


def test_a_line_or_a_lock_that_cannot_be_written_names_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lock").touch()
    with (
        pytest.raises(pyengine.DataError, match=r"lock.supervisor cannot be written"),
        lock(tmp_path / "lock" / "supervisor", "a run"),
    ):
        pass
    monkeypatch.setattr(Path, "open", full)
    with pytest.raises(pyengine.DataError, match=r"curve\.jsonl cannot be written: .*No space"):
        append_line(tmp_path / "curve.jsonl", {"step": 1})


class Disk:
    """A shard writer on a disk that is full for the first ``failures`` writes."""

    def __init__(self, failures: int) -> None:
        self.failures = failures
        self.tries = 0

    def flush(self) -> None:
        self.tries += 1
        if self.tries <= self.failures:
            raise pyengine.DataError("shard-000000.npy cannot be written; its 5 games are not ...")


def test_self_play_retries_on_a_full_disk_until_it_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    part = Part("selfplay", RunFolder(tmp_path), RunFile.from_toml(SMALL))
    waits: list[float] = []
    monkeypatch.setattr(part, "wait", waits.append)
    disk = Disk(failures=3)
    part_selfplay.patiently(part, disk.flush)
    assert (disk.tries, len(waits)) == (4, 3)
    monkeypatch.setattr(part_selfplay, "_PATIENCE", 0.0)
    with pytest.raises(pyengine.DataError, match=r"its 5 games .*, retried for 0 s"):
        part_selfplay.patiently(part, Disk(failures=99).flush)
    monkeypatch.undo()
    part.stop()
    stopped = Disk(failures=99)
    with pytest.raises(pyengine.DataError, match="its 5 games"):
        part_selfplay.patiently(part, stopped.flush)
    assert stopped.tries == 1


def test_the_status_of_an_earlier_session_is_ignored(tmp_path: Path) -> None:
    run, folder = run_of(run={"steps": 100}), RunFolder(tmp_path)
    folder.begin(run)
    folder.set_status("learner", {"pid": 1, "step": 100})  # without a checkpoint
    seen: list[int] = []

    def stop_soon(progress: RunProgress) -> bool:
        seen.append(progress.step)
        return len(seen) < 3

    report = train_run(run, tmp_path, resume=True, on_progress=stop_soon, start=ending())
    assert report.reason == "stopped"
    assert seen == [0, 0, 0, 0]  # the last one after all parts have exited
