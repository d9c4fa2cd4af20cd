"""The dialogue with a client: reads commands, runs them, ponders between them."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from pyengine.errors import EngineError
from pyengine.games.game import Game, State
from pyengine.protocols.gtp.position import Position
from pyengine.protocols.gtp.syntax import Command, GtpError, Response, parse_command
from pyengine.protocols.inbox import Inbox
from pyengine.protocols.lines import Output, log
from pyengine.protocols.session import Session


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
        inbox: the client's lines.
        position: the game in progress.
        settings: given by the user.
        response: to the command in progress.
        pondered: the position to search until the next line, or None.
        thinking_seconds: total time of the moves generated.
    """

    def __init__(
        self,
        session: Session,
        inbox: Inbox,
        output: Output,
        commands_for: Callable[[Game], Mapping[str, Handler]],
        settings: ClientSettings | None = None,
    ) -> None:
        self.session = session
        self.position = Position(session)
        self.settings = settings or ClientSettings()
        self.inbox = inbox
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
            if self.pondered == self.state and not self.inbox.waiting():
                self._ponder()
            line = self.inbox.read()
            if line is None:
                return
            command = parse_command(line)
            if command is not None:
                self._execute(command)

    def quit(self) -> None:
        """End the dialogue after this command."""
        self._has_quit = True

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
            self.session.ponder(self.inbox.waiting)
        except EngineError as error:
            log(f"pondering: {error}")
            self.pondered = None


#: Runs a command; returns the rest of its response.
Handler: TypeAlias = Callable[[Client, list[str]], str]
