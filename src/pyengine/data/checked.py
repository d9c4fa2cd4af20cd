"""Values read from JSON, checked against what they must be."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pyengine.base.arguments import short_repr


@dataclass(frozen=True)
class Kind:
    """What a value must be, in words, and whether it is."""

    what: str
    holds: Callable[[Any], bool]


def check(values: Any, kinds: Mapping[str, Kind], where: str = "") -> None:
    """Raise ValueError unless a JSON object has these fields, each of its kind.

    ``where`` precedes a field's name in the message.
    """
    if not isinstance(values, Mapping):
        raise ValueError(f"{where}expected an object, got {short_repr(values)}")
    for name, kind in kinds.items():
        if name not in values:
            raise ValueError(f"{where}{name}: expected {kind.what}, got none")
        if not kind.holds(values[name]):
            raise ValueError(f"{where}{name}: expected {kind.what}, got {short_repr(values[name])}")


def whole(least: int, most: int) -> Kind:
    """Return the kind of ints in a range; True and False do not count."""
    return Kind(
        f"a whole number in {least}..{most}",
        lambda value: type(value) is int and least <= value <= most,
    )


def real(least: float, most: float) -> Kind:
    """Return the kind of numbers in a range; NaN is in none."""
    return Kind(
        f"a number in {least:g}..{most:g}",
        lambda value: type(value) in (int, float) and least <= value <= most,
    )


def wholes(least: int, most: int) -> Kind:
    """Return the kind of lists of ints; fast, since the moves of a game are one."""

    def holds(values: Any) -> bool:
        if not isinstance(values, list) or not set(map(type, values)) <= {int}:
            return False
        return not values or (least <= min(values) and max(values) <= most)

    return Kind(f"a list of whole numbers in {least}..{most}", holds)


def list_of(kind: Kind, length: int | None = None) -> Kind:
    """Return the kind of lists of a kind, of one length or any."""
    return Kind(
        f"a list{'' if length is None else f' of {length}'}, each {kind.what}",
        lambda values: (
            isinstance(values, list)
            and length in (None, len(values))
            and all(map(kind.holds, values))
        ),
    )


def one_of(*values: str) -> Kind:
    """Return the kind of some words."""
    return Kind(" or ".join(map(repr, values)), lambda value: value in values)


def optional(kind: Kind) -> Kind:
    """Return the kind that also takes null."""
    return Kind(f"null or {kind.what}", lambda value: value is None or kind.holds(value))


def text_of(pattern: str, what: str) -> Kind:
    """Return the kind of texts that match a pattern as a whole."""
    fits = re.compile(pattern).fullmatch
    return Kind(what, lambda value: isinstance(value, str) and fits(value) is not None)


BOOLEAN = Kind("true or false", lambda value: isinstance(value, bool))
OBJECT = Kind("an object", lambda value: isinstance(value, Mapping))
TEXT = Kind("text", lambda value: isinstance(value, str))
SHA256 = text_of("[0-9a-f]{64}", "64 hexadecimal digits")
