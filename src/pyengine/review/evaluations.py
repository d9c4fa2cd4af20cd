"""Evaluations of positions: win rates from searches, scores and ownership from the network."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pyengine.base.arrays import Floats
from pyengine.games.game import State
from pyengine.games.go_area import area
from pyengine.review.moves import Evaluation
from pyengine.search.engine import Engine
from pyengine.search.result import SearchResult, win_rate

_SCORED = 3  # plies of the best line whose scores count


def evaluations_of(
    engine: Engine, positions: Sequence[State], results: Sequence[SearchResult | None]
) -> list[Evaluation | None]:
    """Return the evaluation of each position from its search; None without a result.

    The last position may be the end of the game.
    """
    boards = _final_boards(engine, positions, results)
    evaluations: list[Evaluation | None] = [None] * len(positions)
    for i, result in enumerate(results):
        if result is None:
            continue
        sign = 1 - 2 * positions[i].current_player()
        ownership, score = boards.get(i, (None, None))
        evaluations[i] = Evaluation(
            win_rate=win_rate(sign * result.value),
            score=score,
            proven=None if result.proven is None else sign * result.proven,
            simulations=result.simulations,
            discs=_discs(positions[i]),
            ownership=ownership,
        )
    if positions and positions[-1].is_terminal():
        evaluations[-1] = _at_the_end(positions[-1], engine.evaluator.has_final_board)
    return evaluations


def _final_boards(
    engine: Engine, positions: Sequence[State], results: Sequence[SearchResult | None]
) -> dict[int, tuple[Floats | None, float | None]]:
    """Return the predicted ownership and score of each position, for the first player.

    All predictions are one call. The score is the mean of the predictions for the position and the
    next ones of the best line: it takes the search into account, and a network that favours the
    player to move does so equally for both players.
    """
    if not engine.evaluator.has_final_board:
        return {}
    lines = {
        i: _along(positions[i], result.pv[:_SCORED])
        for i, result in enumerate(results)
        if result is not None
    }
    states = [state for line in lines.values() for state in line]
    ownership, score = engine.evaluator.evaluate_final_board(states, game=engine.game)
    signs = np.array([1 - 2 * state.current_player() for state in states], np.float32)
    boards, row = {}, 0
    for i, line in lines.items():
        rows = slice(row, row + len(line))
        boards[i] = (
            None if ownership is None else signs[row] * ownership[row],
            None if score is None else float((signs[rows] * score[rows]).mean()),
        )
        row += len(line)
    return boards


def _along(state: State, actions: Sequence[int]) -> list[State]:
    """Return a position and those after each action, up to the end of the game."""
    line = [state]
    for action in actions:
        following = line[-1].clone()
        following.apply_action(action)
        if following.is_terminal():
            break
        line.append(following)
    return line


def _at_the_end(state: State, scored: bool) -> Evaluation:
    value = float(state.returns()[0])
    score = None
    if scored and state.game.name == "go":
        first, second = area(state)
        score = first - second - float(state.game.params["komi"])
    return Evaluation(
        win_rate=win_rate(value), score=score, proven=int(np.sign(value)), discs=_discs(state)
    )


def _discs(state: State) -> tuple[int, int] | None:
    if state.game.name != "othello" or not state.game.has_board:
        return None
    points = "".join(state.board_rows())
    return points.count("X"), points.count("O")
