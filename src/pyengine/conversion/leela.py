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
from dataclasses import dataclass
from io import BufferedIOBase
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from pyengine.base.arguments import check_type
from pyengine.base.files import path_of, replacing, unread
from pyengine.errors import ModelError

Floats: TypeAlias = npt.NDArray[np.float32]

PLANES = 18
EPSILON = 1e-5  #: added to a variance before its root, as Leela Zero does
_HEAD_LINES = 14
_LEAST_LINES = 1 + 4 + _HEAD_LINES
_GZIP = b"\x1f\x8b"

# What a file may hold. The largest networks that were trained have 40 blocks of 256 channels,
# 2 + 1 planes in the heads and 256 hidden units, on 19x19.
MOST_BLOCKS = 100
MOST_CHANNELS = 1024
_MOST_LINES = _LEAST_LINES + 8 * MOST_BLOCKS
_MOST_NUMBERS = 9 * MOST_CHANNELS**2  # of a line
_MOST_BYTES = 32 * _MOST_NUMBERS  # of a line; a double has at most 25


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


def read_leela(path: str | os.PathLike[str]) -> LeelaWeights:
    """Read a weights file, whatever its name: gzip is known by its first bytes.

    At most 100 blocks of 1024 channels. Raises ModelError if it cannot be read or is not such a
    file; names the line.
    """
    file = path_of("path", path)
    try:
        with file.open("rb") as raw:
            packed = raw.peek(len(_GZIP)).startswith(_GZIP)
            with gzip.open(raw) if packed else raw as stream:
                version, lines = _read(file, stream)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ModelError(f"{file}: the gzip file is damaged: {error}") from error
    except OSError as error:
        raise ModelError(unread(file, error)) from error
    return _Network(file, lines).weights(version)


def _read(file: Path, stream: BufferedIOBase) -> tuple[int, list[Floats]]:
    """Return the version and the numbers of each line below it."""
    first = stream.readline(1024)
    if first.strip() not in (b"1", b"2"):
        got = repr(first[:24].decode("ascii", "replace").rstrip("\r\n"))
        expected = "expected Leela Zero weights: a first line of '1' or '2'"
        raise ModelError(f"{file}, line 1: {expected}, got {got}")
    lines: list[Floats] = []
    while (line := stream.readline(_MOST_BYTES)).strip():
        number = len(lines) + 2
        try:
            if number > _MOST_LINES or line.count(b" ") > _MOST_NUMBERS:
                raise ValueError(f"more than {MOST_BLOCKS} blocks of {MOST_CHANNELS} channels")
            wide = np.fromiter(map(float, line.split()), np.float64)
            with np.errstate(over="ignore"):  # what float32 cannot hold becomes infinite
                values = wide.astype(np.float32)
            if not np.isfinite(values).all():
                raise ValueError("expected finite float32 numbers")
        except ValueError as error:
            raise ModelError(f"{file}, line {number}: {error}") from None
        lines.append(values)
    blocks, rest = divmod(len(lines) + 1 - _LEAST_LINES, 8)
    if blocks < 0 or rest or stream.read(1024).strip():
        expected = f"expected {_LEAST_LINES} lines and 8 for each block"
        raise ModelError(f"{file}: {expected}, got {len(lines) + 1} lines")
    return int(first), lines


class _Network:
    """The lines of a file, taken in order as the tensors of a network."""

    def __init__(self, file: Path, lines: list[Floats]) -> None:
        self._file = file
        self._lines = lines
        self._next = 0

    def weights(self, version: int) -> LeelaWeights:
        blocks = (len(self._lines) + 1 - _LEAST_LINES) // 8
        stem = self.norm("the input convolution", PLANES, 3)
        channels = len(stem.bias)
        tower = []
        for number in range(1, blocks + 1):
            first = self.norm(f"block {number}, convolution 1", channels, 3)
            second = self.norm(f"block {number}, convolution 2", channels, 3)
            tower.append((first, second))
        policy = self.norm("the policy convolution", channels, 1)
        points = len(self._lines[self._next + 1]) - 1
        policy_out = self.linear("the policy", len(policy.bias) * points)
        if points < 1 or math.isqrt(points) ** 2 != points:
            raise self.error("the policy", "n x n + 1 moves", points + 1)
        value = self.norm("the value convolution", channels, 1)
        hidden = self.linear("the value's hidden layer", len(value.bias) * points)
        out = self.linear("the value", len(hidden[1]))
        if len(out[1]) != 1:
            raise self.error("the value", "1 output", len(out[1]))
        return LeelaWeights(version, stem, tuple(tower), policy, policy_out, value, hidden, out)

    def norm(self, what: str, inputs: int, size: int) -> Norm:
        """Take a convolution; its bias says how many outputs it has."""
        outputs = len(self._lines[self._next + 1])
        kernel = self.tensor(f"the kernel of {what}", outputs, inputs, size, size)
        bias, mean, variance = (
            self.tensor(f"the {part} of {what}", outputs) for part in ("bias", "means", "variances")
        )
        if not (variance >= 0).all():
            raise self.error(f"the variances of {what}", "numbers of at least 0", variance.min())
        return Norm(kernel, bias, mean, variance)

    def linear(self, what: str, inputs: int) -> tuple[Floats, Floats]:
        outputs = len(self._lines[self._next + 1])
        return self.tensor(what, outputs, inputs), self.tensor(f"the bias of {what}", outputs)

    def tensor(self, what: str, *shape: int) -> Floats:
        values = self._lines[self._next]
        self._next += 1
        if len(values) != math.prod(shape):
            sizes = " x ".join(map(str, shape))
            raise self.error(what, f"{sizes} numbers", len(values))
        return values.reshape(shape)

    def error(self, what: str, expected: str, got: object) -> ModelError:
        where = f"{self._file}, line {self._next + 1}"  # the line taken last
        return ModelError(f"{where}: {what}: expected {expected}, got {got}")


def write_leela(weights: LeelaWeights, path: str | os.PathLike[str]) -> None:
    """Write a weights file, compressed if its name ends in ``.gz``; whole or not at all.

    Numbers have 6 significant digits. The same weights give the same bytes. Raises DataError if
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
