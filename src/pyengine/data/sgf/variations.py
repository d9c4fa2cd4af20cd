"""The variations of an SGF record: its lines beside the main one."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from pyengine.data.sgf.collection import SgfError
from pyengine.data.sgf.record import SgfGame
from pyengine.data.sgf.values import Properties, move_of, read_move
from pyengine.errors import IllegalActionError
from pyengine.games.game import State

_LONGEST = 2000  # moves: a file may nest tens of thousands of branches
_Move = tuple[int, int | None]


def variations(record: SgfGame, start: State, most: int) -> list[tuple[int, ...]]:
    """Return the actions of each line of a record but the main one, from its start.

    A line ends before its first move that is illegal, unreadable or out of turn, or after 2,000
    moves. Lines without a move of their own are left out. ``most`` limits the lines, and twice as
    many are read.
    """
    lines: dict[tuple[int, ...], None] = {}
    seen: set[tuple[int, ...]] = set()
    for number, moves in enumerate(itertools.islice(_lines(record), 2 * most)):
        actions = _played(start, moves[record.skipped :])
        is_new = actions not in seen
        seen.update(actions[: length + 1] for length in range(len(actions)))
        if number > 0 and is_new:
            lines[actions] = None
            if len(lines) == most:
                break
    return list(lines)


def _lines(record: SgfGame) -> Iterator[list[_Move]]:
    """Yield the moves of each line from the root to a leaf, the main one first."""
    pending: list[tuple[object, list[_Move]]] = [(record.tree, [])]
    while pending:
        tree, moves = pending.pop()
        line, is_whole = _with_moves(moves, tree.sequence, record.board)  # type: ignore[attr-defined]
        is_whole = is_whole and len(line) < _LONGEST
        children = tree.children if is_whole else []  # type: ignore[attr-defined]
        pending += [(child, line) for child in reversed(children)]
        if not children:
            yield line


def _with_moves(
    moves: list[_Move], nodes: Sequence[Properties], board: tuple[int, int]
) -> tuple[list[_Move], bool]:
    """Return moves followed by those of nodes, and whether all of them can be read."""
    line = list(moves)
    for node in nodes:
        try:
            move = move_of(node)
            if move is not None:
                line.append((move[0], read_move(move[1], board)))
        except (SgfError, UnicodeDecodeError):
            return line, False
    return line, True


def _played(start: State, moves: Sequence[_Move]) -> tuple[int, ...]:
    state, actions = start.clone(), []
    rows, columns = start.game.board_shape
    for player, move in moves:
        action = rows * columns if move is None else move
        if state.is_terminal() or state.current_player() != player:
            break
        try:
            state.apply_action(action)
        except IllegalActionError:
            break
        actions.append(action)
    return tuple(actions)
