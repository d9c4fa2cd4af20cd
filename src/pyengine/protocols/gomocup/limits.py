"""What a manager allows: the rules, the time and the memory of a game."""

from __future__ import annotations

from typing import Any

from pyengine.errors import ConfigError
from pyengine.games.game import Game, load_game
from pyengine.protocols.words import whole_number
from pyengine.search.clock import Clock
from pyengine.search.config import SearchConfig

#: Bytes of the process without tree and cache: interpreter, ONNX Runtime, a bundled network.
PROCESS_BYTES = 160 << 20
_LEAST_SPARE = 16 << 20  # bytes for tree and cache
_CACHE_SHARE = 4  # of the spare memory, at most a fourth is for cached evaluations
_ENTRY_BYTES, _ACTION_BYTES = 64, 4  # of a cached evaluation

_SIZES = (5, 20)
_UNLIMITED = 2**31 - 1  # milliseconds
_AT_ONCE = 16  # simulations with timeout_turn 0
_LEAST_SECONDS = 0.001
_LEAST_LAG = 0.1  # seconds that a reply may take beyond its search: the latency of a deadline ...
_LAG_SHARE, _MOST_SHARE_LAG = 0.05, 0.5  # ... or this share of the time, up to these seconds
_LAG_GROWTH, _LAG_MEMORY = 2.0, 0.95  # of a longer delay, and per move

_STANDARD, _CONTINUOUS, _RENJU, _CARO = 1, 2, 4, 8


class Limits:
    """The values of ``INFO`` lines.

    Attributes:
        memory: most bytes of the process; None = no limit.
        clock: the time left for the match; None = no limit.

    """

    def __init__(self) -> None:
        self.memory: int | None = None
        self.clock: Clock | None = None
        self._lag = _LEAST_LAG
        self._turn: float | None = None  # seconds
        self._match: float | None = None
        self._rule = 0

    def note(self, key: str, text: str) -> None:
        """Note a value. Unknown keys and damaged values are ignored, as the protocol asks."""
        value = whole_number(text)
        if value is None:
            return
        if key == "timeout_turn":
            self._turn = max(value, 0) / 1000
        elif key == "timeout_match":
            self._match = value / 1000 if 0 < value < _UNLIMITED else None
            self.restart_clock()
        elif key == "time_left":
            self._set_time_left(value)
        elif key == "max_memory":
            self.memory = value if value > 0 else None
        elif key == "rule":
            self._rule = value

    def restart_clock(self) -> None:
        """Set the clock to the time of a whole match."""
        self.clock = None if self._match is None else Clock(self._match)

    def _set_time_left(self, milliseconds: int) -> None:
        if milliseconds >= _UNLIMITED:
            self.clock = None
            return
        seconds = max(milliseconds, 0) / 1000
        self.clock = self.clock or Clock(max(seconds, 0.001))
        self.clock.set(seconds)

    def game(self, size: int | None) -> Game:
        """Return the game on a board of a size. Raises ConfigError if it is not supported."""
        if size is None:
            raise ConfigError("START must come first")
        if not _SIZES[0] <= size <= _SIZES[1]:
            raise ConfigError(f"boards from {_SIZES[0]} to {_SIZES[1]} are supported, got {size}")
        if self._rule & ~(_STANDARD | _RENJU):
            raise ConfigError("continuous games and caro are not supported: rule must be 0, 1 or 4")
        rule = "renju" if self._rule & _RENJU else "standard" if self._rule else "freestyle"
        return load_game("gomoku", board_size=size, rule=rule)

    def of_move(self, config: SearchConfig, used: float = 0.0) -> dict[str, Any]:
        """Return the settings of the search for a move. The clock limits it further.

        ``used``: seconds since the command arrived.
        """
        if self._turn == 0:
            return {"simulations": _AT_ONCE, "seconds": None}
        if self._turn is None:
            return {}
        lag = max(self._lag, min(_LAG_SHARE * self._turn, _MOST_SHARE_LAG))
        left = self._turn - used
        seconds = max(left - lag, left / 4, _LEAST_SECONDS)
        return {"seconds": min(seconds, config.seconds or seconds)}

    def learn_lag(self, over: float) -> None:
        """Allow for a reply that came so many seconds after the end of its search's time."""
        self._lag = max(_LEAST_LAG, _LAG_GROWTH * over, _LAG_MEMORY * self._lag)

    def of_memory(self, game: Game, config: SearchConfig) -> SearchConfig:
        """Return the settings with tree and cache within the memory.

        Raises ConfigError if the process needs more than it may have.
        """
        if self.memory is None:
            return config
        spare = self.memory - PROCESS_BYTES
        if spare < _LEAST_SPARE:
            least = PROCESS_BYTES + _LEAST_SPARE
            raise ConfigError(f"max_memory: at least {least} bytes are needed, got {self.memory}")
        entry = _ENTRY_BYTES + _ACTION_BYTES * game.num_distinct_actions()
        return config.replace(
            memory_limit=min(config.memory_limit, spare),
            cache_entries=min(config.cache_entries, spare // _CACHE_SHARE // entry),
        )
