"""Programs that speak the Gomocup protocol: :class:`GomocupPlayer`."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

from pyengine.base.checks import short_repr
from pyengine.errors import ConfigError, IllegalActionError
from pyengine.games.game import Game, State
from pyengine.games.outcomes import Loss
from pyengine.match.external.moves import plays_of
from pyengine.match.external.player import GRACE, Opponent, PacedPlayer
from pyengine.match.external.program import Program
from pyengine.search.clock import Clock

_RULES = {"freestyle": 0, "standard": 1, "renju": 4}
_COMMENTS = ("MESSAGE", "DEBUG", "SUGGEST")
_UNLIMITED = 2**31 - 1  # milliseconds
_TOURNAMENT = 2  # game_type


class GomocupPlayer(PacedPlayer):
    """A Gomoku program that speaks the protocol of Gomocup (Piskvork) as a player of a match.

    Arguments are those of :class:`~pyengine.match.external.player.PacedPlayer`.
    """

    protocol = "gomocup"

    def _start(self) -> Opponent:
        return _Gomocup(lambda: Program(self.command, self.timeout, "\r\n"), self.seconds)


class _Gomocup(Opponent):
    """A Gomocup program, with the game and the moves that it knows."""

    def __init__(self, start: Callable[[], Program], seconds: float) -> None:
        self._seconds = seconds
        super().__init__(start)

    def begin(self) -> None:
        self._game: Game | None = None
        self._known: list[int] | None = None  # the moves of its position
        self._is_open = False  # a game has begun since START
        self._info: dict[str, int] = {}

    def name(self) -> str:
        about = dict(re.findall(r'(\w+)="([^"]*)"', self._ask("ABOUT")))
        return f"{about.get('name', '')} {about.get('version', '')}".strip()

    def _ask(self, command: str, seconds: float | None = None) -> str:
        """Return the answer to a command."""
        self.program.write(command, seconds)
        while True:
            answer = self.program.read().strip()
            word = answer.partition(" ")[0].upper()
            if word in ("ERROR", "UNKNOWN"):
                raise self.program.error(f"{command.splitlines()[0]}: {answer}")
            if answer and word not in _COMMENTS:
                return answer

    def fit(self, state: State) -> tuple[bool, int]:
        known = self._known or []
        is_same = state.game == (self._game or state.game)
        return is_same and state.history()[: len(known)] == known, len(known)

    def set_up(self, state: State) -> None:
        if state.game != self._game:
            self._set_up_game(state.game)
        elif self._is_open and not self._is_next(state):
            self._ask("RESTART")
            self._known, self._is_open = None, False

    def _is_next(self, state: State) -> bool:
        """Return whether the opponent has answered the program's last move."""
        history = state.history()
        return bool(history) and history[:-1] == self._known

    def _set_up_game(self, game: Game) -> None:
        if game.name != "gomoku" or game.params["win_length"] != 5:
            raise ConfigError(f"{self.program.command}: Gomocup's game is gomoku, got {game}")
        self._game, self._known, self._is_open, self._info = None, None, False, {}
        answer = self._ask(f"START {game.board_shape[0]}")
        if answer.upper() != "OK":
            raise self.program.error(f"START: expected OK, got {short_repr(answer)}")
        self._tell(max_memory=0, game_type=_TOURNAMENT, rule=_RULES[str(game.params["rule"])])
        self._game = game

    def _tell(self, **info: int) -> None:
        for key, value in info.items():
            if self._info.get(key) != value:
                self.program.write(f"INFO {key} {value}")
                self._info[key] = value

    def choose(self, state: State, clock: Clock | None) -> int | Loss:
        self._tell_time(clock)
        limit = None if clock is None else clock.left + GRACE
        answer = self._ask(self._position(state), limit)
        self._known = None
        action = self._action(state, answer)
        self._known = [*state.history(), action]
        return action

    def _tell_time(self, clock: Clock | None) -> None:
        """Announce the limits of a move, of the match, and what is left of it."""
        if clock is None:
            turn, match, left = self._seconds, 0.0, math.inf
        else:
            turn, match = clock.left, clock.main
            left = clock.main_left or (0.0 if match else math.inf)
        self._tell(timeout_turn=_ms(turn), timeout_match=_ms(match), time_left=_ms(left))

    def _position(self, state: State) -> str:
        """Return the command that sets up a position and asks for a move."""
        if self._is_next(state):
            return f"TURN {_point(state, state.history()[-1])}"
        self._is_open = True
        plays = plays_of(state, _point)
        if not plays:
            return "BEGIN"
        mover = state.current_player()
        stones = [f"{point},{1 if player == mover else 2}" for player, point in plays]
        return self.program.newline.join(["BOARD", *stones, "DONE"])

    def _action(self, state: State, answer: str) -> int:
        height, width = state.game.board_shape
        match = re.fullmatch(r"(\d+)\s*,\s*(\d+)", answer)
        if match is None:
            raise self.program.error(f"expected a move X,Y, got {short_repr(answer)}")
        x, y = map(int, match.groups())
        action = y * width + x
        if x >= width or y >= height or action not in state.legal_actions():
            raise IllegalActionError(str(self.program.error(f"illegal move {answer}")))
        return action

    def close(self) -> None:
        self.program.close("END")


def _point(state: State, action: int) -> str:
    row, column = divmod(action, state.game.board_shape[1])
    return f"{column},{row}"


def _ms(seconds: float) -> int:
    return int(min(1000 * seconds, _UNLIMITED))
