"""Positions of directories of shards, one at a time or in batches."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from pyengine.base.checks import (
    check_callback,
    check_flag,
    check_type,
    elements,
    integer,
    number,
    short_repr,
)
from pyengine.base.files import path_of
from pyengine.data.layout import Layout
from pyengine.data.loader import Row, Rows, drawn_for_loader
from pyengine.data.progress import OnProgress, tracked
from pyengine.data.shards import ShardMaps
from pyengine.data.targets import Targets
from pyengine.data.unpack import Batch, Unpacker
from pyengine.data.window import Piece, Source, View, Window
from pyengine.errors import ConfigError
from pyengine.eval.spec import ModelSpec

_Directory: TypeAlias = str | os.PathLike[str]
_Numbers: TypeAlias = npt.NDArray[np.int64]
_Symmetries: TypeAlias = npt.NDArray[np.uint8]

_MOST_ROWS = (1 << 31) - 1  # rows in a batch


class Dataset:
    """The positions of finished games, in the order in which they were written.

    Works as a map-style dataset for ``torch.utils.data.DataLoader`` with any number of workers: it
    can be pickled and opens its memory maps on first use. With ``augment`` each epoch of a
    DataLoader shows different symmetries. They come from PyTorch's random number generator, so
    ``torch.manual_seed`` makes them reproducible.

    A row is a dict of arrays. A batch is the same dict with a leading axis of rows:

    =================  ==================  ===================================================
    ``planes``         float32[C,H,W]      as in ``state.observation_tensor(spec)``
    ``policy``         float32[A]          fraction of the search's visits per action, or the
                                           improved policy of a Gumbel search; sums to 1, in the
                                           order of the network's policy
    ``value``          float32             outcome of the game for the player to move, -1 to 1
    ``root_value``     float32             value of the search for the player to move
    ``network_value``  float32             value of the evaluator before the search (0 for
                                           ``"uniform"``); NaN in human games
    ``game``, ``ply``  int64               number of the game; moves before the position
    ``full``           bool                whether the policy is a target: the search was full and
                                           is not a target for the value only
    ``decided``        bool                whether the value is a target: False if ``max_plies``
                                           cut the game short
    ``surprise``       float32             if recorded: KL(policy || priors) in nats, 0 if the
                                           policy is not a target
    ``reply``          float32[A]          with ``reply``: the policy of the game's next position
                                           if the opponent moved there, else 0
    ``replied``        bool                with ``reply``: whether ``reply`` is a target
    ``short_values``   float32[len(...)]   with ``horizons``: one value per horizon
    ``ownership``      float32[H,W]        with ``final_board``: 1 at the points of the player to
                                           move on the game's last board, -1 at the opponent's,
                                           else 0; oriented as the planes are
    ``score``          float32             with ``final_board``, in Go and Othello: the lead of the
                                           player to move on that board, in points
    ``ended``          bool                with ``final_board``: whether the game was played to its
                                           end; if not, ownership and score are 0 and not targets
    =================  ==================  ===================================================

    Args:
        directories: one directory, or several with the same game and spec.
        window: use only this many of the newest games, over all directories; or a sequence with
            one number (or None) per directory.
        full_only: leave out positions of fast searches, whose visits are not a policy target.
            Full searches that are targets for the value only stay, with ``full`` False.
        weights: relative probability of each directory when sampling. By default all rows are
            equally likely.
        augment: apply a random symmetry to each row of ``dataset[i]`` and of a DataLoader. For
            ``dataset[i]`` it depends only on ``seed``, the epoch (:meth:`set_epoch`) and the row,
            even if a DataLoader without workers reads single rows (``batch_size=None``,
            ``ConcatDataset``). ``batches`` and ``sample`` have a separate argument.
        seed: seed for the symmetries of ``dataset[i]``, at least 0.
        reply: add the opponent's reply: the policy of the search one ply later, even if that
            search was fast [KataGo: an auxiliary policy target].
        horizons: for each horizon, in plies (above 0), add a value to ``short_values``, for the
            player to move: the exponentially weighted mean of the root values from this search to
            the end of the game. The remaining weight goes to the outcome of the game, or to its
            last root value if it was cut short [KataGo: 6, 16 and 50 on 19x19].
        surprise_weight: fraction of the rows drawn by :meth:`sample` from a game that is
            proportional to how much each policy target surprised the network [KataGo: 0.5]. The
            data must record it (:attr:`SelfPlayConfig.record_surprise <pyengine.SelfPlayConfig>`);
            all of it is read.
        verify: check the SHA-256 of the files in the window, which reads all of them.
        final_board: add the game's last board, computed by replaying the recorded moves [KataGo:
            ownership and score]. In Go, points belong to players by area and the score includes
            komi. In other games, a point belongs to the player with a stone on it, and the score
            in Othello is the difference of discs. Games that ended by resignation or were cut short
            have no such target, nor do games with a recorded result that contradicts the last
            board.

    Raises:
        ConfigError: a directory has no manifest, or two have different games or specs; an argument
            is out of range; ``final_board`` for a game with a board unknown to the engine.
        DataError: the named manifest or shard in the window is damaged. Sizes are checked here,
            contents by :meth:`verify`. Shards outside the window may be missing.

    Example:
        >>> import pyengine
        >>> config = pyengine.SelfPlayConfig(search=pyengine.SearchConfig(simulations=20))
        >>> _ = pyengine.selfplay("tic_tac_toe", "uniform", games=8, out="data", config=config)
        >>> dataset = pyengine.Dataset("data")
        >>> dataset[0]["planes"].shape, dataset[0]["policy"].shape
        ((3, 3, 3), (9,))
        >>> batch = next(dataset.batches(32, seed=1))
        >>> batch["planes"].shape
        (32, 3, 3, 3)
    """

    def __init__(
        self,
        directories: _Directory | Sequence[_Directory],
        *,
        window: Window = None,
        full_only: bool = True,
        weights: Sequence[float] | None = None,
        augment: bool = False,
        seed: int = 0,
        reply: bool = False,
        horizons: Sequence[float] = (),
        surprise_weight: float = 0.0,
        verify: bool = False,
        final_board: bool = False,
    ) -> None:
        if not isinstance(directories, list | tuple):
            directories = [directories]  # type: ignore[list-item]
        paths = [path_of("directories", path) for path in directories]
        if not paths:
            raise ConfigError("directories: expected at least one directory")
        self._sources = [Source(path, number) for number, path in enumerate(paths)]
        self.layout = _common_layout(self._sources)
        self._window = _checked_window(window, len(paths))
        self._weights = _checked_weights(weights, len(paths))
        _check_flags(
            full_only=full_only,
            augment=augment,
            reply=reply,
            verify=verify,
            final_board=final_board,
        )
        self._maps = ShardMaps(self.layout)
        #: The horizons of ``short_values``.
        self.horizons = _checked_horizons(horizons)
        self._targets = Targets(
            self.layout,
            self._maps,
            reply=reply,
            horizons=self.horizons,
            surprise_weight=self._checked_surprise(surprise_weight),
            final_board=final_board,
        )
        self._full_only = full_only
        self._augment = augment
        self._seed = integer("seed", seed, 0)
        self._epoch = 0
        self._unpacker = Unpacker(self.layout)
        self._view = View(self._sources, self._window, full_only, None)
        if verify:
            self.verify()

    @property
    def spec(self) -> ModelSpec:
        """Encoding of the positions for a network."""
        return self.layout.spec

    @property
    def games(self) -> int:
        """Games in the window."""
        return self._view.games

    @property
    def pieces(self) -> Sequence[Piece]:
        """Shards in the window, possibly in part, oldest first within a directory."""
        return self._view.pieces

    @property
    def model_sha256(self) -> tuple[str, ...]:
        """SHA-256 of the networks that played, by directory and in order of use."""
        return tuple(sha for source in self._sources for sha in source.manifest.model_sha256)

    @property
    def configurations(self) -> tuple[dict[str, Any], ...]:
        """Search and self-play settings of each directory."""
        return tuple(source.manifest.configuration for source in self._sources)

    def __len__(self) -> int:
        return len(self._view)

    def __repr__(self) -> str:
        names = ", ".join(str(source.directory) for source in self._sources)
        return f"<Dataset of {names}: {len(self)} positions of {self.games} games>"

    def __getitem__(self, index: int) -> Row:
        """Return a row. Raises IndexError like a list."""
        number, length = operator.index(index), len(self)
        if not -length <= number < length:
            raise IndexError(f"index: expected an index into {length} rows, got {number}")
        row: Row = self._shown([number % length], in_batch=False)[0]
        return row

    def __getitems__(self, indices: Sequence[int]) -> Rows:
        """Return several rows for a DataLoader. Raises like :meth:`rows`.

        PyTorch's ``default_collate`` turns them into tensors without creating each row.
        """
        return self._shown(indices, in_batch=True)

    def set_epoch(self, epoch: int) -> None:
        """Change the symmetries of ``dataset[i]`` under ``augment``; not needed for a DataLoader.

        ``epoch``: at least 0. The same epoch always shows the same symmetries.
        """
        self._epoch = integer("epoch", epoch, 0)

    def rows(
        self,
        indices: npt.NDArray[np.integer[Any]],
        symmetries: _Symmetries | None = None,
    ) -> Batch:
        """Return the given rows as a batch.

        Args:
            indices: int[N], each in 0..len-1.
            symmetries: uint8[N], symmetries of the board; None applies no symmetry.

        A shard is mapped into memory on first use. Its size and header are checked then, its
        content only by :meth:`verify`. It may be deleted or replaced afterwards, but not truncated
        in place: reading past the new end kills the process (SIGBUS), as with any memory map.

        Raises:
            IndexError, TypeError: an index is out of range or not an integer.
            ConfigError: the number of symmetries is not N, or the board lacks one of them.
            DataError: the named shard is missing or damaged.

        """
        view = self._view
        numbers = _row_numbers(indices, len(view))
        if symmetries is not None:
            symmetries = _symmetry_numbers(symmetries, len(numbers), self.layout.symmetries)
        return self._batch(view, numbers, symmetries)

    def batches(
        self,
        size: int,
        shuffle: bool = True,
        seed: int = 0,
        augment: bool = True,
        drop_last: bool = False,
    ) -> Iterator[Batch]:
        """Yield an epoch: every row once in batches of ``size``; the last one may be smaller.

        With ``weights`` and ``shuffle``, the same number of rows is drawn with replacement.

        Args:
            size: rows in a batch.
            shuffle: use a random order instead of the order in which they were written.
            seed: the only source of randomness, at least 0. Use a different one for each epoch.
            augment: apply a random symmetry of the board to each row.
            drop_last: leave out a smaller last batch.

        """
        size = integer("size", size, 1)
        _check_flags(shuffle=shuffle, augment=augment, drop_last=drop_last)
        rng = np.random.default_rng(integer("seed", seed, 0))
        view = self._view
        if not shuffle or len(view) == 0:
            order = np.arange(len(view))
        elif self._weights is None:
            order = rng.permutation(len(view))
        else:
            order = view.draw(len(view), rng, self._weights)
        if drop_last:
            order = order[: len(order) - len(order) % size]
        return self._epoch_of(view, size, order, rng if augment else None)

    def sample(self, size: int, rng: np.random.Generator, augment: bool = True) -> Batch:
        """Return random rows, drawn with replacement.

        Args:
            size: rows in the batch, 0 to 2^31 - 1.
            rng: the only source of randomness.
            augment: apply a random symmetry of the board to each row.

        Raises ConfigError if the window is empty.
        """
        size = integer("size", size, 0, _MOST_ROWS)
        check_flag("augment", augment)
        check_type("rng", rng, np.random.Generator, "a numpy.random.Generator")
        view = self._view
        chances = self._targets.chances(view)
        numbers = view.draw(size, rng, self._weights, chances)
        return self._batch(view, numbers, self._drawn(size, rng if augment else None))

    def refresh(self) -> int:
        """Add the shards written since the last call; return the number of their positions.

        The window moves. A running epoch of :meth:`batches` is not affected. Any thread may call
        this while others read. Raises DataError.
        """
        return self._refreshed(self._window)

    def set_window(self, window: Window) -> int:
        """Change the window, and add new shards as :meth:`refresh` does.

        Reads only the shards that are new in the window.
        """
        return self._refreshed(_checked_window(window, len(self._sources)))

    def _refreshed(self, window: Window) -> int:
        sources = [Source(source.directory, source.number, source) for source in self._sources]
        added = sum(
            piece.shard.positions
            for new, old in zip(sources, self._sources, strict=True)
            for piece in new.pieces[len(old.pieces) :]
        )
        if added or window != self._window:
            self._view = View(sources, window, self._full_only, self._view)
            self._targets.keep([piece.path for piece in self._view.pieces])
        self._sources, self._window = sources, window
        return added

    def verify(self, on_progress: OnProgress | None = None) -> None:
        """Compare the SHA-256 of the files in the window with the manifest. Raises DataError.

        ``on_progress(done, total)`` counts shards; by default a terminal shows them.
        """
        check_callback("on_progress", on_progress)
        pieces = self.pieces
        for piece in tracked(pieces, len(pieces), "shards verified", on_progress):
            piece.verify()

    def _epoch_of(
        self,
        view: View,
        size: int,
        order: _Numbers,
        augment: np.random.Generator | None,
    ) -> Iterator[Batch]:
        for begin in range(0, len(order), size):
            numbers = order[begin : begin + size]
            yield self._batch(view, numbers, self._drawn(len(numbers), augment))

    def _batch(self, view: View, numbers: _Numbers, symmetries: _Symmetries | None) -> Batch:
        batch = self._unpacker.batch(view.records(numbers, self._maps), symmetries)
        batch |= self._targets.columns(view, numbers)
        if "reply" in batch:
            batch["replied"] = batch["reply"].sum(axis=1) > 0
            batch["reply"] = self._unpacker.shares(batch["reply"], symmetries)
        if "ownership" in batch:
            batch["ownership"] = self._unpacker.points(batch["ownership"], symmetries)
        return batch

    def _checked_surprise(self, weight: float) -> float:
        share = number("surprise_weight", weight, "a number in [0, 1]", lambda w: 0 <= w <= 1)
        if share > 0 and not self.layout.surprise:
            raise ConfigError(
                "surprise_weight: expected data that record surprise "
                f"(SelfPlayConfig.record_surprise), got {self._sources[0].directory}"
            )
        return share

    def _drawn(self, count: int, rng: np.random.Generator | None) -> _Symmetries | None:
        return None if rng is None else rng.integers(self.layout.symmetries, size=count, dtype="u1")

    def _shown(self, indices: Sequence[int], *, in_batch: bool) -> Rows:
        view = self._view
        numbers = _row_numbers(indices, len(view))
        symmetries = None
        if self._augment:
            count = self.layout.symmetries
            symmetries = drawn_for_loader(len(numbers), count, in_batch=in_batch)
            if symmetries is None:
                symmetries = self._symmetries_of(numbers)
        return Rows(self._batch(view, numbers, symmetries), len(numbers))

    def _symmetries_of(self, rows: _Numbers) -> _Symmetries:
        """Return symmetries that depend only on seed, epoch and row."""
        keys = [np.random.SeedSequence((self._seed, self._epoch, int(row))) for row in rows]
        numbers = np.array([key.generate_state(1)[0] for key in keys])
        return (numbers % self.layout.symmetries).astype(np.uint8)


def _check_flags(**flags: bool) -> None:
    for name, flag in flags.items():
        check_flag(name, flag)


def _common_layout(sources: Sequence[Source]) -> Layout:
    first = sources[0]
    for other in sources[1:]:
        difference = first.manifest.layout.difference(other.manifest.layout)
        if difference is not None:
            raise ConfigError(
                f"{other.directory} has another game or spec than {first.directory}: {difference}"
            )
    return first.manifest.layout


def _row_numbers(indices: Any, rows: int) -> _Numbers:
    array = np.asarray(indices)
    if array.ndim != 1 or (len(array) > 0 and array.dtype.kind not in "iu"):
        raise TypeError(f"indices: expected integers in one dimension, got {short_repr(indices)}")
    numbers = array.astype(np.int64)
    if len(numbers) > 0 and numbers.view(np.uint64).max() >= rows:  # also catches negative ones
        raise IndexError(
            f"indices: expected rows in 0..{rows - 1}, got {array.min()} to {array.max()}"
        )
    return numbers


def _symmetry_numbers(symmetries: Any, rows: int, count: int) -> _Symmetries:
    array = np.asarray(symmetries)
    fits = array.shape == (rows,) and (rows == 0 or array.dtype.kind in "iu")
    if not fits or (rows > 0 and not (array.min() >= 0 and array.max() < count)):
        raise ConfigError(
            f"symmetries: expected {rows} integers in 0..{count - 1}, got {short_repr(symmetries)}"
        )
    return array.astype(np.uint8)


def _checked_window(window: Window, directories: int) -> Window:
    if not isinstance(window, Sequence) or isinstance(window, str | bytes):
        return None if window is None else integer("window", window, 1)
    if len(window) != directories:
        raise ConfigError(f"window: expected one number or {directories}, got {short_repr(window)}")
    return tuple(None if games is None else integer("window", games, 1) for games in window)


def _checked_horizons(horizons: Sequence[float]) -> tuple[float, ...]:
    expected = "numbers of plies above 0"
    return tuple(
        number("horizons", horizon, expected, lambda plies: plies > 0)
        for horizon in elements("horizons", horizons, expected)
    )


def _checked_weights(weights: Sequence[float] | None, directories: int) -> list[float] | None:
    if weights is None:
        return None
    expected = f"{directories} non-negative numbers, not all of them 0"
    numbers = [
        number("weights", weight, expected, lambda weight: weight >= 0)
        for weight in elements("weights", weights, expected)
    ]
    if len(numbers) != directories or sum(numbers) <= 0:
        raise ConfigError(f"weights: expected {expected}, got {short_repr(weights)}")
    return numbers
