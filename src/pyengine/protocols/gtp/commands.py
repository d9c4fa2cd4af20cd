"""The table of all commands, and the dialogue that runs them."""

from __future__ import annotations

from collections.abc import Mapping

from pyengine.games.game import Game
from pyengine.protocols.gtp import (
    administration,
    analysis,
    boards,
    clocks,
    gogui,
    handicap,
    network,
    play,
    rules,
    scoring,
)
from pyengine.protocols.gtp.client import Client, ClientSettings, Handler
from pyengine.protocols.gtp.position import is_go
from pyengine.protocols.inbox import Inbox
from pyengine.protocols.lines import Output
from pyengine.protocols.session import Session

_ALL: dict[str, Handler] = {
    **administration.COMMANDS,
    **analysis.COMMANDS,
    **boards.COMMANDS,
    **clocks.COMMANDS,
    **gogui.COMMANDS,
    **handicap.COMMANDS,
    **play.COMMANDS,
    **scoring.COMMANDS,
}
_GO: dict[str, Handler] = {
    **_ALL,
    **boards.GO_COMMANDS,
    **gogui.GO_COMMANDS,
    **handicap.GO_COMMANDS,
    **network.GO_COMMANDS,
    **play.GO_COMMANDS,
    **rules.GO_COMMANDS,
    **scoring.GO_COMMANDS,
}


def commands_for(game: Game) -> Mapping[str, Handler]:
    """Return the commands for a game by name."""
    return _GO if is_go(game) else _ALL


def gtp_client(
    session: Session, inbox: Inbox, output: Output, settings: ClientSettings | None = None
) -> Client:
    """Return the dialogue with a client that speaks GTP; ``run()`` holds it."""
    return Client(session, inbox, output, commands_for, settings)
