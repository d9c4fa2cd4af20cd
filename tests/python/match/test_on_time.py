"""200 games at 2 s + 0.1 s on a loaded machine: no loss on time."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

import pyengine
from commands import command_of
from pyengine import Clock, Engine, MatchResult
from pyengine.match import GtpPlayer, Openings

_MATCHES = 8  # at once: more games than cores
_GAMES = 25  # per match


def play(seed: int) -> MatchResult:
    """Play an engine of this process against ``pyengine gtp``."""
    command = command_of(sys.executable, "-m", "pyengine", "gtp", "connect_four", "-t", "1")
    with (
        Engine("connect_four", "connect4", threads=1) as engine,
        GtpPlayer(command) as program,
    ):
        return pyengine.match(
            engine,
            program,
            games=_GAMES,
            seed=seed,
            clock=Clock(2, 0.1),
            openings=Openings(plies=2),
        )


@pytest.mark.slow
def test_no_game_at_2_seconds_and_a_tenth_per_move_is_lost_on_time() -> None:
    with ThreadPoolExecutor(_MATCHES) as pool:
        results = list(pool.map(play, range(_MATCHES)))
    assert sum(result.games for result in results) == _MATCHES * _GAMES
    assert [result.losses_on_time for result in results] == [(0, 0)] * _MATCHES
