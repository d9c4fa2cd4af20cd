"""Records of people's games (SGF) as training data: the move played, and who won."""

from __future__ import annotations

import os
import re
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from pyengine import _core
from pyengine.arguments import check_callback, check_type, elements
from pyengine.data.progress import OnProgress, tracked
from pyengine.data.record import FinishedGame
from pyengine.data.sgf import SgfRules, sgfmill
from pyengine.data.writer import ShardWriter
from pyengine.errors import ConfigError, DataError, IllegalActionError
from pyengine.files import path_of, read_limited, unread, why
from pyengine.games import Game, State, refuse_text
from pyengine.spec import ModelSpec

__all__ = ["SgfReport", "import_sgf", "sgf_files"]


@dataclass
class SgfReport:
    """What became of the records.

    Attributes:
        games: that are training data now.
        positions: of those games.
        skipped: how many games (or files that cannot be read) were left out, by reason.
        examples: for each reason the first file, and what was found there.
    """

    games: int = 0
    positions: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        """Return a line for what was taken and one for each reason."""
        lines = [f"{self.games} games with {self.positions} positions"]
        for reason, count in self.skipped.most_common():
            lines.append(f"skipped {count}: {reason}, for example {self.examples[reason]}")
        return "\n".join(lines)

    def check_taken(self, path: Path, game: Game) -> None:
        """Raise ConfigError where no game was taken; says why those of ``path`` were left out."""
        if self.games:
            return
        lines = str(self).splitlines()
        found = "; ".join(lines) if self.skipped else "no SGF file with a game"
        raise ConfigError(f"{path}: expected SGF files with games of {game}, found {found}")


_SCORE = re.compile(r"(\d+([.,]\d*)?|[.,]\d+)[\d/ ]*(P(OIN)?TS?|STONES?|MOKU|ZI|[子目])?\.?")
_NOTHING = re.compile(r"0+([.,]0*)?|[.,]0+")  # a score of a draw
_RESIGNED = re.compile(r"R(ES(IGN(S|ED|ATION)?)?)?\.?")
_LATE = re.compile(r"(.*[\W\d])?(T|TIME.*|F|FORF.*)")


class _Skip(Exception):  # noqa: N818  # it is no error
    """A record that is no training data: the reason, and what was found."""


def import_sgf(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    game: Game,
    spec: ModelSpec,
    *,
    configuration: dict[str, Any] | None = None,
    on_progress: OnProgress | None = None,
) -> SgfReport:
    """Make shards of the main lines of SGF files of Go or Gomoku.

    A position has one visit, of the move played; its value is the result of the game, which also
    stands for the search's value (``root_value``). The result is the file's (RE), whatever its
    komi and rules, or what the board says where a Gomoku game is over. Moves after the end
    by the game's rules (after two passes, beyond ``max_game_length``) are left out.

    RE is read as SGF FF[4] has it, in capitals or not:

    =========================================  ==================================================
    ``B+``, ``B+3.5``, ``W+64``                the winner
    ``B+R``, ``B+Resign``                      the winner; the game counts as resigned
    ``0``, ``Draw``, ``Jigo``, ``B+0``         a draw
    ``B+T``, ``B+Time``, ``W+F``, ``Forfeit``  skipped: the position does not say who won
    ``Void``, ``?``, other text, none          skipped: no result
    =========================================  ==================================================

    Skipped, with a counted reason: files and games that cannot be read; other games and board
    sizes; handicap and setup stones; games that White begins or in which somebody moves twice;
    illegal moves; games without moves or without a result; games won by time or forfeit. Where no
    game is taken, no directory is made.

    Args:
        paths: files, or directories that are searched for ``*.sgf``; a file may hold many games.
        out: directory of shards; where there is one already, the games are added.
        game, spec: of the shards.
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
    check_callback("on_progress", on_progress)
    rules = SgfRules.of(game)
    sgfmill("sgf")
    files = _files(paths)
    report = SgfReport()
    told = {"source": "SGF"} if configuration is None else configuration
    target = path_of("directory", out)
    new = not target.exists()
    with ShardWriter(out, game, spec, configuration=told) as writer:
        for path in tracked(files, len(files), "SGF files", on_progress):
            for one in _games_of(path, game, rules, spec, writer, report):
                writer.add(one)
                report.games += 1
                report.positions += len(one.visits)
    if new and not report.games:
        shutil.rmtree(target, ignore_errors=True)
    return report


def _files(paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]]) -> list[Path]:
    single = isinstance(paths, str | os.PathLike)
    given = [paths] if single else elements("paths", paths, "a path or several")
    files: list[Path] = []
    for path in (path_of("paths", each) for each in given):
        if not path.exists():
            raise ConfigError(f"expected SGF files, found no {path}")
        files += sgf_files(path)
    return files


def sgf_files(path: Path) -> list[Path]:
    """Return a file, or the SGF files in a folder. Raises DataError for one that is shut."""
    try:
        return _within(path) if path.is_dir() else [path]
    except OSError as error:  # or a folder that vanishes while it is looked through
        raise DataError(unread(path, error)) from error


def _within(folder: Path) -> list[Path]:
    """The SGF files of a folder and of those inside it. Raises OSError for one that is shut."""

    def refuse(error: OSError) -> None:
        raise error

    return sorted(
        Path(place, name)
        for place, _, names in os.walk(folder, onerror=refuse)
        for name in names
        if name.lower().endswith(".sgf")
    )


def _games_of(
    path: Path,
    game: Game,
    rules: SgfRules,
    spec: ModelSpec,
    writer: ShardWriter,
    report: SgfReport,
) -> Iterator[FinishedGame]:
    """The games of a file that can be used; the others are counted."""
    grammar = sgfmill("sgf_grammar")

    def skip(reason: _Skip) -> None:
        report.skipped[reason.args[0]] += 1
        report.examples.setdefault(reason.args[0], f"{path}: {reason.args[1]}")

    try:
        trees = grammar.parse_sgf_collection(read_limited(path))
    except (OSError, ValueError) as error:
        skip(_Skip("unreadable", why(error)))
        return
    for tree in trees:
        try:
            found = _read(tree, game, rules)
        except _Skip as reason:
            skip(reason)
            continue
        yield _finished(*found, spec, writer.next_number)


def _read(tree: Any, game: Game, rules: SgfRules) -> tuple[list[State], list[int], float, int]:
    """States that were moved in, the moves, what Black got, who resigned. Raises _Skip."""
    try:
        record = sgfmill("sgf").Sgf_game.from_coarse_game_tree(tree, override_encoding="latin-1")
        root = record.get_root()
        number = _text(root, "GM").strip() or "1"
        nodes = record.get_main_sequence()
        setup = any(node.has_setup_stones() for node in nodes)
        played = [node.get_move() for node in nodes]
        result = _text(root, "RE")
    except ValueError as error:
        raise _Skip("unreadable", str(error) or "a value that SGF does not have") from error
    if number != str(rules.number):
        raise _Skip("another game", f"GM[{number}]")
    if record.get_size() != rules.size:
        raise _Skip("another board size", f"expected {rules.size}, found {record.get_size()}")
    if setup or _text(root, "HA").strip() not in ("", "0", "1"):
        raise _Skip("handicap or setup stones", f"HA[{_text(root, 'HA')}]")
    moves = [(colour, move) for colour, move in played if colour is not None]
    states, actions, end = _replay(moves, game, rules)
    if not actions:
        raise _Skip("no moves", f"{len(nodes)} nodes")
    return (states, actions, *_outcome(result, rules, end))


def _text(node: Any, name: str) -> str:
    """The first value of a property as it is written; empty where it is absent."""
    return str(node.get_raw(name).decode("latin-1")) if node.has_property(name) else ""


def _replay(
    moves: list[tuple[str, Any]], game: Game, rules: SgfRules
) -> tuple[list[State], list[int], State]:
    state = game.new_initial_state()
    states: list[State] = []
    actions: list[int] = []
    for colour, move in moves:
        if state.is_terminal():
            break
        if colour != "bw"[state.current_player()]:
            reason = "somebody moves twice" if actions else "White begins"
            raise _Skip(reason, f"move {len(actions) + 1}")
        states.append(state.clone())
        action = rules.action(move)
        try:
            if action is None:
                raise IllegalActionError("a pass")
            state.apply_action(action)
        except IllegalActionError as error:
            raise _Skip("illegal move", f"move {len(actions) + 1}: {error}") from error
        actions.append(action)
    return states, actions, state


def _outcome(result: str, rules: SgfRules, end: State) -> tuple[float, int]:
    """What Black got, and who resigned (-1 = nobody)."""
    text = result.strip().upper()
    black, margin = text[:2] == "B+", text[2:].strip()
    if text in ("DRAW", "JIGO") or _NOTHING.fullmatch(text):
        return 0.0, -1
    won = text[:2] in ("B+", "W+")
    if won and _NOTHING.fullmatch(margin):
        return 0.0, -1
    if won and _RESIGNED.fullmatch(margin):
        return (1.0 if black else -1.0), int(black)
    if won and (not margin or _SCORE.fullmatch(margin)):
        return (1.0 if black else -1.0), -1
    if rules.pass_action is None and end.is_terminal():
        return end.returns()[0], -1
    late = won and _LATE.fullmatch(margin)
    raise _Skip("won by time or forfeit" if late else "no result", f"RE[{result}]")


def _finished(
    states: list[State],
    actions: list[int],
    black: float,
    resigned: int,
    spec: ModelSpec,
    number: int,
) -> FinishedGame:
    n = len(states)
    bits, fill, dense = _core.encode_planes(states, spec)
    visits = np.zeros((n, states[0].game.num_distinct_actions()), np.uint16)
    visits[np.arange(n), actions] = 1
    to_move = np.array([state.current_player() for state in states], np.uint8)
    return FinishedGame(
        number=number,
        returns=(black, -black),
        moves=np.array(actions, np.uint16),
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
