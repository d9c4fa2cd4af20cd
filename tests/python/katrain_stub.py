"""KaTrain without its windows: what its engine and game need of the program around them."""

from __future__ import annotations

import sys
import time
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

_PATIENCE = 60.0  # seconds


class KaTrain:
    """The program; errors and windows that it would show are kept."""

    def __init__(self) -> None:
        self.errors: list[Any] = []
        self.players_info = {colour: SimpleNamespace(human=True, name="") for colour in "BW"}
        self.controls = SimpleNamespace(set_status=lambda *_: None)

    def log(self, message: Any, level: int = 0) -> None:
        if level == -1:
            self.errors.append(message)

    def config(self, _: str, default: Any = None) -> Any:
        return default

    def __call__(self, *popup: Any) -> None:
        self.errors.append(popup)

    def wait_until(self, done: Callable[[], bool]) -> None:
        end = time.monotonic() + _PATIENCE
        while not done():
            assert self.errors == []
            assert time.monotonic() < end
            time.sleep(0.01)


@contextmanager
def katrain_without_windows() -> Iterator[KaTrain]:
    """Replace the names of kivy that KaTrain's engine and game import."""
    names = ("", ".utils", "._event", ".clock")
    kivy, utils, event, clock = (types.ModuleType(f"kivy{name}") for name in names)
    utils.platform = "linux"  # type: ignore[attr-defined]
    event.Observable = object  # type: ignore[attr-defined]
    clock.Clock = None  # type: ignore[attr-defined]
    with pytest.MonkeyPatch.context() as patch:
        for module in (kivy, utils, event, clock):
            patch.setitem(sys.modules, module.__name__, module)
        yield KaTrain()
