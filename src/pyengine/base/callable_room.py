"""Callable packages: ``pyengine.search(...)`` beside ``pyengine.search.config``."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any


class CallableRoom(ModuleType):
    """A package that forwards calls to its function of the same name.

    Importing ``pyengine.search.config`` binds ``pyengine.search`` to the package, so a plain
    function of that name would be replaced or hide the package, depending on import order.
    """

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.__wrapped__(*args, **kwargs)

    @property
    def __wrapped__(self) -> Callable[..., Any]:
        """The function; read by ``inspect.signature``."""
        function: Callable[..., Any] = vars(self)[self.__name__.rpartition(".")[2]]
        return function

    def __reduce__(self) -> tuple[Callable[[str], ModuleType], tuple[str]]:
        return importlib.import_module, (self.__name__,)


def make_callable(name: str) -> None:
    """Make a package callable and give it its function's docstring."""
    room = sys.modules[name]
    room.__class__ = CallableRoom
    room.__doc__ = room.__wrapped__.__doc__
