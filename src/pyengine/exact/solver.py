"""Exact values by alpha-beta: :func:`solve`, :class:`Solver`, and :func:`minimax`."""

from __future__ import annotations

import gc
import math
import sys
from dataclasses import dataclass, field
from types import FunctionType, ModuleType
from typing import Any

from pyengine import _core
from pyengine.base import machine
from pyengine.base.arguments import check_flag, number, short_repr
from pyengine.base.integers import integer
from pyengine.errors import ConfigError
from pyengine.games.game import as_game, can_be_compared, game_of, load_game

_MOST_PARTS = 10_000  # of a state, looked at for its size


@dataclass(frozen=True, kw_only=True)
class SolveResult:
    """What a solver found: plain values.

    Attributes:
        value: for the player to move: the outcome with best play, 1 a win, 0 a draw, -1 a loss (a
            user's game: its return, scaled to [-1, 1]); with ``score=True`` the margin.
        action: a best move; where ``exact`` is False, the best one so far; None where the search
            was stopped before it knew any.
        pv: best moves of both players, to the end of the game where ``exact``; begins with
            ``action``; empty where that is None.
        exact: whether the value is certain; False when a limit cut the search off.
        depth: plies that were searched; where ``exact``, the length of ``pv``.
        nodes: positions visited.
        seconds: of the call.
        state: a copy of the state that was solved.
    """

    value: float
    action: int | None
    pv: list[int]
    exact: bool
    depth: int
    nodes: int
    seconds: float
    state: Any = field(default=None, repr=False, compare=False)


class Solver:
    """Solves states of one game, and keeps its table from call to call.

    One call runs at a time; :meth:`stop` ends it from any thread.

    Args:
        game: a :class:`~pyengine.Game`, a name such as ``"othello"``, a Python game or a
            ``pyspiel`` game.
        table_mb: MiB of the transposition table, a hard limit; at least one entry's 64 bytes. Of a
            user's game it includes the states that are kept to recognise positions, each counted
            with the size of the initial one.
        threads: worker threads, the calling one included; 0 = all cores that the process may use.
            A user's game is solved by one.

    Raises:
        ConfigError: a value out of range, a table that the memory does not hold, a game that cannot
            be searched.

    Negamax with principal-variation search and a transposition table without locks. Connect Four
    and Othello on 8x8 have code of their own. Go's positions count together with the positions
    before them, as superko asks. Positions of a user's game are recognised by the states' own
    ``==`` and ``__hash__``; without both, a position is searched again for every order of moves
    that leads to it.

    Example:
        >>> import pyengine
        >>> solver = pyengine.Solver("connect_four")
        >>> columns = [6, 3, 1, 1, 2, 3, 0, 6, 2, 4, 5, 3, 6, 6, 3, 0, 0, 5, 5, 0, 2, 2, 4, 6]
        >>> solver.solve(solver.game.new_initial_state(columns), score=True).exact
        True
    """

    def __init__(self, game: Any, *, table_mb: float = 256, threads: int = 0) -> None:
        self._game = load_game(game) if isinstance(game, str) else as_game(game)
        self._threads = min(integer("threads", threads, 0), 2**31 - 1) or machine.cores()
        expected = "MiB from 64 bytes (6.2e-5) to 2**24"
        size = number("table_mb", table_mb, expected, lambda given: 64 / 2**20 <= given <= 2**24)
        try:
            self._solver = _core.Solver(self._game, int(size * 2**20), _state_bytes(self._game))
        except MemoryError:
            raise ConfigError(
                f"table_mb: expected MiB for which there is memory, got {table_mb!r}"
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
            state: a state of the game that is not over.
            depth: most plies to look ahead, 1 to 254; None = to the end of the game.
            seconds: wall time, above 0; None = as long as it takes.
            score: the margin in place of win, draw and loss. Othello 8x8: discs ahead, empty points
                counted for the winner. Connect Four: the stones that the winner has left when he
                wins, counted from the end of the board (Pons' score), negative for a loss.

        With ``depth`` or ``seconds`` the search deepens ply by ply, and what it cannot see counts
        as a draw (Othello: by moves and corners).

        Raises:
            ConfigError: a terminal state, one of another game, a limit out of range, ``score`` for
                a game without a margin; without a limit, a user's game that does not end within its
                ``max_game_length``.
            EngineError: another call of this solver is running.
            KeyboardInterrupt: after Ctrl-C.

        ``seconds``, Ctrl-C and :meth:`stop` are obeyed within 50 ms, or when the call of a user's
        code that is running returns.
        """
        check_flag("score", score)
        if depth is not None:
            depth = integer("depth", depth, 1, 254)
        if seconds is not None:
            seconds = number("seconds", seconds, "a number > 0 or None", lambda given: given > 0)
        solved = self._solver.solve(state, depth, seconds, self._threads, bool(score))
        return SolveResult(**solved, state=state.clone())

    def stop(self) -> None:
        """End the call that is running in another thread, if one is, with what it has.

        Its result has ``exact`` False, and ``action`` None unless a move is known. Without
        ``depth`` and ``seconds`` it knows nothing of the value; the table keeps what was found, so
        that a short call with ``seconds`` returns the best so far.
        """
        self._solver.stop()

    def clear(self) -> None:
        """Forget everything. Raises EngineError while a call is running."""
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
    """Return the exact value of a state and the best play, by alpha-beta; nothing is kept.

    Args:
        state: a :class:`~pyengine.State`, or a user's state together with its ``game``.
        depth, seconds, score: see :meth:`Solver.solve`.
        table_mb, threads: see :class:`Solver`.
        game: needed where the state does not know its game.

    Returns:
        A :class:`SolveResult`. ``exact`` is False where a limit cut the search off.

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
    owner = game if game is not None else game_of(state, "solve")
    solver = Solver(owner, table_mb=table_mb, threads=threads)
    return solver.solve(state, depth=depth, seconds=seconds, score=score)


def minimax(state: Any) -> tuple[float, int]:
    """Return the value of a state for the player to move, and the first best move.

    Plain recursion over every game that can be played from here, without pruning or a table: for
    teaching, and to check :func:`solve` with.

    Args:
        state: a :class:`~pyengine.State` or a user's state, not over.

    Raises:
        ConfigError: a terminal state, a game that is too long for Python's recursion.

    Example:
        >>> import pyengine
        >>> pyengine.minimax(pyengine.load_game("tic_tac_toe").new_initial_state([0, 3, 1, 4]))
        (1.0, 2)
    """
    if not hasattr(state, "is_terminal"):
        raise ConfigError(f"minimax: expected a state, got {short_repr(state)}")
    if state.is_terminal():
        raise ConfigError("minimax: expected a state in which the game goes on, got a terminal one")
    try:
        return _minimax(state)
    except RecursionError as error:
        raise ConfigError(
            f"minimax: expected an end within about {sys.getrecursionlimit() // 2} plies, got "
            "none; apply_action() must change the state itself"
        ) from error


def _minimax(state: Any) -> tuple[float, int]:
    player = state.current_player()
    best, chosen = -math.inf, -1
    for action in sorted(state.legal_actions()):
        child = state.clone()
        child.apply_action(action)
        if child.is_terminal():
            value = float(child.returns()[player])
        else:
            value, _ = _minimax(child)
            value = value if child.current_player() == player else -value
        if value > best:
            best, chosen = value, action
    return best, chosen


def _state_bytes(game: Any) -> int:
    """Return the bytes of a state of a user's game, 0 where states cannot be recognised."""
    own = _core.unwrap_game(game)
    if own is None:
        return 0
    state = own.new_initial_state()
    if not can_be_compared(state):
        return 0
    shared = _reachable(state.clone())
    return sum(
        sys.getsizeof(part, 0) for key, part in _reachable(state).items() if key not in shared
    )


def _reachable(state: Any) -> dict[int, Any]:
    """Return the objects that a state is made of by their ids."""
    parts: dict[int, Any] = {}
    waiting = [state]
    while waiting and len(parts) < _MOST_PARTS:
        part = waiting.pop()
        if id(part) in parts or isinstance(part, type | ModuleType | FunctionType):
            continue
        parts[id(part)] = part
        waiting.extend(gc.get_referents(part))
    return parts
