"""Tests a game implementation with random games."""

from __future__ import annotations

import math
import operator
import pickle
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, SupportsIndex

import numpy as np

from pyengine.base.checks import integer, repr_with_type, short_repr
from pyengine.errors import ConfigError, IllegalActionError
from pyengine.games.game import Game, State, as_game, can_be_compared, can_be_recognised, has_own

_TOLERANCE = 1e-6
_ILLEGAL_TRIES = 5  # illegal actions tried in each state
_FAR = 1000  # a max_utility this many times the largest return makes values small
_MOST_KNOWN = 10_000  # states compared with each other
_SHOWN_MOVES = 200  # longer games are abbreviated


@dataclass(frozen=True)
class GameReport:
    """The result of :func:`check_game`; true if no promise was broken.

    Attributes:
        message: ``"no broken promise"``, or the first broken one.
        moves: the actions that lead to it.
        games: number of finished random games.
        plies: number of positions checked.
        without: optional features that a user's game lacks, and the cost of each.
    """

    game: str
    ok: bool
    message: str
    moves: tuple[int, ...]
    games: int
    plies: int
    without: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        head = f"{self.game}: {'ok' if self.ok else 'BROKEN'}: {self.message}"
        tail = f"{self.games} games, {self.plies} positions"
        where = "" if self.ok else f"\n  {_shown(self.moves)}"
        lines = [f"{head}{where}", tail, *(f"without {each}" for each in self.without)]
        return "\n  ".join(lines)


def _shown(moves: tuple[int, ...]) -> str:
    if len(moves) <= _SHOWN_MOVES:
        return f"after the actions {list(moves)}"
    first, last = (", ".join(map(str, part)) for part in (moves[:10], moves[-10:]))
    return f"after {len(moves):,} actions (all in `moves`): [{first}, ..., {last}]"


def check_game(game: Any, *, games: int = 20, seed: int = 0) -> GameReport:
    """Play random games and report the first promise that the game breaks.

    In every position: an action changes the state in place; legal actions are in range, unique and
    not empty (sorted in a built-in game); clones and initial states are independent, and a clone
    plays like the state; equal states have the same player and legal actions; ``history``,
    ``hash``, ``__str__``, ``observation_tensor`` and ``action_to_string`` (distinct for each legal
    action) are consistent if present; a mirrored game has mirrored legal actions and the same
    result (for a user's game, only under the symmetries of its initial state; the message names the
    others).

    The game ends within ``max_game_length`` (10,000 plies by default), with returns that are
    finite, zero-sum and within ``max_utility``. Built-in states also reject illegal actions without
    changing, and survive serialization and pickle.

    Args:
        game: a :class:`~pyengine.Game`, a ``pyspiel`` game or a Python game.
        games: number of random games.
        seed: the same seed plays the same games.

    Returns:
        A :class:`GameReport`. Unsupported games (chance, hidden information, ...) and exceptions
        raised by the game are reported, not raised.

    Example:
        >>> import pyengine
        >>> print(pyengine.check_game("no game"))
        str: BROKEN: game: expected a Game, got 'no game' (str); ...
          0 games, 0 positions
    """
    games, seed = integer("games", games, 0), integer("seed", seed, 0)
    try:
        wrapped = as_game(game)
    except Exception as error:  # the user's code may raise anything
        reason = str(error) if isinstance(error, ConfigError) else _raised("the game", error)
        return GameReport(type(game).__name__, False, reason, (), 0, 0)
    checker = _Checker(game, wrapped, random.Random(seed))
    finished = 0
    try:
        for _ in range(games):
            checker.play()
            finished += 1
    except Exception as error:  # the user's code may raise anything, anywhere
        reason = str(error) if isinstance(error, _BrokenError) else _raised("the game", error)
        moves = tuple(checker.moves)
        return GameReport(wrapped.name, False, reason, moves, finished, checker.plies)
    message = "no broken promise"
    if checker.unchecked:
        shown = ", ".join(map(str, sorted(checker.unchecked)))
        message += f" (not checked: symmetries {shown}, which change the initial state)"
    without = () if isinstance(game, Game) else _without(game, wrapped, checker.largest)
    return GameReport(wrapped.name, True, message, (), finished, checker.plies, without)


def _without(game: Any, wrapped: Game, largest: float) -> tuple[str, ...]:
    """Optional features that a user's game lacks, with their cost; ``largest``: largest return."""
    utility = _utility(game)
    state = game.new_initial_state()
    continued = (
        "reused only after Engine.advance, if planes and text match"
        if can_be_recognised(wrapped, state)
        else "never reused"
    )
    costs = {
        f"history() and __eq__: a search tree is {continued}": (
            hasattr(state, "history") or has_own(state, "__eq__")
        ),
        "__eq__ and __hash__: solve() searches a position again for every order of moves that "
        "leads to it": can_be_compared(state),
        f"a max_utility near its returns ({utility:g}, the largest was {largest:g}): a tree search "
        "distinguishes returns that differ by 2^-24 of max_utility; solve() distinguishes all": (
            largest == 0.0 or largest > utility / _FAR
        ),
        "observation_tensor(): no network can read its positions, only a StateEvaluator": (
            math.prod(wrapped.observation_shape) > 0
        ),
        "__str__: its positions are not shown": has_own(state, "__str__"),
        "action_to_string(): its actions are numbers": hasattr(state, "action_to_string"),
        f"max_game_length: a game of {wrapped.max_game_length():,} plies is an error": (
            hasattr(game, "max_game_length")
        ),
        "num_symmetries: its board is not rotated or mirrored": hasattr(game, "num_symmetries"),
    }
    return tuple(cost for cost, has_it in costs.items() if not has_it)


class _BrokenError(Exception):
    """A broken promise."""


_ANOTHER_START = (
    "new_initial_state() must return a new state each time, but its states share their moves"
)


def _raised(verb: str, error: BaseException) -> str:
    return f"{verb} raised {type(error).__name__}: {error}"


def _expect(kept: bool, promise: str) -> None:
    if not kept:
        raise _BrokenError(promise)


def _ask(state: Any, verb: str, *arguments: Any) -> Any:
    return _call(
        f"{verb}({', '.join(map(repr, arguments))})", lambda: getattr(state, verb)(*arguments)
    )


def _ints(state: Any, verb: str) -> list[int]:
    """Call a method that returns ints."""
    answer = _ask(state, verb)
    try:
        return [operator.index(one) for one in answer]
    except TypeError:
        raise _BrokenError(
            f"{verb}() must be a list of ints, got {repr_with_type(answer)}"
        ) from None


def _call(named: str, function: Callable[[], Any]) -> Any:
    try:
        return function()
    except Exception as error:
        raise _BrokenError(_raised(named, error)) from error


def _two_numbers(answer: Any) -> list[float]:
    try:
        numbers = [] if isinstance(answer, Mapping) else [float(one) for one in answer]
    except (TypeError, ValueError):
        numbers = []
    _expect(len(numbers) == 2, f"returns() must be two numbers, got {short_repr(answer)}")
    return numbers


def _planes_of(state: Any) -> np.ndarray:
    """The planes as an array, from NumPy, PyTorch or a list."""
    try:
        return np.asarray(_ask(state, "observation_tensor"), np.float32)
    except (TypeError, ValueError, RuntimeError) as error:
        raise _BrokenError(f"observation_tensor() must be an array of numbers: {error}") from error


def _picture(state: Any) -> tuple[Any, ...]:
    """The observable part of a state, which must not change while another state plays."""
    terminal = bool(_ask(state, "is_terminal"))
    return (
        terminal,
        None if terminal else _ask(state, "current_player"),
        None if terminal else sorted(_ints(state, "legal_actions")),
        _call("__str__()", lambda: str(state)) if has_own(state, "__str__") else None,
        _ints(state, "history") if hasattr(state, "history") else None,
    )


def _mirrored_state(game: Game, state: State, k: int) -> State:
    """The board of a state under symmetry k, as an initial state."""
    columns = game.board_shape[1]
    stones = "".join(state.board_rows())
    moved = [""] * len(stones)
    for stone, point in zip(stones, game.symmetry_points(k), strict=True):
        moved[point] = stone
    text = "".join(moved)
    rows = [text[i : i + columns] for i in range(0, len(text), columns)]
    return game.state_from_board(rows, state.current_player())


@dataclass
class _Checker:
    """Plays random games; `moves` are the actions of the current game."""

    game: Any
    wrapped: Game
    rng: random.Random
    plies: int = 0
    moves: list[int] = field(default_factory=list)
    unchecked: set[int] = field(default_factory=set)  #: symmetries that change the initial state
    known: dict[Any, Any] = field(default_factory=dict)  #: player and legal actions of states
    largest: float = 0.0  #: largest absolute return

    def play(self) -> None:
        """Play one random game."""
        self.moves = []
        state, other = (_ask(self.game, "new_initial_state") for _ in range(2))
        _expect(state is not other, _ANOTHER_START)
        untouched = _picture(other)
        mirrored = self._mirrored_starts(state)
        while not _ask(state, "is_terminal"):
            self._check_length()
            self.plies += 1
            legal = self._check_legal(state)
            for check in (self._check_value, self._check_observation, self._check_own):
                check(state)
            self._check_mirrored(state, legal, mirrored)
            self._step(state, self.rng.choice(legal), mirrored)
            if len(self.moves) == 1:
                _expect(_picture(other) == untouched, _ANOTHER_START)
        self._check_end(state, mirrored)

    def _mirrored_starts(self, start: Any) -> list[tuple[int, Any]]:
        """The initial state under each symmetry except the identity."""
        symmetries = range(1, self.wrapped.num_symmetries)
        if isinstance(self.game, Game) and self.game.has_board:
            return [(k, _mirrored_state(self.game, start, k)) for k in symmetries]
        starts = []
        legal = sorted(_ints(start, "legal_actions"))
        for k in symmetries:
            if sorted(self.wrapped.symmetry_action(k, a) for a in legal) == legal:
                starts.append((k, _ask(self.game, "new_initial_state")))
            else:
                self.unchecked.add(k)
        return starts

    def _check_length(self) -> None:
        longest = self.wrapped.max_game_length()
        if len(self.moves) < longest:
            return
        raise _BrokenError(
            f"the game is not over after max_game_length, {longest} plies"
            if hasattr(self.game, "max_game_length")
            else f"a random game is not over after {longest} plies; a longer game must declare "
            "max_game_length"
        )

    def _check_legal(self, state: Any) -> list[int]:
        player = _ask(state, "current_player")
        _expect(
            isinstance(player, SupportsIndex) and player in (0, 1),
            f"current_player() must be 0 or 1, got {repr_with_type(player)}",
        )
        legal = _ints(state, "legal_actions")
        _expect(bool(legal), "legal_actions() is empty although is_terminal() is false")
        highest = self.wrapped.num_distinct_actions() - 1
        wrong = [a for a in legal if not 0 <= a <= highest]
        _expect(not wrong, f"legal_actions() must lie in 0..{highest}, got {wrong[:5]}")
        twice = sorted({a for a in legal if legal.count(a) > 1}) if len(legal) < 1000 else []
        _expect(len(set(legal)) == len(legal), f"legal_actions() names {twice} twice")
        if isinstance(self.game, Game):
            _expect(legal == sorted(legal), f"legal_actions() must be sorted, got {legal}")
        return legal

    def _step(self, state: Any, action: int, mirrored: list[tuple[int, Any]]) -> None:
        """Play an action three ways: on a clone, on the state, and mirrored."""
        before, planes = _picture(state), self._planes(state)
        kept = _ask(state, "clone")
        _expect(
            hasattr(kept, "apply_action"),
            f"clone() must return a state, got {repr_with_type(kept)}",
        )
        ahead = _ask(state, "clone")
        _expect(_picture(kept) == before, "clone() differs from the original state")
        _ask(ahead, "apply_action", action)
        _expect(
            _picture(state) == before,
            f"apply_action({action}) on a clone changed the original state",
        )
        answer = _ask(state, "apply_action", action)
        self.moves.append(int(action))
        _expect(
            answer is None or answer is state or not hasattr(answer, "apply_action"),
            f"apply_action({action}) must change the state in place, but it returned another "
            f"{type(answer).__name__}",
        )
        if planes is not None or before[3:] != (None, None):
            changed = _picture(state) != before or self._planes(state) != planes
            _expect(changed, f"apply_action({action}) did not change the state")
        if has_own(state, "__eq__"):
            _expect(
                not _call("==", lambda: bool(kept == state)),
                f"the states before and after apply_action({action}) are equal",
            )
        _expect(_picture(kept) == before, f"apply_action({action}) changed a clone made before")
        _expect(_picture(ahead) == _picture(state), f"a clone plays {action} differently")
        if hasattr(state, "history"):
            past = _ints(state, "history")
            _expect(past == self.moves, f"history() must be {self.moves}, got {past}")
        for k, other in mirrored:
            _ask(other, "apply_action", self.wrapped.symmetry_action(k, action))

    def _check_value(self, state: Any) -> None:
        """Check that a clone is equal and has the same hash, if states can be compared."""
        if not has_own(state, "__eq__"):
            return
        copy = _ask(state, "clone")
        _expect(
            _call("==", lambda: bool(copy == state)),
            "clone() is not == to the original state",
        )
        if type(state).__hash__ is not None:
            hashes = _call("__hash__()", lambda: (hash(copy), hash(state)))
            _expect(hashes[0] == hashes[1], "clone() is == to the state but has another hash")

    def _check_observation(self, state: Any) -> None:
        size = math.prod(self.wrapped.observation_shape)
        if size == 0 or isinstance(self.game, Game):
            return
        planes = _planes_of(state)
        held = planes.size
        _expect(held == size, f"observation_tensor() must hold {size} numbers, got {held}")
        _expect(bool(np.isfinite(planes).all()), "observation_tensor() must be finite")

    def _planes(self, state: Any) -> bytes | None:
        if isinstance(self.game, Game) or math.prod(self.wrapped.observation_shape) == 0:
            return None
        return _planes_of(state).tobytes()

    def _check_own(self, state: Any) -> None:
        """Check optional methods of a user's state, or all methods of a built-in one."""
        if not isinstance(self.game, Game):
            if hasattr(state, "action_to_string"):
                self._check_names(state)
            if can_be_compared(state):
                self._check_recognised(state)
            return
        text = state.serialize()
        again = self.game.deserialize_state(text)
        _expect(again == state, "deserialize_state(serialize()) is not == to the state")
        _expect(again.hash() == state.hash(), "deserialize_state(serialize()) has another hash")
        legal = state.legal_actions()
        allowed = set(legal)
        for action in legal:
            name = state.action_to_string(action)
            _expect(
                state.string_to_action(name) == action,
                f"string_to_action({name!r}) is not {action}",
            )
        everything = range(self.wrapped.num_distinct_actions())
        illegal = [a for a in everything if a not in allowed]
        tried = self.rng.sample(illegal, min(_ILLEGAL_TRIES, len(illegal)))
        for action in [*tried, -1, len(everything)]:
            self._check_refused(state, action)

    def _check_recognised(self, state: Any) -> None:
        """Check that equal states have the same player and legal actions."""
        actions = sorted(_ints(state, "legal_actions"))
        shown = (_ask(state, "current_player"), actions)
        if len(self.known) < _MOST_KNOWN:
            shown_before = self.known.setdefault(_ask(state, "clone"), shown)
        else:
            shown_before = self.known.get(state, shown)
        _expect(
            shown_before == shown,
            "states that are == must have the same future, but their players and legal actions are "
            f"{shown_before} and {shown}",
        )

    @staticmethod
    def _check_names(state: Any) -> None:
        """Check that each legal action has a distinct name."""
        actions: dict[str, int] = {}
        for action in _ints(state, "legal_actions"):
            name = _ask(state, "action_to_string", action)
            _expect(
                isinstance(name, str),
                f"action_to_string({action}) must return a str, got {repr_with_type(name)}",
            )
            same = actions.setdefault(name, action)
            _expect(
                same == action,
                f"action_to_string() must be distinct for each action, got {name!r} for {same} and "
                f"{action}",
            )

    @staticmethod
    def _check_refused(state: Any, action: int) -> None:
        before = _picture(state)
        try:
            state.apply_action(action)
        except IllegalActionError:
            _expect(_picture(state) == before, f"rejecting the action {action} changed the state")
            return
        raise _BrokenError(f"apply_action({action}) did not raise although it is illegal")

    def _check_mirrored(
        self, state: Any, legal: list[int], mirrored: list[tuple[int, Any]]
    ) -> None:
        for k, other in mirrored:
            _expect(not _ask(other, "is_terminal"), f"symmetry {k}: the mirrored game is over")
            _expect(
                _ask(other, "current_player") == _ask(state, "current_player"),
                f"symmetry {k}: the mirrored game has a different player to move",
            )
            expected = sorted(self.wrapped.symmetry_action(k, action) for action in legal)
            others = sorted(_ints(other, "legal_actions"))
            _expect(
                expected == others,
                f"symmetry {k}: legal_actions() of the mirrored game: expected {expected}, "
                f"got {others}",
            )

    def _check_end(self, state: Any, mirrored: list[tuple[int, Any]]) -> None:
        returns = _two_numbers(_ask(state, "returns"))
        most = _utility(self.game)
        self.largest = max(self.largest, *map(abs, returns))
        finite = all(map(math.isfinite, returns))
        _expect(finite, f"returns() must be finite, got {returns}")
        _expect(abs(sum(returns)) <= _TOLERANCE * most, f"returns() must be zero-sum: {returns}")
        _expect(
            max(map(abs, returns)) <= most * (1 + _TOLERANCE),
            f"returns() must lie within [-{most}, {most}] (max_utility), got {returns}",
        )
        for k, other in mirrored:
            _expect(
                bool(_ask(other, "is_terminal")), f"symmetry {k}: the mirrored game is not over"
            )
            mirror = _two_numbers(_ask(other, "returns"))
            _expect(mirror == returns, f"symmetry {k}: returns(): expected {returns}, got {mirror}")
        if isinstance(self.game, Game):
            self._check_own_end(state)

    def _check_own_end(self, state: Any) -> None:
        _expect(state.legal_actions() == [], "legal_actions() must be empty when the game is over")
        _expect(state.current_player() == -4, "current_player() must be -4 when the game is over")
        self._check_refused(state, self.moves[-1])
        _expect(pickle.loads(pickle.dumps(state)) == state, "a pickled state is not == to itself")


def _utility(game: Any) -> float:
    utility = getattr(game, "max_utility", 1.0)
    return float(utility() if callable(utility) else utility)
