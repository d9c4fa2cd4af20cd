"""Games in files: what a page loads, and what it saves."""

from __future__ import annotations

from typing import Any

from pyengine.data.game_file import GameFile, game_in, saved_game
from pyengine.data.sgf.variations import variations
from pyengine.data.sgf.write import write_sgf
from pyengine.games.board_layout import game_look
from pyengine.games.outcomes import outcome_text, sgf_result
from pyengine.search.tree import names_of_line
from pyengine.serve.catalogue import Catalogue
from pyengine.serve.positions import Place, position_of
from pyengine.serve.requests import ExportRequest, ImportRequest

_MOST_VARIATIONS = 200


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
    lines = variations(file.record, file.start, _MOST_VARIATIONS)
    return [names_of_line(file.start, line) for line in lines]


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
