"""The command ``pyengine serve``, and KaTrain's own client of it."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import httpx
import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from commands import run
from katrain_stub import KaTrain, katrain_without_windows
from serving import served

SGF = "(;GM[1]FF[4]SZ[9]KM[7]RU[chinese];B[ee];W[gc];B[cg];W[gg];B[cc];W[fe])"
VISITS = 20


def test_the_command_serves_the_page_until_ctrl_c() -> None:
    with served("--threads", "1") as address:
        assert address.startswith("http://127.0.0.1:")
        assert httpx.get(f"{address}/health").json() == {"ok": True}
        assert "<!doctype html>" in httpx.get(address).text


def test_a_client_that_sends_too_much_or_vanishes_leaves_no_search_running() -> None:
    live = '{"type": "analyze", "position": {"game": "othello"}}'
    with served("--threads", "1") as address:
        url = address.replace("http", "ws") + "/api/live"
        with connect(url) as client:
            client.send(" " * (1 << 20) + "{}")
            with pytest.raises(ConnectionClosed, match="1009"):
                client.recv()
        for _ in range(10):  # more than may search at the same time
            client = connect(url)
            client.send(live)
            assert '"type":"result"' in client.recv()
            client.socket.shutdown(socket.SHUT_RDWR)
        with pytest.raises(InvalidStatus, match="403"), connect(url, origin="http://a.example"):
            pass


def test_a_token_comes_from_the_environment() -> None:
    with served("--host", "0.0.0.0", environment={"PYENGINE_TOKEN": "a long token"}) as address:
        assert httpx.get(f"{address}/health").status_code == 401
        headers = {"authorization": "Bearer a long token"}
        assert httpx.get(f"{address}/health", headers=headers).status_code == 200


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (["--host", "0.0.0.0"], "host: expected 127.0.0.1 without a token, got 0.0.0.0"),
        (["--token", "short"], "token: expected at least 8 characters"),
        (["--game", "chess"], "chess"),
        (["--model", "go9"], "model: expected a game for it (--game), got 'go9' alone"),
        (["--run", "no-such-folder"], "no-such-folder"),
    ],
)
def test_wrong_options_end_the_command(options: list[str], error: str) -> None:
    done = run("serve", "--no-browser", *options)
    assert done.status == 2
    assert error in done.words


def test_a_port_in_use_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run("serve", "--no-browser", "--port", port)
    assert done.status == 1
    assert f"127.0.0.1:{port} is in use: choose another port (--port)" in done.words


@pytest.fixture
def katrain() -> Iterator[KaTrain]:
    pytest.importorskip("pysgf", reason="pysgf is not installed")
    pytest.importorskip("websocket", reason="websocket-client is not installed")
    pytest.importorskip("katrain", reason="KaTrain is not installed")
    with katrain_without_windows() as katrain:
        yield katrain


@pytest.mark.parametrize("token", ["", "a long token"])
def test_katrains_remote_engine_reviews_a_game_and_ponders(katrain: KaTrain, token: str) -> None:
    from katrain.core.game import Game, KaTrainSGF
    from katrain.core.remote_engine import RemoteKataGoEngine

    options = ("--token", token) if token else ()
    with served("--threads", "1", *options) as address:
        query = f"?token={token.replace(' ', '%20')}" if token else ""
        config = {
            "backend": "remote",
            "remote_url": f"{address.replace('http', 'ws')}/analysis{query}",
            "max_visits": VISITS,
            "fast_visits": 10,
            "max_time": 60.0,
            "wide_root_noise": 0.04,
            "_enable_ownership": True,
        }
        engine = RemoteKataGoEngine(katrain, config)
        game = Game(katrain, engine, move_tree=KaTrainSGF.parse_sgf(SGF))
        nodes = game.root.nodes_in_tree
        katrain.wait_until(lambda: all(node.analysis_complete for node in nodes))
        assert [node.root_visits for node in nodes] == [VISITS] * 7
        assert len(nodes[-1].ownership) == 81

        game.root.analyze(engine, ponder=True)
        katrain.wait_until(lambda: game.root.root_visits >= 2 * VISITS)
        engine.stop_pondering()
        engine.shutdown()
    assert katrain.errors == []
