"""Dataset: the positions of one or several directories of shards, one by one or in batches."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from pyengine.base.arguments import check_callback, check_flag, found, number
from pyengine.base.files import path_of
from pyengine.base.integers import integer
from pyengine.data.arguments import (
    checked_horizons,
    checked_weights,
    checked_window,
    row_number,
    row_numbers,
    symmetry_numbers,
)
from pyengine.data.layout import Layout
from pyengine.data.loader import Row, Rows, drawn_for_loader
from pyengine.data.progress import OnProgress, tracked
from pyengine.data.shards import ShardMaps
from pyengine.data.source import Piece, Source
from pyengine.data.unpack import Batch, Unpacker
from pyengine.data.view import View, Window
from pyengine.data.worked_out import WorkedOut
from pyengine.errors import ConfigError
from pyengine.eval.spec import ModelSpec

__all__ = ["Dataset"]

_Directory: TypeAlias = str | os.PathLike[str]

_MOST_ROWS = (1 << 31) - 1  # of a batch


class Dataset:
    """The positions of finished games, directory by directory, each in the order of its writing.

    It is a map-style dataset of ``torch.utils.data.DataLoader``, with any number of workers: it
    pickles, and opens its memory maps when they are read first. With ``augment`` each epoch of a
    DataLoader shows other symmetries, without any call: they come from PyTorch's own random
    numbers, so ``torch.manual_seed`` makes them the same again.

    A row is a dict of arrays, a batch the same with the rows first:

    =================  ==================  ===================================================
    ``planes``         float32[C,H,W]      as ``state.observation_tensor(spec)`` has them
    ``policy``         float32[A]          shares of the search's visits, or the improved policy of
                                           a search by Gumbel; sum 1, in the order of the
                                           network's policy
    ``value``          float32             outcome of the game for the player to move, -1 to 1
    ``root_value``     float32             the search's value for the player to move
    ``network_value``  float32             what the network (or another evaluator: 0 of
                                           ``"uniform"``) evaluated before the search; NaN where
                                           nobody did, in games of people
    ``game``, ``ply``  int64               number of the game; moves before the position
    ``full``           bool                whether the policy is a target: the search was a full
                                           one, and did not teach the value alone
    ``decided``        bool                whether the value is a target: the game came to a
                                           result; False where ``max_plies`` cut it short
    ``surprise``       float32             where it is recorded: the divergence KL(policy || priors)
                                           in nats, 0 where the policy is no target
    ``reply``          float32[A]          with ``reply``: the policy of the game's next position,
                                           where the opponent moved; 0 where there is none
    ``replied``        bool                with ``reply``: whether there is one
    ``short_values``   float32[len(...)]   with ``horizons``: see there
    ``ownership``      float32[H,W]        with ``final_board``: 1 where a point of the game's last
                                           board is the player's to move, -1 where it is the
                                           opponent's, else 0; points as in the planes
    ``score``          float32             with ``final_board``, in Go and Othello: points by which
                                           the player to move is ahead on that board
    ``ended``          bool                with ``final_board``: whether the game was played to its
                                           end; else the two are 0 and no targets
    =================  ==================  ===================================================

    Args:
        directories: one, or several of the same game and spec.
        window: only the newest so many games, of all directories together; or one number (or
            None) a directory.
        full_only: leave out positions of fast searches, whose visits are no policy target. Full
            ones that teach the value alone stay, with ``full`` False.
        weights: one a directory: how often a sampled row is of it. Without them all rows are
            equally likely.
        augment: whether ``dataset[i]`` and a DataLoader show each row under a random symmetry.
            That of ``dataset[i]`` is a function of ``seed``, the epoch (:meth:`set_epoch`) and the
            row; so is a DataLoader's that has no workers and asks row by row
            (``batch_size=None``, ``ConcatDataset``), where it looks like anybody. ``batches`` and
            ``sample`` have their own argument.
        seed: of ``dataset[i]``, at least 0.
        reply: whether rows have the opponent's reply: the visits of the search one ply later, be
            it a fast one [KataGo: an auxiliary policy target].
        horizons: for each a value in ``short_values``, for the player to move: the mean of the
            root values of this search and the later ones of the game, exponentially weighted so
            that it looks so many plies ahead, numbers above 0; the outcome of the game (its last
            root value where it was cut short) has the weight that is left at its end [KataGo: 6,
            16 and 50 on Go's board of 19x19].
        final_board: whether rows have the game's last board, found by playing the recorded moves
            again [KataGo: ownership and score]. In Go a point is whose it is by area, and the score
            has the komi; in other games it is the player's whose stone is there, and the score of
            Othello is the difference of the discs. Games that were resigned or cut short have no
            such target, nor have those whose record tells another result than their last board.
        surprise_weight: share of what :meth:`sample` draws of a game that is drawn in proportion to
            how much each policy target surprised the network [KataGo: 0.5]; the rest, and
            positions without such a target, as without it. Needs data that record it
            (:attr:`SelfPlayConfig.record_surprise <pyengine.SelfPlayConfig>`), which are read as a
            whole then.
        verify: check the content of the window's files, which reads them all.

    Raises:
        ConfigError: a directory has no manifest, or two have different games or specs; an
            argument is out of range; ``final_board`` for a game whose board the engine does not
            know.
        DataError: a shard of the window or a manifest is damaged; says which. Sizes are checked
            here, contents by :meth:`verify`. Shards that are not in the window may be gone.

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
        """Open the directories."""
        given = directories if isinstance(directories, list | tuple) else [directories]
        paths = [path_of("directories", path) for path in given]
        if not paths:
            raise ConfigError("expected a directory of training data, found none")
        self._sources = [Source(path, number) for number, path in enumerate(paths)]
        self.layout = _common_layout(self._sources)
        self._window = checked_window(window, len(paths))
        self._weights = checked_weights(weights, len(paths))
        flags = {"full_only": full_only, "augment": augment, "reply": reply, "verify": verify}
        flags["final_board"] = final_board
        for name, flag in flags.items():
            check_flag(name, flag)
        self._worked_out = WorkedOut(
            self.layout,
            reply=reply,
            horizons=checked_horizons(horizons),
            surprise_weight=self._checked_surprise(surprise_weight),
            final_board=final_board,
        )
        self._full_only = full_only
        self._augment = augment
        self._seed = integer("seed", seed, 0)
        self._epoch = 0
        self._maps = ShardMaps()
        self._unpacker = Unpacker(self.layout)
        self._view = View(self._sources, self._window, full_only, None)
        if verify:
            self.verify()

    @property
    def spec(self) -> ModelSpec:
        """How a network reads the planes."""
        return self.layout.spec

    @property
    def horizons(self) -> tuple[float, ...]:
        """Of ``short_values``."""
        return self._worked_out.horizons

    @property
    def games(self) -> int:
        """Games in the window."""
        return self._view.games

    @property
    def pieces(self) -> Sequence[Piece]:
        """The shards of the window, or what it leaves of them, oldest first by directory."""
        return self._view.pieces

    @property
    def model_sha256(self) -> tuple[str, ...]:
        """The networks that played, by directory and in the order of their use."""
        return tuple(sha for source in self._sources for sha in source.manifest.model_sha256)

    @property
    def configurations(self) -> tuple[dict[str, Any], ...]:
        """Of search and self-play, one a directory."""
        return tuple(source.manifest.configuration for source in self._sources)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._view)

    def __repr__(self) -> str:
        """Return the directories and how much is in them."""
        names = ", ".join(str(source.directory) for source in self._sources)
        return f"<Dataset of {names}: {len(self)} positions of {self.games} games>"

    def __getitem__(self, index: int) -> Row:
        """Return a row. Raises IndexError, and TypeError for what is no whole number."""
        return self._shown([row_number(index, len(self))], in_batch=False)[0]

    def __getitems__(self, indices: Sequence[int]) -> Rows:
        """Return several rows at once, as a DataLoader asks. Raises as :meth:`rows`.

        PyTorch's ``default_collate`` makes tensors of their batch, without touching a row.
        """
        return self._shown(indices, in_batch=True)

    def set_epoch(self, epoch: int) -> None:
        """Have ``augment`` show ``dataset[i]`` in another way; a DataLoader needs no call.

        ``epoch``: any int of at least 0; the same epoch shows the same symmetries.
        """
        self._epoch = integer("epoch", epoch, 0)

    def rows(
        self,
        indices: npt.NDArray[np.integer[Any]],
        symmetries: npt.NDArray[np.uint8] | None = None,
    ) -> Batch:
        """Return a batch of some rows.

        Args:
            indices: int[N], each in 0..len-1.
            symmetries: uint8[N] of the board's symmetries; None = none.

        A shard is mapped into memory when a row of it is read first: its size and its header are
        checked then, its content by :meth:`verify` alone. It may be deleted or replaced by another
        file afterwards, but not cut short in its place: reading beyond its new end kills the
        process (SIGBUS), as with every memory map.

        Raises:
            IndexError, TypeError: an index is out of range, or no whole number.
            ConfigError: the symmetries are not as many as the rows, or not the board's.
            DataError: a shard that is mapped now is missing or damaged; says which.

        """
        view = self._view
        numbers = row_numbers(indices, len(view))
        if symmetries is not None:
            symmetries = symmetry_numbers(symmetries, len(numbers), self.layout.symmetries)
        return self._batch(view, numbers, symmetries)

    def batches(
        self,
        size: int,
        shuffle: bool = True,
        seed: int = 0,
        augment: bool = True,
        drop_last: bool = False,
    ) -> Iterator[Batch]:
        """Yield an epoch: every row once, ``size`` at a time, the last batch with what is left.

        With ``weights`` and ``shuffle`` an epoch is as many rows, drawn with replacement.

        Args:
            size: rows of a batch.
            shuffle: in random order; else as written.
            seed: the only source of randomness, at least 0: give each epoch another.
            augment: each row under a random symmetry of the board.
            drop_last: leave a smaller last batch out.

        Raises ConfigError for a size or seed out of range.

        """
        size = integer("size", size, 1)
        for name, flag in (("shuffle", shuffle), ("augment", augment), ("drop_last", drop_last)):
            check_flag(name, flag)
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
            size: rows of the batch, 0 to 2^31 - 1.
            rng: the only source of randomness.
            augment: each row under a random symmetry of the board.

        Raises ConfigError when there are none to draw from, or ``size`` is out of range.
        """
        size = integer("size", size, 0, _MOST_ROWS)
        check_flag("augment", augment)
        if not isinstance(rng, np.random.Generator):
            raise ConfigError(f"rng: expected a numpy.random.Generator, found {found(rng)}")
        view = self._view
        chances = self._worked_out.chances(view, self._maps)
        numbers = view.draw(size, rng, self._weights, chances)
        return self._batch(view, numbers, self._drawn(size, rng if augment else None))

    def refresh(self) -> int:
        """Take in the shards that were written since; the window moves on.

        An epoch of :meth:`batches` that has begun ends as it began. Any thread may call this while
        others read. Returns how many positions were added to the directories. Raises DataError.
        """
        return self._refreshed(self._window)

    def set_window(self, window: Window) -> int:
        """Let another window through, and take in the shards that were written since.

        Only what is new in the window is read. ``window`` and the rest as of the class and of
        :meth:`refresh`; raises ConfigError, too.
        """
        return self._refreshed(checked_window(window, len(self._sources)))

    def _refreshed(self, window: Window) -> int:
        sources = [source.newer() for source in self._sources]
        added = _positions(sources) - _positions(self._sources)
        if added or window != self._window:
            self._view = View(sources, window, self._full_only, self._view)
            self._worked_out.keep(piece.path for piece in self._view.pieces)
        self._sources, self._window = sources, window
        return added

    def verify(self, on_progress: OnProgress | None = None) -> None:
        """Compare the window's files with the manifest's SHA-256. Raises DataError for the first.

        Args:
            on_progress: called with shards done and all shards; without it a terminal shows them.

        """
        check_callback("on_progress", on_progress)
        pieces = self.pieces
        for piece in tracked(pieces, len(pieces), "shards verified", on_progress):
            piece.verify()

    def _epoch_of(
        self,
        view: View,
        size: int,
        order: npt.NDArray[np.int64],
        augment: np.random.Generator | None,
    ) -> Iterator[Batch]:
        for begin in range(0, len(order), size):
            numbers = order[begin : begin + size]
            yield self._batch(view, numbers, self._drawn(len(numbers), augment))

    def _batch(
        self,
        view: View,
        numbers: npt.NDArray[np.int64],
        symmetries: npt.NDArray[np.uint8] | None,
    ) -> Batch:
        batch = self._unpacker.batch(view.records(numbers, self.layout, self._maps), symmetries)
        if self._worked_out.reply:
            visits = self._worked_out.reply_visits(view, numbers, self._maps)
            batch["reply"] = self._unpacker.shares(visits, symmetries)
            batch["replied"] = visits.sum(axis=1) > 0
        if self._worked_out.horizons:
            batch["short_values"] = self._worked_out.values(view, numbers, self._maps)
        if self._worked_out.final_board:
            boards = self._worked_out.final_boards(view, numbers, self._maps)
            batch["ownership"] = self._unpacker.points(boards.owner, symmetries)
            if self._worked_out.scored:
                batch["score"] = boards.score
            batch["ended"] = boards.ended
        return batch

    def _checked_surprise(self, weight: float) -> float:
        share = number("surprise_weight", weight, "a number in [0, 1]", lambda w: 0 <= w <= 1)
        if share > 0 and not self.layout.surprise:
            raise ConfigError(
                "surprise_weight: expected data that record the surprise "
                f"(SelfPlayConfig.record_surprise), found none in {self._sources[0].directory}"
            )
        return share

    def _drawn(self, count: int, rng: np.random.Generator | None) -> npt.NDArray[np.uint8] | None:
        """Random symmetries; None without a generator."""
        return None if rng is None else rng.integers(self.layout.symmetries, size=count, dtype="u1")

    def _shown(self, indices: Sequence[int], *, in_batch: bool) -> Rows:
        """Rows, augmented when the dataset is."""
        numbers = row_numbers(indices, len(self))
        symmetries = None
        if self._augment:
            count = self.layout.symmetries
            symmetries = drawn_for_loader(len(numbers), count, in_batch=in_batch)
            if symmetries is None:
                symmetries = self._symmetries_of(numbers)
        return Rows(self.rows(numbers, symmetries), len(numbers))

    def _symmetries_of(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.uint8]:
        """Symmetries that are a function of seed, epoch and row."""
        keys = [np.random.SeedSequence((self._seed, self._epoch, int(row))) for row in rows]
        numbers = np.array([key.generate_state(1)[0] for key in keys])
        return (numbers % self.layout.symmetries).astype(np.uint8)


def _positions(sources: Sequence[Source]) -> int:
    return sum(source.positions for source in sources)


def _common_layout(sources: Sequence[Source]) -> Layout:
    first = sources[0]
    for other in sources[1:]:
        difference = first.manifest.layout.difference(other.manifest.layout)
        if difference is not None:
            raise ConfigError(
                f"{other.directory} has another game or spec than {first.directory}: {difference}"
            )
    return first.manifest.layout
