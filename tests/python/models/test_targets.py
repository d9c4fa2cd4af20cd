"""Measurements of the bundled networks: cases, solver, matches, reports."""

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


@pytest.fixture
def context(tmp_path: Path) -> Any:
    from measure.context import Context

    return Context(work=tmp_path / "work", shared=tmp_path / "shared", quick=True)


@pytest.fixture(scope="module")
def solver_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder where the solver is compiled once."""
    return tmp_path_factory.mktemp("solver")


@pytest.fixture
def solver(solver_folder: Path) -> Iterator[Any]:
    from measure.pons import Solver

    if shutil.which("c++") is None:
        pytest.skip("the solver needs a C++ compiler")
    with Solver(solver_folder) as solver:
        yield solver


def case(moves: str, value: int) -> Any:
    """Return a position without the values of its moves."""
    from measure.pons import Case

    return Case(moves, value, ())


def test_every_position_of_tic_tac_toe_is_solved_once() -> None:
    """There are 5,478 positions, 958 of them terminal [known counts]."""
    from measure.solving import values_of

    solved = values_of(pyengine.load_game("tic_tac_toe"))
    assert len(solved) == 5478 - 958
    assert solved[-1].state.history() == []
    assert solved[-1].value == 0
    assert solved[-1].best == frozenset(range(9))


def test_all_replies_to_a_weak_player_include_wins_and_losses() -> None:
    from measure.solving import lines_against

    game = pyengine.load_game("tic_tac_toe")

    def first_free(states: list[pyengine.State]) -> list[int]:
        return [state.legal_actions()[0] for state in states]

    points = lines_against(game, first_free, 0)
    assert min(points) == -1
    assert max(points) == 1


def test_a_finding_is_compared_with_its_target() -> None:
    from measure.findings import Finding, share

    some = share("wrong", [True, False, False, False], most=0.5)
    assert (some.figure, some.reached) == (0.25, True)
    assert some.interval is not None
    assert some.interval[0] < 0.25 < some.interval[1]
    even, ahead = (
        Finding(name="match", figure=figure, interval=None, count=600, more_than=0.5)
        for figure in (0.5, 0.5008)
    )
    assert (even.reached, ahead.reached) == (False, True)
    assert str(even).endswith("target > 50.0%: missed")
    everything = share("lost", [False, False], complete=True, most=0.0)
    assert everything.interval is None
    row = everything.to_dict()
    assert (row["figure"], row["most"], row["reached"]) == (0.0, 0.0, True)
    assert "least" not in row
    assert "reached" not in share("for information", [True]).to_dict()


def test_the_solver_agrees_with_exhaustive_play(solver: Any) -> None:
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
    """Return the value for the player to move by exhaustive play."""
    best = -1
    for action in state.legal_actions():
        after = state.clone()
        after.apply_action(action)
        if after.is_terminal():
            best = max(best, int(after.returns()[state.current_player()]))
        else:
            best = max(best, -exhaustive(after))
        if best == 1:
            break
    return best


def test_a_move_is_wrong_if_it_gives_away_the_value(solver: Any) -> None:
    """X has three in the bottom row: column 4 wins, other moves let O block."""
    from measure.pons import keeps

    game = pyengine.load_game("connect_four")
    open_three = case("112233", 1)
    assert open_three.state(game).legal_actions() == list(range(7))
    assert keeps(open_three, 3, solver)
    assert not keeps(open_three, 0, solver)
    assert keeps(case("112233", -1), 0, solver)  # a lost position has no wrong moves


def test_answers_of_the_solver_are_cached(solver: Any, solver_folder: Path) -> None:
    """A second solver with the same folder does not start the program."""
    from measure.pons import Solver

    assert solver.reaches("112233", win=True)
    solver.close()
    with Solver(solver_folder) as second:
        assert second.reaches("112233", win=True)
        assert second._process is None


def test_the_solver_refuses_illegal_moves(solver: Any) -> None:
    with pytest.raises(pyengine.EngineError, match="moves of an open game, got 8"):
        solver.reaches("8", win=True)


@pytest.mark.parametrize("name", ["L2_R2", "L3_R1"])
def test_the_solver_agrees_with_the_scores_of_the_columns(
    shared: Callable[..., Path], solver: Any, name: str
) -> None:
    from measure.pons import Case, keeps, read_set

    game = pyengine.load_game("connect_four")
    for scored in read_set(shared("oracles", "05-connect-four", f"pons_{name}.csv"))[:40]:
        unscored = Case(scored.moves, scored.value, ())
        for action in scored.state(game).legal_actions():
            if scored.value >= 0:
                expected = keeps(scored, action, solver)
                assert keeps(unscored, action, solver) == expected, scored.moves


def test_new_positions_follow_from_the_seed_and_are_solved(solver: Any) -> None:
    """The columns have the values of the engine's solver, and some move is wrong."""
    from measure.new_positions import new_cases

    game = pyengine.load_game("connect_four")
    exact = pyengine.exact.Solver(game, table_mb=16, threads=1)
    cases = list(itertools.islice(new_cases(3, solver), 2))
    assert cases == list(itertools.islice(new_cases(3, solver), 2))
    for new in cases:
        state = new.state(game)
        assert 14 <= len(new.moves) < 28
        assert len(exact.solve(state, score=True).pv) >= 14
        assert exact.solve(state).value == new.value
        for action in state.legal_actions():
            after = state.clone()
            after.apply_action(action)
            value = after.returns()[state.current_player()] if after.is_terminal() else None
            assert new.columns[action] == (-exact.solve(after).value if value is None else value)
        assert any(column not in (None, new.value) for column in new.columns)


def test_a_recorded_match_is_not_played_again(context: Any) -> None:
    calls = []

    def other(state: pyengine.State) -> int:
        calls.append(state)
        return state.legal_actions()[0]

    other.identity = "the first cell"  # type: ignore[attr-defined]
    game = pyengine.load_game("tic_tac_toe")
    with context.engine(game, "uniform", 20) as engine:
        first = context.play("against the first cell", engine, other, 40, plies=2)
        count = len(calls)
        again = context.play("against the first cell", engine, other, 40, plies=2)
    assert first == again
    assert first.count == 4  # a tenth, because of quick
    assert len(calls) == count > 0


def test_an_absent_third_party_network_is_named(context: Any) -> None:
    with pytest.raises(pyengine.ConfigError, match=r"gomoku8x8_5\.onnx.*PYENGINE_SHARED"):
        context.opponent("gomoku8x8_5")


def test_the_command_measures_the_bundled_tic_tac_toe(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import targets

    model = str(MODELS / "tic_tac_toe.onnx")
    status = targets.main(["tic_tac_toe", model, "--json", "--work", str(tmp_path)])
    rows = json.loads(capsys.readouterr().out)
    assert status == 0
    assert [row["reached"] for row in rows] == [True, True]
    assert rows[1]["count"] == 4520


def test_a_network_is_restored_from_the_git_history(
    tmp_path: Path, context: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from measure import history

    def git(*words: str) -> str:
        identity = ("-c", "user.name=n", "-c", "user.email=e@e")
        command = ["git", "-C", str(tmp_path), *identity, *words]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

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
    """NAME-WAY.toml is another way to train NAME."""
    import targets

    names = {path.stem.partition("-")[0] for path in (MODELS / "runs").glob("*.toml")}
    assert names <= set(targets.NAMES)
    for name in targets.NAMES:
        assert (MODELS / "measure" / f"{name}.py").exists()
