"""``pyengine convert``: convert networks, Leela Zero weights, training data and SGF."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

from rich.text import Text
from typer import Argument, Exit, Option

from pyengine import conversion, data
from pyengine.base.checks import short_repr
from pyengine.cli.options import JsonOption, SpecOption, game_from, output_file, read_spec
from pyengine.cli.output import console, print_json, progress_bar, show
from pyengine.conversion.comparison import Checks
from pyengine.conversion.score_utility import POINTS
from pyengine.errors import ConfigError
from pyengine.eval.bundled import game_of_model, network_file
from pyengine.eval.spec import ModelSpec

_VERDICTS = {
    "passed": ("PASS", "green"),
    "failed": ("FAIL", "bold red"),
    "undecided": ("OPEN", "yellow"),
}

_Network: TypeAlias = Annotated[
    str, Argument(metavar="NETWORK", help="An ONNX file or a bundled network.")
]
_Output: TypeAlias = Annotated[
    Path | None, Option("--output", "-o", help="The file to write. Default: next to the input.")
]


# --- networks

_CHECKS = (
    "The copy is compared with the network on positions from the network's games, then plays a "
    "match against it. If it loses too much or the match is undecided, nothing is written and the "
    "exit status is 1."
)


def _checked(kind: str, convert: str, doc: str) -> Callable[..., None]:
    """Return a command that calls ``convert`` of :mod:`pyengine.conversion` and its checks."""

    def command(
        network: _Network,
        output: _Output = None,
        game_name: Annotated[
            str | None,
            Option("--game", "-g", help="The network's game, such as 'go(board_size=9)'."),
        ] = None,
        spec: SpecOption = None,
        positions: Annotated[
            int, Option(min=32, help="Positions for calibration, and for comparison.")
        ] = Checks.positions,
        games: Annotated[
            int, Option(min=0, help="Maximum games in the match; 0 = no match.")
        ] = Checks.games,
        simulations: Annotated[
            int, Option("--simulations", "-n", min=1, help="Simulations per move of the match.")
        ] = Checks.simulations,
        match_seconds: Annotated[
            float, Option(help="Time limit of the match.")
        ] = Checks.match_seconds,
        margin: Annotated[
            float, Option(help="Maximum Elo loss that the match must rule out (95 %).")
        ] = conversion.Limits.margin,
        write_undecided: Annotated[
            bool, Option("--write-undecided", help="Write the network even if the match is open.")
        ] = False,
        as_json: JsonOption = False,
    ) -> None:
        source, target = _source_and_target(network, output, kind)
        game = game_of_model(network) if game_name is None else game_from(game_name)
        if game is None:
            raise ConfigError(f"the game of {network} is unknown: use --game GAME")
        with progress_bar(1.0, lambda stage, done: (done, stage), counted=False) as on_progress:
            report = getattr(conversion, convert)(
                source,
                target,
                game,
                spec=read_spec(spec),
                positions=positions,
                games=games,
                simulations=simulations,
                match_seconds=match_seconds,
                limits=conversion.Limits(margin=margin),
                write_undecided=write_undecided,
                on_progress=on_progress,
            )
        _print(report, kind, as_json)

    command.__name__ = kind
    command.__doc__ = f"{doc}\n\npyengine convert {kind} model.onnx --game go9\n\n{_CHECKS}"
    return command


int8 = _checked("int8", "quantise", "Convert a network to int8, for CPUs.")
float16 = _checked("float16", "to_float16", "Convert a network to float16, for GPUs.")


def score_utility(
    network: _Network,
    output: _Output = None,
    weight: Annotated[
        float, Option(metavar="SHARE", help="Share of points in the value, 0 to 1.")
    ] = 0.1,
    points: Annotated[float, Option(help="The lead that is worth half the weight.")] = POINTS,
    spec: SpecOption = None,
    as_json: JsonOption = False,
) -> None:
    """Add the predicted score to a network's value, for playing.

    pyengine convert score-utility go9 -o go9_score.onnx
    """
    source, target = _source_and_target(network, output, "points")
    with _busy(target):
        conversion.with_score_utility(
            source, target, weight=weight, points=points, spec=read_spec(spec)
        )
    if as_json:
        print_json({"path": str(target), "weight": weight, "points": points})
        return
    show(f"{target}: weight of points {weight:g}, half of it for a lead of {points:g}")


def leela(
    weights: Annotated[
        Path, Argument(help="Leela Zero weights: a .txt or .gz file.", exists=True, dir_okay=False)
    ],
    output: _Output = None,
    as_json: JsonOption = False,
) -> None:
    """Convert Leela Zero weights to ONNX.

    pyengine convert leela weights.txt.gz -o leela.onnx
    """
    stem = weights.name.removesuffix(".gz").removesuffix(".txt")
    target = output_file(output or weights.with_name(f"{stem}.onnx"), weights)
    with _busy(target):
        network = conversion.read_leela(weights)
        conversion.leela_to_onnx(network, target)
    _report_weights(network, target, as_json)


def random(
    size: Annotated[str, Argument(metavar="BLOCKSxCHANNELS", help="For example 6x96.")],
    output: _Output = None,
    board_size: Annotated[int, Option(min=2, max=19, help="Board size of the network.")] = 19,
    seed: Annotated[int, Option(min=0, help="Random seed.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Write random Leela Zero weights, or ONNX with -o FILE.onnx.

    pyengine convert random 6x64 -o random.txt
    """
    numbers = re.fullmatch(r"(\d+)x(\d+)", size.lower())
    if numbers is None:
        raise ConfigError(f"expected BLOCKSxCHANNELS such as 6x96, got {short_repr(size)}")
    blocks, channels = map(int, numbers.groups())
    target = output_file(output or Path(f"random-{blocks}x{channels}.txt.gz"))
    with _busy(target):
        network = conversion.random_leela(blocks, channels, seed=seed, board_size=board_size)
        if target.suffix == ".onnx":
            conversion.leela_to_onnx(network, target)
        else:
            conversion.write_leela(network, target)
    _report_weights(network, target, as_json)


# --- training data


def shards(
    directory: Annotated[Path, Argument(help="Directory of shards from self-play.", exists=True)],
    to: Annotated[Literal["npz", "parquet", "sgf"], Option(help="NumPy arrays, Parquet or SGF.")],
    output: Annotated[
        Path | None,
        Option("--output", "-o", help="The directory to write. Default: next to the input."),
    ] = None,
    overwrite: Annotated[
        bool, Option("--overwrite", help="Write to a directory that is not empty.")
    ] = False,
) -> None:
    """Convert training data to NumPy, Parquet or SGF.

    pyengine convert shards selfplay --to parquet
    """
    if to == "sgf":
        files = data.export_sgf(directory, output, overwrite=overwrite)
    else:
        files = data.convert(directory, to, output, overwrite=overwrite)
    folder = files[0].parent if files else directory
    show(f"{len(files)} files in {folder}")


def sgf(
    games: Annotated[Path, Argument(help="An SGF file or a directory of them.", exists=True)],
    game_name: Annotated[str, Option("--game", "-g", help="The game, such as 'go(board_size=9)'.")],
    output: Annotated[Path, Option("--output", "-o", help="The directory to write.")],
    komi: Annotated[
        Literal["game", "file"],
        Option(
            help="game: accept games with any komi; file: use the most frequent komi and only "
            "games with it."
        ),
    ] = "game",
    spec: SpecOption = None,
) -> None:
    """Convert SGF files to training data.

    pyengine convert sgf games --game 'go(board_size=9)' -o shards
    """
    game = game_from(game_name)
    model_spec = read_spec(spec) or ModelSpec.alphago_zero(game)
    report = data.import_sgf(games, output, game, model_spec, komi=komi)
    report.check_taken(games, game)
    show(str(report))


#: The subcommands of ``pyengine convert``.
COMMANDS = (leela, int8, float16, score_utility, random, shards, sgf)


# --- shared functions


def _source_and_target(network: str, output: Path | None, kind: str) -> tuple[Path, Path]:
    """Return the network's file and the file to write.

    The copy of a bundled network goes to the current directory.
    """
    source = network_file("network", network)
    if not source.is_file():
        raise ConfigError(f"{source} is not a file")
    return source, output or Path(network).with_suffix(f".{kind}.onnx")


def _busy(target: Path) -> AbstractContextManager[object]:
    return console(stderr=True).status(Text(f"writing {target} ..."))


def _report_weights(weights: conversion.LeelaWeights, target: Path, as_json: bool) -> None:
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
    show(f"{target}: {facts['blocks']} blocks of {weights.channels} channels, {size}")


def _print(report: conversion.ConversionReport, kind: str, as_json: bool) -> None:
    if as_json:
        print_json(report.to_dict())
    else:
        out = console()
        for check in report.checks:
            sign = ">=" if check.name in ("first choice", "match, evidence") else "<="
            figures = f"  {check.name:<15} {check.measured:7.4f} {sign} {check.limit:<6.5g}"
            out.print(Text.assemble(_VERDICTS[check.outcome], f"{figures} {check.detail}"))
        speed = "for GPUs; no faster on a CPU"
        if report.speedup is not None:
            speed = f"{report.speedup:.2f} times the speed in bare ONNX Runtime, one thread"
        show(f"\n{report.converted} layers in {kind}, {report.kept} in float32; {speed}")
        outcome = "nothing written" if report.path is None else f"written: {report.path}"
        show(f"{report.outcome}: {outcome}")
        if report.path is None and report.outcome == "undecided":
            show("raise --games, --match-seconds or --margin, or use --write-undecided")
    if report.path is None and not report.passed:
        raise Exit(1)
