"""``pyengine play``: a game in the terminal, against a person, two persons, or none."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

import typer  # noqa: TID253  # this package is the extra's
from rich.console import Console  # noqa: TID253
from rich.text import Text  # noqa: TID253

from pyengine.cli import common
from pyengine.cli.boards import board_text, moves_table, names_of_line
from pyengine.engine import Engine
from pyengine.errors import EngineError
from pyengine.games import State
from pyengine.result import SearchResult

__all__ = ["Human", "Match", "play"]

_SHOWN_MOVES = 30  # legal moves listed at most
_STONES = ("X", "O")
_PLAYERS = ("first player (X)", "second player (O)")


class Human(StrEnum):
    """Who of the two is a person."""

    first = "first"
    second = "second"
    none = "none"
    both = "both"

    def plays(self, player: int) -> bool:
        """Return whether a player (0 or 1) is a person."""
        return self is Human.both or self is (Human.first, Human.second)[player]


def play(
    game: common.GameArgument,
    param: common.ParamOption = None,
    human: Annotated[Human, typer.Option("--human", help="Who is a person.")] = Human.first,
    model: common.ModelOption = None,
    spec: common.SpecOption = None,
    provider: common.ProviderOption = None,
    device: common.DeviceOption = 0,
    moves: common.MovesOption = "",
    board: common.BoardOption = None,
    to_move: common.PlayerOption = 0,
    simulations: common.SimulationsOption = None,
    seconds: common.SecondsOption = None,
    threads: common.ThreadsOption = None,
    batch_size: common.BatchOption = None,
    symmetry: common.SymmetryOption = None,
    temperature: Annotated[
        float | None, typer.Option("--temperature", help="Of the engine's choice; 0 = its best.")
    ] = None,
    algorithm: common.AlgorithmOption = None,
    seed: common.SeedOption = None,
    config: common.ConfigOption = None,
) -> None:
    """Play a game in the terminal. Type a move, or help."""
    played = common.game_from(game, param)
    start = common.start_state(played, moves, board, to_move)
    setup = common.evaluator_for(played, model, spec, provider, device)
    settings = common.config_from(
        config,
        algorithm=common.algorithm_for(setup.evaluator, algorithm, config),
        simulations=simulations,
        seconds=seconds,
        threads=threads,
        batch_size=batch_size,
        symmetry=symmetry,
        temperature=temperature,
        seed=seed,
    )
    out = common.console()
    out.print(Text(f"{played}, engine: {setup.name}. Type a move, or help.", style="dim"))
    with Engine(played, setup.evaluator, config=settings) as engine:
        Match(engine, start, human, out).run()


@dataclass
class Match:
    """A game in progress, and the commands that a person may type."""

    engine: Engine
    start: State
    human: Human
    out: Console
    over: bool = False  #: the person left
    resigned: int | None = None  #: the player who gave up

    def __post_init__(self) -> None:
        """Begin at the start."""
        self.state = self.start.clone()
        self.commands: dict[str, tuple[Callable[[], None], str]] = {
            "help": (self._help, "this list"),
            "hint": (self._hint, "what the engine would play"),
            "undo": (self._undo, "take back your last move"),
            "moves": (self._moves, "the legal moves"),
            "board": (self._board, "show the board again"),
            "resign": (self._resign, "give up this game"),
            "new": (self._new, "start again"),
            "quit": (self._quit, "leave (Ctrl-D, Ctrl-C)"),
        }

    def run(self) -> None:
        """Play until the person leaves, or the engine has ended a game with itself."""
        self._board()
        while not self.over:
            if self._ended():
                if self.human is Human.none:
                    return
                self._ask("new, undo or quit? ")
            elif self.human.plays(self.state.current_player()):
                self._ask(f"{_STONES[self.state.current_player()]} move: ")
            else:
                self._engine_moves()

    def _ended(self) -> bool:
        return self.resigned is not None or self.state.is_terminal()

    # --- the engine

    def _think(self) -> SearchResult:
        with (
            self.out.status("thinking", spinner="dots")
            if self.out.is_terminal
            else contextlib.nullcontext()
        ):
            return self.engine.search(self.state)

    def _engine_moves(self) -> None:
        result = self._think()
        name = self.state.action_to_string(result.action)
        line = " ".join(names_of_line(self.state, result.pv[:8]))
        self._apply(result.action)
        self.out.print(
            Text.assemble(
                ("engine plays ", "dim"),
                (name, "bold"),
                (
                    f"  value {result.value:+.2f}, {result.simulations:,} simulations "
                    f"in {result.seconds:.2f} s, line {line}",
                    "dim",
                ),
            )
        )
        self._board()

    def _apply(self, action: int) -> None:
        """Play an action and, where the tree holds it, keep its subtree."""
        self.state.apply_action(action)
        with contextlib.suppress(EngineError):  # nothing searched yet, or from elsewhere
            self.engine.advance(action)

    # --- the person

    def _ask(self, prompt: str) -> None:
        try:
            typed = common.read_line(prompt).strip()
            if not sys.stdin.isatty():
                self.out.print(Text(typed))  # a transcript shows what was typed
        except EOFError:
            self.out.print()
            self._quit()
            return
        if not typed:
            return
        command = self.commands.get(typed.lower())
        if command is not None:
            command[0]()
        elif typed.lower() in ("exit", "q", "?"):
            self.commands["help" if typed == "?" else "quit"][0]()
        elif self._ended():
            self._say(f"the game is over: {typed!r} is not new, undo or quit")
        else:
            self._try(typed)

    def _try(self, typed: str) -> None:
        try:
            action = common.find_action(self.state, typed)
            self._apply(action)
        except ValueError as error:  # IllegalActionError
            self._say(f"{error}. {self._legal()} (or type help)")
            return
        self._board()

    def _say(self, text: str) -> None:
        self.out.print(Text(text, style="yellow"))

    # --- commands

    def _help(self) -> None:
        example = self.state.action_to_string((self.state.legal_actions() or [0])[0])
        self.out.print(Text(f"a move, for example {example}, or:"))
        for name, (_, meaning) in self.commands.items():
            self.out.print(Text.assemble("  ", (f"{name:<8}", "bold"), meaning))

    def _legal(self) -> str:
        names = [self.state.action_to_string(a) for a in self.state.legal_actions()]
        more = "" if len(names) <= _SHOWN_MOVES else f" and {len(names) - _SHOWN_MOVES} more"
        return f"legal moves: {' '.join(names[:_SHOWN_MOVES])}{more}"

    def _moves(self) -> None:
        self.out.print(Text(self._legal()))

    def _board(self) -> None:
        history = self.state.history()
        last = history[-1] if history else None
        status = None if not self._ended() else Text(self.result(), style="bold green")
        self.out.print(board_text(self.state, self.out, last=last, status=status))

    def result(self) -> str:
        """Return how the game ended."""
        if self.resigned is not None:
            return f"{_PLAYERS[self.resigned]} resigns: {_PLAYERS[1 - self.resigned]} wins"
        first = self.state.returns()[0]
        return f"{_PLAYERS[0 if first > 0 else 1]} wins" if first else "draw"

    def _hint(self) -> None:
        if self._ended():
            self._say("the game is over")
            return
        result = self._think()
        self.out.print(moves_table(result, 5))
        line = " ".join(names_of_line(self.state, result.pv[:8]))
        self.out.print(Text(f"value {result.value:+.2f}, line {line}"))

    def _undo(self) -> None:
        """Take moves back until a person is to move again, one move at least."""
        if self.resigned is not None:
            self.resigned = None
            self._board()
            return
        least = len(self.start.history())
        plies = [
            ply
            for ply in range(least, len(self.state.history()))
            if self.human.plays(self._player_at(ply))
        ]
        if not plies:
            self._say("there is no move of yours to take back")
            return
        while len(self.state.history()) > plies[-1]:
            self.state.undo_action()
        self._board()

    def _player_at(self, ply: int) -> int:
        """Return who moved at a ply; players need not alternate."""
        state = self.state.clone()
        while len(state.history()) > ply:
            state.undo_action()
        return int(state.current_player())

    def _resign(self) -> None:
        if self._ended():
            self._say("the game is over")
            return
        self.resigned = self.state.current_player()
        self._board()

    def _new(self) -> None:
        self.state = self.start.clone()
        self.resigned = None
        self._board()

    def _quit(self) -> None:
        self.over = True
