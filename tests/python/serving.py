"""Servers for tests: in this process, and in a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the extra serve is not installed")
pytest.importorskip("httpx", reason="httpx is not installed (extra: test)")

from fastapi.testclient import TestClient

from pyengine.serve.app import Board, make_app
from pyengine.serve.settings import ServeSettings

HOST = "127.0.0.1:8000"


class Client(TestClient):
    """A page of this server, with short names for what tests ask."""

    def __init__(self, **settings: Any) -> None:
        app = make_app(ServeSettings(**settings))
        super().__init__(app, base_url=f"http://{HOST}")
        self.board: Board = app.state.board

    def ask(self, address: str, **body: Any) -> Any:
        """Post a request that must succeed; return the answer."""
        response = self.post(address, json=body)
        assert response.status_code == 200, response.text
        return response.json()

    def refused(self, address: str, **body: Any) -> tuple[int, str]:
        """Post a request that must fail; return status and error."""
        response = self.post(address, json=body)
        return response.status_code, response.json()["error"]

    def socket(self, address: str, **headers: str) -> Any:
        """Open a WebSocket."""
        return self.websocket_connect(f"ws://{HOST}{address}", headers=headers)

    def wait_until(self, done: Callable[[], bool]) -> None:
        """Wait for the server."""
        end = time.monotonic() + 20
        while not done():
            assert time.monotonic() < end
            time.sleep(0.01)


def last_message(socket: Any) -> Any:
    """Return the last message about a search."""
    while not (message := socket.receive_json()).get("done", True):
        assert message["type"] == "result"
    return message


@contextmanager
def served(*options: str, environment: dict[str, str] | None = None) -> Iterator[str]:
    """Run ``pyengine serve`` on a free port; yield its address, such as http://127.0.0.1:1234."""
    command = [sys.executable, "-m", "pyengine", "serve", "--no-browser", "--port", "0", *options]
    paths = os.pathsep.join(sys.path)
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONPATH": paths, **(environment or {})},
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline().split()[0]
    finally:
        process.send_signal(signal.SIGINT if sys.platform != "win32" else signal.SIGTERM)
        output, _ = process.communicate(timeout=30)
    assert output == ""
