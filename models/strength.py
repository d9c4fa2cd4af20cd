"""How strong a network is: games in pairs, each opening played with both colours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from positions import open_game

import pyengine

#: Chooses an action for each of several states.
Player = Callable[[Sequence[Any]], list[int]]


@dataclass(frozen=True)
class Score:
    """Games of one player against another: 1 for a win, 1/2 for a draw."""

    wins: int
    draws: int
    losses: int
    score: float  #: mean
    error: float  #: half the width of the 95 % interval; pairs are the independent samples


def searcher(game: pyengine.Game, evaluator: Any, simulations: int, seed: int) -> Player:
    """Return a player that searches with the default settings, noise-free, one leaf at a time."""
    engine = pyengine.Engine(
        game, evaluator, threads=1, batch_size=64, in_flight=1, deterministic=True, seed=seed
    )
    return lambda states: [r.action for r in engine.search_many(states, simulations=simulations)]


def bare_policy(evaluator: pyengine.Evaluator) -> Player:
    """Return a player that plays the network's likeliest move, without any search."""
    return lambda states: [int(row.argmax()) for row in evaluator.evaluate(list(states))[0]]


def random_player(seed: int) -> Player:
    """Return a player that moves uniformly at random."""
    rng = np.random.default_rng(seed)
    return lambda states: [int(rng.choice(state.legal_actions())) for state in states]


def match(game: pyengine.Game, player: Player, other: Player, *, games: int, seed: int) -> Score:
    """Play ``games`` games, in pairs that share an opening of 2 to 4 random plies."""
    states, seats = [], []
    for pair in range((games + 1) // 2):
        rng = np.random.default_rng((seed, pair))
        opening = open_game(game, rng, int(rng.integers(2, 5)))
        for seat in (0, 1):
            states.append(opening.clone())
            seats.append(seat)
    while any(not state.is_terminal() for state in states):
        for chooser, mine in ((player, True), (other, False)):
            turn = [
                state
                for state, seat in zip(states, seats, strict=True)
                if not state.is_terminal() and (state.current_player() == seat) == mine
            ]
            for state, action in zip(turn, chooser(turn) if turn else [], strict=True):
                state.apply_action(action)
    points = [(state.returns()[seat] + 1) / 2 for state, seat in zip(states, seats, strict=True)]
    return summary(np.array(points).reshape(-1, 2))


def summary(pairs: npt.NDArray[np.float64]) -> Score:
    """Count points [P,2] of P pairs."""
    means = pairs.mean(axis=1)
    score = float(means.mean())
    if np.ptp(means) > 0:
        error = 1.96 * means.std(ddof=1) / np.sqrt(len(means))
    else:  # all pairs alike: another kind has a probability below 3/P (rule of three)
        error = min(1.0, 3 / len(means)) * max(score, 1 - score)
    counts = [int((pairs == points).sum()) for points in (1.0, 0.5, 0.0)]
    return Score(*counts, score=score, error=float(error))


def losses_to_anybody(game: pyengine.Game, player: Player) -> tuple[int, int]:
    """Play every line of a small game in which the player chooses its own moves.

    Returns the number of complete lines and how many of them the player loses, both colours.
    """
    lines = lost = 0
    for seat in (0, 1):
        states = [game.new_initial_state()]
        while states:
            own = [state for state in states if state.current_player() == seat]
            following = []
            for state, action in zip(own, player(own) if own else [], strict=True):
                following.append(state.clone())
                following[-1].apply_action(action)
            for state in states:
                if state.current_player() != seat:
                    for action in state.legal_actions():
                        following.append(state.clone())
                        following[-1].apply_action(action)
            ended = [state for state in following if state.is_terminal()]
            lines += len(ended)
            lost += sum(state.returns()[seat] < 0 for state in ended)
            states = [state for state in following if not state.is_terminal()]
    return lines, lost
