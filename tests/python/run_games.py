"""Games and parts of small runs, for tests of the training loop."""

from __future__ import annotations

import pyengine
from pyengine import train
from pyengine.train.loop.child import Child
from pyengine.train.loop.part import Part
from pyengine.train.loop.state import RunFolder

#: Settings of a short run.
SMALL = """
[run]
seed = 3
[game]
name = "tic_tac_toe"
[network]
blocks = 1
[train]
batch_size = 64
[train.optimiser]
schedule = "constant"
"""


def play_games(
    folder: RunFolder,
    run: train.RunFile,
    games: int,
    *,
    simulations: int = 4,
    concurrent_games: int = 8,
) -> None:
    """Add self-play of the uniform evaluator to the data of a run's first game."""
    search = pyengine.SearchConfig(simulations=simulations, threads=1)
    pyengine.selfplay(
        run.games[0],
        "uniform",
        games=games,
        out=folder.data(run.game.name[0]),
        config=pyengine.SelfPlayConfig(search=search, concurrent_games=concurrent_games),
        spec=run.spec,
    )


class Impatient(Part):
    """A part that stops as soon as it has to wait."""

    def wait(self, seconds: float = 0.2) -> None:
        self.stop()


class Ending(Child):
    """A part that runs until it is asked to stop, and then has an exit status."""

    def __init__(self, name: str, status: int) -> None:
        self._end = status
        self._now: int | None = None
        super().__init__(name)

    def _start(self) -> None:
        self._now = None

    def status(self) -> int | None:
        return self._now

    def _tell(self, line: str | None) -> None:
        if self._now is None:
            self._now = self._end

    def last_words(self) -> str:
        return "OSError: [Errno 28] No space left on device"

    def end(self) -> None:
        self._tell(None)
