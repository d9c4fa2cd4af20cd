"""KataGo's protocol over a WebSocket."""

from __future__ import annotations

import json
from typing import Any

import pytest

from serving import Client


def query(**more: Any) -> dict[str, Any]:
    return {
        "id": "q",
        "moves": [["B", "E5"]],
        "rules": "chinese",
        "komi": 7,
        "boardXSize": 9,
        "boardYSize": 9,
        "maxVisits": 20,
        **more,
    }


def test_each_turn_is_answered(client: Client) -> None:
    with client.socket("/analysis") as socket:
        socket.send_json(query(analyzeTurns=[0, 1]))
        replies = [socket.receive_json() for _ in range(2)]
    assert sorted(reply["turnNumber"] for reply in replies) == [0, 1]
    assert all(reply["rootInfo"]["visits"] == 20 for reply in replies)


@pytest.mark.parametrize(
    ("message", "error"),
    [
        ("{", "message: expected JSON"),
        ("[]", "expected a JSON object"),
        (json.dumps({"id": "q"}), "moves: "),
        (json.dumps({"id": "q", "action": "quit"}), "action: expected one of query_version"),
    ],
)
def test_a_wrong_query_is_answered_and_the_next_one_is_searched(
    client: Client, message: str, error: str
) -> None:
    with client.socket("/analysis") as socket:
        socket.send_text(message)
        assert error in socket.receive_json()["error"]
        socket.send_json(query())
        assert socket.receive_json()["id"] == "q"


def test_clients_may_use_the_same_ids(client: Client) -> None:
    with client.socket("/analysis") as first, client.socket("/analysis") as second:
        first.send_json(query(maxVisits=30))
        second.send_json(query(maxVisits=10))
        assert first.receive_json()["rootInfo"]["visits"] == 30
        assert second.receive_json()["rootInfo"]["visits"] == 10


def test_pondering_ends_when_its_client_goes(client: Client) -> None:
    endless = query(maxVisits=10_000_000, reportDuringSearchEvery=0.05)
    with client.socket("/analysis") as socket:
        socket.send_json(endless)
        assert socket.receive_json()["isDuringSearch"]
    with client.socket("/analysis") as socket:  # as endless: it would wait for the one before
        socket.send_json(endless)
        assert socket.receive_json()["isDuringSearch"]


@pytest.mark.parametrize(
    "budget",
    [
        {"maxVisits": 500},
        {"maxVisits": None},
        {"maxVisits": 5_000_000},
        {"maxVisits": None, "overrideSettings": {"maxVisits": 500}},
        {"maxVisits": None, "overrideSettings": {"maxPlayouts": "500"}},
        {"maxVisits": None, "overrideSettings": {"maxTime": 30}},
    ],
)
def test_the_visits_of_a_query_are_limited(budget: dict[str, Any]) -> None:
    with Client(max_simulations=15, threads=1) as client, client.socket("/analysis") as socket:
        socket.send_json(query(**budget))
        assert socket.receive_json()["rootInfo"]["visits"] == 15
