"""``pyengine analysis`` as Ogatak starts it and talks to it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("typer", reason="the extra cli is not installed")

import pyengine

NODE = {
    "rules": "Chinese",
    "komi": 7.0,
    "boardXSize": 9,
    "boardYSize": 9,
    "maxVisits": 1_000_000,
    "reportDuringSearchEvery": 0.1,
    "firstReportDuringSearchAfter": 0.05,
    "analysisPVLen": 10,
    "includePolicy": True,
    "includeOwnership": True,
    "includeMovesOwnership": False,
    "initialStones": [],
    "moves": [],
    "overrideSettings": {"reportAnalysisWinratesAs": "BLACK", "wideRootNoise": 0},
}


class Ogatak:
    """One query at a time, as the program sends them."""

    def __init__(self, config: Path) -> None:
        network = str(pyengine.bundled_models()["go9"])
        options = ["-config", str(config), "-model", network, "-quit-without-waiting"]
        self.engine = subprocess.Popen(
            [sys.executable, "-m", "pyengine", "analysis", *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        )

    def send(self, **query: Any) -> None:
        assert self.engine.stdin
        self.engine.stdin.write(json.dumps(query).encode() + b"\n")
        self.engine.stdin.flush()

    def receive(self) -> dict[str, Any]:
        assert self.engine.stdout
        reply: dict[str, Any] = json.loads(self.engine.stdout.readline())
        return reply


def test_ogatak_starts_and_analyses_one_node_after_another(tmp_path: Path):
    config = tmp_path / "empty.toml"
    config.touch()
    ogatak = Ogatak(config)
    ogatak.send(id="query_version", action="query_version")
    ogatak.send(id="test_bs29", rules="Chinese", boardXSize=29, boardYSize=29, moves=[])
    assert ogatak.receive()["action"] == "query_version"
    reply = ogatak.receive()
    assert reply["id"] == "test_bs29"
    assert "error" in reply
    for node, moves in (("node_1:1", []), ("node_2:2", [["B", "E5"]])):
        ogatak.send(**NODE | {"id": node, "moves": moves, "initialPlayer": "B"})
        report = ogatak.receive()
        assert report["isDuringSearch"]
        assert {"moveInfos", "rootInfo", "ownership", "policy"} <= set(report)
        ogatak.send(id=f"stop!{node}", action="terminate", terminateId=node)
        while (reply := ogatak.receive()).get("isDuringSearch") is not False:
            assert "error" not in reply
        assert (reply["id"], reply["turnNumber"]) == (node, len(moves))
    ogatak.send(**NODE | {"id": "node_3:3"})
    output, _ = ogatak.engine.communicate()
    assert json.loads(output.splitlines()[-1])["isDuringSearch"] is False
    assert ogatak.engine.returncode == 0
