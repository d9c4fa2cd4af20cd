"""The typer application with all commands."""

from __future__ import annotations

from typing import Annotated

import typer

from pyengine import __version__
from pyengine.cli.analysis import analysis
from pyengine.cli.analyze import analyze
from pyengine.cli.bench import bench
from pyengine.cli.commands import command, summary_of
from pyengine.cli.convert import COMMANDS as CONVERT
from pyengine.cli.doctor import doctor
from pyengine.cli.games import games
from pyengine.cli.gomocup import gomocup
from pyengine.cli.gtp import gtp
from pyengine.cli.match import match
from pyengine.cli.nboard import nboard
from pyengine.cli.new_game import new_game
from pyengine.cli.play import play
from pyengine.cli.search import search
from pyengine.cli.selfplay import selfplay
from pyengine.cli.serve import serve
from pyengine.cli.solve import solve
from pyengine.cli.train import train
from pyengine.cli.ugi import ugi

_HELP = """\b
pyengine games                           what can be played, and how well
pyengine play go9 --level 3              play against the engine
pyengine search go9 --moves "E5 C5 E3"   best moves in a position

Fast tree search with neural networks for two-player board games.
"""

app = typer.Typer(
    help=_HELP,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for _function in (
    games,
    play,
    search,
    analyze,
    serve,
    match,
    solve,
    gtp,
    analysis,
    gomocup,
    nboard,
    ugi,
    selfplay,
    train,
    new_game,
    doctor,
    bench,
):
    app.command(short_help=summary_of(_function))(command(_function))

_convert = typer.Typer(help="Convert a network or training data.", no_args_is_help=True)
for _converter in CONVERT:
    _convert.command(short_help=summary_of(_converter))(command(_converter))
app.add_typer(_convert, name="convert")


def _version(requested: bool) -> None:
    if requested:
        typer.echo(f"pyengine {__version__}")
        raise typer.Exit


@app.callback(help=_HELP)
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Accept the options that precede a command."""
