"""The size of the states of a user's game, for the limit of a solver's table."""

from __future__ import annotations

import gc
import sys
from types import FunctionType, ModuleType
from typing import Any

from pyengine import _core
from pyengine.games.game import can_be_compared

_MOST_PARTS = 10_000  # objects counted


def state_bytes(game: Any) -> int:
    """Return the size of a state of a user's game; 0 if its states cannot be compared."""
    own = _core.unwrap_game(game)
    if own is None:
        return 0
    state = own.new_initial_state()
    if not can_be_compared(state):
        return 0
    shared = _reachable(state.clone())
    return sum(
        sys.getsizeof(part, 0) for key, part in _reachable(state).items() if key not in shared
    )


def _reachable(state: Any) -> dict[int, Any]:
    """Return the objects reachable from a state, by id."""
    parts: dict[int, Any] = {}
    waiting = [state]
    while waiting and len(parts) < _MOST_PARTS:
        part = waiting.pop()
        if id(part) in parts or isinstance(part, type | ModuleType | FunctionType):
            continue
        parts[id(part)] = part
        waiting.extend(gc.get_referents(part))
    return parts
