"""The client's position: moves of either colour in any order, set-up stones, undo."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from pyengine.errors import EngineError
from pyengine.games.game import Game, State
from pyengine.protocols.gtp.syntax import GtpError, colour_of
from pyengine.protocols.session import Session, same_start


def is_go(game: Game) -> bool:
    """Return whether a game is Go rather than a user's game of that name."""
    return game.name == "go" and game.has_board


class _Snapshot(NamedTuple):
    """A position as it was: its start and the moves from there."""

    start: State
    actions: list[int]


class Position:
    """The position of a session, changed as clients do.

    A move out of turn, or after the end of the game, continues from a position that is set up with
    the stones on the board. Ko and superko then count from there.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._earlier: list[_Snapshot] = []

    @property
    def game(self) -> Game:
        """The rules."""
        return self._session.game

    @property
    def state(self) -> State:
        """The current position."""
        return self._session.state

    @property
    def player(self) -> int:
        """The player whose turn it is, even after the end of the game."""
        if not self.state.is_terminal():
            return self.state.current_player()
        return (self._session.start.current_player() + len(self.state.history())) % 2

    @property
    def is_empty(self) -> bool:
        """Whether nothing has been played or set up."""
        return not self._earlier and self.state == self.game.new_initial_state()

    @property
    def length(self) -> int:
        """The number of changes that can be undone."""
        return len(self._earlier)

    def play(self, player: int, action: int) -> None:
        """Play a move of either player. Raises GtpError."""
        with self._change():
            self._give_turn(player)
            self._session.play(action)

    def undo(self) -> bool:
        """Take back the last change; return whether there was one."""
        if not self._earlier:
            return False
        start, actions = self._earlier.pop()
        self._session.set_position(same_start(start, self.game), actions)
        return True

    def undo_to(self, length: int) -> None:
        """Take back changes until ``length`` are left."""
        while len(self._earlier) > length:
            self.undo()

    def set_up(self, rows: list[str], player: int) -> None:
        """Replace the board; ``player`` is to move. Raises GtpError."""
        with self._change():
            self._set_up(rows, player)

    def new_game(self, game: Game) -> None:
        """Start a game. Raises EngineError, and changes nothing, if it cannot be played."""
        self._session.new_game(game)
        self._earlier.clear()

    @contextmanager
    def turn_of(self, player: int) -> Iterator[None]:
        """Let a player be to move for a while, even out of turn or after the end of the game."""
        before = self._snapshot()
        try:
            self._give_turn(player)
            yield
        finally:
            self._session.set_position(*before)

    @contextmanager
    def _change(self) -> Iterator[None]:
        """Remember the position for :meth:`undo`; restore it if the change is refused."""
        before = self._snapshot()
        try:
            yield
        except EngineError as error:
            self._session.set_position(*before)
            raise GtpError("illegal move") from error
        except GtpError:
            self._session.set_position(*before)
            raise
        self._earlier.append(before)

    def _snapshot(self) -> _Snapshot:
        return _Snapshot(self._session.start, self.state.history())

    def _give_turn(self, player: int) -> None:
        if self.state.current_player() == player:
            return
        if not self.state.is_terminal():
            self._pass_if_forced()
        elif not is_go(self.game):
            raise GtpError("the game is over")
        if self.state.current_player() != player:
            self._set_turn(player)

    def _set_turn(self, player: int) -> None:
        """Set up the board with another player to move. Raises GtpError."""
        to_move = self.player
        try:
            self._set_up(self.state.board_rows(), player)
        except (EngineError, GtpError) as error:
            raise GtpError(
                f"{colour_of(to_move)} is to move; {self.game.name} has no moves out of turn"
            ) from error

    def _pass_if_forced(self) -> None:
        """Play the only legal move if it is a pass, as in Othello."""
        legal = self.state.legal_actions()
        if len(legal) == 1 and self.state.action_to_string(legal[0]) == "pass":
            self._session.play(legal[0])

    def _set_up(self, rows: list[str], player: int) -> None:
        try:
            start = self.game.state_from_board(rows, player)
        except EngineError as error:
            raise GtpError("illegal position") from error
        if start.current_player() != player:
            raise GtpError("illegal move")
        self._session.set_position(start)
