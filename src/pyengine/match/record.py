"""The record of a match: JSON lines, first the arguments of the match and then its games."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from filelock import FileLock

from pyengine.base.files import check_output, path_of, unread, unwritten
from pyengine.base.locks import lock
from pyengine.data.checked import check, one_of, whole, wholes
from pyengine.errors import ConfigError, DataError
from pyengine.games.game import Game, State
from pyengine.games.outcomes import Loss
from pyengine.match.result import GameRecord

_MARK = "pyengine_match"
_VERSION = 1
_MAX_PAIRS = 2**31 - 1
_GAME_BEGINS = b'{"pair": '


class Record:
    """The finished games of a match: those of an existing file and those added to it.

    The file is checked before it is changed, and the first new game is the first change. A last
    line that a crash cut off is overwritten.

    Args:
        path: the file; None = no file.
        game: of the match; recorded games are replayed.
        arguments: returns the arguments of the match as plain values.
        max_plies: length at which a game is a draw; None = no limit.

    Raises:
        ConfigError: the path cannot hold a record, the record belongs to another match, or another
            match is writing it.
        DataError: the file is not a record, is damaged or cannot be opened.

    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None,
        game: Game,
        arguments: Callable[[], dict[str, Any]],
        max_plies: int | None,
    ) -> None:
        self.games: list[GameRecord] = []
        self._lock: FileLock | None = None
        if path is None:
            return
        self._path = path_of("record", path)
        self._lock = _locked(self._path)
        self._end = 0  # of the last complete line
        try:
            first, *lines = _lines_of(self._path) or [b""]
            # Written before the first game if the file is empty or its header was cut off.
            self._header = _line({_MARK: _VERSION, **arguments()})
            if not self._header.startswith(first) or first == self._header:
                self._check_header(first)
                self._end = len(first)
                self._read(lines, game, max_plies)
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
        if game.loss is None:
            del fields["loss"]
        line = _line(fields) if self._end else self._header + _line(fields)
        try:
            with self._path.open("ab") as file:
                file.truncate(self._end)
                file.write(line)
        except OSError as error:
            raise DataError(unwritten(self._path, error)) from error
        self._end += len(line)

    def close(self) -> None:
        """Release the file."""
        if self._lock is not None:
            self._lock.release()

    def _check_header(self, line: bytes) -> None:
        try:
            actual = _parsed(line)
        except ValueError:
            actual = None
        if not isinstance(actual, dict) or _MARK not in actual:
            raise DataError(
                f"{self._path}, line 1: expected the record of a match, got {line[:60]!r}"
            )
        expected = json.loads(self._header)
        different = [
            f"{key}: expected {expected.get(key)}, got {actual.get(key)}"
            for key in sorted(actual.keys() | expected.keys())
            if actual.get(key) != expected.get(key)
        ]
        if different:
            raise ConfigError(
                f"{self._path} is the record of another match: {'; '.join(different)}"
            )

    def _read(self, lines: Sequence[bytes], game: Game, max_plies: int | None) -> None:
        """Read the games up to an incomplete line."""
        openings: dict[int, tuple[int, ...]] = {}
        numbers: dict[tuple[int, int], int] = {}  # of the lines, by pair and colour
        for number, line in enumerate(lines, 2):
            is_whole = line.endswith(b"\n")
            if not is_whole and _GAME_BEGINS.startswith(line[: len(_GAME_BEGINS)]):
                return
            try:
                if not is_whole:
                    raise ValueError(f"expected a game, got {line[:60]!r}")
                record = _game_of(line, game, max_plies)
                same = numbers.setdefault((record.pair, record.a_plays), number)
                if same != number:
                    raise ValueError(f"repeats the game of line {same}")
                opening = openings.setdefault(record.pair, record.opening)
                if opening != record.opening:
                    raise ValueError(
                        f"expected the opening {opening} of pair {record.pair}, "
                        f"got {record.opening}"
                    )
            except ValueError as error:  # IllegalActionError is one
                raise DataError(f"{self._path}, line {number}: {error}") from error
            self.games.append(record)
            self._end += len(line)


def finished_game(
    state: State,
    pair: int,
    a_plays: int,
    opening: int,
    max_plies: int | None,
    loss: Loss | None = None,
) -> GameRecord | None:
    """Return the record of a game, or None if it continues.

    Args:
        state: the last position.
        pair, a_plays: see :class:`GameRecord`.
        opening: its length in plies.
        max_plies: see :func:`match`.
        loss: how the player to move has lost, if so.

    """
    over = state.is_terminal()
    cut_short = max_plies is not None and len(state.history()) >= max_plies
    if loss is not None:
        points = -1.0 if state.current_player() == a_plays else 1.0
    elif over or cut_short:
        points = state.returns()[a_plays] if over else 0.0
    else:
        return None
    actions = tuple(state.history())
    return GameRecord(
        pair=pair,
        a_plays=a_plays,
        opening=actions[:opening],
        moves=actions[opening:],
        result=(points > 0) - (points < 0),
        cut_short=not over and loss is None,
        loss=loss,
    )


def _line(value: dict[str, Any]) -> bytes:
    return (json.dumps(value) + "\n").encode()


def _locked(path: Path) -> FileLock:
    check_output(path)
    try:
        file = Path(os.path.realpath(path))
        return lock(file.with_name(f"{file.name}.lock"))
    except ConfigError as error:
        raise ConfigError(f"{path}: another match is writing this record") from error
    except OSError as error:
        raise DataError(unwritten(path, error)) from error


def _lines_of(path: Path) -> list[bytes]:
    try:
        with path.open("r+b") as file:  # fails early if it cannot be written
            return file.readlines()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise DataError(unread(path, error)) from error


def _parsed(line: bytes) -> Any:
    try:
        return json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"expected JSON, got {line[:60]!r} ({error})") from error


def _game_of(line: bytes, game: Game, max_plies: int | None) -> GameRecord:
    """Return the game of a line after replaying it. Raises ValueError."""
    fields = _parsed(line)
    actions = wholes(0, game.num_distinct_actions() - 1)
    kinds = {
        "pair": whole(0, _MAX_PAIRS),
        "a_plays": whole(0, 1),
        "opening": actions,
        "moves": actions,
        "result": whole(-1, 1),
    }
    check(fields, kinds)
    loss = None
    if "loss" in fields:
        one_of(*Loss)("loss", fields["loss"])
        loss = Loss(fields["loss"])
    opening = fields["opening"]
    state = game.new_initial_state([*opening, *fields["moves"]])
    if loss is not None and state.is_terminal():
        raise ValueError(f"the moves end the game, and a player {loss}")
    record = finished_game(state, fields["pair"], fields["a_plays"], len(opening), max_plies, loss)
    if record is None:
        raise ValueError("the moves do not end the game")
    if record.result != fields["result"]:
        raise ValueError(f"expected the result {record.result}, got {fields['result']}")
    return record
