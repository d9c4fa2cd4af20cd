"""What fails in a suite becomes a row that says so: other rows, suites and the JSON go on."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import pyengine
from pyengine import ModelSpec
from pyengine.cli import bench, main
from tiny_models import DEFAULT, TinyModel

PACKAGE = "pyengine.benchmarks"

common = pytest.importorskip(f"{PACKAGE}.common", reason="the suites are not installed")
networks = importlib.import_module(f"{PACKAGE}.networks")
evaluator = importlib.import_module(f"{PACKAGE}.evaluator")
peers = importlib.import_module(f"{PACKAGE}.peers")

OPTIONS = common.Options(quick=True)


def test_a_wrong_answer_leaves_its_reason_and_no_rate() -> None:
    report = common.Report("suite")
    with report.row("layer/good") as row:
        row["us"] = 1.5
    with report.row("layer/bad") as row:
        row["us"] = 0.001
        common.check("two and two are four", 2 + 2 == 5, "5")
    assert report.failed
    table = report.table()
    assert "layer/bad: FAILED: two and two are four; got 5" in table
    assert "0.001" not in table
    assert report.rows[0] == {"name": "layer/good", "us": 1.5}


@pytest.mark.parametrize(
    "error", [ValueError("a shape"), MemoryError("too much"), RuntimeError("of the library")]
)
def test_any_error_in_a_row_leaves_a_failed_row(error: Exception) -> None:
    report = common.Report("suite")
    with report.row("suite/first"):
        raise error
    with report.row("suite/second") as row:
        row["us"] = 1.0
    assert [row["name"] for row in report.rows] == ["suite/first", "suite/second"]
    said = report.rows[0]["failed"]
    assert said.startswith(f"{type(error).__name__}: {error} (test_failures.py:")


def test_an_error_outside_of_rows_keeps_the_rows_before_it() -> None:
    def suite(report: Any, _: Any) -> None:
        with report.row("suite/first") as row:
            row["us"] = 1.0
        raise OSError("disk")

    report = common.Report("suite")
    assert not common.run_kept(report, suite, OPTIONS)
    assert [row["name"] for row in report.rows] == ["suite/first", "suite"]
    assert report.rows[1]["failed"].startswith("OSError: disk")


@pytest.mark.parametrize("inside", [True, False])
def test_ctrl_c_ends_a_suite_and_keeps_its_rows(inside: bool) -> None:
    def suite(report: Any, _: Any) -> None:
        with report.row("first") as row:
            row["us"] = 1.0
        if not inside:
            raise KeyboardInterrupt
        with report.row("second"):
            raise KeyboardInterrupt

    report = common.Report("suite")
    assert common.run_kept(report, suite, common.Options())
    assert report.rows == [{"name": "first", "us": 1.0}]
    assert "interrupted" in report.table()


# Networks


def broken_folder(folder: Path) -> Path:
    """Return a folder with a file that is no network under a known name."""
    folder.mkdir()
    (folder / "gomoku8x8_5.onnx").write_bytes(b"no network")
    return folder


def test_a_network_that_does_not_open_is_a_failed_row_and_the_others_are_found(
    tmp_path: Path,
) -> None:
    report = common.Report("evaluator")
    options = common.Options(models=broken_folder(tmp_path / "nets"))
    found = networks.find_networks(report, options)
    assert {network.name for network in found} == set(pyengine.bundled_models())
    [row] = report.rows
    assert row["name"] == "evaluator/gomoku8x8_5"
    assert "gomoku8x8_5.onnx" in row["failed"]
    [note] = report.notes
    assert "nets: connect4_sunshine, go9x9_pyaq, gomoku6x6_4, othello8x8_ludax" in note


def test_a_users_network_that_does_not_open_is_a_failed_row(tmp_path: Path) -> None:
    report = common.Report("evaluator")
    options = common.Options(model=tmp_path / "absent.onnx", game="connect_four")
    assert networks.find_networks(report, options) == []
    assert report.rows[0]["name"] == "evaluator/absent"
    wrong = common.Options(model=tmp_path / "absent.onnx", game="chess")
    networks.find_networks(report, wrong)
    assert "chess" in report.rows[1]["failed"]


def test_wrong_answers_of_one_network_leave_the_rows_of_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = TinyModel(planes=(3, 6, 7), actions=7, nan="value", metadata=DEFAULT).write(
        tmp_path / "bad.onnx"
    )
    good = TinyModel(planes=(3, 6, 7), actions=7, metadata=DEFAULT).write(tmp_path / "good.onnx")
    both = [networks.Candidate(path, "connect_four").open() for path in (bad, good)]
    monkeypatch.setattr(networks, "find_networks", lambda *_: both)
    report = common.Report("evaluator")
    evaluator.run(report, OPTIONS)
    failed = [row["name"] for row in report.rows if "failed" in row]
    assert failed == ["evaluator/connect_four/bad/encode"]
    good_rows = [row for row in report.rows if "/good/" in row["name"]]
    assert len(good_rows) == 1 + len(common.thread_counts()) * len(evaluator.BATCHES)


# The command line


class Broken:
    """A suite that ends with an error."""

    DESCRIPTION = "for the test"

    def run(self, report: Any, options: Any) -> None:
        with report.row("broken/first") as row:
            row["us"] = 1.0
        raise ValueError("outside of a row")


def test_a_broken_suite_leaves_the_later_suites_and_the_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def module(name: str) -> Any:
        if name == "absent":
            raise ModuleNotFoundError("no such module")
        return {"broken": Broken(), "whole": Whole()}.get(name) or installed(name)

    class Whole(Broken):
        def run(self, report: Any, options: Any) -> None:
            report.rows.append({"name": "whole/row", "us": 2.0})

    installed = bench._module
    monkeypatch.setattr(bench, "suites", lambda: ("broken", "absent", "whole"))
    monkeypatch.setattr(bench, "_module", module)
    file = tmp_path / "all.json"
    assert main(["bench", "all", "--quick", "--json", str(file), "--out", str(tmp_path / "o")]) == 1
    reports = json.loads(file.read_text())
    assert list(reports) == ["broken", "absent", "whole"]
    assert reports["broken"]["rows"][0] == {"name": "broken/first", "us": 1.0}
    assert reports["broken"]["rows"][1]["failed"].startswith("ValueError: outside of a row")
    assert "no such module" in reports["absent"]["rows"][0]["failed"]
    assert reports["whole"]["rows"] == [{"name": "whole/row", "us": 2.0}]
    assert (tmp_path / "o" / "whole.json").exists()
    assert "broken: FAILED: ValueError" in capsys.readouterr().out


def test_a_file_that_cannot_be_written_is_named_before_anything_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bench, "_run_all", lambda *_: pytest.fail("a suite ran"))
    assert main(["bench", "tree", "--quick", "--json", str(tmp_path / "absent" / "a.json")]) != 0
    assert "absent" in capsys.readouterr().err


def test_an_out_folder_that_is_a_file_is_named_before_anything_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(bench, "_run_all", lambda *_: pytest.fail("a suite ran"))
    file = tmp_path / "file"
    file.write_text("mine")
    assert main(["bench", "tree", "--quick", "--out", str(file)]) != 0
    assert str(file) in capsys.readouterr().err
    assert file.read_text() == "mine"


# Peers


def test_a_peer_that_fails_leaves_the_others(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def broken(report: Any, options: Any, folder: Path) -> None:
        raise ValueError("answers nonsense")

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
    assert "answers nonsense" in report.rows[0]["failed"]
    assert "missing: hex: no program" in report.notes


# Shapes that a file leaves open


def session_of(*shape: int | str) -> Any:
    """Return a session that declares such an input."""
    given = SimpleNamespace(name="planes", shape=["N", *shape], type="tensor(float)")
    return SimpleNamespace(get_inputs=lambda: [given])


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
def test_planes_have_the_shape_of_the_game_where_a_file_leaves_it_open(
    layout: str, shape: tuple[Any, ...], expected: tuple[int, ...]
) -> None:
    game = pyengine.load_game("connect_four")
    network = SimpleNamespace(game=game, spec=ModelSpec(layout=layout))
    states = networks.random_states(game, 2)
    planes = networks.input_planes(network, session_of(*shape), states)
    assert planes.shape == expected
    tensors = [state.observation_tensor(network.spec) for state in states]
    assert np.array_equal(planes.ravel(), np.ravel(tensors))


def test_outputs_without_names_are_told_by_what_they_hold(tmp_path: Path) -> None:
    path = TinyModel(
        planes=(3, 6, 7), actions=7, names=("x", "first", "second"), declared_policy=["N", "A"]
    ).write(tmp_path / "unnamed.onnx")
    spec = ModelSpec(policy_output="first", value_output="second")
    network = networks.Candidate(path, "connect_four", spec).open()
    networks.check_answers(network)
    network.evaluator = SimpleNamespace(spec=ModelSpec())
    session = networks.open_session(network)
    assert networks.output_names(network, session) == ["first", "second"]
