"""Ratings of many players from games between some of them: :func:`ratings`."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

_ELO = 400 / math.log(10)  # per factor of e in the odds
_PRIOR = 0.5  # drawn games added per pair of opponents: 40 wins of 40 give a finite 883 Elo;
# more would shrink a long chain of matches, fewer would stretch it
_INTERVAL = 1.96  # standard errors: 95 % of a normal distribution
_STEPS = 200  # maximum iterations of Newton's method; about ten are needed
_ENOUGH = 1e-9  # length of the last step
_HALVINGS = 40  # of a step that is too long

_Vector = npt.NDArray[np.floating[Any]]


@dataclass(frozen=True, kw_only=True)
class Pairing:
    """Games between two players, counted for the first."""

    player: int
    opponent: int
    wins: int
    draws: int
    losses: int


@dataclass(frozen=True, kw_only=True)
class Rating:
    """A player's rating in Elo."""

    elo: float  #: relative to the anchor
    error: float  #: standard error of that difference

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval, in Elo."""
        return self.elo - _INTERVAL * self.error, self.elo + _INTERVAL * self.error


def ratings(results: Iterable[Pairing], anchor: int = 0) -> dict[int, Rating | None]:
    """Return the maximum-likelihood rating of each player, given all games.

    Uses the Bradley-Terry model with a draw as half a win. Each pair that met is credited with an
    extra half of a drawn game, so a 40-0 match has a finite rating. The errors assume independent
    games and are slightly too wide if many are drawn.

    Args:
        results: in any order; there may be several for the same pair.
        anchor: the player at Elo 0.

    Returns:
        An entry for the anchor and each player; None for players not connected to the anchor.

    """
    pairs = _merged(results)
    players = {anchor} | {player for pair in pairs for player in pair}
    joined = _joined(pairs, anchor)
    result: dict[int, Rating | None] = dict.fromkeys(sorted(players))
    result[anchor] = Rating(elo=0.0, error=0.0)
    others = sorted(joined - {anchor})
    if others:
        fit = _Fit({pair: games for pair, games in pairs.items() if pair[0] in joined}, others)
        strengths, errors = fit.solve()
        for player, strength, error in zip(others, strengths, errors, strict=True):
            result[player] = Rating(elo=_ELO * float(strength), error=_ELO * float(error))
    return result


#: Points of the first player and number of games, for each pair that met.
_Pairs = Mapping[tuple[int, int], tuple[float, float]]


def _merged(results: Iterable[Pairing]) -> dict[tuple[int, int], tuple[float, float]]:
    """Return points of the first player and games for each pair that met, including the prior."""
    pairs: dict[tuple[int, int], tuple[float, float]] = {}
    for pairing in results:
        games = pairing.wins + pairing.draws + pairing.losses
        if games == 0 or pairing.player == pairing.opponent:
            continue
        first = min(pairing.player, pairing.opponent)
        won = pairing.wins if pairing.player == first else pairing.losses
        pair = (first, max(pairing.player, pairing.opponent))
        points, before = pairs.get(pair, (_PRIOR / 2, _PRIOR))
        pairs[pair] = (points + won + pairing.draws / 2, before + games)
    return pairs


def _joined(pairs: _Pairs, anchor: int) -> set[int]:
    """Return all players connected to the anchor by games."""
    neighbours: dict[int, list[int]] = {}
    for a, b in pairs:
        neighbours.setdefault(a, []).append(b)
        neighbours.setdefault(b, []).append(a)
    reached, ahead = {anchor}, [anchor]
    while ahead:
        for other in neighbours.get(ahead.pop(), ()):
            if other not in reached:
                reached.add(other)
                ahead.append(other)
    return reached


class _Fit:
    """The likelihood of ratings, as natural logarithms of odds; the anchor's is 0."""

    def __init__(self, pairs: _Pairs, others: list[int]) -> None:
        place = {player: number for number, player in enumerate(others)}
        self._count = len(others)
        #: [pairs, 2]: indices of the two players; the anchor has the last index
        self._places = np.array(
            [[place.get(player, self._count) for player in pair] for pair in pairs]
        )
        self._points = np.array([points for points, _ in pairs.values()])
        self._games = np.array([games for _, games in pairs.values()])

    def solve(self) -> tuple[_Vector, _Vector]:
        """Return the maximum-likelihood ratings and their standard errors, by Newton's method."""
        strengths = np.zeros(self._count)
        for _ in range(_STEPS):
            slope = self._summed(self._points - self._games * _expected(self._gaps(strengths)))
            step = np.array(self._information(strengths).solve(slope.tolist()))
            strengths = strengths + self._shortened(strengths, step)
            if float(np.abs(step).max()) < _ENOUGH:
                break
        return strengths, np.sqrt(self._information(strengths).inverse_diagonal())

    def _gaps(self, strengths: _Vector) -> _Vector:
        """Return by how much the first player of each pair is stronger."""
        first, second = np.append(strengths, 0.0)[self._places.T]
        gaps: _Vector = first - second
        return gaps

    def _summed(self, of_pairs: _Vector, sign: float = -1.0) -> _Vector:
        """Return each player's sum over his pairs, multiplied by ``sign`` if he is second."""
        first, second = (
            np.bincount(places, of_pairs, self._count + 1) for places in self._places.T
        )
        sums: _Vector = (first + sign * second)[:-1]
        return sums

    def _information(self, strengths: _Vector) -> Factors:
        """Return Fisher's information, the negative second derivative of the log likelihood."""
        expected = _expected(self._gaps(strengths))
        weights = self._games * expected * (1 - expected)
        links = {
            (a, b): -weight
            for (a, b), weight in zip(self._places.tolist(), weights.tolist(), strict=True)
            if self._count not in (a, b)
        }
        return Factors(self._summed(weights, sign=1.0).tolist(), links)

    def _shortened(self, strengths: _Vector, step: _Vector) -> _Vector:
        """Return the step, halved until it does not decrease the likelihood."""
        before = self._likelihood(strengths)
        for _ in range(_HALVINGS):
            if self._likelihood(strengths + step) >= before - 1e-12 * abs(before):
                break
            step = step / 2
        return step

    def _likelihood(self, strengths: _Vector) -> float:
        """Return the log likelihood of the games."""
        gaps = self._gaps(strengths)
        return float(np.sum(self._points * gaps - self._games * np.logaddexp(0.0, gaps)))


def _expected(gaps: _Vector) -> _Vector:
    """Return the expected score in (0, 1) for a rating difference."""
    scores: _Vector = 1 / (1 + np.exp(-gaps))
    return scores


@dataclass(frozen=True, slots=True)
class _Eliminated:
    """An eliminated row: its pivot and its factors for the remaining rows."""

    row: int
    pivot: float
    shares: Mapping[int, float]


class Factors:
    """An LDLᵀ factorisation of a positive definite matrix, with minimum-degree ordering.

    Time and memory are linear in the number of rows if each has few neighbours, as for players that
    meet only their immediate predecessors.

    Args:
        diagonal: one number per row.
        links: the off-diagonal elements by pair of rows, each pair once in either order.
    """

    def __init__(self, diagonal: Sequence[float], links: Mapping[tuple[int, int], float]) -> None:
        pivots = list(diagonal)
        ahead: list[dict[int, float]] = [{} for _ in pivots]
        for (a, b), value in links.items():
            ahead[a][b] = ahead[b][a] = value
        self._steps: list[_Eliminated] = []
        waiting = [(len(neighbours), row) for row, neighbours in enumerate(ahead)]
        heapq.heapify(waiting)
        gone = [False] * len(pivots)
        while waiting:
            degree, row = heapq.heappop(waiting)
            if gone[row] or degree != len(ahead[row]):
                continue  # it was pushed again since
            gone[row] = True
            shares = {other: value / pivots[row] for other, value in ahead[row].items()}
            self._steps.append(_Eliminated(row, pivots[row], shares))
            for other, share in shares.items():
                updated = ahead[other]
                del updated[row]
                pivots[other] -= share * ahead[row][other]
                for third, value in ahead[row].items():
                    if third != other:
                        updated[third] = updated.get(third, 0.0) - share * value
                heapq.heappush(waiting, (len(updated), other))

    def solve(self, right: Sequence[float]) -> list[float]:
        """Return x with A x = right."""
        x = list(right)
        for step in self._steps:
            for other, share in step.shares.items():
                x[other] -= share * x[step.row]
        for step in reversed(self._steps):
            rest = sum(share * x[other] for other, share in step.shares.items())
            x[step.row] = x[step.row] / step.pivot - rest
        return x

    def inverse_diagonal(self) -> list[float]:
        """Return the diagonal of the inverse [Takahashi et al., 1973]."""
        inverse: list[dict[int, float]] = [{} for _ in self._steps]
        for step in reversed(self._steps):
            row = step.row
            for other in step.shares:
                element = -sum(
                    share * inverse[third][other] for third, share in step.shares.items()
                )
                inverse[row][other] = inverse[other][row] = element
            rest = sum(share * inverse[row][other] for other, share in step.shares.items())
            inverse[row][row] = 1 / step.pivot - rest
        return [inverse[row][row] for row in range(len(inverse))]
