"""Saving games: as a list of moves, or as SGF for Go and Gomoku."""

from __future__ import annotations

import datetime
import os
import sys
import tempfile
from pathlib import Path

from pyengine.base.files import check_output, unwritten, write_durably
from pyengine.data.game_file import saved_game
from pyengine.data.sgf.record import SgfGame
from pyengine.data.sgf.write import write_sgf
from pyengine.errors import DataError
from pyengine.games.board_layout import game_look
from pyengine.games.game import Game, State
from pyengine.games.outcomes import Lost, outcome_text, sgf_result


def record_path(game: Game, now: datetime.datetime) -> Path:
    """Return the path for a game that starts now, in the user's state directory.

    Without a home directory, as in many containers, it is in the directory for temporary files.
    """
    variable = "LOCALAPPDATA" if sys.platform == "win32" else "XDG_STATE_HOME"
    try:
        state = Path(os.environ.get(variable) or Path.home() / ".local" / "state")
    except RuntimeError:
        state = Path(tempfile.gettempdir())
    return state / "pyengine" / "games" / f"{game.name}-{now:%Y%m%d-%H%M%S-%f}.txt"


def save(
    path: Path, start: State, state: State, lost: Lost | None, record: SgfGame | None = None
) -> str:
    """Write the moves from one state to another, as SGF if the file's name ends in .sgf.

    Returns a note, or "".

    ``lost``: the player who resigned or lost on time. ``record``: the SGF that the game was loaded
    from, whose contents are preserved. Raises ConfigError or DataError.
    """
    check_output(path)
    actions = state.history()[len(start.history()) :]
    if _is_sgf(path):
        text = write_sgf(
            start, actions,
            result=sgf_result(state, lost),
            texts={"DT": datetime.date.today().isoformat()},
            record=record,
        )  # fmt: skip
    else:
        text = _moves(start, state, actions, lost)
    try:
        write_durably(path, [text])
    except OSError as error:
        raise DataError(unwritten(path, error)) from error
    return record.replaced_rules(start.game) if record is not None and _is_sgf(path) else ""


def _is_sgf(path: Path) -> bool:
    return path.suffix.lower() == ".sgf"


def _moves(start: State, state: State, actions: list[int], lost: Lost | None) -> bytes:
    look = game_look(start.game)
    result = outcome_text(state, lambda player: look.player(player, drawn=False), lost)
    return saved_game(start, actions, result)
