"""Maximum-likelihood fit of a rollout policy's weights to games."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pyengine.base.checks import integer, number
from pyengine.base.files import check_output, path_of
from pyengine.data.progress import tracked
from pyengine.errors import ConfigError
from pyengine.eval.rollout_policy import PATTERNS, RolloutPolicy
from pyengine.games.game import Game
from pyengine.train.played_games import GamesLike, PlayedGame, played_games

_BATCH = 256  # positions per step
_MOST_EPOCHS = 1_000_000
_RATE, _LAST_RATE = 0.05, 0.002  # Adam's first and last rate; the loss is convex
_FEATURES = len(RolloutPolicy.FEATURES)
_RESPONSE = np.uint16(1 << _FEATURES)  # the bit after the features: add the response weight

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class RolloutScores:
    """Accuracy of a policy on recorded moves, compared with the uniform policy.

    ``top1`` is the fraction of positions in which the policy's most likely move was played,
    ``log_likelihood`` the mean log probability of the move played, in nats.
    """

    positions: int
    top1: float
    log_likelihood: float
    uniform_top1: float
    uniform_log_likelihood: float

    def __str__(self) -> str:
        return (
            f"{self.positions} positions: top-1 {self.top1:.1%} (uniform {self.uniform_top1:.1%}), "
            f"log-likelihood {self.log_likelihood:.3f} (uniform {self.uniform_log_likelihood:.3f})"
        )


@dataclass(frozen=True, kw_only=True)
class RolloutFitProgress:
    """Progress of a fit: the last finished epoch, from 1, and its mean log likelihood in nats."""

    epoch: int
    epochs: int
    log_likelihood: float


@dataclass(frozen=True, kw_only=True)
class RolloutFit:
    """A fitted policy, the size of its training data and its accuracy on held-out games.

    ``left_out`` counts skipped positions: the policy never plays passes, own eyes or suicide.
    """

    policy: RolloutPolicy
    games: int
    positions: int
    left_out: int
    held_out: RolloutScores

    def __str__(self) -> str:
        return (
            f"{self.games} games, {self.positions} positions ({self.left_out} left out); "
            f"held out: {self.held_out}"
        )


OnFitProgress = Callable[[RolloutFitProgress], object]


def rollout_policy(
    games: GamesLike,
    out: str | os.PathLike[str] | None = None,
    *,
    game: Game | str | None = None,
    epochs: int = 8,
    held_out: float = 0.1,
    prior: float = 1.0,
    seed: int = 0,
    on_progress: OnFitProgress | None = None,
) -> RolloutFit:
    """Fit a rollout policy to the moves of games by maximum likelihood.

    Takes seconds for thousands of games, and does not need PyTorch.

    Args:
        games: a :class:`Dataset` or its directory of shards (from self-play or SGF); SGF files or
            directories of them; or an iterable of these, of states, and of lists of actions.
            Recorded games with handicap or set-up stones are skipped.
        out: the file to write; see :meth:`RolloutPolicy.save`. None: do not write.
        game: required for SGF files and lists of actions. SGF games with other rules or without a
            result are skipped: see :func:`pyengine.data.import_sgf`.
        epochs: number of passes over the positions, 1 to 1,000,000.
        held_out: fraction of the games used only for testing, in (0, 1); at least one game.
        prior: standard deviation of the Gaussian prior of the weights, > 0: rare patterns stay
            close to 0.
        seed: selects the held-out games and the order.
        on_progress: called after each epoch; returning False ends the fit. By default, progress is
            shown on a terminal.

    Ctrl-C raises KeyboardInterrupt; nothing is written.

    Raises:
        ConfigError: an argument out of range, fewer than two games, or no usable moves.
        ModelError: a game other than Go.
        IllegalActionError: a list of actions is not a legal game.
        DataError: a shard is damaged, or ``out`` cannot be written.

    Example:
        >>> import pyengine
        >>> from pyengine.train import rollout_policy
        >>> go = pyengine.load_game("go(board_size=5)")
        >>> fit = rollout_policy([[12, 7, 11], [12, 13, 8]], game=go)
        >>> fit.games, fit.held_out.positions
        (1, 3)
    """
    if out is not None:
        check_output(path_of("out", out))
    epochs, seed = integer("epochs", epochs, 1, _MOST_EPOCHS), integer("seed", seed, 0)
    held_out = number("held_out", held_out, "a number in (0, 1)", lambda share: 0 < share < 1)
    prior = number("prior", prior, "a number > 0", lambda strength: strength > 0)
    training, testing = _split(played_games(games, game), held_out, seed)
    classes = pattern_classes()
    examples = _Examples(training, classes, "games read")
    if len(examples) == 0:
        raise ConfigError("games: expected moves that are not passes, got none")
    weights = _learn(examples, epochs, prior, seed, on_progress)
    policy = weights.policy(classes)
    if out is not None:
        policy.save(out)
    return RolloutFit(
        policy=policy,
        games=len(training),
        positions=len(examples),
        left_out=examples.left_out,
        held_out=weights.scores(_Examples(testing, classes, "held-out games read")),
    )


def pattern_classes() -> npt.NDArray[np.int32]:
    """Return for each pattern the smallest of its eight symmetric forms."""
    numbers = np.arange(PATTERNS, dtype=np.int32)
    states = np.stack([numbers >> (2 * i) & 3 for i in range(8)])
    grid = np.insert(np.arange(8), 4, -1).reshape(3, 3)
    least = numbers.copy()
    for turns in range(4):
        for form in (np.rot90(grid, turns), np.rot90(grid, turns).T):
            order = form[form >= 0]
            turned = sum(states[int(point)] << (2 * i) for i, point in enumerate(order))
            least = np.minimum(least, turned)
    return least


def _split(
    games: Sequence[PlayedGame], share: float, seed: int
) -> tuple[list[PlayedGame], list[PlayedGame]]:
    """Split games into training and held-out games."""
    if len(games) < 2:
        raise ConfigError(f"games: expected at least 2, got {len(games)}")
    order = np.random.default_rng((seed, 1)).permutation(len(games))
    count = min(max(1, round(share * len(games))), len(games) - 1)
    return [games[i] for i in order[count:]], [games[i] for i in order[:count]]


@dataclass(frozen=True)
class _Batch:
    """The moves of a batch of positions, concatenated."""

    starts: npt.NDArray[np.int64]  #: index of each position's first move
    counts: npt.NDArray[np.int64]  #: number of moves per position
    chosen: npt.NDArray[np.int64]  #: indices of the moves played
    patterns: npt.NDArray[np.int32]  #: pattern class of each move
    response: npt.NDArray[np.bool_]  #: whether the response weight applies
    features: Floats  #: [moves, features], 0 or 1


class _Examples:
    """Positions with the moves that the policy may play."""

    def __init__(
        self, games: Sequence[PlayedGame], classes: npt.NDArray[np.int32], what: str
    ) -> None:
        """Replay games; shows progress on a terminal."""
        zeros = np.zeros(PATTERNS, np.float32)
        native = RolloutPolicy(zeros, zeros, {}).native
        replayed = tracked(games, len(games), what, None)
        parts = [native.examples(game, list(moves)) for game, moves in replayed]
        columns = map(np.concatenate, zip(*parts, strict=True))
        counts, self._chosen, _, patterns, self._bits = columns
        self._counts = counts.astype(np.int64)
        self._starts = np.cumsum(self._counts) - self._counts
        self._patterns = classes[patterns]
        self._usable = np.flatnonzero(self._chosen >= 0)
        self.left_out = len(counts) - len(self._usable)

    def __len__(self) -> int:
        return len(self._usable)

    def batches(self, rng: np.random.Generator | None) -> Iterator[_Batch]:
        """Yield all positions once, in random order if a generator is given."""
        order = self._usable if rng is None else rng.permutation(self._usable)
        for begin in range(0, len(order), _BATCH):
            yield self._batch(order[begin : begin + _BATCH])

    def _batch(self, positions: npt.NDArray[np.int64]) -> _Batch:
        counts = self._counts[positions]
        starts = np.cumsum(counts) - counts
        moves = np.repeat(self._starts[positions] - starts, counts) + np.arange(counts.sum())
        bits = self._bits[moves]
        return _Batch(
            starts=starts,
            counts=counts,
            chosen=starts + self._chosen[positions],
            patterns=self._patterns[moves],
            response=bits & _RESPONSE != 0,
            features=(bits[:, None] >> np.arange(_FEATURES, dtype=np.uint16) & 1).astype(float),
        )


class _Weights:
    """Weights of pattern classes, responses and features."""

    def __init__(self) -> None:
        self.all: Floats = np.zeros(2 * PATTERNS + _FEATURES)
        self._parts = self._cut(self.all)

    @staticmethod
    def _cut(vector: Floats) -> tuple[Floats, Floats, Floats]:
        return vector[:PATTERNS], vector[PATTERNS : 2 * PATTERNS], vector[2 * PATTERNS :]

    def log_probabilities(self, batch: _Batch) -> Floats:
        """Return the log probability of every move in the batch."""
        pattern, response, features = self._parts
        logits = pattern[batch.patterns] + batch.features @ features
        logits += np.where(batch.response, response[batch.patterns], 0.0)
        logits -= np.repeat(np.maximum.reduceat(logits, batch.starts), batch.counts)
        sums = np.add.reduceat(np.exp(logits), batch.starts)
        return logits - np.repeat(np.log(sums), batch.counts)

    def gradient(self, batch: _Batch) -> tuple[float, Floats]:
        """Return the mean log-likelihood of the batch's moves and its gradient."""
        logs = self.log_probabilities(batch)
        residual = -np.exp(logs)
        residual[batch.chosen] += 1.0
        residual /= len(batch.counts)
        gradient = np.empty_like(self.all)
        pattern, response, features = self._cut(gradient)
        pattern[:] = np.bincount(batch.patterns, residual, PATTERNS)
        near = batch.response
        response[:] = np.bincount(batch.patterns[near], residual[near], PATTERNS)
        features[:] = residual @ batch.features
        return float(logs[batch.chosen].mean()), gradient

    def scores(self, examples: _Examples) -> RolloutScores:
        """Evaluate the policy on all positions."""
        sums = np.zeros(4)
        for batch in examples.batches(None):
            logs = self.log_probabilities(batch)
            best = np.maximum.reduceat(logs, batch.starts)
            hit = logs[batch.chosen] >= best
            ties = np.add.reduceat(logs >= np.repeat(best, batch.counts), batch.starts)
            sums += [
                (hit / ties).sum(),
                logs[batch.chosen].sum(),
                (1 / batch.counts).sum(),
                -np.log(batch.counts).sum(),
            ]
        means = (sums / max(1, len(examples))).tolist()
        names = ("top1", "log_likelihood", "uniform_top1", "uniform_log_likelihood")
        return RolloutScores(positions=len(examples), **dict(zip(names, means, strict=True)))

    def policy(self, classes: npt.NDArray[np.int32]) -> RolloutPolicy:
        """Return the policy, with each class's weight for all its patterns."""
        pattern, response, features = self._parts
        named = dict(zip(RolloutPolicy.FEATURES, features.tolist(), strict=True))
        return RolloutPolicy(pattern[classes], response[classes], named)


def _learn(
    examples: _Examples, epochs: int, prior: float, seed: int, on_progress: OnFitProgress | None
) -> _Weights:
    """Adam [Kingma and Ba 2015] with a cosine schedule."""
    weights = _Weights()
    mean, square = np.zeros_like(weights.all), np.zeros_like(weights.all)
    rng = np.random.default_rng((seed, 2))
    steps = epochs * math.ceil(len(examples) / _BATCH)
    step = 0
    quiet = None if on_progress is None else (lambda _done, _total: None)
    for epoch in tracked(range(1, epochs + 1), epochs, "epochs", quiet):
        total = 0.0
        for batch in examples.batches(rng):
            likelihood, gradient = weights.gradient(batch)
            total += likelihood * len(batch.counts)
            gradient -= weights.all / (prior**2 * len(examples))
            step += 1
            mean += 0.1 * (gradient - mean)
            square += 0.01 * (gradient**2 - square)
            rate = _LAST_RATE + (_RATE - _LAST_RATE) * (1 + math.cos(math.pi * step / steps)) / 2
            scale = np.sqrt(square / (1 - 0.99**step)) + 1e-8
            weights.all += rate * mean / (1 - 0.9**step) / scale
        progress = RolloutFitProgress(
            epoch=epoch, epochs=epochs, log_likelihood=total / len(examples)
        )
        if on_progress is not None and on_progress(progress) is False:
            break
    return weights
