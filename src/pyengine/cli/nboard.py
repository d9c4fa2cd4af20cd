"""``pyengine nboard``: NBoard's protocol on standard input and output."""

from __future__ import annotations

from contextlib import closing

from pyengine.cli.options import EvaluatorOptions, SearchOptions
from pyengine.cli.protocol import NameOptions, engines
from pyengine.games.game import load_game
from pyengine.protocols.inbox import Inbox
from pyengine.protocols.lines import standard_streams
from pyengine.protocols.nboard.dialogue import NBoard
from pyengine.protocols.session import Session


def nboard(
    evaluator: EvaluatorOptions,
    settings: SearchOptions,
    client: NameOptions,
) -> None:
    """Play and analyse Othello in NBoard.

    The depth chosen in NBoard sets the number of simulations, unless -n or -s is given: 50 at
    depth 2, 800 at depth 10, 25,600 at depth 20.

    pyengine nboard

    pyengine nboard --simulations 5000 --threads 4
    """
    lines, output = standard_streams()
    with closing(Session(load_game("othello"), engines(evaluator, settings))) as session:
        NBoard(session, Inbox(lines), output, client.name).run()
