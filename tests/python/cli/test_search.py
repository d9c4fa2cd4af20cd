"""The output of ``pyengine search``, ``solve``, ``doctor`` and ``bench``."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import pyengine
from commands import printed, run
from pyengine.cli import bench, options
from pyengine.doctor import DoctorReport
from pyengine.doctor.report import Check
from pyengine.games import as_game
from pyengine.games.move_names import find_action
from tiny_models import DEFAULT, TinyModel
from toy_games import ToyGame, ToyState


def searched(*arguments: object) -> Any:
    return json.loads(printed("search", *arguments, "--json"))


# --- search and solve


def test_search_prints_board_moves_line_and_speed() -> None:
    arguments = "search connect_four --moves 4,4,3 -m rollout -n 300 -t 1"
    text = printed(*arguments.split())
    state = pyengine.load_game("connect_four").new_initial_state([3, 3, 2])
    board, _, _ = str(state).rstrip().rpartition("\n")
    assert f"{board}\nYellow (O) to move, last move 3\n" in text
    for word in ("visits", "prior", "best", "line", "300 simulations", "with  rollout, 1 threads"):
        assert word in text
    assert text.isascii()


def test_playouts_use_uct_by_default(tmp_path: Path) -> None:
    settings = tmp_path / "puct.toml"
    settings.write_text('algorithm = "puct"\n')
    without = tmp_path / "without.toml"
    without.write_text("temperature = 0.5\n")

    def algorithm_of(*arguments: str) -> str:
        return str(searched("tic_tac_toe", "-n", "20", *arguments)["config"]["algorithm"])

    assert algorithm_of("-m", "rollout") == "uct"
    assert algorithm_of("-m", "rollout", "--config", str(without)) == "uct"
    assert algorithm_of("-m", "rollout", "--config", str(settings)) == "puct"
    assert algorithm_of("-m", "rollout", "--algorithm", "flat_ucb") == "flat_ucb"
    assert algorithm_of("-m", "uniform") == "puct"
    assert algorithm_of("-m", "tic_tac_toe") == "puct"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("--set graph=true", "the default with playouts is uct: add --algorithm puct"),
        ("--set graph=true --algorithm uct", "graph: expected True only if algorithm is puct"),
        ("--set batch_size=0", "batch_size: expected"),
    ],
)
def test_an_error_names_the_default_algorithm_if_only_that_is_wrong(
    arguments: str, words: str
) -> None:
    done = run("search", "tic_tac_toe", "-m", "rollout", "-n", 20, *arguments.split())
    assert (done.status, words in done.words) == (2, True)
    assert ("default" in done.words) == ("default" in words)
    assert printed("search", "tic_tac_toe", "-m", "rollout", "-n", 20, "--algorithm", "puct",
                   "--set", "graph=true")  # fmt: skip


def test_search_as_json_is_the_result() -> None:
    arguments = "tic_tac_toe --moves a1,b2 -m uniform -n 200 --set deterministic=true --seed 5"
    report = searched(*arguments.split())
    state = pyengine.load_game("tic_tac_toe").new_initial_state([0, 4])
    result = pyengine.search(
        state, evaluator="uniform", simulations=200, deterministic=True, seed=5
    )
    assert report["visits"] == result.visits.tolist()
    assert report["action"] == result.action
    assert report["best"] == state.action_to_string(result.action)
    assert report["names"] == [state.action_to_string(a) for a in state.legal_actions()]
    assert len(report["line"]) == len(report["pv"])
    assert report["config"]["seed"] == 5
    assert report["stats"]["simulations"] == 200


def test_search_takes_a_board_from_a_file_or_the_input(tmp_path: Path) -> None:
    board = "X X .\nO O .\n. . .\n"
    path = tmp_path / "board.txt"
    path.write_text(board)
    for source, typed, player in ((str(path), "", "1"), ("-", board, "o"), ("-", board, "second")):
        arguments = ["search", "tic_tac_toe", "--board", source, "--to-move", player, "--json"]
        report = json.loads(run(*arguments, "-m", "uniform", typed=typed).out)
        assert (report["best"], report["proven"]) == ("c2", 1)


def test_the_player_to_move_is_named_as_the_game_names_it(tmp_path: Path) -> None:
    path = tmp_path / "board.txt"
    path.write_text("....\n.OX.\n.XO.\n....\n")
    arguments = ("search", "othello(board_size=4)", "--board", path, "-m", "uniform", "-n", 4)
    assert "White (O) to move, Black 2, White 2\n" in printed(*arguments, "--to-move", "white")
    done = run(*arguments, "--to-move", "red")
    assert done.status == 2
    assert "--to-move: expected one of black, white, first, second" in done.words


@pytest.mark.skipif("go9" not in pyengine.bundled_models(), reason="this build has no go9")
def test_search_shows_the_score_and_on_request_the_owners() -> None:
    text = printed("search", "go9", "-n", 8, "--ownership")
    assert " (expected by go9)\nboard Black 0, White 0 + 7\n" in text
    assert text.endswith("X Black, O White; x o likely; . open\n")
    other = printed("search", "tic_tac_toe", "-m", "uniform", "-n", 8, "--ownership")
    assert other.endswith("uniform does not predict ownership\n")


def test_options_override_the_settings_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "search.toml"
    path.write_text(pyengine.SearchConfig(simulations=50, c_puct=2.5).to_toml())
    changes = "--set symmetry=none --set c_puct_base=none --set batch_size=4"
    report = searched("connect_four", "-m", "uniform", "--config", path, "-t", 1, *changes.split())
    assert report["simulations"] == 50
    config = report["config"]
    assert (config["c_puct"], config["threads"], config["batch_size"]) == (2.5, 1, 4)
    assert (config["symmetry"], config["c_puct_base"]) == ("none", None)


def test_search_reads_a_network_with_its_spec(tmp_path: Path) -> None:
    model = TinyModel(planes=(2, 3, 3)).write(tmp_path / "tiny.onnx")
    spec = tmp_path / "spec.json"
    spec.write_text(pyengine.ModelSpec(planes=("own[0]", "opp[0]")).to_json())
    arguments = ("tic_tac_toe", "-m", model, "--spec", spec, "-n", "40", "--provider", "cpu")
    report = searched(*arguments)
    assert report["stats"]["provider"] == "CPUExecutionProvider"
    assert report["evaluations"] > 0


def test_the_default_evaluator_is_the_bundled_network_or_playouts() -> None:
    models = {
        "go(board_size=5)": "rollout",
        "go(board_size=7,komi=7.5)": "go7",
        "connect_four": "connect4",
        "connect_four(columns=8)": "rollout",
        "gomoku(board_size=10)": "gomoku",
        "gomoku(board_size=7)": "rollout",
        "gomoku(board_size=10,rule=standard)": "rollout",
    }
    for game, model in models.items():
        if model == "rollout" or model in pyengine.bundled_models():
            assert searched(game, "-n", 8)["model"] == model
    assert searched("connect_four", "-p", "columns=8", "-n", 8)["game"] == (
        "connect_four(rows=6,columns=8)"
    )


def test_the_strength_of_the_default_evaluator_is_shown() -> None:
    def about(game: str) -> str:
        lines = printed("search", game, "-n", 8).splitlines()
        return next((line for line in lines if line.startswith("about")), "")

    assert "no network is bundled for this game" in about("go(board_size=5)")
    if "go7" in pyengine.bundled_models():
        text = about("go(board_size=7,komi=7.5)")
        assert "trained for komi 9.5; 200 simulations against 2,000 with playouts" in text
    if "gomoku" in pyengine.bundled_models():
        text = about("gomoku(board_size=10)")
        assert text.endswith("trained for board size 8, 9, 11, 13, 15")  # strength not measured
        assert about("gomoku(board_size=9)") == ""
        assert "20x20, 50 simulations against UCT" in about("gomoku(board_size=20)")
        assert "8x8, 200 simulations against" in about("gomoku(board_size=8)")


def test_playouts_get_a_default_time_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(options, "_PLAYOUT_SECONDS", 0.1)
    report = searched("go(board_size=5)")
    assert (report["config"]["seconds"], report["stop_reason"]) == (0.1, "seconds")
    assert searched("go(board_size=5)", "-n", "30")["simulations"] == 30
    deterministic = searched("go(board_size=3)", "--set", "deterministic=true")
    assert deterministic["simulations"] == 800


def test_unvisited_moves_are_counted_if_all_priors_are_equal() -> None:
    few = printed("search", "gomoku", "-m", "uniform", "-n", 100)
    assert "of 225 moves have no visit" in few
    enough = printed("search", "tic_tac_toe", "-m", "uniform", "-n", 500)
    assert "no visit" not in enough


@pytest.mark.parametrize(
    ("game", "moves", "words"),
    [
        ("connect_four", "4 1 4 1 4 1", "a win for Red (X)"),
        ("connect_four", "4 4 3 3 5", "a loss for Yellow (O)"),
        ("tic_tac_toe", "", "a draw"),
        ("pyspiel:connect_four", "x3 o0 x3 o0 x3 o0", "a win for the first player"),
    ],
)
def test_a_solved_value_names_the_player(game: str, moves: str, words: str) -> None:
    if game.startswith("pyspiel"):
        pytest.importorskip("pyspiel", reason="OpenSpiel is not installed")
    assert f"value  {words}\n" in printed("solve", game, "--moves", moves)


def test_move_names_may_differ_only_in_case() -> None:
    class Capitals(ToyState):
        def action_to_string(self, action: int) -> str:
            return ("bxc3", "Bxc3", "d4")[action]

    state = as_game(ToyGame(Capitals)).new_initial_state()
    assert [find_action(state, text) for text in ("bxc3", "Bxc3", "D4")] == [0, 1, 2]
    with pytest.raises(pyengine.IllegalActionError):
        find_action(state, "BXC3")


# --- doctor and bench


@pytest.mark.usefixtures("examined_once")
def test_doctor_prints_its_report_and_exits_1_if_a_check_failed(
    report: DoctorReport, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = run("doctor")
    assert done.status == (0 if report.ok else 1)
    for phrase in ("would use", *map(str, report.checks)):
        assert phrase in done.out
    assert json.loads(run("doctor", "--json").out)["provider"] == report.provider
    broken = replace(report, checks=(Check("disk", "FAIL", "is full"),))
    monkeypatch.setattr("pyengine.cli.doctor.examine", lambda _device: broken)
    done = run("doctor", "--json")
    assert (done.status, json.loads(done.out)["ok"]) == (1, False)


def test_doctor_gpu_without_a_gpu_exits_1_with_the_reason(
    report: DoctorReport, tmp_path: Path
) -> None:
    if report.provider.startswith("CUDA"):
        pytest.skip("this machine has a working GPU")
    model = TinyModel(metadata=DEFAULT).write(tmp_path / "tiny.onnx")
    arguments = ["doctor", "--gpu", "--model", str(model), "--game", "tic_tac_toe"]
    done = run(*arguments)
    assert done.status == 1
    assert "FAIL  CUDAExecutionProvider: CUDAExecutionProvider is not available: " in done.out
    result = json.loads(run(*arguments, "--json").out)
    assert result["ok"] is False
    assert result["checks"][-1]["verdict"] == "SKIP"


class FakeSuite:
    """A benchmark suite that records its options."""

    DESCRIPTION = "for the test"

    def __init__(self) -> None:
        self.options: list[Any] = []

    def run(self, report: Any, options: Any) -> None:
        self.options.append(options)
        report.rows.append({"name": "fake/row", "rate": 3})


def test_bench_runs_all_suites_except_the_skipped_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    suites = {name: FakeSuite() for name in ("one", "two", "three", "four")}
    installed = bench._module
    monkeypatch.setattr(bench, "suites", lambda: tuple(suites))
    monkeypatch.setattr(bench, "_module", lambda name: suites.get(name) or installed(name))
    skipped = ("--skip", "two", "--skip", "four")
    path = tmp_path / "report.json"
    done = run("bench", "all", *skipped, "--quick", "-s", "0.5", "--json", path)
    assert (done.status, done.out.count("fake/row     3")) == (0, 2)
    assert list(json.loads(path.read_text())) == ["one", "three"]
    assert [len(suite.options) for suite in suites.values()] == [1, 0, 1, 0]
    assert (suites["one"].options[0].quick, suites["one"].options[0].seconds) == (True, 0.5)
