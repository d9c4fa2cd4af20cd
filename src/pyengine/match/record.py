"""The record of a match: JSON lines, first the arguments of the match and then its games."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from filelock import FileLock

from pyengine.base.files import path_of, unread, unwritten
from pyengine.base.locks import lock
from pyengine.data.checked import check, whole, wholes
from pyengine.errors import ConfigError, DataError
from pyengine.games.game import Game, State
from pyengine.match.openings import Book
from pyengine.match.result import GameRecord

_VERSION = 1
_MARK = "pyengine_match"
_MAX_PAIRS = 2**31 - 1
_HEADER_BEGINS = f'{{"{_MARK}": '.encode()
_GAME_BEGINS = b'{"pair": '


class Record:
    """The finished games of a match: those of an existing file and those added to it.

    The file is checked before it is changed, and the first new game is the first change. A last
    line that a crash cut off is overwritten.

    Args:
        path: the file; None = no file.
        game: of the match; recorded games are replayed.
        arguments: returns the arguments of the match as plain values.
        book: the openings, which must include those of the file.
        max_plies: length at which a game is a draw; None = no limit.

    Raises:
        ConfigError: the file belongs to another match, or another match is writing it.
        DataError: the file is not a record, is damaged or cannot be opened.

    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None,
        game: Game,
        arguments: Callable[[], dict[str, Any]],
        book: Book,
        max_plies: int | None,
    ) -> None:
        self.games: list[GameRecord] = []
        self._lock: FileLock | None = None
        if path is None:
            return
        self._path = path_of("record", path)
        self._lock = _locked(self._path)
        try:
            reader = _Reader(self._path, game, book, max_plies)
            self._begin, self._end = reader.read(arguments, self.games)
        except BaseException:
            self.close()
            raise

    def add(self, game: GameRecord) -> None:
        """Append a finished game. Raises DataError if the file cannot be written."""
        self.games.append(game)
        if self._lock is None:
            return
        fields = dataclasses.asdict(game)
        del fields["cut_short"]  # follows from the moves
        line = self._begin + _line(fields)
        try:
            with self._path.open("ab") as file:
                file.truncate(self._end)
                file.write(line)
        except OSError as error:
            raise DataError(unwritten(self._path, error)) from error
        self._begin = b""
        self._end += len(line)

    def close(self) -> None:
        """Release the file."""
        if self._lock is not None:
            self._lock.release()


def replay(game: Game, moves: tuple[int, ...]) -> State:
    """Return the state after moves from the start."""
    state = game.new_initial_state()
    for move in moves:
        state.apply_action(move)
    return state


def result_of(state: State, plies: int, a_plays: int, max_plies: int | None) -> int | None:
    """Return a's result of a game: 1, 0 or -1, or None if it continues."""
    if state.is_terminal():
        points = state.returns()[a_plays]
        return (points > 0) - (points < 0)
    return 0 if max_plies is not None and plies >= max_plies else None


def _line(value: dict[str, Any]) -> bytes:
    return (json.dumps(value) + "\n").encode()


def _locked(path: Path) -> FileLock:
    if path.exists() and not path.is_file():
        raise DataError(f"{path}: expected the record of a match, got no regular file")
    try:
        file = Path(os.path.realpath(path))
        return lock(file.with_name(f"{file.name}.lock"))
    except ConfigError as error:
        raise ConfigError(f"{path}: another match is writing this record") from error
    except OSError as error:
        raise DataError(unwritten(path, error)) from error


class _Reader:
    """Reads and checks the file of a match."""

    def __init__(self, path: Path, game: Game, book: Book, max_plies: int | None) -> None:
        self._path = path
        self._game = game
        self._book = book
        self._max_plies = max_plies
        self._number = 0  # of the current line, from 1
        self._lines: dict[tuple[int, int], int] = {}  # line numbers by pair and colour
        self._openings: dict[int, tuple[int, ...]] = {}

    def read(
        self, arguments: Callable[[], dict[str, Any]], games: list[GameRecord]
    ) -> tuple[bytes, int]:
        """Add the games of the file to a list.

        Returns:
            The bytes that precede the next game, and their position in the file.

        """
        first, *lines = self._read_lines() or [b""]
        self._number = 1
        actual = self._header(first)
        header = {_MARK: _VERSION, **json.loads(json.dumps(arguments()))}
        if actual is None:
            if not _line(header).startswith(first):
                raise self._not_a_record(first)
            return _line(header), 0
        self._compare(actual, header)
        end = len(first)
        for line in lines:
            self._number += 1
            is_whole = line.endswith(b"\n")
            if not is_whole and _cut_off(line):
                break
            games.append(self._game_of(line))
            end += len(line)
            if not is_whole:
                return b"\n", end
        return b"", end

    def _read_lines(self) -> list[bytes]:
        try:
            with self._path.open("r+b") as file:  # fails early if it cannot be written
                return file.readlines()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise DataError(unread(self._path, error)) from error

    def _header(self, line: bytes) -> dict[str, Any] | None:
        """Return the header, or None if a crash may have cut it off."""
        if not line.endswith(b"\n") and _is_start(line, _HEADER_BEGINS):
            return None
        try:
            header = _parsed(line)
        except ValueError as error:
            raise self._not_a_record(line) from error
        if not isinstance(header, dict) or _MARK not in header:
            raise self._not_a_record(line)
        return header

    def _compare(self, actual: dict[str, Any], expected: dict[str, Any]) -> None:
        different = [
            f"{key}: expected {expected.get(key)}, got {actual.get(key)}"
            for key in sorted(actual.keys() | expected.keys())
            if actual.get(key) != expected.get(key)
        ]
        if different:
            raise ConfigError(
                f"{self._path} is the record of another match: {'; '.join(different)}"
            )

    def _game_of(self, line: bytes) -> GameRecord:
        """Return the game of a line after replaying it."""
        try:
            fields = _parsed(line)
            actions = wholes(0, self._game.num_distinct_actions() - 1)
            check(
                fields,
                {
                    "pair": whole(0, _MAX_PAIRS),
                    "a_plays": whole(0, 1),
                    "opening": actions,
                    "moves": actions,
                    "result": whole(-1, 1),
                },
            )
            record = GameRecord(
                pair=fields["pair"],
                a_plays=fields["a_plays"],
                opening=tuple(fields["opening"]),
                moves=tuple(fields["moves"]),
                result=fields["result"],
            )
            self._check_place(record)
            end = self._check_end(record)
        except ValueError as error:  # IllegalActionError is one
            raise self._damaged(str(error)) from error
        return dataclasses.replace(record, cut_short=not end.is_terminal())

    def _check_place(self, record: GameRecord) -> None:
        """Raise ValueError for a repeated game or a wrong opening."""
        place = (record.pair, record.a_plays)
        if place in self._lines:
            raise ValueError(f"repeats the game of line {self._lines[place]}")
        self._lines[place] = self._number
        known = self._openings.get(record.pair)
        if known is None:
            self._book.check(record.pair, record.opening)
            self._openings[record.pair] = record.opening
        elif known != record.opening:
            raise ValueError(
                f"expected the opening {list(known)} of pair {record.pair}, "
                f"got {list(record.opening)}"
            )

    def _check_end(self, record: GameRecord) -> State:
        """Return the last state. Raises ValueError if it does not have the recorded result."""
        state = replay(self._game, record.opening)
        if state.is_terminal():
            raise ValueError(f"the opening {list(record.opening)} ends the game")
        for move in record.moves:
            state.apply_action(move)
        plies = len(record.opening) + len(record.moves)
        result = result_of(state, plies, record.a_plays, self._max_plies)
        if result is None:
            raise ValueError("the moves do not end the game")
        if result != record.result:
            raise ValueError(f"expected the result {record.result}, got {result}")
        return state

    def _not_a_record(self, line: bytes) -> DataError:
        return self._damaged(f"expected the record of a match, got {line[:60]!r}")

    def _damaged(self, how: str) -> DataError:
        return DataError(f"{self._path}, line {self._number}: {how}")


def _parsed(line: bytes) -> Any:
    try:
        return json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"expected JSON, got {line[:60]!r} ({error})") from error


def _is_start(line: bytes, begins: bytes) -> bool:
    """Return whether a line and a prefix agree up to the shorter length."""
    return begins.startswith(line[: len(begins)])


def _cut_off(line: bytes) -> bool:
    """Return whether a last line is the start of a game's line."""
    if not _is_start(line, _GAME_BEGINS):
        return False
    try:
        _parsed(line)
    except ValueError:
        return True
    return False
