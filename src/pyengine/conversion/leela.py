"""Leela Zero's text format of network weights, versions 1 and 2, plain or compressed by gzip.

One tensor a line, numbers separated by spaces. The first line is the version: in version 1 the
value is for the player to move, in version 2 for Black. Then four lines a convolution (kernel,
bias, mean and variance of the batch normalisation, whose scale and shift are in the others): the
input's, two a residual block, and, among their linear layers, those of the heads.
"""

from __future__ import annotations

import gzip
import math
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

import numpy as np
import numpy.typing as npt

from pyengine.base.arguments import check_type
from pyengine.base.files import path_of, replacing, unread
from pyengine.errors import ModelError

__all__ = ["EPSILON", "PLANES", "LeelaWeights", "Norm", "read_leela", "write_leela"]

Floats: TypeAlias = npt.NDArray[np.float32]

PLANES = 18
EPSILON = 1e-5  #: added to a variance before its root, as Leela Zero does
_HEAD_LINES = 14
_LEAST_LINES = 1 + 4 + _HEAD_LINES
_GZIP = b"\x1f\x8b"
_BLOCK = 1 << 20  # bytes unpacked at once

# What a file may hold. The largest networks that were trained have 40 blocks of 256 channels,
# 2 + 1 planes in the heads and 256 hidden units, on 19x19.
MOST_BLOCKS = 100
MOST_CHANNELS = 1024
_MOST_POINTS = 19 * 19
_MOST_PLANES = 16  # of a head
_MOST_HIDDEN = 1024
_MOST_LINES = _LEAST_LINES + 8 * MOST_BLOCKS + 100  # some of them empty, at the end
_WIDTH = 32  # bytes of a number and what parts it from the next; a double has at most 25
_LEAST_LIMIT = 1024  # bytes of a line that should hold next to nothing

#: Of which a line consists; Python's ``float`` also reads ``1_0``, ``nan`` and ``infinity``.
_LETTERS = b"0123456789+-.eE \t\r\n"


@dataclass(frozen=True)
class Norm:
    """A convolution followed by batch normalisation: ``(conv(x) + bias - mean) / deviation``.

    Attributes:
        kernel: float32[outputs, inputs, size, size].
        bias: float32[outputs].
        mean: float32[outputs].
        variance: float32[outputs]; the deviation is ``sqrt(variance + EPSILON)``.
    """

    kernel: Floats
    bias: Floats
    mean: Floats
    variance: Floats

    def folded(self) -> tuple[Floats, Floats]:
        """Return kernel and bias of one convolution that does the same."""
        scale = 1.0 / np.sqrt(self.variance.astype(np.float64) + EPSILON)
        kernel = self.kernel * scale[:, None, None, None]
        bias = (self.bias.astype(np.float64) - self.mean) * scale
        return kernel.astype(np.float32), bias.astype(np.float32)


@dataclass(frozen=True)
class LeelaWeights:
    """A residual network with a policy and a value head; ``N`` points, ``A = N + 1`` actions.

    Attributes:
        version: 1: the value is for the player to move; 2: for Black.
        stem: the first convolution, from 18 planes to ``channels``.
        blocks: pairs of convolutions.
        policy: 1x1 convolution of the policy head, to ``P`` planes.
        policy_out: matrix float32[A, P*N] and bias float32[A].
        value: 1x1 convolution of the value head, to ``V`` planes.
        value_hidden: matrix float32[H, V*N] and bias float32[H].
        value_out: matrix float32[1, H] and bias float32[1].
    """

    version: int
    stem: Norm
    blocks: tuple[tuple[Norm, Norm], ...]
    policy: Norm
    policy_out: tuple[Floats, Floats]
    value: Norm
    value_hidden: tuple[Floats, Floats]
    value_out: tuple[Floats, Floats]

    @property
    def channels(self) -> int:
        """Filters of the residual tower."""
        return len(self.stem.bias)

    @property
    def board_size(self) -> int:
        """Points along an edge of the board."""
        return math.isqrt(len(self.policy_out[1]) - 1)

    def tensors(self) -> Iterator[Floats]:
        """Yield all tensors in the order of the file's lines."""
        for norm in (self.stem, *(norm for block in self.blocks for norm in block), self.policy):
            yield from _parts(norm)
        yield from self.policy_out
        yield from _parts(self.value)
        yield from self.value_hidden
        yield from self.value_out


def _parts(norm: Norm) -> tuple[Floats, ...]:
    return norm.kernel, norm.bias, norm.mean, norm.variance


class _Lines:
    """The numbers of a file, line by line; every complaint names the file and the line.

    No line is read further than what it can hold: a small compressed file may unpack to anything.
    """

    def __init__(self, path: Path, stream: BinaryIO) -> None:
        self._path = path
        self._stream = stream
        self._next = 0

    def fail(self, expected: str, found: str, line: int | None = None) -> ModelError:
        where = "" if line is None else f", line {line + 1}"
        return ModelError(f"{self._path}{where}: expected {expected}, found {found}")

    @property
    def last(self) -> int:
        """The line that was read last, from 0."""
        return self._next - 1

    def raw(self, what: str, most: int) -> bytes:
        """Return the next line, of at most so many numbers; empty at the end."""
        limit = _LEAST_LIMIT + most * _WIDTH
        line = self._stream.readline(limit)
        if len(line) == limit and not line.endswith(b"\n"):
            raise self.fail(f"at most {most} numbers ({what})", f"{limit} bytes", self._next)
        self._next += 1
        return line

    def numbers(self, what: str, most: int) -> Floats:
        """Return the numbers of the next line, at least one."""
        line = self.raw(what, most)
        words = line.split()
        if not words:
            raise self.fail(f"numbers ({what})", "an empty line", self.last)
        try:
            if line.translate(None, _LETTERS):
                raise ValueError
            wide = np.fromiter(map(float, words), np.float64, len(words))
        except ValueError:
            text = next(word for word in words if not _is_number(word))
            found = repr(text[:24].decode("ascii", "replace"))
            raise self.fail(f"numbers ({what})", found, self.last) from None
        with np.errstate(over="ignore"):  # what float32 cannot hold becomes infinite
            values = wide.astype(np.float32)
        bad = np.flatnonzero(~np.isfinite(values))
        if len(bad):
            text = words[bad[0]][:24]
            raise self.fail(f"finite float32 numbers ({what})", text.decode("ascii"), self.last)
        return values

    def shaped(self, values: Floats, what: str, *shape: int, ago: int = 1) -> Floats:
        """Return the numbers of the line read ``ago`` lines ago as a tensor of this shape."""
        size = math.prod(shape)
        if len(values) != size:
            sizes = " x ".join(str(n) for n in shape)
            expected = f"{sizes} = {size} numbers ({what})"
            raise self.fail(expected, str(len(values)), self._next - ago)
        return values.reshape(shape)

    def take(self, what: str, *shape: int) -> Floats:
        """Return the next line as a tensor of this shape."""
        return self.shaped(self.numbers(what, math.prod(shape)), what, *shape)

    def norm(self, what: str, inputs: int, most: int, size: int) -> Norm:
        """Return a convolution of at most ``most`` outputs."""
        flat = self.numbers(f"kernel of {what}", most * inputs * size * size)
        bias = self.numbers(f"bias of {what}", most)
        outputs = len(bias)
        if outputs > most:
            raise self.fail(f"at most {most} numbers (bias of {what})", str(outputs), self.last)
        kernel = self.shaped(flat, f"kernel of {what}", outputs, inputs, size, size, ago=2)
        mean = self.take(f"means of {what}", outputs)
        variance = self.take(f"variances of {what}", outputs)
        if not (variance >= 0).all():
            raise self.fail(f"variances of at least 0 ({what})", str(variance.min()), self.last)
        return Norm(kernel, bias, mean, variance)


def _is_number(word: bytes) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return not word.translate(None, _LETTERS)


def read_leela(path: str | os.PathLike[str]) -> LeelaWeights:
    """Read a weights file, whatever its name: gzip is known by its first bytes.

    At most 100 blocks of 1024 channels, boards of 19x19, heads of 16 planes and 1024 hidden units.
    Memory is that of the network and of one line, however large the file.

    Raises:
        ModelError: it cannot be read or is no such file; says where, what was expected and what
            was found.

    """
    file = path_of("path", path)
    try:
        with _open(file) as stream:
            version, blocks = _outline(_Lines(file, stream))
            stream.seek(0)
            reader = _Lines(file, stream)
            reader.raw("version", 1)
            return _network(reader, version, blocks)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ModelError(f"{file}: expected a whole gzip file, found damage: {error}") from error
    except OSError as error:
        raise ModelError(unread(file, error)) from error


@contextmanager
def _open(path: Path) -> Iterator[BinaryIO]:
    with path.open("rb") as file:
        packed = file.peek(len(_GZIP)).startswith(_GZIP)
        if not packed:
            yield file
            return
        with gzip.GzipFile(fileobj=file) as unpacked, BufferedReader(unpacked, _BLOCK) as stream:
            yield stream


def _outline(lines: _Lines) -> tuple[int, int]:
    """Read all lines and return the version and the number of blocks, which no line says."""
    first = lines.raw("version", 1)
    version = first.strip()
    if version not in (b"1", b"2"):
        found = repr(version[:24].decode("ascii", "replace")) if first else "an empty file"
        raise lines.fail("Leela Zero weights: a first line of '1' or '2'", found)
    kernel = lines.raw("kernel of the input convolution", MOST_CHANNELS * PLANES * 9)
    bias = lines.raw("bias of the input convolution", MOST_CHANNELS)
    channels = len(bias.split())
    if channels > MOST_CHANNELS:  # short numbers: more of them than the line's bytes are meant for
        expected = f"at most {MOST_CHANNELS} numbers (bias of the input convolution)"
        raise lines.fail(expected, str(channels), lines.last)
    most = max(9 * channels**2, _MOST_HIDDEN * _MOST_PLANES * _MOST_POINTS)
    filled = [True, bool(kernel.strip()), bool(bias.strip())]
    while line := lines.raw("a layer", most):
        filled.append(not line.isspace())
        if len(filled) > _MOST_LINES:
            raise lines.fail(f"at most {_MOST_LINES} lines", "more")
    count = len(filled) - filled[::-1].index(True)
    blocks, rest = divmod(count - _LEAST_LINES, 8)
    if blocks < 0 or rest:
        raise lines.fail(f"{_LEAST_LINES} lines and 8 for each block", f"{count} lines")
    return int(version), blocks


def _network(reader: _Lines, version: int, blocks: int) -> LeelaWeights:
    stem = reader.norm("the input convolution", PLANES, MOST_CHANNELS, 3)
    channels = len(stem.bias)
    tower = []
    for number in range(1, blocks + 1):
        first, second = (
            reader.norm(f"block {number}, convolution {half}", channels, channels, 3)
            for half in (1, 2)
        )
        tower.append((first, second))
    policy = reader.norm("the policy convolution", channels, _MOST_PLANES, 1)
    planes = len(policy.bias)
    most = (_MOST_POINTS + 1) * planes * _MOST_POINTS
    flat, bias = reader.numbers("policy", most), reader.numbers("bias of the policy", _MOST_POINTS)
    points = len(bias) - 1
    if points < 1 or math.isqrt(points) ** 2 != points:
        raise reader.fail("a policy of n x n + 1 moves", str(len(bias)), reader.last)
    policy_out = reader.shaped(flat, "policy", len(bias), planes * points, ago=2), bias
    value = reader.norm("the value convolution", channels, _MOST_PLANES, 1)
    inputs = len(value.bias) * points
    flat = reader.numbers("value's hidden layer", _MOST_HIDDEN * inputs)
    bias = reader.numbers("bias of the value's hidden layer", _MOST_HIDDEN)
    hidden = reader.shaped(flat, "value's hidden layer", len(bias), inputs, ago=2), bias
    out = reader.take("value", 1, len(bias)), reader.take("bias of the value", 1)
    return LeelaWeights(version, stem, tuple(tower), policy, policy_out, value, hidden, out)


def write_leela(weights: LeelaWeights, path: str | os.PathLike[str]) -> None:
    """Write a weights file, compressed when its name ends in ``.gz``; whole or not at all.

    Numbers have 6 significant digits. The same weights give the same bytes. Raises DataError where
    the file cannot be written.
    """
    check_type("weights", weights, LeelaWeights, "LeelaWeights")
    file = path_of("path", path)
    text = "\n".join([str(weights.version), *(_line(tensor) for tensor in weights.tensors())])
    data = (text + "\n").encode("ascii")
    if file.suffix == ".gz":
        data = gzip.compress(data, compresslevel=6, mtime=0)
    with replacing(file) as temporary:
        temporary.write_bytes(data)


def _line(tensor: npt.NDArray[Any]) -> str:
    return " ".join([f"{value:.6g}" for value in tensor.ravel().tolist()])
