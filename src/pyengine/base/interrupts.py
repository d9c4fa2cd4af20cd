"""Deferred Ctrl-C: :func:`deferred_interrupt`."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def deferred_interrupt(
    on_interrupt: Callable[[], object] | None = None,
) -> Iterator[threading.Event]:
    """Turn Ctrl-C into an event, so that the block can finish; the caller then raises.

    Outside the main thread, or if another handler of SIGINT is installed (such as an outer call of
    this function), the event is never set.

    Args:
        on_interrupt: also called by the signal handler, for example to stop work in progress.

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
