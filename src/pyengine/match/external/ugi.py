"""Programs that speak UGI: :class:`UgiPlayer`."""

from __future__ import annotations

from collections.abc import Callable

from pyengine.base.checks import short_repr
from pyengine.errors import ConfigError, IllegalActionError
from pyengine.games.game import Game, State
from pyengine.games.move_names import one_word_name
from pyengine.games.outcomes import Loss
from pyengine.match.external.moves import action_named
from pyengine.match.external.player import GRACE, Opponent, PacedPlayer
from pyengine.match.external.program import Program
from pyengine.search.clock import Clock
from pyengine.search.tree import names_of_line


class UgiPlayer(PacedPlayer):
    """A program that speaks the Universal Game Interface as a player of a match.

    The program must play the match's game and name its moves as the game does; a name with blanks
    is replaced by the number of the action.

    Arguments are those of :class:`~pyengine.match.external.player.PacedPlayer`.
    """

    protocol = "ugi"

    def _start(self) -> Opponent:
        return _Ugi(lambda: Program(self.command, self.timeout), self.seconds)


class _Ugi(Opponent):
    """A UGI program and the position that it was sent last."""

    def __init__(self, start: Callable[[], Program], seconds: float) -> None:
        self._seconds = seconds
        super().__init__(start)

    def begin(self) -> None:
        self._game: Game | None = None
        self._known: list[int] = []
        self._name = ""
        self.program.write("ugi")
        while (line := self.program.read().strip()) != "ugiok":
            if line.startswith("id name "):
                self._name = line.removeprefix("id name ")

    def name(self) -> str:
        return self._name

    def fit(self, state: State) -> tuple[bool, int]:
        is_same = state.game == (self._game or state.game)
        return is_same and state.history()[: len(self._known)] == self._known, len(self._known)

    def set_up(self, state: State) -> None:
        if state.game.has_board and state.game.new_initial_state(state.history()) != state:
            raise ConfigError(f"{state.game.name}: a UGI program cannot set up a position")
        if not self.fit(state)[0] or self._game is None:
            self.program.write("uginewgame")
            self._game = state.game
        self._known = state.history()
        start = state.game.new_initial_state()
        moves = " ".join(names_of_line(start, self._known, one_word_name))
        self.program.write(f"position startpos{' moves ' if moves else ''}{moves}")
        self.program.write("isready")
        while self.program.read().strip() != "readyok":
            pass

    def choose(self, state: State, clock: Clock | None) -> int | Loss:
        limit = None if clock is None else clock.left + GRACE
        self.program.write(f"go {_time(clock, self._seconds)}", limit)
        while not (line := self.program.read().strip()).startswith("bestmove"):
            pass
        words = line.split()
        if len(words) < 2:
            raise self.program.error(f"expected bestmove MOVE, got {short_repr(line)}")
        try:
            return action_named(state, words[1], one_word_name)
        except IllegalActionError as error:
            raise IllegalActionError(str(self.program.error(str(error)))) from None

    def close(self) -> None:
        self.program.close("quit")


def _time(clock: Clock | None, seconds: float) -> str:
    """Return the arguments of ``go``; both players are given the time of the player to move."""
    if clock is None or not clock.main_left:
        limit = seconds if clock is None else clock.period_left[0]
        return f"movetime {int(1000 * limit)}"
    left, increment = int(1000 * clock.main_left), int(1000 * clock.increment)
    return f"p1time {left} p2time {left} p1inc {increment} p2inc {increment}"
