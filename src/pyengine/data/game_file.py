"""Reading a game from any file that a player has: SGF, GGF, saved games, lists of moves."""

from __future__ import annotations

import codecs
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pyengine.base.checks import shortened
from pyengine.base.files import path_of, read_limited, unread, why
from pyengine.data.ggf import is_ggf, read_ggf
from pyengine.data.sgf.collection import SgfError
from pyengine.data.sgf.read import first_game
from pyengine.data.sgf.record import SgfGame
from pyengine.errors import ConfigError, DataError
from pyengine.games.game import Game, State, load_game, load_recorded_game
from pyengine.games.move_names import play_moves
from pyengine.search.tree import names_of_line

#: The first line of a game saved by ``pyengine play`` as a list of moves.
SAVED_GAME = "pyengine game"

_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_HEAD_BYTES = 200  # in which a file in GGF names its game
# Notes of a record that do not matter here: rules get a note of their own, stones are visible.
_UNIMPORTANT = ("other rules", "handicap or set-up stones")


@dataclass(frozen=True)
class GameFile:
    """A game read from a file.

    Attributes:
        game: the game with the board, komi and rules of the file.
        start: the position before the first move, with handicap and set-up stones.
        actions: the moves.
        players: the names of the first and the second player, "" if unknown; in one printable
            line, shortened if long.
        result: the result as written in the file, "" if unknown; also shortened.
        notes: what was unusual or ignored.
        record: the record, of an SGF file alone.
    """

    game: Game
    start: State
    actions: tuple[int, ...]
    players: tuple[str, str] = ("", "")
    result: str = ""
    notes: tuple[str, ...] = ()
    record: SgfGame | None = None

    @property
    def positions(self) -> list[State]:
        """The position before each move, then the last one."""
        positions = [self.start.clone()]
        for action in self.actions:
            positions.append(positions[-1].clone())
            positions[-1].apply_action(action)
        return positions

    @property
    def end(self) -> State:
        """The last position."""
        state = self.start.clone()
        for action in self.actions:
            state.apply_action(action)
        return state


def read_game_file(
    file: str | os.PathLike[str], game: Game | None = None, *, exact: bool = False
) -> GameFile:
    """Return the first game of a file.

    Args:
        file: SGF (Go, Gomoku, Renju), GGF (Othello), a game saved by ``pyengine play``, or a list
            of moves: ``4 4 3 2``, ``f5d6c3``, ``1. D4 E5``, on one or many lines.
        game: the game of a list of moves, or of a user's saved game. Other files name their game:
            then it must have this name, and only gives the komi if the file has none.
        exact: the file must be a game of exactly ``game``.

    Raises:
        ConfigError: the file is a list of moves, and ``game`` is None.
        DataError: the file cannot be read, is damaged, or is of another game; the message names
            the file and the reason.
        EngineError: the file is SGF and sgfmill is missing.

    Example:
        >>> import pathlib, pyengine, tempfile
        >>> from pyengine.data.game_file import read_game_file
        >>> path = pathlib.Path(tempfile.mkdtemp()) / "moves.txt"
        >>> _ = path.write_text("1. 4 4 2. 3 2")
        >>> read_game_file(path, pyengine.load_game("connect_four")).actions
        (3, 3, 2, 1)
    """
    path = path_of("file", file)
    try:
        content = read_limited(path)
    except OSError as error:
        raise DataError(unread(path, error)) from error
    return game_in(content, str(path), game, exact=exact)


def game_in(
    content: bytes,
    name: str,
    game: Game | None = None,
    *,
    exact: bool = False,
    find_game: Callable[[str], Game] | None = None,
) -> GameFile:
    """Return the first game in the content of a file; see :func:`read_game_file`.

    ``find_game`` loads the game that a saved game names, which then need not be ``game``.
    """
    try:
        file = _parsed(content, Path(name).suffix.lower(), game, exact, find_game)
    except _UnnamedGameError:
        raise ConfigError(
            f"{name}: a list of moves does not name its game: give the game, such as connect_four"
        ) from None
    except UnicodeDecodeError as error:
        raise DataError(f"{name}: {why(error)}") from error
    except (ConfigError, DataError, ValueError) as error:  # IllegalActionError too
        expected = ""
        if game is not None and not isinstance(error, ConfigError):
            expected = f"expected a game of {game if exact else game.name}, got "
        raise DataError(f"{name}: {expected}{error}") from error
    first, second = map(_one_line, file.players)
    return replace(file, players=(first, second), result=_one_line(file.result))


def _one_line(text: str) -> str:
    return shortened(" ".join(text.split()))


def saved_game(start: State, actions: Sequence[int], result: str = "") -> bytes:
    """Return a game as a file that :func:`read_game_file` reads, for every game."""
    names = names_of_line(start, actions)
    lines = [
        SAVED_GAME,
        f"game: {start.game}",
        f"moves: {' '.join(' '.join(names).split())}",
        f"actions: {' '.join(map(str, actions))}",  # names may contain spaces or be ambiguous
        f"result: {result}",
    ]
    if start.serialize() != start.game.new_initial_state().serialize():
        lines.insert(2, f"start: {start.serialize()}")
    return "".join(f"{line}\n" for line in lines).encode()


class _UnnamedGameError(Exception):
    """The content does not name its game."""


def _parsed(
    content: bytes,
    suffix: str,
    game: Game | None,
    exact: bool,
    find_game: Callable[[str], Game] | None,
) -> GameFile:
    is_list = suffix == ".sgf" or content.lstrip(b"\xef\xbb\xbf\t\r\n ").startswith(b"(")
    if is_list and not is_ggf(content[:_HEAD_BYTES].decode("latin-1")):
        return _from_sgf(content, game, exact)
    text = content.decode("utf-16" if content.startswith(_UTF_16) else "utf-8-sig")
    if is_ggf(text):
        return _from_ggf(text, game, exact)
    if text.partition("\n")[0].strip() == SAVED_GAME:
        return _from_saved(text, game, exact, find_game)
    if game is None:
        raise _UnnamedGameError
    if not text.strip():
        raise ValueError("an empty file")
    state = game.new_initial_state()
    _, result = play_moves(state, text)
    return _played(state, result=result)


def _played(end: State, **more: Any) -> GameFile:
    """Return the game whose last position is ``end``."""
    start = end.clone()
    while start.history():
        start.undo_action()
    return GameFile(end.game, start, tuple(end.history()), **more)


def _check(read: Game, game: Game | None, exact: bool) -> None:
    """Raise ValueError unless a game that was read fits the one that the caller expects."""
    if game is not None and (read != game if exact else read.name != game.name):
        raise ValueError(f"a game of {read}")


def _from_sgf(content: bytes, game: Game | None, exact: bool) -> GameFile:
    record = first_game(content)
    if game is not None:
        record.check_number(game)
    played = game if game is not None and exact else _game_of(record, game)
    notes = [record.replaced_rules(played)]
    try:
        replay = record.replay(played)
    except SgfError as error:
        if exact or error.reason != "illegal move" or played.name != "go" or record.exact_rules:
            raise
        played = load_game("go", **(played.params | {"superko": "simple"}))
        replay = record.replay(played)
        notes = ["a position is repeated: the game is read with the simple ko rule"]
    if "another komi" in replay.notes:
        raise ValueError(f"a komi of {record.komi:g}")
    if record.komi is None and "komi" in played.params:
        notes.append(f"the file gives no komi: {played.params['komi']:g} is assumed")
    unusual = [f"{k}: {note}" for k, note in replay.notes.items() if k not in _UNIMPORTANT]
    return _played(
        replay.end,
        players=record.players,
        result=record.result_text or str(record.result or ""),
        notes=tuple(filter(None, [*unusual, *notes])),
        record=record,
    )


def _game_of(record: SgfGame, game: Game | None) -> Game:
    """Return the game of a record; without KM, its komi is that of ``game``."""
    read = record.game(record.game_name if game is None else game.name)
    if record.komi is not None or game is None or "komi" not in game.params:
        return read
    return load_game(read.name, **(read.params | {"komi": game.params["komi"]}))


def _from_ggf(text: str, game: Game | None, exact: bool) -> GameFile:
    read = read_ggf(text)
    _check(read.start.game, game, exact)
    return GameFile(
        read.start.game, read.start, read.actions, read.players, read.result, read.notes
    )


def _from_saved(
    text: str, game: Game | None, exact: bool, find_game: Callable[[str], Game] | None
) -> GameFile:
    entries = dict(line.split(":", 1) for line in text.splitlines()[1:] if ":" in line)

    def entry(name: str) -> str:
        if name not in entries:
            raise ValueError(f'a file without a line "{name}:"')
        return entries[name].strip()

    named = entry("game")
    if find_game is not None:
        read = game = find_game(named)
    elif game is not None and named == str(game):
        read = game
    elif game is None or named.partition("(")[0] == str(game).partition("(")[0]:
        read = load_recorded_game(named)
    else:
        raise ValueError(f"a game of {named}")
    _check(read, game, exact)
    state = read.new_initial_state()
    if "start" in entries:
        state = read.deserialize_state(entry("start"))
    for number in entry("actions").split():
        state.apply_action(int(number))
    return _played(state, result=entries.get("result", "").strip())
