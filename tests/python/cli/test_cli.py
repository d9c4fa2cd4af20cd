"""The command ``pyengine``: what it prints, its exit status, and a clean terminal after Ctrl-C."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import pyengine
from terminal import Terminal
from tiny_models import DEFAULT, TinyModel

pytest.importorskip("typer", reason="the extra cli is not installed")

from pyengine.cli import main

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run() -> Run:
    """Run the command with pipes: no terminal, no colours."""

    def call(*arguments: str, typed: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "pyengine.cli", *arguments],
            input=typed, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip

    return call


# --- in general ----------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["", "search", "play", "solve", "doctor", "bench"])
def test_every_command_has_help(run: Run, command: str) -> None:
    done = run(*command.split(), "--help")
    assert done.returncode == 0
    assert "Usage: pyengine" in done.stdout


def test_the_version_is_the_packages(run: Run) -> None:
    assert run("--version").stdout == f"pyengine {pyengine.__version__}\n"


@pytest.mark.parametrize("columns", ["0", "1", "12"])
@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ("search connect_four -m uniform -n 4", "move visits share prior value wins"),
        ("solve tic_tac_toe", "exact yes"),
        ("games tic_tac_toe", "tic_tac_toe: three in a row on a board of 3x3."),
        ("match tic_tac_toe random random -g 2 --plies 0", "random (a) - random (b): 2 games"),
        ("play tic_tac_toe -m uniform -n 4 --human none", "engine plays"),
        ("play --help", "Usage: pyengine play [OPTIONS]"),
        ("search chess", 'Invalid value: unknown game "chess"'),
    ],
)
def test_a_narrow_terminal_is_shown_whole_lines(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    arguments: str,
    line: str,
    columns: str,
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))  # of the record of a game
    assert main(arguments.split()) in (0, 2)
    told = capsys.readouterr()
    assert line in " ".join((told.out + told.err).split())


def test_a_narrow_terminal_shows_progress_and_keeps_it_not() -> None:
    with Terminal("search", "connect_four", "-m", "rollout", "-s", "0.6", COLUMNS="12") as terminal:
        terminal.wait_for("simulations,")
        assert terminal.end() == 0
        assert terminal.is_clean()
    assert "prior" in terminal.text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("nonsense", "No such command"),
        ("search", "Missing argument"),
        ("search chess", 'unknown game "chess"'),
        ("search go --param board_size=99", "board_size"),
        ("search go --param board_size", "NAME=VALUE"),
        ("search connect_four --moves 9", "--moves"),
        ("search tic_tac_toe --moves a1,a1", "--moves"),
        ("search connect_four --board /no/such/file", "--board: expected a file, found no /no"),
        ("search connect_four --model no.onnx", "neither a file nor"),
        ("search connect_four --symmetry twisted", "symmetry"),
        ("search connect_four --algorithm best", "algorithm"),
        ("search connect_four --batch-size 99999", "batch_size"),
        ("search connect_four --seconds -1", "seconds"),
        ("search connect_four --simulations 0", "simulations"),
        ("search connect_four --model rollout --provider cpu", "for networks"),
        ("play connect_four --human everybody", "human"),
        ("search nim.py:Nim", "expected FILE.py:NAME with the file of a game"),
        ("solve tic_tac_toe --depth 0", "depth: expected an int of at least 1, found 0"),
        ("solve tic_tac_toe --seconds 0", "seconds: expected a number > 0 or None"),
        ("solve tic_tac_toe --table-mb 0", "table_mb: expected MiB from 64 bytes"),
        ("solve tic_tac_toe --score", "score: expected False"),
        ("doctor --quick", "--gpu"),
        ("bench no_such_suite", "no_such_suite"),
        ("bench all --skip no_such_suite", "--skip: no suite no_such_suite"),
        ("bench tree --skip tree", "leaves no suite"),
        ("bench --tune connect4 --skip tree", "takes none"),
    ],
)
def test_wrong_use_ends_with_2_and_says_what_is_wrong(run: Run, arguments: str, words: str) -> None:
    done = run(*arguments.split())
    assert done.returncode == 2
    assert "".join(words.split()) in "".join(done.stderr.replace("│", "").split())
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


def test_an_error_of_the_engine_is_one_line_and_ends_with_1(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "broken.onnx"
    path.write_bytes(b"this is no network")
    done = run("search", "connect_four", "--model", str(path))
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    assert "broken.onnx" in done.stderr


@pytest.mark.parametrize("command", ["search", "solve"])
def test_a_search_of_a_game_that_is_over_is_an_error(run: Run, command: str) -> None:
    done = run(command, "connect_four", "--moves", "1 2 1 2 1 2 1")
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1


def test_without_its_extra_it_names_the_extra() -> None:
    code = (
        "import sys; sys.modules['typer'] = None\n"
        "from pyengine.cli import main; sys.exit(main(['search', 'go']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "pip install 'pyengine-search[cli]'" in done.stderr
    assert done.stderr.count("\n") == 1


def test_the_library_does_not_import_the_extra() -> None:
    code = "import sys, pyengine; sys.exit('typer' in sys.modules or 'rich' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# --- search --------------------------------------------------------------------------------------


def test_search_prints_board_moves_line_and_speed(run: Run) -> None:
    done = run(
        "search", "connect_four", "--moves", "4 4 3", "-m", "rollout", "-n", "300", "-t", "1"
    )
    assert (done.returncode, done.stderr) == (0, "")
    state = pyengine.load_game("connect_four").new_initial_state([3, 3, 2])
    board, _, _ = str(state).rstrip().rpartition("\n")
    assert f"{board}\nYellow (O) to move\n" in done.stdout
    for word in ("visits", "prior", "best", "line", "300 simulations", "with  rollout, 1 threads"):
        assert word in done.stdout
    assert done.stdout.isascii()


@pytest.mark.parametrize("command", ["search", "solve"])
def test_the_end_of_a_game_is_shown_with_its_result(run: Run, command: str) -> None:
    done = run(command, "connect_four", "--moves", "1 2 1 2 1 2 1")
    assert done.returncode == 1
    assert done.stdout.endswith("1 2 3 4 5 6 7\nRed (X) wins\n")
    assert done.stderr.endswith("found its end: Red (X) wins\n")
    done = run(command, "connect_four", "--moves", "1 2 1 2 1 2 1", "--json")
    assert (done.returncode, done.stdout) == (1, "")


def test_playouts_are_searched_by_uct_unless_another_algorithm_is_named(
    run: Run, tmp_path: Path
) -> None:
    settings = tmp_path / "puct.toml"
    settings.write_text('algorithm = "puct"\n')
    unnamed = tmp_path / "unnamed.toml"
    unnamed.write_text("temperature = 0.5\n")

    def algorithm_of(*arguments: str) -> str:
        done = run("search", "tic_tac_toe", "-n", "20", "--json", *arguments)
        assert done.returncode == 0, done.stderr
        return str(json.loads(done.stdout)["config"]["algorithm"])

    assert algorithm_of("-m", "rollout") == "uct"
    assert algorithm_of("-m", "rollout", "--config", str(unnamed)) == "uct"
    assert algorithm_of("-m", "rollout", "--config", str(settings)) == "puct"
    assert algorithm_of("-m", "rollout", "--algorithm", "flat_ucb") == "flat_ucb"
    assert algorithm_of("-m", "uniform") == "puct"
    assert algorithm_of("-m", "tic_tac_toe") == "puct"


def test_search_as_json_is_the_result(run: Run) -> None:
    arguments = "search tic_tac_toe --moves a1,b2 -m uniform -n 200 --deterministic --seed 5 --json"
    done = run(*arguments.split())
    found = json.loads(done.stdout)
    state = pyengine.load_game("tic_tac_toe").new_initial_state([0, 4])
    result = pyengine.search(
        state, evaluator="uniform", simulations=200, deterministic=True, seed=5
    )
    assert found["visits"] == result.visits.tolist()
    assert found["action"] == result.action
    assert found["best"] == state.action_to_string(result.action)
    assert found["names"] == [state.action_to_string(a) for a in state.legal_actions()]
    assert len(found["line"]) == len(found["pv"])
    assert found["config"]["seed"] == 5
    assert found["stats"]["simulations"] == 200


def test_search_takes_a_board_from_a_file_or_the_input(run: Run, tmp_path: Path) -> None:
    board = "X X .\nO O .\n. . .\n"
    path = tmp_path / "board.txt"
    path.write_text(board)
    for source, typed in ((str(path), ""), ("-", board)):
        arguments = ["search", "tic_tac_toe", "--board", source, "--to-move", "1", "--json"]
        found = json.loads(run(*arguments, "-m", "uniform", typed=typed).stdout)
        assert found["best"] == "c2"
        assert found["proven"] == 1


def test_search_takes_settings_from_a_file_and_options_above_it(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "search.toml"
    path.write_text(pyengine.SearchConfig(simulations=50, c_puct=2.5).to_toml())
    arguments = ["search", "connect_four", "-m", "uniform", "--config", str(path), "--json"]
    found = json.loads(run(*arguments, "--batch-size", "4").stdout)
    assert found["simulations"] == 50
    assert (found["config"]["c_puct"], found["config"]["batch_size"]) == (2.5, 4)


def test_search_reads_a_network_with_its_spec(run: Run, tmp_path: Path) -> None:
    model = TinyModel(planes=(2, 3, 3)).write(tmp_path / "tiny.onnx")
    spec = tmp_path / "spec.json"
    spec.write_text(pyengine.ModelSpec(planes=("own[0]", "opp[0]")).to_json())
    arguments = ["search", "tic_tac_toe", "-m", str(model), "--spec", str(spec), "-n", "40"]
    found = json.loads(run(*arguments, "--provider", "cpu", "--json").stdout)
    assert found["stats"]["provider"] == "CPUExecutionProvider"
    assert found["evaluations"] > 0


def test_the_default_is_the_bundled_network_of_the_game_else_playouts(run: Run) -> None:
    def model_of(*game: str) -> Any:
        return json.loads(run("search", *game, "-n", "20", "--json").stdout)["model"]

    assert model_of("go", "-p", "board_size=5") == "rollout"
    if "connect4" in pyengine.bundled_models():
        assert model_of("connect_four") == "connect4"
        assert model_of("connect_four", "-p", "columns=8") == "rollout"
    if "go7" in pyengine.bundled_models():
        assert model_of("go", "-p", "board_size=7", "-p", "komi=7.5") == "go7"
    if "go9" in pyengine.bundled_models():
        assert model_of("go", "-p", "board_size=9", "-p", "komi=7") == "go9"
    if "gomoku" in pyengine.bundled_models():
        assert model_of("gomoku", "-p", "board_size=10") == "gomoku"
        assert model_of("gomoku", "-p", "board_size=7") == "rollout"
        assert model_of("gomoku", "-p", "board_size=10", "-p", "rule=standard") == "rollout"


def test_what_plays_is_said_with_its_strength(run: Run) -> None:
    def about(*game: str) -> str:
        lines = run("search", *game, "-n", "20").stdout.splitlines()
        return next((line for line in lines if line.startswith("about")), "")

    assert "no network is bundled for this game" in about("go", "-p", "board_size=5")
    if "go7" in pyengine.bundled_models():
        text = about("go", "-p", "board_size=7")
        assert "trained for komi 9.5; 200 simulations against 2,000 with playouts" in text
    if "gomoku" in pyengine.bundled_models():
        text = about("gomoku", "-p", "board_size=10")
        assert text.endswith("trained for board size 8, 9, 11, 13, 15")  # none was measured there
        assert about("gomoku", "-p", "board_size=9") == ""
        assert "8x8, 200 simulations against" in about("gomoku", "-p", "board_size=8")
        assert "15x15, 200 simulations against" in about("gomoku")


def test_playouts_think_for_a_time_where_no_budget_is_given(run: Run) -> None:
    def searched(*arguments: str) -> Any:
        return json.loads(run("search", "go", "-p", "board_size=5", "--json", *arguments).stdout)

    found = searched()
    assert (found["config"]["seconds"], found["stop_reason"]) == (3.0, "seconds")
    assert searched("-n", "30")["simulations"] == 30
    assert searched("--deterministic")["simulations"] == 800


def test_a_reader_that_leaves_is_no_traceback() -> None:
    arguments = ["search", "go", "-m", "uniform", "-n", "5", "--json"]
    process = subprocess.Popen(
        [sys.executable, "-m", "pyengine.cli", *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert "Traceback" not in process.stderr.read()
    process.wait(30)
    process.stderr.close()


# --- Ctrl-C --------------------------------------------------------------------------------------


def test_ctrl_c_ends_a_search_and_leaves_a_clean_terminal() -> None:
    with Terminal("search", "connect_four", "-m", "rollout", "--seconds", "100") as terminal:
        terminal.wait_for("simulations,")
        terminal.send("\x03")
        assert terminal.end() == 130
        assert terminal.is_clean()
        found = " ".join(terminal.text[terminal.text.index("visits") :].split())
        assert "positions evaluated, stopped" in found, "what it has found is printed"
        assert "\x1b[?25l" in terminal.text, "the progress hides the cursor while it runs"


def test_ctrl_c_ends_solve_with_the_best_so_far() -> None:
    with Terminal("solve", "connect_four", "--threads", "1") as terminal:
        terminal.wait_for("Ctrl-C stops")
        time.sleep(0.5)
        terminal.send("\x03")
        assert terminal.end() == 130
        assert terminal.is_clean()
    for words in ("exact  no, ", "best   4", "line   4"):
        assert words in terminal.text


def test_ctrl_c_ends_tune_with_the_best_so_far() -> None:
    with Terminal("bench", "--tune", "tic_tac_toe", "--seconds", "100") as terminal:
        terminal.wait_for("m0:0")  # the time that is left, after two measurements
        terminal.send("\x03")
        assert terminal.end() == 130
        assert terminal.is_clean()
    assert "<- chosen" in terminal.text
    assert "(interrupted)" in terminal.text


_LONG = ("-n", "1000000", "-t", "1")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("match", "go", "rollout", "rollout", *_LONG), "the games are not kept; --record FILE"),
        (
            ("match", "go", "rollout", "rollout", *_LONG, "--record", "kept.jsonl"),
            "the same command goes on from the games in kept.jsonl",
        ),
        (
            ("selfplay", "go", "-m", "rollout", *_LONG, "--out", "games"),
            "the same command plays more games into games",
        ),
    ],
)
def test_ctrl_c_before_a_game_ends_says_how_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with Terminal(*arguments) as terminal:
        terminal.wait_for("0/100")
        terminal.send("\x03")
        assert terminal.end() == 130
        assert terminal.is_clean()
    assert f"stopped; {words}" in " ".join(terminal.text.split())


def test_sigterm_shows_the_cursor_again() -> None:
    with Terminal("search", "connect_four", "-m", "rollout", "--seconds", "100") as terminal:
        terminal.wait_for("simulations,")
        terminal.process.send_signal(signal.SIGTERM)
        assert terminal.end() == 143
        assert terminal.is_clean()


def test_ctrl_c_without_a_terminal_is_no_traceback() -> None:
    arguments = ["play", "go", "-m", "rollout", "--seconds", "100", "--human", "none"]
    with subprocess.Popen(
        [sys.executable, "-u", "-m", "pyengine.cli", *arguments],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert any("to move" in line for line in process.stdout)  # then it thinks
        start = time.monotonic()
        os.kill(process.pid, signal.SIGINT)
        assert process.wait(30) == 130
        assert time.monotonic() - start < 5
        assert process.stderr is not None
        assert process.stderr.read() == ""


def test_progress_is_shown_on_a_terminal_and_goes_away() -> None:
    with Terminal("search", "connect_four", "-m", "rollout", "--seconds", "0.6") as terminal:
        assert terminal.end() == 0
        assert "[####" in terminal.text
        assert "ended by seconds" in terminal.text
        assert "\x1b[2K" in terminal.text[terminal.text.rindex("[####") :]
        assert terminal.is_clean()


def test_a_terminal_sees_stones() -> None:
    with Terminal("search", "connect_four", "--moves", "4 4", "-m", "uniform") as terminal:
        assert terminal.end() == 0
        assert terminal.text.count("●") >= 2
        assert "Red to move" in terminal.text


# --- doctor and bench ----------------------------------------------------------------------------


def test_doctor_as_json_says_what_would_be_used(run: Run) -> None:
    done = run("doctor", "--json")
    found = json.loads(done.stdout)
    assert found["provider"].endswith("ExecutionProvider")
    assert done.returncode == (0 if found["ok"] else 1)
    assert {check["name"] for check in found["checks"]} >= {"ONNX Runtime", "search"}


def test_doctor_prints_a_verdict_a_line(run: Run) -> None:
    text = run("doctor").stdout
    assert "would use" in text
    assert "PASS  search" in text


def test_doctor_gpu_without_a_gpu_ends_with_1_and_the_reason(run: Run, tmp_path: Path) -> None:
    if pyengine.doctor().provider.startswith("CUDA"):
        pytest.skip("this machine has a GPU that works")
    model = TinyModel(metadata=DEFAULT).write(tmp_path / "tiny.onnx")
    arguments = ["doctor", "--gpu", "--model", str(model), "--game", "tic_tac_toe"]
    done = run(*arguments)
    assert done.returncode == 1
    assert "FAIL  CUDAExecutionProvider: CUDAExecutionProvider cannot be had: " in done.stdout
    found = json.loads(run(*arguments, "--json").stdout)
    assert found["ok"] is False
    assert found["checks"][-1]["verdict"] == "SKIP"


def test_doctor_gpu_shows_its_lines_on_the_cpu(run: Run, tmp_path: Path) -> None:
    model = TinyModel(planes=(3, 9, 9), actions=81, metadata=DEFAULT).write(tmp_path / "tiny.onnx")
    arguments = ["doctor", "--gpu", "--quick", "--provider", "cpu", "--model", str(model)]
    found = json.loads(run(*arguments, "--game", "gomoku(board_size=9)", "--json").stdout)
    verdicts = {check["name"]: check["verdict"] for check in found["checks"]}
    assert verdicts["outputs"] == verdicts["padding"] == verdicts["batch 64"] == "PASS"


def test_doctor_gpu_asks_for_the_game_of_a_file(run: Run, tmp_path: Path) -> None:
    model = TinyModel(metadata=DEFAULT).write(tmp_path / "tiny.onnx")
    assert run("doctor", "--gpu", "--model", str(model)).returncode == 2


class FakeSuite:
    """A benchmark suite as the package has them."""

    DESCRIPTION = "for the test"

    def __init__(self, *, failed: bool = False) -> None:
        self.failed = failed
        self.asked: list[Any] = []

    def run(self, report: Any, options: Any) -> None:
        self.asked.append(options)
        report.rows.append({"name": "fake/row", "failed": "wrong"} if self.failed else ROW)


ROW = {"name": "fake/row", "rate": 3}


@pytest.mark.parametrize("failed", [False, True])
def test_bench_runs_suites_and_ends_with_1_when_an_answer_is_wrong(
    failed: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from pyengine.cli import bench, main

    suite, installed = FakeSuite(failed=failed), bench._module
    monkeypatch.setattr(bench, "suites", lambda: ("fake",))
    monkeypatch.setattr(bench, "_module", lambda name: suite if name == "fake" else installed(name))
    path = tmp_path / "report.json"
    status = main(["bench", "all", "--quick", "--seconds", "0.5", "--json", str(path)])
    assert status == (1 if failed else 0)
    assert ("FAILED: wrong" if failed else "fake/row     3") in capsys.readouterr().out
    rows = json.loads(path.read_text())["fake"]["rows"]
    assert rows == ([{"name": "fake/row", "failed": "wrong"}] if failed else [ROW])
    assert (suite.asked[0].quick, suite.asked[0].seconds) == (True, 0.5)


def test_bench_runs_all_suites_but_those_to_skip(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from pyengine.cli import bench, main

    installed, ran = bench._module, {name: FakeSuite() for name in ("one", "two", "three", "four")}
    monkeypatch.setattr(bench, "suites", lambda: tuple(ran))
    monkeypatch.setattr(bench, "_module", lambda name: ran.get(name) or installed(name))
    arguments = ["all", "--skip", "two", "--skip", "four", "--json", "-", "--quick"]
    assert main(["bench", *arguments]) == 0
    assert list(json.loads(capsys.readouterr().out)) == ["one", "three"]
    assert [bool(suite.asked) for suite in ran.values()] == [True, False, True, False]


def test_bench_finds_the_installed_suites() -> None:
    from pyengine.cli.bench import suites

    found = suites()
    if not found:
        pytest.skip("no benchmark suites are installed with this build")
    assert found[:4] == ("tree", "solver", "data", "evaluator")
