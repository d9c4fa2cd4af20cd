"""``pyengine ugi``: UGI on standard input and output."""

from __future__ import annotations

from contextlib import closing

from pyengine.cli.options import EvaluatorOptions, GameOptions, SearchOptions
from pyengine.cli.protocol import NameOptions, engines
from pyengine.protocols.inbox import Inbox
from pyengine.protocols.lines import standard_streams
from pyengine.protocols.session import Session
from pyengine.protocols.ugi import Ugi


def ugi(
    game: GameOptions,
    evaluator: EvaluatorOptions,
    settings: SearchOptions,
    client: NameOptions,
) -> None:
    """Play any game over UGI, the universal game interface.

    pyengine ugi connect_four

    pyengine ugi 'gomoku(board_size=9)' --threads 2

    pyengine ugi my_game.py:Game --model rollout
    """
    lines, output = standard_streams()
    with closing(Session(game.load(), engines(evaluator, settings))) as session:
        Ugi(session, Inbox(lines), output, client.name).run()
