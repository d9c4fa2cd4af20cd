"""Import of human games (SGF) as training data: the moves played, and who won."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from pyengine import _core
from pyengine.base.checks import check_callback, check_choice, check_type, elements, shortened
from pyengine.base.files import path_of, read_limited, unread, why
from pyengine.data.progress import OnProgress, tracked
from pyengine.data.record import FinishedGame
from pyengine.data.sgf.collection import SgfError, SgfTree, grammar, read_collection
from pyengine.data.sgf.read import read_game
from pyengine.data.sgf.record import Replay, SgfGame, number_of
from pyengine.data.writer import ShardWriter
from pyengine.errors import ConfigError, DataError
from pyengine.eval.spec import ModelSpec
from pyengine.games.game import Game, load_game, refuse_text

_SHOWN = 20  # unreadable games in the text of a report


@dataclass
class SgfReport:
    """The result of an import.

    Attributes:
        games: number of imported games.
        positions: number of positions in those games.
        komi: komi of the shards; None if the game has no komi.
        skipped: number of games (or unreadable files) left out, by reason.
        accepted: number of imported games with an unusual property, by reason, for example a komi
            other than that of the shards. A property of a whole file counts once.
        examples: the first game for each reason, with details.
        unreadable: every unreadable game or file, with details.
    """

    games: int = 0
    positions: int = 0
    komi: float | None = None
    skipped: Counter[str] = field(default_factory=Counter)
    accepted: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)
    unreadable: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        """Return one line for the total, one per reason and one per damaged game."""
        lines = [f"{self.games} games with {self.positions} positions"]
        for verb, counter in (("skipped", self.skipped), ("accepted", self.accepted)):
            for reason, count in counter.most_common():
                lines.append(f"{verb} {count}: {reason}, for example {self.examples[reason]}")
        lines += self.unreadable[1:_SHOWN]
        if len(self.unreadable) > _SHOWN:
            lines.append(f"and {len(self.unreadable) - _SHOWN} more that are unreadable")
        return "\n".join(lines)

    def skip(self, where: str, error: SgfError) -> None:
        """Count a game that was left out."""
        self.skipped[error.reason] += 1
        if error.reason == "unreadable":
            self.unreadable.append(f"{where}: {error.detail}")
        self.examples.setdefault(error.reason, f"{where}: {error.detail}")

    def accept(self, where: str, notes: dict[str, str]) -> None:
        """Count the unusual properties of a game or file."""
        for reason, detail in notes.items():
            self.accepted[reason] += 1
            self.examples.setdefault(reason, f"{where}: {detail}")

    def check_taken(self, path: Path, game: Game) -> None:
        """Raise ConfigError with the reasons if no game of ``path`` was imported."""
        if not self.games:
            text = "; ".join(str(self).splitlines()) if self.skipped else "no SGF file with a game"
            raise ConfigError(f"{path}: expected SGF files with games of {game}, got {text}")


def import_sgf(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    game: Game,
    spec: ModelSpec,
    *,
    komi: Literal["game", "file"] = "game",
    configuration: dict[str, Any] | None = None,
    on_progress: OnProgress | None = None,
) -> SgfReport:
    """Import the main lines of SGF files of Go or Gomoku as shards.

    Each position has one visit, for the move played. Its value is the result of the game, which is
    also used as ``root_value``. The result is the one in the file (RE), whatever its komi and
    rules, or the one on the board if a Gomoku game is over. Moves after the end of the game (after
    two passes, or beyond ``max_game_length``) are left out. Handicap and set-up stones at the start
    are recorded in the list of games of the shard.

    A game that is unclear, illegal, for another game or board, without a result, or won by time or
    forfeit is skipped and counted by reason. Records that are unusual but unambiguous are imported
    and counted: ``docs/guides/self-play-and-data.md`` describes them. If no game is imported, no
    directory is created.

    Args:
        paths: files, or directories to search for ``*.sgf``. A file may contain many games.
        out: directory of shards; games are added if it exists.
        game: the game of the shards.
        spec: the spec of the shards.
        komi: ``"game"`` imports games with any komi, and counts those that differ from the komi of
            ``game``. ``"file"`` uses the most frequent komi of importable games for the shards, and
            skips games with a different or unclear komi; the files are read twice.
        configuration: JSON values for the manifest.
        on_progress: called with the numbers of files done and in total; by default a terminal
            shows them.

    Ctrl-C keeps the games imported so far.

    Raises:
        ConfigError: SGF does not support the game, ``out`` has data of another game, or a path does
            not exist.
        DataError: the named shard cannot be written.
        EngineError: sgfmill is missing; the message names the extra ``sgf``.

    """
    refuse_text(game)
    check_type("game", game, Game, "a Game")
    check_type("spec", spec, ModelSpec, "a ModelSpec")
    check_choice("komi", komi, ("game", "file"))
    check_callback("on_progress", on_progress)
    number_of(game)
    grammar()
    files = _files(paths)
    if komi == "file":
        game = _with_komi_of(files, game)
    report = SgfReport(komi=game.params.get("komi"))  # type: ignore[arg-type]
    target = path_of("out", out)
    is_new = not target.exists()
    if configuration is None:
        configuration = {"source": "SGF"}
    with ShardWriter(out, game, spec, configuration=configuration) as writer:
        for path in tracked(files, len(files), "SGF files", on_progress):
            for where, tree in _trees(path):
                try:
                    record = read_game(tree)
                    if komi == "file":
                        _check_komi(record, game)
                    replay = record.replay(game)
                    black, resigned = _outcome(record, replay)
                except SgfError as error:
                    report.skip(where, error)
                    report.accept(where, tree.notes)
                    continue
                writer.add(_finished(replay, black, resigned, spec, writer.next_number))
                report.games += 1
                report.positions += len(replay.actions)
                report.accept(where, replay.notes)
    if is_new and not report.games:
        shutil.rmtree(target, ignore_errors=True)
    return report


def _files(paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]]) -> list[Path]:
    single = isinstance(paths, str | os.PathLike)
    items = [paths] if single else elements("paths", paths, "one or more paths")
    files: list[Path] = []
    for path in (path_of("paths", item) for item in items):
        if not path.exists():
            raise ConfigError(f"{path} does not exist")
        files += sgf_files(path)
    return files


def sgf_files(path: Path) -> list[Path]:
    """Return the file itself, or all SGF files below a folder. Raises DataError."""

    def refuse(error: OSError) -> None:
        raise DataError(unread(path, error)) from error

    if not path.is_dir():
        return [path]
    return sorted(
        Path(folder, name)
        for folder, _, names in os.walk(path, onerror=refuse)
        for name in names
        if name.lower().endswith(".sgf")
    )


def _trees(path: Path) -> Iterator[tuple[str, SgfTree]]:
    """Yield all games of a file, including damaged ones, with their names for messages."""
    try:
        content = read_limited(path)
    except OSError as error:
        yield str(path), SgfTree(0, None, SgfError("unreadable", why(error)))
        return
    for tree in read_collection(content):
        yield f"{path}, game {tree.number}" if tree.number else str(path), tree


def _with_komi_of(files: list[Path], game: Game) -> Game:
    """Return the game with the most frequent komi among importable games."""
    if "komi" not in game.params:
        raise ConfigError(f'komi: expected "game" for {game}, which has no komi, got "file"')
    count: Counter[float] = Counter()
    for path in files:
        for _, tree in _trees(path):
            try:
                record = read_game(tree)
                _outcome(record, record.replay(game))
            except SgfError:
                continue
            if record.komi is not None:
                count[record.komi] += 1
    for komi, _ in count.most_common():
        with suppress(ConfigError):  # out of range
            return load_game(game.name, **{**game.params, "komi": komi})
    return game


def _check_komi(record: SgfGame, game: Game) -> None:
    """Raise SgfError unless a record has the game, board and komi of ``game``."""
    record.check_number(game)
    record.check_board(game)
    if record.komi is None:
        raise SgfError("missing or unclear komi", "KM is missing or unclear")
    if record.komi != game.params["komi"]:
        raise SgfError("another komi", f"expected {game.params['komi']:g}, got {record.komi:g}")


def _outcome(record: SgfGame, replay: Replay) -> tuple[float, int]:
    """Return Black's return and the player who resigned, or -1. Raises SgfError if unclear."""
    if not replay.actions:
        raise SgfError("no moves", "the main line is empty")
    result, end = record.result, replay.end
    written = f"RE[{shortened(record.result_text)}]"
    decided = end.game.name == "gomoku" and end.is_terminal()
    on_board = end.returns()[0] if decided else None
    black = None if result is None else {0: 1.0, 1: -1.0, None: 0.0}[result.winner]
    by_move = record.resignation
    if black is not None and on_board is not None and black != on_board:
        raise SgfError("contradictory result", written)
    if result is not None and by_move is not None and result.winner != by_move.winner:
        raise SgfError("contradictory result", written)
    if on_board is not None:
        return on_board, -1
    if result is None or black is None:
        raise SgfError("no result", written)
    if result.how == "late":
        raise SgfError("won by time or forfeit", written)
    return black, int(black > 0) if result.how == "resign" else -1


def _finished(
    replay: Replay, black: float, resigned: int, spec: ModelSpec, number: int
) -> FinishedGame:
    states, actions = replay.states, replay.actions
    game, n = replay.end.game, len(states)
    bits, fill, dense = _core.encode_planes(list(states), spec)
    visits = np.zeros((n, game.num_distinct_actions()), np.uint16)
    visits[np.arange(n), actions] = 1
    to_move = np.array([state.current_player() for state in states], np.uint8)
    set_up = str(replay.start) != str(game.new_initial_state())
    return FinishedGame(
        number=number,
        returns=(black, -black),
        moves=np.array(actions, np.uint16),
        start=replay.start.serialize() if set_up else None,
        resigned=resigned,
        bits=bits,
        fill=fill,
        dense=dense,
        visits=visits,
        root_value=np.where(to_move == 0, black, -black).astype(np.float32),
        network_value=np.full(n, np.nan, np.float32),
        ply=np.arange(n, dtype=np.uint16),
        action=np.array(actions, np.uint16),
        to_move=to_move,
        full=np.ones(n, np.uint8),
    )
