"""The suite of peers parses their answers, checks them, and continues without missing peers.

No peer is needed: small programs stand in for them.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyengine
from quick_suites import quick, suite_module

common = suite_module("common")
batched, environment, graphs, gtp, leela, openspiel, pairs, worker = (
    suite_module(f"_peers.{name}")
    for name in (
        "batched", "environment", "graphs", "gtp", "leela", "openspiel", "pairs", "worker",
    )
)  # fmt: skip

QUICK = common.Options(quick=True)


def bot(tmp_path: Path, body: str) -> Any:
    """Return a running program that executes the body for each ``line`` of its input."""
    script = tmp_path / "bot.py"
    script.write_text(f"import sys\nfor line in sys.stdin:\n    {body}\n    sys.stdout.flush()\n")
    return worker.Worker([sys.executable, str(script)])


# Missing peers


def test_a_quick_run_names_the_missing_peers_and_installs_nothing() -> None:
    notes = quick("peers")["notes"]
    for name in ("openspiel", "jax", "scipy"):
        assert any(note.startswith(f"missing: {name}: not installed") for note in notes)


def test_every_package_of_an_environment_is_pinned_once() -> None:
    for packages in environment.PACKAGES.values():
        assert all(package.count("==") == 1 for package in packages)
        assert len({package.split("==")[0].lower() for package in packages}) == len(packages)


def test_an_environment_with_outdated_packages_is_not_ready(tmp_path: Path) -> None:
    peer = environment.Environment("jax", tmp_path)
    peer.scripts.mkdir(parents=True)
    peer.python.touch()
    mark = peer.root / "installed.txt"
    mark.write_text(peer.packages)
    assert peer.ready
    mark.write_text("jax==0.0.1\n")
    assert not peer.ready
    with pytest.raises(environment.PeerError, match="not installed"):
        peer.prepare(install=False)


def test_environment_variables_choose_the_cache_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYENGINE_PEERS", "/some/where")
    assert environment.cache_folder() == Path("/some/where")
    monkeypatch.delenv("PYENGINE_PEERS")
    monkeypatch.setenv("XDG_CACHE_HOME", "/cache")
    assert environment.cache_folder() == Path("/cache/pyengine/peers")


def test_a_failed_command_reports_its_error_line() -> None:
    code = "print('one'); print('ERROR: no such package'); print('bye'); raise SystemExit(3)"
    with pytest.raises(environment.PeerError, match="jax: pip: ERROR: no such package"):
        environment.command("jax: pip", [sys.executable, "-c", code])
    with pytest.raises(environment.PeerError, match="nothing-here"):
        environment.command("cmake", ["/nothing-here"])


def test_a_missing_peer_becomes_a_note() -> None:
    def absent() -> int:
        raise environment.PeerError("hex: no program")

    notes: list[str] = []
    assert environment.attempt(absent, notes) is None
    assert environment.attempt(lambda: 7, notes) == 7
    assert notes == ["missing: hex: no program"]


# Workers


def test_a_worker_answers_line_by_line(tmp_path: Path) -> None:
    with bot(tmp_path, "print(line.strip()[::-1])") as echo:
        assert [echo.ask(word) for word in ("abc", "xyz")] == ["cba", "zyx"]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("raise ValueError('no such game')", "status 1: ValueError: no such game"),
        ("pass", r"no answer within 0\.5 s"),
    ],
)
def test_a_worker_that_does_not_answer_is_a_missing_peer(
    body: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "PATIENCE", 0.5 if body == "pass" else 60)
    with bot(tmp_path, body) as silent, pytest.raises(environment.PeerError, match=reason):
        silent.ask("go")


def test_a_program_that_does_not_exist_is_a_missing_peer() -> None:
    with pytest.raises(environment.PeerError, match="nothing-here"):
        worker.Worker(["/nothing-here"])


# Pairs


def test_a_row_states_medians_and_the_median_of_paired_ratios() -> None:
    slow, fast = pairs.Timed(100, 1.0, 0.5), pairs.Timed(100, 0.25, 0.25)
    slower = pairs.Timed(100, 2.0, 0.5)
    row = pairs.figures([slow, slower, slow], [fast, fast, fast], 3.0)
    assert row["peer/s"] == 100
    assert row["pyengine/s"] == 400
    assert (row["from"], row["ratio"], row["to"], row["asked"]) == (4, 4, 8, 3.0)
    assert row["cpu ratio"] == 2
    assert row["pairs"] == 3


def test_short_calls_are_repeated_and_summed() -> None:
    call = iter([pairs.Timed(10, 0.5, 0.25), pairs.Timed(10, 0.5, 0.5), pairs.Timed(1, 9.0)])
    assert pairs.repeated(lambda: next(call), 0.75) == pairs.Timed(20, 1.0, 0.75)


# OpenSpiel


def test_an_answer_states_simulations_and_seconds() -> None:
    assert openspiel.read("1000 999 0.5 0.25", 1000) == (1000, 0.5, 0.25)


@pytest.mark.parametrize(
    ("answer", "claim"),
    [
        ("999 998 0.5 0.5", "makes 1000 simulations; got 999"),
        ("1000 1000 0.5 0.5", "visits add up; got 1000"),
        ("what?", "four numbers"),
    ],
)
def test_a_wrong_number_of_simulations_gives_no_rate(answer: str, claim: str) -> None:
    with pytest.raises(common.CheckError, match=claim):
        openspiel.read(answer, 1000)


def test_a_bot_is_compared_on_every_game(tmp_path: Path) -> None:
    answer = "n = int(line.split()[1]); print(n, n - 1, 0.5, 0.5)"
    with bot(tmp_path, answer) as stand_in:
        for subject in openspiel.SUBJECTS:
            row = openspiel.compare(subject, stand_in, 50, subject.asked, QUICK)
            assert row["peer/s"] == 100
            assert row["pairs"] == 2
            assert row["ratio"] > 0 < row["same formula"]
            row = openspiel.compare_uct(subject, stand_in, 20, QUICK)
            assert row["peer/s"] == 40
            assert row["ratio"] > 0 < row["two threads"]


def test_openspiels_own_games_are_compared_with_both_of_its_bots(tmp_path: Path) -> None:
    pytest.importorskip("pyspiel", reason="OpenSpiel is not installed (extra: test)")
    wall = '{"uct-c++": 0.5, "uct": 5.0}[line.split()[2]]'
    answer = f"n = int(line.split()[1]); print(n, n - 1, {wall}, 0.5)"
    with bot(tmp_path, answer) as stand_in:
        for _, text, _ in openspiel.FOREIGN:
            row = openspiel.compare_foreign(text, stand_in, 60, QUICK)
            assert row["peer/s"] == 120
            assert row["pairs"] == 2
            assert row["ratio"] > 0 < row["python bot"]


def test_a_quick_run_does_not_build_openspiel(tmp_path: Path) -> None:
    peer = environment.Environment("openspiel", tmp_path)
    with pytest.raises(environment.PeerError, match="not built"):
        openspiel.build(peer, install=False)


# Shortest paths


def test_scipy_searches_the_same_graph(tmp_path: Path) -> None:
    pytest.importorskip("scipy.sparse.csgraph", reason="SciPy is not installed (extra: test)")
    arrays = graphs.GRAPHS["random"](400)
    file = tmp_path / "graph.npz"
    np.savez(file, **arrays)
    program = Path(graphs.__file__).with_name("graphs_worker.py")
    with worker.Worker([sys.executable, "-P", str(program)]) as peer:
        row = graphs.compare(peer, file, arrays, QUICK)
    assert row["ratio"] > 0


def test_grids_are_searched_with_and_without_a_heuristic() -> None:
    row = graphs.compare_estimates(30, 0.2, 1.0, QUICK)
    assert row["pairs"] == 2


# mctx and pgx


def test_the_positions_are_reproducible_distinct_and_not_terminal() -> None:
    game = pyengine.load_game("connect_four")
    first, second = (batched.positions(game, 10) for _ in range(2))
    assert [state.history() for state in first] == [state.history() for state in second]
    assert len({tuple(state.history()) for state in first}) > batched.POSITIONS // 2
    assert not any(state.is_terminal() for state in first)


@pytest.mark.parametrize("policy", batched.POLICIES)
def test_a_batch_of_searches_counts_all_its_simulations(policy: str) -> None:
    game = pyengine.load_game("tic_tac_toe")
    states = batched.positions(game, 4)[:3]
    with pyengine.Engine(game, "uniform", config=batched.configuration(policy)) as engine:
        took = batched.searches(engine, states)()
    assert took.done == 3 * batched.SIMULATIONS


def test_the_peer_must_have_the_same_legal_moves() -> None:
    state = pyengine.load_game("tic_tac_toe").new_initial_state()
    state.apply_action(4)
    batched.check_positions(json.dumps({"legal": [[1, 1, 1, 1, 0, 1, 1, 1, 1]]}), [state])
    with pytest.raises(common.CheckError, match="legal for the peer too"):
        batched.check_positions(json.dumps({"legal": [[1] * 9]}), [state])


def test_missing_simulations_give_no_rate() -> None:
    visits = [batched.SIMULATIONS] * batched.POSITIONS
    took = batched.read(json.dumps({"visits": visits, "wall": 0.5, "cpu": 1.0}))
    assert took.rate.wall == 2 * batched.SIMULATIONS * batched.POSITIONS
    with pytest.raises(common.CheckError, match="64 simulations"):
        batched.read(json.dumps({"visits": [0, *visits[1:]], "wall": 0.5, "cpu": 1.0}))


# Leela Zero


def test_the_log_of_a_search_states_its_visits() -> None:
    log = [" M18 ->     113 (V: 36.43%)", "200 visits, 70805 nodes, 199 playouts, 326 n/s", "= M18"]
    assert gtp.read_visits(log) == 200
    with pytest.raises(environment.PeerError, match="visits"):
        gtp.read_visits(["= D4"])


def test_a_heat_map_states_the_best_move_and_the_win_rate() -> None:
    rows = [[0] * 19 for _ in range(19)]
    rows[3][9] = 500  # K16: tenth column without I, fourth row from the top
    lines = [" ".join(f"{cell:3d}" for cell in row) + " " for row in rows]
    analysis = gtp.read_analysis(["", *lines, "pass: 0", "winrate: 0.629538", "= "])
    assert analysis == gtp.Analysis("K16", 0.629538)
    with pytest.raises(environment.PeerError, match="heat map"):
        gtp.read_analysis(lines)


def test_moves_are_written_in_gtp_notation() -> None:
    game = pyengine.load_game("go")
    state = leela.position(game, seed=1, plies=30)
    words = leela.moves(game, state)
    replay = game.new_initial_state()
    for word in words:
        replay.apply_action(replay.string_to_action(word))
    assert replay == state
    assert len(words) == 30
    assert all(word[0] in gtp.COLUMNS and 1 <= int(word[1:]) <= 19 for word in words)
    assert leela.moves(game, leela.position(game, seed=2, plies=30)) != words


def test_leela_zero_and_the_engine_alternate_on_the_same_positions(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    order: list[tuple[str, Any]] = []

    def side(name: str, place: int) -> Any:
        def call(*arguments: Any) -> Any:
            order.append((name, arguments[place]))
            return pairs.Timed(1, 1.0)

        return call

    monkeypatch.setattr(leela, "position", lambda _, seed: seed)
    monkeypatch.setattr(leela, "theirs", side("theirs", 2))
    monkeypatch.setattr(leela, "ours", side("ours", 1))
    monkeypatch.setattr(leela.pyengine, "OnnxEvaluator", lambda *_, **__: None)
    leela.compare(None, tmp_path, 1, 20, QUICK)
    assert order == [("theirs", 1), ("ours", 1), ("ours", 2), ("theirs", 2)]


#: Stands in for Leela Zero.
ENGINE = """
import sys
for line in sys.stdin:
    word = line.split()[0]
    if word == "genmove":
        print("201 visits, 70805 nodes, 200 playouts, 326 n/s", file=sys.stderr, flush=True)
        print("= D4", end="\\n\\n")
    elif word in ("time_settings", "clear_board", "play"):
        print("= ", end="\\n\\n")
    else:
        print("? unknown command", end="\\n\\n")
    sys.stdout.flush()
"""


@pytest.mark.skipif(os.name == "nt", reason="the stand-in needs a shebang line")
def test_leela_zero_searches_a_position_over_gtp(tmp_path: Path) -> None:
    program = tmp_path / "leelaz"
    program.write_text(f"#!{sys.executable}\n{ENGINE}")
    program.chmod(0o755)
    with gtp.LeelaZero(str(program), tmp_path / "weights.txt", 1, 200) as engine:
        engine.set_position(["D4", "Q16"])
        assert engine.search("b").done == 201
        with pytest.raises(environment.PeerError, match=r"heatmap: \? unknown command"):
            engine.analyse()
