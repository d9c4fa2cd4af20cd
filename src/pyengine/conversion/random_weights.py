"""Leela Zero networks of random weights, for measuring speed where strength does not matter.

Every normalisation is measured on positions of random games, as training would leave it: no layer
is dead or saturated, the policy prefers some moves, and both outputs depend on the position.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from pyengine.base.integers import integer
from pyengine.conversion.leela import PLANES, LeelaWeights, Norm
from pyengine.eval.spec import ModelSpec
from pyengine.games.game import load_game

Floats = npt.NDArray[np.float32]

_POSITIONS = 24  # that the normalisations are measured on
_BRANCH = 0.5  # deviation of what a block adds, so that deep towers do not grow
_SHIFT = 0.2  # deviation of a normalised channel's mean
_LOGIT = 2.0  # deviation of a move's logit from position to position
_TASTE = 0.5  # deviation of a move's mean logit
_VALUE = 0.5  # deviation of the value before its tanh
_POLICY_PLANES, _VALUE_PLANES, _VALUE_HIDDEN = 2, 1, 256  # as Leela Zero has them


def random_leela(
    blocks: int, channels: int, *, seed: int = 0, board_size: int = 19
) -> LeelaWeights:
    """Return a network of random weights; the same arguments give the same network.

    Args:
        blocks: residual blocks, 0 to 100.
        channels: filters, 1 to 1024.
        seed: at least 0.
        board_size: 2 to 19. Leela Zero itself reads 19.

    Raises:
        ConfigError: an argument is out of range.

    """
    for name, given, least, most in (
        ("blocks", blocks, 0, 100),
        ("channels", channels, 1, 1024),
        ("seed", seed, 0, 2**63),
        ("board_size", board_size, 2, 19),
    ):
        integer(name, given, least, most)
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
    policy_out, _ = _linear(rng, moves, board_size * board_size + 1, _LOGIT, _TASTE)
    hidden, evaluated = _linear(rng, evaluated, _VALUE_HIDDEN, 1.0, _SHIFT)
    value_out, _ = _linear(rng, evaluated, 1, _VALUE, 0.0)
    return LeelaWeights(1, stem, tuple(tower), policy, policy_out, value, hidden, value_out)


def _positions(rng: np.random.Generator, size: int) -> Floats:
    """Return planes float32[n,18,S,S] of random games at random plies."""
    game = load_game("go", board_size=size)
    spec = ModelSpec.leela_zero(game)
    planes = np.empty((_POSITIONS, PLANES, size, size), np.float32)
    for row in planes:
        state = game.new_initial_state()
        for _ in range(int(rng.integers(size, size * size * 2 // 3 + size))):
            legal = state.legal_actions()
            # Passing is rare: two passes end the game.
            action = int(rng.choice(legal[:-1])) if len(legal) > 1 else legal[0]
            state.apply_action(action)
            if state.is_terminal():
                state = game.new_initial_state()
        row[:] = state.observation_tensor(spec)
    return planes


def _rounded(values: npt.NDArray[np.floating], digits: int) -> Floats:
    """Round to significant digits; few for what is measured, so that all machines agree."""
    text = [f"{value:.{digits}g}" for value in values.ravel().tolist()]
    return np.array(text, np.float64).astype(np.float32).reshape(values.shape)


def _normed(
    rng: np.random.Generator, x: Floats, outputs: int, size: int, deviation: float
) -> tuple[Norm, Floats]:
    """Return a random convolution whose outputs have this deviation on ``x``, and its outputs."""
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
    """Return the convolution [n,outputs,S,S] of [n,inputs,S,S] that keeps the board's shape."""
    outputs, inputs, size, _ = kernel.shape
    pad = size // 2
    padded = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (size, size), (2, 3))
    # [n,inputs,S,S,size,size] to one row a point
    rows = windows.transpose(0, 2, 3, 1, 4, 5).reshape(-1, inputs * size * size)
    y = rows @ kernel.reshape(outputs, -1).T
    return np.ascontiguousarray(y.reshape(len(x), *x.shape[2:], outputs).transpose(0, 3, 1, 2))


def _linear(
    rng: np.random.Generator, x: Floats, outputs: int, deviation: float, shift: float
) -> tuple[tuple[Floats, Floats], Floats]:
    """Return a layer on ``relu(x)`` whose outputs vary by ``deviation`` over the positions."""
    flat = np.maximum(x, 0).reshape(len(x), -1)
    matrix = rng.normal(0, 1, (outputs, flat.shape[1]))
    y = flat @ matrix.T
    factor = np.array(deviation / max(float(y.std(axis=0).mean()), 1e-6))
    scale = float(_rounded(factor, 3))
    weights = _rounded(matrix * scale, 6)
    bias = _rounded(rng.normal(0, 1, outputs) * shift - y.mean(axis=0) * scale, 3)
    return (weights, bias), flat @ weights.T + bias
