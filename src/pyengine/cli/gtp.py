"""``pyengine gtp``: play and analyse for a client that speaks GTP."""

from __future__ import annotations

from contextlib import closing, suppress
from typing import Annotated

from typer import Argument, Option

from pyengine.cli.options import EvaluatorOptions, ParamOption, SearchOptions, game_from
from pyengine.cli.protocol import ClientOptions, engines
from pyengine.errors import ModelError
from pyengine.eval.bundled import game_of_model
from pyengine.games.game import load_game
from pyengine.protocols.gtp.client import ClientSettings
from pyengine.protocols.gtp.commands import gtp_client
from pyengine.protocols.inbox import Inbox
from pyengine.protocols.lines import standard_streams
from pyengine.protocols.session import Session

_LARGEST = 19  # board of Go


def gtp(
    evaluator: EvaluatorOptions,
    settings: SearchOptions,
    client: ClientOptions,
    game: Annotated[
        str | None,
        Argument(help="A game. Default: go, on the board that the client asks for."),
    ] = None,
    param: ParamOption = None,
    resign_below: Annotated[
        float | None,
        Option(metavar="WINRATE", min=0, max=1, help="Resign below this win rate. Default: never."),
    ] = None,
) -> None:
    """Play and analyse for a client that speaks GTP, such as Sabaki, Lizzie, q5Go or GoGui.

    pyengine gtp                       Go; 9x9 and 7x7 are played by networks

    pyengine gtp -n 1600 --ponder      more thought, also in the opponent's time

    pyengine gtp --name KataGo         for Lizzie and LizzieYzy

    pyengine gtp othello               another game, for GoGui
    """
    lines, output = standard_streams()
    session = first_session(game, param, evaluator, settings)
    chosen = ClientSettings(client.name or "pyengine", client.ponder, resign_below)
    with closing(session), suppress(BrokenPipeError):
        gtp_client(session, Inbox(lines), output, chosen).run()


def first_session(
    game: str | None,
    param: list[str] | None,
    evaluator: EvaluatorOptions,
    settings: SearchOptions,
) -> Session:
    """Return the session before the client asks for a board.

    Without a game it is the one of a bundled network, or Go on the largest board that the evaluator
    plays. Raises EngineError if there is none.
    """
    engine_for = engines(evaluator, settings)
    of_model = evaluator.model and game_of_model(evaluator.model)
    if game is not None or param or of_model:
        return Session(game_from(game or str(of_model or "go"), param), engine_for)
    refused: list[ModelError] = []
    for size in range(_LARGEST, 1, -1):
        try:
            return Session(load_game("go", board_size=size), engine_for)
        except ModelError as error:
            refused.append(error)
    raise refused[0]
