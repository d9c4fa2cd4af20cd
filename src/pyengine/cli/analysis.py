"""``pyengine analysis``: KataGo's JSON analysis protocol on standard input and output."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from typer import Option

from pyengine.cli.options import EvaluatorOptions, SearchOptions
from pyengine.cli.protocol import engines
from pyengine.games.game import load_game
from pyengine.protocols.analysis.service import Analysis
from pyengine.protocols.analysis.stream import serve
from pyengine.protocols.lines import log, standard_streams


@dataclass(frozen=True, kw_only=True)
class AnalysisEvaluatorOptions(EvaluatorOptions):
    """The evaluator; clients made for KataGo give the network as ``-model``."""

    model: Annotated[
        str | None,
        Option(
            "--model",
            "-m",
            "-model",
            help="A bundled network, a file MODEL.onnx, 'rollout', a rollout policy POLICY.npz, or "
            "'uniform'. Default: the bundled network for the board, else rollout.",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class AnalysisSearchOptions(SearchOptions):
    """The search; clients made for KataGo give the settings as ``-config``."""

    config: Annotated[
        Path | None,
        Option(
            "--config",
            "-config",
            help="TOML file with a SearchConfig; may be empty.",
            dir_okay=False,
        ),
    ] = None


def analysis(
    evaluator: AnalysisEvaluatorOptions,
    settings: AnalysisSearchOptions,
    name: Annotated[str, Option(help="The engine's name as the client sees it.")] = "pyengine",
    quit_without_waiting: Annotated[
        bool,
        Option(
            "--quit-without-waiting",
            "-quit-without-waiting",
            help="End the open queries when the input ends.",
        ),
    ] = False,
) -> None:
    """Analyse games of Go by KataGo's JSON protocol, for KaTrain, Ogatak and scripts.

    pyengine analysis

    pyengine analysis --model my-network.onnx --threads 4

    Boards from 2x2 to 19x19. Without --model, boards of 9x9 and 7x7 are analysed by the bundled
    networks and others by random playouts, which are weak.
    """
    if evaluator.model is not None:
        evaluator.setup(load_game("go"))  # a missing file is an error now, not in every reply
    lines, output = standard_streams()
    service = Analysis(engines(evaluator, settings), name)
    log("Started, ready to begin handling requests")
    serve(service, lines, output, wait=not quit_without_waiting)
