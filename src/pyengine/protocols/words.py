"""Words of a client's line."""

from __future__ import annotations

_MOST_DIGITS = 18


def first_word(line: str | None) -> str:
    """Return the first word of a line in lower case, "" if there is none."""
    words = (line or "").split(maxsplit=1)
    return words[0].lower() if words else ""


def whole_number(text: str) -> int | None:
    """Return an integer, None if the text is something else or absurdly long."""
    text = text.strip()
    digits = text.removeprefix("-")
    is_number = digits.isascii() and digits.isdecimal() and len(digits) <= _MOST_DIGITS
    return int(text) if is_number else None
