"""The engine in NBoard or another program for Othello."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any

from pyengine.data.ggf import read_ggf
from pyengine.errors import EngineError
from pyengine.games.game import State
from pyengine.games.move_names import find_action
from pyengine.protocols.depth import simulations_of_depth
from pyengine.protocols.inbox import Inbox
from pyengine.protocols.lines import Output, log
from pyengine.protocols.nboard.clock import GgfClocks
from pyengine.protocols.nboard.evaluations import (
    Endgame,
    Line,
    discs_of,
    final_lead,
    searched_lines,
)
from pyengine.protocols.session import Session
from pyengine.protocols.words import first_word, whole_number
from pyengine.search.result import SearchResult

_REPORT_EVERY = 0.5  # seconds
_EXACT_SECONDS = 2.0  # at most, for the exact results of a position
_AT_ONCE = 8  # positions that `analyze` searches between two looks for a ping
_MOVE = re.compile(r"(?i)([a-j](\d|10)|pa|pass)(/.*)?")


class NBoard:
    """A dialogue in NBoard's protocol, version 2.

    Args:
        session: a game of Othello.
        inbox: the client's lines.
        output: receives the replies.
        name: of the engine.

    """

    def __init__(self, session: Session, inbox: Inbox, output: Output, name: str) -> None:
        self._session, self._inbox, self._output = session, inbox, output
        self._name = "_".join(name.split()) or "pyengine"
        self._clocks = GgfClocks()
        self._endgame = Endgame(session.engine.config.threads)
        self._depth: int | None = None
        self._commands: dict[str, Callable[[str], None]] = {
            "nboard": lambda _: self._output.write(f"set myname {self._name}"),
            "set": self._set,
            "move": self._move,
            "hint": self._hint,
            "go": lambda _: self._go(),
            "ping": lambda text: self._output.write(f"pong {whole_number(text) or 0}"),
            "learn": lambda _: self._output.write("learned"),
            "analyze": lambda _: self._analyze(),
        }

    def run(self) -> None:
        """Obey the client until ``quit`` or the end of its lines. Unknown lines are ignored."""
        for line in iter(self._inbox.read, None):
            word = first_word(line)
            if word == "quit":
                return
            rest = line.strip()[len(word) :].strip()
            if _MOVE.fullmatch(word):  # as in version 1 of the protocol
                word, rest = "move", line.strip()
            if word in self._commands:
                try:
                    self._commands[word](rest)
                except EngineError as error:
                    log(f"{word}: {error}")

    # --- the game

    def _set(self, text: str) -> None:
        name, _, value = text.partition(" ")
        if name == "game":
            self._set_game(value)
        elif name == "depth" and whole_number(value) is not None:
            self._depth = whole_number(value)

    def _set_game(self, ggf: str) -> None:
        game = read_ggf(ggf)
        if game.start.game != self._session.game:
            self._session.new_game(game.start.game)
        self._session.set_position(game.start, game.actions)
        self._clocks = GgfClocks(ggf)

    def _move(self, text: str) -> None:
        state = self._session.state
        player = state.current_player()
        name = first_word(text.replace("/", " "))
        self._session.play(find_action(state, "pass" if name == "pa" else name))
        self._clocks.note_move(player, text)

    # --- the engine

    def _hint(self, text: str) -> None:
        state = self._session.state
        if state.is_terminal():
            return
        n = max(1, min(whole_number(text) or 1, len(state.legal_actions())))
        self._status("is analyzing")
        begin = time.monotonic()
        if lines := self._endgame.lines(state, n, _EXACT_SECONDS):
            self._show(lines, 0, time.monotonic() - begin)
        else:
            self._session.clocks = [None, None]
            self._report(self._search(n, stop_when_decided=False), n)
        self._status("")

    def _go(self) -> None:
        """Write the best move; the client sends it back if it is played."""
        state = self._session.state
        if state.is_terminal():
            self._status("the game is over")
            return
        self._status("is thinking")
        begin = time.monotonic()
        self._clocks.set(self._session)
        clock = self._session.clocks[state.current_player()]
        seconds = _EXACT_SECONDS if clock is None else min(clock.budget(state) / 2, _EXACT_SECONDS)
        lines = self._endgame.lines(state, 1, seconds)
        if not lines:
            result = self._search(1)
            lines = searched_lines(result, 1)
            self._report(result, 1)
        best = lines[0]
        self._output.write(f"=== {best.move}/{best.discs:.2f}/{time.monotonic() - begin:.2f}")
        self._status("")

    def _search(self, n: int, **more: Any) -> SearchResult:
        """Search until the budget is spent or a ping arrives, and report the best ``n`` moves."""
        until = self._inbox.until("ping", leaving="quit")
        due = time.monotonic() + _REPORT_EVERY

        def goes_on(result: SearchResult) -> bool:
            nonlocal due
            if time.monotonic() >= due:
                due += _REPORT_EVERY
                self._report(result, n)
            return not until()

        return self._session.choose(on_progress=goes_on, **self._budget(), **more)

    def _budget(self) -> dict[str, Any]:
        """Return the budget of the depth, unless the command line gave another."""
        config = self._session.engine.config
        if self._depth is None or config.simulations is not None or config.seconds is not None:
            return {}
        return {"simulations": simulations_of_depth(self._depth)}

    def _report(self, result: SearchResult, n: int) -> None:
        self._show(searched_lines(result, n), result.simulations, result.seconds)

    def _show(self, lines: list[Line], nodes: int, seconds: float) -> None:
        shown = [f"search {line}" for line in lines]
        self._output.write("\n".join([*shown, f"nodestats {nodes} {seconds:.2f}"]))

    def _status(self, text: str) -> None:
        self._output.write(f"status {self._name} {text}" if text else "status")

    def _analyze(self) -> None:
        """Evaluate every position of the game, the last one first."""
        self._status("is analyzing the game")
        states = [self._session.start.clone()]
        for action in self._session.state.history():
            states.append(states[-1].clone())
            states[-1].apply_action(action)
        until = self._inbox.until("ping")
        numbers = list(reversed(range(len(states))))
        while numbers and not until():
            chunk, numbers = numbers[:_AT_ONCE], numbers[_AT_ONCE:]
            leads = self._leads({number: states[number] for number in chunk})
            self._output.write("\n".join(f"analysis {n} {lead:.2f}" for n, lead in leads.items()))
        self._status("")

    def _leads(self, states: dict[int, State]) -> dict[int, float]:
        """Return the lead in discs of the player to move in each position of the game."""
        first = max(self._session.start.current_player(), 0)
        leads: dict[int, float] = {}
        for number, state in states.items():
            player = (first + number) % 2
            lead = self._endgame.lead(state, player, _EXACT_SECONDS / _AT_ONCE)
            if lead is None and state.is_terminal():
                lead = final_lead(state, player)
            if lead is not None:
                leads[number] = lead
        searched = [number for number in states if number not in leads]
        results = self._session.engine.search_many(
            [states[number] for number in searched], **self._budget()
        )
        leads |= {n: discs_of(r.value) for n, r in zip(searched, results, strict=True)}
        return {number: leads[number] for number in states}
