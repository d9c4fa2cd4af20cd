"""A failure becomes a row with the reason; the other rows, suites and the JSON are unaffected."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import pyengine
from pyengine import ModelSpec
from pyengine.cli import bench, main
from quick_suites import suite_module, write_tiny
from tiny_models import TinyModel

common, evaluator, networks, peers = map(suite_module, ("common", "evaluator", "networks", "peers"))

OPTIONS = common.Options(quick=True)


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (common.CheckError("two and two are four; got 5"), "two and two are four; got 5"),
        (MemoryError("too much"), "MemoryError: too much (test_failed_rows.py:"),
        (RuntimeError("from a library"), "RuntimeError: from a library (test_failed_rows.py:"),
    ],
)
def test_a_row_that_raises_has_a_reason_and_no_figures(error: Exception, reason: str) -> None:
    report = common.Report("suite")
    with report.row("suite/bad") as row:
        row["us"] = 0.001
        raise error
    with report.row("suite/good") as row:
        row["us"] = 1.5
    assert report.failed
    assert report.rows[0].keys() == {"name", "failed"}
    assert report.rows[1] == {"name": "suite/good", "us": 1.5}
    assert f"suite/bad: FAILED: {reason}" in report.table()


def suite_that_raises(error: BaseException, *, in_a_row: bool) -> Any:
    def suite(report: Any, _: Any) -> None:
        with report.row("suite/first") as row:
            row["us"] = 1.0
        if not in_a_row:
            raise error
        with report.row("suite/second"):
            raise error

    return suite


def test_an_error_outside_the_rows_becomes_a_row_of_the_suite() -> None:
    report = common.Report("suite")
    assert not common.run_kept(report, suite_that_raises(OSError("disk"), in_a_row=False), OPTIONS)
    assert [row["name"] for row in report.rows] == ["suite/first", "suite"]
    assert report.rows[1]["failed"].startswith("OSError: disk")


@pytest.mark.parametrize("in_a_row", [True, False])
def test_ctrl_c_ends_a_suite_and_keeps_its_finished_rows(in_a_row: bool) -> None:
    report = common.Report("suite")
    suite = suite_that_raises(KeyboardInterrupt(), in_a_row=in_a_row)
    assert common.run_kept(report, suite, common.Options())
    assert report.rows == [{"name": "suite/first", "us": 1.0}]
    assert "interrupted" in report.table()


# Networks


def test_a_network_that_does_not_open_is_a_failed_row_beside_every_bundled_network(
    tmp_path: Path,
) -> None:
    (tmp_path / "gomoku8x8_5.onnx").write_bytes(b"not a network")
    report = common.Report("evaluator")
    opened = networks.find_networks(report, common.Options(models=tmp_path))
    assert {network.name for network in opened} == set(pyengine.bundled_models())
    [row] = report.rows
    assert row["name"] == "evaluator/gomoku8x8_5"
    assert "gomoku8x8_5.onnx" in row["failed"]
    [note] = report.notes
    assert "connect4_sunshine, go9x9_pyaq, gomoku6x6_4, othello8x8_ludax" in note


@pytest.mark.parametrize(("game", "reason"), [("connect_four", "absent.onnx"), ("chess", "chess")])
def test_a_users_network_that_does_not_open_is_a_failed_row(
    game: str, reason: str, tmp_path: Path
) -> None:
    report = common.Report("evaluator")
    options = common.Options(model=tmp_path / "absent.onnx", game=game)
    assert networks.find_networks(report, options) == []
    [row] = report.rows
    assert row["name"] == "evaluator/absent"
    assert reason in row["failed"]


def test_wrong_answers_of_one_network_do_not_affect_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = write_tiny(tmp_path / "bad.onnx", nan="value")
    good = write_tiny(tmp_path / "good.onnx")
    both = [networks.Candidate(path, "connect_four").open() for path in (bad, good)]
    monkeypatch.setattr(networks, "find_networks", lambda *_: both)
    report = common.Report("evaluator")
    evaluator.run(report, OPTIONS)
    failed = [row["name"] for row in report.rows if "failed" in row]
    assert failed == ["evaluator/connect_four/bad/encode"]
    good_rows = [row for row in report.rows if "/good/" in row["name"]]
    assert len(good_rows) == 1 + len(common.thread_counts()) * len(evaluator.BATCHES)


# The command line


def test_a_failure_of_a_suite_or_its_file_does_not_affect_the_later_suites_and_the_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = SimpleNamespace(
        DESCRIPTION="broken", run=suite_that_raises(ValueError("wrong"), in_a_row=False)
    )
    whole = SimpleNamespace(
        DESCRIPTION="whole",
        run=lambda report, _: report.rows.append({"name": "whole/row", "us": 2.0}),
    )

    def module(name: str) -> Any:
        if name == "absent":
            raise ModuleNotFoundError("no such module")
        return {"broken": broken, "whole": whole}.get(name) or installed(name)

    installed = bench._module
    monkeypatch.setattr(bench, "suites", lambda: ("broken", "absent", "whole"))
    monkeypatch.setattr(bench, "_module", module)
    file = tmp_path / "all.json"
    (tmp_path / "o" / "broken.json").mkdir(parents=True)
    assert main(["bench", "all", "--quick", "--json", str(file), "--out", str(tmp_path / "o")]) == 1
    reports = json.loads(file.read_text())
    assert list(reports) == ["broken", "absent", "whole"]
    assert reports["broken"]["rows"][0] == {"name": "suite/first", "us": 1.0}
    assert reports["broken"]["rows"][1]["failed"].startswith("ValueError: wrong")
    assert "no such module" in reports["absent"]["rows"][0]["failed"]
    assert reports["whole"]["rows"] == [{"name": "whole/row", "us": 2.0}]
    assert (tmp_path / "o" / "whole.json").exists()
    output = capsys.readouterr()
    assert "broken: FAILED: ValueError" in output.out
    assert "broken.json" in output.err


@pytest.mark.parametrize("option", ["--json", "--out"])
def test_an_unwritable_output_is_refused_before_anything_runs(
    option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bench, "_run_all", lambda *_: pytest.fail("a suite ran"))
    file = tmp_path / "file"
    file.write_text("mine")
    output = file if option == "--out" else file / "a.json"
    assert main(["bench", "tree", "--quick", option, str(output)]) != 0
    assert str(file) in capsys.readouterr().err
    assert file.read_text() == "mine"


# Peers


def test_a_peer_that_fails_does_not_affect_the_others(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def broken(report: Any, options: Any, folder: Path) -> None:
        raise ValueError("a wrong answer")

    def absent(report: Any, options: Any, folder: Path) -> None:
        raise peers.environment.PeerError("hex: no program")

    def whole(report: Any, options: Any, folder: Path) -> None:
        with report.row("peers/whole") as row:
            row["ratio"] = 2.0

    monkeypatch.setenv("PYENGINE_PEERS", str(tmp_path))
    monkeypatch.setattr(peers, "PEERS", {"broken": broken, "absent": absent, "whole": whole})
    report = common.Report("peers")
    peers.run(report, OPTIONS)
    assert [row["name"] for row in report.rows] == ["peers/broken", "peers/whole"]
    assert "a wrong answer" in report.rows[0]["failed"]
    assert "missing: hex: no program" in report.notes


# Networks with undeclared shapes and names


def session_of(*shape: int | str) -> Any:
    """Return a session whose input is declared with this shape."""
    planes = SimpleNamespace(name="planes", shape=["N", *shape], type="tensor(float)")
    return SimpleNamespace(get_inputs=lambda: [planes])


@pytest.mark.parametrize(
    ("layout", "shape", "expected"),
    [
        ("NCHW", (3, 6, 7), (2, 3, 6, 7)),
        ("NCHW", (3, "H", "W"), (2, 3, 6, 7)),
        ("NCHW", ("C", "H", "W"), (2, 3, 6, 7)),
        ("NHWC", ("H", "W", 3), (2, 6, 7, 3)),
        ("NHWC", (None, None, 3), (2, 6, 7, 3)),
        ("NCHW", (126,), (2, 126)),
        ("NHWC", ("F",), (2, 126)),
    ],
)
def test_the_game_gives_the_sizes_that_a_file_does_not_declare(
    layout: str, shape: tuple[Any, ...], expected: tuple[int, ...]
) -> None:
    game = pyengine.load_game("connect_four")
    network = SimpleNamespace(game=game, spec=ModelSpec(layout=layout))
    states = networks.random_states(game, 2)
    planes = networks.input_planes(network, session_of(*shape), states)
    assert planes.shape == expected
    tensors = [state.observation_tensor(network.spec) for state in states]
    assert np.array_equal(planes.ravel(), np.ravel(tensors))


def test_unnamed_outputs_are_recognized_by_their_contents(tmp_path: Path) -> None:
    path = TinyModel(
        planes=(3, 6, 7), actions=7, names=("x", "first", "second"), declared_policy=["N", "A"]
    ).write(tmp_path / "unnamed.onnx")
    spec = ModelSpec(policy_output="first", value_output="second")
    network = networks.Candidate(path, "connect_four", spec).open()
    networks.check_answers(network)
    network.evaluator = SimpleNamespace(spec=ModelSpec())
    session = networks.open_session(network)
    assert networks.output_names(network, session) == ["first", "second"]
