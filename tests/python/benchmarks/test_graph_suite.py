"""The suite that compares graph and tree search. Nothing is timed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import pyengine
from quick_suites import rows_of, suite_module

bars, common, proofs, solver = map(suite_module, ("bars", "common", "graph_proofs", "solver"))


def test_the_suite_compares_sharing_cost_saturation_and_proofs() -> None:
    rows = rows_of("graph")
    kinds = [name.split("/")[3].split(",")[0] for name in rows]
    assert {kind: kinds.count(kind) for kind in kinds} == {
        "sharing": 12,
        "cost": 7,
        "saturation": 2,
        "proofs": 2,
    }
    floors = [bars.bar_of(row) for name, row in rows.items() if "/sharing" in name]
    assert sorted(bar.asked for bar in floors if bar is not None) == [1.4, 1.5, 2.0, 2.5]
    for name, row in rows.items():
        if "/cost" in name:
            bar = bars.bar_of(row)
            assert (bar.title, bar.asked, bar.at_most) == ("x tree", 1.35, True)
    for row in rows.values():
        if "tree nodes" in row:
            assert row["nodes"] <= row["tree nodes"]


# Proofs

WON = [3, 0, 3, 0, 3, 0]  # the player to move wins in one


def position(score: int | None) -> Any:
    state = pyengine.load_game("connect_four").new_initial_state(WON)
    return solver.Position(state, score)


def test_a_finished_search_is_not_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "proofs.jsonl"
    first = proofs.Attempts(file).of(position(18), True, 1000)
    assert first.proven == 1
    whole = file.read_text()
    file.write_text(whole + '{"moves": [3, 0')  # cut off by a crash
    monkeypatch.setattr(proofs, "prove", lambda *_: pytest.fail("searched again"))
    assert proofs.Attempts(file).of(position(18), True, 1000) == first
    assert file.read_text() == whole


def test_a_proof_that_contradicts_the_published_score_is_an_error() -> None:
    with pytest.raises(common.CheckError, match="the value is -1"):
        proofs.Attempts(None).of(position(-3), False, 1000)


@pytest.mark.parametrize("line", ["nonsense", "[]", json.dumps({"moves": [1]})])
def test_a_damaged_file_of_proofs_is_refused(line: str, tmp_path: Path) -> None:
    file = tmp_path / "proofs.jsonl"
    file.write_text(line + "\n")
    with pytest.raises(pyengine.DataError, match="line 1"):
        proofs.Attempts(file)


def test_ratios_are_over_the_positions_that_both_prove() -> None:
    def attempt(graph: bool, proven: int | None, simulations: int) -> Any:
        return proofs.Attempt((), graph, proven, simulations, 1)

    pairs = [
        (attempt(False, 1, 400), attempt(True, 1, 100)),
        (attempt(False, -1, 100), attempt(True, -1, 100)),
        (attempt(False, None, 1000), attempt(True, 0, 300)),
    ]
    row = proofs.figures(pairs)
    assert (row["proven by the tree"], row["proven"], row["both"]) == (2, 3, 2)
    assert (row["ratio"], row["median ratio"], row["mean ratio"]) == (2.5, 2.5, 2.0)
    assert (row["from"], row["to"]) == (1.0, 4.0)
