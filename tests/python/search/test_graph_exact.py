"""The visit counts of a graph are exactly those of a naive search of one."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
import pytest

import pyengine
from naive_graph import Graph, size
from naive_puct import SERIAL, Node, Settings, evaluated_by, hashed
from toy_games import Pairs, ToyGame

#: Simulations from each of three positions.
GAMES = {
    "tic_tac_toe": 400,
    "connect_four(rows=4,columns=4)": 400,
    "mnk(rows=3,columns=4,k=3)": 300,
    "gomoku(board_size=5)": 200,
    "othello(board_size=4)": 300,
    "go(board_size=3,superko=simple)": 400,
    "go(board_size=3)": 400,
    "go(board_size=4)": 200,
    "go(board_size=5,superko=simple)": 100,
}
SETTINGS = [
    Settings(),
    Settings(c_puct=2.5, c_puct_base=None, fpu="value", fpu_value=0.0),
    Settings(c_puct=0.7, c_puct_base=50, c_puct_factor=2.0, fpu="parent"),
]


class SharedPairs(Pairs):
    """Players move twice in a row; the points of both are the position."""

    def transposition_key(self) -> int:
        owners = [(i + 1) // 2 % 2 for i in range(len(self.moves))]
        return sum(3**a * (owner + 1) for a, owner in zip(self.moves, owners, strict=True))


def position_of(state: Any) -> Hashable:
    """Return what decides the future: text shows the stones and the player to move."""
    if isinstance(state, SharedPairs):
        return state.transposition_key()
    return go_position(state) if state.game.name == "go" else str(state)


def go_position(state: Any) -> Hashable:
    """Return text, legal moves, passes and the boards up to the last capture."""
    replay = state.game.new_initial_state()
    boards = [str(replay.board_rows())]
    moves, captures = state.history(), 0
    passes = [replay.string_to_action("pass")] * 2
    for move in moves:
        replay.apply_action(move)
        boards.append(str(replay.board_rows()))
        if move != passes[0] and stones(boards[-1]) <= stones(boards[-2]):
            captures = len(boards)
    has_superko = state.game.params["superko"] != "simple"
    earlier = frozenset(boards[:captures]) if has_superko else None
    return str(state), tuple(state.legal_actions()), moves[-1:] == passes[:1], earlier


def earlier_boards(state: Any, count: int) -> Hashable:
    """Return the boards before each of the last ``count`` moves."""
    if count == 0:
        return None
    replay = state.game.new_initial_state()
    boards = [str(replay.board_rows())]
    for move in state.history():
        replay.apply_action(move)
        boards.append(str(replay.board_rows()))
    return tuple(boards[-1 - count : -1])


def stones(board: str) -> int:
    return board.count("X") + board.count("O")


def check_equal(result: pyengine.SearchResult, node: Node) -> None:
    sign = 1 if node.player == 0 else -1
    expected = [node.children[a] for a in result.actions.tolist()]
    assert result.visits.tolist() == [edge.n for edge in expected]
    q = [sign * edge.w / edge.n if edge.n else np.nan for edge in expected]
    np.testing.assert_allclose(result.q, q, atol=1e-6)
    assert result.value == pytest.approx(sign * node.w / node.n, abs=1e-6)


def play(
    game: Any, evaluator: Any, settings: Settings, simulations: int, plies: int, history: int = 0
) -> Graph:
    """Search and advance a few plies, keeping the naive graph as the engine keeps its own."""

    def key(state: Any) -> Hashable:
        return position_of(state), earlier_boards(state, history)

    graph = Graph(key=key, evaluate=evaluated_by(evaluator, game), settings=settings)
    as_graph: dict[str, Any] = {"graph": True, "cache_entries": 0, "deterministic": True}
    as_graph["graph_history"] = history
    engine = pyengine.Engine(game, evaluator, **SERIAL, **as_graph, **vars(settings))
    state = game.new_initial_state()
    for ply in range(plies):
        if state.is_terminal():
            break
        result = engine.search(state, simulations=simulations)
        check_equal(result, graph.search(state, ply, simulations))
        assert result.nodes == size(graph)
        # Not always the best move, so that small parts are reused as well.
        moves = np.argsort(result.visits, kind="stable")
        action = int(result.actions[moves[-1 - ply % 2]])
        state.apply_action(action)
        engine.advance(action)
    return graph


@pytest.mark.parametrize(
    ("name", "settings"), [(n, SETTINGS[i % 3]) for i, n in enumerate(GAMES)], ids=str
)
def test_visits_equal_a_naive_graph_with_reuse(name: str, settings: Settings) -> None:
    game = pyengine.load_game(name)
    play(game, hashed(game.num_distinct_actions()), settings, GAMES[name], 3)


@pytest.mark.parametrize(
    ("name", "history"),
    [("mnk(rows=3,columns=4,k=3)", 2), ("go(board_size=3,superko=simple)", 3), ("connect_four", 1)],
)
def test_positions_may_have_to_agree_in_earlier_boards(name: str, history: int) -> None:
    game = pyengine.load_game(name)
    shared, strict = (
        play(game, hashed(game.num_distinct_actions()), SETTINGS[0], 300, 2, boards)
        for boards in (0, history)
    )
    assert size(strict) > size(shared)


@pytest.mark.parametrize("settings", SETTINGS[:2], ids=str)
def test_players_who_move_twice_share_positions(settings: Settings) -> None:
    graph = play(ToyGame(SharedPairs), hashed(20), settings, 300, 3)
    after = [to for moves in graph.links.values() for to in moves.values()]
    assert len(set(after)) < len(after)
