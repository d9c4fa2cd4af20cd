"""``pyengine gomocup``: the protocol of Gomocup on standard input and output."""

from __future__ import annotations

from pyengine.cli.options import EvaluatorOptions, SearchOptions
from pyengine.cli.protocol import NameOptions, engines
from pyengine.protocols.gomocup.brain import Brain
from pyengine.protocols.inbox import Inbox
from pyengine.protocols.lines import silence_merged_stderr, standard_streams


def gomocup(
    evaluator: EvaluatorOptions,
    settings: SearchOptions,
    client: NameOptions,
) -> None:
    """Play Gomoku and Renju in a Gomocup manager such as Piskvork.

    Managers start the program pbrain-pyengine, which is this command without options.

    \b
    Examples:
      pyengine gomocup
      pyengine gomocup --model rollout --simulations 2000
    """
    silence_merged_stderr()
    lines, output = standard_streams(newline="\r\n")
    Brain(engines(evaluator, settings), Inbox(lines), output, client.name).run()
