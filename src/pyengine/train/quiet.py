"""Without what PyTorch's exporter tells of itself while it works."""

from __future__ import annotations

import logging
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from io import StringIO

__all__ = ["quiet_torch"]

_PACKAGES = ("torch", "onnx", "onnx_ir", "onnxscript")


@contextmanager
def quiet_torch() -> Iterator[None]:
    """Keep warnings, logs below an error and printed progress of PyTorch from the streams.

    Its loggers are silent in this thread alone; what is printed meanwhile is kept back in all.
    """
    own = threading.get_ident()

    def is_told(record: logging.LogRecord) -> bool:
        return record.thread != own or record.levelno >= logging.ERROR

    handlers = _handlers()
    for handler in handlers:
        handler.addFilter(is_told)
    try:
        with warnings.catch_warnings(), redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            warnings.simplefilter("ignore")
            yield
    finally:
        for handler in handlers:
            handler.removeFilter(is_told)


def _handlers() -> list[logging.Handler]:
    """What writes the logs of the exporter's packages: PyTorch's loggers have some of their own."""
    known = list(logging.root.manager.loggerDict)  # at once: other threads make loggers
    names = [name for name in known if name.split(".")[0] in _PACKAGES]
    loggers = [logging.root, *map(logging.getLogger, names)]
    return list({id(one): one for logger in loggers for one in logger.handlers}.values())
