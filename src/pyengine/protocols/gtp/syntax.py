"""Lines of GTP: commands, responses, and the values of arguments."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pyengine.protocols.lines import Output

_LONGEST_ID = 10  # digits; an id has 31 bits
_COLOURS = {"b": 0, "black": 0, "w": 1, "white": 1}
_NAMES = ("black", "white")


class GtpError(Exception):
    """A command fails; the message goes to the client."""


@dataclass(frozen=True)
class Command:
    """A command line; ``id`` is "" if the client gave none."""

    id: str
    name: str
    arguments: list[str]


def parse_command(line: str) -> Command | None:
    """Return the command on a line; None if the line has only spaces or a comment."""
    text = "".join(c for c in line.replace("\t", " ") if c.isprintable())
    words = text.partition("#")[0].split()
    if not words:
        return None
    has_id = words[0].isascii() and words[0].isdigit() and len(words[0]) <= _LONGEST_ID
    number = words.pop(0) if has_id else ""
    return Command(number, words[0] if words else "", words[1:])


class Response:
    """The response to one command, whole or line by line."""

    def __init__(self, output: Output, number: str) -> None:
        self._output, self._id = output, number
        self._is_open = False

    def begin(self) -> None:
        """Begin a successful response that comes line by line."""
        self._output.write(f"={self._id}")
        self._is_open = True

    def line(self, text: str) -> None:
        """Write a line of a response that has begun; an empty one, which would end it, is not."""
        if text := _clean(text):
            self._output.write(text)

    def end(self, text: str = "") -> None:
        """Complete a successful response. ``text`` may have several lines."""
        if not self._is_open:
            head = f"={self._id}"
            self._output.write(f"{head} {_clean(text)}\n" if text else f"{head}\n")
        else:
            self._output.write(f"{_clean(text)}\n" if text else "")

    def fail(self, message: str) -> None:
        """Complete the response with a failure, or just end one that has begun."""
        if self._is_open:
            self._output.write("")
        else:
            self._output.write(f"?{self._id} {' '.join(_clean(message).split())}\n")


def _clean(text: str) -> str:
    """Remove what would end a response early: empty lines after the first, control characters."""
    first, *rest = text.split("\n")
    lines = [first, *(line for line in rest if line.strip())]
    return "\n".join("".join(c for c in line if c.isprintable()).rstrip() for line in lines)


def player_of(text: str) -> int:
    """Return the player of a colour: 0 for Black."""
    if text.lower() not in _COLOURS:
        raise GtpError("invalid color")
    return _COLOURS[text.lower()]


def is_colour(text: str) -> bool:
    """Return whether a word is a colour."""
    return text.lower() in _COLOURS


def colour_of(player: int) -> str:
    """Return ``black`` or ``white``."""
    return _NAMES[player]


def integer(text: str, least: int = 0, most: int = 2**31 - 1) -> int:
    """Return a whole number in a range. Raises GtpError."""
    if text.isascii() and text.isdigit() and len(text) <= _LONGEST_ID:
        value = int(text)
        if least <= value <= most:
            return value
    raise GtpError(f"expected a whole number of at least {least}")


def real(text: str) -> float:
    """Return a finite number. Raises GtpError."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise GtpError("expected a number")
    return value


def flag(text: str) -> bool:
    """Return whether a word is ``true``. Raises GtpError."""
    if text.lower() not in ("true", "false"):
        raise GtpError("expected true or false")
    return text.lower() == "true"


def exactly(arguments: list[str], count: int) -> list[str]:
    """Return the arguments if there are so many. Raises GtpError."""
    if len(arguments) != count:
        raise GtpError(f"expected {count} argument{'' if count == 1 else 's'}")
    return arguments
