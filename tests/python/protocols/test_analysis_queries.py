"""What the analysis protocol accepts, warns of and refuses."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("pydantic", reason="the extra cli is not installed")

from analysis_client import GAME, replies_to

REFUSED = [
    ("boardXSize", {"boardXSize": 29}),
    ("boardYSize", {"boardYSize": 1}),
    ("boardXSize", {"boardXSize": 9.5}),
    ("boardXSize", {"boardXSize": None}),
    ("rules", {"rules": "none of these"}),
    ("rules", {"rules": {"ko": "SOMETIMES"}}),
    ("rules", {"rules": {"what": 1}}),
    ("komi", {"komi": 0.3}),
    ("komi", {"komi": 151}),
    ("whiteHandicapBonus", {"whiteHandicapBonus": "2"}),
    ("moves", {"moves": [["B", "J1"]]}),
    ("moves", {"moves": [["B", "C3"], ["W", "C3"]]}),
    ("moves", {"moves": [["X", "C3"]]}),
    ("moves", {"moves": "C3"}),
    ("moves", {"moves": [["B", "(5,0)"]]}),
    ("initialStones", {"initialStones": [["B", "Z9"]]}),
    ("initialStones", {"initialStones": [["B", "pass"]]}),
    ("initialStones", {"initialStones": [["B", "A1"], ["W", "A2"], ["W", "B1"]]}),
    ("initialPlayer", {"initialPlayer": "green"}),
    ("analyzeTurns", {"analyzeTurns": [1]}),
    ("analyzeTurns", {"analyzeTurns": [-1]}),
    ("priorities", {"analyzeTurns": [0], "priorities": [1, 2]}),
    ("priority", {"priority": 1, "analyzeTurns": [0], "priorities": [1]}),
    ("maxVisits", {"maxVisits": 0}),
    ("maxVisits", {"maxVisits": True}),
    ("maxVisits", {"maxVisits": 2**60}),
    ("includePolicy", {"includePolicy": "yes"}),
    ("reportDuringSearchEvery", {"reportDuringSearchEvery": 0}),
    ("overrideSettings", {"overrideSettings": {"reportAnalysisWinratesAs": "GREEN"}}),
    ("avoidMoves", {"avoidMoves": [{"player": "B", "moves": ["C3"]}]}),
    ("avoidMoves", {"avoidMoves": [{"player": "B", "moves": ["Z3"], "untilDepth": 1}]}),
    ("allowMoves", {"allowMoves": [{"player": "B", "moves": [], "untilDepth": 1}]}),
    ("action", {"action": "explode"}),
    ("terminateId", {"action": "terminate"}),
    ("turnNumbers", {"action": "terminate_all", "turnNumbers": "all"}),
]


@pytest.mark.parametrize(("field", "changes"), REFUSED)
def test_an_error_names_the_field_and_the_query(field: str, changes: dict[str, Any]):
    (reply,) = replies_to(**changes)
    assert (reply["id"], reply["field"]) == ("a", field)
    assert reply["error"]


@pytest.mark.parametrize("query", [1, None, [], "a", {}, {"id": 3}, {"id": "x" * 5000}])
def test_what_is_no_query_is_an_error_without_an_id(query: Any):
    (reply,) = replies_to(query=query if query is not None else ["null"])
    assert list(reply) == ["error"]


def test_an_illegal_move_is_called_so_because_clients_look_for_the_words():
    (reply,) = replies_to(moves=[["B", "C3"], ["W", "C3"]])
    assert reply["error"] == "Illegal move 1: C3"


WARNED = [
    ("rules", {"rules": "japanese"}),
    ("rules", {"rules": {"scoring": "TERRITORY"}}),
    ("rules", {"rules": {"tax": "ALL"}}),
    ("rootPolicyTemperature", {"rootPolicyTemperature": 1.5}),
    ("includeOwnershipStdev", {"includeOwnershipStdev": True}),
    ("overrideSettings", {"overrideSettings": {"cpuctExploration": 1.0}}),
    ("maxvisits", {"maxvisits": 3}),
    ("avoidMoves", {"avoidMoves": [{"player": "W", "moves": ["C3"], "untilDepth": 5}]}),
]


@pytest.mark.parametrize(("field", "changes"), WARNED)
def test_what_is_ignored_is_a_warning_before_the_answer(field: str, changes: dict[str, Any]):
    warning, answer = replies_to(**changes)
    assert (warning["id"], warning["field"]) == ("a", field)
    assert warning["warning"]
    assert answer["rootInfo"]["visits"] == 20


@pytest.mark.parametrize(
    "changes",
    [
        {"rules": "Chinese"},
        {"rules": "new zealand"},
        {"rules": {"ko": "SIMPLE", "suicide": True, "whiteHandicapBonus": "N-1"}},
        {"boardXSize": 3},
        {"moves": [["b", "(0,0)"], ["white", "pass"]]},
        {"overrideSettings": {"maxVisits": "20", "wideRootNoise": 0.04, "maxTime": 60}},
        {"overrideSettings": {"maxPlayouts": 20}, "maxVisits": None},
        {"includeOwnershipStdev": False, "komi": None},
        {"maxVisits": 20, "priority": -3},
    ],
)
def test_other_spellings_are_understood_without_a_warning(changes: dict[str, Any]):
    (answer,) = replies_to(**changes)
    assert answer["rootInfo"]["visits"] == 20


def test_actions_echo_the_query():
    version = {"id": "v", "action": "query_version", "more": [1]}
    (reply,) = replies_to(version)
    assert version.items() <= reply.items()
    assert [int(part) for part in reply["version"].split(".")] > [1, 12, 0]
    clear = {"id": "c", "action": "clear_cache"}
    assert replies_to(clear) == [clear]
    assert replies_to({"id": "m", "action": "query_models"})[0]["models"] == []


def test_the_first_query_of_ogatak_for_29x29_is_an_error():
    query = {"id": "test_bs29", "rules": "Chinese", "boardXSize": 29, "boardYSize": 29}
    (reply,) = replies_to(query | {"maxVisits": 1, "moves": []})
    assert reply["id"] == "test_bs29"
    assert "error" in reply


def test_the_query_is_not_changed():
    query = {"id": "a", **GAME, "moves": [["B", "C3"]]}
    before = str(query)
    replies_to(query)
    assert str(query) == before
