"""Games and rules by the names that SGF has for them (GM, RU)."""

from __future__ import annotations

import re
from typing import Any

from pyengine.errors import ConfigError
from pyengine.games.game import Game

#: The number that SGF has for a game (GM); 4 is Gomoku and Renju.
_NUMBERS = {"go": 1, "gomoku": 4}
GAME_NUMBERS = tuple(_NUMBERS.values())

#: Rules of Go that count area, by their name in RU: superko and suicide. The Chinese rules forbid
#: repetition, which servers enforce by positional superko or by the simple ko rule.
_GO: dict[str, tuple[str, bool]] = {
    "Chinese": ("positional", False),
    "Tromp-Taylor": ("positional", True),
    "AGA": ("situational", False),
    "NZ": ("situational", True),
}
_PARAMS = ("superko", "suicide", "rule", "win_length")
_GO_NAMES = {rules: name for name, rules in _GO.items()} | {("simple", False): "Chinese"}
_GOMOKU = ("freestyle", "standard", "renju")

#: How programs write a name, in small letters without what is no letter.
_OTHER_NAMES = {
    "cn": "chinese",
    "chineseogs": "chinese",
    "中国": "chinese",
    "中國": "chinese",
    "中国规则": "chinese",
    "tt": "tromptaylor",
    "newzealand": "nz",
    "bga": "aga",
    "french": "aga",
}


def check_in_sgf(game: str) -> None:
    """Raise ConfigError for the text of a game that SGF does not have."""
    if game.partition("(")[0] not in _NUMBERS:
        raise ConfigError(f"SGF is for {' and '.join(_NUMBERS)}, got {game}")


def number_of(game: Game) -> int:
    """Return the number that SGF has for a game. Raises ConfigError for one that it lacks."""
    check_in_sgf(str(game))
    return _NUMBERS[game.name]


def rules_name(game: Game) -> str:
    """Return the usual name of a game's rules; "" if they have none."""
    if game.name == "gomoku":
        return str(game.params["rule"]).capitalize()
    return _GO_NAMES.get((str(game.params["superko"]), bool(game.params["suicide"])), "")


def rules_params(name: str, game: Game) -> dict[str, Any] | None:
    """Return the parameters of a game for the rules of a name; None for rules that it lacks."""
    known = _plain(name)
    if game.name == "gomoku":
        return {"rule": known} if known in _GOMOKU else None
    for own, (superko, suicide) in _GO.items():
        if known == _plain(own):
            return {"superko": superko, "suicide": suicide}
    return None


def same_rules(name: str, game: Game) -> bool:
    """Return whether a name in RU is that of a game's rules."""
    return _plain(name) == _plain(rules_name(game))


def same_params(one: Game, other: Game) -> bool:
    """Return whether two games have the same rules, whatever their boards and komi."""
    return all(one.params.get(name) == other.params.get(name) for name in _PARAMS)


def _plain(name: str) -> str:
    plain = re.sub(r"[\W\d_]|rules?$", "", name.strip().lower())
    return _OTHER_NAMES.get(plain, plain)
