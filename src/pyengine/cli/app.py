"""The list of commands; each has a module of its own."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Annotated, Any

import typer  # noqa: TID253  # this package is the extra's

from pyengine import __version__
from pyengine.cli.bench import bench
from pyengine.cli.convert import COMMANDS as CONVERT
from pyengine.cli.doctor import doctor
from pyengine.cli.games import games
from pyengine.cli.match import match
from pyengine.cli.play import play
from pyengine.cli.search import search
from pyengine.cli.selfplay import selfplay
from pyengine.cli.solve import solve
from pyengine.cli.train import train

__all__ = ["app"]

_INTERRUPTED = 130  # 128 + SIGINT, as shells have it

app = typer.Typer(
    help="Fast tree search with neural networks for two-player board games.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _interruptible(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with an exit status for Ctrl-C, which typer's versions treat variously."""

    @functools.wraps(command)
    def run(*args: Any, **options: Any) -> None:
        try:
            command(*args, **options)
        except KeyboardInterrupt:
            raise SystemExit(_INTERRUPTED) from None

    return run


for _command in (games, search, play, solve, match, selfplay, train, doctor, bench):
    app.command()(_interruptible(_command))

_convert = typer.Typer(help="Convert a network, or training data.", no_args_is_help=True)
for _name, _command in CONVERT.items():
    _convert.command(_name)(_interruptible(_command))
app.add_typer(_convert, name="convert")


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
