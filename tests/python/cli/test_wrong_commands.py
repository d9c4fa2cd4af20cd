"""Commands with wrong names and with places that cannot be read or written: one message each."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import pyengine

pytest.importorskip("typer", reason="the extra cli is not installed")

from pyengine.cli import main

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux's /proc and limits")
FULL = 100  # bytes that a file may have where the disk is "full"
QUICK = ["--simulations", "4", "--threads", "1"]
SELF_PLAY = ["selfplay", "tic_tac_toe", "--model", "uniform", "--games", "2", *QUICK]
MATCH = ["match", "tic_tac_toe", "random", "random", "--games", "2"]
BENCH = ["bench", "tree", "--quick", "--seconds", "0.05"]
TUNE = ["bench", "--tune", "connect4", "--seconds", "0.05"]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in: data of Gomoku, a file, a folder, weights."""
    monkeypatch.chdir(tmp_path)
    config = pyengine.SelfPlayConfig(search=pyengine.SearchConfig(simulations=4, threads=1))
    pyengine.selfplay("gomoku(board_size=5)", "uniform", games=2, out="data", config=config)
    Path("file").write_text("junk")
    Path("old.png").write_text("junk")
    Path("bytes").write_bytes(b"\xff")
    Path("folder").mkdir()
    assert main(["convert", "random", "1x4", "--board-size", "5", "-o", "weights.txt"]) == 0
    return tmp_path


def _label(value: list[str] | str) -> str | None:
    return " ".join(value) if isinstance(value, list) else ""


def words(text: str) -> str:
    """Return what a box on a terminal says, in one line."""
    return " ".join(text.replace("│", " ").split())


WRONG: list[tuple[list[str], str]] = [
    # names
    (["search", "chess"], "chess"),
    (["search", "go(size=9)"], "size"),
    (["search", "connect_four", "--param", "rows"], "NAME=VALUE"),
    (["search", "connect_four", "--moves", "9"], "--moves"),
    (["search", "nofile.py:Game"], "found no file 'nofile.py'"),
    (["search", "connect_four", "--algorithm", "junk"], "algorithm"),
    (["search", "connect_four", "--symmetry", "junk"], "symmetry"),
    (["search", "connect_four", "--provider", "junk"], "junk"),
    (["solve", "tic_tac_toe", "--seconds", "-1"], "seconds"),
    ([*SELF_PLAY, "--out", "new", "--preset", "junk"], "--preset"),
    ([*MATCH, "--sprt", "10"], "--sprt"),
    ([*MATCH, "--sprt", "a,b"], "could not convert"),
    (["bench", "junk"], "no suite junk"),
    (["bench", "trees"], "did you mean tree?"),
    (["bench", "all", "--skip", "evaluators"], "did you mean evaluator?"),
    (["search", "connect_four", "--model", "conect4"], "did you mean connect4?"),
    (["match", "tic_tac_toe", "unifrm", "random"], "player unifrm is neither a file nor one of"),
    (["match", "tic_tac_toe", "random", "rndom"], "value:MODEL; did you mean random?"),
    (["match", "tic_tac_toe", "random", "value:tic_tac"], "player value:tic_tac is neither"),
    ([*MATCH, "--openings-evaluator", "unifrm"], "--openings-evaluator unifrm is neither"),
    ([*MATCH, "--max-value", "0.3"], "--max-value: expected the network that evaluates"),
    ([*MATCH, "--policy-openings"], "--openings-evaluator MODEL, found none"),
    (["bench", "--tune", "conect4", "--game", "connect_four"], "--tune conect4 is neither"),
    (["train", "conect4"], "did you mean connect4?"),
    (["bench", "gpu", "--minutes", "0"], "--minutes must be above 0"),
    (["bench", "gpu", "--quick", "--json", "file"], "expected the reports"),
    (["bench", "--tune", "junk"], "--game"),
    (["convert", "random", "junk"], "BLOCKSxCHANNELS"),
    (["convert", "shards", "data", "--to", "junk"], "--to"),
    (["bench", "tree", "--quick", "--plot", "picture.json"], "expected a name that ends in .png"),
    (["search", "tic_tac_toe", "--model", "x" * 5000], "found one that is too long"),
    (["search", "a\x1b[31m"], r"a\x1b[31m"),
    # what is read
    (["search", "connect_four", "--model", "missing.onnx"], "missing.onnx"),
    (["search", "connect_four", "--model", "file"], "file is not an ONNX file"),
    (["search", "connect_four", "--model", "folder"], "folder"),
    (["search", "connect_four", "--model", "connect4", "--spec", "file"], "must be JSON"),
    (
        ["search", "connect_four", "--model", "connect4", "--spec", "missing"],
        "--spec: expected a file",
    ),
    (
        ["search", "connect_four", "--board", "bytes"],
        "--board: bytes cannot be read: expected text",
    ),
    (["search", "connect_four", "--config", "file"], "TOML"),
    (["search", "connect_four", "--config", "missing"], "missing"),
    (
        ["search", "connect_four", "--board", "missing"],
        "--board: expected a file, found no missing",
    ),
    (["search", "connect_four", "--board", "file"], "--board"),
    ([*MATCH, "--record", "file"], "expected the record of a match"),
    (["convert", "shards", "missing", "--to", "npz"], "does not exist"),
    (["convert", "shards", "folder", "--to", "npz"], "manifest.json"),
    (["convert", "leela", "file"], "expected Leela Zero weights"),
    (["convert", "leela", "folder"], "not a file"),
    # what is written
    ([*MATCH, "--record", "folder"], "folder"),
    ([*MATCH, "--record", "missing/record"], "no folder"),
    ([*SELF_PLAY, "--out", "file"], "file cannot be written"),
    (["convert", "shards", "data", "--to", "npz", "-o", "file"], "file cannot be written"),
    (["convert", "shards", "data", "--to", "npz", "-o", "folder/../data"], "--overwrite"),
    (["convert", "leela", "weights.txt", "-o", "folder"], "a directory of that name"),
    (
        ["convert", "leela", "weights.txt", "-o", "folder/../weights.txt"],
        "other than the input weights.txt",
    ),
    (["convert", "leela", "weights.txt", "-o", "missing/x.onnx"], "no folder"),
    ([*TUNE, "--json", "folder"], "a directory of that name"),
    ([*TUNE, "--json", "missing/x.json"], "no folder"),
    (["bench", "tree", "--quick", "--json", "folder"], "a directory of that name"),
    (["bench", "tree", "--quick", "--plot", "missing/x.png"], "no folder"),
    (["bench", "tree", "--quick", "--out", "file"], "--out: file cannot be written"),
]

NOWHERE: list[tuple[list[str], str]] = [
    ([*MATCH, "--record", "/proc/x"], "/proc/x cannot be opened"),
    ([*SELF_PLAY, "--out", "/proc/x"], "/proc/x cannot be written"),
    (["convert", "shards", "data", "--to", "npz", "-o", "/proc/x"], "/proc/x cannot be written"),
    (["convert", "leela", "weights.txt", "-o", "/proc/x.onnx"], "/proc/x.onnx cannot be written"),
    (["convert", "random", "1x4", "-o", "/proc/x"], "/proc/x cannot be written"),
    ([*TUNE, "--json", "/proc/x"], "/proc/x"),
]


def check_one_message(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The command fails, and says why on stderr alone."""
    capsys.readouterr()
    status = main(arguments)
    told = words(capsys.readouterr().err)
    assert status in (1, 2), told
    assert said in told
    assert told.lower().count("error") <= 2


@pytest.mark.parametrize(("arguments", "said"), WRONG, ids=_label)
@pytest.mark.usefixtures("place")
def test_a_command_says_what_is_wrong(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    check_one_message(arguments, said, capsys)


@pytest.mark.parametrize("file", ["file", "missing.toml", "folder"])
@pytest.mark.usefixtures("place")
def test_a_run_file_that_is_none_is_named(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch", reason="PyTorch is not installed")
    check_one_message(["train", file], file, capsys)


@LINUX
@pytest.mark.parametrize(("arguments", "said"), NOWHERE, ids=_label)
@pytest.mark.usefixtures("place")
def test_a_command_says_what_cannot_be_written(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    check_one_message(arguments, said, capsys)


@pytest.fixture
def full() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run a command where files can have few bytes, as on a disk that is full."""
    import resource

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (FULL, FULL))

    def call(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-B", "-m", "pyengine.cli", *arguments],
            capture_output=True, text=True, timeout=120, check=False, preexec_fn=limit,
        )  # fmt: skip

    return call


@LINUX
@pytest.mark.usefixtures("place")
@pytest.mark.parametrize(
    ("arguments", "said", "kept"),
    [
        ([*MATCH, "--record", "file"], "expected the record", "file"),
        (["convert", "shards", "data", "--to", "npz", "-o", "out"], "cannot be written", "out"),
        (["convert", "leela", "weights.txt", "-o", "file"], "file cannot be written", "file"),
        ([*TUNE, "--json", "file"], "file cannot be written", "file"),
        ([*BENCH, "--json", "file"], "file cannot be written", "file"),
        ([*BENCH, "--plot", "old.png"], "old.png cannot be written", "old.png"),
        ([*SELF_PLAY, "--out", "out"], "cannot be written", "out"),
    ],
    ids=["match", "convert", "weights", "tune", "bench", "picture", "selfplay"],
)
def test_a_full_disk_is_told_and_takes_nothing(
    full: Callable[..., subprocess.CompletedProcess[str]],
    arguments: list[str],
    said: str,
    kept: str,
) -> None:
    done = full(*arguments)
    assert done.returncode == 1, done.stderr
    assert said in words(done.stderr)
    assert "Traceback" not in done.stderr
    if Path(kept).is_file():
        assert Path(kept).read_text() == "junk"
    assert not list(Path().rglob("*.tmp"))


@LINUX
@pytest.mark.usefixtures("place")
def test_a_match_on_a_full_disk_keeps_the_games_before(
    full: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    assert main([*MATCH, "--record", "record"]) == 0
    before = Path("record").read_bytes()
    done = full(*MATCH[:-1], "8", "--record", "record")
    assert done.returncode == 1
    assert "record cannot be written" in words(done.stderr)
    assert Path("record").read_bytes().startswith(before)
    assert main([*MATCH[:-1], "8", "--record", "record"]) == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("more", [[], ["--json"]], ids=["text", "json"])
def test_a_full_disk_behind_the_output_is_told_in_a_line(more: list[str]) -> None:
    with Path("/dev/full").open("w") as output:
        done = subprocess.run(
            [sys.executable, "-m", "pyengine.cli", "solve", "tic_tac_toe", *more],
            stdout=output, stderr=subprocess.PIPE, text=True, timeout=120, check=False,
        )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr == "error: the output cannot be written: No space left on device\n"
    assert done.stderr.count("\n") == 1


@pytest.mark.usefixtures("place")
def test_data_is_converted_again_only_where_the_command_is_told_to() -> None:
    command = ["convert", "shards", "data", "--to", "npz", "-o", "out"]
    assert main(command) == 0
    assert main(command) == 1
    assert main([*command, "--overwrite"]) == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_behind_the_demo_is_told_in_a_line() -> None:
    command = [
        sys.executable,
        "-m",
        "pyengine.cli.demo",
        "--model",
        "uniform",
        "--simulations",
        "4",
    ]
    with Path("/dev/full").open("w") as output:
        done = subprocess.run(
            command, stdout=output, stderr=subprocess.PIPE, text=True, timeout=120, check=False
        )
    assert done.returncode == 1
    assert done.stderr == "error: the output cannot be written: No space left on device\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_is_not_blamed_on_the_run_file_that_is_shown() -> None:
    with Path("/dev/full").open("w") as output:
        done = subprocess.run(
            [sys.executable, "-m", "pyengine", "train", "--show", "connect4"],
            stdout=output, stderr=subprocess.PIPE, text=True, timeout=60, check=False,
        )  # fmt: skip
    assert done.returncode == 1
    assert "the output cannot be written" in done.stderr
    assert "connect4" not in done.stderr


@LINUX
@pytest.mark.parametrize("closed", [">&-", "<&-", "2>&-", ">&- <&- 2>&-"])
def test_a_command_runs_where_streams_are_closed(closed: str) -> None:
    command = f"'{sys.executable}' -m pyengine search tic_tac_toe --simulations 4 {closed}"
    done = subprocess.run(
        command, shell=True, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert ("best" in done.stdout) == (">&-" not in closed.replace("2>&-", ""))
