"""Leela Zero network weights, version 1 and 2: reading, writing, ONNX, random networks.

The text format has one tensor per line, numbers separated by spaces, and may be compressed by gzip.
The first line is the version: the value is for the player to move in version 1, for Black in
version 2. Then four lines per convolution (kernel, bias, and the mean and variance of the batch
normalisation, whose scale and shift are folded into the others): the input convolution, two per
residual block, and those of the heads, among their linear layers.
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

from pyengine.base.checks import check_type, integer
from pyengine.base.extras import need
from pyengine.base.files import path_of, replacing, unread
from pyengine.conversion.onnx_graph import FLOAT, GraphBuilder, save_model
from pyengine.errors import EngineError, ModelError
from pyengine.eval.spec import METADATA_KEY, ModelSpec
from pyengine.games.game import load_game

Floats: TypeAlias = npt.NDArray[np.float32]

PLANES = 18
EPSILON = 1e-5  #: added to variances, as in Leela Zero
_HEAD_LINES = 14
_LEAST_LINES = 1 + 4 + _HEAD_LINES
_GZIP = b"\x1f\x8b"

# Limits of a file. The largest trained networks have 40 blocks of 256 channels on 19x19.
MOST_BLOCKS = 100
MOST_CHANNELS = 1024
_MOST_LINES = _LEAST_LINES + 8 * MOST_BLOCKS
_MOST_NUMBERS = 9 * MOST_CHANNELS**2  # per line
_MOST_BYTES = 32 * _MOST_NUMBERS  # per line; a double takes at most 25

_OPSET = 17
_IR_VERSION = 8  # supported by ONNX Runtime 1.20 and older

# Random networks.
_POSITIONS = 24  # on which the normalisations are measured
_BRANCH = 0.5  # deviation of a block's contribution; keeps activations from growing in deep towers
_SHIFT = 0.2  # deviation of a normalised channel's mean
_LOGIT = 2.0  # deviation of a move's logit across positions
_MEAN_LOGIT = 0.5  # deviation of a move's mean logit
_VALUE = 0.5  # deviation of the value before its tanh
_POLICY_PLANES, _VALUE_PLANES, _VALUE_HIDDEN = 2, 1, 256  # as in Leela Zero


@dataclass(frozen=True)
class Norm:
    """A convolution followed by batch normalisation: ``(conv(x) + bias - mean) / deviation``.

    The kernel is float32[outputs, inputs, size, size], the others are float32[outputs]; the
    deviation is ``sqrt(variance + EPSILON)``.
    """

    kernel: Floats
    bias: Floats
    mean: Floats
    variance: Floats

    def folded(self) -> tuple[Floats, Floats]:
        """Return kernel and bias of the equivalent single convolution."""
        scale = 1.0 / np.sqrt(self.variance.astype(np.float64) + EPSILON)
        kernel = self.kernel * scale[:, None, None, None]
        bias = (self.bias.astype(np.float64) - self.mean) * scale
        return kernel.astype(np.float32), bias.astype(np.float32)


@dataclass(frozen=True)
class LeelaWeights:
    """A residual network with a policy and a value head; ``N`` points, ``A = N + 1`` actions.

    Attributes:
        version: 1 if the value is for the player to move, 2 if it is for Black.
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
        """Channels of the residual tower."""
        return len(self.stem.bias)

    @property
    def board_size(self) -> int:
        """Rows of the square board."""
        return math.isqrt(len(self.policy_out[1]) - 1)

    def tensors(self) -> Iterator[Floats]:
        """Yield all tensors in the order of the file's lines."""
        tower = [norm for block in self.blocks for norm in block]
        for norm in (self.stem, *tower, self.policy, self.value):
            if norm is self.value:
                yield from self.policy_out
            yield from (norm.kernel, norm.bias, norm.mean, norm.variance)
        yield from self.value_hidden
        yield from self.value_out


def read_leela(path: str | os.PathLike[str]) -> LeelaWeights:
    """Read a weights file, plain or gzip, of at most 100 blocks of 1024 channels.

    Raises ModelError, with the line, if it cannot be read or is invalid.
    """
    file = path_of("path", path)
    try:
        with file.open("rb") as raw:
            packed = raw.peek(len(_GZIP)).startswith(_GZIP)
            with gzip.open(raw) if packed else raw as stream:
                version, lines = _read_lines(file, stream)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise ModelError(f"{file}: the gzip file is damaged: {error}") from error
    except OSError as error:
        raise ModelError(unread(file, error)) from error
    return _Parser(file, lines).weights(version)


def _read_lines(file: Path, stream: BufferedIOBase) -> tuple[int, list[Floats]]:
    """Return the version and the numbers of each following line."""
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
                raise ValueError(
                    f"expected at most {MOST_BLOCKS} blocks of {MOST_CHANNELS} channels"
                )
            wide = np.fromiter(map(float, line.split()), np.float64)
            with np.errstate(over="ignore"):  # too large for float32 becomes infinite
                values = wide.astype(np.float32)
            if not np.isfinite(values).all():
                raise ValueError("expected finite float32 numbers")
        except ValueError as error:
            raise ModelError(f"{file}, line {number}: {error}") from None
        lines.append(values)
    blocks, rest = divmod(len(lines) + 1 - _LEAST_LINES, 8)
    if blocks < 0 or rest or stream.read(1024).strip():
        expected = f"expected {_LEAST_LINES} lines and 8 per block"
        raise ModelError(f"{file}: {expected}, got {len(lines) + 1} lines")
    return int(first), lines


@dataclass
class _Parser:
    """Consumes the lines of a file as the tensors of a network."""

    file: Path
    lines: list[Floats]
    next: int = 0

    def weights(self, version: int) -> LeelaWeights:
        blocks = (len(self.lines) + 1 - _LEAST_LINES) // 8
        stem = self.norm(PLANES, 3)
        channels = len(stem.bias)
        tower = tuple((self.norm(channels, 3), self.norm(channels, 3)) for _ in range(blocks))
        policy = self.norm(channels, 1)
        points = len(self.lines[self.next + 1]) - 1
        policy_out = self.linear(len(policy.bias) * points)
        if points < 1 or math.isqrt(points) ** 2 != points:
            raise self.error("n x n + 1 moves", points + 1)
        value = self.norm(channels, 1)
        hidden = self.linear(len(value.bias) * points)
        out = self.linear(len(hidden[1]))
        if len(out[1]) != 1:
            raise self.error("1 value", len(out[1]))
        return LeelaWeights(version, stem, tower, policy, policy_out, value, hidden, out)

    def norm(self, inputs: int, size: int) -> Norm:
        outputs = len(self.lines[self.next + 1])
        kernel = self.tensor(outputs, inputs, size, size)
        bias, mean, variance = (self.tensor(outputs) for _ in range(3))
        if variance.min() < 0:
            raise self.error("variances of at least 0", variance.min())
        return Norm(kernel, bias, mean, variance)

    def linear(self, inputs: int) -> tuple[Floats, Floats]:
        outputs = len(self.lines[self.next + 1])
        return self.tensor(outputs, inputs), self.tensor(outputs)

    def tensor(self, *shape: int) -> Floats:
        values = self.lines[self.next]
        self.next += 1
        if len(values) != math.prod(shape):
            raise self.error(f"{' x '.join(map(str, shape))} numbers", len(values))
        return values.reshape(shape)

    def error(self, expected: str, got: object) -> ModelError:
        line = self.next + 1  # of the tensor just read
        return ModelError(f"{self.file}, line {line}: expected {expected}, got {got}")


def write_leela(weights: LeelaWeights, path: str | os.PathLike[str]) -> None:
    """Write a weights file atomically, compressed if its name ends in ``.gz``.

    Numbers have 6 significant digits; equal weights give equal bytes. Raises DataError.
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


# --- ONNX


def leela_spec(weights: LeelaWeights) -> ModelSpec:
    """Return the spec of a network: 18 planes, bottom row first.

    Raises ModelError if the engine has no Go board of that size.
    """
    check_type("weights", weights, LeelaWeights, "LeelaWeights")
    size = weights.board_size
    try:
        game = load_game("go", board_size=size)
    except EngineError as error:
        raise ModelError(f"the weights are for a {size}x{size} board: {error}") from error
    return ModelSpec.leela_zero(game).replace(
        value_for="first_player" if weights.version == 2 else "mover"
    )


def leela_to_onnx(weights: LeelaWeights, path: str | os.PathLike[str]) -> ModelSpec:
    """Write an ONNX file that holds the spec as metadata, and return the spec.

    ``planes`` float32[N,18,S,S] give ``policy`` logits [N,A] and ``value`` [N,1]. Batch
    normalisation is folded into the convolutions.

    Raises:
        EngineError: the package onnx is not installed.
        ModelError: the engine has no Go board of that size.
        DataError: the file cannot be written.

    """
    onnx = need("onnx", "convert")
    spec, size = leela_spec(weights), weights.board_size

    def tensor(name: str, *shape: int) -> Any:
        return onnx.helper.make_tensor_value_info(name, FLOAT, ["N", *shape])

    graph = onnx.GraphProto(
        name="leela_zero",
        input=[tensor("planes", PLANES, size, size)],
        output=[tensor("policy", size * size + 1), tensor("value", 1)],
    )
    _Layers(graph).add_network(weights)
    opset = onnx.helper.make_opsetid("", _OPSET)
    model = onnx.helper.make_model(graph, producer_name="pyengine", opset_imports=[opset])
    model.ir_version = _IR_VERSION
    onnx.helper.set_model_props(model, {METADATA_KEY: spec.to_json()})
    onnx.checker.check_model(model)
    save_model(model, path_of("path", path))
    return spec


class _Layers(GraphBuilder):
    """Appends whole layers to a graph; each method returns the name of the output."""

    def add_network(self, weights: LeelaWeights) -> None:
        x = self.relu(self.conv("planes", weights.stem, "stem.conv"), "stem")
        for number, (first, second) in enumerate(weights.blocks):
            name = f"block{number}"
            inner = self.relu(self.conv(x, first, f"{name}.first.conv"), f"{name}.first")
            inner = self.conv(inner, second, f"{name}.second.conv")
            x = self.relu(self.node("Add", inner, x, output=f"{name}.sum"), name)
        moves = self.relu(self.conv(x, weights.policy, "policy.conv"), "policy.planes")
        moves = self.node("Flatten", moves, output="policy.flat")
        self.linear(moves, weights.policy_out, "policy")
        value = self.relu(self.conv(x, weights.value, "value.conv"), "value.planes")
        value = self.node("Flatten", value, output="value.flat")
        value = self.relu(self.linear(value, weights.value_hidden, "value.sum"), "value.hidden")
        self.node("Tanh", self.linear(value, weights.value_out, "value.raw"), output="value")

    def conv(self, x: str, norm: Norm, output: str) -> str:
        kernel, bias = norm.folded()
        size = kernel.shape[-1]
        names = self.weight(kernel, f"{output}.w"), self.weight(bias, f"{output}.b")
        pads = [size // 2] * 4
        return self.node("Conv", x, *names, output=output, kernel_shape=[size, size], pads=pads)

    def relu(self, x: str, output: str) -> str:
        return self.node("Relu", x, output=output)

    def linear(self, x: str, layer: tuple[Floats, Floats], output: str) -> str:
        names = [self.weight(t, f"{output}.{part}") for part, t in zip("wb", layer, strict=True)]
        return self.node("Gemm", x, *names, output=output, transB=1)


# --- random networks


def random_leela(
    blocks: int, channels: int, *, seed: int = 0, board_size: int = 19
) -> LeelaWeights:
    """Return a network of random weights, for speed measurements.

    Normalisations are measured on positions of random games, as if trained: no layer is dead or
    saturated, the policy prefers some moves, and both outputs depend on the position. The same
    arguments give the same network.

    Args:
        blocks: residual blocks, 0 to 100.
        channels: 1 to 1024.
        seed: at least 0.
        board_size: 2 to 19; Leela Zero itself reads only 19.

    Raises ConfigError if an argument is out of range.
    """
    for name, argument, least, most in (
        ("blocks", blocks, 0, MOST_BLOCKS),
        ("channels", channels, 1, MOST_CHANNELS),
        ("seed", seed, 0, 2**63),
        ("board_size", board_size, 2, 19),
    ):
        integer(name, argument, least, most)
    rng = np.random.default_rng((seed, blocks, channels, board_size))
    stem, x = _normed(rng, _positions(rng, board_size), channels, 3, 1.0)
    x = np.maximum(x, 0)
    tower = []
    for _ in range(blocks):
        first, inner = _normed(rng, x, channels, 3, 1.0)
        second, inner = _normed(rng, np.maximum(inner, 0), channels, 3, _BRANCH)
        x = np.maximum(x + inner, 0)
        tower.append((first, second))
    policy, moves = _normed(rng, x, _POLICY_PLANES, 1, 1.0)
    value, evaluated = _normed(rng, x, _VALUE_PLANES, 1, 1.0)
    policy_out, _ = _linear(rng, moves, board_size * board_size + 1, _LOGIT, _MEAN_LOGIT)
    hidden, evaluated = _linear(rng, evaluated, _VALUE_HIDDEN, 1.0, _SHIFT)
    value_out, _ = _linear(rng, evaluated, 1, _VALUE, 0.0)
    return LeelaWeights(1, stem, tuple(tower), policy, policy_out, value, hidden, value_out)


def _positions(rng: np.random.Generator, size: int) -> Floats:
    """Return planes float32[n,18,S,S] at random plies of random games."""
    game = load_game("go", board_size=size)
    spec = ModelSpec.leela_zero(game)
    planes = np.empty((_POSITIONS, PLANES, size, size), np.float32)
    for row in planes:
        state = game.new_initial_state()
        for _ in range(int(rng.integers(size, size * size * 2 // 3 + size))):
            legal = state.legal_actions()
            # Pass only if there is no other move: two passes end the game.
            action = int(rng.choice(legal[:-1])) if len(legal) > 1 else legal[0]
            state.apply_action(action)
            if state.is_terminal():
                state = game.new_initial_state()
        row[:] = state.observation_tensor(spec)
    return planes


def _rounded(values: npt.NDArray[np.floating], digits: int) -> Floats:
    """Round to significant digits; few for measured numbers, so that all machines agree."""
    text = [f"{value:.{digits}g}" for value in values.ravel().tolist()]
    return np.array(text, np.float64).astype(np.float32).reshape(values.shape)


def _normed(
    rng: np.random.Generator, x: Floats, outputs: int, size: int, deviation: float
) -> tuple[Norm, Floats]:
    """Return a random convolution and its outputs on ``x``, which have the given deviation."""
    fan_in = x.shape[1] * size * size
    shape = (outputs, x.shape[1], size, size)
    kernel = _rounded(rng.normal(0, np.sqrt(2 / fan_in), shape), 6)
    y = _conv(x, kernel)
    mean = _rounded(y.mean(axis=(0, 2, 3)), 3)
    spread = np.maximum(y.std(axis=(0, 2, 3)), 1e-3) / deviation
    variance = _rounded(spread * spread, 3)
    bias = _rounded(np.sqrt(variance) * rng.normal(0, _SHIFT, outputs) * deviation, 6)
    norm = Norm(kernel, bias, mean, variance)
    folded, shift = norm.folded()
    return norm, _conv(x, folded) + shift[:, None, None]


def _conv(x: Floats, kernel: Floats) -> Floats:
    """Convolve [n,inputs,S,S] to [n,outputs,S,S] with zero padding."""
    outputs, inputs, size, _ = kernel.shape
    pad = size // 2
    padded = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (size, size), (2, 3))
    # [n,inputs,S,S,size,size] to one row per point
    rows = windows.transpose(0, 2, 3, 1, 4, 5).reshape(-1, inputs * size * size)
    y = rows @ kernel.reshape(outputs, -1).T
    return np.ascontiguousarray(y.reshape(len(x), *x.shape[2:], outputs).transpose(0, 3, 1, 2))


def _linear(
    rng: np.random.Generator, x: Floats, outputs: int, deviation: float, shift: float
) -> tuple[tuple[Floats, Floats], Floats]:
    """Return a linear layer and its outputs on ``relu(x)``, which vary by ``deviation``."""
    flat = np.maximum(x, 0).reshape(len(x), -1)
    matrix = rng.normal(0, 1, (outputs, flat.shape[1]))
    y = flat @ matrix.T
    factor = np.array(deviation / max(float(y.std(axis=0).mean()), 1e-6))
    scale = float(_rounded(factor, 3))
    weights = _rounded(matrix * scale, 6)
    bias = _rounded(rng.normal(0, 1, outputs) * shift - y.mean(axis=0) * scale, 3)
    return (weights, bias), flat @ weights.T + bias
