"""The boards at the end of games: whose each point is, and by how many points a player is ahead."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pyengine.data.layout import Layout
from pyengine.data.record import GameLine
from pyengine.errors import ConfigError
from pyengine.games.game import Game, State
from pyengine.games.go_area import owners

__all__ = ["FinalBoards", "final_boards", "game_of", "has_score", "has_stones"]

_OWNERS = {"X": 1, "O": -1, ".": 0}


@dataclass(frozen=True)
class FinalBoards:
    """The last boards of G games.

    Attributes:
        owner: int8[G,H,W], 1 where a point is the first player's, -1 the second's, 0 nobody's; the
            top row first.
        score: float32[G], points by which the first player is ahead; 0 where the game counts none.
        ended: bool[G], whether the game was played to the end that its record tells. Others have 0.
    """

    owner: npt.NDArray[np.int8]
    score: npt.NDArray[np.float32]
    ended: npt.NDArray[np.bool_]


def has_stones(game: Game) -> bool:
    """Return whether the engine knows whose stones are where: not in users' games."""
    return game.has_board


def has_score(game: Game) -> bool:
    """Return whether points decide a game: Go and Othello."""
    return has_stones(game) and game.name in ("go", "othello")


def game_of(layout: Layout) -> Game:
    """Return the game of a layout. Raises ConfigError where its last board says nothing."""
    game = layout.load_game()
    if not has_stones(game):
        raise ConfigError(
            f"final_board: expected data of a game whose board the engine knows, found {game}"
        )
    return game


def final_boards(game: Game, lines: Sequence[GameLine]) -> FinalBoards:
    """Return the last boards of games, by playing their moves again.

    A point is the player's who has a stone there, and in Go who owns it by area. The score is the
    difference of these points, in Go less the komi. A game that was resigned, was cut short or
    cannot be played again has no target; nor has one whose record tells another result than its
    last board, as that of people who took dead stones off.
    """
    shape = (len(lines), *game.board_shape)
    boards = FinalBoards(
        np.zeros(shape, np.int8), np.zeros(len(lines), np.float32), np.zeros(len(lines), np.bool_)
    )
    komi = float(game.params.get("komi", 0.0))
    for number, line in enumerate(lines):
        state = _ended(game, line)
        if state is None:
            continue
        boards.ended[number] = True
        boards.owner[number] = _owner(game, state)
        if has_score(game):
            boards.score[number] = int(boards.owner[number].sum(dtype=np.int64)) - komi
    return boards


def _ended(game: Game, line: GameLine) -> State | None:
    """Return the last state of a game that was played to its end; else None."""
    if line.resigned >= 0 or line.cut_short:
        return None
    try:
        state = line.start_state(game)
        for action in line.moves:
            state.apply_action(action)
    except ValueError:  # ConfigError or IllegalActionError, of data that others wrote
        return None
    return state if state.is_terminal() and tuple(state.returns()) == line.returns else None


def _owner(game: Game, state: State) -> npt.NDArray[np.int8]:
    rows = state.board_rows()
    if game.name == "go":
        return owners(rows)
    return np.array([[_OWNERS[stone] for stone in row] for row in rows], np.int8)
