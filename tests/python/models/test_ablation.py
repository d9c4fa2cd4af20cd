"""models/ablation.py: variants, intervals, CPU time."""

from __future__ import annotations

import importlib
import io
import json
import math
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import pyengine
from pyengine.train import RunFile
from pyengine.train.loop.state import RunFolder
from pyengine.train.settings import differences

#: Uses some CPU time, reports it and waits.
_BUSY = "print(sum(range(3_000_000)), flush=True); input()"


@pytest.fixture
def ablation() -> Any:
    return importlib.import_module("ablation")


def test_a_variant_differs_from_the_base_only_in_its_settings(ablation: Any) -> None:
    base = RunFile.from_toml(ablation.settings_of("base", 1))
    assert base.run.seed == 1
    for variant, settings in ablation.VARIANTS.items():
        run = RunFile.from_toml(ablation.settings_of(variant, 1))
        changed = differences(base.fixed(), run.fixed())
        assert len(changed) == _leaves(settings), variant


def _leaves(table: dict[str, Any]) -> int:
    return sum(_leaves(value) if isinstance(value, dict) else 1 for value in table.values())


def test_the_interval_includes_differences_within_a_variant(ablation: Any) -> None:
    strengths = {"base": [10.0, -10.0, 0.0], "one": [110.0, 90.0, 100.0], "other": [5.0, 5.0, 5.0]}
    elo = ablation._differences(strengths)
    assert list(elo) == ["one", "other"]
    spread = math.sqrt((2 * 100 + 2 * 100 + 0) / 6)
    assert elo["one"] == pytest.approx((100, 2.45 * spread * math.sqrt(2 / 3)))
    assert elo["other"] == pytest.approx((5, elo["one"][1]))
    assert ablation._differences({"base": [1.0], "one": [5.0]}) == {"one": (4.0, math.inf)}


def test_a_network_with_other_settings_is_not_reused(ablation: Any, tmp_path: Path) -> None:
    settings = ablation.settings_of("base", 1)
    facts = {"settings": settings, "budget": 60.0, "file": "models/a.onnx"}
    (tmp_path / "network.json").write_text(json.dumps(facts), "utf-8")
    assert ablation.train("base", 1, tmp_path, 60.0) == tmp_path / "models" / "a.onnx"
    for variant, budget in (("global pooling every 2 blocks", 60.0), ("base", 90.0)):
        with pytest.raises(pyengine.ConfigError, match="other settings"):
            ablation.train(variant, 1, tmp_path, budget)


def test_more_seeds_reuse_the_matches(
    ablation: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    records: list[str] = []

    def played(_: Any, name: str, *__: Any, **___: Any) -> Any:
        records.append(name)
        return SimpleNamespace(wins=2, draws=0, losses=1)

    monkeypatch.setattr(ablation.Context, "played", played)
    monkeypatch.setattr(ablation, "network", str)
    monkeypatch.setattr(ablation.Context, "engine", lambda *_: io.BytesIO())
    names = {"base": 0, "global pooling every 2 blocks": 3}

    def matches(seeds: int) -> set[str]:
        records.clear()
        files = {
            variant: [tmp_path / f"{n}-{seed}" / "models" / "a.onnx" for seed in range(seeds)]
            for variant, n in names.items()
        }
        elo = ablation.evaluate(files, 3, tmp_path)
        assert elo["global pooling every 2 blocks"][0] > 0
        return set(records)

    few = matches(2)
    assert len(few) == 4
    assert few < matches(3)


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads Linux's /proc")
def test_cpu_time_is_summed_across_restarts(ablation: Any, tmp_path: Path) -> None:
    (tmp_path / "processor.json").write_text(json.dumps({"seconds": 1000.0}))
    meter = ablation.Meter(tmp_path)
    with subprocess.Popen([sys.executable, "-c", _BUSY], stdin=-1, stdout=-1) as part:
        assert part.stdout is not None
        part.stdout.readline()
        RunFolder(tmp_path).set_status("learner", {"pid": part.pid})
        used = meter.read()
        part.communicate()
    assert 1000 < used < 1000 + 3600
    assert json.loads((tmp_path / "processor.json").read_text()) == {"seconds": used}


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads Linux's /proc")
def test_cpu_time_ignores_an_older_process_with_the_same_pid(ablation: Any, tmp_path: Path) -> None:
    RunFolder(tmp_path).set_status("learner", {"pid": os.getppid()})
    assert ablation.Meter(tmp_path).read() == 0
