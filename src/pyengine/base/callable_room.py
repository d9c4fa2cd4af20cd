"""Packages that can be called: ``pyengine.search(...)`` beside ``pyengine.search.config``."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any


class CallableRoom(ModuleType):
    """Calls the function that has the package's own name.

    Importing ``pyengine.search.config`` binds ``pyengine.search`` to the package. A function under
    the same name would thus be replaced, or hide the package, by the order of imports.
    """

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.__wrapped__(*args, **kwargs)

    @property
    def __wrapped__(self) -> Callable[..., Any]:
        """The function, where ``inspect.signature`` looks for it."""
        function: Callable[..., Any] = vars(self)[self.__name__.rpartition(".")[2]]
        return function

    def __reduce__(self) -> tuple[Callable[[str], ModuleType], tuple[str]]:
        return importlib.import_module, (self.__name__,)


def make_callable(name: str) -> None:
    """Make a package callable, with the help of its function."""
    room = sys.modules[name]
    room.__class__ = CallableRoom
    room.__doc__ = room.__wrapped__.__doc__
