"""A client's game and the engine that plays it: the session under every protocol."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from functools import partial
from typing import Unpack

from pyengine.errors import EngineError
from pyengine.games.game import Game, State
from pyengine.search.clock import Clock
from pyengine.search.config import SearchSettings
from pyengine.search.engine import Engine, OnProgress
from pyengine.search.result import SearchResult

#: Makes the engine for a game; raises EngineError if none can play it.
EngineFor = Callable[[Game], Engine]

_POLL = 0.05  # seconds between two checks whether an analysis should end


class Session:
    """A client's game: its rules, its position, both clocks, and the engine.

    Args:
        game: the first game.
        engine_for: makes the engine, again whenever the game changes.

    Attributes:
        engine: searches the current game and keeps its tree from move to move.
        start: the position before the first move.
        state: the current position. Change it only by the methods below.
        clocks: the clock of each player, or None.

    """

    def __init__(self, game: Game, engine_for: EngineFor) -> None:
        self._engine_for = engine_for
        self.engine = engine_for(game)
        self.start = game.new_initial_state()
        self.state = self.start.clone()
        self.clocks: list[Clock | None] = [None, None]

    @property
    def game(self) -> Game:
        """The rules."""
        return self.engine.game

    # --- the position

    def new_game(self, game: Game) -> None:
        """Start a game, with other rules if ``game`` differs.

        If no engine can play it, raises EngineError and keeps the game in progress.
        """
        self._change_engine(game)
        self.start = game.new_initial_state()
        self.state = self.start.clone()

    def change_rules(self, game: Game) -> None:
        """Continue the game under the rules of ``game``, such as another komi, on the same board.

        Raises EngineError, and changes nothing, if a move would not be legal or no engine can play.
        """
        fresh = same_start(self.start, game)
        state = _after(fresh, self.state.history())
        self._change_engine(game)
        self.start, self.state = fresh, state

    def set_position(self, start: State, actions: Sequence[int] = ()) -> None:
        """Go to the position after ``actions``; the tree is kept if they continue the game.

        ``start`` is a position of the session's game. Raises IllegalActionError, and changes
        nothing, if an action is illegal.
        """
        state = _after(start, actions)
        played = len(self.state.history())
        if start == self.start and list(actions[:played]) == self.state.history():
            for action in actions[played:]:
                self.play(action)
            return
        self.start, self.state = start.clone(), state

    def play(self, action: int) -> None:
        """Play a move and keep its part of the tree. Raises IllegalActionError."""
        self.state.apply_action(action)
        with suppress(EngineError):  # there may be no tree for this position
            self.engine.advance(action)

    def undo(self) -> bool:
        """Take back a move; return whether there was one."""
        actions = self.state.history()
        if not actions:
            return False
        self.state = _after(self.start, actions[:-1])
        return True

    # --- the engine

    def choose(
        self,
        *,
        charge: bool = True,
        allow: Sequence[int] | None = None,
        avoid: Sequence[int] | None = None,
        on_progress: OnProgress | None = None,
        **settings: Unpack[SearchSettings],
    ) -> SearchResult:
        """Search for the player to move within its clock.

        The search ends early if the move is decided. ``charge``: whether its time is taken from
        the clock. The other arguments are those of :meth:`Engine.search`.
        """
        settings = {"stop_when_decided": True, **settings}
        search = partial(
            self.engine.search, self.state, allow=allow, avoid=avoid, on_progress=on_progress
        )
        clock = self.clocks[self.state.current_player()]
        if clock is None:
            return search(**settings)
        begin = time.monotonic()
        limit = settings.get("seconds") or self.engine.config.seconds or math.inf
        settings["seconds"] = min(clock.budget(self.state), limit)
        try:
            return search(**settings)
        finally:
            if charge:
                clock.spend(time.monotonic() - begin)

    def analyze(
        self,
        until: Callable[[], bool],
        report: Callable[[SearchResult], object] | None = None,
        every: float = 1.0,
        *,
        allow: Sequence[int] | None = None,
        avoid: Sequence[int] | None = None,
        **settings: Unpack[SearchSettings],
    ) -> SearchResult | None:
        """Search the position until ``until()``, which is waited for even after a proof.

        Args:
            until: asked every 50 ms.
            report: receives the result so far every ``every`` seconds, and the last one.
            every: seconds.
            allow, avoid: those of :meth:`Engine.analyze`.
            **settings: of the search, which has no budget unless they contain one.

        Returns the last result; None if it was stopped before there was one.
        """
        settings = {"simulations": None, "seconds": None, **settings}
        result, due, is_reported = None, time.monotonic() + every, True
        search = self.engine.analyze(
            self.state, every=min(every, _POLL), allow=allow, avoid=avoid, **settings
        )
        with closing(search) as results:
            for result in results:
                is_reported = report is None
                if until():
                    break
                if report is not None and time.monotonic() >= due:
                    due += every
                    report(result)
                    is_reported = True
        if result is not None and report is not None and not is_reported:
            report(result)
        while not until():
            time.sleep(_POLL)
        return result

    def ponder(self, until: Callable[[], bool]) -> None:
        """Search the position, so that its tree is there for the next move, until ``until()``."""
        if not self.state.is_terminal():
            # The opponent is to move, and a draw is still worth as much to the engine.
            self.analyze(until, draw_value=-self.engine.config.draw_value)

    def close(self) -> None:
        """Free the engine."""
        self.engine.close()

    def _change_engine(self, game: Game) -> None:
        if game != self.game:
            engine = self._engine_for(game)
            self.engine.close()
            self.engine = engine


def same_start(start: State, game: Game) -> State:
    """Return a start position under the rules of another game with the same board."""
    if start.game == game:
        return start
    if start == start.game.new_initial_state():
        return game.new_initial_state()
    return game.state_from_board(start.board_rows(), start.current_player())


def _after(start: State, actions: Sequence[int]) -> State:
    state = start.clone()
    for action in actions:
        state.apply_action(action)
    return state
