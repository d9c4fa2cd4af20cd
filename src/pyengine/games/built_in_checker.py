"""Random games of a game in C++, built in or in a package."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field

import numpy as np

from pyengine.errors import IllegalActionError
from pyengine.games.checker import Checker, visible
from pyengine.games.game import State
from pyengine.games.promises import BrokenError, expect

_ILLEGAL_TRIES = 5  # illegal actions tried in each state
_PLIES_REMEMBERED = 8  # boards that input planes may show


@dataclass
class BuiltInChecker(Checker):
    """Plays random games of a game in C++, whose states have every method."""

    boards: list[list[str]] = field(default_factory=list)  #: board_rows() of the current game

    def shares(self, state: State) -> bool:
        return state.transposition_key() is not None

    def keeps_board(self, start: State, k: int) -> bool:
        return self.wrapped.has_board and self.mirrored_rows(start, k) == start.board_rows()

    def mirrored_starts(self, start: State) -> list[tuple[int, State]]:
        if not self.wrapped.has_setup:
            return super().mirrored_starts(start)
        return [(k, self.mirrored(start, k)) for k in range(1, self.wrapped.num_symmetries)]

    def mirrored(self, state: State, k: int) -> State:
        """Return the board of a state under symmetry ``k``, as an initial state."""
        return self.wrapped.state_from_board(self.mirrored_rows(state, k), state.current_player())

    def mirrored_rows(self, state: State, k: int) -> list[str]:
        stones = np.array([list(row) for row in state.board_rows()])
        mirrored = np.empty_like(stones)
        mirrored.flat[self.wrapped.symmetry_points(k)] = stones.flat
        return ["".join(row) for row in mirrored]

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
        self.playouts.check(state, self.rng.getrandbits(32))
        if self.shares(state):
            self.share(state)
        if self.wrapped.has_board:
            self.check_earlier_boards(state)

    def check_earlier_boards(self, state: State) -> None:
        """Compare the boards that the state remembers with those that were seen."""
        del self.boards[len(self.moves) :]
        self.boards.append(state.board_rows())
        size = self.wrapped.board_shape
        before_start = ["." * size[1]] * size[0]
        for ago in range(1, _PLIES_REMEMBERED):
            seen = self.boards[-1 - ago] if ago < len(self.boards) else before_start
            rows = state.board_rows(ago)
            expect(
                rows == seen,
                f"stones({ago}): the board {ago} plies ago was {' '.join(seen)}, got "
                f"{' '.join(rows)}",
            )

    @staticmethod
    def check_refused(state: State, action: int) -> None:
        before = visible(state)
        try:
            state.apply_action(action)
        except IllegalActionError:
            expect(visible(state) == before, f"rejecting the action {action} changed the state")
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
