"""Games in files: what a page loads, and what it saves."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pyengine.data.game_file import GameFile, game_in, saved_game
from pyengine.data.sgf.record import SgfGame
from pyengine.data.sgf.variations import variations
from pyengine.data.sgf.write import write_sgf
from pyengine.games.board_layout import game_look
from pyengine.games.outcomes import outcome_text, sgf_result
from pyengine.search.tree import names_of_line
from pyengine.serve.catalogue import Catalogue
from pyengine.serve.engines import BusyError
from pyengine.serve.positions import Place, position_of
from pyengine.serve.requests import ExportRequest, ImportRequest

_MOST_VARIATIONS = 200
_MOST_MOVES = 60_000  # in the variations of a file
_MOST_FILES = 2  # that are read or written at the same time


class Files:
    """Reads and writes files for requests, a few at the same time."""

    def __init__(self) -> None:
        self._free = threading.Semaphore(_MOST_FILES)

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Hold one of the places. Raises BusyError if none is free."""
        if not self._free.acquire(blocking=False):
            raise BusyError(f"files: expected at most {_MOST_FILES} at the same time")
        try:
            yield
        finally:
            self._free.release()


def read_file(request: ImportRequest, catalogue: Catalogue) -> dict[str, Any]:
    """Return the game in a text. Raises ConfigError or DataError."""
    game = None if request.game is None else catalogue.game(request.game)
    suffix = "sgf" if request.format == "sgf" else "txt"
    if suffix == "sgf" and game is not None and game.name not in ("go", "gomoku"):
        game = None
    file = game_in(
        request.text.encode(),
        f"text.{suffix}",
        game,
        find_game=catalogue.game,  # a request must not load any other
    )
    name = catalogue.name(file.game)
    return {
        "position": position_of(name, file.start, file.actions),
        "variations": _variations(file),
        "players": list(file.players),
        "result": file.result,
        "notes": list(file.notes),
    }


def _variations(file: GameFile) -> list[list[str]] | None:
    """Return the other lines of an SGF file, from the start; None for other files."""
    if file.record is None:
        return None
    most = max(1, min(_MOST_VARIATIONS, _MOST_MOVES // _longest_line(file.record)))
    lines = variations(file.record, file.start, most)
    return [names_of_line(file.start, line) for line in lines]


def _longest_line(record: SgfGame) -> int:
    """Return the nodes on the longest way from the root to a leaf."""
    longest, pending = 1, [(record.tree, 0)]
    while pending:
        tree, nodes = pending.pop()
        nodes += len(tree.sequence)
        longest = max(longest, nodes)
        pending += [(child, nodes) for child in tree.children]
    return longest


def write_file(place: Place, request: ExportRequest) -> dict[str, str]:
    """Return a game as text, with a name for the file. Raises ConfigError."""
    name = f"{place.game.name}-{len(place.actions)}"
    if request.format == "sgf":
        sgf = write_sgf(place.start, place.actions, result=sgf_result(place.state, None))
        return {"text": sgf.decode(), "file": f"{name}.sgf"}
    look = game_look(place.game)
    result = outcome_text(place.state, lambda player: look.player(player, drawn=False), None)
    return {
        "text": saved_game(place.start, place.actions, result).decode(),
        "file": f"{name}.txt",
    }
