"""The fast rollout policy of Go: its weights, their file, what it would play."""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pyengine import _core
from pyengine.base.arguments import check_type, in_one_line
from pyengine.base.files import check_output, path_of, read_limited, unwritten, why, write_durably
from pyengine.errors import ConfigError, DataError, ModelError
from pyengine.games.game import State, as_game

__all__ = ["PATTERNS", "RolloutPolicy"]

#: 3x3 patterns: eight points with four states each.
PATTERNS = 1 << 16

_FORMAT, _VERSION = "pyengine.rollout_policy", 1
_TABLES = ("pattern", "response", "features")
_MEMBERS = ("format", "version", "names", *_TABLES)
_MOST_BYTES = 1 << 24  # of a file's content; two tables of patterns have 2^19

Floats = npt.NDArray[np.float32]


class RolloutPolicy:
    """A linear softmax over patterns and tactics of Go, for playouts on boards of any size.

    The probability of a move is ``exp(w) / sum exp(w)`` over the moves, where ``w`` is the sum of
    the weights of its features; AlphaGo's rollout policy was such a one [Silver et al. 2016]. It
    never fills an eye of its own, plays no suicide, and passes where there is no other move.
    Of superko it knows simple ko alone.

    A pattern is the number ``sum of s[i] * 4**i`` over the eight points around a move, row by row
    from the top left; ``s`` is 0 for an empty point, 1 for a stone of the player to move, 2 for one
    of the opponent, 3 off the board. :func:`pyengine.train.rollout_policy` learns the weights from
    games; it gives the eight turned and mirrored forms of a pattern one weight.

    Features:
        capture_stone: takes one stone.
        capture_chain: takes several.
        atari: leaves a chain of the opponent one liberty of two.
        escape: the last liberty of an own chain, which then has two or takes something.
        self_atari_stone: a stone without own ones beside it, with one liberty; takes nothing.
        self_atari_chain: the same with own stones beside it.
        distance_2: beside the last move; ``d = dx + dy + max(dx, dy)`` is 2.
        distance_3: diagonal to the last move.
        distance_4: two points from the last move, on its line.
        extend: the last liberty of an own chain beside the last move.
        rescue: takes a chain that touches such a chain.
        retake: takes the chain of the last move.

    Args:
        pattern: 65,536 weights, by the pattern's number.
        response: 65,536 weights more, which count at distances 2 and 3.
        features: a weight for each name above; 0 for one that is left out.

    Raises:
        ModelError: a table has another size, a name is unknown, a weight is not finite.

    Example:
        >>> import numpy as np, pyengine
        >>> none = np.zeros(65536, np.float32)
        >>> policy = pyengine.RolloutPolicy(none, none, {"capture_stone": 2.0, "distance_2": 1.0})
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
        """Check and copy the weights."""
        check_type("features", features, Mapping, "a dict of weights by name")
        unknown = sorted(set(map(str, features)) - set(self.FEATURES))
        if unknown:
            raise ModelError(
                f"rollout policy: expected features of {', '.join(self.FEATURES)}, found {unknown}"
            )
        self.pattern = _table("pattern", pattern, PATTERNS)
        self.response = _table("response", response, PATTERNS)
        weights = [features.get(name, 0.0) for name in self.FEATURES]
        own = _table("features", weights, len(self.FEATURES))
        self.features = dict(zip(self.FEATURES, own.tolist(), strict=True))
        self._native = _core.RolloutPolicy(self.pattern, self.response, own)

    def __reduce__(self) -> tuple[type[RolloutPolicy], tuple[Any, ...]]:
        """Pickle and copy by the weights."""
        return type(self), (self.pattern, self.response, self.features)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> RolloutPolicy:
        """Read a file of :meth:`save`.

        Raises ModelError for one that is missing, damaged or of another version; says what was
        expected and what was found.
        """
        file = path_of("path", path)
        try:
            return cls._of(_members(file))
        except Exception as error:  # of damaged files zipfile and NumPy raise nearly anything
            raise ModelError(
                f"{file}: expected a rollout policy, found {_what_is_wrong(error)}; "
                "pyengine.train.rollout_policy() and pyengine train --rollout-policy make one"
            ) from error

    @classmethod
    def _of(cls, members: Mapping[str, npt.NDArray[Any]]) -> RolloutPolicy:
        kind, version = str(members["format"]), members["version"]
        if kind != _FORMAT:
            raise _DamagedError(f"format {kind!r} instead of {_FORMAT!r}")
        if version.shape != () or version != _VERSION:
            raise _DamagedError(f"version {version.tolist()!r} instead of {_VERSION}")
        names = members["names"].ravel().tolist()
        if sorted(map(str, names)) != sorted(cls.FEATURES):
            raise _DamagedError(f"features {names} instead of {list(cls.FEATURES)}")
        for name, size in (*((n, PATTERNS) for n in _TABLES[:2]), ("features", len(names))):
            table = members[name]
            if table.dtype != np.float32 or table.shape != (size,):
                raise _DamagedError(f"{name} {table.dtype}{list(table.shape)}, not float32[{size}]")
        features = dict(zip(names, members["features"].tolist(), strict=True))
        return cls(members["pattern"], members["response"], features)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write an ``.npz`` file, which appears as a whole or not at all.

        It holds ``format``, ``version``, ``names`` (of the features) and the three tables in
        float32: ``pattern`` and ``response`` [65536], ``features`` [len(names)].

        Raises ConfigError where there can be no such file, DataError where it cannot be written.
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
        """Return what it would play.

        Args:
            states: N states of one game of Go.

        Returns:
            float32[N,A]: probabilities; zeros for a game that is over.

        Raises:
            ConfigError: no sequence of states of one game.
            ModelError: the game is not Go.

        """
        if isinstance(states, State) or not isinstance(states, Sequence):
            raise ConfigError(f"states must be a sequence of states, found {in_one_line(states)}")
        if not states:
            return np.zeros((0, 0), np.float32)
        if not isinstance(states[0], State):
            raise ConfigError(f"expected a State, found {type(states[0]).__name__}")
        return self._native.probabilities(as_game(states[0].game), states)

    @property
    def digest(self) -> str:
        """Sixteen hex digits that tell its weights from others."""
        content = hashlib.sha256()
        for table in (self.pattern, self.response, self._feature_weights()):
            content.update(np.ascontiguousarray(table, "<f4").tobytes())
        return content.hexdigest()[:16]

    @property
    def native(self) -> _core.RolloutPolicy:
        """What the engine knows it by."""
        return self._native

    def _feature_weights(self) -> Floats:
        return np.array([self.features[name] for name in self.FEATURES], np.float32)

    def __repr__(self) -> str:
        """Show the digest, so that a match's record tells one policy from another."""
        return f"RolloutPolicy({self.digest})"


class _DamagedError(ValueError):
    """What was found in a file; not for users."""


def _what_is_wrong(error: Exception) -> str:
    """What was found in the place of a file of a policy."""
    import zipfile

    match error:
        case FileNotFoundError() | NotADirectoryError():
            return "no file of that name"
        case IsADirectoryError():
            return "a folder"
        case OSError():
            return f"one that cannot be read ({why(error)})"
        case zipfile.BadZipFile():
            return f"a file of another format, or a damaged one ({error})"
        case _DamagedError() | ModelError():
            return f"{error!s:.400}"
    return f"a damaged file ({error!r:.400})"


def _table(name: str, weights: npt.ArrayLike, size: int) -> Floats:
    """A copy that nobody writes to. Raises ModelError."""
    try:
        with np.errstate(over="ignore"):
            table = np.array(weights, np.float32)
    except (TypeError, ValueError, OverflowError) as error:
        raise ModelError(f"rollout policy: {name} must be {size} numbers: {error}") from error
    if table.shape != (size,):
        raise ModelError(
            f"rollout policy: {name} must have {size} weights, found the shape {table.shape}"
        )
    wrong = np.flatnonzero(~np.isfinite(table))
    if len(wrong):
        at = int(wrong[0])
        raise ModelError(f"rollout policy: {name} must be finite, found {table[at]} at {at}")
    table.flags.writeable = False
    return table


def _members(file: Path) -> dict[str, npt.NDArray[Any]]:
    """The arrays of a file, of which none is large."""
    import zipfile

    content = read_limited(file)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        size = sum(info.file_size for info in archive.infolist())
        if size > _MOST_BYTES:
            raise _DamagedError(f"a content of {size} bytes instead of at most {_MOST_BYTES}")
    with np.load(io.BytesIO(content), allow_pickle=False) as archive:
        missing = [name for name in _MEMBERS if name not in archive]
        if missing:
            raise _DamagedError(f"a file without {', '.join(missing)}")
        return {name: archive[name] for name in _MEMBERS}
