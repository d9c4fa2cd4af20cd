"""Self-play into a directory of training data."""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from pyengine._core import SelfPlayConfig
from pyengine.base.checks import check_callback, integer
from pyengine.base.files import path_of, sha256_of
from pyengine.base.interrupts import deferred_interrupt
from pyengine.data import FinishedGame, ShardWriter
from pyengine.eval.spec import ModelSpec
from pyengine.selfplay.openings import Openings
from pyengine.selfplay.player import MOST_GAMES, SelfPlayer
from pyengine.selfplay.report import SelfPlayReport

OnProgress = Callable[[SelfPlayReport], object]

_PROGRESS_EVERY = 0.5  # seconds


class SelfPlayInterrupted(KeyboardInterrupt):
    """Ctrl-C during self-play. All finished games are written; ``report`` has the counts."""

    def __init__(self, report: SelfPlayReport) -> None:
        super().__init__(str(report))
        self.report = report


def selfplay(
    game: Any,
    evaluator: Any,
    *,
    games: int,
    out: str | os.PathLike[str],
    config: SelfPlayConfig | None = None,
    spec: ModelSpec | None = None,
    openings: Openings | None = None,
    on_progress: OnProgress | None = None,
) -> SelfPlayReport:
    """Play many games concurrently, and write them as training data.

    All games share the batches of one evaluator. Shards are closed after 4,096 positions or 10 s,
    and a crash loses at most the open shard.

    Args:
        game: a Game, its name, or a Python game.
        evaluator: any evaluator that an Engine accepts.
        games: number of games to play.
        out: a directory of shards (see :class:`~pyengine.Dataset`). If it has games, new ones are
            added, with different random numbers.
        config: the settings.
        spec: encoding of the recorded positions; None uses the spec of the evaluator, or the
            default if it has none.
        openings: positions from which games start, drawn at random: States, such as Go with
            handicap stones, or lists of actions; or a file in which each line has the moves in the
            game's notation or :meth:`State.serialize() <pyengine.State.serialize>`, except empty
            lines and those that begin with ``#``. Their moves are not recorded as positions.
            ``config.opening_fraction`` is the share of games that start there, by default all.
        on_progress: called about twice a second with the counts so far. Returning ``False`` ends
            self-play; finished games are written.

    Raises:
        ConfigError: a setting is invalid, or the directory has data of another game.
        ModelError: the network does not fit the game.
        DataError: the directory is damaged or cannot be written.
        SelfPlayInterrupted: on Ctrl-C (a KeyboardInterrupt), after writing all finished games.

    Example:
        >>> import pyengine
        >>> config = pyengine.SelfPlayConfig(search=pyengine.SearchConfig(simulations=20))
        >>> report = pyengine.selfplay("tic_tac_toe", "uniform", games=8, out="data", config=config)
        >>> report.games, report.shards
        (8, 1)
    """
    games = integer("games", games, 1, MOST_GAMES)
    check_callback("on_progress", on_progress)
    directory = path_of("out", out)
    # Checks the arguments before the directory is created; the player needs numbers from there.
    checked = SelfPlayer(game, evaluator, config, spec=spec, openings=openings)
    model = getattr(checked.evaluator, "path", None)
    with ShardWriter(
        directory,
        checked.game,
        checked.spec,
        configuration=checked.config.to_dict(),
        model_sha256=None if model is None else sha256_of(Path(model)),
        surprise=checked.config.record_surprise,
    ) as writer:
        player = SelfPlayer(
            checked.game,
            checked.evaluator,
            checked.config,
            spec=checked.spec,
            first_number=writer.next_number,
            played_on=writer.played_on(),
            openings=checked.openings or None,
        )
        return _play(player, writer, games, on_progress)


def _play(
    player: SelfPlayer, writer: ShardWriter, games: int, on_progress: OnProgress | None
) -> SelfPlayReport:
    begun = time.perf_counter()
    reported = begun

    def report() -> SelfPlayReport:
        counts = player.report(seconds=time.perf_counter() - begun)
        return dataclasses.replace(counts, shards=len(writer.shards))

    def write(finished: Iterator[FinishedGame]) -> bool:
        nonlocal reported
        player.write(writer, finished)
        writer.tick()
        now = time.perf_counter()
        if on_progress is None or now - reported < _PROGRESS_EVERY:
            return True
        reported = now
        return on_progress(report()) is not False

    with deferred_interrupt(player.stop) as interrupted:
        try:
            player.run(games, write)
        finally:  # write finished games even if the evaluator failed
            player.write(writer)
            writer.flush()
    if interrupted.is_set():
        raise SelfPlayInterrupted(report())
    return report()
