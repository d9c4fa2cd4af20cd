"""The game and the positions of a query."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pyengine.errors import ConfigError, IllegalActionError
from pyengine.games.game import Game, State, load_game
from pyengine.protocols.analysis.query import PlayedPoint, Query, QueryError, Restriction

_KOMI = 7.5  # if neither the query nor its rules give one
_COORDINATES = re.compile(r"\((\d{1,2}),(\d{1,2})\)")  # column and row, from the top left


def game_of(query: Query) -> Game:
    """Return the game of a query; handicap points are part of its komi."""
    rules, rows, columns = query.rule_set(), query.board_y_size, query.board_x_size
    komi = next((k for k in (query.komi, rules.komi) if k is not None), _KOMI)
    length = 2 * rows * columns
    while length < len(query.moves) + rows * columns:  # leaves a game to search after the moves
        length *= 2
    try:
        return load_game(
            "go",
            rows=rows,
            columns=columns,
            komi=komi + rules.points_for_handicap(_handicap(query)),
            superko=rules.superko,
            suicide=rules.suicide,
            max_game_length=length,
        )
    except ConfigError as error:
        raise QueryError("komi", str(error)) from error


def _handicap(query: Query) -> int:
    """Count Black's stones on the board and Black's moves before White's first stone."""
    if any(player == 1 for player, _ in query.initial_stones):
        return 0
    stones = len(query.initial_stones)
    for player, point in query.moves:
        is_pass = point.lower() == "pass"
        if player == 1 and not is_pass:
            break
        stones += not is_pass
    return stones if stones > 1 else 0


def positions(query: Query, game: Game) -> Iterator[State]:
    """Yield the position of each turn; the next one is made from it in place.

    A position in which the game is over is one of a game that goes on. If the same player moves
    twice in a row, or a ko rule forbids the move, the history before the move is dropped.

    Raises:
        QueryError: the stones or a move are impossible.

    """
    state = _start(query, game)
    yield state
    for number, (player, point) in enumerate(query.moves):
        if state.current_player() != player:
            state = _without_history(state, player)
        try:
            state = _after(state, action_at(point, state))
        except IllegalActionError as error:
            raise QueryError("moves", f"Illegal move {number}: {point}") from error
        if state.is_terminal():
            state = _without_history(state, 1 - player)
        yield state


def _start(query: Query, game: Game) -> State:
    if query.initial_player is not None:
        player = query.initial_player
    elif query.moves:
        player = query.moves[0][0]
    else:
        player = int(_handicap(query) > 0)
    blank = game.new_initial_state()
    if not query.initial_stones:
        return blank if player == 0 else _without_history(blank, player)
    try:
        return game.state_from_board(_rows(query.initial_stones, blank), player)
    except ConfigError as error:
        raise QueryError("initialStones", f"initialStones: {error}") from error


def _rows(stones: Sequence[PlayedPoint], blank: State) -> list[str]:
    rows = [list(row) for row in blank.board_rows()]
    height, width = blank.game.board_shape
    for player, point in stones:
        try:
            action = action_at(point, blank)
        except IllegalActionError as error:
            raise QueryError("initialStones", f"Could not parse board location: {point}") from error
        if action == height * width:
            raise QueryError("initialStones", "a pass is no stone")
        rows[action // width][action % width] = "XO"[player]
    return ["".join(row) for row in rows]


def _after(state: State, action: int) -> State:
    """Play a move, also one that only a ko rule forbids."""
    try:
        state.apply_action(action)
    except IllegalActionError:
        state = _without_history(state, state.current_player())
        state.apply_action(action)
    return state


def _without_history(state: State, player: int) -> State:
    return state.game.state_from_board(state.board_rows(), player)


def action_at(point: str, state: State) -> int:
    """Return the action of a point such as D4, "pass" or (3,0). Raises IllegalActionError."""
    rows, columns = state.game.board_shape
    match = _COORDINATES.fullmatch(point)
    if match is None:
        return state.string_to_action(point)
    column, row = int(match[1]), int(match[2])
    if row >= rows or column >= columns:
        raise IllegalActionError(f"{point} is not on the board")
    return row * columns + column


def restricted(query: Query, state: State) -> list[int] | None:
    """Return the legal moves that the query leaves to search, or None without a restriction.

    Raises QueryError if none is left or a point is not on the board.
    """
    legal, player = set(state.legal_actions()), state.current_player()
    left = legal
    for field, entries in (("avoidMoves", query.avoid_moves), ("allowMoves", query.allow_moves)):
        for entry in entries:
            if entry.player == player:
                points = _points(field, entry, state)
                left = left & points if field == "allowMoves" else left - points
        if not left:
            raise QueryError(field, f"{field} leaves no legal move")
    return None if left == legal else sorted(left)


def _points(field: str, entry: Restriction, state: State) -> set[int]:
    try:
        return {action_at(point, state) for point in entry.moves}
    except IllegalActionError as error:
        raise QueryError(field, f"Could not parse board location: {error}") from error
