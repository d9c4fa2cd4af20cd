"""Checks of values read from JSON; each raises ConfigError, which names the field."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import partial
from typing import Any, TypeAlias

from pyengine.base.checks import check_choice, check_flag, check_type, integer, number, short_repr
from pyengine.errors import ConfigError

#: A check of a field, called with its name and value.
Check: TypeAlias = Callable[[str, Any], object]


def checked_by(check_field: Check) -> dict[str, Check]:
    """Return the metadata of a dataclass field for :func:`checks_of`."""
    return {"check": check_field}


def checks_of(record: type) -> dict[str, Check]:
    """Return the checks in the metadata of a dataclass."""
    return {field.name: field.metadata["check"] for field in fields(record) if field.metadata}


def check(values: Any, checks: Mapping[str, Check], where: str = "") -> None:
    """Check each of these fields of a JSON object; ``where`` precedes their names in messages."""
    OBJECT(where.removesuffix(".") or "the value", values)
    for name, check_field in checks.items():
        if name not in values:
            raise ConfigError(f"{where}{name} is missing")
        check_field(where + name, values[name])


def whole(least: int, most: int) -> Check:
    """Accept integers in a range."""
    return partial(integer, least=least, most=most)


def real(least: float, most: float) -> Check:
    """Accept numbers in a range."""
    expected = f"a number in {least:g}..{most:g}"
    return partial(number, expected=expected, fits=lambda value: least <= value <= most)


def wholes(least: int, most: int) -> Check:
    """Accept lists of integers in a range; fast enough for the moves of every game."""

    def check_list(name: str, values: Any) -> None:
        if (
            not isinstance(values, list)
            or not set(map(type, values)) <= {int}
            or (values and not (least <= min(values) and max(values) <= most))
        ):
            expected = f"a list of integers in {least}..{most}"
            raise ConfigError(f"{name}: expected {expected}, got {short_repr(values)}")

    return check_list


def list_of(check_element: Check, length: int | None = None) -> Check:
    """Accept lists of elements that pass a check; ``length`` None accepts any length."""

    def check_list(name: str, values: Any) -> None:
        check_type(name, values, list, "a list")
        if length not in (None, len(values)):
            raise ConfigError(f"{name}: expected {length} elements, got {short_repr(values)}")
        for index, value in enumerate(values):
            check_element(f"{name}[{index}]", value)

    return check_list


def optional(check_value: Check) -> Check:
    """Accept null as well."""
    return lambda name, value: None if value is None else check_value(name, value)


def one_of(*values: str) -> Check:
    """Accept any of these strings."""
    return partial(check_choice, choices=values)


def text_of(pattern: str, expected: str) -> Check:
    """Accept strings that match a pattern entirely."""

    def check_text(name: str, value: Any) -> None:
        if not (isinstance(value, str) and re.fullmatch(pattern, value)):
            raise ConfigError(f"{name}: expected {expected}, got {short_repr(value)}")

    return check_text


BOOLEAN: Check = check_flag
OBJECT: Check = partial(check_type, kind=dict, expected="an object")
TEXT: Check = partial(check_type, kind=str, expected="a string")
SHA256 = text_of("[0-9a-f]{64}", "64 hexadecimal digits")
