"""Programs that speak GTP: :class:`GtpPlayer`."""

from __future__ import annotations

from pyengine.base.checks import short_repr, shortened
from pyengine.errors import ConfigError, EngineError, IllegalActionError
from pyengine.games.game import Game, State
from pyengine.games.outcomes import Loss
from pyengine.match.external.moves import Naming, action_named, own_name, plays_of, vertex
from pyengine.match.external.player import GRACE, ExternalPlayer, Opponent
from pyengine.match.external.program import Program
from pyengine.search.clock import Clock

_COLOURS = ("black", "white")
_FLEXIBLE_CLOCK = "kata-time_settings"  # programs that list it also read fractions of a second

#: A move as a GTP program knows it: its colour and name.
_Play = tuple[str, str]


class _RefusedError(EngineError):
    """A GTP program answered a command with ``?``."""


class GtpPlayer(ExternalPlayer):
    """A program that speaks the Go Text Protocol as a player of a match.

    Board size and komi are those of the game. Other games than Go need a program that has that game
    as its own; moves are named as the program lists them in ``gogui-rules_legal_moves``, else by
    the game's names, in Gomoku by vertices. Handicap and other set-up stones are played one by one.

    Args:
        command: program and arguments, as a shell would split them; no shell runs.
        timeout: maximum seconds for an answer, above 0.
        processes: number of copies of the program, which play concurrent games; also the number
            of games that :func:`~pyengine.match` plays at once by default.

    Example:
        >>> import pyengine
        >>> from pyengine.match import GtpPlayer
        >>> engine = pyengine.Engine("go(board_size=9,komi=7)", "go9", simulations=200)
        >>> with GtpPlayer("gnugo --mode gtp --level 10") as gnugo:  # doctest: +SKIP
        ...     print(pyengine.match(engine, gnugo, games=40))
    """

    protocol = "gtp"

    def _start(self) -> Opponent:
        return _Gtp(lambda: Program(self.command, self.timeout))


class _Gtp(Opponent):
    """A GTP program, with the game and the moves that it knows."""

    def begin(self) -> None:
        self._commands = set(self._ask("list_commands").split())
        self._game: Game | None = None
        self._naming: Naming = own_name
        self._played: list[_Play] = []
        self._time_settings = ""

    def name(self) -> str:
        return f"{self._ask('name')} {self._ask('version')}".strip()

    def _ask(self, command: str, seconds: float | None = None) -> str:
        """Return the response to a command; raise _RefusedError if it is an error."""
        self.program.write(command, seconds)
        while not (first := self.program.read()).strip():
            pass
        if first[0] not in "=?":
            raise self.program.error(f"expected a response to {command}, got {short_repr(first)}")
        lines = [first[1:].lstrip("0123456789")]
        while line := self.program.read().strip():
            lines.append(line)
        text = "\n".join(lines).strip()
        if first[0] == "?":
            raise _RefusedError(str(self.program.error(f"{command}: {shortened(text)}")))
        return text

    def fit(self, state: State) -> tuple[bool, int]:
        if state.game != self._game:
            return not self._game, 0
        shared = _common(self._played, self._plays(state))
        return shared == len(self._played), shared

    def set_up(self, state: State) -> None:
        if state.game != self._game:
            self._set_up_game(state.game)
        plays = self._plays(state)
        shared = _common(self._played, plays)
        backwards = len(self._played) - shared
        if backwards and ("undo" not in self._commands or backwards > shared):
            self._clear(state.game)
            backwards = shared = 0
        for _ in range(backwards):
            self._ask("undo")
        del self._played[shared:]
        for colour, name in plays[shared:]:
            self._ask(f"play {colour} {name}")
            self._played.append((colour, name))

    def _set_up_game(self, game: Game) -> None:
        self._game = None  # until all is done
        height, width = game.board_shape if game.has_board else (0, 0)
        is_go = game.name == "go"
        try:
            if height == width and height and (is_go or "boardsize" in self._commands):
                self._ask(f"boardsize {width}")
            elif is_go:
                self._ask(f"rectangular_boardsize {width} {height}")
            self._clear(game)
        except _RefusedError as error:
            raise ConfigError(f"cannot play {game}: {error}") from error
        self._naming = own_name if is_go else self._naming_of(game)
        self._game = game

    def _clear(self, game: Game) -> None:
        self._ask("clear_board")
        if game.name == "go":
            self._ask(f"komi {game.params['komi']}")
        self._played = []

    def _naming_of(self, game: Game) -> Naming:
        if "gogui-rules_legal_moves" not in self._commands:
            return vertex if game.name == "gomoku" else own_name
        listed = set(self._ask("gogui-rules_legal_moves").casefold().split())
        start = game.new_initial_state()
        for naming in (own_name, vertex):
            names = {naming(start, action).casefold() for action in start.legal_actions()}
            if names | {"pass"} == listed | {"pass"}:
                return naming
        raise ConfigError(str(self.program.error(f"plays another game than {game}")))

    def _plays(self, state: State) -> list[_Play]:
        return [(_COLOURS[player], name) for player, name in plays_of(state, self._naming)]

    def choose(self, state: State, clock: Clock | None) -> int | Loss:
        colour = _COLOURS[state.current_player()]
        limit = None
        if clock is not None:
            limit = clock.left + GRACE
            self._tell_time(colour, clock)
        answer = self._ask(f"genmove {colour}", limit)
        if answer.casefold() == "resign":
            return Loss.resigns
        try:
            action = action_named(state, answer, self._naming)
        except IllegalActionError as error:
            raise IllegalActionError(str(self.program.error(str(error)))) from None
        self._played.append((colour, self._naming(state, action)))
        return action

    def _tell_time(self, colour: str, clock: Clock) -> None:
        settings = _time_settings(clock, self._commands)
        if settings != self._time_settings:
            self._ask(settings)
            self._time_settings = settings
        if "time_left" not in self._commands:
            return
        seconds, count = clock.main_left, 0
        if not seconds:
            seconds, count = clock.period_left
        text = f"{seconds:.2f}" if _FLEXIBLE_CLOCK in self._commands else str(int(seconds))
        self._ask(f"time_left {colour} {text} {count}")

    def close(self) -> None:
        self.program.close("quit")


def _common(a: list[_Play], b: list[_Play]) -> int:
    """Return the length of the common start of two games."""
    pairs = enumerate(zip(a, b, strict=False))
    return next((number for number, (x, y) in pairs if x != y), min(len(a), len(b)))


def _time_settings(clock: Clock, commands: set[str]) -> str:
    """Return the command that describes a clock, or one a little less generous."""
    main, period = clock.main, clock.period_seconds
    if clock.increment and _FLEXIBLE_CLOCK in commands:
        return f"{_FLEXIBLE_CLOCK} fischer {main:g} {clock.increment:g}"
    if clock.periods and "kgs-time_settings" in commands:
        return f"kgs-time_settings byoyomi {main:.0f} {period:.0f} {clock.periods}"
    if clock.increment or clock.periods:  # as byo-yomi of one move
        return f"time_settings {int(main)} {int(period or clock.increment)} 1"
    return f"time_settings {int(main)} {int(period)} {clock.period_moves}"
