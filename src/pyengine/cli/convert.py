"""``pyengine convert``: Leela Zero's weights, changed copies of networks, training data and SGF."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer  # noqa: TID253  # this package is the extra's
from rich.progress import Progress, TaskID  # noqa: TID253
from rich.text import Text  # noqa: TID253

from pyengine.base.arguments import in_one_line
from pyengine.cli.convert_data import FORMATS, convert_data
from pyengine.cli.options import (
    JsonOption,
    ParamOption,
    SpecOption,
    game_from,
    output_file,
    read_spec,
)
from pyengine.cli.output import console, print_json
from pyengine.conversion import (
    Float16Report,
    Int8Report,
    LeelaWeights,
    Limits,
    leela_to_onnx,
    quantise,
    random_leela,
    read_leela,
    to_float16,
    with_score_utility,
    write_leela,
)
from pyengine.conversion.score_utility import POINTS
from pyengine.errors import ConfigError
from pyengine.eval.bundled import game_of_model
from pyengine.eval.evaluators import bundled_models
from pyengine.eval.spec import ModelSpec
from pyengine.games.game import Game

__all__ = ["convert"]

_VERDICTS = {
    "passed": ("PASS", "green"),
    "failed": ("FAIL", "bold red"),
    "undecided": ("OPEN", "yellow"),
}
_CHANGES = "--int8, --fp16 or --score-utility"  # at most one
_STAGES = ("games", "calibration", "comparison", "match")


# --- options: of every conversion, of changed copies, of --random

_Model: TypeAlias = Annotated[
    str | None,
    typer.Argument(
        help="Leela Zero weights (.txt, .gz), which become ONNX; with --int8, --fp16 or "
        "--score-utility an ONNX file or a bundled network; with --to npz, parquet or sgf a "
        "directory of training data; with --to shards an SGF file or a directory of them."
    ),
]
_Output: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", help="The file to write, with --to the directory. Default: beside MODEL."
    ),
]
_Int8: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--int8", help="Convert a network to int8 and compare both; needs the extra convert."
    ),
]
_Fp16: TypeAlias = Annotated[
    bool, typer.Option("--fp16", help="Convert to float16, for GPUs, if the network stands it.")
]
_ScoreUtility: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--score-utility",
        metavar="WEIGHT",
        help="Let the value of a network that says its score count points with this weight, 0 to "
        "1, say 0.1. For playing.",
    ),
]
_Points: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--points",
        help=f"With --score-utility: the lead that is worth half of the weight; else {POINTS:g}.",
    ),
]
_To: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--to",
        metavar="|".join(FORMATS),
        help="Convert training data: to NumPy's arrays (npz), Parquet or SGF; or SGF to training "
        "data (shards), with --game and --output.",
    ),
]
_GameName: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--game", "-g", help="The game of --int8, --fp16 or of SGF files: 'go(board_size=9)'."
    ),
]
_Komi: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--komi",
        metavar="game|file",
        help="With --to shards: take games of any komi (game, the default), or only those of the "
        "komi that most files have, which the shards then have too (file).",
    ),
]
_Positions: TypeAlias = Annotated[
    int,
    typer.Option(
        "--positions",
        min=32,
        help="With --int8, --fp16: to calibrate on, and as many others to compare on.",
    ),
]
_Games: TypeAlias = Annotated[
    int,
    typer.Option("--games", min=0, help="With --int8, --fp16: of the match, at most; 0 = none."),
]
_Margin: TypeAlias = Annotated[
    float,
    typer.Option(
        "--margin",
        help="With --int8, --fp16: the Elo below which the match must show the loss to be "
        "(95 %, one-sided).",
    ),
]
_Overwrite: TypeAlias = Annotated[
    bool,
    typer.Option("--overwrite", help="With --to: write to a directory that has files already."),
]
_Undecided: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--write-undecided",
        help="With --int8, --fp16: write it where the match has not decided, too.",
    ),
]
_Simulations: TypeAlias = Annotated[
    int,
    typer.Option("--simulations", "-n", min=1, help="With --int8, --fp16: a move in the match."),
]
_MatchSeconds: TypeAlias = Annotated[
    float,
    typer.Option(
        "--match-seconds", help="With --int8, --fp16: the match ends with the games it has then."
    ),
]
_Random: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--random",
        metavar="BLOCKSxCHANNELS",
        help="Make Leela Zero weights of random numbers, for example 6x96; ONNX with -o FILE.onnx.",
    ),
]
_BoardSize: TypeAlias = Annotated[
    int, typer.Option("--board-size", min=2, max=19, help="Of the network of --random.")
]
_Seed: TypeAlias = Annotated[
    int, typer.Option("--seed", min=0, help="Of --random, --int8 and --fp16.")
]


def convert(
    model: _Model = None,
    output: _Output = None,
    int8: _Int8 = False,
    fp16: _Fp16 = False,
    score_utility: _ScoreUtility = None,
    points: _Points = None,
    to: _To = None,
    overwrite: _Overwrite = False,
    game: _GameName = None,
    param: ParamOption = None,
    komi: _Komi = None,
    spec: SpecOption = None,
    positions: _Positions = 1000,
    games: _Games = 800,
    simulations: _Simulations = 32,
    match_seconds: _MatchSeconds = 600.0,
    margin: _Margin = Limits.margin,
    write_undecided: _Undecided = False,
    random: _Random = None,
    board_size: _BoardSize = 19,
    seed: _Seed = 0,
    as_json: JsonOption = False,
) -> None:
    """Convert a network, or training data.

    Without --int8, --fp16, --score-utility, --to and --random: Leela Zero's weights to ONNX.

    Exit status 1 when int8 or float16 would lose too much, or when the games of the match do not
    tell; then nothing is written.
    """
    if points is not None and score_utility is None:
        raise ConfigError("--points is for --score-utility")
    changes = int8 + fp16 + (score_utility is not None)
    if overwrite and to not in ("npz", "parquet", "sgf"):
        raise ConfigError("--overwrite is for --to npz, parquet and sgf")
    if komi is not None and (to != "shards" or komi not in ("game", "file")):
        raise ConfigError("--komi is for --to shards, and is game or file")
    if random is not None:
        if model is not None or changes:
            raise ConfigError(f"--random makes a network: give neither MODEL nor {_CHANGES}")
        _random(random, output, seed, board_size, as_json)
    elif model is None:
        raise ConfigError("name a MODEL, or make one with --random BLOCKSxCHANNELS")
    elif to is not None:
        if changes:
            raise ConfigError(f"--to is for training data, {_CHANGES} for networks")
        played = None if game is None else game_from(game, param)
        convert_data(Path(model), to, output, played, read_spec(spec), overwrite, komi or "game")
    elif changes > 1:
        raise ConfigError(f"give one of {_CHANGES}")
    elif score_utility is not None:
        _score_utility(
            model,
            output,
            score_utility,
            POINTS if points is None else points,
            read_spec(spec),
            as_json,
        )
    elif int8 or fp16:
        _checked(
            "int8" if int8 else "fp16",
            model,
            output,
            _game(model, game, param),
            as_json,
            spec=read_spec(spec),
            positions=positions,
            games=games,
            simulations=simulations,
            match_seconds=match_seconds,
            limits=_limits(margin),
            write_undecided=write_undecided,
            seed=seed,
        )
    else:
        _leela(_file(Path(model)), output, as_json)


def _checked(
    kind: str, model: str, output: Path | None, game: Game, as_json: bool, **options: Any
) -> None:
    """Convert to "int8" or "fp16", with a table of the checks."""
    source, target = _source_and_target(model, output, kind)
    change = quantise if kind == "int8" else to_float16
    with _progress() as on_progress:
        report = change(source, target, game, on_progress=on_progress, **options)
    _show(report, as_json)


def _source_and_target(model: str, output: Path | None, kind: str) -> tuple[Path, Path]:
    """Return the file of a network, and where its copy goes: a bundled one's into this folder."""
    source = _file(bundled_models().get(model, Path(model)))
    beside = source if model == str(source) else Path(source.name)
    return source, output_file(output or beside.with_suffix(f".{kind}.onnx"), source)


def _score_utility(
    model: str,
    output: Path | None,
    weight: float,
    points: float,
    spec: ModelSpec | None,
    as_json: bool,
) -> None:
    source, target = _source_and_target(model, output, "points")
    with _busy(f"making {target}"):
        with_score_utility(source, target, weight=weight, points=points, spec=spec)
    facts = {"path": str(target), "weight": weight, "points": points}
    if as_json:
        print_json(facts)
    else:
        text = f"{target}: {weight:g} of the value counts points, half of it a lead of {points:g}"
        console().print(Text(text))


def _limits(margin: float) -> Limits:
    try:
        return Limits(margin=margin)
    except ConfigError as error:
        raise ConfigError(f"--{error}") from error


def _file(path: Path) -> Path:
    if not path.is_file():
        raise ConfigError(f"{path} is no file")
    return path


def _game(model: str, name: str | None, param: list[str] | None) -> Game:
    if name is not None:
        return game_from(name, param)
    found = game_of_model(model)
    if found is None:
        raise ConfigError("--int8 and --fp16 need the game that the network plays: --game GAME")
    return found


def _size(text: str) -> tuple[int, int]:
    blocks, cross, channels = text.lower().partition("x")
    if not (cross and blocks.isdigit() and channels.isdigit()):
        raise ConfigError(
            f"--random must be BLOCKSxCHANNELS such as 6x96, found {in_one_line(text)}"
        )
    return int(blocks), int(channels)


def _random(size: str, output: Path | None, seed: int, board_size: int, as_json: bool) -> None:
    blocks, channels = _size(size)
    target = output_file(output or Path(f"random-{blocks}x{channels}.txt.gz"))
    with _busy(f"making {target}"):
        weights = random_leela(blocks, channels, seed=seed, board_size=board_size)
        if target.suffix == ".onnx":
            leela_to_onnx(weights, target)
        else:
            write_leela(weights, target)
    _written(weights, target, as_json)


def _leela(source: Path, output: Path | None, as_json: bool) -> None:
    if source.suffix == ".onnx":
        raise ConfigError(
            f"{source} is ONNX already; --int8, --fp16 and --score-utility make copies of it"
        )
    stem = source.name.removesuffix(".gz").removesuffix(".txt")
    target = output_file(output or source.with_name(f"{stem}.onnx"), source)
    with _busy(f"making {target}"):
        weights = read_leela(source)
        leela_to_onnx(weights, target)
    _written(weights, target, as_json)


def _busy(what: str) -> AbstractContextManager[object]:
    """Show on stderr that something is being made, while it is a terminal."""
    return console(stderr=True).status(Text(f"{what} ..."))


def _written(weights: LeelaWeights, target: Path, as_json: bool) -> None:
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
    console().print(
        Text(
            f"{target}: {facts['blocks']} blocks of {weights.channels} channels, "
            f"{weights.board_size}x{weights.board_size}"
        )
    )


def _show(report: Int8Report | Float16Report, as_json: bool) -> None:
    if as_json:
        print_json(report.to_dict())
    else:
        out = console()
        for check in report.checks:
            sign = ">=" if check.name in ("first choice", "match, evidence") else "<="
            figures = f"  {check.name:<15} {check.measured:7.4f} {sign} {check.limit:<6.5g}"
            out.print(Text.assemble(_VERDICTS[check.outcome], f"{figures} {check.detail}"))
        out.print(Text(f"\n{_made(report)}"))
        out.print(Text(f"{report.outcome}: {_written_to(report)}"))
    if report.path is None and not report.passed:
        raise typer.Exit(1)


def _made(report: Int8Report | Float16Report) -> str:
    if isinstance(report, Float16Report):
        return (
            f"{report.converted} layers in float16, {report.kept} in float32; "
            "for GPUs: a CPU is no faster with it"
        )
    return (
        f"{report.quantised} convolutions in int8, {report.kept} in float32; "
        f"{report.speedup:.2f} times the speed in bare ONNX Runtime, one thread"
    )


def _written_to(report: Int8Report | Float16Report) -> str:
    if report.path is not None:
        return f"written: {report.path}"
    if report.outcome != "undecided":
        return "nothing written"
    return (
        "nothing written; raise --games, --match-seconds or --margin to decide, "
        "or give --write-undecided"
    )


@contextmanager
def _progress() -> Iterator[Callable[[str, float], None] | None]:
    """Show the stages as bars, on stderr while it is a terminal; they disappear again."""
    err = console(stderr=True)
    if not err.is_terminal:
        yield None
        return
    with Progress(console=err, transient=True) as bars:
        tasks: dict[str, TaskID] = {}

        def show(stage: str, done: float) -> None:
            for earlier in _STAGES[: _STAGES.index(stage)]:
                if earlier in tasks:
                    bars.update(tasks[earlier], completed=1.0)
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage, total=1.0)
            bars.update(tasks[stage], completed=done)

        yield show
