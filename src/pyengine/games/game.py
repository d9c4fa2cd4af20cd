"""Built-in games by name, and other games through :func:`as_game`."""

from __future__ import annotations

import inspect
import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np

from pyengine import _core
from pyengine._core import Game as Game
from pyengine._core import State as State
from pyengine.base.checks import (
    check_flag,
    check_type,
    did_you_mean,
    integer,
    number,
    repr_with_type,
    short_repr,
)
from pyengine.errors import ConfigError
from pyengine.games import named_games
from pyengine.games.installed import installed_games, is_in_python, load_installed

Parameter: TypeAlias = bool | int | float | str


@runtime_checkable
class PythonState(Protocol):
    """The interface of a state of a Python game.

    Optional: ``history() -> list[int]`` (the actions since the start) or ``__eq__``: without
    either, a search tree is reused only after ``Engine.advance``, if planes and text match;
    ``__eq__`` and ``__hash__``, by which :func:`~pyengine.solve` and a search with ``graph=True``
    recognise positions (equal states must have the same future); ``transposition_key() -> int`` in
    0..2**128 - 1, which a search prefers (positions after equally many plies with equal keys must
    have the same future); ``action_to_string(action)``; ``__str__``;
    ``observation_tensor()`` of the game's ``observation_tensor_shape``, from the perspective of the
    player to move: an array of bool if its planes are 0 and 1, which training records then store as
    bits; and ``play_out(rng) -> [r0, r1]``, the returns of a random game from here, which replaces
    the playouts of ``"rollout"``. It must not change the state and must take its random numbers
    from ``rng``, which has ``random()``, ``randrange(stop)``, ``choice(items)`` and
    ``shuffle(list)`` of :class:`random.Random`.
    """

    def current_player(self) -> int:
        """Return 0 or 1; a player may move several times in a row."""

    def legal_actions(self) -> Sequence[int]:
        """Return the legal actions in any order; never empty before the end of the game."""

    def apply_action(self, action: int) -> None:
        """Play a legal action in place."""

    def is_terminal(self) -> bool:
        """Return whether the game is over."""

    def returns(self) -> Sequence[float]:
        """Return the zero-sum returns of both players; called only on terminal states."""

    def clone(self) -> PythonState:
        """Return an independent copy."""


@runtime_checkable
class PythonGame(Protocol):
    """The interface of a Python game.

    Optional, each an attribute or a method without arguments: ``name``; ``max_utility`` (default 1;
    returns are divided by it); ``max_game_length`` (plies, default 10,000; a longer game is an
    error); ``board_shape`` ``(H, W)``; ``num_symmetries`` (1, 2, 4 or 8; requires actions
    ``row * W + column`` followed by those that no symmetry moves, or one action per column);
    ``observation_tensor_shape``; ``num_players`` (must be 2); ``actions_stay_legal`` (default
    False; True promises that a legal action stays legal for both players until it is played, and
    that no other becomes legal: a playout then calls ``legal_actions`` once).
    """

    def num_distinct_actions(self) -> int:
        """Return A, at most 65,535: actions are 0..A-1."""

    def new_initial_state(self) -> PythonState:
        """Return a new initial state."""


def registered_games() -> tuple[str, ...]:
    """Return the names of the built-in and the installed games in alphabetical order.

    An installed game is an entry point of the group ``pyengine.games``.
    """
    return tuple(sorted({*_core.registered_games(), *installed_games()}))


def load_game(name: str, /, **params: Parameter) -> Game:
    """Return a game by its name.

    Args:
        name: ``"go"``, or the text form with parameters, ``"go(board_size=9,komi=7.0)"``; a game
            that another package provides (see :func:`registered_games`); a game of OpenSpiel,
            ``"pyspiel:hex(board_size=7)"``; or a game in Python, ``"package.module:NAME"`` or
            ``"FILE.py:NAME"``, where NAME is a game, or a class or a function that returns one.
            Loading the same name again returns the same game.
        **params: parameters by name.

    Raises:
        ConfigError: the game or a parameter is unknown, given twice, or out of range; the message
            names it.

    Exceptions raised by the named module or file propagate.

    Games:
        tic_tac_toe: three in a row on a board of 3x3.
        mnk: m,n,k games: ``k`` or more stones in a row win.
            rows (int in [1, 20], default 3): of the board.
            columns (int in [1, 20], default 3): of the board.
            k (int in [1, 20], default 3): stones in a row that win; if longer than the board, every
                game is a draw.
        connect_four: four stones or more in a row win; a stone falls to the lowest empty point of
            its column.
            rows (int in [1, 63], default 6): of the board; (rows + 1) * columns <= 64.
            columns (int in [1, 32], default 7): of the board.
        gomoku: five in a row.
            board_size (int in [3, 20], default 15): rows and columns of the board.
            rule ("freestyle", "standard" or "renju", default "freestyle"): ``win_length`` or more
                stones in a row win; exactly ``win_length`` win; or Renju, in which Black wins with
                exactly five and has forbidden points, and White wins with five or more.
            win_length (int in [3, 20], default 5): stones in a row that win; 5 in Renju.
        othello: the player with more discs wins.
            board_size (int in [4, 10], default 8): rows and columns of the board; even.
        go: area scoring (Tromp-Taylor).
            board_size (int in [2, 19], default 19): rows and columns of the board.
            rows (int in [1, 19], default board_size): with ``columns``, instead of ``board_size``.
            columns (int in [1, 19], default board_size): with ``rows``.
            komi (float in [-1000, 1000], default 7.5): points of the second player; a multiple of
                0.5.
            superko ("positional", "situational" or "simple", default "positional"): a play may not
                repeat an earlier board; repeat one with the same player to move; or, with
                ``"simple"``, immediately recapture a single stone that captured a single stone.
            suicide (bool, default False): whether a play may take the last liberty of its own
                group of two stones or more.
            max_game_length (int in [1, 10**6], default 2 * rows * columns): plies, including
                passes, after which the game ends and is scored.

    Example:
        >>> import pyengine
        >>> game = pyengine.load_game("go", board_size=9, komi=7.0)
        >>> game == pyengine.load_game("go(board_size=9,komi=7.0)")
        True
        >>> game.num_distinct_actions(), game.num_symmetries, game.max_game_length()
        (82, 8, 162)
    """
    check_type("name", name, str, "the name of a game")
    if named_games.names_foreign_game(name):
        return _kept(name, params, lambda: named_games.find_game(name, params))
    bare = named_games.bare_name(name)
    if bare not in _core.registered_games() and bare in installed_games():
        made_by = load_installed(bare)
        if made_by is not None:
            given = named_games.parameters_of(name, params)
            return _kept(name, params, lambda: named_games.made(bare, made_by, given))
    try:
        return _core.load_game(name, **params)
    except ConfigError as error:
        raise _with_likely_name(error, name, params) from None


def _with_likely_name(
    error: ConfigError, name: str, params: Mapping[str, Parameter]
) -> ConfigError:
    """Add a suggestion for a misspelt game or parameter to an error."""
    bare, known = named_games.bare_name(name), list(registered_games())
    wrong, others = bare, ""
    if bare in known:
        wrong = next((key for key in params if f'parameter "{key}"' in str(error)), "")
        known = list(_core.load_game(bare).params) if wrong else []
        if wrong in known:
            return error
    elif "unknown game" in str(error):
        others = "".join(f", {each}" for each in known if each not in _core.registered_games())
    hint = did_you_mean(wrong, known)
    if re.fullmatch(r"\w+(\.\w+)+", wrong):  # a name in a module, as Python writes it
        hint = f"; did you mean {':'.join(wrong.rsplit('.', 1))}?"
    return ConfigError(f"{error}{others}{hint}")


#: Loaded games in Python and from pyspiel, by canonical name.
_LOADED: dict[str, Game] = {}


def _kept(name: str, params: Mapping[str, Parameter], load: Callable[[], Any]) -> Game:
    """Return the game that was loaded by this name before, or load it."""
    text = named_games.canonical(name, params)
    if text not in _LOADED:
        _LOADED[text] = _wrapped(load(), text)
    return _LOADED[text]


def load_recorded_game(text: str) -> Game:
    """Return the game named by a data file, without calling Python code that the file names.

    Raises:
        ConfigError: see :func:`load_game`; or this program has not loaded the Python game.

    """
    runs_code = named_games.runs_code(text) or is_in_python(named_games.bare_name(text))
    if runs_code and text not in _LOADED:
        raise ConfigError(
            f"the game {short_repr(text)} is not loaded: "
            "call pyengine.load_game() with its name first"
        )
    return load_game(text)


def as_game(game: Any) -> Game:
    """Convert a ``pyspiel`` or Python game to a :class:`Game`.

    Args:
        game: a :class:`Game` (returned unchanged), a ``pyspiel`` game, or an object that implements
            :class:`PythonGame`.

    Raises:
        ConfigError: a required method is missing, or the game has chance, simultaneous moves,
            hidden information, other than two players, or returns that are not zero-sum.

    Exceptions raised by the game propagate.

    Example:
        >>> import copy, pyengine
        >>> class Stones:  # whoever takes the last of seven stones wins
        ...     left, player = 7, 0
        ...     def current_player(self): return self.player
        ...     def legal_actions(self): return list(range(min(3, self.left)))
        ...     def apply_action(self, action):
        ...         self.left -= action + 1
        ...         self.player = 1 - self.player
        ...     def is_terminal(self): return self.left == 0
        ...     def returns(self): return [-1.0, 1.0] if self.player == 0 else [1.0, -1.0]
        ...     def clone(self): return copy.copy(self)
        >>> class Nim:
        ...     def num_distinct_actions(self): return 3
        ...     def new_initial_state(self): return Stones()
        >>> pyengine.check_game(Nim()).ok
        True
        >>> result = pyengine.Engine(Nim(), "rollout").search(Stones(), simulations=200)
        >>> result.action, result.proven  # take three and leave four
        (2, 1)
    """
    return _wrapped(game, None)


def _wrapped(game: Any, text: str | None) -> Game:
    """Wrap a game; ``text`` is the name it was loaded by, if any."""
    if isinstance(game, Game):
        return game
    refuse_text(game)
    _refuse_class(game)
    name = _name_of(game)
    _require_members(name, "the game", game, ("num_distinct_actions", "new_initial_state"))
    _refuse_by_type(name, game)
    players = _value(game, "num_players", 2)
    if players != 2:
        raise ConfigError(f'game "{name}": expected two players, got {short_repr(players)}')
    state = game.new_initial_state()
    _require_members(name, "the state", state, _STATE_MEMBERS)

    def count(attribute: str, default: int | None) -> int:
        value = _value(game, attribute, default)
        return integer(f'game "{name}": {attribute}', value, 1, 2**31 - 1)

    observation_shape = _observation_shape(name, game, state)
    actions = count("num_distinct_actions", None)
    utility = _value(game, "max_utility", 1.0)
    wrapped = _core.wrap_game(
        game,
        name=name,
        text=f"pyspiel:{game}" if _is_pyspiel(game) else text or f"python:{name}",
        params=_parameters_of(game),
        num_actions=actions,
        board_shape=_board_shape(name, game, observation_shape, actions),
        num_symmetries=count("num_symmetries", 1),
        max_game_length=count("max_game_length", 10_000),
        observation_shape=observation_shape,
        has_binary_planes=math.prod(observation_shape) > 0 and has_binary_planes(state),
        max_utility=number(f'game "{name}": max_utility', utility, "a number"),
        actions_stay_legal=actions_stay_legal(game),
    )
    wrapped.new_initial_state().legal_actions()  # rejects chance nodes and the like
    return wrapped


def refuse_text(game: Any) -> None:
    """Raise ConfigError if a game is given by name."""
    if isinstance(game, str):
        raise ConfigError(
            f"game: expected a Game, got {repr_with_type(game)}; give load_game({short_repr(game)})"
        )


def _refuse_class(game: Any) -> None:
    """Raise ConfigError for a class, unless it is usable as a game without an instance."""
    needs_object = inspect.getattr_static(game, "new_initial_state", None)
    if isinstance(game, type) and isinstance(needs_object, FunctionType):
        name = game.__name__
        raise ConfigError(f"expected a game, got the class {name}; make one with {name}(...)")


_STATE_MEMBERS = (
    "current_player",
    "legal_actions",
    "apply_action",
    "is_terminal",
    "returns",
    "clone",
)

# Fields of pyspiel's GameType: name, supported value, meaning of all other values.
_GAME_TYPE = (
    ("dynamics", "SEQUENTIAL", "simultaneous moves"),
    ("chance_mode", "DETERMINISTIC", "chance"),
    ("information", "PERFECT_INFORMATION", "hidden information"),
    ("utility", "ZERO_SUM", "returns that are not zero-sum"),
)


def _value(owner: Any, attribute: str, default: Any) -> Any:
    """An attribute, or the result of the method of that name."""
    value = getattr(owner, attribute, default)
    return value() if callable(value) else value


def _is_pyspiel(game: Any) -> bool:
    return any(base.__module__.split(".")[0] == "pyspiel" for base in type(game).__mro__)


def _name_of(game: Any) -> str:
    if _is_pyspiel(game):
        return str(game.get_type().short_name)
    return str(_value(game, "name", type(game).__name__))


def _has(value: Any, member: str) -> bool:
    """Whether a method exists; the number of actions may also be an attribute."""
    attribute = getattr(value, member, None)
    return callable(attribute) or (member == "num_distinct_actions" and attribute is not None)


def _require_members(name: str, owner: str, value: Any, members: Sequence[str]) -> None:
    missing = [member for member in members if not _has(value, member)]
    if missing:
        raise ConfigError(
            f'game "{name}": {owner} ({type(value).__name__}) lacks {", ".join(missing)}; '
            f"required: {', '.join(members)}"
        )


def _refuse_by_type(name: str, game: Any) -> None:
    kind = _value(game, "get_type", None)
    for field, played, meaning in _GAME_TYPE:
        value = getattr(getattr(kind, field, None), "name", played)
        if value != played:
            raise ConfigError(
                f'game "{name}": games with {meaning} are not supported '
                f"({field}: expected {played}, got {value})"
            )


def _parameters_of(game: Any) -> dict[str, Parameter]:
    if not _is_pyspiel(game):
        return {}
    parameters = game.get_parameters()
    return {str(k): v for k, v in parameters.items() if isinstance(v, bool | int | float | str)}


def _observation_shape(name: str, game: Any, state: Any) -> tuple[int, int, int]:
    """(C, H, W) of the game's observation tensor, padded to three axes; zeros if it has none."""
    provided = getattr(_value(game, "get_type", None), "provides_observation_tensor", True)
    if not provided or not hasattr(state, "observation_tensor"):
        return (0, 0, 0)
    declared = _value(game, "observation_tensor_shape", None)
    if declared is None:
        declared = np.shape(state.observation_tensor())
    shape = _whole_numbers(declared)
    if not shape or min(shape) < 1:
        raise ConfigError(
            f'game "{name}": observation_tensor_shape must be positive, got {short_repr(declared)}'
        )
    if len(shape) == 1:
        return (shape[0], 1, 1)
    return (math.prod(shape[:-2]), shape[-2], shape[-1])


def actions_stay_legal(game: Any) -> bool:
    """Return whether a game promises that legal actions stay legal until they are played."""
    value = _value(game, "actions_stay_legal", False)
    check_flag(f'game "{_name_of(game)}": actions_stay_legal', value)
    return bool(value)


def has_binary_planes(state: Any) -> bool:
    """Return whether the planes of a state are an array of bool."""
    return getattr(state.observation_tensor(), "dtype", None) == np.bool_


def _board_shape(
    name: str, game: Any, observation_shape: tuple[int, int, int], actions: int
) -> tuple[int, int]:
    """The declared shape, else that of the planes, else one row of all actions."""
    declared = _value(game, "board_shape", None)
    if declared is None:
        rows, columns = observation_shape[1:]
        return (rows, columns) if rows > 0 else (1, actions)
    shape = _whole_numbers(declared)
    if len(shape) != 2 or min(shape) < 1:
        raise ConfigError(f'game "{name}": board_shape must be (H, W), got {short_repr(declared)}')
    return (shape[0], shape[1])


def _whole_numbers(shape: Any) -> list[int]:
    """The ints of a shape; empty if it is not a shape."""
    try:
        return [operator.index(one) for one in shape]
    except TypeError:
        return []


def _recipe(game: Game) -> tuple[Any, ...]:
    """Return how to recreate a game, for pickle."""
    own = _core.unwrap_game(game)
    return (load_game, (str(game),)) if own is None else (as_game, (own,))


Game.__reduce__ = _recipe  # type: ignore[method-assign,assignment]
# Lets functions of the core accept any game.
Game._of = staticmethod(lambda game: as_game(game))  # type: ignore[method-assign]


def has_own(state: Any, method: str) -> bool:
    """Return whether a state's type overrides a method of ``object``."""
    return getattr(type(state), method) not in (None, getattr(object, method))


def can_be_compared(state: Any) -> bool:
    """Return whether a user's state has both ``__eq__`` and ``__hash__``."""
    return has_own(state, "__eq__") and has_own(state, "__hash__")


def can_be_recognised(game: Game, state: Any) -> bool:
    """Return whether the engine can compare a state with the root of its tree.

    It uses ``history()`` or ``==`` of a user's state, else planes and text.
    """
    if isinstance(state, State) or hasattr(state, "history"):
        return True
    own = has_own(state, "__eq__") or has_own(state, "__str__")
    return own or math.prod(game.observation_shape) > 0


def game_for(state: Any, game: Any, caller: str) -> Any:
    """Return the game passed with a state; if that is None, the state's own.

    A state's own game is its ``game``, or OpenSpiel's ``get_game()``.

    Raises:
        ConfigError: the state has no game, or is itself a game; the message names ``caller``.

    """
    if game is not None:
        return game
    if isinstance(state, str) or hasattr(state, "new_initial_state"):
        raise ConfigError(
            f"{caller}: expected a state, such as game.new_initial_state(), "
            f"got {'a text' if isinstance(state, str) else 'a game'}"
        )
    known = getattr(state, "game", None) or getattr(state, "get_game", None)
    owner = known() if callable(known) else known
    if owner is None:
        raise ConfigError(
            f"{caller}: the state has neither game nor get_game(): expected a State, or a user's "
            "state together with game=GAME"
        )
    return owner
