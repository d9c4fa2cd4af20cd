"""The figures in replies of the analysis protocol."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("pydantic", reason="the extra cli is not installed")

import pyengine
from analysis_client import Client, replies_to
from pyengine.protocols.analysis.positions import game_of, positions
from pyengine.protocols.analysis.query import parse_query


def answer_to(**fields: Any) -> dict[str, Any]:
    (answer,) = replies_to(**fields)
    return answer


@pytest.mark.parametrize(
    ("side", "moves", "rate"),
    [
        ("BLACK", [], 0.75),
        ("BLACK", [["B", "C3"]], 0.75),
        ("white", [], 0.25),
        ("SIDETOMOVE", [], 0.75),
        ("SIDETOMOVE", [["B", "C3"]], 0.25),
        (None, [["B", "C3"]], 0.75),
    ],
)
def test_figures_are_for_the_side_asked_and_for_black_by_default(
    side: str | None, moves: list[list[str]], rate: float
):
    override = {} if side is None else {"reportAnalysisWinratesAs": side}
    answer = answer_to(moves=moves, overrideSettings=override, maxVisits=30)
    for info in [answer["rootInfo"], *answer["moveInfos"]]:
        assert info["winrate"] == pytest.approx(rate, abs=1e-3)
        assert (info["scoreLead"] > 0) == (info["utility"] > 0) == (rate > 0.5)
        assert info["scoreMean"] == info["scoreLead"]
        is_for_mover = side == "SIDETOMOVE" or (side == "BLACK" and not moves)
        assert (info["lcb"] < info["winrate"]) == is_for_mover


def test_a_reply_lists_moves_by_order_with_lines_and_visits():
    answer = answer_to(maxVisits=100, includePVVisits=True, analysisPVLen=1, includePolicy=True)
    moves = answer["moveInfos"]
    assert [info["order"] for info in moves] == list(range(len(moves)))
    assert [info["visits"] for info in moves] == sorted((m["visits"] for m in moves), reverse=True)
    assert sum(info["visits"] for info in moves) == answer["rootInfo"]["visits"] == 100
    for info in moves:
        assert info["pv"][0] == info["move"]
        assert len(info["pv"]) == len(info["pvVisits"]) <= 2
        assert info["pvVisits"][0] == info["visits"] == info["edgeVisits"]
    assert answer["rootInfo"]["currentPlayer"] == "B"
    assert (answer["turnNumber"], answer["isDuringSearch"]) == (0, False)
    assert "ownership" not in answer


def test_the_policy_has_a_number_per_point_from_the_top_left_and_one_for_the_pass():
    policy = answer_to(moves=[["B", "A5"], ["W", "B1"]], includePolicy=True)["policy"]
    assert len(policy) == 26
    assert [point for point, share in enumerate(policy) if share == -1] == [0, 21]
    assert sum(share for share in policy if share >= 0) == pytest.approx(1, abs=1e-4)


def test_restrictions_act_on_the_player_to_move():
    def moves_of(**fields: Any) -> set[str]:
        return {info["move"] for info in answer_to(maxVisits=60, **fields)["moveInfos"]}

    def entry(player: str, *moves: str) -> list[dict[str, Any]]:
        return [{"player": player, "moves": list(moves), "untilDepth": 1}]

    assert moves_of(allowMoves=entry("B", "C3", "pass")) == {"C3", "pass"}
    assert "C3" not in moves_of(avoidMoves=entry("B", "C3"))
    assert "C3" in moves_of(avoidMoves=entry("W", "C3"))


def test_a_network_with_ownership_and_score_gives_them_for_each_move():
    def make(game: pyengine.Game) -> pyengine.Engine:
        return pyengine.Engine(game, "go9", threads=1)

    (answer,) = replies_to(
        make=make,
        boardXSize=9,
        boardYSize=9,
        maxVisits=8,
        moves=[["B", "E5"], ["W", "pass"], ["B", "D4"], ["W", "pass"], ["B", "F6"]],
        includeOwnership=True,
        includeMovesOwnership=True,
    )
    for info in [answer, *answer["moveInfos"]]:
        assert len(info["ownership"]) == 81
        assert max(map(abs, info["ownership"])) <= 1.001
        assert info["ownership"][40] > 0.5  # Black's stone on E5
    assert answer["rootInfo"]["scoreLead"] > 5
    assert min(info["scoreLead"] for info in answer["moveInfos"]) > 0
    passed = [info for info in answer["moveInfos"] if info["move"] == "pass"]
    assert all(info["scoreLead"] != answer["rootInfo"]["scoreLead"] for info in passed)


# --- positions


def last_position(**fields: Any) -> pyengine.State:
    game = {"id": "a", "rules": "chinese", "boardXSize": 5, "boardYSize": 5, "moves": []}
    query = parse_query({**game, **fields})
    *_, last = states(query)
    return last


def states(query: Any) -> Iterator[pyengine.State]:
    return (state.clone() for state in positions(query, game_of(query)))


@pytest.mark.parametrize(
    ("fields", "player"),
    [
        ({}, 0),
        ({"initialPlayer": "W"}, 1),
        ({"initialStones": [["B", "A1"], ["B", "C3"]]}, 1),
        ({"initialStones": [["B", "A1"]]}, 0),
        ({"initialStones": [["B", "A1"], ["W", "C3"]]}, 0),
        ({"moves": [["W", "A1"]]}, 0),
        ({"moves": [["B", "A1"], ["B", "C3"]]}, 1),
        ({"moves": [["B", "pass"], ["W", "pass"]]}, 0),
        ({"moves": [["B", "A1"], ["W", "pass"], ["B", "pass"]]}, 1),
        ({"moves": [["B", "pass"], ["W", "pass"], ["B", "pass"], ["W", "pass"]]}, 0),
    ],
)
def test_a_position_can_be_searched_whatever_led_to_it(fields: dict[str, Any], player: int):
    state = last_position(**fields)
    assert state.current_player() == player
    assert state.legal_actions()


def test_a_move_that_a_ko_forbids_is_played():
    ring = [["B", "B3"], ["W", "C3"], ["B", "C4"], ["W", "D4"], ["B", "C2"], ["W", "D2"]]
    fill = [["B", "A1"], ["W", "E3"], ["B", "D3"]]  # captures C3
    assert last_position(moves=[*ring, *fill, ["W", "C3"]]).board_rows()[2] == ".XO.O"


@pytest.mark.parametrize(
    ("fields", "komi"),
    [
        ({}, 7.5),
        ({"komi": 6}, 6),
        ({"rules": {"komi": 5.5}}, 5.5),
        ({"komi": 0.5, "initialStones": [["B", "A1"], ["B", "C3"]]}, 2.5),
        ({"komi": 0.5, "moves": [["B", "A1"], ["W", "pass"], ["B", "C3"]]}, 2.5),
        ({"komi": 0.5, "whiteHandicapBonus": "N-1", "moves": [["B", "A1"], ["B", "C3"]]}, 1.5),
        ({"komi": 0.5, "whiteHandicapBonus": "0", "moves": [["B", "A1"], ["B", "C3"]]}, 0.5),
        ({"komi": 0.5, "moves": [["B", "A1"], ["W", "C3"]]}, 0.5),
    ],
)
def test_points_for_handicap_stones_are_part_of_the_komi(fields: dict[str, Any], komi: float):
    assert last_position(**fields).game.params["komi"] == komi


def test_every_turn_asked_is_answered_once():
    client = Client()
    client.ask(moves=[["B", "A1"], ["W", "B2"], ["B", "C3"]], analyzeTurns=[3, 0, 3, 1])
    answers = client.finish()
    assert sorted(answer["turnNumber"] for answer in answers) == [0, 1, 3]
