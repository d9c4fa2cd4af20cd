"""The suite ``gpu``: its rows, its saved results and its advice. Nothing is timed.

The CPU stands in for a GPU; what only a GPU does is tested on a machine that has one.
"""

from __future__ import annotations

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
from quick_suites import quick, rows_of, suite_module

pytest.importorskip("onnx", reason="the extra convert is not installed")
gpu, bare, common, fresh, kept, networks, nvidia, plan, gpu_networks = map(
    suite_module,
    ("gpu", "gpu_bare", "common", "fresh", "kept", "networks", "nvidia", "gpu_plan",
     "gpu_networks"),
)  # fmt: skip

Stream = Callable[..., Generator[dict[str, Any], None, None]]
FIGURES = {"rows/s": 100.0, "engine's rows/s": 90.0, "bare settings": "engine"}
SEARCH = {"ratio": 0.5, "of engine's": 0.6, "fill": 7.0, "waiting": 0.5}


# Rows of a quick run


def test_a_quick_run_measures_every_part() -> None:
    rows = rows_of("gpu")
    column = plan.Column(plan.QUICK.subjects[0], "float32", plan.QUICK)
    parts = ("bare", "opening", "memory", "threads", "graphs", "latency", "selfplay", "parity")
    planned = {one.name for part in parts for one in getattr(column, part)()}
    assert planned <= set(rows)
    others = {name for name in rows if ",float32/" in name} - planned
    assert {plan.part_of(rows[name]) for name in others} == {"search"}
    assert len(others) == len(plan.QUICK.trees)


def test_the_figures_of_every_part_are_plausible() -> None:
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


def test_the_float16_column_uses_the_packages_converter(tmp_path: Path) -> None:
    files = gpu_networks.Files(tmp_path, gpu_networks.installed_halve())
    subject = plan.QUICK.subjects[0]
    full, half = (files.file(subject, precision) for precision in files.precisions())
    both = [networks.Candidate(path, subject.game).open() for path in (full, half)]
    assert bare.open_session(half, "cpu", {}).get_inputs()[0].type == "tensor(int8)"
    states = networks.random_states(both[0].game, 8)
    for one, other in zip(*(network.evaluator.evaluate(states) for network in both), strict=True):
        np.testing.assert_allclose(one, other, atol=0.02)


# Interrupted runs and saved rows


def measured(begun: list[str], stop_after: int | None = None, error: Any = None) -> Stream:
    """Return a stand-in for the process that measures at once, and may fail at some row."""

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
    """Find no GPU, and measure at once."""
    monkeypatch.setattr(fresh, "stream", measured([]))
    device = gpu.Device("cpu", {"device": "a processor", "measured": "briefly"})
    monkeypatch.setattr(gpu, "find_device", lambda **_: device)


def run(file: Path | None, **options: Any) -> Any:
    """Run the suite as the command does; return the report."""
    report = common.Report("gpu")
    common.run_kept(report, gpu.run, common.Options(quick=True, keep=file, **options))
    return report


@pytest.mark.usefixtures("on_the_cpu")
def test_a_run_resumes_where_ctrl_c_stopped_it(
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
def test_only_the_best_number_of_threads_has_a_target() -> None:
    rows = [row for row in run(None).rows if "float32/search,trees=16,batch=8" in row["name"]]
    assert [row.get("asked") for row in rows] == [0.95] + [None] * (len(rows) - 1)


@pytest.mark.usefixtures("on_the_cpu")
def test_each_part_has_its_own_table() -> None:
    table = run(None).table()
    assert sum(line.startswith("name ") for line in table.splitlines()) == 8
    assert "  ratio" in table


@pytest.mark.usefixtures("on_the_cpu")
def test_a_process_that_dies_costs_one_row_which_is_measured_again(
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
@pytest.mark.parametrize("name", ["gpu.json", None])
def test_a_run_that_exceeds_its_minutes_is_marked_unfinished(
    name: str | None, tmp_path: Path
) -> None:
    report = run(None if name is None else tmp_path / name, minutes=1e-9)
    assert report.rows == []
    [note] = [note for note in report.notes if note.startswith("unfinished")]
    assert ("to resume" if name else "--json FILE") in note


@pytest.mark.usefixtures("on_the_cpu")
def test_float16_is_measured_if_a_converter_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu, "installed_halve", lambda: None)
    without, with_converter = (common.Report("gpu", machine={}) for _ in range(2))
    gpu.run(without, common.Options(quick=True))
    gpu.run(with_converter, common.Options(quick=True), halve=shutil.copy)
    assert any("float16 is skipped" in note for note in without.notes)
    assert not any("float16" in row["name"] for row in without.rows)
    assert not any("float16 is skipped" in note for note in with_converter.notes)
    half = [row for row in with_converter.rows if "float16" in row["name"]]
    assert len(half) == len(without.rows)


DAMAGED = [
    ("{", "an unreadable file"),
    ("[1]", "a list"),
    ('{"a": 1}', "no rows of figures under 'a'"),
    ('{"gpu": {"suite": "gpu", "rows": []}}', "no rows of figures under 'gpu'"),
    ('{"suite": "gpu", "machine": {}, "rows": [{}]}', "no rows of figures under 'gpu'"),
]


@pytest.mark.parametrize(("text", "content"), DAMAGED)
def test_a_damaged_file_of_rows_is_named_and_left_alone(
    text: str, content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "gpu.json"
    file.write_text(text)
    with pytest.raises(pyengine.DataError, match=content) as raised:
        kept.load(file, "gpu")
    assert str(file) in str(raised.value)
    assert main(["bench", "gpu", "--quick", "--json", str(file)]) != 0
    assert "expected the reports of an earlier" in " ".join(capsys.readouterr().err.split())
    assert file.read_text() == text


@pytest.mark.usefixtures("on_the_cpu")
def test_rows_of_another_device_are_not_overwritten(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "gpu.json"
    run(file)
    reports = json.loads(file.read_text())
    reports["gpu"]["machine"]["device"] = "NVIDIA H100"
    file.write_text(json.dumps(reports))
    assert main(["bench", "gpu", "--quick", "--json", str(file)]) != 0
    assert "NVIDIA H100" in capsys.readouterr().err
    assert json.loads(file.read_text()) == reports


def test_the_reports_of_other_suites_are_ignored(tmp_path: Path) -> None:
    file = tmp_path / "all.json"
    report = common.Report("tree", machine={}).to_dict()
    for content in (report, {"tree": report}):
        file.write_text(json.dumps(content))
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


# Targets and advice


@pytest.mark.parametrize(
    ("cores", "threads"), [(1, [1, 2]), (2, [1, 2, 4]), (16, [1, 2, 4, 8, 16, 32])]
)
def test_searches_use_up_to_twice_as_many_threads_as_cores(
    cores: int, threads: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pyengine.base.machine, "cores", lambda: cores)
    assert plan.thread_counts() == threads


@pytest.mark.parametrize(
    ("trees", "batch", "target"),
    [(1, 64, 0.85), (1, 256, None), (64, 1, None), (64, 8, 0.95), (512, 1024, 0.95)],
)
def test_one_tree_has_a_target_at_batch_64_and_many_trees_from_batch_8(
    trees: int, batch: int, target: float | None
) -> None:
    assert plan.asked_of_search(trees, batch) == target


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
def test_the_advice_fits_the_cause_of_a_missed_ratio(row: dict[str, Any], advice: str) -> None:
    whole = {"name": f"{NAME}/search,trees=64,batch=64,threads=2", **MISSED, **row}
    [line] = plan.what_to_try([whole, {**whole, "ratio": 0.96}, {**whole, "asked": None}])
    assert "ratio 0.5, required at least 0.95" in line
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
def test_every_other_missed_target_has_advice(part: str, figures: dict[str, float]) -> None:
    [line] = plan.what_to_try([{"name": f"{NAME}/{part},batch=8", **figures}])
    assert "at most" in line
    assert "e+" not in line


def test_float16_is_recommended_only_to_float32_networks() -> None:
    row = {"asked": 150.0, "ms": 300.0}
    names = [f"gpu/go19/20x256,{precision}/latency,batch=8" for precision in plan.PARITY_ASKED]
    lines = plan.what_to_try([{"name": name, **row} for name in names])
    assert ["Try: float16" in line for line in lines] == [True, False]


# Bare ONNX Runtime and nvidia-smi


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return the network of a quick run."""
    subject = plan.QUICK.subjects[0]
    files = gpu_networks.Files(tmp_path_factory.mktemp("nets"), None)
    return networks.Candidate(files.file(subject, "float32"), subject.game).open()


def test_a_setting_that_fails_is_reported_beside_those_that_work(
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


def test_a_call_with_fixed_buffers_can_be_repeated(network: Any) -> None:
    session = bare.open_session(network.path, "cpu", {})
    planes = np.zeros((2, 18, 9, 9), np.float32)
    call = bare.graph_call(session, "planes", planes, ["policy", "value"], "cpu")
    for _ in range(3):
        call()


def test_only_float32_has_a_setting_without_tensorfloat32() -> None:
    assert "no tf32" in plan.settings_of("cuda", "float32")
    assert "no tf32" not in plan.settings_of("cuda", "float16")
    assert list(plan.settings_of("cuda", "float16"))[-1] == plan.GRAPH
    assert plan.settings_of("cpu", "float32") == {"engine": {}}


SMI = """#!/bin/sh
case "$*" in
  *loop-ms*) while :; do echo 97; touch "$0.read"; sleep 0.02; done;;
  *name,memory.total*) echo "NVIDIA H100, 81559, 580.65";;
  *memory.used*) echo 512;;
  *) echo "| Driver Version: 580.65   CUDA Version: 13.0 |";;
esac
"""


@pytest.mark.skipif(os.name == "nt", reason="a shell script stands in for nvidia-smi")
def test_the_output_of_nvidia_smi_is_parsed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "nvidia-smi"
    program.write_text(SMI)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    about = nvidia.query("name", "memory.total", "driver_version")
    assert about == ["NVIDIA H100", "81559", "580.65"]
    assert nvidia.cuda_version() == "13.0"
    assert nvidia.used_bytes() == 512 << 20
    with nvidia.watched() as usage:
        end = time.monotonic() + 30
        while not (tmp_path / "nvidia-smi.read").exists() and time.monotonic() < end:
            time.sleep(0.01)
    assert usage.percent == 97


def test_without_nvidia_smi_nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvidia, "_PROGRAM", "no-such-program")
    assert (nvidia.query("name"), nvidia.cuda_version(), nvidia.used_bytes()) == (None, None, None)
    with nvidia.watched() as usage:
        pass
    assert usage.percent is None
    assert nvidia.mean_of("[N/A]\n") is None
