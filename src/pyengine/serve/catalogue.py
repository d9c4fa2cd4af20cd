"""The games and evaluators that a request may name."""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from pyengine.base.checks import did_you_mean, short_repr
from pyengine.errors import ConfigError
from pyengine.eval.bundled import (
    bundled_models,
    load_named,
    model_of_game,
    model_plays,
    network_file,
    network_of_text,
)
from pyengine.eval.evaluators import NAMED, Evaluator, OnnxEvaluator, as_evaluator
from pyengine.games.board_layout import game_look
from pyengine.games.game import Game, load_game, registered_games
from pyengine.games.installed import is_in_python
from pyengine.games.named_games import bare_name, names_foreign_game
from pyengine.search.levels import levels_of

_WITHOUT_NETWORK = ("rollout", "uniform")
_TITLES = {"tic_tac_toe": "Tic-tac-toe", "mnk": "m,n,k"}


class Catalogue:
    """The games and evaluators of a server. Thread-safe.

    Args:
        games: names of further games, such as ``FILE.py:NAME``, which no request may name by
            itself.
        model: a network for them.

    Raises ConfigError or ModelError if one cannot be loaded.
    """

    def __init__(self, games: Sequence[str] = (), model: str | None = None) -> None:
        self._given = {text: load_named(text) for text in games}
        self._lock = threading.Lock()
        self._evaluators: dict[str, Evaluator] = {}
        self._model = None
        if model is not None and model not in bundled_models():
            self._model = Path(model).stem
            self._evaluators[self._model] = OnnxEvaluator(network_file("model", model))
        elif model is not None:
            self._model = model

    def game(self, text: str) -> Game:
        """Return a game by its name. Raises ConfigError."""
        if text in self._given:
            return self._given[text]
        name = bare_name(text)
        has_parameters = name != text.strip()
        if names_foreign_game(text) or (has_parameters and is_in_python(name)):
            raise self._unknown(text)
        if name not in registered_games() and network_of_text(text) is None:
            raise self._unknown(text)
        return load_named(text)

    def _unknown(self, text: str) -> ConfigError:
        known = [*self._given, *registered_games()]
        return ConfigError(
            f"game: expected one of {', '.join(known)}, got {short_repr(text)}"
            f"{did_you_mean(text, known)}"
        )

    def name(self, game: Game) -> str:
        """Return the shortest name by which :meth:`game` finds a game."""
        for text, given in self._given.items():
            if given == game and (names_foreign_game(text) or bare_name(text) == text):
                return text
        if not game.has_board:
            return str(game)
        default = load_game(game.name).params
        params = {k: v for k, v in game.params.items() if default.get(k) != v}
        if "board_size" in params or "rows" in params:
            params = _without_derived(game, params)
        inner = ",".join(f"{name}={_text(value)}" for name, value in params.items())
        return f"{game.name}({inner})" if inner else game.name

    def networks(self, game: Game) -> list[str]:
        """Return the names of the networks for a game, the best one first."""
        best = [self._model] if self._model and game in self._given.values() else []
        bundled = [name for name in bundled_models() if model_plays(name, game)]
        return list(dict.fromkeys(filter(None, [*best, model_of_game(game), *bundled])))

    def evaluator(self, game: Game, name: str | None) -> tuple[str, Evaluator]:
        """Return an evaluator and its name; None = the best one. Raises ConfigError, ModelError."""
        known = [*self.networks(game), *_WITHOUT_NETWORK]
        name = known[0] if name is None else name
        if name not in known:
            raise ConfigError(
                f"network: expected one of {', '.join(known)}, got {short_repr(name)}"
                f"{did_you_mean(name, known)}"
            )
        with self._lock:
            if name not in self._evaluators:
                self._evaluators[name] = _opened(name)
            return name, self._evaluators[name]

    def to_dict(self) -> list[dict[str, Any]]:
        """Return the games with their networks and levels as JSON-compatible values."""
        return [self._entry(text, game) for text, game in self._offered.items()]

    def entry(self, game: Game) -> dict[str, Any] | None:
        """Return the same of a game that :meth:`to_dict` leaves out; None for the others."""
        return None if game in self._offered.values() else self._entry(game.name, game)

    @cached_property
    def _offered(self) -> dict[str, Game]:
        offered = dict(self._given)
        for text in (*registered_games(), *filter(network_of_text, bundled_models())):
            game = load_named(text)
            if game not in offered.values():
                offered[text] = game
        return offered

    def _entry(self, text: str, game: Game) -> dict[str, Any]:
        rows, columns = game.board_shape
        return {
            "name": self.name(game),
            "title": _title(text, game),
            "parameters": dict(game.params),
            "rows": rows,
            "columns": columns,
            "players": list(game_look(game).names),
            "networks": self.networks(game),
            "board": game.has_board,
            "setup": game.has_setup,
            "sgf": game.has_board and game.name in ("go", "gomoku"),
            "levels": [
                {"number": level.number, "name": level.name, "elo": level.elo}
                for level in levels_of(game)
            ],
            "symmetries": game.num_symmetries,
        }


def _opened(name: str) -> Evaluator:
    return as_evaluator(name) if name in NAMED else OnnxEvaluator(bundled_models()[name])


def _without_derived(game: Game, params: dict[str, Any]) -> dict[str, Any]:
    """Drop the parameters that follow from the size of the board."""
    sizes = {k: v for k, v in params.items() if k in ("board_size", "rows", "columns")}
    same_size = load_game(game.name, **sizes).params
    return sizes | {k: v for k, v in params.items() if same_size.get(k) != v}


def _text(value: Any) -> str:
    return format(value, "g") if isinstance(value, float) else str(value)


def _title(text: str, game: Game) -> str:
    """Return a name for people, such as "Connect Four" or "Go 9x9"."""
    name = text if names_foreign_game(text) else game.name
    if names_foreign_game(text):
        name = re.split(r"[:/]", bare_name(text))[-1]
    words = _TITLES.get(name) or " ".join(word.capitalize() for word in name.split("_"))
    if game.has_board and game.params:
        rows, columns = game.board_shape
        words += f" {rows}x{columns}"
    return words
