"""Games of the value network: one position per game, so that no two positions share a result.

As in AlphaGo [Silver et al. 2016, "Value network: regression"], the supervised policy plays up to a
random ply, one move is uniformly random, and the reinforced policy plays to the end. The network
learns the position after the random move and the result of the game.
"""

from __future__ import annotations

import numpy as np

import pyengine
from alphago.folder import Run
from alphago.play import Policy, drawn, play_out
from pyengine import _core
from pyengine.base.interrupts import deferred_interrupt
from pyengine.data.record import FinishedGame
from pyengine.data.writer import ShardWriter

__all__ = ["play_value_games"]

_CONCURRENT = 256


def play_value_games(run: Run, name: str, supervised: Policy, reinforced: Policy) -> None:
    """Play or resume the games of the settings."""
    total, game, spec = run.settings.value_games, run.game, run.settings.spec
    with ShardWriter(run.path(name), game, spec) as writer, deferred_interrupt() as interrupted:
        while writer.games < total and not interrupted.is_set():
            rng = np.random.default_rng((run.settings.seed, 20, writer.next_number))
            count = min(_CONCURRENT, total - writer.games)
            positions = _positions(run, supervised, count, rng)
            ends = [state.clone() for state in positions]
            play_out(ends, reinforced, rng)
            for position, end in zip(positions, ends, strict=True):
                writer.add(_recorded(position, end, spec, writer.next_number))
            run.say(f"{name}: {writer.games:,} of {total:,} games")
    if interrupted.is_set():
        raise KeyboardInterrupt


def _positions(
    run: Run, policy: Policy, count: int, rng: np.random.Generator
) -> list[pyengine.State]:
    """Return unfinished games after moves by a policy and one random move."""
    states = [run.game.new_initial_state() for _ in range(count)]
    turns = rng.integers(run.settings.value_plies, size=count)  # the ply of the random move
    for ply in range(int(turns.max()) + 1):
        open_games = [
            (state, turn)
            for state, turn in zip(states, turns, strict=True)
            if turn >= ply and not state.is_terminal()
        ]
        following = [state for state, turn in open_games if turn > ply]
        if following:
            for state, action in zip(following, drawn(policy(following), rng), strict=True):
                state.apply_action(int(action))
        for state, turn in open_games:
            if turn == ply:
                state.apply_action(int(rng.choice(state.legal_actions())))
    return [state for state in states if not state.is_terminal()]


def _recorded(
    position: pyengine.State, end: pyengine.State, spec: pyengine.ModelSpec, number: int
) -> FinishedGame:
    """Return a game with one recorded position."""
    bits, fill, dense = _core.encode_planes([position], spec)
    ply, moves = len(position.history()), end.history()
    visits = np.zeros((1, position.game.num_distinct_actions()), np.uint16)
    visits[0, moves[ply]] = 1
    first, second = end.returns()
    to_move = position.current_player()
    return FinishedGame(
        number=number,
        returns=(first, second),
        moves=np.array(moves, np.uint16),
        bits=bits,
        fill=fill,
        dense=dense,
        visits=visits,
        root_value=np.array([(first, second)[to_move]], np.float32),
        network_value=np.full(1, np.nan, np.float32),
        ply=np.array([ply], np.uint16),
        action=np.array([moves[ply]], np.uint16),
        to_move=np.array([to_move], np.uint8),
        full=np.ones(1, np.uint8),
    )
