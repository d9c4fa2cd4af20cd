"""``pyengine analyze``: review games."""

from __future__ import annotations

import dataclasses
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

from rich.text import Text
from typer import Argument, Option

from pyengine.base.files import check_output, unwritten, write_durably
from pyengine.cli.options import (
    EvaluatorOptions,
    JsonOption,
    ParamOption,
    SearchOptions,
    SeedOption,
    Setup,
    game_from,
)
from pyengine.cli.output import console, print_json, progress_bar, say
from pyengine.data.game_file import GameFile, game_in, read_game_file
from pyengine.data.sgf.record import check_in_sgf
from pyengine.errors import ConfigError, DataError
from pyengine.eval.evaluators import RolloutEvaluator
from pyengine.games.game import Game
from pyengine.review.html import review_html
from pyengine.review.moves import Review
from pyengine.review.search import ReviewInterrupted, review_game
from pyengine.review.sgf import review_sgf
from pyengine.review.text import review_text
from pyengine.search.engine import Engine

_SIMULATIONS = 400  # of each position
_PLAYOUTS = 4000  # of each position, without a network
_STDIN = "-"


@dataclass(frozen=True, kw_only=True)
class GameFileOptions:
    """The options that select games in files."""

    panel: ClassVar = "Games"
    files: Annotated[
        list[Path],
        Argument(
            metavar="FILE",
            help="Games: SGF (Go, Gomoku, Renju), GGF (Othello), a game saved by play, or a list "
            "of moves. '-' reads standard input.",
            allow_dash=True,
            dir_okay=False,
        ),
    ]
    game: Annotated[
        str | None,
        Option("--game", "-g", help="The game of a list of moves, such as connect_four."),
    ] = None
    param: ParamOption = None

    def read(self) -> list[GameFile]:
        """Read the games. Raises ConfigError or DataError."""
        if self.game is None and self.param:
            raise ConfigError("--param needs --game")
        named = None if self.game is None else game_from(self.game, self.param)
        reads = [_read(file, named) for file in self.files]
        for file, read in zip(self.files, reads, strict=True):
            if not read.actions:
                raise ConfigError(f"{file}: the game has no moves to review")
        return reads


@dataclass(frozen=True, kw_only=True)
class OutputOptions:
    """The options that select what is written."""

    panel: ClassVar = "Output"
    sgf: Annotated[
        Path | None,
        Option(
            metavar="OUT",
            help="Write the game with comments, variations and marks: a file, or a directory.",
        ),
    ] = None
    html: Annotated[
        Path | None,
        Option(
            metavar="OUT",
            help="Write a page with board and graph, which needs nothing else: a file, or a "
            "directory.",
        ),
    ] = None
    as_json: JsonOption = False


def analyze(
    games: GameFileOptions,
    output: OutputOptions,
    evaluator: EvaluatorOptions,
    settings: SearchOptions,
    seed: SeedOption = None,
) -> None:
    """Review games: the win rate after each move, what it lost, and what was better.

    \b
    pyengine analyze game.sgf --html review.html    a page with board and graph
    pyengine analyze game.sgf --sgf reviewed.sgf    for Sabaki, KaTrain and others
    pyengine analyze *.sgf --html reviews/          several games
    pyengine analyze game.ggf -n 2000               Othello, with a longer search
    pyengine analyze moves.txt --game connect_four  a list of moves: 4 4 3 2 ...

    Board, komi, rules, handicap and set-up stones come from the file. Without a budget each position has 400 simulations (4,000 playouts without a network); --seconds is for a whole game.
    """  # noqa: E501  # typer keeps line ends
    files, reads = games.files, games.read()
    sgf_files = _outputs(output.sgf, files, ".sgf")
    html_files = _outputs(output.html, files, ".html")
    for read in reads if sgf_files else ():
        check_in_sgf(str(read.game))
    # All problems with files and networks are reported before the first review.
    setups = {game: evaluator.setup(game) for game in {read.game for read in reads}}
    reviews = []
    stopped = False
    for number, (file, read) in enumerate(zip(files, reads, strict=True)):
        review, stopped = _review(file, read, setups[read.game], settings, seed)
        reviews.append(review)
        if sgf_files:
            _write(sgf_files[number], review_sgf(review))
        if html_files:
            _write(html_files[number], review_html(review).encode())
        if not output.as_json:
            written = [*sgf_files[number : number + 1], *html_files[number : number + 1]]
            _show(file, review, written, several=len(files) > 1)
        if stopped:
            break
    if output.as_json:
        values = [
            {"file": str(file), **review.to_dict()}
            for file, review in zip(files, reviews, strict=False)
        ]
        print_json(values[0] if len(files) == 1 else values)
    if stopped:
        raise KeyboardInterrupt


def _read(file: Path, game: Game | None) -> GameFile:
    if str(file) == _STDIN:
        return game_in(sys.stdin.buffer.read(), "standard input", game)
    return read_game_file(file, game)


def _outputs(out: Path | None, files: Sequence[Path], suffix: str) -> list[Path]:
    """Return a path for each file; raise ConfigError if one cannot be written."""
    if out is None:
        return []
    if out.is_dir():
        names = [file.stem if str(file) != _STDIN else "game" for file in files]
        if len(set(names)) < len(names):
            raise ConfigError(f"{out}: expected files with different names")
        paths = [out / f"{name}{suffix}" for name in names]
    elif len(files) > 1:
        raise ConfigError(f"{out}: expected a directory, since there are {len(files)} games")
    else:
        paths = [out]
    for path in paths:
        check_output(path, files)
    return paths


def _review(
    file: Path,
    read: GameFile,
    setup: Setup,
    settings: SearchOptions,
    seed: int | None,
) -> tuple[Review, bool]:
    """Review a game with a progress bar; also return whether Ctrl-C stopped it."""
    config = settings.config_for(setup.evaluator, **({} if seed is None else {"seed": seed}))
    if config.simulations is None and config.seconds is None:
        playouts = isinstance(setup.evaluator, RolloutEvaluator)
        config = config.replace(simulations=_PLAYOUTS if playouts else _SIMULATIONS)
    begin = time.perf_counter()

    def describe(done: int, total: int) -> tuple[float, str]:
        elapsed = time.perf_counter() - begin
        share = max(done / total if total else 0.0, elapsed / (config.seconds or 1e9))
        return share, f"{file.name}: {len(read.actions)} moves, {done:,} simulations"

    with (
        Engine(read.game, setup.evaluator, config=config) as engine,
        progress_bar(1.0, describe, counted=False) as on_progress,
    ):
        try:
            review = review_game(read, engine, model=setup.name, on_progress=on_progress)
            stopped = False
        except ReviewInterrupted as interrupted:
            review, stopped = interrupted.review, True
    return _with_note(review, setup), stopped


def _with_note(review: Review, setup: Setup) -> Review:
    if not setup.for_players:
        return review
    return dataclasses.replace(review, notes=(*review.notes, f"{setup.name}: {setup.for_players}"))


def _write(path: Path, content: bytes) -> None:
    try:
        write_durably(path, [content])
    except OSError as error:
        raise DataError(unwritten(path, error)) from error


def _show(file: Path, review: Review, written: Sequence[Path], *, several: bool) -> None:
    out = console()
    if several:
        out.print(Text(f"{file}", style="bold underline"))
    utf8 = out.encoding.lower().replace("-", "") == "utf8"
    for part in review_text(review, blocks=utf8):
        out.print(part)
    for path in written:
        say(out, Text(f"written: {path}"))
    if several:
        out.print()
