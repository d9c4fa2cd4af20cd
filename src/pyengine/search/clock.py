"""One player's clock, and how much of it the next search may use: :class:`Clock`."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from pyengine.base.checks import integer, number
from pyengine.errors import ConfigError
from pyengine.games.game import State

_MAX_SECONDS = 1e7
_LEAST_BUDGET = 0.001  # seconds
_LEAST_LAG = 0.05  # seconds that a move may take beyond its budget: the latency of a deadline ...
_LAG_SHARE = 0.02  # ... or this share of the budget
_MAX_LAG = 2.0  # a longer delay says nothing about the next move
_LAG_MEMORY = 0.9  # per move
_SPARE_MOVES = 10  # whose lag is held back, beyond the longest possible game ...
_MAX_RESERVE = 0.5  # ... up to this share of the main time
_MAX_SHARE = 0.5  # of the rest, per search, unless the move is the last

#: Share of the points that are usually occupied when a game ends; 1 for other games.
_OCCUPIED = {"go": 0.75, "gomoku": 0.35, "mnk": 0.7, "connect_four": 0.85}
_LEAST_PLIES = 10  # that any game may still last ...
_PLIES_PER_POINT = 0.12  # ... or so many on a large board
_PLIES_WITHOUT_BOARD = 60

_MIDDLE = (0.1, 0.6)  # of the expected plies of the game
_MORE_IN_THE_MIDDLE = 1.4
_LESS_OUTSIDE = 0.8


class Clock:
    """One player's clock: main time, and an increment or byo-yomi. All times are in seconds.

    Args:
        main: main time. With 0 the clock starts in byo-yomi, or with one increment.
        increment: added after each move (Fischer).
        periods: number of Japanese byo-yomi periods. A move within ``period_seconds`` keeps the
            period; a longer one uses it up, and the next begins.
        period_seconds: length of a byo-yomi period.
        period_moves: Canadian byo-yomi: the number of moves to play in ``period_seconds``; then a
            new period begins.

    Raises:
        ConfigError: a value is out of range, two kinds of extra time are combined, or there is no
            time at all.

    Example:
        >>> import pyengine
        >>> clock = pyengine.Clock(60, increment=1)
        >>> state = pyengine.load_game("connect_four").new_initial_state()
        >>> 1 < clock.budget(state) < 10
        True
        >>> clock.spend(5), clock.left
        (True, 56.0)
    """

    def __init__(
        self,
        main: float,
        increment: float = 0,
        periods: int = 0,
        period_seconds: float = 0,
        period_moves: int = 0,
    ) -> None:
        self.main = _seconds("main", main)
        self.increment = _seconds("increment", increment)
        self.periods = integer("periods", periods, 0)
        self.period_seconds = _seconds("period_seconds", period_seconds)
        self.period_moves = integer("period_moves", period_moves, 0)
        if sum(map(bool, (self.increment, self.periods, self.period_moves))) > 1:
            raise ConfigError(
                "clock: increment, periods (Japanese) and period_moves (Canadian) exclude each "
                "other"
            )
        if bool(self.period_seconds) != bool(self.periods or self.period_moves):
            raise ConfigError(
                "clock: expected period_seconds together with periods or period_moves, got "
                f"{self!r}"
            )
        if not (self.main or self.increment or self.period_seconds):
            raise ConfigError("clock: main: expected more than 0 without an increment or byo-yomi")
        self._lag = _LEAST_LAG
        self._budget = math.inf  # of the current move
        self.reset()

    def reset(self) -> None:
        """Restore the initial time."""
        self._fallen = False
        self._main = self.main or self.increment
        self._start_period(self.period_moves or self.periods)

    def _start_period(self, count: int) -> None:
        """Start a period with so many periods (Japanese) or moves (Canadian) left."""
        self._count = count
        self._period = self.period_seconds if count else 0.0

    @property
    def fallen(self) -> bool:
        """Whether the flag has fallen: the player has lost on time."""
        return self._fallen

    @property
    def left(self) -> float:
        """Seconds until the flag falls if no move is made."""
        further = self._count - 1 if self.periods and self._count else 0
        return self._main + self._period + further * self.period_seconds

    @property
    def main_left(self) -> float:
        """Seconds of main time left."""
        return self._main

    @property
    def period_left(self) -> tuple[float, int]:
        """Seconds left in the current period; periods (Japanese) or moves (Canadian) left."""
        return self._period, self._count

    def set(self, seconds: float, moves: int = 0) -> None:
        """Set the remaining time, as ``time_left`` of GTP and Gomocup gives it; the flag is up.

        Args:
            seconds: left; less than 0 counts as 0.
            moves: 0 if ``seconds`` are main time. Otherwise the player is in byo-yomi: ``seconds``
                are left in the current period, with so many moves (Canadian) or periods (Japanese,
                as KGS counts). A clock without byo-yomi becomes a Canadian one with such periods.

        """
        seconds = max(0.0, number("seconds", seconds, "a number of seconds"))
        moves = integer("moves", moves, 0)
        self._fallen = False
        if not moves:
            self._main = seconds
            self._start_period(self.period_moves or self.periods)
            return
        if not self.period_seconds:
            self.increment, self.period_seconds, self.period_moves = 0.0, seconds, moves
        self._main, self._period, self._count = 0.0, seconds, moves

    def spend(self, seconds: float) -> bool:
        """Subtract the time of a whole move: :meth:`run` and :meth:`press` in one call.

        Returns False if the flag has fallen.
        """
        return self.run(seconds) and self.press()

    def run(self, seconds: float) -> bool:
        """Subtract time during a move.

        Returns False if the flag has fallen; then no time is left until :meth:`set` or
        :meth:`reset`.
        """
        seconds = number("seconds", seconds, "a number of seconds >= 0", lambda s: s >= 0)
        self._learn_lag(seconds)
        if self._fallen or seconds > self.left:
            self._fallen = True
            self._main, self._period, self._count = 0.0, 0.0, 0
            return False
        over = max(0.0, seconds - self._main)
        self._main = max(0.0, self._main - seconds)
        if over > self._period and self.periods:
            used_up = math.ceil((over - self._period) / self.period_seconds)
            self._count = max(1, self._count - used_up)
            self._period += used_up * self.period_seconds
        self._period = max(0.0, self._period - over)
        return True

    def press(self) -> bool:
        """End a move: add the increment or renew the period.

        Returns False if the flag has fallen.
        """
        if self._fallen:
            return False
        self._main += self.increment
        if self._count and not self._main:  # in byo-yomi
            if not self.periods:
                self._count -= 1
            if self.periods or not self._count:
                self._start_period(self._count or self.period_moves)
        return True

    def _learn_lag(self, seconds: float) -> None:
        over = min(seconds - self._budget, _MAX_LAG)
        self._lag = max(_LEAST_LAG, over, _LAG_MEMORY * self._lag)
        self._budget = math.inf

    def budget(self, state: Any) -> float:
        """Return the seconds that the next search may take.

        The main time is spread over the moves that the game is expected to last, with more for the
        middle of the game. A part is held back for lag, by which earlier moves exceeded their
        budgets. Byo-yomi periods are used in full; of several Japanese periods all but two are used
        up by longer searches in the middle of the game.

        Args:
            state: the position to be searched.

        Returns:
            Less than :attr:`left`, except that it is never below 0.001.

        """
        outlook = _outlook(state)
        wish = self._of_byo_yomi(outlook) if self._count else self._of_main(outlook)
        lag = max(self._lag, min(_LAG_SHARE * wish, _MAX_LAG))
        self._budget = max(_LEAST_BUDGET, 0.1 * wish, wish - lag)
        return self._budget

    def _of_main(self, outlook: _Outlook) -> float:
        """Return the budget, lag included, from main time and increment."""
        reserve = self._lag * (outlook.possible_moves + _SPARE_MOVES)
        usable = self._main - min(reserve, _MAX_RESERVE * self._main)
        most = usable if outlook.moves <= 1 else _MAX_SHARE * usable
        return min(usable / outlook.moves * outlook.weight + self.increment, most)

    def _of_byo_yomi(self, outlook: _Outlook) -> float:
        """Return the budget, lag included; main time is used at an even pace first."""
        per_move = self.period_seconds if self.periods else self._period / self._count
        if self._main > per_move:
            share = self._main / outlook.moves * outlook.weight
            return min(self._main, max(share, per_move))
        if self._main or not self.periods:
            return self._main + per_move
        has_spare = self._count > 2 and outlook.is_middle
        return self._period + (self.period_seconds if has_spare else 0.0)

    def __str__(self) -> str:
        """Return the time left, ``4:58``; in byo-yomi ``0:30 x3`` (periods), ``9:12/5`` (moves)."""
        if self._main or not self._count:
            return _minutes(self._main)
        return f"{_minutes(self._period)}{' x' if self.periods else '/'}{self._count}"

    def __repr__(self) -> str:
        names = ("increment", "periods", "period_seconds", "period_moves")
        extra = [f"{name}={value:g}" for name in names if (value := getattr(self, name))]
        return f"Clock({', '.join([f'{self.main:g}', *extra])})"


def _seconds(name: str, value: Any) -> float:
    expected = f"a number of seconds in [0, {_MAX_SECONDS:g}]"
    return number(name, value, expected, lambda s: 0 <= s <= _MAX_SECONDS)


def _minutes(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


class _Outlook(NamedTuple):
    """The rest of a game for the player to move."""

    moves: float  #: expected, at least 1
    possible_moves: float
    is_middle: bool  #: of the game

    @property
    def weight(self) -> float:
        """The factor for the time of this move."""
        return _MORE_IN_THE_MIDDLE if self.is_middle else _LESS_OUTSIDE


def _outlook(state: Any) -> _Outlook:
    plies = possible = float(_PLIES_WITHOUT_BOARD)
    played = 0
    if isinstance(state, State):
        played = len(state.history())
        possible = state.game.max_game_length() - played
        plies = min(_expected_plies(state), possible)
    progress = played / max(1.0, played + plies)
    is_middle = _MIDDLE[0] <= progress <= _MIDDLE[1]
    return _Outlook(max(1.0, plies / 2), possible / 2, is_middle)


def _expected_plies(state: State) -> float:
    game = state.game
    if not game.has_board:
        return _PLIES_WITHOUT_BOARD
    rows = "".join(state.board_rows())
    empty = rows.count(".")
    until_end = empty - (1 - _OCCUPIED.get(game.name, 1)) * len(rows)
    plies = max(until_end, _LEAST_PLIES, _PLIES_PER_POINT * len(rows))
    return plies if game.name == "go" else min(plies, empty)  # in Go, stones leave the board
