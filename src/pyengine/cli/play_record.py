"""Saved games: a list of moves, or SGF for Go and Gomoku."""

from __future__ import annotations

import datetime
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from pyengine.base.checks import shortened
from pyengine.base.files import check_output, read_limited, unread, unwritten, write_durably
from pyengine.data.sgf.collection import SgfError
from pyengine.data.sgf.read import first_game
from pyengine.data.sgf.record import SgfGame, number_of, rules_name
from pyengine.data.sgf.write import write_sgf
from pyengine.errors import ConfigError, DataError
from pyengine.games.board_layout import game_look
from pyengine.games.game import Game, State, load_game
from pyengine.games.outcomes import Lost, outcome_text, sgf_result
from pyengine.search.tree import names_of_line

_HEAD = "pyengine game"


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


@dataclass(frozen=True)
class Loaded:
    """A game read from a file."""

    state: State  #: the last position
    record: SgfGame | None = None  #: None for a list of moves
    notes: tuple[str, ...] = ()  #: what was unusual or ignored


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
    return _replaced_rules(record, start.game) if record is not None and _is_sgf(path) else ""


def _replaced_rules(record: SgfGame, game: Game) -> str:
    if record.has_rules_of(game):
        return ""
    if record.exact_rules:
        return f"the rules of {shortened(record.exact_rules)} were replaced by those of {game}"
    return f"the rules {shortened(record.rules)} were replaced by {rules_name(game) or game}"


def load(path: Path, game: Game) -> Loaded:
    """Read a game that :func:`save` or another program wrote. Raises DataError."""
    content = _read(path)
    try:
        if _is_sgf(path):
            return _from_sgf(content, game)
        return Loaded(_from_moves(_entries(content), game))
    except (ValueError, SgfError) as error:  # IllegalActionError too
        raise DataError(f"{path}: expected a game of {game}, got {error}") from error


def _from_sgf(content: bytes, game: Game) -> Loaded:
    record = first_game(content)
    replay = record.replay(game)
    if "another komi" in replay.notes:
        raise ValueError(f"a komi of {record.komi:g}")
    lines = [
        f"{name}: {note}"
        for name, note in replay.notes.items()
        if name not in ("other rules", "handicap or set-up stones")  # stones are on the board
    ]
    replaced = _replaced_rules(record, game)
    return Loaded(replay.end, record, (*lines, *filter(None, [replaced])))


def game_of_record(path: Path, game: Game) -> Game:
    """Return the game with the parameters given in a file. Raises DataError."""
    content = _read(path)
    try:
        if _is_sgf(path):
            number_of(game)
            return first_game(content).game(game.name)
        text = _entry(_entries(content), "game")
        return load_game(text) if text.partition("(")[0] == str(game).partition("(")[0] else game
    except ConfigError as error:
        raise DataError(f"{path}: {error}") from error
    except (ValueError, SgfError) as error:
        raise DataError(f"{path}: expected a game of {game.name}, got {error}") from error


def _read(path: Path) -> bytes:
    try:
        return read_limited(path)
    except OSError as error:
        raise DataError(unread(path, error)) from error


def _is_sgf(path: Path) -> bool:
    return path.suffix.lower() == ".sgf"


def _moves(start: State, state: State, actions: list[int], lost: Lost | None) -> bytes:
    look = game_look(start.game)
    names = names_of_line(start, actions)
    result = outcome_text(state, lambda player: look.player(player, drawn=False), lost)
    lines = [
        _HEAD,
        f"game: {start.game}",
        f"moves: {' '.join(' '.join(names).split())}",
        f"actions: {' '.join(map(str, actions))}",  # names may contain spaces or be ambiguous
        f"result: {result}",
    ]
    if start.serialize() != start.game.new_initial_state().serialize():
        lines.insert(2, f"start: {start.serialize()}")
    return "".join(f"{line}\n" for line in lines).encode()


def _entries(content: bytes) -> dict[str, str]:
    head, _, body = content.decode().partition("\n")
    if head.strip() != _HEAD:
        raise ValueError(f"a file that begins with {head[:40]!r} instead of {_HEAD!r}")
    return dict(line.split(":", 1) for line in body.splitlines() if ":" in line)


def _entry(entries: dict[str, str], name: str) -> str:
    if name not in entries:
        raise ValueError(f'a file without a line "{name}:"')
    return entries[name].strip()


def _from_moves(entries: dict[str, str], game: Game) -> State:
    if _entry(entries, "game") != str(game):
        raise ValueError(f"a game of {entries['game'].strip()}")
    start = entries.get("start")
    state = game.new_initial_state() if start is None else game.deserialize_state(start.strip())
    for number in _entry(entries, "actions").split():
        state.apply_action(int(number))
    return state
