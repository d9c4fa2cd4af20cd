"""A search of a graph recognises positions of users' games, and check_game checks their keys."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyengine
from toy_games import HIDDEN, ToyGame, ToyState


class Filling(ToyState):
    """Players fill six points; the first has won if the sum of their points is odd."""

    actions = 6
    history = HIDDEN

    @property
    def board(self) -> tuple[int, ...]:
        owners = [0] * 6
        for ply, action in enumerate(self.moves):
            owners[action] = 1 + ply % 2
        return tuple(owners)

    def legal_actions(self) -> list[int]:
        return [a for a in range(6) if a not in self.moves]

    def is_terminal(self) -> bool:
        return len(self.moves) == 6

    def returns(self) -> list[float]:
        return [1.0, -1.0] if sum(self.moves[::2]) % 2 else [-1.0, 1.0]


class Keyed(Filling):
    def transposition_key(self) -> Any:
        return sum(owner * 3**point for point, owner in enumerate(self.board)) << 100


class Compared(Filling):
    def __eq__(self, other: object) -> bool:
        return isinstance(other, Filling) and self.board == other.board

    def __hash__(self) -> int:
        return hash(self.board)


class BadHash(Compared):
    def __hash__(self) -> int:
        return 1


def nodes_of(kind: type[ToyState], **settings: Any) -> tuple[int, float]:
    with pyengine.Engine(ToyGame(kind), "uniform", cache_entries=0) as engine:
        result = engine.search(
            kind(), simulations=1500, solver=False, deterministic=True, **settings
        )
        return result.nodes, result.value


def test_equal_states_share_a_node_however_bad_their_hash() -> None:
    counts = {kind: nodes_of(kind, graph=True) for kind in (Keyed, Compared, BadHash)}
    assert len(set(counts.values())) == 1
    # Subsets of the first and second player's points, in the position after each ply.
    assert counts[Keyed][0] <= 1 + 6 + 30 + 60 + 90 + 60 + 20
    assert nodes_of(Keyed, graph=False)[0] > 2 * counts[Keyed][0]


def test_a_game_without_keys_has_no_graph() -> None:
    assert not pyengine.games.as_game(ToyGame(Filling)).has_transposition_key
    assert pyengine.games.as_game(ToyGame(Keyed)).has_transposition_key
    assert pyengine.games.as_game(ToyGame(Compared)).has_transposition_key
    with pytest.raises(pyengine.ConfigError, match="graph"):
        nodes_of(Filling, graph=True)
    with pytest.raises(pyengine.ConfigError, match="graph_history: expected 0"):
        nodes_of(Keyed, graph=True, graph_history=1)


@pytest.mark.parametrize("answer", [-1, 2**128, "a", None, 1.0])
def test_a_key_is_an_int_of_128_bits(answer: Any) -> None:
    class Wrong(Keyed):
        def transposition_key(self) -> Any:
            return answer

    with pytest.raises(pyengine.ConfigError, match=r"transposition_key\(\) must return an int"):
        nodes_of(Wrong, graph=True)
    assert "transposition_key() must be an int" in pyengine.check_game(ToyGame(Wrong)).message


@pytest.mark.parametrize("method", ["transposition_key", "__hash__", "__eq__"])
def test_errors_of_a_key_propagate(method: str) -> None:
    base = Keyed if method == "transposition_key" else BadHash

    def fail(self: Any, *others: Any) -> Any:
        if len(self.moves) >= 3:
            raise ArithmeticError("no key")
        return getattr(base, method)(self, *others)

    kind = type("Failing", (base,), {"__hash__": base.__hash__, method: fail})
    with pytest.raises(ArithmeticError, match="no key"):
        nodes_of(kind, graph=True)


def test_check_game_finds_keys_that_merge_different_positions() -> None:
    class Blind(Keyed):
        def transposition_key(self) -> int:
            return len(self.moves)

    class Restless(Keyed):
        def transposition_key(self) -> int:
            return id(self)

    assert pyengine.check_game(ToyGame(Keyed))
    assert "must have the same future" in pyengine.check_game(ToyGame(Blind)).message
    assert "clone() has another" in pyengine.check_game(ToyGame(Restless)).message


def test_check_game_names_the_planes_that_keys_leave_out() -> None:
    class Remembers(Keyed):
        def observation_tensor(self) -> Any:
            last = np.zeros(6)
            last[list(self.moves[-1:])] = 1
            return np.array([[self.board], [last]], np.float32)

    (warning,) = pyengine.check_game(ToyGame(Remembers)).warnings
    assert "planes 1:" in warning
    assert pyengine.check_game(ToyGame(Keyed)).warnings == ()


@pytest.mark.parametrize("game", ["breakthrough(rows=5,columns=4)", "hex(board_size=3)"])
def test_games_of_openspiel_whose_text_is_the_position_have_keys(game: str) -> None:
    pytest.importorskip("pyspiel", reason="OpenSpiel is not installed (extra: test)")
    wrapped = pyengine.load_game(f"pyspiel:{game}")
    assert wrapped.has_transposition_key
    with pyengine.Engine(wrapped, "uniform") as engine:
        state = wrapped.new_initial_state()
        graph = engine.search(state, simulations=500, graph=True, deterministic=True)
    with pyengine.Engine(wrapped, "uniform") as engine:
        tree = engine.search(state, simulations=500, graph=False, deterministic=True)
    assert graph.nodes < tree.nodes


def test_games_of_openspiel_with_hidden_rules_have_no_key() -> None:
    pytest.importorskip("pyspiel", reason="OpenSpiel is not installed (extra: test)")
    for game in ("oware", "lines_of_action", "chess"):
        assert not pyengine.load_game(f"pyspiel:{game}").has_transposition_key
