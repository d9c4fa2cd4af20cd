"""The positions from which self-play games start."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from pyengine._core import SelfPlayConfig
from pyengine.base.checks import elements, repr_with_type
from pyengine.base.files import path_of, read_limited, unread
from pyengine.errors import ConfigError
from pyengine.games.game import Game, State
from pyengine.games.move_names import play_moves

#: States or lists of actions, or a file with one opening per line.
Openings: TypeAlias = Sequence[State | Sequence[int]] | str | os.PathLike[str]

_EXPECTED = "a State or a list of actions"
_MOST_PLIES = (1 << 16) - 1  # limit of the records


def opening_states(game: Game, openings: Openings, config: SelfPlayConfig) -> list[State]:
    """Return the positions after the openings.

    Raises ConfigError naming the first that is illegal, is of another game, ends the game, or
    leaves no move before ``max_plies``.
    """
    is_file = isinstance(openings, str | os.PathLike)
    named = _in_file(game, path_of("openings", openings)) if is_file else _given(game, openings)
    most = (config.max_plies or _MOST_PLIES) - config.opening_random_moves
    states = []
    for name, state in named:
        if state.is_terminal():
            raise ConfigError(f"{name}: the game is over after this opening")
        plies = len(state.history())
        if plies >= most:
            limit = "max_plies - opening_random_moves"
            raise ConfigError(f"{name}: expected fewer moves than {limit} = {most}, got {plies}")
        states.append(state)
    if not states:
        raise ConfigError(f"openings: expected at least one, got {repr_with_type(openings)}")
    return states


def _given(game: Game, openings: Any) -> Iterator[tuple[str, State]]:
    for number, opening in enumerate(elements("openings", openings, "States or lists of actions")):
        name = f"openings[{number}]"
        yield name, _state(game, name, opening)


def _state(game: Game, name: str, opening: Any) -> State:
    if isinstance(opening, State):
        if opening.game != game:
            raise ConfigError(f"{name}: expected a state of {game}, got one of {opening.game}")
        return opening.clone()
    try:
        actions = [operator.index(move) for move in elements(name, opening, _EXPECTED)]
    except TypeError:
        raise ConfigError(f"{name}: expected {_EXPECTED}, got {repr_with_type(opening)}") from None
    try:
        return game.new_initial_state(actions)
    except ValueError as error:  # IllegalActionError
        raise ConfigError(f"{name}: {error}") from error


def _in_file(game: Game, path: Path) -> Iterator[tuple[str, State]]:
    """Read lines of :meth:`State.serialize`, or of moves in the game's notation."""
    try:
        lines = read_limited(path).decode("utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(unread(path, error)) from error
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.lstrip().startswith("#"):
            name = f"{path}, line {number}"
            try:
                yield name, _state_in(game, line.strip())
            except ValueError as error:  # IllegalActionError and ConfigError
                raise ConfigError(f"{name}: {error}") from error


def _state_in(game: Game, line: str) -> State:
    if ";moves=" in line:
        return game.deserialize_state(line)
    state = game.new_initial_state()
    play_moves(state, line)
    return state
