"""Tests a game implementation with random games."""

from __future__ import annotations

import math
import pickle
import random
import traceback
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, SupportsIndex

import numpy as np

from pyengine.base.checks import integer, repr_with_type
from pyengine.errors import ConfigError, IllegalActionError
from pyengine.games.game import (
    Game,
    State,
    actions_stay_legal,
    as_game,
    can_be_compared,
    can_be_recognised,
    has_binary_planes,
    has_own,
)
from pyengine.games.game_report import GameReport
from pyengine.games.own_playouts import OwnPlayouts
from pyengine.games.promises import (
    BrokenError,
    check_returns,
    expect,
    ints,
    legal_of,
    two_numbers,
)
from pyengine.games.shared_positions import SharedPositions, is_shared, other_orders

_ILLEGAL_TRIES = 5  # illegal actions tried in each state
_FAR = 1000  # a max_utility this many times the largest return makes values small
_MOST_KNOWN = 10_000  # states compared with each other


def check_game(game: Any, *, games: int = 20, seed: int = 0) -> GameReport:
    """Play random games and report the first promise that the game breaks.

    In every position: an action changes the state in place; legal actions are in range, unique and
    not empty (sorted in a built-in game); clones and initial states are independent, and a clone
    plays like the state; equal states have the same player and legal actions; ``history``,
    ``hash``, ``__str__``, ``observation_tensor`` and ``action_to_string`` (distinct for each legal
    action) are consistent if present; ``play_out`` returns valid returns,
    changes nothing and takes its random numbers from its argument (a warning says if it favours the
    losers of the random games); a game with ``actions_stay_legal`` keeps that promise; positions
    that a search with ``graph=True`` shares, by ``transposition_key`` or else by ``==``, have the
    same player, legal actions and returns (a warning names the planes in which they differ); a
    mirrored game has mirrored legal actions and the same result (for a user's game, only under the
    symmetries of its initial state; the message names the others).

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
        return GameReport(type(game).__name__, False, _reason(error), (), 0, 0)
    checker = (_BuiltInChecker if isinstance(game, Game) else _Checker)(
        game, wrapped, random.Random(seed)
    )
    finished = 0
    try:
        for _ in range(games):
            checker.play()
            finished += 1
    except Exception as error:  # the user's code may raise anything, anywhere
        moves = tuple(checker.moves)
        return GameReport(wrapped.name, False, _reason(error), moves, finished, checker.plies)
    message = "no broken promise"
    if checker.unchecked:
        shown = ", ".join(map(str, sorted(checker.unchecked)))
        message += f" (not checked: symmetries {shown}, which change the initial state)"
    return GameReport(
        wrapped.name,
        True,
        message,
        (),
        finished,
        checker.plies,
        tuple(checker.missing_features()),
        (*checker.sharing.warnings(), *checker.playouts.warnings()),
    )


def _reason(error: Exception) -> str:
    """Return a broken promise, or an exception and the method of the game that raised it."""
    if isinstance(error, BrokenError | ConfigError):
        return str(error)
    frames = traceback.extract_tb(error.__traceback__)
    outside = [frame for frame in frames if frame.filename != __file__]
    place = f"{outside[0].name}()" if outside else f"`{frames[-1].line}`"
    return f"{place} raised {type(error).__name__}: {error}"


def _visible(state: Any) -> tuple[Any, ...]:
    """The observable part of a state, which must not change while another state plays."""
    over = bool(state.is_terminal())
    return (
        over,
        None if over else state.current_player(),
        None if over else sorted(legal_of(state)),
        str(state) if has_own(state, "__str__") else None,
        ints("history", state.history()) if hasattr(state, "history") else None,
    )


@dataclass
class _Checker:
    """Plays random games of a user's game; `moves` are the actions of the current game."""

    game: Any
    wrapped: Game
    rng: random.Random
    plies: int = 0
    moves: list[int] = field(default_factory=list)
    unchecked: set[int] = field(default_factory=set)  #: symmetries that change the initial state
    known: dict[Any, Any] = field(default_factory=dict)  #: player and legal actions of states
    largest: float = 0.0  #: largest absolute return
    sharing: SharedPositions = field(default_factory=SharedPositions)
    playouts: OwnPlayouts = field(init=False)
    stays_legal: bool = field(init=False)
    binary: bool = field(init=False)  #: whether the planes must be arrays of bool
    only_binary: bool = True  #: whether all planes so far were 0 and 1

    def __post_init__(self) -> None:
        self.playouts = OwnPlayouts(self.utility())
        self.stays_legal = actions_stay_legal(self.game)
        has_planes = math.prod(self.wrapped.observation_shape) > 0
        self.binary = has_planes and has_binary_planes(self.game.new_initial_state())

    def play(self) -> None:
        """Play one random game."""
        self.moves = []
        state, other = self.game.new_initial_state(), self.game.new_initial_state()
        promise = "new_initial_state() must return a new state each time, not one that is in use"
        expect(state is not other, promise)
        untouched = _visible(other)
        mirrored = self.mirrored_starts(state)
        while not state.is_terminal():
            self.check_length()
            self.plies += 1
            legal = self.check_legal(state)
            self.check_clone(state)
            self.check_optional(state, legal)
            self.check_mirrored(state, legal, mirrored)
            action = self.rng.choice(legal)
            self.step(state, action)
            self.check_still_legal(state, [a for a in sorted(legal) if a != action])
            for k, mirror in mirrored:
                mirror.apply_action(self.wrapped.symmetry_action(k, action))
            if len(self.moves) == 1:
                expect(_visible(other) == untouched, promise)
        self.check_end(state, mirrored)
        if self.shares(state):
            self.check_other_orders(state)

    def shares(self, state: Any) -> bool:
        return is_shared(state)

    def share(self, state: Any) -> None:
        planes = None if state.is_terminal() else self.planes(state)
        self.sharing.add(state, len(self.moves), planes, self.wrapped.observation_shape[0])

    def check_other_orders(self, end: Any) -> None:
        """Compare the positions of this game with those of its moves in other orders."""
        self.share(end)
        moves = self.moves
        for order in other_orders(moves, self.rng):
            state, self.moves = self.game.new_initial_state(), []
            for action in order:
                if state.is_terminal() or action not in legal_of(state):
                    break
                state.apply_action(action)
                self.moves.append(action)
                self.share(state)
        self.moves = moves

    def mirrored_starts(self, start: Any) -> list[tuple[int, Any]]:
        """Return the initial state under each symmetry that keeps it, except the identity."""
        starts = []
        legal = sorted(legal_of(start))
        for k in range(1, self.wrapped.num_symmetries):
            if sorted(self.wrapped.symmetry_action(k, a) for a in legal) == legal:
                starts.append((k, self.game.new_initial_state()))
            else:
                self.unchecked.add(k)
        return starts

    def check_length(self) -> None:
        longest = self.wrapped.max_game_length()
        advice = "" if hasattr(self.game, "max_game_length") else "; a longer game must declare it"
        expect(
            len(self.moves) < longest,
            f"the game is not over after max_game_length, {longest} plies{advice}",
        )

    def check_legal(self, state: Any) -> list[int]:
        player = state.current_player()
        expect(
            isinstance(player, SupportsIndex) and player in (0, 1),
            f"current_player() must be 0 or 1, got {repr_with_type(player)}",
        )
        legal = legal_of(state)
        expect(bool(legal), "legal_actions() is empty although is_terminal() is false")
        highest = self.wrapped.num_distinct_actions() - 1
        wrong = [a for a in legal if not 0 <= a <= highest]
        expect(not wrong, f"legal_actions() must lie in 0..{highest}, got {wrong[:5]}")
        twice = [action for action, count in Counter(legal).items() if count > 1]
        expect(not twice, f"legal_actions() names {twice[:5]} twice")
        return legal

    def check_clone(self, state: Any) -> None:
        """Check that a clone is equal and has the same hash, if states can be compared."""
        clone = state.clone()
        expect(
            hasattr(clone, "apply_action"),
            f"clone() must return a state, got {repr_with_type(clone)}",
        )
        if not has_own(state, "__eq__"):
            return
        expect(bool(clone == state), "clone() is not == to the original state")
        if type(state).__hash__ is not None:
            same = hash(clone) == hash(state)
            expect(same, "clone() is == to the state but has another hash")

    def check_optional(self, state: Any, legal: list[int]) -> None:
        """Check the optional methods that a state has."""
        if hasattr(state, "action_to_string"):
            self.check_names(state, legal)
        if can_be_compared(state):
            self.check_recognised(state, legal)
        if self.shares(state):
            self.share(state)
        if hasattr(state, "play_out"):
            before = _visible(state)
            self.playouts.check(state, self.rng.getrandbits(32))
            expect(_visible(state) == before, "play_out() changed the state")

    def check_still_legal(self, state: Any, expected: list[int]) -> None:
        """Check the promise of ``actions_stay_legal``."""
        if not self.stays_legal or state.is_terminal():
            return
        actual = sorted(legal_of(state))
        expect(
            actual == expected,
            "actions_stay_legal: legal_actions() must be the earlier ones without the action "
            f"played, {expected}, got {actual}",
        )

    @staticmethod
    def check_names(state: Any, legal: list[int]) -> None:
        actions: dict[str, int] = {}
        for action in legal:
            name = state.action_to_string(action)
            expect(
                isinstance(name, str),
                f"action_to_string({action}) must return a str, got {repr_with_type(name)}",
            )
            same = actions.setdefault(name, action)
            expect(
                same == action,
                f"action_to_string() must be distinct for each action, got {name!r} for {same} and "
                f"{action}",
            )

    def check_recognised(self, state: Any, legal: list[int]) -> None:
        """Check that equal states have the same player and legal actions."""
        future = (state.current_player(), sorted(legal))
        if len(self.known) < _MOST_KNOWN:
            earlier = self.known.setdefault(state.clone(), future)
        else:
            earlier = self.known.get(state, future)
        expect(
            earlier == future,
            "states that are == must have the same future, but their players and legal actions are "
            f"{earlier} and {future}",
        )

    def step(self, state: Any, action: int) -> None:
        """Play an action on a clone and on the state; another clone must not change."""
        before, planes = _visible(state), self.planes(state)
        untouched, ahead = state.clone(), state.clone()
        expect(_visible(untouched) == before, "clone() differs from the original state")
        ahead.apply_action(action)
        expect(
            _visible(state) == before,
            f"apply_action({action}) on a clone changed the original state",
        )
        answer = state.apply_action(action)
        self.moves.append(int(action))
        expect(
            answer is None or answer is state or not hasattr(answer, "apply_action"),
            f"apply_action({action}) must change the state in place, but it returned another "
            f"{type(answer).__name__}",
        )
        after = _visible(state)
        if planes is not None or before[3:] != (None, None):
            changed = after != before or self.planes(state) != planes
            expect(changed, f"apply_action({action}) did not change the state")
        if has_own(state, "__eq__"):
            expect(
                not bool(untouched == state),
                f"the states before and after apply_action({action}) are equal",
            )
        expect(_visible(untouched) == before, f"apply_action({action}) changed a clone made before")
        expect(_visible(ahead) == after, f"a clone plays {action} differently")
        if hasattr(state, "history"):
            expect(after[-1] == self.moves, f"history() must be {self.moves}, got {after[-1]}")

    def planes(self, state: Any) -> bytes | None:
        """Return the checked planes of a state; None if the game has none."""
        size = math.prod(self.wrapped.observation_shape)
        if size == 0:
            return None
        answer = state.observation_tensor()
        kind = getattr(answer, "dtype", type(answer).__name__)
        expect(
            not self.binary or kind == np.bool_,
            f"observation_tensor() must be an array of bool, as for the initial state, got {kind}",
        )
        try:
            planes = np.asarray(answer, np.float32)
        except (TypeError, ValueError, RuntimeError) as error:
            raise BrokenError(
                f"observation_tensor() must be an array of numbers: {error}"
            ) from error
        expect(
            planes.size == size, f"observation_tensor() must hold {size} numbers, got {planes.size}"
        )
        expect(bool(np.isfinite(planes).all()), "observation_tensor() must be finite")
        self.only_binary &= bool(np.isin(planes, (0, 1)).all())
        return planes.tobytes()

    def check_mirrored(self, state: Any, legal: list[int], mirrored: list[tuple[int, Any]]) -> None:
        for k, mirror in mirrored:
            expect(not mirror.is_terminal(), f"symmetry {k}: the mirrored game is over")
            expect(
                mirror.current_player() == state.current_player(),
                f"symmetry {k}: the mirrored game has a different player to move",
            )
            expected = sorted(self.wrapped.symmetry_action(k, action) for action in legal)
            actual = sorted(legal_of(mirror))
            expect(
                expected == actual,
                f"symmetry {k}: legal_actions() of the mirrored game: expected {expected}, "
                f"got {actual}",
            )

    def check_end(self, state: Any, mirrored: list[tuple[int, Any]]) -> None:
        returns = two_numbers("returns", state.returns())
        self.largest = max(self.largest, *map(abs, returns))
        check_returns("returns", returns, self.utility())
        if hasattr(state, "play_out"):
            self.playouts.end(returns[0])
        for k, mirror in mirrored:
            expect(bool(mirror.is_terminal()), f"symmetry {k}: the mirrored game is not over")
            results = two_numbers("returns", mirror.returns())
            expect(
                results == returns, f"symmetry {k}: returns(): expected {returns}, got {results}"
            )

    def utility(self) -> float:
        utility = getattr(self.game, "max_utility", 1.0)
        return float(utility() if callable(utility) else utility)

    def missing_features(self) -> list[str]:
        """Return the optional features that the game lacks, each with its cost."""
        game, wrapped, utility = self.game, self.wrapped, self.utility()
        state = game.new_initial_state()
        continued = (
            "reused only after Engine.advance, if planes and text match"
            if can_be_recognised(wrapped, state)
            else "never reused"
        )
        features = {
            f"history() and __eq__: a search tree is {continued}": (
                hasattr(state, "history") or has_own(state, "__eq__")
            ),
            "__eq__ and __hash__: solve() searches a position again for every order of moves that "
            "leads to it": can_be_compared(state),
            "transposition_key(), or __eq__ and __hash__: a search cannot use graph=True": (
                wrapped.has_transposition_key
            ),
            f"a max_utility near its returns ({utility:g}, the largest was {self.largest:g}): a "
            "tree search distinguishes returns that differ by 2^-24 of max_utility; solve() "
            "distinguishes all": self.largest == 0.0 or self.largest > utility / _FAR,
            "observation_tensor(): no network can read its positions, only a StateEvaluator": (
                math.prod(wrapped.observation_shape) > 0
            ),
            "an observation_tensor() of bool: its planes are 0 and 1, and training records take up "
            "to 32 times the space": self.binary
            or not self.only_binary
            or math.prod(wrapped.observation_shape) == 0,
            "play_out(): a playout calls legal_actions(), apply_action() and is_terminal() at "
            "each ply": hasattr(state, "play_out"),
            "__str__: its positions are not shown": has_own(state, "__str__"),
            "action_to_string(): its actions are numbers": hasattr(state, "action_to_string"),
            f"max_game_length: a game of {wrapped.max_game_length():,} plies is an error": (
                hasattr(game, "max_game_length")
            ),
            "num_symmetries: its board is not rotated or mirrored": hasattr(game, "num_symmetries"),
        }
        return [feature for feature, has_it in features.items() if not has_it]


class _BuiltInChecker(_Checker):
    """Plays random games of a built-in game, whose states have every method."""

    def shares(self, _state: Any) -> bool:
        return False

    def mirrored_starts(self, start: State) -> list[tuple[int, State]]:
        if not self.wrapped.has_setup:
            return super().mirrored_starts(start)
        return [(k, self.mirrored(start, k)) for k in range(1, self.wrapped.num_symmetries)]

    def mirrored(self, state: State, k: int) -> State:
        """Return the board of a state under symmetry ``k``, as an initial state."""
        stones = np.array([list(row) for row in state.board_rows()])
        mirrored = np.empty_like(stones)
        mirrored.flat[self.wrapped.symmetry_points(k)] = stones.flat
        rows = ["".join(row) for row in mirrored]
        return self.wrapped.state_from_board(rows, state.current_player())

    def check_legal(self, state: State) -> list[int]:
        legal = super().check_legal(state)
        expect(legal == sorted(legal), f"legal_actions() must be sorted, got {legal}")
        return legal

    def check_optional(self, state: State, legal: list[int]) -> None:
        again = self.wrapped.deserialize_state(state.serialize())
        expect(again == state, "deserialize_state(serialize()) is not == to the state")
        expect(again.hash() == state.hash(), "deserialize_state(serialize()) has another hash")
        for action in legal:
            name = state.action_to_string(action)
            expect(
                state.string_to_action(name) == action,
                f"string_to_action({name!r}) is not {action}",
            )
        actions = self.wrapped.num_distinct_actions()
        illegal = sorted(set(range(actions)).difference(legal))
        tried = self.rng.sample(illegal, min(_ILLEGAL_TRIES, len(illegal)))
        for action in [*tried, -1, actions]:
            self.check_refused(state, action)

    @staticmethod
    def check_refused(state: State, action: int) -> None:
        before = _visible(state)
        try:
            state.apply_action(action)
        except IllegalActionError:
            expect(_visible(state) == before, f"rejecting the action {action} changed the state")
            return
        raise BrokenError(f"apply_action({action}) did not raise although it is illegal")

    def planes(self, state: State) -> None:
        """Return None: the planes of a built-in game are the engine's own."""

    def check_end(self, state: State, mirrored: list[tuple[int, State]]) -> None:
        super().check_end(state, mirrored)
        expect(state.legal_actions() == [], "legal_actions() must be empty when the game is over")
        expect(state.current_player() == -4, "current_player() must be -4 when the game is over")
        self.check_refused(state, self.moves[-1])
        expect(pickle.loads(pickle.dumps(state)) == state, "a pickled state is not == to itself")

    def missing_features(self) -> list[str]:
        return []
