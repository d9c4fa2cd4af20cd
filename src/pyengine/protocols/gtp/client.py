"""The dialogue with a client: reads commands, runs them, ponders between them."""

from __future__ import annotations

import time
import traceback
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from pyengine.errors import EngineError
from pyengine.games.game import Game, State
from pyengine.protocols.gtp.position import Position
from pyengine.protocols.gtp.syntax import Command, GtpError, Response, parse_command
from pyengine.protocols.lines import Lines, Output, log
from pyengine.protocols.session import Session

_INTERRUPT = "# interrupt"  # GoGui
_POLL = 0.02  # seconds


@dataclass(frozen=True)
class ClientSettings:
    """How the engine presents itself and plays.

    Attributes:
        name: the engine's name.
        ponder: search while the other player thinks.
        resign_below: resign if the win rate is lower, in [0, 1]; None = never.
    """

    name: str = "pyengine"
    ponder: bool = False
    resign_below: float | None = None


class Client:
    """A dialogue in GTP.

    Attributes:
        session: the engine and the clocks.
        position: the game in progress.
        settings: given by the user.
        response: to the command in progress.
        pondered: the position to search until the next line, or None.
        thinking_seconds: total time of the moves generated.
    """

    def __init__(
        self,
        session: Session,
        lines: Lines,
        output: Output,
        commands_for: Callable[[Game], Mapping[str, Handler]],
        settings: ClientSettings | None = None,
    ) -> None:
        self.session = session
        self.position = Position(session)
        self.settings = settings or ClientSettings()
        self.input = _Input(lines)
        self.pondered: State | None = None
        self.thinking_seconds = 0.0
        self._output = output
        self._commands_for = commands_for
        self._has_quit = False
        self.response = Response(output, "")

    @property
    def game(self) -> Game:
        """The rules."""
        return self.session.game

    @property
    def state(self) -> State:
        """The current position."""
        return self.session.state

    @property
    def commands(self) -> Mapping[str, Handler]:
        """The commands for the current game by name."""
        return self._commands_for(self.game)

    def run(self) -> None:
        """Answer commands until ``quit`` or the end of the input."""
        while not self._has_quit:
            if self.pondered == self.state and not self.input.waiting():
                self._ponder()
            line = self.input.read()
            if line is None:
                return
            command = parse_command(line)
            if command is not None:
                self._execute(command)

    def quit(self) -> None:
        """End the dialogue after this command."""
        self._has_quit = True

    def wait_for_input(self) -> None:
        """Wait until the next line is there."""
        while not self.input.waiting():
            time.sleep(_POLL)

    def _execute(self, command: Command) -> None:
        self.response = Response(self._output, command.id)
        try:
            handler = self.commands.get(command.name)
            if handler is None:
                raise GtpError("unknown command")
            text = handler(self, command.arguments)
        except GtpError as error:
            self.response.fail(str(error))
        except EngineError as error:
            log(f"{command.name}: {error}")
            self.response.fail(str(error))
        except BrokenPipeError:
            raise
        except Exception as error:  # in a user's game, or a defect: the dialogue goes on
            log(traceback.format_exc())
            self.response.fail(f"{type(error).__name__}: {error}")
        else:
            self.response.end(text)

    def _ponder(self) -> None:
        try:
            self.session.ponder(self.input.waiting)
        except EngineError as error:
            log(f"pondering: {error}")
        if not self.input.waiting():  # nothing is left to search
            self.pondered = None


#: Runs a command; returns the rest of its response.
Handler: TypeAlias = Callable[[Client, list[str]], str]


class _Input:
    """Lines of input; a command in progress may look at those that wait."""

    def __init__(self, lines: Lines) -> None:
        self._lines = lines
        self._waiting: deque[str | None] = deque()

    def read(self) -> str | None:
        """Wait for the next line and return it; None at the end of the input."""
        return self._waiting.popleft() if self._waiting else self._lines.read()

    def waiting(self) -> bool:
        """Return whether a line or the end waits."""
        return bool(self._waiting) or self._lines.waiting()

    def is_interrupted(self) -> bool:
        """Return whether the client asks to finish the command in progress soon."""
        while self._lines.waiting() and (not self._waiting or self._waiting[-1] is not None):
            self._waiting.append(self._lines.read())
        return any(line is not None and line.strip() == _INTERRUPT for line in self._waiting)
