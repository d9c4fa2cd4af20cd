"""The engine's moves, its trees, and algorithms side by side."""

from __future__ import annotations

from typing import Any

import pytest

from serving import Client, last_message

WIN_IN_ONE = {"game": "tic_tac_toe", "start": None, "moves": ["a1", "a3", "b2", "b3"]}


@pytest.mark.parametrize(
    "budget",
    [{}, {"simulations": 100}, {"seconds": 0.05}, {"level": 3}, {"network": "rollout"}],
)
def test_the_engine_finds_a_win_in_one(client: Client, budget: Any) -> None:
    moved = client.ask("/api/move", position=WIN_IN_ONE, **budget)
    assert moved["move"] == "c3"
    assert moved["position"] == {**WIN_IN_ONE, "moves": [*WIN_IN_ONE["moves"], "c3"]}
    assert moved["view"]["result"] == "X wins"


def test_a_game_without_a_network_is_played_with_playouts(client: Client) -> None:
    position = {"game": "mnk(rows=4,columns=4,k=3)", "moves": ["a1", "d1", "b2", "d2"]}
    assert client.ask("/api/move", position=position)["move"] in ("c3", "d3")


@pytest.mark.parametrize("game", ["tic_tac_toe", "connect_four", "othello(board_size=4)", "go7"])
def test_the_engine_plays_a_game_to_its_end(client: Client, game: str) -> None:
    shown = client.ask("/api/position", position={"game": game})
    while not shown["terminal"]:
        shown = client.ask("/api/move", position=shown["position"], simulations=4)["view"]
    assert shown["result"]


@pytest.mark.parametrize(
    ("position", "more", "error"),
    [
        (WIN_IN_ONE, {"level": 99}, "level: expected 1 to "),
        ({"game": "mnk"}, {"level": 1}, "has none"),
        ({**WIN_IN_ONE, "moves": ["a1", "b1", "a2", "b2", "a3"]}, {}, "position: expected one"),
    ],
)
def test_a_wrong_request_is_refused(client: Client, position: Any, more: Any, error: str) -> None:
    status, text = client.refused("/api/move", position=position, **more)
    assert status == 400
    assert error in text


def test_a_tree_has_the_most_visited_nodes(client: Client) -> None:
    position = {"game": "connect_four", "moves": ["4"]}
    tree = client.ask("/api/tree", position=position, simulations=400, nodes=30)
    nodes = list(below(tree))
    assert len(nodes) == 30
    assert tree["N"] == 401
    for node in nodes:
        assert sum(child["N"] for child in node["children"]) <= node["N"]
        assert node["more"] >= 0
        assert node["W"] == pytest.approx(node["N"] * node["Q"], abs=0.02)
        visits = [child["N"] for child in node["children"]]
        assert visits == sorted(visits, reverse=True)
    best = tree["children"][0]
    assert tree["Q"] == pytest.approx(best["Q"], abs=0.2)


def below(tree: Any) -> Any:
    yield tree
    for child in tree["children"]:
        yield from below(child)


def test_algorithms_are_compared_on_one_position(client: Client) -> None:
    compared = client.ask("/api/compare", position=WIN_IN_ONE, simulations=200)
    assert compared["moves"] == ["b1", "c1", "a2", "c2", "c3"]
    rows = {row["algorithm"]: row for row in compared["rows"]}
    assert list(rows) == ["uct", "puct", "gumbel", "alphabeta"]
    assert {row["move"] for row in rows.values()} == {"c3"}
    assert (rows["alphabeta"]["proven"], rows["alphabeta"]["visits"]) == (1, None)
    assert len(rows["puct"]["visits"]) == 5


@pytest.mark.parametrize("game", ["tic_tac_toe", "go9"])
@pytest.mark.parametrize("algorithm", ["puct", "uct"])
def test_each_step_shows_the_choice_the_leaf_and_the_back_up(
    client: Client, game: str, algorithm: str
) -> None:
    asked = {"position": {"game": game}, "algorithm": algorithm, "simulations": 24}
    answer = client.post("/api/steps", json=asked)
    assert answer.status_code == 200
    assert len(answer.content) < 500_000
    steps = answer.json()["steps"]
    assert [step["simulation"] for step in steps] == list(range(1, 25))
    for step in steps:
        chosen = [selection["chosen"] for selection in step["path"]]
        assert chosen == step["leaf"]["path"] == [node["move"] for node in step["backup"][1:]]
        for selection in step["path"]:
            assert selection["chosen"] in [move["move"] for move in selection["moves"]]
            assert len(selection["moves"]) <= 13
        for node in step["backup"]:
            assert node["N"][1] == node["N"][0] + 1


def test_gumbel_has_no_steps(client: Client) -> None:
    asked = {"position": {"game": "othello"}, "algorithm": "gumbel"}
    status, error = client.refused("/api/steps", **asked)
    assert (status, error) == (400, "algorithm: expected 'puct' or 'uct', got 'gumbel'")


@pytest.fixture(scope="module")
def limited() -> Client:
    return Client(max_simulations=15, threads=1, memory=128 << 20)


@pytest.mark.parametrize(
    ("address", "body", "simulations"),
    [
        ("/api/move", {}, lambda answer: answer["simulations"]),
        ("/api/move", {"level": 7}, lambda answer: answer["simulations"]),
        ("/api/move", {"seconds": 30}, lambda answer: answer["simulations"]),
        ("/api/move", {"network": "rollout"}, lambda answer: answer["simulations"]),
        ("/api/tree", {}, lambda answer: answer["N"] - 1),
        ("/api/steps", {}, lambda answer: len(answer["steps"])),
        ("/api/compare", {}, lambda answer: sum(answer["rows"][1]["visits"])),
    ],
)
def test_a_search_without_simulations_ends_at_the_servers_limit(
    limited: Client, address: str, body: Any, simulations: Any
) -> None:
    answer = limited.ask(address, position={"game": "connect_four"}, **body)
    assert 0 < simulations(answer) <= 15  # a move ends early once it is decided


@pytest.mark.parametrize("address", ["/api/move", "/api/tree", "/api/steps", "/api/compare"])
def test_more_simulations_than_the_servers_limit_are_refused(limited: Client, address: str) -> None:
    position = {"game": "connect_four"}
    status, error = limited.refused(address, position=position, simulations=16)
    assert (status, error) == (400, "simulations: expected at most 15, got 16")


def test_a_live_analysis_without_simulations_ends_at_the_servers_limit(limited: Client) -> None:
    with limited.socket("/api/live") as socket:
        socket.send_json({"type": "analyze", "position": {"game": "connect_four"}})
        assert last_message(socket)["simulations"] == 15


@pytest.mark.parametrize(("budget", "kind"), [({}, "review"), ({"simulations": 16}, "error")])
def test_a_review_has_the_servers_limit(limited: Client, budget: Any, kind: str) -> None:
    position = {"game": "connect_four", "moves": ["4", "4"]}
    with limited.socket("/api/review") as socket:
        socket.send_json({"type": "review", "position": position, **budget})
        while (message := socket.receive_json())["type"] == "progress":
            assert message["of"] <= 45
        assert message["type"] == kind
