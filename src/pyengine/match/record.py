"""The record of a match: a file with a line of JSON for its arguments and one for each game."""

from __future__ import annotations

import dataclasses
import json
import os
from io import BufferedRandom, TextIOWrapper
from pathlib import Path
from typing import Any

from pyengine.data.files import lock
from pyengine.errors import ConfigError, DataError
from pyengine.games import Game, State
from pyengine.match.result import GameRecord

__all__ = ["Record", "replay"]

_VERSION = 1


class Record:
    """Games that are finished, read from a file and added to it as they end.

    Args:
        path: the file; None keeps nothing. A match goes on where its file ends; what a crash left
            of a last line is cut off.
        game: of the match; the games of the file are replayed.
        arguments: of the match, plain values.

    Raises:
        ConfigError: the file is that of a match with other arguments, which are told, or another
            match is writing it.
        DataError: a line is damaged; says which.

    """

    def __init__(
        self, path: str | os.PathLike[str] | None, game: Game, arguments: dict[str, Any]
    ) -> None:
        """Read the file, or begin it."""
        self.games: list[GameRecord] = []
        self._file: TextIOWrapper | None = None
        self._lock: BufferedRandom | None = None
        if path is None:
            return
        file = Path(path)
        try:
            self._lock = lock(file)
        except ConfigError as error:
            raise ConfigError(f"{file}: another match is writing this record") from error
        try:
            self._open(
                file, game, {"pyengine_match": _VERSION, **json.loads(json.dumps(arguments))}
            )
        except BaseException:
            self.close()
            raise

    def _open(self, file: Path, game: Game, header: dict[str, Any]) -> None:
        """Read what is there and make ready for more."""
        lines = _whole_lines(file)
        if lines:
            _compare(file, _parsed(file, 1, lines[0]), header)
            for number, line in enumerate(lines[1:], 2):
                self.games.append(_game_of(file, number, line, game))
        self._file = file.open("a", encoding="utf-8")
        if not lines:
            self._write(header)

    def add(self, game: GameRecord) -> None:
        """Keep a finished game, at once."""
        self.games.append(game)
        self._write(dataclasses.asdict(game))

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
            self._file = None
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def _write(self, line: dict[str, Any]) -> None:
        if self._file is not None:
            self._file.write(json.dumps(line) + "\n")
            self._file.flush()


def replay(game: Game, moves: tuple[int, ...]) -> State:
    """Return the state after some moves from the start. Raises IllegalActionError."""
    state = game.new_initial_state()
    for move in moves:
        state.apply_action(move)
    return state


def _whole_lines(file: Path) -> list[str]:
    """The lines of a file that ends with a whole one, which it does afterwards."""
    if not file.exists():
        return []
    data = file.read_bytes()
    end = data.rfind(b"\n") + 1
    if end < len(data):
        with file.open("r+b") as half:
            half.truncate(end)
    try:
        return data[:end].decode("utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise DataError(
            f"{file}: expected the record of a match, found no text: {error}"
        ) from error


def _parsed(file: Path, number: int, line: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except json.JSONDecodeError as error:
        raise DataError(f"{file}, line {number}: expected JSON, found {line[:60]!r}") from error
    if not isinstance(value, dict):
        raise DataError(f"{file}, line {number}: expected an object, found {line[:60]!r}")
    return value


def _compare(file: Path, found: dict[str, Any], expected: dict[str, Any]) -> None:
    if "pyengine_match" not in found:
        raise DataError(f"{file}, line 1: expected the record of a match, found {str(found)[:60]}")
    different = [
        f"{key}: expected {expected.get(key)}, found {found.get(key)}"
        for key in sorted(found.keys() | expected.keys())
        if found.get(key) != expected.get(key)
    ]
    if different:
        raise ConfigError(f"{file} is the record of another match: {'; '.join(different)}")


def _game_of(file: Path, number: int, line: str, game: Game) -> GameRecord:
    """The game of a line, replayed: its moves are legal and end with its result."""
    fields = _parsed(file, number, line)
    try:
        record = GameRecord(
            pair=int(fields["pair"]),
            a_plays=int(fields["a_plays"]),
            opening=tuple(map(int, fields["opening"])),
            moves=tuple(map(int, fields["moves"])),
            result=int(fields["result"]),
        )
        state = replay(game, record.opening + record.moves)
    except (KeyError, TypeError, ValueError) as error:
        raise DataError(f"{file}, line {number}: not a game of this match: {error!r}") from error
    points = state.returns()[record.a_plays] if state.is_terminal() else None
    if points is None or (points > 0) - (points < 0) != record.result:
        raise DataError(
            f"{file}, line {number}: expected moves that end with the result {record.result}, "
            f"found {'an open game' if points is None else points}"
        )
    return record
