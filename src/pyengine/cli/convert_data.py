"""The part of ``pyengine convert`` that turns training data into other files, and SGF into data."""

from __future__ import annotations

from pathlib import Path

from rich.text import Text  # noqa: TID253

from pyengine.base.arguments import in_one_line
from pyengine.cli.output import console
from pyengine.data import convert, export_sgf, import_sgf
from pyengine.errors import ConfigError
from pyengine.eval.spec import ModelSpec
from pyengine.games.game import Game

__all__ = ["FORMATS", "convert_data"]

#: What training data becomes, and what SGF becomes.
FORMATS = ("npz", "parquet", "sgf", "shards")


def convert_data(
    source: Path,
    to: str,
    output: Path | None,
    game: Game | None,
    spec: ModelSpec | None,
    overwrite: bool,
    komi: str,
) -> None:
    """Write a directory of shards as ``to``, or SGF files as shards; refuse what cannot be."""
    if to not in FORMATS:
        raise ConfigError(f"--to must be one of {', '.join(FORMATS)}, found {in_one_line(to)}")
    if not source.exists():
        raise ConfigError(f"{source} does not exist")
    if to == "shards":
        if game is None or output is None:
            raise ConfigError("--to shards needs --game GAME, and --output for the directory")
        spec = spec or ModelSpec.alphago_zero(game)
        report = import_sgf(source, output, game, spec, komi="file" if komi == "file" else "game")
        report.check_taken(source, game)
        console().print(Text(str(report)))
        return
    if to == "sgf":
        files = export_sgf(source, output, overwrite=overwrite)
    else:
        files = convert(source, to, output, overwrite=overwrite)
    where = files[0].parent if files else source
    console().print(Text(f"{len(files)} files in {where}"))
