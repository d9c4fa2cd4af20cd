"""Who is let in, and how much a client may ask for."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from starlette.testclient import WebSocketDenialResponse

from pyengine.errors import ConfigError
from pyengine.serve.settings import ServeSettings
from serving import HOST, Client

TOKEN = "correct horse"
DIGEST = hashlib.sha256(TOKEN.encode()).hexdigest()
PORT = HOST.partition(":")[2]
ANALYZE = {"type": "analyze", "position": {"game": "othello"}}


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"host": "localhost:8000"}, 200),
        ({"host": "[::1]:8000"}, 200),
        ({"origin": f"http://{HOST}"}, 200),
        ({"host": "evil.example"}, 403),
        ({"host": "192.168.1.7:8000"}, 403),
        ({"host": "127.0.0.1.evil.example"}, 403),
        ({"host": ""}, 403),
        ({"host": "[::1"}, 403),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://127.0.0.1:9999"}, 403),
        ({"origin": ""}, 403),
        ({"origin": "http://[bad"}, 403),
        ({"origin": f"http://{HOST}", "host": f"LocalHost:{PORT}"}, 403),
        ({"origin": f"http://localhost:{PORT}", "host": f"LocalHost:{PORT}"}, 200),
    ],
)
def test_only_this_servers_page_and_programs_are_let_in(
    client: Client, headers: dict[str, str], status: int
) -> None:
    assert client.get("/health", headers=headers).status_code == status
    own = {"host": HOST, **headers}
    if status == 200:
        with client.socket("/api/live", **own):
            pass
    else:
        with pytest.raises(WebSocketDenialResponse) as refused, client.socket("/api/live", **own):
            pass
        assert refused.value.status_code == status


@pytest.fixture(scope="module")
def guarded() -> Client:
    hosts = ["Board.example", "2001:db8::7"]
    return Client(host="0.0.0.0", hosts=hosts, token=TOKEN, threads=1, memory=128 << 20)


@pytest.mark.parametrize(
    ("address", "headers", "status"),
    [
        ("/health", {}, 401),
        ("/health", {"authorization": f"Bearer {TOKEN}"}, 200),
        ("/health", {"authorization": f"Bearer {TOKEN}", "host": "192.168.1.7:8000"}, 200),
        ("/health", {"authorization": f"Bearer {TOKEN}", "host": "evil.example"}, 403),
        ("/health", {"authorization": f"Bearer {TOKEN}", "host": "board.example"}, 200),
        ("/health", {"authorization": "Bearer wrong"}, 401),
        ("/health", {"authorization": f"Basic {TOKEN}"}, 401),
        ("/health", {"authorization": f"Bearer {TOKEN}", "host": "BOARD.EXAMPLE:8000"}, 200),
        ("/health", {"cookie": f"pyengine-{PORT}={TOKEN}"}, 401),
        ("/health", {"cookie": f"pyengine-{PORT}={DIGEST}"}, 200),
        ("/health", {"cookie": f'other={{"a": [1]}}; pyengine-{PORT}={DIGEST}'}, 200),
        ("/health", {"cookie": f"pyengine-1={DIGEST}"}, 401),
        ("/health?token=correct%20horse", {}, 200),
        ("/health?token=wrong", {}, 401),
        ("/?token=wrong", {}, 401),
        ("/", {}, 401),
    ],
)
def test_a_token_lets_in(
    guarded: Client, address: str, headers: dict[str, str], status: int
) -> None:
    assert guarded.get(address, headers=headers).status_code == status


def test_a_token_in_the_pages_address_becomes_a_cookie(guarded: Client) -> None:
    response = guarded.get(f"/?token={TOKEN}", follow_redirects=False)
    assert (response.status_code, response.headers["location"]) == (303, "/")
    cookie = response.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert TOKEN not in cookie
    assert guarded.get("/").status_code == 200
    with guarded.socket("/api/live", cookie=cookie.partition(";")[0]):
        pass
    guarded.cookies.clear()


@pytest.mark.parametrize(
    "settings",
    [
        {"host": "0.0.0.0"},
        {"host": "192.168.1.7"},
        {"host": "example.com"},
        {"host": "0.0.0.0", "token": "short"},
        {"hosts": ["board.example:8000"]},
        {"hosts": ["http://board.example"]},
        {"model": "go9"},
        {"memory": 1 << 20},
    ],
)
def test_impossible_settings_are_refused(settings: Any) -> None:
    with pytest.raises(ConfigError):
        ServeSettings(**settings)


@pytest.mark.parametrize(
    "name", ["setup.py:Game", "os:getcwd", "pyspiel:efg_game(filename=/etc/x)"]
)
def test_a_request_loads_no_code_and_no_file(client: Client, name: str) -> None:
    status, error = client.refused("/api/position", position={"game": name})
    assert (status, error.split(",")[0]) == (400, "game: expected one of connect_four")


@pytest.mark.parametrize(
    "name", ["setup.py:Game", "os:getcwd", "pyspiel:efg_game(filename=/etc/x)"]
)
@pytest.mark.parametrize(
    "first",
    [*("pyengine game" + end for end in "\n\r\x0b\x0c\x1c\x85\u2028"), "pyengine game \r\n"]
    + [f"{blank}pyengine game\n" for blank in "\ufeff\r\x0b\x0c\x1c\x85\u2028\xa0 "],
)
@pytest.mark.parametrize("more", [{}, {"game": "othello"}, {"format": "moves"}])
def test_a_saved_game_loads_no_code_and_no_file(
    client: Client, first: str, name: str, more: Any
) -> None:
    text = f"{first}game: {name}\nactions: 0\n"
    status, error = client.refused("/api/import", text=text, **more)
    assert status == 400
    is_no_saved_game = first[-1] != "\n"  # only \n ends the first line
    assert is_no_saved_game or "game: expected one of connect_four, " in error
    assert "No such file" not in error


@pytest.mark.parametrize(
    "path",
    ["/../app.py", "/%2e%2e/app.py", "/..%2fapp.py", "//etc/passwd", "/page/index.html", "/app.py"],
)
def test_only_the_pages_own_files_are_served(client: Client, path: str) -> None:
    response = client.get(path)
    assert response.status_code == 404
    assert response.json()["error"].startswith("address: expected one of this server, got /")


def test_a_wrong_method_is_named(client: Client) -> None:
    response = client.post("/api/games")
    assert (response.status_code, response.json()) == (405, {"error": "Method Not Allowed"})
    assert response.headers["allow"] == "GET"


def test_the_page_may_load_nothing_from_elsewhere(client: Client) -> None:
    response = client.get("/")
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    policy = response.headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert response.headers["x-content-type-options"] == "nosniff"


def chunks() -> Any:
    for _ in range(20):
        yield b" " * 100_000


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b"{", "body: expected JSON"),
        (b"[" * 200_000, "body: expected JSON"),
        (b"\xff\xfe", "body: expected JSON"),
        (b"[]", "body: expected an object, got []"),
        (b"", "body: expected a value, got nothing"),
        (b'{"position": {"game": "\\ud800"}}', "position.game: expected a valid string"),
        (b'{"position": {"game": "othello"}, "seconds": NaN}', "seconds: expected a finite number"),
    ],
)
def test_a_body_that_is_no_request_is_refused(client: Client, content: bytes, error: str) -> None:
    headers = {"content-type": "application/json"}
    response = client.post("/api/move", content=content, headers=headers)
    assert response.status_code == 400
    assert response.json()["error"].startswith(error)


@pytest.mark.parametrize("content", [b" " * ((1 << 20) + 1), chunks()])
def test_a_body_above_a_mebibyte_is_refused(client: Client, content: Any) -> None:
    response = client.post("/api/position", content=content)
    assert response.status_code == 413
    assert response.json() == {"error": "body: expected at most 1048576 bytes"}


@pytest.mark.parametrize(
    ("address", "body", "error"),
    [
        ("/api/position", {"moves": ["a1"] * 10_001}, "expected at most 10000 items, got 10001"),
        ("/api/move", {"simulations": 10**7}, "simulations: expected at most 1000000, got"),
        ("/api/move", {"simulations": 0}, "simulations: expected greater than or equal to 1"),
        ("/api/move", {"seconds": 1e9}, "seconds: expected less than or equal to 3600"),
        ("/api/move", {"network": "../x.onnx"}, "network: expected one of tic_tac_toe, rollout"),
        ("/api/tree", {"simulations": 10**7}, "simulations: expected at most 1000000, got"),
        ("/api/tree", {"nodes": 3000}, "nodes: expected less than or equal to 2000, got 3000"),
        ("/api/compare", {"simulations": 10**6}, "simulations: expected less than or equal to"),
    ],
)
def test_too_much_is_refused_by_name(client: Client, address: str, body: Any, error: str) -> None:
    moves = body.pop("moves", [])
    position = {"game": "tic_tac_toe", "moves": moves}
    status, text = client.refused(address, position=position, **body)
    assert status == 400
    assert error in text


def test_more_searches_than_allowed_are_refused(client: Client) -> None:
    sockets = [client.socket("/api/live") for _ in range(4)]
    for socket in sockets:
        socket.__enter__()
    try:
        for socket in sockets[:3]:
            socket.send_json(ANALYZE)
            socket.receive_json()
        sockets[3].send_json(ANALYZE)
        assert sockets[3].receive_json() == {
            "type": "error",
            "id": None,
            "error": "searches: expected at most 3 at the same time",
        }
        status, error = client.refused("/api/move", position=ANALYZE["position"])
        assert (status, error) == (429, "searches: expected at most 3 at the same time")
    finally:
        for socket in sockets:
            socket.__exit__(None, None, None)
    client.wait_until(lambda: client.board.searches.running == 0)


def test_more_websockets_than_allowed_are_refused() -> None:
    client = Client(max_sockets=1, threads=1, memory=128 << 20)
    with client.socket("/api/live"):
        with pytest.raises(WebSocketDenialResponse) as refused, client.socket("/api/live"):
            pass
        assert refused.value.status_code == 429
    with client.socket("/api/live"):
        pass


@pytest.mark.parametrize("message", ["{", "[]", json.dumps({"type": "play"}), "null"])
def test_a_wrong_message_is_answered_and_the_socket_stays_open(
    client: Client, message: str
) -> None:
    with client.socket("/api/live") as socket:
        for _ in range(2):
            socket.send_text(message)
            assert socket.receive_json()["type"] == "error"
