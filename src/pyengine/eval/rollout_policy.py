"""The fast rollout policy of Go."""

from __future__ import annotations

import hashlib
import io
import os
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pyengine import _core
from pyengine.base.arrays import Floats
from pyengine.base.checks import check_type
from pyengine.base.files import (
    check_output,
    path_of,
    read_limited,
    unread,
    unwritten,
    write_durably,
)
from pyengine.errors import DataError, ModelError
from pyengine.eval.evaluator import game_of_states

_MAX_UNPACKED = 16 << 20  # bytes of the arrays in a file

#: 3x3 patterns: eight points with four states each.
PATTERNS = 1 << 16

_FORMAT, _VERSION = "pyengine.rollout_policy", 1


class RolloutPolicy:
    """A linear softmax over patterns and tactics of Go, for playouts on boards of any size.

    The probability of a move is ``exp(w) / sum exp(w)`` over all moves, where ``w`` is the sum of
    the weights of its features, as in AlphaGo's rollout policy [Silver et al. 2016]. The policy
    never fills its own eyes, never plays suicide, and passes only if it has no other move. It
    respects simple ko but not superko.

    A pattern is the number ``sum of s[i] * 4**i`` over the eight points around a move, row by row
    from the top left; ``s`` is 0 for an empty point, 1 for a stone of the player to move, 2 for a
    stone of the opponent, 3 off the board. :func:`pyengine.train.rollout_policy` learns the weights
    from games and gives the eight symmetric forms of a pattern one weight.

    Features:
        capture_stone: captures one stone.
        capture_chain: captures several stones.
        atari: leaves an opponent's chain of two liberties with one.
        escape: plays the last liberty of the player's own chain, which then has two liberties, or
            captures.
        self_atari_stone: a lone stone left with one liberty; captures nothing.
        self_atari_chain: the same, connected to stones of the player.
        distance_2: next to the last move: ``d = dx + dy + max(dx, dy)`` is 2.
        distance_3: diagonal to the last move.
        distance_4: two points from the last move in a straight line.
        extend: plays the last liberty of the player's own chain next to the last move.
        rescue: captures a chain that touches such a chain.
        retake: captures the chain of the last move.

    Args:
        pattern: 65,536 weights, indexed by pattern.
        response: 65,536 more weights, added at distances 2 and 3.
        features: weights by feature name; missing names count 0.

    Raises:
        ModelError: a table has the wrong size, a name is unknown, or a weight is not finite.

    Example:
        >>> import numpy as np, pyengine
        >>> from pyengine.eval import RolloutPolicy
        >>> none = np.zeros(65536, np.float32)
        >>> policy = RolloutPolicy(none, none, {"capture_stone": 2.0, "distance_2": 1.0})
        >>> state = pyengine.load_game("go(board_size=9)").new_initial_state([40])
        >>> policy.probabilities([state]).shape
        (1, 82)
        >>> evaluator = pyengine.RolloutEvaluator(policy=policy)
    """

    #: Names of the features, in the order of the file.
    FEATURES: tuple[str, ...] = tuple(_core.rollout_features())

    def __init__(
        self, pattern: npt.ArrayLike, response: npt.ArrayLike, features: Mapping[str, float]
    ) -> None:
        check_type("features", features, Mapping, "a dict of weights by name")
        unknown = sorted(set(map(str, features)) - set(self.FEATURES))
        if unknown:
            raise ModelError(
                f"rollout policy: expected features of {', '.join(self.FEATURES)}, got {unknown}"
            )
        self.pattern = _table("pattern", pattern)
        self.response = _table("response", response)
        table = _table("features", [features.get(name, 0.0) for name in self.FEATURES])
        self.features = dict(zip(self.FEATURES, table.tolist(), strict=True))
        self.native = _core.RolloutPolicy(self.pattern, self.response, table)

    def __reduce__(self) -> tuple[type[RolloutPolicy], tuple[Any, ...]]:
        """Pickle and copy by the weights."""
        return type(self), (self.pattern, self.response, self.features)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> RolloutPolicy:
        """Read a file written by :meth:`save`.

        Raises ModelError if it is missing, damaged or of another version.
        """
        file = path_of("path", path)
        try:
            return cls._from_arrays(_arrays(file))
        except Exception as error:  # a damaged file raises nearly anything in zipfile and NumPy
            reason = unread(file, error) if isinstance(error, OSError) else f"{error!s:.400}"
            raise ModelError(
                f"{file}: expected a rollout policy, got {reason}; "
                "pyengine.train.rollout_policy() and pyengine train --rollout-policy make one"
            ) from error

    @classmethod
    def _from_arrays(cls, members: Mapping[str, npt.NDArray[Any]]) -> RolloutPolicy:
        kind, version = str(members["format"]), members["version"].tolist()
        if (kind, version) != (_FORMAT, _VERSION):
            raise ModelError(f"{kind!r}, version {version!r}")
        features = dict(zip(members["names"].tolist(), members["features"].tolist(), strict=True))
        return cls(members["pattern"], members["response"], features)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write an ``.npz`` file atomically.

        It holds ``format``, ``version``, ``names`` (of the features) and three float32 tables:
        ``pattern`` and ``response`` [65536], ``features`` [len(names)].

        Raises ConfigError if the path is invalid, DataError if writing fails.
        """
        file = path_of("path", path)
        check_output(file)
        content = io.BytesIO()
        np.savez_compressed(
            content,
            format=np.array(_FORMAT),
            version=np.array(_VERSION),
            names=np.array(self.FEATURES),
            pattern=self.pattern,
            response=self.response,
            features=self._feature_weights(),
        )
        try:
            write_durably(file, [content.getvalue()])
        except OSError as error:
            raise DataError(unwritten(file, error)) from error

    def probabilities(self, states: Sequence[Any]) -> Floats:
        """Return the probability of each action, float32[N,A]; zeros if the game is over.

        Raises:
            ConfigError: not a sequence of states of one game.
            ModelError: the game is not Go.

        """
        game = game_of_states(states, None, "probabilities")
        if game is None:
            return np.zeros((0, 0), np.float32)
        return self.native.probabilities(game, states)

    @property
    def digest(self) -> str:
        """Sixteen hex digits that identify the weights."""
        content = hashlib.sha256()
        for table in (self.pattern, self.response, self._feature_weights()):
            content.update(np.ascontiguousarray(table, "<f4").tobytes())
        return content.hexdigest()[:16]

    def _feature_weights(self) -> Floats:
        return np.array([self.features[name] for name in self.FEATURES], np.float32)

    def __repr__(self) -> str:
        return f"RolloutPolicy({self.digest})"


def _table(name: str, weights: npt.ArrayLike) -> Floats:
    """Return a read-only float32 copy; the core checks its size and that all are finite."""
    try:
        with np.errstate(over="ignore"):
            table = np.array(weights, np.float32)
    except (TypeError, ValueError, OverflowError) as error:
        raise ModelError(f"rollout policy: {name}: {error}") from error
    if table.ndim != 1:
        raise ModelError(f"rollout policy: {name}: expected a vector, got the shape {table.shape}")
    table.flags.writeable = False
    return table


def _arrays(file: Path) -> dict[str, npt.NDArray[Any]]:
    content = io.BytesIO(read_limited(file))
    with zipfile.ZipFile(content) as files:
        if sum(member.file_size for member in files.infolist()) > _MAX_UNPACKED:
            raise ValueError(f"more than {_MAX_UNPACKED >> 20} MiB of arrays")
    with np.load(content, allow_pickle=False) as archive:
        return dict(archive)
