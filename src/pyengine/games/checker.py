"""Random games of a user's game, in which each promise is checked."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, SupportsIndex

import numpy as np

from pyengine.base.checks import repr_with_type
from pyengine.games.game import (
    Game,
    actions_stay_legal,
    can_be_compared,
    can_be_recognised,
    has_binary_planes,
    has_own,
)
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

_FAR = 1000  # a max_utility this many times the largest return makes values small
_MOST_KNOWN = 10_000  # states compared with each other


def visible(state: Any) -> tuple[Any, ...]:
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
class Checker:
    """Plays random games of a user's game; `moves` are the actions of the current game."""

    game: Any
    wrapped: Game
    rng: random.Random
    plies: int = 0
    moves: list[int] = field(default_factory=list)
    #: symmetries that change the initial state, each with an example
    unchecked: dict[int, str] = field(default_factory=dict)
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
        untouched = visible(other)
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
                expect(visible(other) == untouched, promise)
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
        legal = legal_of(start)
        for k in range(1, self.wrapped.num_symmetries):
            images = {action: self.wrapped.symmetry_action(k, action) for action in legal}
            moved = [action for action in legal if images[action] not in images]
            if not moved:
                starts.append((k, self.game.new_initial_state()))
                continue
            why = f"where action {moved[0]} becomes {images[moved[0]]}, which is illegal"
            expect(not self.keeps_board(start, k), f"symmetry {k} keeps the initial board, {why}")
            self.unchecked[k] = why
        return starts

    def keeps_board(self, _start: Any, _k: int) -> bool:
        """Whether the board of the initial state is known to be the same under a symmetry."""
        return False

    def symmetry_warnings(self) -> Iterator[str]:
        """Yield a warning if a game has symmetries of which none could be checked."""
        count = self.wrapped.num_symmetries
        if count > 1 and len(self.unchecked) == count - 1:
            yield (
                "no symmetry could be checked, because each changes the initial state: a wrong one "
                "spoils training data; num_symmetries = 1 is always right"
            )

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
            before = visible(state)
            self.playouts.check(state, self.rng.getrandbits(32))
            expect(visible(state) == before, "play_out() changed the state")

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
        before, planes = visible(state), self.planes(state)
        untouched, ahead = state.clone(), state.clone()
        expect(visible(untouched) == before, "clone() differs from the original state")
        ahead.apply_action(action)
        expect(
            visible(state) == before,
            f"apply_action({action}) on a clone changed the original state",
        )
        answer = state.apply_action(action)
        self.moves.append(int(action))
        expect(
            answer is None or answer is state or not hasattr(answer, "apply_action"),
            f"apply_action({action}) must change the state in place, but it returned another "
            f"{type(answer).__name__}",
        )
        after = visible(state)
        if planes is not None or before[3:] != (None, None):
            changed = after != before or self.planes(state) != planes
            expect(changed, f"apply_action({action}) did not change the state")
        if has_own(state, "__eq__"):
            expect(
                not bool(untouched == state),
                f"the states before and after apply_action({action}) are equal",
            )
        expect(visible(untouched) == before, f"apply_action({action}) changed a clone made before")
        expect(visible(ahead) == after, f"a clone plays {action} differently")
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
            images = {self.wrapped.symmetry_action(k, action): action for action in legal}
            actual = legal_of(mirror)
            wrong = [image for image in images if image not in actual]
            example = f"; action {images[wrong[0]]} becomes {wrong[0]}" if wrong else ""
            expect(
                sorted(images) == sorted(actual),
                f"symmetry {k}: legal_actions() of the mirrored game: expected {sorted(images)}, "
                f"got {sorted(actual)}{example}",
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

    def actions_are_points(self) -> bool:
        """Whether the actions may be points and a pass, or columns, which reflections can move."""
        rows, columns = self.wrapped.board_shape
        return self.wrapped.num_distinct_actions() in (rows * columns, rows * columns + 1, columns)

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
            "num_symmetries: its board is not rotated or mirrored": (
                hasattr(game, "num_symmetries") or not self.actions_are_points()
            ),
        }
        return [feature for feature, has_it in features.items() if not has_it]
