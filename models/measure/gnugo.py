"""GNU Go as a match player."""

from __future__ import annotations

import os
import shutil
from contextlib import closing
from typing import Any

import pyengine
from measure.context import Context
from measure.findings import Finding
from pyengine.match import GtpPlayer

__all__ = ["against_gnugo", "gnugo"]

#: The rules of the engine: area scoring, no suicide, positional superko. All stones on the final
#: board count as alive, so dead stones must be captured first.
_RULES = (
    "--chinese-rules --forbid-suicide --positional-superko --capture-all-dead "
    "--play-out-aftermath --never-resign"
)
_PROCESSES = 8  # games at once, whose searches share batches


def against_gnugo(
    context: Context,
    game: pyengine.Game,
    ours: tuple[Any, int],
    level: int,
    name: str,
    *,
    games: int,
    plies: int,
    least: float | None = None,
) -> Finding:
    """Play a match against GNU Go.

    Args:
        context: settings of the match.
        game: Go on a square board.
        ours: the measured evaluator and its simulations.
        level: level of GNU Go.
        name, games, plies, least: see :meth:`Context.play`.

    """
    with (
        closing(context.engine(game, *ours)) as engine,
        gnugo(level, context.seed) as theirs,
    ):
        return context.play(name, engine, theirs, games, plies=plies, least=least)


def gnugo(level: int, seed: int) -> GtpPlayer:
    """Return GNU Go as a player; its default level is 10.

    Raises:
        ConfigError: it is not installed (``apt-get install gnugo``, or set $GNUGO).

    """
    program = os.environ.get("GNUGO") or shutil.which("gnugo", path="/usr/games") or "gnugo"
    command = f"{program} --mode gtp --level {level} --seed {seed + 1} {_RULES}"
    return GtpPlayer(command, processes=_PROCESSES)
