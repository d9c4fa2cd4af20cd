"""The dialogue of ``pyengine play``."""

from __future__ import annotations

import contextlib
import datetime
import math
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from rich.console import Console
from rich.text import Text

from pyengine.base.checks import short_repr
from pyengine.base.files import path_of
from pyengine.cli import in_names
from pyengine.cli.clock import Clocks
from pyengine.cli.estimates import lead_of, predicted_board
from pyengine.cli.output import say
from pyengine.cli.play_record import record_path, save
from pyengine.cli.positions import (
    is_drawn,
    legal_action,
    legal_board,
    moves_table,
    player_named,
    state_board,
)
from pyengine.cli.search import percent, until_stopped
from pyengine.data.game_file import read_game_file
from pyengine.data.sgf.record import SgfGame
from pyengine.errors import EngineError, IllegalActionError
from pyengine.games.board_layout import game_look
from pyengine.games.game import Game, State
from pyengine.games.outcomes import Loss, Lost, outcome_text, points_text
from pyengine.search.config import SearchConfig
from pyengine.search.engine import Engine
from pyengine.search.result import SearchResult
from pyengine.search.tree import names_of_line

_FEW_MOVES = 30  # legal moves that are listed after a wrong move
_SHOWN_LINE = 8  # plies
_PASS = "pass"  # the name of the move in Go and Othello
_ALIASES = {"exit": "quit", "q": "quit", "?": "help"}
_ASK_FOR_HELP = "type moves to list the legal moves, or help"
_NEED_A_GAME = ("hint", "go", "resign")  # commands for a game that is not over
_POLL = 0.1  # seconds between two checks for Ctrl-C


class Human(StrEnum):
    """The players controlled by a person."""

    first = "first"
    second = "second"
    none = "none"
    both = "both"

    @classmethod
    def named(cls, text: str, game: Game) -> Human:
        """Return the players for a name, such as both, first or black. Raises ConfigError."""
        if text in ("none", "both"):
            return cls(text)
        return (cls.first, cls.second)[player_named("--human", text, game, "none, both")]

    def plays(self, player: int) -> bool:
        """Return whether a player (0 or 1) is a person."""
        return self is Human.both or self is (Human.first, Human.second)[player]


@dataclass
class Dialogue:
    """A game in progress and the commands that a person may type."""

    engine: Engine
    start: State
    human: Human
    out: Console
    clocks: Clocks | None = None
    hints: SearchConfig | None = None  #: settings of hints; None = the engine's
    over: bool = field(default=False, init=False)  #: the person has left
    left_by_ctrl_c: bool = field(default=False, init=False)
    waits: bool = field(default=False, init=False)  #: the search was stopped; a person moves
    lost: Lost | None = field(default=None, init=False)
    loaded: SgfGame | None = field(default=None, init=False)  #: the record of a loaded game

    def __post_init__(self) -> None:
        self.state = self.start.clone()
        self.look = game_look(self.state.game)
        self.drawn = is_drawn(self.state, self.out)
        self.record = record_path(self.state.game, datetime.datetime.now())
        self.commands: dict[str, tuple[Callable[[str], None], str]] = {
            "help": (self._help, "show this list"),
            "hint": (self._hint, "show what the engine would play"),
            "undo": (self._undo, "take back your last move and its time"),
            "moves": (self._moves, "list the legal moves, or mark them on the board (Othello)"),
            "score": (self._score, "count the points; in Go, also what the network expects"),
            "ownership": (self._ownership, "show who will own each point, as the network expects"),
            "board": (self._board, "show the board again"),
            "go": (self._go, "let the engine move for you"),
            "save": (self._save, "FILE: save the game (.sgf for Go and Gomoku)"),
            "load": (self._load, "FILE: continue a saved game"),
            "resign": (self._resign, "resign the game"),
            "new": (self._new, "start a new game"),
            "quit": (self._quit, "leave (or Ctrl-D, or Ctrl-C twice)"),
        }

    def run(self) -> None:
        """Play until the person leaves, or until a game without persons ends.

        The game is also saved on SIGTERM and when the terminal is closed.
        """
        try:
            self._board()
            while not self.over:
                try:
                    self._turn()
                except KeyboardInterrupt:
                    self._interrupted()
        except SystemExit:
            with contextlib.suppress(OSError):  # the terminal may be closed
                self._quit()
            raise

    def _turn(self) -> None:
        if self._ended():
            if self.human is Human.none:
                self.over = True
                return
            self._ask("new, undo, save or quit? ")
        elif _must_pass(self.state):
            self._pass()
        elif self.waits or self.human.plays(self.state.current_player()):
            player = self.look.player(self.state.current_player(), drawn=self.drawn)
            times = "" if self.clocks is None else f"{self.clocks} "
            self._ask(f"{times}{player} move: ")
        else:
            self._engine_moves()

    def _ended(self) -> bool:
        return self.lost is not None or self.state.is_terminal()

    def _pass(self) -> None:
        player = self.look.player(self.state.current_player(), drawn=self.drawn)
        self._say(f"{player} has no legal move and passes")
        self._apply(self.state.legal_actions()[0])
        self._board()

    # --- the engine

    def _think(self, config: SearchConfig) -> SearchResult | None:
        """Return the engine's result; None if Ctrl-C or the clock stopped it."""
        player = self.state.current_player()
        if self.clocks is not None:
            seconds = min(self.clocks[player].budget(self.state), config.seconds or math.inf)
            config = config.replace(seconds=seconds)
        start_time = time.monotonic()
        result, stopped = until_stopped(self.engine, self.state, config)
        self._spend(player, time.monotonic() - start_time)
        if self.lost is not None:
            self._board()
            return None
        if not stopped:
            return result
        if not sys.stdin.isatty():
            self.left_by_ctrl_c = True
            self._quit()
            return None
        self.waits = True
        self._say("stopped: type a move for the engine, go to let it move, or help")
        return None

    def _spend(self, player: int, seconds: float) -> None:
        if self.clocks is not None and not self.clocks[player].run(seconds):
            self.lost = (player, Loss.on_time)

    def _engine_moves(self) -> None:
        result = self._think(self.engine.config)
        if result is None:
            return
        name = self.state.action_to_string(result.action)
        line = " ".join(names_of_line(self.state, result.pv[:_SHOWN_LINE]))
        figures = (
            f"  wins {percent(result)}, {result.simulations:,} "
            f"simulation{'' if result.simulations == 1 else 's'} in {result.seconds:.2f} s, "
            f"line {line}"
        )
        words = Text.assemble(("engine plays ", "dim"), (name, "bold"), (figures, "dim"))
        say(self.out, words, indent=2)
        self._apply(result.action)
        self._board()

    def _apply(self, action: int) -> None:
        """Play an action and keep its subtree."""
        player = self.state.current_player()
        self.state.apply_action(action)
        if self.clocks is not None:
            self.clocks.press(player, len(self.state.history()))
        self.waits = False
        with contextlib.suppress(EngineError):  # there may be no tree for this state
            self.engine.advance(action)

    # --- the person

    def _ask(self, prompt: str) -> None:
        start_time = time.monotonic()
        player = None if self._ended() else self.state.current_player()
        try:
            typed = read_line(prompt).strip()
            if not sys.stdin.isatty():
                self.out.print(Text(typed))  # shows the input in a transcript
        except EOFError:
            self.out.print()
            self._quit()
            return
        self.left_by_ctrl_c = False
        if player is not None:
            self._spend(player, time.monotonic() - start_time)
            if self.lost is not None:
                self._board()
                return
        if typed:
            self._obey(typed)

    def _interrupted(self) -> None:
        """Prompt again after the first Ctrl-C; leave after the second, or without a terminal."""
        self.out.print()
        again = self.left_by_ctrl_c
        self.left_by_ctrl_c = True
        if again or not sys.stdin.isatty():
            self._quit()
            return
        self._say("continue the game, or leave with quit or another Ctrl-C")

    def _obey(self, typed: str) -> None:
        word, _, rest = typed.partition(" ")
        word = _ALIASES.get(word.lower(), word.lower())
        if word in _NEED_A_GAME and self._ended():
            self._say("the game is over")
        elif word in self.commands:
            try:
                self.commands[word][0](rest.strip())
            except EngineError as error:
                self._say(in_names(str(error)))
        elif self._ended():
            self._say(f"game over: expected new, undo, save or quit, got {short_repr(typed)}")
        else:
            self._try(typed)

    def _try(self, typed: str) -> None:
        try:
            self._apply(legal_action(self.state, typed))
        except IllegalActionError as error:
            few = len(self.state.legal_actions()) <= _FEW_MOVES
            ask = f"{self._legal()} (or type help)" if few else _ASK_FOR_HELP
            self._say(f"{error}. {ask}")
            return
        self._board()

    def _say(self, text: str) -> None:
        say(self.out, Text(text, style="yellow"))

    # --- commands

    def _help(self, _rest: str = "") -> None:
        example = self.state.action_to_string((self.state.legal_actions() or [0])[0])
        self.out.print(Text(f"Type a move, for example {example}, or:"))
        for name, (_, meaning) in self.commands.items():
            self.out.print(Text.assemble("  ", (f"{name:<10}", "bold"), meaning))

    def _legal(self) -> str:
        names = [self.state.action_to_string(a) for a in self.state.legal_actions()]
        return f"legal moves: {' '.join(names)}"

    def _moves(self, _rest: str = "") -> None:
        say(self.out, Text(self._legal()))
        if self.state.game.name == "othello" and self.state.game.has_board and not self._ended():
            self.out.print(legal_board(self.state, self.out))

    def _score(self, _rest: str = "") -> None:
        points = points_text(self.state)
        lead = "" if self._ended() else self._predicted()[0]
        facts = (f"on the board: {points}" if points else "", f"expected: {lead}" if lead else "")
        self._say("; ".join(filter(None, facts)) or "this game has no score")

    def _ownership(self, _rest: str = "") -> None:
        owners = None if self._ended() else self._predicted()[1]
        if owners is None:
            self._say("the engine's network does not predict ownership")
        else:
            self.out.print(owners)

    def _predicted(self) -> tuple[str, Text | None]:
        return predicted_board(self.engine.evaluator, self.state, self.out)

    def _board(self, _rest: str = "") -> None:
        if not self._ended():
            self.out.print(state_board(self.state, self.out))
            return
        result = outcome_text(
            self.state, lambda player: self.look.player(player, drawn=self.drawn), self.lost
        )
        status = Text(result, style="bold green")
        self.out.print(state_board(self.state, self.out, status=status))
        self._write_record()

    def _write_record(self) -> None:
        if self.state.history() == self.start.history():
            return
        try:
            self.record.parent.mkdir(parents=True, exist_ok=True)
            save(self.record, self.start, self.state, self.lost)
        except (EngineError, OSError) as error:
            self._say(f"the game could not be saved: {error}")
        else:
            self.out.print(Text(f"record: {self.record}", style="dim"))

    def _hint(self, _rest: str = "") -> None:
        result = self._think(self.hints or self.engine.config)
        if result is None:
            return
        self.out.print(moves_table(result, 5))
        line = " ".join(names_of_line(self.state, result.pv[:_SHOWN_LINE]))
        lead = lead_of(result)
        facts = (f"wins {percent(result)}", f"expected: {lead}" if lead else "", f"line {line}")
        say(self.out, Text(", ".join(filter(None, facts))))

    def _go(self, _rest: str = "") -> None:
        self.waits = False
        self._engine_moves()

    def _save(self, rest: str) -> None:
        note = save(_file(rest), self.start, self.state, self.lost, self.loaded)
        self.out.print(Text(f"saved in {rest}"))
        if note:
            self._say(note)

    def _load(self, rest: str) -> None:
        self.load(_file(rest))
        self._board()

    def load(self, file: Path, at: int | None = None) -> None:
        """Continue the game in a file, after ``at`` moves (None = all). Raises DataError."""
        loaded = read_game_file(file, self.state.game, exact=True)
        self._keep_unfinished()
        for note in loaded.notes:
            self._say(f"{file.name}: {note}")
        self.loaded = loaded.record
        self.state = loaded.positions[: None if at is None else at + 1][-1]
        self.start = loaded.start
        self._restart()

    def _undo(self, _rest: str = "") -> None:
        """Take back moves and their time until a person is to move; always at least one move.

        After a resignation, continue from the last position instead.
        """
        if self.lost is not None and self.lost[1] is Loss.resigns:
            self.lost = None
            self._board()
            return
        before = self._before_last_move_of_a_person()
        if before is None and self.lost is None:
            self._say("you have no move to take back")
            return
        self.lost = None
        if before is not None:
            self.state = before
        if self.clocks is not None:
            self.clocks.go_back(len(self.state.history()))
        self._board()

    def _before_last_move_of_a_person(self) -> State | None:
        state = self.state.clone()
        while len(state.history()) > len(self.start.history()):
            state.undo_action()
            if self.human.plays(state.current_player()) and not _must_pass(state):
                return state
        return None

    def _resign(self, _rest: str = "") -> None:
        self.lost = (self.state.current_player(), Loss.resigns)
        self._board()

    def _new(self, _rest: str = "") -> None:
        self._keep_unfinished()
        self.loaded = None
        self.state = self.start.clone()
        self._restart()
        self._board()

    def _restart(self) -> None:
        self.lost = None
        self.waits = False
        self.record = record_path(self.state.game, datetime.datetime.now())
        if self.clocks is not None:
            self.clocks.reset()

    def _quit(self, _rest: str = "") -> None:
        self.over = True
        self._keep_unfinished()

    def _keep_unfinished(self) -> None:
        if not self._ended():  # a finished game is already written
            self._write_record()


def _must_pass(state: State) -> bool:
    """Whether the only legal move is a pass."""
    legal = state.legal_actions() if state.game.has_board and not state.is_terminal() else ()
    return len(legal) == 1 and state.action_to_string(legal[0]) == _PASS


def _file(typed: str) -> Path:
    """Return the typed path with ~ expanded. Raises ConfigError."""
    return path_of("FILE", os.path.expanduser(typed))  # noqa: PTH111  # Path.expanduser raises


def read_line(prompt: str) -> str:
    """Read a line with line editing. Raises EOFError at the end of the input.

    ``input()`` can miss a Ctrl-C that arrives just before it blocks; a timer wakes it.
    """
    if sys.platform == "win32" or not sys.stdin.isatty():
        return input(prompt)
    with contextlib.suppress(ImportError):
        import readline  # noqa: F401  # adds line editing and a history to input()
    before = signal.signal(signal.SIGALRM, lambda *_: None)
    signal.setitimer(signal.ITIMER_REAL, _POLL, _POLL)
    try:
        return input(prompt)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
