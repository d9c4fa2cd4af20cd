"""Rules of Go as KataGo's protocols name them, and how this engine plays them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from pyengine.errors import ConfigError

_KO = {"POSITIONAL": "positional", "SITUATIONAL": "situational", "SIMPLE": "simple"}
_BONUSES = ("0", "N", "N-1")
_TERRITORY = "territory scoring is not supported: scored by area"
_TAX = "the group tax is not supported: scored by area"
_BUTTON = "the button is not supported: scored by area"


@dataclass(frozen=True, kw_only=True)
class Rules:
    """Rules of Go.

    Attributes:
        superko, suicide: parameters of the game ``go``.
        bonus: points that White receives for handicap stones: "0", "N" or "N-1".
        komi: None unless the rules contain it.
        warning: what is not played as requested, else "".

    """

    superko: str = "positional"
    suicide: bool = False
    bonus: str = "0"
    komi: float | None = None
    warning: str = ""

    def points_for_handicap(self, stones: int) -> int:
        """Return White's bonus for a number of handicap stones."""
        return {"0": 0, "N": stones, "N-1": max(stones - 1, 0)}[self.bonus]


_CHINESE = Rules(superko="simple", bonus="N")
_JAPANESE = Rules(superko="simple", warning=_TERRITORY)
_AGA = Rules(superko="situational", bonus="N-1")

_NAMED = {
    "tromp-taylor": Rules(suicide=True),
    "chinese": _CHINESE,
    "chinese-ogs": replace(_CHINESE, superko="positional"),
    "chinese-kgs": replace(_CHINESE, superko="positional"),
    "ancient-area": Rules(superko="simple", warning=_TAX),
    "ancient-territory": _JAPANESE,
    "stone-scoring": Rules(superko="simple", warning=_TAX),
    "japanese": _JAPANESE,
    "korean": _JAPANESE,
    "aga": _AGA,
    "bga": _AGA,
    "french": _AGA,
    "aga-button": replace(_AGA, warning=_BUTTON),
    "new-zealand": Rules(superko="situational", suicide=True),
    "nz": Rules(superko="situational", suicide=True),
}


def rules_named(name: str) -> Rules:
    """Return the rules with a name such as "Chinese" or "tromp_taylor". Raises ConfigError."""
    rules = _NAMED.get(re.sub(r"[\s_]+", "-", name.strip().lower()))
    if rules is None:
        raise ConfigError(f"unknown rules {name[:40]!r}: expected one of {', '.join(_NAMED)}")
    return rules


def rules_from_parts(parts: Mapping[str, Any]) -> Rules:
    """Return the rules described by KataGo's keys, such as ko, scoring and tax.

    Raises ConfigError for an unknown key or value.
    """
    left = {key: value for key, value in parts.items() if value is not None}
    suicide = left.pop("multiStoneSuicideLegal", False)
    warnings = (
        _TERRITORY if _choice(left, "scoring", ("AREA", "TERRITORY")) == "TERRITORY" else "",
        _TAX if _choice(left, "tax", ("NONE", "SEKI", "ALL")) == "ALL" else "",
        _BUTTON if _flag(left, "hasButton") else "",
    )
    _flag(left, "friendlyPassOk")
    rules = Rules(
        superko=_KO[_choice(left, "ko", tuple(_KO))],
        suicide=_flag(left, "suicide") or suicide is True,
        bonus=_choice(left, "whiteHandicapBonus", _BONUSES),
        komi=_number(left, "komi"),
        warning=next(filter(None, warnings), ""),
    )
    if left:
        raise ConfigError(f"unknown part of the rules: {next(iter(left))[:40]!r}")
    return rules


def _choice(parts: dict[str, Any], key: str, values: tuple[str, ...]) -> str:
    value = str(parts.pop(key, values[0])).upper()
    if value not in values:
        raise ConfigError(f"rules: {key}: expected one of {', '.join(values)}, got {value[:40]}")
    return value


def _flag(parts: dict[str, Any], key: str) -> bool:
    value = parts.pop(key, False)
    if not isinstance(value, bool):
        raise ConfigError(f"rules: {key}: expected true or false")
    return value


def _number(parts: dict[str, Any], key: str) -> float | None:
    value = parts.pop(key, None)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ConfigError(f"rules: {key}: expected a number")
    return float(value)
