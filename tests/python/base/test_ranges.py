"""A message that names a range refuses nothing inside it."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import pytest

from pyengine import ConfigError, SearchConfig, SelfPlayConfig

#: Both sides of every bound that a setting is likely to have.
VALUES: list[int | float] = [
    *(sign * (base + step) for sign in (-1, 1) for base in (0, 1, 2, 10) for step in (-1e-9, 1e-9)),
    *(sign * (base + step) for sign in (-1, 1) for base in (0, 1, 2, 60, 64) for step in (0, 1)),
    *(10**n + step for n in (3, 6, 9, 12, 18) for step in (-1, 0, 1)),
    *(2**n + step for n in (8, 10, 12, 15, 16, 20, 23, 31, 32, 63, 64) for step in (-1, 0, 1)),
    1e100,
]
#: What a range is called in messages, and whether it holds a value.
RANGES = {
    r"(?:an int|a number) in \[(\S+), (\S+)\]": lambda v, low, high: low <= v <= high,
    r"a number in \((\S+), (\S+)\]": lambda v, low, high: low < v <= high,
    r"(\S+) \.\. (\S+)": lambda v, low, high: low <= v <= high,
    r"(?:a number )?> (\S+)": lambda v, low: v > low,
    r"(?:a number )?>= (\S+)": lambda v, low: v >= low,
    r"at least (\d+)": lambda v, low: v >= low,
}


def number(text: str) -> float:
    base, _, rest = text.rstrip(",").partition("^")
    power, _, less = rest.partition("-")
    return float(int(base) ** int(power) - int(less or 0)) if rest else float(base)


def holds(expected: str, value: float) -> bool:
    """Whether the value is in the range that a message names; a message may name none."""
    for pattern, inside in RANGES.items():
        if found := re.search(pattern, expected):
            return bool(inside(value, *map(number, found.groups())))
    return False


def numeric_fields(kind: type[Any]) -> list[str]:
    return [
        field.name
        for field in dataclasses.fields(kind)
        if {"int", "float"} & set(re.findall(r"\w+", str(field.type)))
    ]


@pytest.mark.parametrize("kind", [SearchConfig, SelfPlayConfig])
def test_a_refused_number_is_outside_the_range_that_the_message_names(kind: type[Any]) -> None:
    false = []
    for name in numeric_fields(kind):
        for value in VALUES:
            try:
                kind(**{name: value})
            except ConfigError as error:
                expected = str(error).partition("expected ")[2].partition(", found")[0]
                if holds(expected, value):
                    false.append(str(error))
    assert not false
