"""Exact values by alpha-beta: :func:`solve` and :class:`Solver`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pyengine import _core
from pyengine.base import machine
from pyengine.base.checks import check_flag, integer, number
from pyengine.errors import ConfigError
from pyengine.eval.bundled import load_or_wrap
from pyengine.exact.state_size import state_bytes
from pyengine.games.game import game_for
from pyengine.games.notebook import state_picture
from pyengine.show.picture import text_html

_MOST_THREADS = 1024


@dataclass(frozen=True, kw_only=True)
class SolveResult:
    """The result of a solver.

    Attributes:
        value: the outcome with best play for the player to move: 1 a win, 0 a draw, -1 a loss (in a
            user's game its return, scaled to [-1, 1]); with ``score=True`` the margin.
        action: a best move; if not ``exact``, the best one so far; None if the search was stopped
            before it found one.
        pv: best moves of both players, starting with ``action`` and, if ``exact``, to the end of
            the game; empty if ``action`` is None.
        exact: whether the value is certain; False if a limit cut the search off.
        depth: plies searched; if ``exact``, the length of ``pv``.
        nodes: positions visited.
    """

    value: float
    action: int | None
    pv: list[int]
    exact: bool
    depth: int
    nodes: int
    seconds: float
    state: Any = field(default=None, repr=False, compare=False)

    def _repr_html_(self) -> str:
        """Return the board with a frame around the best move, and the figures, for notebooks."""
        return state_picture(self.state, best=self.action) + text_html(repr(self))


class Solver:
    """Solves states of one game and keeps its transposition table between calls.

    Only one call may run at a time; :meth:`stop` ends it from any thread.

    Args:
        game: a :class:`~pyengine.Game`, a name such as ``"othello"``, a Python game or a
            ``pyspiel`` game.
        table_mb: size of the transposition table in MiB, a hard limit; at least one entry of 64
            bytes. For a user's game it includes the states stored to recognise positions, each
            counted with the size of the initial one.
        threads: worker threads, including the calling one, 1 to 1024; 0 = all cores available to
            the process. A user's game is solved by one thread.

    Raises:
        ConfigError: a value out of range, a table that does not fit into memory, or a game that
            cannot be searched.

    Uses negamax with principal variation search and a lock-free transposition table, and
    specialised code for Connect Four and 8x8 Othello. In Go the history is part of a position,
    because of superko. Positions of a user's game are recognised by ``==`` and ``__hash__``;
    without both, a position is searched again for every order of moves that leads to it.

    Example:
        >>> from pyengine.exact import Solver
        >>> solver = Solver("connect_four")
        >>> columns = [6, 3, 1, 1, 2, 3, 0, 6, 2, 4, 5, 3, 6, 6, 3, 0, 0, 5, 5, 0, 2, 2, 4, 6]
        >>> solver.solve(solver.game.new_initial_state(columns), score=True).exact
        True
    """

    def __init__(self, game: Any, *, table_mb: float = 256, threads: int = 0) -> None:
        self._game = load_or_wrap(game)
        self._threads = integer("threads", threads, 0, _MOST_THREADS) or machine.cores()
        expected = "MiB from 64 bytes (6.2e-5) to 2**24"
        size = number("table_mb", table_mb, expected, lambda given: 64 / 2**20 <= given <= 2**24)
        try:
            self._solver = _core.Solver(self._game, int(size * 2**20), state_bytes(self._game))
        except MemoryError:
            raise ConfigError(
                f"table_mb: not enough memory for a table of {table_mb!r} MiB"
            ) from None

    @property
    def game(self) -> Any:
        """The game."""
        return self._game

    def solve(
        self,
        state: Any,
        *,
        depth: int | None = None,
        seconds: float | None = None,
        score: bool = False,
    ) -> SolveResult:
        """Return the value of a state and the best play.

        Args:
            state: a non-terminal state of the game.
            depth: maximum search depth in plies, 1 to 254; None = to the end of the game.
            seconds: wall time, above 0; None = unlimited.
            score: return the margin instead of win, draw or loss. Othello 8x8: disc difference,
                empty points counted for the winner. Connect Four: the stones that the winner has
                left, counted from the full board (Pons' score), negative for a loss.

        With ``depth`` or ``seconds`` the search deepens ply by ply and scores positions beyond the
        horizon as draws (in Othello by mobility and corners).

        Raises:
            ConfigError: a terminal state, a state of another game, a limit out of range, ``score``
                for a game without a margin, or, without a limit, a user's game that does not end
                within its ``max_game_length``.
            EngineError: another call of this solver is running.
            KeyboardInterrupt: after Ctrl-C.

        ``seconds``, Ctrl-C and :meth:`stop` take effect within 50 ms, or when the current call of a
        user's game returns.
        """
        check_flag("score", score)
        if depth is not None:
            depth = integer("depth", depth, 1, 254)
        if seconds is not None:
            seconds = number("seconds", seconds, "a number > 0 or None", lambda given: given > 0)
        solved = self._solver.solve(state, depth, seconds, self._threads, bool(score))
        return SolveResult(**solved, state=state.clone())

    def stop(self) -> None:
        """End the call running in another thread, if any.

        Its result is not ``exact``, and ``action`` is None unless a move is known. Without
        ``depth`` and ``seconds`` its value is unknown, but the table is kept, so a short call with
        ``seconds`` then returns the best move so far.
        """
        self._solver.stop()

    def clear(self) -> None:
        """Clear the table. Raises EngineError while a call is running."""
        self._solver.clear()


def solve(
    state: Any,
    depth: int | None = None,
    seconds: float | None = None,
    table_mb: float = 256,
    score: bool = False,
    *,
    threads: int = 0,
    game: Any = None,
) -> SolveResult:
    """Return the exact value of a state and the best play, by alpha-beta.

    Args:
        state: a :class:`~pyengine.State`, or a user's state together with its ``game``.
        depth, seconds, score: see :meth:`Solver.solve`.
        table_mb, threads: see :class:`Solver`.
        game: required if the state does not know its game.

    Raises:
        ConfigError: a terminal state, a limit or table size out of range, ``score`` for a game
            without a margin.
        KeyboardInterrupt: after Ctrl-C.

    Example:
        >>> import pyengine
        >>> state = pyengine.load_game("tic_tac_toe").new_initial_state([0, 4, 8])
        >>> result = pyengine.solve(state)
        >>> result.value, result.exact
        (0.0, True)
    """
    solver = Solver(game_for(state, game, "solve"), table_mb=table_mb, threads=threads)
    return solver.solve(state, depth=depth, seconds=seconds, score=score)
