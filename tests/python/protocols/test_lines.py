"""The streams of a protocol."""

from __future__ import annotations

import io
import os

import pytest

from pyengine.protocols.lines import Lines, Output


def lines_of(*chunks: bytes) -> list[str]:
    source = iter([*chunks, b""])
    lines = Lines(lambda: next(source))
    return list(iter(lines.read, None))


@pytest.mark.parametrize(
    ("chunks", "lines"),
    [
        ((b"name\nversion\n",), ["name", "version"]),
        ((b"na", b"me\r", b"\nquit\r\n"), ["name", "quit"]),
        ((b"cut",), ["cut"]),
        ((b"\n\n",), ["", ""]),
        ((b"\xff\xfe\n",), ["\ufffd\ufffd"]),
        ((), []),
    ],
)
def test_lines_are_the_same_however_they_are_cut(chunks: tuple[bytes, ...], lines: list[str]):
    assert lines_of(*chunks) == lines


def test_a_search_notices_the_next_line_and_the_end():
    reading, writing = os.pipe()
    lines = Lines(lambda: os.read(reading, 100))
    assert not lines.waiting()
    os.write(writing, b"stop\n")
    while not lines.waiting():
        pass
    assert lines.read() == "stop"
    os.close(writing)
    assert lines.read() is None
    assert lines.waiting()
    os.close(reading)


def test_a_message_is_written_at_once_with_the_line_ends_of_the_protocol():
    stream = io.BytesIO()
    Output(stream, "\r\n").write("OK\nDEBUG x")
    assert stream.getvalue() == b"OK\r\nDEBUG x\r\n"
