"""Games of other installed packages: entry points of the group ``pyengine.games``."""

from __future__ import annotations

import functools
import warnings
from types import ModuleType
from typing import TYPE_CHECKING, Any

from pyengine import _core
from pyengine.base.checks import short_repr
from pyengine.errors import ConfigError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "pyengine.games"
_BUILT_IN = _core.registered_games()  # before any is added


@functools.cache
def installed_games() -> dict[str, list[EntryPoint]]:
    """Return the entry points by the name of their game; read once per process."""
    # Imported here, since it is slow and most programs load built-in games.
    from importlib.metadata import entry_points

    games: dict[str, list[EntryPoint]] = {}
    for entry in entry_points(group=GROUP):
        if entry.name in _BUILT_IN:
            text = (
                f"ignored the game {entry.name} of {_package(entry)}: it has a built-in game's name"
            )
            warnings.warn(text, stacklevel=2)
        else:
            games.setdefault(entry.name, []).append(entry)
    return games


def load_installed(name: str) -> Any:
    """Load an entry point.

    Returns:
        A Python game, or a class or function that returns one; None for a game in C++, which the
        engine then knows by ``name``.

    Raises:
        ConfigError: several packages have this game, or its module cannot be imported, was built
            for another pyengine, or defines a game of another name.

    """
    entry, *others = installed_games()[name]
    if others:
        raise ConfigError(f"several packages have a game {short_repr(name)}: {package_of(name)}")
    try:
        loaded = entry.load()
    except (ImportError, AttributeError) as error:
        raise ConfigError(f"game {short_repr(name)} of {_package(entry)}: {error}") from error
    if not isinstance(loaded, ModuleType):
        return loaded
    capsule = getattr(loaded, "__pyengine_game__", None)
    if capsule is None:
        raise ConfigError(
            f"game {short_repr(name)} of {_package(entry)}: expected a module with PYENGINE_GAME, "
            f"or module:NAME of a Python game, got {entry.value}"
        )
    try:
        _core.add_game(capsule, name)
    except ConfigError as error:
        raise ConfigError(f"game {short_repr(name)} of {_package(entry)}: {error}") from None
    return None


def is_in_python(name: str) -> bool:
    """Return whether an installed game is in Python, as ``module:NAME`` is."""
    return any(entry.attr for entry in installed_games().get(name, ()))


def package_of(name: str) -> str:
    """Return the package of an installed game, or the packages."""
    return ", ".join(map(_package, installed_games()[name]))


def _package(entry: EntryPoint) -> str:
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist else entry.value
