"""Live analysis, review, and searches that end when their client goes."""

from __future__ import annotations

from typing import Any

import pytest

from serving import Client, last_message

NINE = {"game": "go(board_size=9,komi=7)"}


def analyze(position: Any, **more: Any) -> dict[str, Any]:
    return {"type": "analyze", "id": 7, "position": position, "every": 0.02, **more}


@pytest.mark.parametrize("algorithm", ["puct", "uct", "gumbel"])
def test_an_analysis_ends_with_its_budget(client: Client, algorithm: str) -> None:
    position = {"game": "connect_four", "moves": ["4", "4"]}
    with client.socket("/api/live") as socket:
        socket.send_json(analyze(position, simulations=300, algorithm=algorithm))
        last = last_message(socket)
    assert (last["type"], last["id"], last["done"], last["simulations"]) == ("result", 7, True, 300)
    assert sum(move["visits"] for move in last["moves"]) == last["visits"] == 300
    assert sum(move["prior"] for move in last["moves"]) == pytest.approx(1, abs=1e-3)
    best = last["moves"][0]
    assert best["pv"][0] == best["move"]
    assert best["cell"][1] == best["action"]
    assert -1 <= best["lcb"] <= best["q"] <= 1
    assert last["winrate_black"] == pytest.approx((1 + last["value"]) / 2, abs=1e-4)


def test_an_analysis_goes_on_until_it_is_stopped(client: Client) -> None:
    with client.socket("/api/live") as socket:
        socket.send_json(analyze(NINE))
        visits = [socket.receive_json()["visits"] for _ in range(4)]
        assert visits == sorted(visits)
        socket.send_json({"type": "stop"})
        client.wait_until(lambda: client.board.searches.running == 0)


def test_a_new_analysis_replaces_the_running_one_and_continues_its_tree(client: Client) -> None:
    with client.socket("/api/live") as socket:
        socket.send_json(analyze(NINE))
        message = socket.receive_json()
        while message["moves"][0]["visits"] < 50:
            message = socket.receive_json()
        move = message["moves"][0]["move"]
        socket.send_json({**analyze({**NINE, "moves": [move]}, simulations=20), "id": "next"})
        while (message := socket.receive_json())["id"] != "next" or not message["done"]:
            pass
    assert message["visits"] > 60
    assert (message["simulations"], client.board.engines.busy) == (20, 0)


def test_ownership_and_score_are_blacks(client: Client) -> None:
    for moves, sign in ((["E5"], 1), (["pass", "E5"], -1)):
        with client.socket("/api/live") as socket:
            socket.send_json(analyze({**NINE, "moves": moves}, simulations=100))
            last = last_message(socket)
        assert sign * last["ownership"][4][4] > 0
        assert sign * (last["winrate_black"] - 0.5) > 0
        assert (last["winrate_black"] > 0.5) == (last["score"] > 0)


def test_a_proof_is_shown_and_ends_the_search(client: Client) -> None:
    position = {"game": "tic_tac_toe", "moves": ["a1", "a3", "b2", "b3"]}
    with client.socket("/api/live") as socket:
        socket.send_json(analyze(position))
        last = last_message(socket)
    assert (last["proven"], last["stop_reason"], last["winrate_black"]) == (1, "proven", 1.0)
    assert (last["moves"][0]["move"], last["moves"][0]["proven"]) == ("c3", 1)


def test_the_tree_comes_with_the_result(client: Client) -> None:
    with client.socket("/api/live") as socket:
        socket.send_json(analyze({"game": "connect_four"}, simulations=200, tree={"nodes": 9}))
        tree = last_message(socket)["tree"]
    assert (tree["N"], tree["move"]) == (201, None)
    assert count(tree) == 9


def count(tree: Any) -> int:
    return 1 + sum(map(count, tree["children"]))


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        (analyze({"game": "x"}), "game: expected one of "),
        (analyze(NINE, network="nine"), "network: expected one of go9, rollout, uniform, got"),
        (analyze(NINE, network="othello"), "network: expected one of go9"),
        (analyze(NINE, every=0), "every: expected greater than or equal to 0.02, got 0"),
        (analyze(NINE, simulations=10**9), "simulations: expected at most 1000000, got"),
        (analyze({"game": "tic_tac_toe", "moves": ["a1", "b1", "a2", "b2", "a3"]}), "over"),
    ],
)
def test_a_wrong_analysis_is_refused_by_name(client: Client, request_: Any, error: str) -> None:
    with client.socket("/api/live") as socket:
        socket.send_json(request_)
        message = socket.receive_json()
        assert (message["type"], message["id"]) == ("error", 7)
        assert error in message["error"]
        socket.send_json(analyze({"game": "tic_tac_toe"}, simulations=10))
        assert last_message(socket)["done"]


def test_an_analysis_ends_when_its_client_goes(client: Client) -> None:
    with client.socket("/api/live") as socket:
        socket.send_json(analyze(NINE))
        socket.receive_json()
        assert client.board.engines.busy == 1
    client.wait_until(lambda: client.board.searches.running == 0 and client.board.engines.busy == 0)


def test_two_clients_analyse_at_the_same_time(client: Client) -> None:
    with client.socket("/api/live") as first, client.socket("/api/live") as second:
        for socket in (first, second):
            socket.send_json(analyze(NINE))
        assert {first.receive_json()["type"], second.receive_json()["type"]} == {"result"}
        assert client.board.engines.busy == 2
    client.wait_until(lambda: client.board.engines.busy == 0)


def review(**more: Any) -> dict[str, Any]:
    position = {"game": "tic_tac_toe", "moves": ["b2", "a1", "c3", "a3", "a2", "b3"]}
    return {"type": "review", "position": position, "simulations": 200, **more}


def test_a_review_names_the_move_that_lost_most(client: Client) -> None:
    with client.socket("/api/review") as socket:
        socket.send_json(review(network="rollout"))
        while (message := socket.receive_json())["type"] == "progress":
            assert 0 <= message["done"] <= message["of"] == 1200
    assert message["type"] == "review"
    assert [move["move"] for move in message["moves"]] == ["b2", "a1", "c3", "a3", "a2", "b3"]
    blunder = message["moves"][message["worst"][0] - 1]
    assert (blunder["move"], blunder["best"], blunder["class"]) == ("b3", "c2", "blunder")
    assert blunder["loss"] > 0.2
    assert len(message["positions"]) == 7


def test_a_review_ends_when_its_client_goes(client: Client) -> None:
    with client.socket("/api/review") as socket:
        moves = ["E5", "C3", "G3", "C7"]
        socket.send_json(review(position={**NINE, "moves": moves}, simulations=100_000))
        assert socket.receive_json()["type"] == "progress"
    client.wait_until(lambda: client.board.searches.running == 0)


def test_a_game_without_moves_has_no_review(client: Client) -> None:
    with client.socket("/api/review") as socket:
        socket.send_json(review(position={"game": "othello"}))
        message = socket.receive_json()
    assert (message["type"], message["error"]) == ("error", "the game has no moves to review")
