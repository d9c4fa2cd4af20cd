"""Ctrl-C at a moment that suits: :func:`deferred_interrupt`."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def deferred_interrupt(
    on_interrupt: Callable[[], object] | None = None,
) -> Iterator[threading.Event]:
    """Turn Ctrl-C into a flag, so that nothing is cut in half; the caller raises when it is done.

    On the main thread alone, and not where SIGINT is somebody's already (an outer call of this, a
    program's own handler): the flag is then never set.

    Args:
        on_interrupt: called by the signal as well, to end what is under way.

    """
    flag = threading.Event()
    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield flag
        return

    def interrupt(*_: object) -> None:
        flag.set()
        if on_interrupt is not None:
            on_interrupt()

    signal.signal(signal.SIGINT, interrupt)
    try:
        yield flag
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
