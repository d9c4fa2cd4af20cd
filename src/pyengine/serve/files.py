"""Games in files: what a page loads, and what it saves."""

from __future__ import annotations

from typing import Any

from pyengine.data.game_file import SAVED_GAME, GameFile, game_in, saved_game
from pyengine.data.sgf.variations import variations
from pyengine.data.sgf.write import write_sgf
from pyengine.errors import ConfigError
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
    named = _named_game(request.text)
    if named is not None:
        game = catalogue.game(named)  # a request must not load any other
    file = _file(request, game)
    name = catalogue.name(file.game)
    return {
        "position": position_of(name, file.start, file.actions),
        "variations": _variations(file),
        "players": list(file.players),
        "result": file.result,
        "notes": list(file.notes),
    }


def _file(request: ImportRequest, game: Any) -> GameFile:
    suffix = "sgf" if request.format == "sgf" else "txt"
    if suffix == "sgf" and game is not None and game.name not in ("go", "gomoku"):
        game = None
    return game_in(request.text.encode(), f"text.{suffix}", game)


def _variations(file: GameFile) -> list[list[str]] | None:
    """Return the other lines of an SGF file, from the start; None for other files."""
    if file.record is None:
        return None
    lines = variations(file.record, file.start, _MOST_VARIATIONS)
    return [names_of_line(file.start, line) for line in lines]


def _named_game(text: str) -> str | None:
    """Return the name of the game in a saved game; None for other files."""
    first, *lines = text.lstrip("\ufeff").splitlines() or [""]
    if first.strip() != SAVED_GAME:
        return None
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("game:")]
    if len(names) != 1:
        raise ConfigError(f'text: expected one line "game:", got {len(names)}')
    return names[0]


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
