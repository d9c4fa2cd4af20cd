"""The list of commands; each has a module of its own."""

from __future__ import annotations

from typing import Annotated

import typer  # noqa: TID253  # this package is the extra's

from pyengine import __version__
from pyengine.cli.bench import bench
from pyengine.cli.doctor import doctor
from pyengine.cli.play import play
from pyengine.cli.search import search

__all__ = ["app"]

app = typer.Typer(
    help="Fast tree search with neural networks for two-player board games.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (search, play, doctor, bench):
    app.command()(command)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"pyengine {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Fast tree search with neural networks for two-player board games."""
