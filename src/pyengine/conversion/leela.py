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
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from pyengine.errors import ModelError

__all__ = ["EPSILON", "PLANES", "LeelaWeights", "Norm", "read_leela", "write_leela"]

Floats: TypeAlias = npt.NDArray[np.float32]

PLANES = 18
EPSILON = 1e-5  #: added to a variance before its root, as Leela Zero does
_HEAD_LINES = 14
_LEAST_LINES = 1 + 4 + _HEAD_LINES
_GZIP = b"\x1f\x8b"


@dataclass(frozen=True)
class Norm:
    """A convolution followed by batch normalisation: ``(conv(x) + bias - mean) / deviation``.

    Attributes:
        kernel: float32[outputs, inputs, size, size].
        bias, mean, variance: float32[outputs]; the deviation is ``sqrt(variance + EPSILON)``.
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
        policy, value: 1x1 convolutions of the heads, to ``P`` and ``V`` planes.
        policy_out: matrix float32[A, P*N] and bias float32[A].
        value_hidden, value_out: matrices float32[H, V*N], float32[1, H] and their biases.
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
    """The numbers of a file, line by line; every complaint names the file and the line."""

    def __init__(self, path: Path, lines: list[bytes]) -> None:
        self._path = path
        self._lines = lines
        self._next = 1  # line 0 is the version

    def fail(self, expected: str, found: str, line: int | None = None) -> ModelError:
        where = "" if line is None else f", line {line + 1}"
        return ModelError(f"{self._path}{where}: expected {expected}, found {found}")

    def numbers(self, line: int, what: str) -> Floats:
        """Return the numbers of a line."""
        words = self._lines[line].split()
        wide = np.empty(len(words), np.float64)
        for i, word in enumerate(words):
            try:
                wide[i] = float(word)
            except ValueError:
                text = word[:24].decode("ascii", "replace")
                raise self.fail(f"numbers ({what})", repr(text), line) from None
        with np.errstate(over="ignore"):  # what float32 cannot hold becomes infinite
            values = wide.astype(np.float32)
        bad = np.flatnonzero(~np.isfinite(values))
        if len(bad):
            text = words[bad[0]][:24].decode("ascii")
            raise self.fail(f"finite float32 numbers ({what})", text, line)
        return values

    def take(self, what: str, *shape: int) -> Floats:
        """Return the next line as a tensor of this shape."""
        line = self._next
        self._next += 1
        values = self.numbers(line, what)
        size = math.prod(shape)
        if len(values) != size:
            sizes = " x ".join(str(n) for n in shape)
            raise self.fail(f"{sizes} = {size} numbers ({what})", str(len(values)), line)
        return values.reshape(shape)

    def peek(self, ahead: int, what: str) -> int:
        """Return how many numbers a later line has; at least one."""
        count = len(self._lines[self._next + ahead].split())
        if count == 0:
            raise self.fail(f"numbers ({what})", "an empty line", self._next + ahead)
        return count

    def norm(self, what: str, inputs: int, outputs: int, size: int) -> Norm:
        kernel = self.take(f"kernel of {what}", outputs, inputs, size, size)
        bias = self.take(f"bias of {what}", outputs)
        mean = self.take(f"means of {what}", outputs)
        variance = self.take(f"variances of {what}", outputs)
        if not (variance >= 0).all():
            raise self.fail(
                f"variances of at least 0 ({what})", str(variance.min()), self._next - 1
            )
        return Norm(kernel, bias, mean, variance)


def read_leela(path: str | os.PathLike[str]) -> LeelaWeights:
    """Read a weights file, whatever its name: gzip is known by its first bytes.

    Raises:
        ModelError: it cannot be read or is no such file; says where, what was expected and what
            was found.

    """
    file = Path(path)
    lines = _content(file).split(b"\n")
    while lines and not lines[-1].strip():
        lines.pop()
    reader = _Lines(file, lines)
    version = lines[0].strip() if lines else b""
    if version not in (b"1", b"2"):
        found = repr(version[:24].decode("ascii", "replace")) if lines else "an empty file"
        raise reader.fail("Leela Zero weights: a first line of '1' or '2'", found)
    blocks, rest = divmod(len(lines) - _LEAST_LINES, 8)
    if blocks < 0 or rest:
        raise reader.fail(f"{_LEAST_LINES} lines and 8 for each block", f"{len(lines)} lines")
    return _network(reader, int(version), blocks)


def _content(file: Path) -> bytes:
    try:
        data = file.read_bytes()
    except OSError as error:
        raise ModelError(f"{file} cannot be read: {error.strerror or error}") from error
    if not data.startswith(_GZIP):
        return data
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise ModelError(f"{file}: expected a whole gzip file, found damage: {error}") from error


def _network(reader: _Lines, version: int, blocks: int) -> LeelaWeights:
    channels = reader.peek(1, "bias of the input convolution")
    stem = reader.norm("the input convolution", PLANES, channels, 3)
    tower = []
    for number in range(1, blocks + 1):
        first, second = (
            reader.norm(f"block {number}, convolution {half}", channels, channels, 3)
            for half in (1, 2)
        )
        tower.append((first, second))
    planes = reader.peek(1, "bias of the policy convolution")
    policy = reader.norm("the policy convolution", channels, planes, 1)
    actions = reader.peek(1, "bias of the policy")
    points = actions - 1
    if points < 1 or math.isqrt(points) ** 2 != points:
        raise reader.fail("a policy of n x n + 1 moves", str(actions), reader._next + 1)
    policy_out = reader.take("policy", actions, planes * points), reader.take("policy", actions)
    planes = reader.peek(1, "bias of the value convolution")
    value = reader.norm("the value convolution", channels, planes, 1)
    hidden = reader.peek(1, "bias of the value's hidden layer")
    layers = (
        (
            reader.take("value's hidden layer", hidden, planes * points),
            reader.take("bias of the value's hidden layer", hidden),
        ),
        (reader.take("value", 1, hidden), reader.take("bias of the value", 1)),
    )
    return LeelaWeights(version, stem, tuple(tower), policy, policy_out, value, *layers)


def write_leela(weights: LeelaWeights, path: str | os.PathLike[str]) -> None:
    """Write a weights file, compressed when its name ends in ``.gz``; whole or not at all.

    Numbers have 6 significant digits. The same weights give the same bytes.
    """
    file = Path(path)
    text = "\n".join([str(weights.version), *(_line(tensor) for tensor in weights.tensors())])
    data = (text + "\n").encode("ascii")
    if file.suffix == ".gz":
        data = gzip.compress(data, compresslevel=6, mtime=0)
    part = file.with_name(file.name + ".part")
    try:
        part.write_bytes(data)
        part.replace(file)
    finally:
        part.unlink(missing_ok=True)


def _line(tensor: npt.NDArray[Any]) -> str:
    return " ".join([f"{value:.6g}" for value in tensor.ravel().tolist()])
