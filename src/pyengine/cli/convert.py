"""``pyengine convert``: changed copies of networks, Leela Zero's weights, training data and SGF."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, TypeAlias

import typer  # noqa: TID253  # this package is the extra's
from rich.progress import Progress, TaskID  # noqa: TID253
from rich.text import Text  # noqa: TID253

from pyengine import conversion, data
from pyengine.base.arguments import short_repr
from pyengine.cli.options import (
    JsonOption,
    ParamOption,
    SpecOption,
    game_from,
    output_file,
    read_spec,
)
from pyengine.cli.output import console, print_json
from pyengine.conversion.score_utility import POINTS
from pyengine.errors import ConfigError
from pyengine.eval.bundled import game_of_model
from pyengine.eval.evaluators import bundled_models
from pyengine.eval.spec import ModelSpec
from pyengine.games.game import Game

_VERDICTS = {
    "passed": ("PASS", "green"),
    "failed": ("FAIL", "bold red"),
    "undecided": ("OPEN", "yellow"),
}

_Network: TypeAlias = Annotated[
    str, typer.Argument(metavar="NETWORK", help="An ONNX file or a bundled network.")
]
_Output: TypeAlias = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="The file to write. Default: beside what is read."),
]
_GameName: TypeAlias = Annotated[
    str | None,
    typer.Option("--game", "-g", help="The game that the network plays: 'go(board_size=9)'."),
]
_Positions: TypeAlias = Annotated[
    int,
    typer.Option("--positions", min=32, help="To calibrate on, and as many others to compare on."),
]
_Games: TypeAlias = Annotated[
    int, typer.Option("--games", min=0, help="Most games of the match; 0 = no match.")
]
_Simulations: TypeAlias = Annotated[
    int, typer.Option("--simulations", "-n", min=1, help="For a move of the match.")
]
_MatchSeconds: TypeAlias = Annotated[
    float, typer.Option("--match-seconds", help="The match ends with the games it has by then.")
]
_Margin: TypeAlias = Annotated[
    float,
    typer.Option("--margin", help="Elo; the match must show that less is lost (95 %, one-sided)."),
]
_Undecided: TypeAlias = Annotated[
    bool, typer.Option("--write-undecided", help="Write the network also if the match is open.")
]
_Seed: TypeAlias = Annotated[int, typer.Option("--seed", min=0, help="Of all random numbers.")]


class _Format(StrEnum):
    npz = "npz"
    parquet = "parquet"
    sgf = "sgf"


class _Komi(StrEnum):
    game = "game"
    file = "file"


# --- networks

_CHECKS = """The copy must evaluate, choose and play as the network does: it is compared on
positions of the network's own games, then plays a match. Exit status 1 if it loses too much, or
if the match is open; then nothing is written."""


def _checked(kind: str, convert: str, doc: str) -> Callable[..., None]:
    """Return the command of a conversion that is checked: a function of the room conversion."""

    def command(
        network: _Network,
        output: _Output = None,
        game: _GameName = None,
        param: ParamOption = None,
        spec: SpecOption = None,
        positions: _Positions = 1000,
        games: _Games = 800,
        simulations: _Simulations = 32,
        match_seconds: _MatchSeconds = 600.0,
        margin: _Margin = conversion.Limits.margin,
        write_undecided: _Undecided = False,
        seed: _Seed = 0,
        as_json: JsonOption = False,
    ) -> None:
        source, target = _source_and_target(network, output, kind)
        played = _game(network, game, param)
        with _progress() as on_progress:
            report = getattr(conversion, convert)(
                source,
                target,
                played,
                spec=read_spec(spec),
                positions=positions,
                games=games,
                simulations=simulations,
                match_seconds=match_seconds,
                limits=conversion.Limits(margin=margin),
                write_undecided=write_undecided,
                seed=seed,
                on_progress=on_progress,
            )
        _show(report, kind, as_json)

    command.__doc__ = f"{doc}\n\n{_CHECKS}"
    return command


int8 = _checked("int8", "quantise", "Convert a network to int8, for CPUs.")
float16 = _checked("float16", "to_float16", "Convert a network to float16, for GPUs.")


def score_utility(
    network: _Network,
    output: _Output = None,
    weight: Annotated[
        float, typer.Option("--weight", metavar="SHARE", help="Of points in the value, 0 to 1.")
    ] = 0.1,
    points: Annotated[
        float, typer.Option("--points", help="The lead that is worth half of the weight.")
    ] = POINTS,
    spec: SpecOption = None,
    as_json: JsonOption = False,
) -> None:
    """Let the value of a network that predicts its score count points, too. For playing."""
    source, target = _source_and_target(network, output, "points")
    with _busy(target):
        conversion.with_score_utility(
            source, target, weight=weight, points=points, spec=read_spec(spec)
        )
    if as_json:
        print_json({"path": str(target), "weight": weight, "points": points})
        return
    text = f"{target}: {weight:g} of the value counts points, half of it a lead of {points:g}"
    console().print(Text(text))


def leela(
    weights: Annotated[Path, typer.Argument(help="Leela Zero's weights: a .txt or .gz file.")],
    output: _Output = None,
    as_json: JsonOption = False,
) -> None:
    """Convert Leela Zero's weights to ONNX."""
    source = _file(weights)
    stem = source.name.removesuffix(".gz").removesuffix(".txt")
    target = output_file(output or source.with_name(f"{stem}.onnx"), source)
    with _busy(target):
        read = conversion.read_leela(source)
        conversion.leela_to_onnx(read, target)
    _written(read, target, as_json)


def random(
    size: Annotated[str, typer.Argument(metavar="BLOCKSxCHANNELS", help="For example 6x96.")],
    output: _Output = None,
    board_size: Annotated[
        int, typer.Option("--board-size", min=2, max=19, help="Of the network.")
    ] = 19,
    seed: _Seed = 0,
    as_json: JsonOption = False,
) -> None:
    """Make Leela Zero weights of random numbers; ONNX with -o FILE.onnx."""
    numbers = re.fullmatch(r"(\d+)x(\d+)", size.lower())
    if numbers is None:
        raise ConfigError(f"expected BLOCKSxCHANNELS such as 6x96, got {short_repr(size)}")
    blocks, channels = map(int, numbers.groups())
    target = output_file(output or Path(f"random-{blocks}x{channels}.txt.gz"))
    with _busy(target):
        made = conversion.random_leela(blocks, channels, seed=seed, board_size=board_size)
        if target.suffix == ".onnx":
            conversion.leela_to_onnx(made, target)
        else:
            conversion.write_leela(made, target)
    _written(made, target, as_json)


# --- training data


def shards(
    directory: Annotated[Path, typer.Argument(help="Training data, as self-play writes it.")],
    to: Annotated[_Format, typer.Option("--to", help="NumPy's arrays, Parquet, or SGF.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The directory to write. Default: beside DIRECTORY."),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Write to a directory that has files already.")
    ] = False,
) -> None:
    """Convert training data to files that other programs read."""
    if not directory.exists():
        raise ConfigError(f"{directory} does not exist")
    if to is _Format.sgf:
        files = data.export_sgf(directory, output, overwrite=overwrite)
    else:
        files = data.convert(directory, to.value, output, overwrite=overwrite)
    where = files[0].parent if files else directory
    console().print(Text(f"{len(files)} files in {where}"))


def sgf(
    games: Annotated[Path, typer.Argument(help="An SGF file, or a directory of them.")],
    game: Annotated[str, typer.Option("--game", "-g", help="Of the files: 'go(board_size=9)'.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The directory to write.")],
    param: ParamOption = None,
    komi: Annotated[
        _Komi,
        typer.Option(
            "--komi",
            help="Take games of any komi (game), or only those of the komi that most files have, "
            "which the training data then has too (file).",
        ),
    ] = _Komi.game,
    spec: SpecOption = None,
) -> None:
    """Convert SGF files to training data."""
    if not games.exists():
        raise ConfigError(f"{games} does not exist")
    played = game_from(game, param)
    reading = read_spec(spec) or ModelSpec.alphago_zero(played)
    report = data.import_sgf(games, output, played, reading, komi=komi.value)
    report.check_taken(games, played)
    console().print(Text(str(report)))


#: The commands below ``pyengine convert``.
COMMANDS: dict[str, Callable[..., None]] = {
    "leela": leela,
    "int8": int8,
    "float16": float16,
    "score-utility": score_utility,
    "random": random,
    "shards": shards,
    "sgf": sgf,
}


# --- what they share


def _file(path: Path) -> Path:
    if not path.is_file():
        raise ConfigError(f"{path} is not a file")
    return path


def _source_and_target(network: str, output: Path | None, kind: str) -> tuple[Path, Path]:
    """Return the file of a network, and where its copy goes: a bundled one's into this folder."""
    source = _file(bundled_models().get(network, Path(network)))
    beside = source if network == str(source) else Path(source.name)
    return source, output_file(output or beside.with_suffix(f".{kind}.onnx"), source)


def _game(network: str, name: str | None, param: list[str] | None) -> Game:
    if name is not None:
        return game_from(name, param)
    game = game_of_model(network)
    if game is None:
        raise ConfigError(f"name the game that {network} plays: --game GAME")
    return game


def _busy(target: Path) -> AbstractContextManager[object]:
    """Show on stderr that something is being made, while it is a terminal."""
    return console(stderr=True).status(Text(f"making {target} ..."))


def _written(weights: conversion.LeelaWeights, target: Path, as_json: bool) -> None:
    facts = {
        "path": str(target),
        "blocks": len(weights.blocks),
        "channels": weights.channels,
        "board_size": weights.board_size,
        "version": weights.version,
    }
    if as_json:
        print_json(facts)
        return
    size = f"{weights.board_size}x{weights.board_size}"
    text = f"{target}: {facts['blocks']} blocks of {weights.channels} channels, {size}"
    console().print(Text(text))


def _show(report: conversion.ConversionReport, kind: str, as_json: bool) -> None:
    if as_json:
        print_json(report.to_dict())
    else:
        out = console()
        for check in report.checks:
            sign = ">=" if check.name in ("first choice", "match, evidence") else "<="
            figures = f"  {check.name:<15} {check.measured:7.4f} {sign} {check.limit:<6.5g}"
            out.print(Text.assemble(_VERDICTS[check.outcome], f"{figures} {check.detail}"))
        speed = "for GPUs: a CPU is no faster with it"
        if report.speedup is not None:
            speed = f"{report.speedup:.2f} times the speed in bare ONNX Runtime, one thread"
        layers = f"{report.converted} layers in {kind}, {report.kept} in float32"
        out.print(Text(f"\n{layers}; {speed}"))
        where = "nothing written" if report.path is None else f"written: {report.path}"
        out.print(Text(f"{report.outcome}: {where}"))
        if report.path is None and report.outcome == "undecided":
            advice = "raise --games, --match-seconds or --margin to decide, or --write-undecided"
            out.print(Text(advice))
    if report.path is None and not report.passed:
        raise typer.Exit(1)


@contextmanager
def _progress() -> Iterator[Callable[[str, float], None] | None]:
    """Show the stages as bars, on stderr while it is a terminal; they disappear at the end."""
    err = console(stderr=True)
    if not err.is_terminal:
        yield None
        return
    with Progress(console=err, transient=True) as bars:
        tasks: dict[str, TaskID] = {}

        def show(stage: str, done: float) -> None:
            if stage not in tasks:
                for earlier in tasks.values():
                    bars.update(earlier, completed=1.0)
                tasks[stage] = bars.add_task(stage, total=1.0)
            bars.update(tasks[stage], completed=done)

        yield show
