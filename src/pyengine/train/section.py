"""Settings that check themselves: frozen dataclasses whose errors name ``section.field``."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self

from pyengine.base.arguments import check_type, in_one_line
from pyengine.base.settings import Settings
from pyengine.errors import ConfigError

__all__ = [
    "MOST_SEED",
    "Section",
    "choice",
    "differences",
    "flag",
    "integer",
    "number",
    "numbers",
    "strings",
    "text",
]

#: Of a run and a training: it fits into 64 bits with any number of steps added.
MOST_SEED = 2**62

#: Returns what was expected where the value does not fit, else None.
Check = Callable[[Any], str | None]


class Section(Settings):
    """Base of a frozen, keyword-only dataclass of settings, each made by one of the functions here.

    Raises ConfigError that names ``section.field``, what was expected and what was found.
    """

    section: ClassVar[str] = ""

    def __post_init__(self) -> None:
        """Check all fields."""
        for field in dataclasses.fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if isinstance(value, list):
                value = tuple(value)
                object.__setattr__(self, field.name, value)
            expected = field.metadata["check"](value)
            if expected is not None:
                self.refuse(field.name, expected, value)

    @classmethod
    def check_names(cls, given: Mapping[str, Any]) -> None:
        """Raise ConfigError for a name that is none of the settings."""
        known = cls.names()
        for name in given:
            if name not in known:
                raise ConfigError(
                    f"{cls.section}.{name}: no such setting; expected one of {', '.join(known)}"
                )

    @classmethod
    def refuse(cls, name: str, expected: str, found: Any) -> None:
        """Raise the error of a field."""
        raise ConfigError(f"{cls.section}.{name}: expected {expected}, found {_shown(found)}")

    @classmethod
    def from_dict(cls, table: Mapping[str, Any]) -> Self:
        """Return the settings of a table; those left out have their defaults."""
        check_type(cls.section, table, Mapping, "a table")
        cls.check_names(table)
        return cls(**table)

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as plain values."""
        fields = dataclasses.fields(self)  # type: ignore[arg-type]
        values = {field.name: getattr(self, field.name) for field in fields}
        return {k: _plain(v) for k, v in values.items()}

    def replace(self, **changes: Any) -> Self:
        """Return a copy with some fields changed."""
        return self.from_dict({**self.to_dict(), **changes})


def integer(
    default: int | None, least: int = 0, *, most: int | None = None, none: bool = False
) -> Any:
    """Return a field for an int of at least ``least`` and at most ``most``; ``none``: or None."""

    def check(value: Any) -> str | None:
        if none and value is None:
            return None
        fits = isinstance(value, int) and not isinstance(value, bool)
        if not fits or value < least or (most is not None and value > most):
            high = "" if most is None else f" and at most {most}"
            return f"an int of at least {least}{high}" + (" or nothing" if none else "")
        return None

    return _field(default, check)


def number(
    default: float | None,
    least: float = 0.0,
    most: float = math.inf,
    *,
    above: bool = False,
    below: bool = False,
    none: bool = False,
) -> Any:
    """Return a field for a finite number in [least, most].

    ``above``: greater than ``least``; ``below``: less than ``most``; ``none``: or None.
    """
    low = "(" if above else "["
    high = ")" if below or most == math.inf else "]"

    def check(value: Any) -> str | None:
        if none and value is None:
            return None
        fits = not isinstance(value, bool) and isinstance(value, int | float)
        if fits and _is_finite(value) and least <= value <= most:
            fits = not (above and value == least) and not (below and value == most)
        else:
            fits = False
        if not fits:
            return f"a number in {low}{least:g}, {most:g}{high}" + (" or nothing" if none else "")
        return None

    return _field(default, check)


def choice(default: str, *options: str) -> Any:
    """Return a field for one of several words."""

    def check(value: Any) -> str | None:
        fits = isinstance(value, str) and value in options
        return None if fits else "one of " + ", ".join(map(repr, options))

    return _field(default, check)


def flag(default: bool) -> Any:
    """Return a field for true or false."""
    return _field(default, lambda value: None if isinstance(value, bool) else "true or false")


def text(default: str) -> Any:
    """Return a field for a string."""
    return _field(default, lambda value: None if isinstance(value, str) else "a string")


def strings(default: tuple[str, ...]) -> Any:
    """Return a field for a list of strings."""

    def check(value: Any) -> str | None:
        fits = isinstance(value, tuple) and all(isinstance(entry, str) for entry in value)
        return None if fits else "a list of strings"

    return _field(default, check)


def numbers(default: tuple[float, ...], kind: type = float) -> Any:
    """Return a field for a list of positive numbers; ``kind=int``: of ints."""

    def check(value: Any) -> str | None:
        kinds = int if kind is int else (int, float)
        fits = isinstance(value, tuple) and all(
            isinstance(entry, kinds)
            and not isinstance(entry, bool)
            and entry > 0
            and _is_finite(entry)
            for entry in value
        )
        return None if fits else f"a list of positive {'ints' if kind is int else 'numbers'}"

    return _field(default, check)


def _is_finite(value: float) -> bool:
    """Whether a number is one that a float can hold."""
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _shown(value: Any) -> str:
    """A text as a whole, since names of games are long; other values shortened."""
    return repr(value) if isinstance(value, str) else in_one_line(value)


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    return dict(value) if isinstance(value, Mapping) else value


def table() -> Any:
    """Return a field for a table of settings, empty where it is not given."""
    return dataclasses.field(
        default_factory=dict,
        metadata={"check": lambda value: None if isinstance(value, Mapping) else "a table"},
    )


def _field(default: Any, check: Check) -> Any:
    return dataclasses.field(default=default, metadata={"check": check})


def differences(first: Mapping[str, Any], second: Mapping[str, Any], prefix: str = "") -> list[str]:
    """Return ``section.field: VALUE is now VALUE`` for what differs between nested tables."""
    found = []
    for key in sorted({*first, *second}):
        old, new = first.get(key), second.get(key)
        if isinstance(old, Mapping) and isinstance(new, Mapping):
            found += differences(old, new, f"{prefix}{key}.")
        elif old != new:
            found.append(f"{prefix}{key}: {old!r} is now {new!r}")
    return found
