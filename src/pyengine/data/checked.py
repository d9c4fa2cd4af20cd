"""Checks of values read from JSON."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pyengine.base.checks import short_repr


@dataclass(frozen=True)
class Kind:
    """A predicate on values, with its description for messages."""

    what: str
    holds: Callable[[Any], bool]


def check(values: Any, kinds: Mapping[str, Kind], where: str = "") -> None:
    """Raise ValueError unless a JSON object has all these fields, each of the right kind.

    ``where`` precedes the field name in the message.
    """
    if not isinstance(values, Mapping):
        raise ValueError(f"{where}expected an object, got {short_repr(values)}")
    for name, kind in kinds.items():
        if name not in values:
            raise ValueError(f"{where}{name} is missing")
        if not kind.holds(values[name]):
            raise ValueError(f"{where}{name}: expected {kind.what}, got {short_repr(values[name])}")


def whole(least: int, most: int) -> Kind:
    """Accept integers in a range, but not True or False."""
    return Kind(
        f"an integer in {least}..{most}",
        lambda value: type(value) is int and least <= value <= most,
    )


def real(least: float, most: float) -> Kind:
    """Accept numbers in a range, but not NaN."""
    return Kind(
        f"a number in {least:g}..{most:g}",
        lambda value: type(value) in (int, float) and least <= value <= most,
    )


def wholes(least: int, most: int) -> Kind:
    """Accept lists of integers in a range; fast enough for the moves of every game."""

    def holds(values: Any) -> bool:
        if not isinstance(values, list) or not set(map(type, values)) <= {int}:
            return False
        return not values or (least <= min(values) and max(values) <= most)

    return Kind(f"a list of integers in {least}..{most}", holds)


def list_of(kind: Kind, length: int | None = None) -> Kind:
    """Accept lists of values of one kind; ``length`` None accepts any length."""
    return Kind(
        f"a list{'' if length is None else f' of length {length}'} with elements: {kind.what}",
        lambda values: (
            isinstance(values, list)
            and length in (None, len(values))
            and all(map(kind.holds, values))
        ),
    )


def one_of(*values: str) -> Kind:
    """Accept any of these strings."""
    return Kind(" or ".join(map(repr, values)), lambda value: value in values)


def optional(kind: Kind) -> Kind:
    """Accept null as well."""
    return Kind(f"null or {kind.what}", lambda value: value is None or kind.holds(value))


def text_of(pattern: str, what: str) -> Kind:
    """Accept strings that match a pattern entirely."""
    fits = re.compile(pattern).fullmatch
    return Kind(what, lambda value: isinstance(value, str) and fits(value) is not None)


BOOLEAN = Kind("true or false", lambda value: isinstance(value, bool))
OBJECT = Kind("a JSON object", lambda value: isinstance(value, Mapping))
TEXT = Kind("a string", lambda value: isinstance(value, str))
SHA256 = text_of("[0-9a-f]{64}", "64 hexadecimal digits")
