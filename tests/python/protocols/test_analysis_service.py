"""The order in which the analysis protocol answers, and what it survives."""

from __future__ import annotations

import io
import json
import random
from typing import Any

import pytest

pytest.importorskip("pydantic", reason="the extra cli is not installed")

import pyengine
from analysis_client import GAME, Client, black_is_ahead, engine_for
from pyengine.protocols.analysis.service import Analysis
from pyengine.protocols.analysis.stream import serve
from pyengine.protocols.lines import Lines, Output

ENDLESS = {"maxVisits": 10_000_000, "reportDuringSearchEvery": 0.01}


def terminate(query_id: str, **fields: Any) -> dict[str, Any]:
    return {"id": f"stop {query_id}", "action": "terminate", "terminateId": query_id, **fields}


def test_pondering_reports_until_it_is_terminated():
    client = Client()
    client.ask(**ENDLESS)
    visits = []
    for _ in range(3):
        report = client.next()
        assert report["isDuringSearch"]
        visits.append(report["rootInfo"]["visits"])
        assert len(report["moveInfos"][0]["pv"]) > 1
    client.ask(terminate("a"))
    assert client.final()["rootInfo"]["visits"] >= visits[-1]
    assert visits == sorted(set(visits))
    assert client.finish() == []


def test_other_queries_interrupt_pondering_which_then_goes_on():
    client = Client()
    client.ask(**ENDLESS, priority=1000)
    before = client.next()["rootInfo"]["visits"]
    client.ask(id="b", priority=-1000, moves=[["B", "C3"]])
    assert client.final("b")["rootInfo"]["visits"] == 20
    assert client.next()["rootInfo"]["visits"] > before
    client.ask(terminate("a"))
    client.final("a")
    client.finish()


def test_the_most_urgent_query_is_answered_first():
    client = Client()
    client.ask(id="long", maxVisits=900_000, reportDuringSearchEvery=0.01)
    client.next()  # runs
    for name, priority in (("low", 1), ("high", 3), ("middle", 2)):
        client.ask(id=name, priority=priority)
    order = [_next_final(client) for _ in range(3)]
    assert order == ["high", "middle", "low"]
    client.ask(terminate("long"))
    client.final("long")
    client.finish()


def _next_final(client: Client) -> str:
    while (reply := client.next()).get("isDuringSearch") is not False:
        pass
    return str(reply["id"])


def test_a_terminated_query_that_waited_has_no_results():
    client = Client()
    client.ask(**ENDLESS, priority=5)
    client.next()
    client.ask(id="b", **ENDLESS, analyzeTurns=[0, 1], moves=[["B", "C3"]])
    client.ask(terminate("b", turnNumbers=[1]))
    assert client.final("b") == _nothing("b", 1)
    client.ask({"id": "all", "action": "terminate_all"})
    assert client.final("b") == _nothing("b", 0)
    assert client.final("a")["rootInfo"]
    assert client.finish() == []


def _nothing(query_id: str, turn: int) -> dict[str, Any]:
    return {"id": query_id, "turnNumber": turn, "isDuringSearch": False, "noResults": True}


def test_waiting_positions_are_searched_in_shared_batches():
    rows: list[int] = []

    def evaluate(states: list[Any]) -> Any:
        rows.append(len(states))
        return black_is_ahead(states)

    def make(game: pyengine.Game) -> pyengine.Engine:
        own = pyengine.StateEvaluator(evaluate)
        return pyengine.Engine(game, own, threads=1, in_flight=1, batch_size=8)

    client = Client(make)
    moves = [["B", "C3"], ["W", "B2"], ["B", "D4"], ["W", "D2"]]
    client.ask(id="first")
    client.final("first")  # shows how fast the engine is
    client.ask(moves=moves, analyzeTurns=[0, 1, 2, 3, 4])
    assert len(client.finish()) == 5
    assert max(rows) > 1


def test_a_client_that_leaves_ends_only_its_own_queries():
    stayed = Client()
    replies: list[dict[str, Any]] = []
    leaves = replies.append
    stayed.service.handle({"id": "a", **GAME, **ENDLESS}, leaves)
    stayed.service.disconnect(leaves)
    stayed.ask(id="a")
    assert stayed.final("a")["rootInfo"]["visits"] == 20
    stayed.finish()


def test_a_client_that_cannot_be_reached_ends_only_its_own_queries():
    stayed = Client()
    attempts: list[dict[str, Any]] = []

    def leaves(reply: dict[str, Any]) -> None:
        attempts.append(reply)
        raise BrokenPipeError

    for _ in range(5):
        stayed.service.handle({"id": "a", **GAME, **ENDLESS, "maxVisits": 2000}, leaves)
    stayed.ask(id="b")
    assert stayed.final("b")["rootInfo"]["visits"] == 20
    stayed.finish()
    assert len(attempts) <= 5


def test_a_failing_evaluator_is_an_error_reply_and_the_service_goes_on():
    failing = [True]

    def evaluate(states: list[Any]) -> Any:
        if failing[0]:
            raise RuntimeError("out of order")
        return black_is_ahead(states)

    client = Client(lambda game: pyengine.Engine(game, pyengine.StateEvaluator(evaluate)))
    client.ask()
    reply = client.next()
    assert reply["id"] == "a"
    assert "out of order" in reply["error"]
    failing[0] = False
    client.ask(id="b")
    assert client.final("b")["rootInfo"]["visits"] == 20
    client.finish()


def test_a_network_that_does_not_fit_the_board_is_an_error_reply():
    client = Client(lambda game: pyengine.Engine(game, "go9"))
    client.ask()
    (reply,) = client.finish()
    assert reply["id"] == "a"
    assert "go9" in reply["error"]


# --- lines


def spoken(text: bytes, **options: Any) -> list[dict[str, Any]]:
    """Return the replies to lines of input, each of which is a JSON object."""
    chunks = iter([text, b""])
    stream = io.BytesIO()
    serve(Analysis(engine_for), Lines(lambda: next(chunks)), Output(stream), **options)
    replies = [json.loads(line) for line in stream.getvalue().decode().splitlines()]
    assert all(isinstance(reply, dict) for reply in replies)
    return replies


def line_of(**fields: Any) -> bytes:
    return json.dumps({"id": "a", **GAME, **fields}).encode() + b"\n"


def test_the_end_of_input_waits_for_open_queries_but_not_for_pondering():
    replies = spoken(line_of(id="b") + line_of(**ENDLESS))
    assert {reply["id"] for reply in replies} == {"a", "b"}
    assert spoken(line_of(**ENDLESS), wait=False)[-1]["isDuringSearch"] is False


def test_a_number_beyond_json_is_not_echoed():
    (reply,) = spoken(b'{"id":"v","action":"query_version","more":1e999}\n')
    assert reply["more"] is None


@pytest.mark.parametrize(
    "line",
    [
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"id":"a","rules":' + b'{"a":' * 150 + b"1" + b"}" * 151,
        b"9" * 100_000,
        b"1e999",
        b'{"id":NaN}',
        b'{"id":"\\ud800"}',
        b'{"id":"' + b"x" * 3_000_000 + b'"}',
        b'{"id":"a","action":"' + b"x" * 3_000_000 + b'"}',
        line_of(moves=[["B", "C3"]] * 100_000),
        line_of(moves=[["B", "C3" * 1000]]),
        line_of(komi=10**300),
        b"\xff\x00\xfe",
    ],
    ids=range(13),
)
def test_a_monstrous_line_is_one_short_error(line: bytes):
    (reply,) = spoken(line)
    assert "error" in reply
    assert len(json.dumps(reply)) < 5000


def test_a_broken_line_is_an_error_and_never_the_end():
    dice = random.Random(7)
    whole = [
        line_of(maxVisits=1)[:-1],
        line_of(moves=[["B", "C3"], ["W", "pass"]], maxVisits=1, includePolicy=True)[:-1],
        line_of(initialStones=[["B", "A1"]], rules={"ko": "SIMPLE"}, analyzeTurns=[0])[:-1],
        json.dumps(terminate("a", turnNumbers=[0])).encode(),
        b'{"id":"v","action":"query_version"}',
    ]
    lines = []
    for _ in range(10_000):
        line = bytearray(dice.choice(whole))
        start = dice.randrange(len(line))
        match dice.randrange(4):
            case 0:
                del line[start:]
            case 1:
                del line[start : start + dice.randrange(1, 4)]
            case 2:
                line[start : start + 1] = dice.randbytes(3).replace(b"\n", b"")
            case 3:
                line[start:start] = dice.choice([b"0", b'"', b"[", b"null", b"-", b"1e9"])
        lines.append(bytes(line).replace(b'"maxVisits": 20', b'"maxVisits": 1'))
    replies = spoken(b"\n".join(lines) + b"\n", wait=False)
    assert len(replies) > 9_000
    assert all("error" in reply or "id" in reply for reply in replies)
