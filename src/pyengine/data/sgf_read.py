"""Training data from people's games (SGF): the moves played, and who won."""

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
from pyengine.base.arguments import check_callback, check_choice, check_type, elements, shortened
from pyengine.base.files import path_of, read_limited, unread, why
from pyengine.data.progress import OnProgress, tracked
from pyengine.data.record import FinishedGame
from pyengine.data.sgf.collection import SgfError, SgfTree, grammar, read_collection
from pyengine.data.sgf.read import read_game
from pyengine.data.sgf.record import Replay, SgfGame
from pyengine.data.sgf.rules import number_of
from pyengine.data.writer import ShardWriter
from pyengine.errors import ConfigError, DataError
from pyengine.eval.spec import ModelSpec
from pyengine.games.game import Game, load_game, refuse_text

_SHOWN = 20  # games that cannot be read, in the text of a report


@dataclass
class SgfReport:
    """What was imported and what was not.

    Attributes:
        games: imported games.
        positions: of those games.
        komi: of the shards; None if the game has none.
        skipped: number of games (or files that cannot be read) that were left out, by reason.
        accepted: number of games with something unusual, by what it is, such as a komi other than
            that of the shards. What concerns a whole file counts once.
        examples: for each reason the first game, and what was read there.
        unreadable: every game (or file) that cannot be read, and why.
    """

    games: int = 0
    positions: int = 0
    komi: float | None = None
    skipped: Counter[str] = field(default_factory=Counter)
    accepted: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)
    unreadable: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        """Return a line for the games, one for each reason and one for each damaged game."""
        lines = [f"{self.games} games with {self.positions} positions"]
        for verb, counter in (("skipped", self.skipped), ("accepted", self.accepted)):
            for reason, count in counter.most_common():
                lines.append(f"{verb} {count}: {reason}, for example {self.examples[reason]}")
        lines += self.unreadable[1:_SHOWN]
        if len(self.unreadable) > _SHOWN:
            lines.append(f"and {len(self.unreadable) - _SHOWN} more that are unreadable")
        return "\n".join(lines)

    def skip(self, where: str, error: SgfError) -> None:
        """Count a game that is left out."""
        self.skipped[error.reason] += 1
        if error.reason == "unreadable":
            self.unreadable.append(f"{where}: {error.detail}")
        self.examples.setdefault(error.reason, f"{where}: {error.detail}")

    def accept(self, where: str, notes: dict[str, str]) -> None:
        """Count what is unusual in a game or a file."""
        for reason, detail in notes.items():
            self.accepted[reason] += 1
            self.examples.setdefault(reason, f"{where}: {detail}")

    def check_taken(self, path: Path, game: Game) -> None:
        """Raise ConfigError if no game was imported; says why those of ``path`` were left out."""
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
    """Make shards of the main lines of SGF files of Go or Gomoku.

    A position has one visit, of the move played; its value is the result of the game, which also
    stands for the search's value (``root_value``). The result is the file's (RE), whatever its
    komi and rules, or that of the board if a Gomoku game is over. Moves after the end by the
    game's rules (after two passes, beyond ``max_game_length``) are left out. A game may begin with
    handicap or set-up stones, which the list of games beside a shard records.

    RE is read in capitals or not, without remarks in braces or parentheses:

    =========================================  ==================================================
    ``B+``, ``B+3.5``, ``W+64``, ``B+3.25子``  the winner
    ``B+R``, ``B+Resign``, ``W+6目半``         the winner; with ``R`` the game counts as resigned
    ``0``, ``Draw``, ``Jigo``, ``B+0``         a draw
    ``B+T``, ``B+Time``, ``W+F``, ``Forfeit``  skipped: the position does not say who won
    ``Void``, ``?``, other text, none          skipped: no result
    =========================================  ==================================================

    Skipped and counted by reason: files and games that cannot be read; other games and board
    sizes; a handicap without stones, stones set after the first move; games that White begins
    without set-up or in which a player moves twice; illegal moves; games without moves or without a
    result; games won by time or forfeit; results that contradict the board of Gomoku. What is
    unusual but clear is accepted and counted. If no game is imported, no directory is created.

    Args:
        paths: files, or directories that are searched for ``*.sgf``; a file may hold many games.
        out: directory of shards, new or with shards to which the games are added.
        game, spec: of the shards.
        komi: ``"game"``: import games of any komi and count those of another than the game's;
            ``"file"``: the shards have the komi of most games that can be imported, and games of
            another, or without a clear one, are skipped. The files are read twice.
        configuration: plain values for the manifest.
        on_progress: called with files done and all files; without it a terminal shows them.

    Ctrl-C keeps the games so far.

    Raises:
        ConfigError: SGF does not have the game, ``out`` is of another, or a path does not exist.
        DataError: a shard cannot be written; says which.
        EngineError: sgfmill is missing; names the extra ``sgf``.

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
    target = path_of("directory", out)
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
    given = [paths] if single else elements("paths", paths, "a path or several")
    files: list[Path] = []
    for path in (path_of("paths", each) for each in given):
        if not path.exists():
            raise ConfigError(f"{path} does not exist")
        files += sgf_files(path)
    return files


def sgf_files(path: Path) -> list[Path]:
    """Return a file, or the SGF files in a folder and its folders. Raises DataError."""

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
    """Yield the games of a file, damaged ones too, each with its name for a message."""
    try:
        content = read_limited(path)
    except OSError as error:
        yield str(path), SgfTree(0, None, SgfError("unreadable", why(error)))
        return
    for tree in read_collection(content):
        yield f"{path}, game {tree.number}" if tree.number else str(path), tree


def _with_komi_of(files: list[Path], game: Game) -> Game:
    """Return the game with the komi of most games that can be imported."""
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
        with suppress(ConfigError):  # out of the game's range
            return load_game(game.name, **{**game.params, "komi": komi})
    return game


def _check_komi(record: SgfGame, game: Game) -> None:
    """Raise SgfError unless a record of the game's kind has its komi."""
    record.check_number(game)
    record.check_board(game)
    if record.komi is None:
        raise SgfError("no clear komi", "KM is absent or not clear")
    if record.komi != game.params["komi"]:
        raise SgfError("another komi", f"expected {game.params['komi']:g}, got {record.komi:g}")


def _outcome(record: SgfGame, replay: Replay) -> tuple[float, int]:
    """Return what Black got and who resigned (-1 = nobody). Raises SgfError if that is unclear."""
    if not replay.actions:
        raise SgfError("no moves", "the main line has none")
    result, end = record.result, replay.end
    written = f"RE[{shortened(record.result_text)}]"
    decided = end.game.name == "gomoku" and end.is_terminal()  # by the board alone
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
