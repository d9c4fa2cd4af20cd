"""Tests a game implementation with random games."""

from __future__ import annotations

import random
import traceback
from pathlib import Path
from typing import Any

from pyengine.base.checks import integer
from pyengine.errors import ConfigError
from pyengine.games.built_in_checker import BuiltInChecker
from pyengine.games.checker import Checker
from pyengine.games.game import Game, as_game
from pyengine.games.game_report import GameReport
from pyengine.games.promises import BrokenError


def check_game(game: Any, *, games: int = 20, seed: int = 0) -> GameReport:
    """Play random games and report the first promise that the game breaks.

    In every position: an action changes the state in place; legal actions are in range, unique and
    not empty (sorted in a built-in game); clones and initial states are independent, and a clone
    plays like the state; equal states have the same player and legal actions; ``history``,
    ``hash``, ``__str__``, ``observation_tensor`` and ``action_to_string`` (distinct for each legal
    action) are consistent if present; ``play_out`` returns valid returns,
    changes nothing and takes its random numbers from its argument (a warning says if it favours the
    losers of the random games); a game with ``actions_stay_legal`` keeps that promise; positions
    that a search with ``graph=True`` shares, by ``transposition_key`` or else by ``==``, have the
    same player, legal actions and returns (a warning names the planes in which they differ); a
    mirrored game has mirrored legal actions and the same result (for a user's game, only under the
    symmetries of its initial state; the message names the others, and a warning says if none is
    left). For a game in C++, ``stones(t)`` are the earlier boards.

    The game ends within ``max_game_length`` (10,000 plies by default), with returns that are
    finite, zero-sum and within ``max_utility``. Built-in states also reject illegal actions without
    changing, and survive serialization and pickle.

    Args:
        game: a :class:`~pyengine.Game`, a ``pyspiel`` game or a Python game.
        games: number of random games.
        seed: the same seed plays the same games.

    Returns:
        A :class:`GameReport`. Unsupported games (chance, hidden information, ...) and exceptions
        raised by the game are reported, not raised.

    Example:
        >>> import pyengine
        >>> print(pyengine.check_game("no game"))
        str: BROKEN: game: expected a Game, got 'no game' (str); ...
          0 games, 0 positions
    """
    games, seed = integer("games", games, 0), integer("seed", seed, 0)
    try:
        wrapped = as_game(game)
    except Exception as error:  # the user's code may raise anything
        return GameReport(type(game).__name__, False, _reason(error), (), 0, 0)
    checker = (BuiltInChecker if isinstance(game, Game) else Checker)(
        game, wrapped, random.Random(seed)
    )
    finished = 0
    try:
        for _ in range(games):
            checker.play()
            finished += 1
    except Exception as error:  # the user's code may raise anything, anywhere
        moves = tuple(checker.moves)
        return GameReport(wrapped.name, False, _reason(error), moves, finished, checker.plies)
    message = "no broken promise"
    if checker.unchecked:
        shown = "; ".join(f"{k}, {why}" for k, why in sorted(checker.unchecked.items()))
        message += f" (not checked: symmetries that change the initial state: {shown})"
    return GameReport(
        wrapped.name,
        True,
        message,
        (),
        finished,
        checker.plies,
        tuple(checker.missing_features()),
        (
            *checker.sharing.warnings(),
            *checker.playouts.warnings(),
            *checker.symmetry_warnings(),
        ),
    )


def _reason(error: Exception) -> str:
    """Return a broken promise, or an exception and the method of the game that raised it."""
    if isinstance(error, BrokenError | ConfigError):
        return str(error)
    frames = traceback.extract_tb(error.__traceback__)
    here = Path(__file__).parent
    outside = [frame for frame in frames if Path(frame.filename).parent != here]
    place = f"{outside[0].name}()" if outside else f"`{frames[-1].line}`"
    return f"{place} raised {type(error).__name__}: {error}"
