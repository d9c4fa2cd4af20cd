"""Games of the terminal in files: a list of moves, or SGF for Go and Gomoku."""

from __future__ import annotations

import datetime
import os
import sys
import tempfile
from pathlib import Path

from pyengine.cli.looks import look_of
from pyengine.cli.play_sgf import sgf_of, sgf_rules, state_of_sgf
from pyengine.errors import ConfigError, DataError
from pyengine.files import check_output, read_limited, unread, unwritten, write_durably
from pyengine.games import Game, State, load_game
from pyengine.outcomes import Lost, outcome_text

__all__ = ["bare_name", "game_of_record", "load", "record_path", "save"]

_HEAD = "pyengine game"


def record_path(game: Game, now: datetime.datetime) -> Path:
    """Return where a game that begins now is kept while it is played.

    That is below the user's folder for what programs keep; of a user without a home, as in many
    containers, below the folder for temporary files.
    """
    variable = "LOCALAPPDATA" if sys.platform == "win32" else "XDG_STATE_HOME"
    state = os.environ.get(variable) or _home() / ".local" / "state"
    name = f"{game.name}-{now:%Y%m%d-%H%M%S-%f}.txt"
    return Path(state) / "pyengine" / "games" / name


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError:
        return Path(tempfile.gettempdir())


def save(path: Path, start: State, actions: list[int], lost: Lost | None) -> None:
    """Write the game: SGF where the name ends so, else a list of moves.

    ``lost`` says who lost without a last move. Where names of moves cannot be read back one by one,
    since they have spaces or several moves have the same, the list of moves has their numbers too.

    Raises ConfigError where there can be no such file or the game has no SGF, DataError where it
    cannot be written.
    """
    check_output(path)
    text = sgf_of(start, actions, lost) if _is_sgf(path) else _moves(start, actions, lost)
    try:
        write_durably(path, [text])
    except OSError as error:
        raise DataError(unwritten(path, error)) from error


def load(path: Path, game: Game) -> State:
    """Return the last position of a game that :func:`save` wrote.

    Raises DataError for what is no such file, or of another game.
    """
    content = _read(path)
    try:
        return state_of_sgf(content, game) if _is_sgf(path) else _of_moves(content.decode(), game)
    except (ValueError, KeyError) as error:  # IllegalActionError too
        raise DataError(f"{path}: expected a game of {game}, found {error}") from error


def game_of_record(path: Path, named: Game) -> Game:
    """Return the game that a file is of, if only its parameters differ from the named one's.

    Raises DataError where the file cannot be read, or its parameters are none of the game.
    """
    content = _read(path)
    try:
        if _is_sgf(path):
            return load_game(named.name, **sgf_rules(content, named))
        text = _entries(content.decode())["game"].strip()
        return load_game(text) if bare_name(text) == bare_name(str(named)) else named
    except ConfigError as error:
        raise DataError(f"{path}: {error}") from error
    except (ValueError, KeyError) as error:
        raise DataError(f"{path}: expected a game of {named.name}, found {error}") from error


def bare_name(game: str) -> str:
    """Return the text of a game without its parameters."""
    return game.partition("(")[0]


def _read(path: Path) -> bytes:
    try:
        return read_limited(path)
    except OSError as error:
        raise DataError(unread(path, error)) from error


def _is_sgf(path: Path) -> bool:
    return path.suffix.lower() == ".sgf"


def _moves(start: State, actions: list[int], lost: Lost | None) -> bytes:
    names, state, readable = [], start.clone(), True
    for action in actions:
        name = state.action_to_string(action)
        readable = readable and _names_alone(state, name, action)
        names.append(" ".join(name.split()))
        state.apply_action(action)
    look = look_of(start.game)
    result = outcome_text(state, lambda player: look.player(player, drawn=False), lost)
    lines = [_HEAD, f"game: {start.game}", f"moves: {' '.join(names)}", f"result: {result}"]
    if not readable:
        lines.insert(3, f"actions: {' '.join(map(str, actions))}")
    if start.serialize() != start.game.new_initial_state().serialize():
        lines.insert(2, f"start: {start.serialize()}")
    return "".join(f"{line}\n" for line in lines).encode()


def _names_alone(state: State, name: str, action: int) -> bool:
    """Return whether a name among others in a line is read back as the action."""
    if name.split() != [name]:
        return False
    try:
        return int(state.string_to_action(name)) == action
    except ValueError:  # IllegalActionError
        return False


def _entries(text: str) -> dict[str, str]:
    head, _, body = text.partition("\n")
    if head.strip() != _HEAD:
        raise ValueError(f"{head[:40]!r} in the first line instead of {_HEAD!r}")
    return dict(line.split(":", 1) for line in body.splitlines() if ":" in line)


def _of_moves(text: str, game: Game) -> State:
    entries = _entries(text)
    if entries["game"].strip() != str(game):
        raise ValueError(f"one of {entries['game'].strip()}")
    start = entries.get("start")
    state = game.new_initial_state() if start is None else game.deserialize_state(start.strip())
    if "actions" in entries:
        for number in entries["actions"].split():
            state.apply_action(int(number))
        return state
    for name in entries["moves"].split():
        state.apply_action(state.string_to_action(name))
    return state
