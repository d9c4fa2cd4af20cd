"""A dialogue in GTP within this process."""

from __future__ import annotations

import io
import re
import time
from collections.abc import Iterator

import pyengine
from pyengine import Engine
from pyengine.protocols.gtp.client import ClientSettings
from pyengine.protocols.gtp.commands import gtp_client
from pyengine.protocols.gtp.syntax import parse_command
from pyengine.protocols.inbox import Inbox
from pyengine.protocols.lines import Lines, Output
from pyengine.protocols.session import Session

#: A step of a client: wait until the engine reports a search.
INFO = object()

_RESPONSE = re.compile(r"[=?](?:\d+)?(?: [^\n]*)?\n(?:[^\n]+\n)*\n")
_PATIENCE = 30  # seconds


class Dialogue:
    """A client's steps: lines, bytes, or INFO; and what the engine answers."""

    def __init__(
        self,
        *steps: object,
        game: str = "go(board_size=5,komi=0.5)",
        evaluator: object = "uniform",
        simulations: int = 8,
        settings: ClientSettings | None = None,
    ) -> None:
        self._stream = io.BytesIO()
        self._seen = (0, 0)  # commands, and reports of the last
        self._steps = self._chunks(iter(steps))
        self.session = Session(
            pyengine.load_game(game),
            lambda own: Engine(own, evaluator, simulations=simulations, threads=1),
        )
        inbox = Inbox(Lines(lambda: next(self._steps, b"")))
        self.client = gtp_client(self.session, inbox, Output(self._stream), settings)

    def _chunks(self, steps: Iterator[object]) -> Iterator[bytes]:
        sent = 0
        for step in steps:
            if step is INFO:
                self._wait_for_info(sent)
            else:
                line = step if isinstance(step, bytes) else f"{step}\n".encode()
                sent += parse_command(line.decode("utf-8", "replace")) is not None
                yield line

    def _wait_for_info(self, sent: int) -> None:
        """Wait until the last of so many commands reports once more."""
        begin = time.monotonic()
        while time.monotonic() < begin + _PATIENCE:
            *complete, current = self.output.split("\n\n")
            count = current.count("info move")
            if len(complete) == sent - 1 and count > 0 and (sent, count) > self._seen:
                self._seen = (sent, count)
                return
            time.sleep(0.002)

    @property
    def output(self) -> str:
        """All that the engine has written."""
        return self._stream.getvalue().decode()

    def run(self) -> list[str]:
        """Hold the dialogue; return the responses without their empty lines."""
        self.client.run()
        text = self.output
        responses = _RESPONSE.findall(text)
        assert "".join(responses) == text, "output that is not GTP"
        return [response.rstrip("\n") for response in responses]


def responses(*steps: object, **arguments: object) -> list[str]:
    """Return the engine's responses to a client's steps."""
    return Dialogue(*steps, **arguments).run()  # type: ignore[arg-type]


def answers(*steps: object, **arguments: object) -> list[str]:
    """Return the responses without ``= ``; failures keep their question mark."""
    return [text.removeprefix("=").strip() for text in responses(*steps, **arguments)]
