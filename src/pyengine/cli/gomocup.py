"""``pyengine gomocup``: the protocol of Gomocup on standard input and output."""

from __future__ import annotations

from dataclasses import replace

from pyengine.cli.options import EvaluatorOptions, SearchOptions
from pyengine.cli.protocol import NameOptions, engines
from pyengine.eval.bundled import model_of_game
from pyengine.games.game import Game, load_game
from pyengine.protocols.gomocup.brain import Brain
from pyengine.protocols.inbox import Inbox
from pyengine.protocols.lines import silence_merged_stderr, standard_streams
from pyengine.protocols.session import EngineFor
from pyengine.search.engine import Engine


def gomocup(
    evaluator: EvaluatorOptions,
    settings: SearchOptions,
    client: NameOptions,
) -> None:
    """Play Gomoku and Renju in a Gomocup manager such as Piskvork.

    Managers start the program pbrain-pyengine, which is this command without options.

    pyengine gomocup

    pyengine gomocup --model rollout --simulations 2000
    """
    silence_merged_stderr()
    lines, output = standard_streams(newline="\r\n")
    Brain(_engines(evaluator, settings), Inbox(lines), output, client.name).run()


def _engines(evaluator: EvaluatorOptions, settings: SearchOptions) -> EngineFor:
    """Return a function that makes the engine; a network for freestyle plays every rule."""
    by_model: dict[str | None, EngineFor] = {}

    def engine_for(game: Game) -> Engine:
        freestyle = load_game("gomoku", **{**game.params, "rule": "freestyle"})
        model = evaluator.model or model_of_game(freestyle)
        if model not in by_model:
            by_model[model] = engines(replace(evaluator, model=model), settings)
        return by_model[model](game)

    return engine_for
