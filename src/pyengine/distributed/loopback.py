"""A Ray of our own is for this machine's user alone: it listens on 127.0.0.1 and wants a token.

Whoever reaches the ports of a Ray without a token runs code as the user who started it.
"""

from __future__ import annotations

import importlib
import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

#: False: Ray's node has the address 127.0.0.1, and its servers listen there alone. Ray has that as
#: its default on macOS and Windows; ``_node_ip_address="127.0.0.1"`` it would replace by the
#: machine's address. Processes of the node read the variable; this one has read it at Ray's import.
_VARIABLE = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"
_CONSTANT = "ENABLE_RAY_CLUSTER"
_LOOPBACK = "127.0.0.1"

_log = logging.getLogger("pyengine")


def ask_for_token() -> None:
    """Turn tokens on, as Ray 2.59 and later do for a Ray on one machine; a user's choice stands.

    Ray reads the mode at its import: where that is done, nothing is changed.
    """
    if "ray" not in sys.modules:
        os.environ.setdefault("RAY_AUTH_MODE", "token")


@contextmanager
def on_loopback() -> Iterator[None]:
    """Have a Ray that is started within the block listen on 127.0.0.1 alone."""
    constants = importlib.import_module("ray._private.ray_constants")
    variable, constant = os.environ.get(_VARIABLE), getattr(constants, _CONSTANT, None)
    os.environ[_VARIABLE] = "0"
    setattr(constants, _CONSTANT, False)
    try:
        yield
        _warn_elsewhere()
    finally:
        setattr(constants, _CONSTANT, constant)
        if variable is None:
            del os.environ[_VARIABLE]
        else:
            os.environ[_VARIABLE] = variable


def _warn_elsewhere() -> None:
    """Say so where a Ray that has not that switch any more listens on other addresses, too."""
    address = importlib.import_module("ray").util.get_node_ip_address()
    if address != _LOOPBACK:
        _log.warning(
            "Ray listens on %s, expected %s alone: close its ports to others in the firewall",
            address,
            _LOOPBACK,
        )
