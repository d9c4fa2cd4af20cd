"""The engine in a Gomocup manager: a "brain"."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence

from pyengine import __version__
from pyengine.errors import ConfigError, EngineError, IllegalActionError
from pyengine.games.game import Game, State
from pyengine.protocols.gomocup.limits import Limits
from pyengine.protocols.gomocup.swap2 import balanced_opening, prefers_black
from pyengine.protocols.inbox import Inbox
from pyengine.protocols.lines import Output
from pyengine.protocols.session import EngineFor, Session, same_start
from pyengine.protocols.words import first_word, whole_number
from pyengine.search.engine import Engine
from pyengine.search.result import SearchResult

_OWN, _OPPONENT, _MARKED = 1, 2, 3  # fields of BOARD
_CERTAIN = 10_000  # the evaluation of a proven win
_LOG_ODDS = 400  # points of evaluation per unit of log-odds, as PyGomo has it
_WARM_UP_SIMULATIONS, _WARM_UP_SECONDS = 8, 0.1  # after START, whose time does not count

Point = tuple[int, int]  # x and y from 0


class _EndError(Exception):
    """END within another command."""


class Brain:
    """A dialogue with a manager.

    Args:
        engine_for: makes the engine for a game.
        inbox: the manager's lines.
        output: receives the replies.
        name: of the engine.

    Row 0 is the bottom row, so that the moves in messages have the names that are usual in Gomoku.
    """

    def __init__(self, engine_for: EngineFor, inbox: Inbox, output: Output, name: str) -> None:
        self._engine_for, self._inbox, self._output = engine_for, inbox, output
        self._name = name
        self._limits = Limits()
        self._size: int | None = None
        self._session: Session | None = None
        self._made_for: tuple[Game, int | None] | None = None
        self._arrival = time.monotonic()  # of the command
        self._commands: dict[str, Callable[[str], str | None]] = {
            "start": self._start,
            "rectstart": self._rectstart,
            "restart": self._restart,
            "begin": lambda _: self._move(),
            "turn": self._turn,
            "board": lambda _: self._board(),
            "swap2board": lambda _: self._swap2board(),
            "takeback": self._takeback,
            "play": self._play,
            "info": self._info,
            "about": self._about,
            "stop": lambda _: None,  # no search is running
            "yxstop": lambda _: None,
        }

    def run(self) -> None:
        """Obey the manager until ``END`` or the end of its lines."""
        try:
            for line in iter(self._inbox.read, None):
                word = first_word(line)
                if word == "end":
                    return
                if word:
                    self._obey(word, line.strip()[len(word) :].strip())
        except _EndError:
            return
        finally:
            self._close()

    def _obey(self, word: str, rest: str) -> None:
        if word not in self._commands:
            self._output.write("UNKNOWN command")
            return
        self._arrival = time.monotonic()
        try:
            reply = self._commands[word](rest)
        except EngineError as error:
            reply = f"ERROR {' '.join(str(error).split())}"
        if reply is not None:
            self._output.write(reply)

    def _close(self) -> None:
        if self._session is not None:
            self._session.close()
        self._session = None

    # --- the game

    def _start(self, text: str) -> str:
        size = whole_number(text)
        if size is None:
            raise ConfigError("expected START SIZE")
        self._limits.game(size)
        self._close()
        self._size = size
        session = self._ready()
        self._warm_up(session)
        return "OK"

    def _warm_up(self, session: Session) -> None:
        """Search a moment, and learn how long after a deadline a search ends on this machine."""
        session.engine.search(session.state, simulations=_WARM_UP_SIMULATIONS)
        begin = time.monotonic()
        session.engine.search(session.state, seconds=_WARM_UP_SECONDS)
        self._limits.learn_lag(time.monotonic() - begin - _WARM_UP_SECONDS)

    def _rectstart(self, text: str) -> str:
        width, _, height = text.partition(",")
        if whole_number(width) != whole_number(height):
            raise ConfigError("rectangular boards are not supported")
        return self._start(width)

    def _restart(self, _: str) -> str:
        session = self._ready()
        session.new_game(session.game)
        self._limits.restart_clock()
        return "OK"

    def _ready(self) -> Session:
        """Return the session, made anew if the manager has changed rules or memory."""
        wanted = (self._limits.game(self._size), self._limits.memory)
        if self._session is None or self._made_for != wanted:
            session = Session(wanted[0], self._within_memory)
            if self._session is not None:
                old = self._session
                session.set_position(same_start(old.start, session.game), old.state.history())
                old.close()
            self._session, self._made_for = session, wanted
        self._session.clocks = [self._limits.clock] * 2
        return self._session

    def _within_memory(self, game: Game) -> Engine:
        engine = self._engine_for(game)
        config = self._limits.of_memory(game, engine.config)
        if config == engine.config:
            return engine
        evaluator = engine.evaluator
        engine.close()
        return Engine(game, evaluator, config=config)

    def _info(self, text: str) -> None:
        key, _, value = text.partition(" ")
        self._limits.note(key.lower(), value)

    def _about(self, _: str) -> str:
        author = "the pyengine authors"
        return f'name="{self._name}", version="{__version__}", author="{author}"'

    # --- moves

    def _turn(self, text: str) -> str:
        session = self._ready()
        session.play(_action(session.state, _point(text)))
        return self._move()

    def _play(self, text: str) -> str:
        session = self._ready()
        session.play(_action(session.state, _point(text)))
        return _coordinates(session.state, session.state.history()[-1])

    def _takeback(self, text: str) -> str:
        session = self._ready()
        action = _action(session.state, _point(text))
        if session.state.history()[-1:] != [action]:
            raise ConfigError(f"{text} is not the last move")
        session.undo()
        return "OK"

    def _move(self) -> str:
        """Play a move and return its coordinates."""
        session = self._ready()
        result = self._search(session)
        self._output.write(_message(result))
        session.play(result.action)
        return _coordinates(session.state, result.action)

    def _search(self, session: Session) -> SearchResult:
        if session.state.is_terminal():
            raise ConfigError("the game is over")
        until = self._inbox.until("stop", "yxstop", leaving="end")
        begin = time.monotonic()
        settings = self._limits.of_move(session.engine.config, begin - self._arrival)
        result = session.choose(on_progress=lambda _: not until(), **settings)
        if seconds := settings.get("seconds"):
            self._limits.learn_lag(time.monotonic() - begin - seconds)
        return result

    def _lines_until_done(self) -> list[str]:
        """Return the lines up to DONE, or up to the end of the input."""
        lines = []
        while (line := self._inbox.read()) is not None and first_word(line) != "done":
            if first_word(line) == "end":
                raise _EndError
            lines.append(line)
        return lines

    def _board(self) -> str:
        lines = self._lines_until_done()
        self._arrival = time.monotonic()
        session = self._ready()
        stones = [_stone(line) for line in lines if line.strip()]
        if any(field == _MARKED for _, field in stones) and session.game.params["rule"] != "renju":
            raise ConfigError("continuous games are not supported")
        _set_up(session, [stone for stone in stones if stone[1] != _MARKED])
        return self._move()

    def _swap2board(self) -> str:
        lines = self._lines_until_done()
        session = self._ready()
        start = session.game.new_initial_state()
        actions = [_action(start, _point(line)) for line in lines if line.strip()]
        if len(actions) not in (0, 3, 5):
            raise ConfigError(f"SWAP2BOARD: expected 0, 3 or 5 stones, got {len(actions)}")
        session.set_position(start, actions)
        if not actions:
            seconds = self._limits.of_move(session.engine.config).get("seconds")
            actions = balanced_opening(session, seconds)
            session.set_position(start, actions)
            return " ".join(_coordinates(start, action) for action in actions)
        result = self._search(session)
        if prefers_black(result.value):
            return "SWAP"
        session.play(result.action)
        return _coordinates(start, result.action)


def _set_up(session: Session, stones: Sequence[tuple[Point, int]]) -> None:
    """Set the position of BOARD; the engine is to move.

    The stones may come in any order. Whoever has placed more of them moved first.
    """
    start = session.game.new_initial_state()
    own = [_action(start, point) for point, field in stones if field == _OWN]
    other = [_action(start, point) for point, field in stones if field == _OPPONENT]
    first, second = (own, other) if len(own) == len(other) else (other, own)
    player = int(first is other)
    given = [_action(start, point) for point, _ in stones]
    if given[::2] != first or given[1::2] != second:
        given = [action for pair in zip(first, second, strict=False) for action in pair]
        given += first[len(second) :]
    if len(first) - len(second) == player:
        try:
            session.set_position(start, given)
            return
        except IllegalActionError:
            pass  # an order in which the moves were not made
    rows = _rows(start, first, second)
    session.set_position(session.game.state_from_board(rows, player))


def _rows(start: State, first: Sequence[int], second: Sequence[int]) -> list[str]:
    height, width = start.game.board_shape
    points = ["."] * (height * width)
    for actions, letter in ((first, "X"), (second, "O")):
        for action in actions:
            if points[action] != ".":
                raise ConfigError(f"BOARD: two stones on {_coordinates(start, action)}")
            points[action] = letter
    return ["".join(points[row * width : (row + 1) * width]) for row in range(height)]


def _stone(line: str) -> tuple[Point, int]:
    """Return the point and the field of a line of BOARD."""
    point, _, field = line.strip().rpartition(",")
    number = whole_number(field)
    if number not in (_OWN, _OPPONENT, _MARKED):
        raise ConfigError("BOARD: expected X,Y,FIELD with a field of 1, 2 or 3")
    return _point(point), number


def _point(text: str) -> Point:
    x, comma, y = text.partition(",")
    column, row = whole_number(x), whole_number(y)
    if not comma or column is None or row is None:
        raise ConfigError("expected X,Y")
    return column, row


def _action(state: State, point: Point) -> int:
    x, y = point
    size, _ = state.game.board_shape
    if not (0 <= x < size and 0 <= y < size):
        raise ConfigError(f"{x},{y} is not on the board")
    return (size - 1 - y) * size + x


def _coordinates(state: State, action: int) -> str:
    size, _ = state.game.board_shape
    row, x = divmod(action, size)
    return f"{x},{size - 1 - row}"


def _message(result: SearchResult) -> str:
    """Return the figures of a search in the form that Gomoku programs read."""
    state = result.state.clone()
    names = []
    for action in result.pv:
        names.append(state.action_to_string(action).lower())
        state.apply_action(action)
    milliseconds = max(round(1000 * result.seconds), 1)
    rate = result.win_rate
    odds = max(rate, 1e-6) / max(1 - rate, 1e-6)
    evaluation = result.proven * _CERTAIN if result.proven else round(_LOG_ODDS * math.log(odds))
    return (
        f"MESSAGE depth {len(names)}-{len(names)} ev {evaluation} n {result.simulations} "
        f"n/ms {result.simulations // milliseconds} tm {milliseconds} pv {' '.join(names)}"
    )
