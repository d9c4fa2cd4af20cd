"""What measures the bundled networks: cases, matches that go on, honest reports."""

from __future__ import annotations

import hashlib
import itertools
import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyengine
from conftest import ROOT

MODELS = ROOT / "models"


@pytest.fixture(autouse=True)
def models_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    """The scripts lie beside the networks, in no package."""
    monkeypatch.syspath_prepend(str(MODELS))


@pytest.fixture
def context(tmp_path: Path) -> Any:
    """How a test measures: a tenth of everything, in a folder of its own."""
    from measure.context import Context

    return Context(work=tmp_path / "work", shared=tmp_path / "shared", quick=True)


@pytest.fixture(scope="module")
def solver_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the solver is compiled, once for all tests."""
    return tmp_path_factory.mktemp("solver")


@pytest.fixture
def solver(solver_folder: Path) -> Iterator[Any]:
    """Return the solver of Connect Four positions."""
    from measure.pons import Solver

    if shutil.which("c++") is None:
        pytest.skip("the solver needs a C++ compiler, got no c++")
    with Solver(solver_folder) as made:
        yield made


def case(moves: str, value: int) -> Any:
    """Return a position whose moves' values are not known."""
    from measure.pons import Case

    return Case(moves, value, ())


def test_every_position_of_tic_tac_toe_is_solved_once() -> None:
    """5,478 positions, 958 of which are over [known counts]; the first one is a draw."""
    from measure.solving import values_of

    solved = values_of(pyengine.load_game("tic_tac_toe"))
    assert len(solved) == 5478 - 958
    assert solved[-1].state.history() == []
    assert solved[-1].value == 0
    assert solved[-1].best == frozenset(range(9))


def test_who_takes_the_first_free_cell_loses_some_lines_of_tic_tac_toe() -> None:
    """All replies are played, to the end of each line."""
    from measure.solving import lines_against

    game = pyengine.load_game("tic_tac_toe")

    def first_free(states: list[pyengine.State]) -> list[int]:
        return [state.legal_actions()[0] for state in states]

    points = lines_against(game, first_free, 0)
    assert min(points) == -1
    assert max(points) == 1


def test_a_share_of_all_cases_has_no_interval_and_of_some_it_has() -> None:
    from measure.findings import share

    some = share("wrong", [True, False, False, False], most=0.5)
    assert some.figure == 0.25
    assert some.interval is not None
    assert some.interval[0] < 0.25 < some.interval[1]
    assert some.reached is True
    assert share("wrong", [False], complete=True).interval is None


def test_as_many_wins_as_losses_beat_nobody() -> None:
    from measure.findings import Finding

    found = {
        figure: Finding(name="match", figure=figure, interval=None, count=600, more_than=0.5)
        for figure in (0.5, 0.5008)
    }
    assert [each.reached for each in found.values()] == [False, True]
    assert found[0.5].target == "> 50.0%"
    assert str(found[0.5]).endswith("target > 50.0%: missed")
    assert found[0.5].to_dict()["more_than"] == 0.5


def test_what_is_zero_is_told_and_what_is_not_asked_is_not() -> None:
    from measure.findings import share

    row = share("lost", [False, False], complete=True, most=0.0).to_dict()
    assert row["figure"] == 0.0
    assert row["most"] == 0.0
    assert row["reached"] is True
    assert "least" not in row
    assert "reached" not in share("for information", [True]).to_dict()


def test_the_solver_sees_a_win_in_one_and_a_double_threat(solver: Any) -> None:
    """X completes its row; facing three open at both ends, O cannot even draw."""
    assert solver.reaches("112233", win=True)
    assert not solver.reaches("44553", win=False)


def test_the_solver_agrees_with_playing_everything_out(solver: Any) -> None:
    """Random positions with seven empty cells."""
    game = pyengine.load_game("connect_four")
    rng = np.random.default_rng(3)
    checked = 0
    while checked < 12:
        state = game.new_initial_state()
        while not state.is_terminal() and len(state.history()) < 35:
            state.apply_action(int(rng.choice(state.legal_actions())))
        if state.is_terminal():
            continue
        moves = "".join(str(action + 1) for action in state.history())
        value = exhaustive(state)
        assert solver.reaches(moves, win=True) == (value > 0), moves
        assert solver.reaches(moves, win=False) == (value >= 0), moves
        checked += 1


def exhaustive(state: pyengine.State) -> int:
    """Return the value for the player to move, by trying everything."""
    found = -1
    for action in state.legal_actions():
        after = state.clone()
        after.apply_action(action)
        if after.is_terminal():
            found = max(found, int(after.returns()[state.current_player()]))
        else:
            found = max(found, -exhaustive(after))
        if found == 1:
            break
    return found


def test_a_move_is_wrong_when_it_gives_away_what_the_position_is_worth(solver: Any) -> None:
    """X has three in the bottom row: column 4 wins at once, anything else lets O block."""
    from measure.pons import keeps

    game = pyengine.load_game("connect_four")
    open_three = case("112233", 1)
    assert open_three.state(game).legal_actions() == list(range(7))
    assert keeps(open_three, 3, solver)
    assert not keeps(open_three, 0, solver)
    assert keeps(case("112233", -1), 0, solver)  # what is lost cannot be given away


def test_answers_of_the_solver_are_kept(solver: Any, solver_folder: Path) -> None:
    """A second one with the same folder does not start the program."""
    from measure.pons import Solver

    assert solver.reaches("112233", win=True)
    solver.close()
    with Solver(solver_folder) as second:
        assert second.reaches("112233", win=True)
        assert second._process is None


def test_what_is_no_open_game_is_refused_by_the_solver(solver: Any) -> None:
    with pytest.raises(pyengine.EngineError, match="moves of an open game, got 8"):
        solver.reaches("8", win=True)


@pytest.mark.parametrize("name", ["L2_R2", "L3_R1"])
def test_the_solver_finds_the_scores_of_every_column(
    shared: Callable[..., Path], solver: Any, name: str
) -> None:
    """Where the test set gives them, they are a second opinion."""
    from measure.pons import Case, keeps, read_set

    game = pyengine.load_game("connect_four")
    for given in read_set(shared("oracles", "05-connect-four", f"pons_{name}.csv"))[:40]:
        asked = Case(given.moves, given.value, ())
        for action in given.state(game).legal_actions():
            if given.value >= 0:
                assert keeps(asked, action, solver) == keeps(given, action, solver), given.moves


def test_new_positions_follow_from_the_seed_and_are_solved(solver: Any) -> None:
    """Each can be lost by a move; the columns have the values that the engine's solver finds."""
    from measure.new_positions import new_cases

    game = pyengine.load_game("connect_four")
    exact = pyengine.Solver(game, table_mb=16, threads=1)
    found = list(itertools.islice(new_cases(3, solver), 3))
    assert found == list(itertools.islice(new_cases(3, solver), 3))
    for given in found:
        state = given.state(game)
        assert 14 <= len(given.moves) < 28
        assert len(exact.solve(state, score=True).pv) >= 14
        assert exact.solve(state).value == given.value
        for action in state.legal_actions():
            after = state.clone()
            after.apply_action(action)
            value = after.returns()[state.current_player()] if after.is_terminal() else None
            assert given.columns[action] == (-exact.solve(after).value if value is None else value)
        assert any(each not in (None, given.value) for each in given.columns)


def test_a_match_goes_on_where_it_was_stopped(context: Any) -> None:
    """The second time all games are in the record, and nobody is asked."""
    asked = []

    def other(state: pyengine.State) -> int:
        asked.append(state)
        return state.legal_actions()[0]

    other.identity = "the first cell"  # type: ignore[attr-defined]
    game = pyengine.load_game("tic_tac_toe")
    with context.engine(game, "uniform", 20) as engine:
        first = context.play("against the first cell", engine, other, 40, plies=2)
        count = len(asked)
        again = context.play("against the first cell", engine, other, 40, plies=2)
    assert first == again
    assert first.count == 4  # a tenth, since it is quick
    assert len(asked) == count > 0


def test_an_absent_network_of_others_is_named(context: Any) -> None:
    with pytest.raises(pyengine.ConfigError, match=r"gomoku8x8_5\.onnx.*PYENGINE_SHARED"):
        context.opponent("gomoku8x8_5")


def test_the_command_measures_the_bundled_tic_tac_toe(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Both targets are reached, and the exit status says so."""
    import targets

    model = str(MODELS / "tic_tac_toe.onnx")
    status = targets.main(["tic_tac_toe", model, "--json", "--work", str(tmp_path)])
    rows = json.loads(capsys.readouterr().out)
    assert status == 0
    assert [row["reached"] for row in rows] == [True, True]
    assert rows[1]["count"] == 4520


def test_what_cannot_be_measured_is_told_and_the_rest_is_measured(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No test sets: exit status 2, the reason, no finding."""
    import targets

    monkeypatch.setenv("PYENGINE_SHARED", str(tmp_path))
    model = str(MODELS / "connect4.onnx")
    status = targets.main(["connect4", model, "--only", "L3_R1", "--work", str(tmp_path)])
    told = capsys.readouterr()
    assert status == 2
    assert told.out == ""
    assert told.err.count("pons_L3_R1.csv does not exist") == 3


def test_a_name_that_nothing_has_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import targets

    model = str(MODELS / "tic_tac_toe.onnx")
    with pytest.raises(SystemExit):
        targets.main(["tic_tac_toe", model, "--only", "L3_R1", "--work", str(tmp_path)])
    expected = "expected a part of games lost to all replies, 50 simulations; positions in which"
    assert expected in " ".join(capsys.readouterr().err.split())


def test_a_network_of_the_history_is_found(
    tmp_path: Path, context: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the commit that is named, with the digest that is expected, and kept."""
    from measure import history

    def git(*words: str) -> str:
        told = subprocess.run(
            ["git", "-c", "user.name=n", "-c", "user.email=e@e", *words],
            cwd=tmp_path,
            check=True,
            capture_output=True,
            text=True,
        )
        return told.stdout.strip()

    file = tmp_path / "models" / "small.onnx"
    file.parent.mkdir()
    git("init", "-q")
    file.write_bytes(b"first")
    git("add", "models")
    git("commit", "-q", "-m", "first")
    first = git("rev-parse", "HEAD")
    file.write_bytes(b"second")
    git("commit", "-q", "-a", "-m", "second")
    monkeypatch.setattr(history, "ROOT", tmp_path)
    digest = hashlib.sha256(b"first").hexdigest()
    with pytest.raises(pyengine.ConfigError, match="SHA-256 00, got a7"):
        history.bundled_at(first, "small", "00", context)
    with pytest.raises(pyengine.ConfigError, match=r"no-commit.*full history"):
        history.bundled_at("no-commit", "small", digest, context)
    assert history.bundled_at(first, "small", digest, context).read_bytes() == b"first"
    monkeypatch.setattr(history, "ROOT", tmp_path / "models" / "elsewhere")
    assert history.bundled_at(first, "small", digest, context).read_bytes() == b"first"


def test_each_run_file_has_targets() -> None:
    """And each name of targets has its measurements. NAME-WAY.toml learns NAME in another way."""
    import targets

    names = {path.stem.partition("-")[0] for path in (MODELS / "runs").glob("*.toml")}
    assert names <= set(targets.NAMES)
    for name in targets.NAMES:
        assert (MODELS / "measure" / f"{name}.py").exists()
