"""The suite ``gpu``: its rows, what it keeps, what it says of them. Nothing here is timed.

The CPU is called as a device; what only a GPU does is seen on a machine that has one.
"""

from __future__ import annotations

import importlib
import json
import os
import shutil
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyengine
from pyengine.cli import main
from quick_suites import quick, rows_of

PACKAGE = "pyengine.benchmarks"

gpu = pytest.importorskip(f"{PACKAGE}.gpu", reason="the suites are not installed")
pytest.importorskip("onnx", reason="the extra convert is not installed")
bare, common, fresh, kept, networks, nvidia, plan = (
    importlib.import_module(f"{PACKAGE}.{name}")
    for name in ("gpu_bare", "common", "fresh", "kept", "networks", "nvidia", "gpu_plan")
)

Stream = Callable[..., Generator[dict[str, Any], None, None]]
FIGURES = {"rows/s": 100.0, "engine's rows/s": 90.0, "bare settings": "engine"}
SEARCH = {"ratio": 0.5, "of engine's": 0.6, "fill": 7.0, "waiting": 0.5}


# Rows of a real run


def test_a_quick_run_has_a_row_of_every_part() -> None:
    rows = rows_of("gpu")
    column = plan.Column(plan.QUICK.subjects[0], "float32", plan.QUICK)
    parts = ("bare", "opening", "memory", "threads", "graphs", "latency", "selfplay", "parity")
    wanted = [one.name for part in parts for one in getattr(column, part)()]
    assert set(wanted) <= set(rows)
    others = {name for name in rows if ",float32/" in name} - set(wanted)
    assert {plan.part_of(rows[name]) for name in others} == {"search"}
    assert len(others) == len(plan.QUICK.trees)


def test_a_quick_run_states_ratios_times_memory_and_differences() -> None:
    by_part: dict[str, list[dict[str, Any]]] = {}
    for row in rows_of("gpu").values():
        by_part.setdefault(plan.part_of(row), []).append(row)
    assert all(row["rows/s"] > 0 and row["tried"] for row in by_part["bare"])
    assert all(row["from"] <= row["ratio"] <= row["to"] for row in by_part["search"])
    assert all(row["fill"] > 0 and 0 <= row["padding"] < 1 for row in by_part["search"])
    assert all(row["ms"] > 0 for part in ("latency", "opening") for row in by_part[part])
    assert all(row["games/s"] > 0 for row in by_part["selfplay"])
    assert all(row["provider"].endswith("with CUDA graphs") for row in by_part["graphs"])
    assert all(row["rows/s"] > 0 and row["without"] > 0 for row in by_part["graphs"])
    assert all(row["off"] <= row["asked"] for row in by_part["parity"])
    assert any(row.get("asked") == plan.MANY_TREES_ASKED for row in by_part["search"])


def test_the_header_names_device_driver_and_versions() -> None:
    header = quick("gpu")["machine"]
    assert {"device", "driver", "cuda", "onnxruntime", "pyengine", "measured"} <= set(header)


def test_the_converter_of_the_package_halves_the_network_of_a_column(tmp_path: Path) -> None:
    files = importlib.import_module(f"{PACKAGE}.gpu_networks")
    halve = files.installed_halve()
    made = files.Files(tmp_path, halve)
    subject = plan.QUICK.subjects[0]
    full, half = (made.file(subject, precision) for precision in made.precisions())
    both = [networks.Candidate(path, subject.game).open() for path in (full, half)]
    assert bare.open_session(half, "cpu", {}).get_inputs()[0].type == "tensor(int8)"
    states = networks.random_states(both[0].game, 8)
    for one, other in zip(*(network.evaluator.evaluate(states) for network in both), strict=True):
        np.testing.assert_allclose(one, other, atol=0.02)


# What is kept


def measured(begun: list[str], stop_after: int | None = None, error: Any = None) -> Stream:
    """Return a stand-in for the process: it measures at once, and may end at some row."""

    def stream(*_: Any, wanted: list[dict[str, Any]], part: str, **__: Any) -> Any:
        for row in wanted:
            begun.append(row["name"])
            yield {"begin": row["name"]}
            if len(begun) == stop_after:
                raise error
            figures = SEARCH if part == "search" else {}
            yield {"name": row["name"], **FIGURES, **figures}

    return stream


@pytest.fixture
def on_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let there be no GPU."""
    device = gpu.Device("cpu", {"device": "a processor", "measured": "briefly"})
    monkeypatch.setattr(gpu, "find_device", lambda **_: device)


def run(file: Path | None, **options: Any) -> Any:
    """Run the suite as the command does; return the report."""
    report = common.Report("gpu")
    given = common.Options(quick=True, keep=file, **options)
    common.run_kept(report, gpu.run, given)
    return report


@pytest.mark.usefixtures("on_the_cpu")
def test_a_run_goes_on_where_ctrl_c_stopped_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, first, second = tmp_path / "gpu.json", [], []
    monkeypatch.setattr(fresh, "stream", measured(first, 4, KeyboardInterrupt()))
    assert "interrupted: partial results" in run(file).notes
    assert [row["name"] for row in kept.load(file, "gpu")["rows"]] == first[:3]
    monkeypatch.setattr(fresh, "stream", measured(second))
    rows = run(file).rows
    assert second[0] == first[3]
    assert not set(first[:3]) & set(second)
    assert [row["name"] for row in rows] == first[:3] + second
    third: list[str] = []
    monkeypatch.setattr(fresh, "stream", measured(third))
    assert run(file).rows == rows
    assert third == []


@pytest.mark.usefixtures("on_the_cpu")
def test_what_is_asked_is_asked_of_the_best_number_of_threads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fresh, "stream", measured([]))
    rows = [row for row in run(None).rows if "float32/search,trees=16,batch=8" in row["name"]]
    assert [row.get("asked") for row in rows] == [0.95] + [None] * (len(rows) - 1)


@pytest.mark.usefixtures("on_the_cpu")
def test_each_part_has_a_table_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fresh, "stream", measured([]))
    table = run(None).table()
    titles = [line.split()[0] for line in table.splitlines() if line.startswith("name ")]
    assert len(titles) == 8
    assert "  ratio" in table


@pytest.mark.usefixtures("on_the_cpu")
def test_a_process_that_dies_costs_one_row_which_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, begun, again = tmp_path / "gpu.json", [], []
    monkeypatch.setattr(fresh, "stream", measured(begun, 2, fresh.FreshError("exit status -11")))
    report = run(file)
    assert [row["name"] for row in report.rows if "failed" in row] == [begun[1]]
    assert len(report.rows) == len(begun) == len(set(begun))
    monkeypatch.setattr(fresh, "stream", measured(again))
    assert not run(file).failed
    assert again[0] == begun[1]


@pytest.mark.usefixtures("on_the_cpu")
def test_a_run_whose_minutes_are_over_says_that_it_is_unfinished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[str] = []
    monkeypatch.setattr(fresh, "stream", measured(begun))
    for file, how in ((tmp_path / "gpu.json", "to resume"), (None, "--json FILE")):
        report = run(file, minutes=1e-9)
        assert begun == []
        [note] = [note for note in report.notes if note.startswith("unfinished")]
        assert how in note


@pytest.mark.usefixtures("on_the_cpu")
def test_float16_is_a_column_where_something_writes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fresh, "stream", measured([]))
    monkeypatch.setattr(gpu, "installed_halve", lambda: None)
    options = common.Options(quick=True)
    without, with_it = common.Report("gpu"), common.Report("gpu")
    gpu.run(without, options)
    gpu.run(with_it, options, halve=lambda full, half: shutil.copy(full, half))
    assert any("float16 is skipped" in note for note in without.notes)
    assert not any("float16" in row["name"] for row in without.rows)
    assert not any("float16 is skipped" in note for note in with_it.notes)
    assert len([row for row in with_it.rows if "float16" in row["name"]]) == len(without.rows)


DAMAGED = [
    ("{", "an unreadable file"),
    ("[1]", "a list"),
    ('{"a": 1}', "no rows of figures under 'a'"),
    ('{"gpu": {"suite": "gpu", "rows": []}}', "no rows of figures under 'gpu'"),
    ('{"suite": "gpu", "machine": {}, "rows": [{}]}', "no rows of figures under 'gpu'"),
]


@pytest.mark.parametrize(("text", "found"), DAMAGED)
def test_a_damaged_file_of_rows_is_an_error_that_names_it(
    text: str, found: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "gpu.json"
    file.write_text(text)
    with pytest.raises(pyengine.DataError, match=found) as raised:
        kept.load(file, "gpu")
    assert str(file) in str(raised.value)
    assert main(["bench", "gpu", "--quick", "--json", str(file)]) != 0
    assert "expected the reports of an earlier" in " ".join(capsys.readouterr().err.split())
    assert file.read_text() == text


@pytest.mark.usefixtures("on_the_cpu")
def test_rows_of_another_device_are_not_written_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "gpu.json"
    monkeypatch.setattr(fresh, "stream", measured([]))
    run(file)
    text = file.read_text()
    held = json.loads(text)
    held["gpu"]["machine"]["device"] = "NVIDIA H100"
    file.write_text(json.dumps(held))
    assert main(["bench", "gpu", "--quick", "--json", str(file)]) != 0
    assert "NVIDIA H100" in capsys.readouterr().err
    assert json.loads(file.read_text()) == held


def test_a_file_of_other_suites_has_no_rows_of_this_one(tmp_path: Path) -> None:
    file = tmp_path / "all.json"
    report = common.Report("tree").to_dict()
    for held in (report, {"tree": report}):
        file.write_text(json.dumps(held))
        assert kept.load(file, "gpu") is None
    assert kept.load(tmp_path / "absent.json", "gpu") is None


def test_without_a_gpu_only_a_quick_run_measures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu, "_cuda_problem", lambda: "no driver")
    gpu.find_device.cache_clear()
    report = common.Report("gpu")
    gpu.run(report, common.Options())
    gpu.find_device.cache_clear()
    assert report.rows == []
    assert report.notes == ["missing: a working GPU (no driver); --quick works without one"]


# What is asked, and what is said of it


def test_threads_are_as_many_as_cores_and_twice_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    for cores, expected in ((1, [1, 2]), (2, [1, 2, 4]), (16, [1, 2, 4, 8, 16, 32])):
        monkeypatch.setattr(pyengine.base.machine, "cores", lambda cores=cores: cores)
        assert plan.thread_counts() == expected


@pytest.mark.parametrize(
    ("trees", "batch", "asked"),
    [(1, 64, 0.85), (1, 256, None), (64, 1, None), (64, 8, 0.95), (512, 1024, 0.95)],
)
def test_a_ratio_is_asked_of_one_tree_at_64_and_of_many_from_8(
    trees: int, batch: int, asked: float | None
) -> None:
    assert plan.asked_of_search(trees, batch) == asked


NAME = "gpu/go19/20x256,float32"
MISSED = {"asked": 0.95, "ratio": 0.5, "of engine's": 0.6, "fill": 64.0, "waiting": 0.5}


@pytest.mark.parametrize(
    ("row", "advice"),
    [
        ({"of engine's": 0.97, "bare settings": "graph"}, "CUDA graphs"),
        ({"of engine's": None, "bare settings": "exhaustive"}, "threads"),
        ({"of engine's": 0.97, "bare settings": "exhaustive"}, "settings 'exhaustive'"),
        ({"fill": 40.0}, "larger in_flight"),
        ({"waiting": 0.01}, "more threads"),
        ({}, "fewer threads"),
    ],
)
def test_a_miss_comes_with_what_to_try(row: dict[str, Any], advice: str) -> None:
    whole = {"name": f"{NAME}/search,trees=64,batch=64,threads=2", **MISSED, **row}
    [line] = plan.what_to_try([whole, {**whole, "ratio": 0.96}, {**whole, "asked": None}])
    assert "ratio 0.5, asked at least 0.95" in line
    assert advice in line.split("Try: ")[1]


@pytest.mark.parametrize(
    ("part", "figures"),
    [
        ("latency", {"asked": 150.0, "ms": 300.0}),
        ("opening", {"asked": 2000.0, "ms": 3000.4}),
        ("memory", {"asked": 2.0, "x weights": 7.0}),
        ("parity", {"asked": 5e-3, "off": 0.1}),
    ],
)
def test_a_miss_of_every_other_part_has_advice(part: str, figures: dict[str, float]) -> None:
    [line] = plan.what_to_try([{"name": f"{NAME}/{part},batch=8", **figures}])
    assert "at most" in line
    assert "e+" not in line


def test_float16_is_no_advice_to_a_float16_network() -> None:
    row = {"asked": 150.0, "ms": 300.0}
    names = [f"gpu/go19/20x256,{precision}/latency,batch=8" for precision in plan.PARITY_ASKED]
    lines = plan.what_to_try([{"name": name, **row} for name in names])
    assert ["Try: float16" in line for line in lines] == [True, False]


# Bare ONNX Runtime, nvidia-smi, processes


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return the network of a quick run."""
    files = importlib.import_module(f"{PACKAGE}.gpu_networks").Files
    subject = plan.QUICK.subjects[0]
    path = files(tmp_path_factory.mktemp("nets"), None).file(subject, "float32")
    return networks.Candidate(path, subject.game).open()


def test_a_setting_that_fails_is_named_beside_those_that_work(
    network: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = bare.measure(network, "cpu", {"engine": {}}, 2, 0.01)
    assert not bare.has_failed(good)
    assert good["rows/s"] == good["engine's rows/s"] == good["tried"]["engine"]

    def open_session(path: Path, provider: str, options: dict[str, str]) -> Any:
        if options:
            raise ValueError("no such setting")
        return opened(path, provider, options)

    opened = bare.open_session
    monkeypatch.setattr(bare, "open_session", open_session)
    both = bare.measure(network, "cpu", {"broken": {"a": "1"}, "engine": {}}, 2, 0.01)
    assert bare.has_failed(both)
    assert both["bare settings"] == "engine"
    assert both["tried"]["broken"] == "ValueError: no such setting"
    with pytest.raises(ValueError, match="no such setting"):
        bare.measure(network, "cpu", {"broken": {"a": "1"}}, 2, 0.01)


def test_a_call_with_fixed_buffers_runs_and_may_be_repeated(network: Any) -> None:
    session = bare.open_session(network.path, "cpu", {})
    planes = np.zeros((2, 18, 9, 9), np.float32)
    call = bare.graph_call(session, "planes", planes, ["policy", "value"], "cpu")
    for _ in range(3):
        call()


def test_float32_alone_has_a_setting_of_tensorfloat32() -> None:
    assert "no tf32" in plan.settings_of("cuda", "float32")
    assert "no tf32" not in plan.settings_of("cuda", "float16")
    assert list(plan.settings_of("cuda", "float16"))[-1] == plan.GRAPH
    assert plan.settings_of("cpu", "float32") == {"engine": {}}


SMI = """#!/bin/sh
case "$*" in
  *loop-ms*) while :; do echo 97; touch "$0.said"; sleep 0.02; done;;
  *name,memory.total*) echo "NVIDIA H100, 81559, 580.65";;
  *memory.used*) echo 512;;
  *) echo "| Driver Version: 580.65   CUDA Version: 13.0 |";;
esac
"""


@pytest.mark.skipif(os.name == "nt", reason="a shell script stands in for nvidia-smi")
def test_nvidia_smi_is_read_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "nvidia-smi"
    program.write_text(SMI)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    assert nvidia.query("name", "memory.total", "driver_version") == [
        "NVIDIA H100",
        "81559",
        "580.65",
    ]
    assert nvidia.cuda_version() == "13.0"
    assert nvidia.used_bytes() == 512 << 20
    with nvidia.watched() as found:
        said = tmp_path / "nvidia-smi.said"
        end = time.monotonic() + 30
        while not said.exists() and time.monotonic() < end:
            time.sleep(0.01)
    assert found.percent == 97


def test_without_nvidia_smi_nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvidia, "_PROGRAM", "no-such-program")
    assert (nvidia.query("name"), nvidia.cuda_version(), nvidia.used_bytes()) == (None, None, None)
    with nvidia.watched() as found:
        pass
    assert found.percent is None
    assert nvidia.mean_of("[N/A]\n") is None


PROBE = """
import json, sys, time
print("a library talks")
print(json.dumps({"a": 1}), flush=True)
if sys.argv[1] == "dies":
    raise SystemExit("a reason")
time.sleep(60 if sys.argv[1] == "hangs" else 0)
"""


@pytest.mark.parametrize(
    ("probe", "error"), [("ends", None), ("dies", "a reason"), ("hangs", "timed out after 5 s")]
)
def test_a_stream_yields_at_once_and_says_how_its_process_ended(
    probe: str, error: str | None, tmp_path: Path
) -> None:
    file = tmp_path / "probe.py"
    file.write_text(PROBE)
    stream = fresh.stream(file, probe, seconds=5 if probe == "hangs" else 60)
    assert next(stream) == {"a": 1}
    if error is None:
        assert list(stream) == []
        return
    with pytest.raises(fresh.FreshError, match=error):
        next(stream)


def test_a_stream_that_is_left_ends_its_process(tmp_path: Path) -> None:
    file = tmp_path / "probe.py"
    file.write_text(PROBE)
    begun = time.monotonic()
    stream = fresh.stream(file, "hangs", seconds=50)
    next(stream)
    stream.close()
    assert time.monotonic() - begun < 30
