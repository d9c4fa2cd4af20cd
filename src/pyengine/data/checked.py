"""Values that were read from a file, held against what they must be."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pyengine.base.arguments import in_one_line

__all__ = [
    "BOOLEAN",
    "OBJECT",
    "SHA256",
    "TEXT",
    "Kind",
    "check",
    "list_of",
    "one_of",
    "optional",
    "real",
    "text_of",
    "whole",
    "wholes",
]


@dataclass(frozen=True)
class Kind:
    """What a value must be, in words, and whether it is."""

    what: str
    holds: Callable[[Any], bool]


def check(values: Any, kinds: Mapping[str, Kind], where: str = "") -> None:
    """Raise ValueError unless an object of JSON has these fields, each of its kind.

    Args:
        values: what was read.
        kinds: by field.
        where: what the message puts before a field's name.

    """
    if not isinstance(values, Mapping):
        name = f"{where.removesuffix('.')}: " if where else ""
        raise ValueError(f"{name}expected an object, found {in_one_line(values)}")
    for name, kind in kinds.items():
        if name not in values:
            raise ValueError(f"{where}{name}: expected {kind.what}, found none")
        if not kind.holds(values[name]):
            found = in_one_line(values[name])
            raise ValueError(f"{where}{name}: expected {kind.what}, found {found}")


def whole(least: int, most: int) -> Kind:
    """Return the kind of whole numbers in a range; True and False are none."""
    return Kind(
        f"a whole number in {least}..{most}",
        lambda value: type(value) is int and least <= value <= most,
    )


def real(least: float, most: float) -> Kind:
    """Return the kind of numbers in a range, which NaN is not in."""
    return Kind(
        f"a number in {least:g}..{most:g}",
        lambda value: type(value) in (int, float) and least <= value <= most,
    )


def wholes(least: int, most: int) -> Kind:
    """Return the kind of lists of whole numbers; quick, for a game's moves are one."""

    def holds(values: Any) -> bool:
        if not isinstance(values, list) or not set(map(type, values)) <= {int}:
            return False
        return not values or (least <= min(values) and max(values) <= most)

    return Kind(f"a list of whole numbers in {least}..{most}", holds)


def list_of(kind: Kind, length: int | None = None) -> Kind:
    """Return the kind of lists of a kind, of one length or any."""
    many = "a list" if length is None else f"a list of {length}"
    return Kind(
        f"{many}, each {kind.what}",
        lambda values: (
            isinstance(values, list)
            and (length is None or len(values) == length)
            and all(map(kind.holds, values))
        ),
    )


def one_of(*values: str) -> Kind:
    """Return the kind of some words."""
    return Kind(" or ".join(map(repr, values)), lambda value: value in values)


def optional(kind: Kind) -> Kind:
    """Return the kind that null is of, too."""
    return Kind(f"null or {kind.what}", lambda value: value is None or kind.holds(value))


def text_of(pattern: str, what: str) -> Kind:
    """Return the kind of texts that a pattern fits as a whole."""
    fits = re.compile(pattern).fullmatch
    return Kind(what, lambda value: isinstance(value, str) and fits(value) is not None)


BOOLEAN = Kind("true or false", lambda value: isinstance(value, bool))
OBJECT = Kind("an object", lambda value: isinstance(value, Mapping))
TEXT = Kind("text", lambda value: isinstance(value, str))
SHA256 = text_of("[0-9a-f]{64}", "64 hexadecimal digits")
