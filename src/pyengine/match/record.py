"""The record of a match: a file with a line of JSON for its arguments and one for each game."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from pyengine.base.files import path_of, unread, unwritten, why
from pyengine.base.locks import Lock, lock
from pyengine.data.checked import check, whole, wholes
from pyengine.errors import ConfigError, DataError
from pyengine.games.game import Game, State
from pyengine.match.openings import Book
from pyengine.match.result import GameRecord

_VERSION = 1
_MARK = "pyengine_match"
_MOST_BYTES = 1 << 26  # of a line
_MOST_PAIRS = 2**31 - 1
_HEADER_BEGINS = f'{{"{_MARK}": '.encode()
_GAME_BEGINS = b'{"pair": '


class Record:
    """Games that are finished, read from a file and added to it as they end.

    The file is read as a whole before a byte of it changes, and the first byte changes when the
    first new game ends. Until then a file that is absent is empty, and is removed where no game
    ends.

    Args:
        path: the file; None keeps nothing. A match goes on where its file ends; what a crash left
            of a last line is written over.
        game: of the match; the games of the file are replayed.
        arguments: returns those of the match, plain values; called when the file is known to be
            absent, empty or a record.
        book: the openings, which those of the file must be among.
        max_plies: of a game; one without an end is then a draw. None = no limit.

    Raises:
        ConfigError: the file is that of a match with other arguments, which are told, or another
            match is writing it.
        DataError: it is no record, a line is damaged, which is told, or it cannot be opened.

    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None,
        game: Game,
        arguments: Callable[[], dict[str, Any]],
        book: Book,
        max_plies: int | None,
    ) -> None:
        """Read the file; see the class."""
        self.games: list[GameRecord] = []
        self._lock: Lock | None = None
        if path is None:
            return
        file = path_of("record", path)
        self._lock = _locked(file)
        try:
            reader = _Reader(file, self._lock, game, book, max_plies)
            self._begin, self._end = reader.read(arguments, self.games)
        except BaseException:
            self.close()
            raise

    def add(self, game: GameRecord) -> None:
        """Keep a finished game, at once. Raises DataError when the file cannot be written."""
        self.games.append(game)
        if self._lock is None:
            return
        fields = dataclasses.asdict(game)
        del fields["cut_short"]  # the moves say it
        line = self._begin + _line(fields)
        file = self._lock.file
        try:
            file.seek(self._end)
            file.truncate()
            file.write(line)
            file.flush()
        except OSError as error:
            raise DataError(unwritten(Path(file.name), error)) from error
        self._begin = b""
        self._end += len(line)

    def close(self) -> None:
        """Close the file."""
        if self._lock is not None:
            with suppress(OSError):  # what could not be written was told by add()
                self._lock.discard()
            self._lock = None


def replay(game: Game, moves: tuple[int, ...]) -> State:
    """Return the state after some moves from the start. Raises IllegalActionError."""
    state = game.new_initial_state()
    for move in moves:
        state.apply_action(move)
    return state


def result_of(state: State, plies: int, a_plays: int, max_plies: int | None) -> int | None:
    """Return a's result of a game after so many plies, 1, 0 or -1; None where it goes on."""
    if state.is_terminal():
        points = state.returns()[a_plays]
        return (points > 0) - (points < 0)
    return 0 if max_plies is not None and plies >= max_plies else None


def _line(value: dict[str, Any]) -> bytes:
    return (json.dumps(value) + "\n").encode()


def _locked(file: Path) -> Lock:
    try:
        if file.exists() and not file.is_file():
            raise DataError(f"{file}: expected the record of a match, got no regular file")
        return lock(file)
    except ConfigError as error:
        raise ConfigError(f"{file}: another match is writing this record") from error
    except (OSError, ValueError) as error:  # the latter: no file can have such a name
        raise DataError(
            f"{file} cannot be opened as the record of a match: {why(error)}"
        ) from error


class _Reader:
    """Reads the file of a match and changes nothing of it."""

    def __init__(
        self, path: Path, held: Lock, game: Game, book: Book, max_plies: int | None
    ) -> None:
        self._path = path
        self._held = held
        self._game = game
        self._book = book
        self._max_plies = max_plies
        self._number = 0  # of the line that is read, from 1
        self._lines: dict[tuple[int, int], int] = {}  # of each game
        self._openings: dict[int, tuple[int, ...]] = {}

    def read(
        self, arguments: Callable[[], dict[str, Any]], games: list[GameRecord]
    ) -> tuple[bytes, int]:
        """Add the games of the file.

        Returns:
            What comes before the next game, and the position in the file where that goes.

        """
        lines = self._whole_lines()
        first = next(lines, b"")
        found = self._header(first)
        header = {_MARK: _VERSION, **json.loads(json.dumps(arguments()))}
        if found is None:
            if not _line(header).startswith(first):
                raise self._no_record(first)
            return _line(header), 0
        self._compare(found, header)
        end = len(first)
        for line in lines:
            if not line.endswith(b"\n") and _cut_off(line):
                break
            games.append(self._game_of(line))
            end += len(line)
            if not line.endswith(b"\n"):
                return b"\n", end
        return b"", end

    def _whole_lines(self) -> Iterator[bytes]:
        """Lines, each but the last with its end."""
        try:
            while line := self._held.file.readline(_MOST_BYTES + 1):
                self._number += 1
                if len(line) > _MOST_BYTES:
                    raise self._damaged(f"expected at most {_MOST_BYTES:,} bytes, got more")
                yield line
        except OSError as error:
            raise DataError(unread(self._path, error)) from error

    def _header(self, line: bytes) -> dict[str, Any] | None:
        """The header in the first line; None where that may be what a crash left of one."""
        if not line.endswith(b"\n") and _is_start(line, _HEADER_BEGINS):
            return None
        try:
            header = _parsed(line)
        except ValueError as error:
            raise self._no_record(line) from error
        if not isinstance(header, dict) or _MARK not in header:
            raise self._no_record(line)
        return header

    def _compare(self, found: dict[str, Any], expected: dict[str, Any]) -> None:
        different = [
            f"{key}: expected {expected.get(key)}, got {found.get(key)}"
            for key in sorted(found.keys() | expected.keys())
            if found.get(key) != expected.get(key)
        ]
        if different:
            raise ConfigError(
                f"{self._path} is the record of another match: {'; '.join(different)}"
            )

    def _game_of(self, line: bytes) -> GameRecord:
        """The game of a line, replayed: its moves are legal and end with its result."""
        try:
            fields = _parsed(line)
            actions = wholes(0, self._game.num_distinct_actions() - 1)
            check(
                fields,
                {
                    "pair": whole(0, _MOST_PAIRS),
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
        """Raise ValueError unless the game is the only one of its place, with its opening."""
        place = (record.pair, record.a_plays)
        if place in self._lines:
            raise ValueError(
                f"expected each game once, got that of line {self._lines[place]} again"
            )
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
        """Return the last state. Raises ValueError for moves that do not end with the result."""
        state = replay(self._game, record.opening)
        if state.is_terminal():
            raise ValueError(f"expected an open game, got {list(record.opening)}, which ends")
        for move in record.moves:
            state.apply_action(move)
        plies = len(record.opening) + len(record.moves)
        result = result_of(state, plies, record.a_plays, self._max_plies)
        if result is None:
            raise ValueError("expected moves that end the game, got an open one")
        if result != record.result:
            raise ValueError(
                f"expected moves that end with the result {record.result}, got {result}"
            )
        return state

    def _no_record(self, line: bytes) -> DataError:
        return self._damaged(f"expected the record of a match, got {line[:60]!r}")

    def _damaged(self, how: str) -> DataError:
        return DataError(f"{self._path}, line {self._number}: {how}")


def _parsed(line: bytes) -> Any:
    """The value of a line of JSON. Raises ValueError."""
    try:
        return json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"expected JSON, got {line[:60]!r} ({error})") from error


def _is_start(line: bytes, begins: bytes) -> bool:
    """Whether a line begins so, as far as it goes."""
    return begins.startswith(line[: len(begins)])


def _cut_off(line: bytes) -> bool:
    """Whether a last line without an end is what a crash left of a game's."""
    if not _is_start(line, _GAME_BEGINS):
        return False
    try:
        _parsed(line)
    except ValueError:
        return True
    return False
