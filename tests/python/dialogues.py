"""Dialogues with protocols in this process: transcripts, and lines at random."""

from __future__ import annotations

import io
import random
import re
from collections.abc import Callable, Sequence

from pyengine import Engine
from pyengine.games.game import Game
from pyengine.protocols.inbox import Inbox
from pyengine.protocols.lines import Lines, Output
from pyengine.protocols.session import EngineFor

_JUNK = (
    "",
    " ",
    "\t",
    "\r",
    "\x00",
    "\xff",
    "é",
    "-1",
    "99999999999999999999",
    "x" * 5000,
    "9" * 5000,
    "nan",
    "%s",
)


def tiny_engines(simulations: int = 20, evaluator: str = "uniform") -> EngineFor:
    """Return a function that makes quick engines without a network."""

    def engine_for(game: Game) -> Engine:
        return Engine(game, evaluator, simulations=simulations, threads=1, seed=1, cache_entries=0)

    return engine_for


def replies(
    speak: Callable[[Inbox, Output], object], text: str | bytes, newline: str = "\n"
) -> list[str]:
    """Return the lines that a protocol writes in reply to a text, which then ends.

    ``speak`` runs the protocol.
    """
    given = text if isinstance(text, bytes) else text.encode()
    source = iter([given, b""])
    stream = io.BytesIO()
    speak(Inbox(Lines(lambda: next(source))), Output(stream, newline))
    written = stream.getvalue().decode()
    assert written.replace(newline, "").count("\n") == 0
    return written.removesuffix(newline).split(newline) if written else []


def assert_matches(lines: Sequence[str], patterns: Sequence[str]) -> None:
    """Check each line against a regular expression."""
    assert len(lines) == len(patterns), lines
    for line, pattern in zip(lines, patterns, strict=True):
        assert re.fullmatch(pattern, line), f"{line!r} is not {pattern!r}"


def random_lines(words: Sequence[str], count: int = 10_000, seed: int = 1) -> bytes:
    """Return lines of a protocol's words and of junk, some of them cut short."""
    rng = random.Random(seed)
    lines = []
    for _ in range(count):
        line = " ".join(rng.choices(words, k=rng.randint(1, 3)))
        if rng.random() < 0.2:
            line = rng.choice(words) + rng.choice((" ", "")) + rng.choice(_JUNK)
        if rng.random() < 0.1:
            line = line[: rng.randrange(len(line) + 1)]
        lines.append(line)
    return rng.choice(("\n", "\r\n")).join(lines).encode("utf-8", "surrogatepass")
