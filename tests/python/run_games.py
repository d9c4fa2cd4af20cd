"""Games in a run's folder, for tests of what learns from them."""

from __future__ import annotations

import pyengine
from pyengine import train
from pyengine.train.loop.state import RunFolder


def play_games(
    folder: RunFolder,
    run: train.RunFile,
    games: int,
    *,
    simulations: int = 4,
    concurrent_games: int = 8,
) -> None:
    """Let the uniform evaluator play a run's first game with itself; add what it plays."""
    search = pyengine.SearchConfig(simulations=simulations, threads=1)
    pyengine.selfplay(
        run.games[0],
        "uniform",
        games=games,
        out=folder.data(run.game.name[0]),
        config=pyengine.SelfPlayConfig(search=search, concurrent_games=concurrent_games),
        spec=run.spec,
    )
