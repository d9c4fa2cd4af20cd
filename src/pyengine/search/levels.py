"""Levels of play: weaker and stronger settings of a search, calibrated in models/levels.toml."""

from __future__ import annotations

import dataclasses
import functools
from dataclasses import dataclass
from typing import Any

from pyengine.base.checks import short_repr
from pyengine.errors import ConfigError
from pyengine.eval.bundled import bundled_table, model_of_game
from pyengine.games.game import Game, load_game


@dataclass(frozen=True, kw_only=True)
class Level:
    """A level of play for a game.

    Attributes:
        number: from 1, the weakest.
        simulations: per move.
        temperature: of the move choice.
        noise: share of Dirichlet noise in the root priors; 1 = every legal move is equally likely.
        elo: above the first level, on the measured board.
        interval: the 95 % interval of ``elo``.
        games: number of measured games.
    """

    number: int
    name: str
    simulations: int
    temperature: float = 0.0
    noise: float = 0.0
    elo: int | None = None
    interval: tuple[int, int] | None = None
    games: int = 0

    def settings(self) -> dict[str, Any]:
        """Return the fields of :class:`~pyengine.SearchConfig` that differ from the default."""
        # A tree kept from earlier moves would add strength; a proof would overrule the noise.
        changes: dict[str, Any] = {"simulations": self.simulations, "reuse_tree": False}
        if self.temperature:
            changes["temperature"] = self.temperature
        if self.noise:
            changes |= {"dirichlet_fraction": self.noise, "solver": False}
        return changes

    def __str__(self) -> str:
        return f"level {self.number} ({self.name})"


@dataclass(frozen=True, kw_only=True)
class Opponent:
    """Another program on the scale of the levels; see :class:`Level` for the fields."""

    name: str
    elo: int
    interval: tuple[int, int]


def opponents_of(game: Game) -> tuple[Opponent, ...]:
    """Return the programs that were measured against the levels of a game."""
    table = bundled_table("levels.toml").get(game.name, {})
    rows = table.get("opponents", ()) if _is_measured(game, table) else ()
    return tuple(
        Opponent(name=row["name"], elo=row["elo"], interval=tuple(row["interval"])) for row in rows
    )


def _is_measured(game: Game, table: dict[str, Any]) -> bool:
    """Whether the levels were measured on the board of a game."""
    return bool(table) and load_game(table["game"]).board_shape == game.board_shape


@functools.lru_cache(maxsize=256)  # a server is asked for games of any parameters
def levels_of(game: Game) -> tuple[Level, ...]:
    """Return the levels of a game, weakest first; empty if no bundled network plays it.

    Strengths are given only on the board on which they were measured.
    """
    table = bundled_table("levels.toml").get(game.name)
    if table is None or model_of_game(game) is None:
        return ()
    fields = [field.name for field in dataclasses.fields(Level)]
    if not _is_measured(game, table):
        fields = [name for name in fields if name not in ("elo", "interval", "games")]
    levels = []
    for number, row in enumerate(table["levels"], 1):
        values = {name: row[name] for name in fields if name in row}
        if "interval" in values:
            values["interval"] = tuple(values["interval"])
        levels.append(Level(number=number, **values))
    return tuple(levels)


def level_of(game: Game, level: int | str) -> Level:
    """Return a level by its number or name. Raises ConfigError."""
    known = levels_of(game)
    if not known:
        raise ConfigError(f"level: {game} has none, because no bundled network plays it")
    text = str(level).strip().lower()
    for each in known:
        if text in (str(each.number), each.name):
            return each
    names = ", ".join(each.name for each in known)
    raise ConfigError(
        f"level: expected 1 to {len(known)} or one of {names}, got {short_repr(level)}"
    )


def level_config(game: Game, level: int | str) -> dict[str, Any]:
    """Return the changes of :class:`~pyengine.SearchConfig` for a level. Raises ConfigError.

    The level's strength is that of the game's bundled network with these settings.

    Example:
        >>> import pyengine
        >>> from pyengine.search.levels import level_config
        >>> changes = level_config(pyengine.load_game("connect_four"), "beginner")
        >>> engine = pyengine.Engine("connect4", **changes)
    """
    return level_of(game, level).settings()
