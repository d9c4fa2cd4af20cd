"""What a server offers, and its limits."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pyengine.base.checks import short_repr
from pyengine.errors import ConfigError

_LEAST_TOKEN = 8  # characters
_LEAST_MEMORY = 1 << 23  # of an engine
_ANALYSIS_ENGINES = 3  # that KataGo's protocol may have for a moment


@dataclass(frozen=True, kw_only=True)
class ServeSettings:
    """The settings of a server.

    Attributes:
        games: names of games to offer in addition to the built-in and installed ones, the first
            one first; the page opens it.
        model: a network for these games: a file, or the name of a bundled one.
        runs: folders of training runs.
        host: the address that the server listens on.
        hosts: further names of this server, such as that of a proxy before it.
        token: the token that clients must send. None: no token; local clients only.
        threads: of a search; 0 = all cores.
        memory: bytes for the trees and caches of all searches.
        max_simulations: of a search.
        max_searches: at the same time.
        max_sockets: open WebSockets.
        max_body: bytes of a request or of a message on a WebSocket.
    """

    games: Sequence[str] = ()
    model: str | None = None
    runs: Sequence[Path] = ()
    host: str = "127.0.0.1"
    hosts: Sequence[str] = ()
    token: str | None = None
    threads: int = 0
    memory: int = 2 << 30
    max_simulations: int = 1_000_000
    max_searches: int = 8
    max_sockets: int = 64
    max_body: int = 1 << 20

    def __post_init__(self) -> None:
        if self.token is None and not self.is_local:
            raise ConfigError(
                f"host: expected 127.0.0.1 without a token, got {self.host}: give a token "
                "(--token or PYENGINE_TOKEN) to let other machines in"
            )
        if self.token is not None and len(self.token) < _LEAST_TOKEN:
            raise ConfigError(f"token: expected at least {_LEAST_TOKEN} characters")
        for name in self.hosts:
            if not name or (not _is_address(name) and set(name) & set(":/@[]")):
                raise ConfigError(
                    f"hosts: expected names without a port, got {short_repr(name)} (--allow-host)"
                )
        if self.memory_of_search < _LEAST_MEMORY:
            least = _LEAST_MEMORY * (self.max_searches + _ANALYSIS_ENGINES)
            raise ConfigError(f"memory: expected at least {least} bytes, got {self.memory}")
        if self.model is not None and not self.games:
            raise ConfigError(
                f"model: expected a game for it (--game), got {short_repr(self.model)} alone"
            )

    @property
    def memory_of_search(self) -> int:
        """The bytes that each engine may use, those of KataGo's protocol included."""
        return self.memory // (self.max_searches + _ANALYSIS_ENGINES)

    @property
    def is_local(self) -> bool:
        """Whether only programs on this machine can connect."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
