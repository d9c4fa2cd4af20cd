"""Games of the terminal in files: a list of moves, or SGF for Go and Gomoku."""

from __future__ import annotations

import datetime
import os
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from pyengine.base.arguments import in_one_line, shortened
from pyengine.base.files import check_output, read_limited, unread, unwritten, why, write_durably
from pyengine.data.sgf.collection import SgfError
from pyengine.data.sgf.read import first_game
from pyengine.data.sgf.record import SgfGame
from pyengine.data.sgf.rules import number_of, rules_name
from pyengine.data.sgf.write import write_sgf
from pyengine.errors import ConfigError, DataError
from pyengine.games.board_layout import game_look
from pyengine.games.game import Game, State, load_game
from pyengine.games.outcomes import Lost, outcome_text, sgf_result

__all__ = ["Loaded", "bare_name", "game_of_record", "load", "record_path", "save"]

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


@dataclass(frozen=True)
class Loaded:
    """A game in a file.

    Attributes:
        state: its last position.
        record: what SGF holds beside the moves; None for a list of moves.
        notes: what was unusual or left out, for the person.
    """

    state: State
    record: SgfGame | None = None
    notes: tuple[str, ...] = ()


def save(
    path: Path, start: State, actions: list[int], lost: Lost | None, record: SgfGame | None = None
) -> str:
    """Write the game: SGF where the name ends so, else a list of moves; return a note, or "".

    ``lost`` says who lost without a last move. ``record`` is the SGF that the game was loaded from:
    all that it holds is kept. Where names of moves cannot be read back one by one, since they have
    spaces or several moves have the same, the list of moves has their numbers too.

    Raises ConfigError where there can be no such file or the game has no SGF, DataError where it
    cannot be written.
    """
    check_output(path)
    if _is_sgf(path):
        text = write_sgf(
            start, actions,
            result=sgf_result(_after(start, actions), lost),
            texts={"DT": datetime.date.today().isoformat()},
            record=record,
        )  # fmt: skip
    else:
        text = _moves(start, actions, lost)
    try:
        write_durably(path, [text])
    except OSError as error:
        raise DataError(unwritten(path, error)) from error
    return _replaced_rules(record, start.game) if record is not None and _is_sgf(path) else ""


def _after(start: State, actions: list[int]) -> State:
    state = start.clone()
    for action in actions:
        state.apply_action(action)
    return state


def _replaced_rules(record: SgfGame, game: Game) -> str:
    if record.has_rules_of(game):
        return ""
    if record.exact_rules:
        return f"the rules of {shortened(record.exact_rules)} were replaced by those of {game}"
    return f"the rules {shortened(record.rules)} were replaced by {rules_name(game) or game}"


def load(path: Path, game: Game) -> Loaded:
    """Return a game that :func:`save` or another program wrote.

    Raises DataError for what is no such file, or of another game.
    """
    content = _read(path)
    try:
        if _is_sgf(path):
            return _of_sgf(content, game)
        return Loaded(_of_moves(_entries(content), game))
    except (ValueError, SgfError) as error:  # IllegalActionError too
        raise DataError(f"{path}: expected a game of {game}, got {error}") from error


def _of_sgf(content: bytes, game: Game) -> Loaded:
    """Return the last position of the main line of the first game."""
    record = first_game(content)
    replay = record.replay(game)
    notes = dict(replay.notes)
    notes.pop("handicap or set-up stones", None)  # the board shows them
    if "another komi" in notes:
        raise ValueError(f"a komi of {record.komi:g}")
    notes.pop("other rules", None)
    told = [f"{name}: {note}" for name, note in notes.items()]
    replaced = _replaced_rules(record, game)
    return Loaded(replay.end, record, (*told, replaced) if replaced else tuple(told))


def game_of_record(path: Path, named: Game) -> Game:
    """Return the game that a file is of, if only its parameters differ from the named one's.

    Raises DataError where the file cannot be read, or its parameters are none of the game.
    """
    content = _read(path)
    try:
        if _is_sgf(path):
            number_of(named)
            return first_game(content).game(named.name)
        text = _entry(_entries(content), "game")
        return load_game(text) if bare_name(text) == bare_name(str(named)) else named
    except ConfigError as error:
        raise DataError(f"{path}: {error}") from error
    except (ValueError, SgfError) as error:
        raise DataError(f"{path}: expected a game of {named.name}, got {error}") from error


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
    look = game_look(start.game)
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


def _entries(content: bytes) -> dict[str, str]:
    try:
        head, _, body = content.decode().partition("\n")
    except UnicodeDecodeError as error:
        raise ValueError(f"what is no text: {why(error)}") from error
    if head.strip() != _HEAD:
        raise ValueError(f"{head[:40]!r} in the first line instead of {_HEAD!r}")
    return dict(line.split(":", 1) for line in body.splitlines() if ":" in line)


def _entry(entries: dict[str, str], name: str) -> str:
    if name not in entries:
        raise ValueError(f'a file without a line "{name}:"')
    return entries[name].strip()


def _of_moves(entries: dict[str, str], game: Game) -> State:
    if _entry(entries, "game") != str(game):
        raise ValueError(f"one of {entries['game'].strip()}")
    start = entries.get("start")
    state = game.new_initial_state() if start is None else game.deserialize_state(start.strip())
    if "actions" in entries:
        for number in entries["actions"].split():
            if not number.isdecimal():
                raise ValueError(f"{in_one_line(number)} in the place of an action")
            state.apply_action(int(number))
        return state
    for name in _entry(entries, "moves").split():
        state.apply_action(state.string_to_action(name))
    return state
