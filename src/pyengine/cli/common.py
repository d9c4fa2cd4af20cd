"""What the commands share: options, games, evaluators, starts, output."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import math
import signal
import sys
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer  # noqa: TID253  # this package is the extra's
from rich.console import Console  # noqa: TID253
from rich.text import Text  # noqa: TID253

from pyengine.base import machine
from pyengine.base.arguments import did_you_mean, in_one_line, printable
from pyengine.base.files import check_output, read_limited, unread
from pyengine.cli import LEAST_WIDTH
from pyengine.errors import ConfigError
from pyengine.eval.bundled import model_of_game, strength_of_model, trained_for
from pyengine.eval.evaluators import (
    Evaluator,
    OnnxEvaluator,
    RolloutEvaluator,
    as_evaluator,
    bundled_models,
)
from pyengine.eval.spec import ModelSpec
from pyengine.games.game import Game, State, load_game
from pyengine.search.config import SearchConfig

__all__ = [
    "Setup",
    "complain",
    "config_from",
    "console",
    "evaluator_for",
    "game_from",
    "print_json",
    "say",
    "start_state",
    "threads_of",
    "with_time_for_playouts",
]

GameArgument: TypeAlias = Annotated[
    str,
    typer.Argument(
        help="Game, for example connect_four or 'gomoku(board_size=9)'; pyspiel:GAME of OpenSpiel; "
        "or package.module:NAME or FILE.py:NAME, your own."
    ),
]
ParamOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--param", "-p", metavar="NAME=VALUE", help="A parameter of the game; repeatable."
    ),
]
ModelOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--model",
        "-m",
        help="A bundled network, a file MODEL.onnx, 'rollout', a rollout policy POLICY.npz, or "
        "'uniform'. "
        "Default: the bundled network of the game or its board, else rollout.",
    ),
]
SpecOption: TypeAlias = Annotated[
    Path | None,
    typer.Option("--spec", help="JSON file with the ModelSpec of the network.", dir_okay=False),
]
ProviderOption: TypeAlias = Annotated[
    str | None, typer.Option("--provider", help="cpu, cuda or tensorrt; must be available.")
]
DeviceOption: TypeAlias = Annotated[int, typer.Option("--device", min=0, help="Which GPU.")]
MovesOption: TypeAlias = Annotated[
    str, typer.Option("--moves", help="Moves played from the start, for example '4 4 3'.")
]
BoardOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--board",
        help="File with the board, top row first: X and O for the players, '.' for empty points. "
        "'-' reads the standard input.",
        allow_dash=True,
        dir_okay=False,
    ),
]
PlayerOption: TypeAlias = Annotated[
    int, typer.Option("--to-move", min=0, max=1, help="Player to move on --board: 0 (X) or 1 (O).")
]
SimulationsOption: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--simulations",
        "-n",
        min=1,
        help="Budget; default 800, or 3 seconds with playouts; in self-play the preset's.",
    ),
]
SecondsOption: TypeAlias = Annotated[
    float | None, typer.Option("--seconds", "-s", help="Time budget; both: whichever ends first.")
]
ThreadsOption: TypeAlias = Annotated[
    int | None, typer.Option("--threads", "-t", min=0, help="Workers; 0 = all cores.")
]
BatchOption: TypeAlias = Annotated[
    int | None, typer.Option("--batch-size", "-b", min=1, help="Rows of one call of the network.")
]
SymmetryOption: TypeAlias = Annotated[
    str | None,
    typer.Option("--symmetry", help="none, random, average, root_average or fill."),
]
AlgorithmOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--algorithm", help="puct, gumbel, uct or flat_ucb. Default: uct with playouts, else puct."
    ),
]
SeedOption: TypeAlias = Annotated[
    int | None, typer.Option("--seed", min=0, help="Of all random numbers. Default: 0.")
]
ConfigOption: TypeAlias = Annotated[
    Path | None,
    typer.Option("--config", exists=True, dir_okay=False, help="TOML file of a SearchConfig."),
]
JsonOption: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON.")]


_PLAYOUT_SECONDS = 3.0  # for a move, by default
_POLL = 0.1  # seconds between two looks for a Ctrl-C


@dataclass(frozen=True)
class Setup:
    """Who evaluates, how a report names it, and what a person should know of it."""

    name: str
    evaluator: Evaluator
    about: str = ""


def console(*, stderr: bool = False) -> Console:
    """Return a console; plain text where the stream is no terminal.

    What is printed for good is not squeezed into a narrow terminal, whose lines go on below.
    """
    made = Console(stderr=stderr, highlight=False, soft_wrap=True)
    if not stderr and made.width < LEAST_WIDTH:
        made.width = LEAST_WIDTH
    return made


def say(out: Console, text: Text, *, indent: int = 0) -> None:
    """Print prose; on a terminal it is broken between words, after which lines are indented.

    In a pipe or a file a line stays a line.
    """
    if not out.is_terminal:
        out.print(text)
        return
    lines = text.wrap(out, max(out.width - indent, 1))
    for number, line in enumerate(lines):
        line.rstrip()
        out.print(Text(" " * indent if number else "") + line)


def complain(message: str) -> None:
    """Print an error as one line on stderr, red on a terminal."""
    text = printable(" ".join(message.split()))
    console(stderr=True).print(Text(f"error: {text}", style="bold red"))


@contextlib.contextmanager
def when_stopped(how_to_go_on: str) -> Iterator[None]:
    """Say on stderr, after Ctrl-C, how to go on."""
    try:
        yield
    except KeyboardInterrupt:
        say(console(stderr=True), Text(f"stopped; {how_to_go_on}"))
        raise


def usage(message: str) -> typer.BadParameter:
    """Return the exception of wrong use: exit status 2."""
    return typer.BadParameter(message)


def read_line(prompt: str) -> str:
    """Return a line typed after a prompt, with line editing. Raises EOFError at the end.

    ``input()`` may sleep through a Ctrl-C that comes just before it waits; a timer wakes it.
    """
    if sys.platform == "win32" or not sys.stdin.isatty():
        return input(prompt)
    with contextlib.suppress(ImportError):
        import readline  # noqa: F401  # input() edits lines and keeps a history from now on
    before = signal.signal(signal.SIGALRM, lambda *_: None)
    signal.setitimer(signal.ITIMER_REAL, _POLL, _POLL)
    try:
        return input(prompt)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def print_json(value: Any) -> None:
    """Print a value as JSON; numbers that JSON has not become null."""
    sys.stdout.write(json.dumps(_plain(value), indent=2, allow_nan=False) + "\n")


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    return value


def game_from(text: str, params: list[str] | None) -> Game:
    """Return the game of the command line, the engine's or a user's. No such game is wrong use."""
    extra: dict[str, bool | int | float | str] = {}
    for param in params or []:
        name, separator, value = param.partition("=")
        if not separator or not name:
            raise usage(f"--param must be NAME=VALUE, found {in_one_line(param)}")
        extra[name.strip()] = _parameter(value.strip())
    try:
        return load_game(text, **extra)
    except ConfigError as error:
        raise usage(str(error)) from error


def _parameter(text: str) -> bool | int | float | str:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def needs_network(model: str) -> bool:
    """Return whether a --model names a network, and not playouts or the uniform evaluator."""
    return model not in ("uniform", "rollout") and not model.endswith(".npz")


def evaluator_for(
    game: Game,
    model: str | None,
    spec: Path | None,
    provider: str | None,
    device: int,
    *,
    named: str | None = None,
    others: Sequence[str] = (),
) -> Setup:
    """Return the evaluator that was asked for, else the game's bundled network, else playouts.

    Messages call it what it is ``named``, and tell the ``others`` that may stand there.
    """
    if model is None:
        return _default_evaluator(game, spec, provider, device)
    name, called = model, named or f"--model {model}"
    if not needs_network(name):
        if spec is not None or provider is not None:
            raise usage(f"--spec and --provider are for networks, found {called}")
        return Setup(name, as_evaluator(name))
    path = bundled_models().get(name, Path(name))
    if path == Path(name) and not path.exists():
        known = ("uniform", "rollout", *bundled_models(), *others)
        raise usage(
            f"{called} is neither a file nor one of: {', '.join(known)}{did_you_mean(name, known)}"
        )
    found = read_spec(spec)
    providers = None if provider is None else [provider]
    return Setup(name, OnnxEvaluator(path, found, providers, device_id=device))


def _default_evaluator(game: Game, spec: Path | None, provider: str | None, device: int) -> Setup:
    name = model_of_game(game)
    if name is None:
        playouts = evaluator_for(game, "rollout", spec, provider, device)
        return dataclasses.replace(playouts, about=_NO_NETWORK)
    network = evaluator_for(game, name, spec, provider, device)
    other = trained_for(name, game)
    about = (f"trained for {other}" if other else "", strength_of_model(name, game))
    return dataclasses.replace(network, about="; ".join(filter(None, about)))


_NO_NETWORK = (
    "random playouts: no network is bundled for this game, and without one the engine is weak on "
    "large boards"
)


def read_spec(path: Path | None) -> ModelSpec | None:
    """Return the spec in a JSON file."""
    if path is None:
        return None
    return ModelSpec.from_json(_read("--spec", path))


def _read(option: str, path: Path) -> str:
    try:
        return sys.stdin.read() if str(path) == "-" else read_limited(path).decode()
    except (OSError, UnicodeDecodeError) as error:
        raise usage(f"{option}: {unread(path, error)}") from error


def output_file(path: Path, source: Path | None = None) -> Path:
    """Return the path of a file to write.

    One that cannot be written, or that is the file to read, is wrong use.
    """
    try:
        check_output(path, () if source is None else (source,))
    except ConfigError as error:
        raise usage(str(error)) from error
    return path


def start_state(game: Game, moves: str, board: Path | None, to_move: int) -> State:
    """Return the position of the command line. One that cannot be is wrong use."""
    try:
        if board is None:
            state = game.new_initial_state()
        else:
            text = _read("--board", board)
            rows = [line.replace(" ", "") for line in text.splitlines() if line.strip()]
            state = game.state_from_board(rows, to_move)
        for word in moves.split():
            for move in _moves_of(state, word):
                state.apply_action(find_action(state, move))
    except ConfigError as error:
        raise usage(f"--board: {error}") from error
    except ValueError as error:  # IllegalActionError
        raise usage(f"--moves: {error}") from error
    return state


def _moves_of(state: State, word: str) -> list[str]:
    """Return the names that commas join; one that has commas itself, as x(0,0), stands alone."""
    names = [state.action_to_string(action).lower() for action in state.legal_actions()]
    return [word] if word.lower() in names else [name for name in word.split(",") if name]


def find_action(state: State, text: str) -> int:
    """Return the action of a name, whatever its capitals. Raises IllegalActionError."""
    names = {state.action_to_string(action): action for action in state.legal_actions()}
    exact = names.get(text)
    if exact is not None:  # names may differ by capitals alone: bxc3 and Bxc3
        return exact
    alike = [action for name, action in names.items() if name.lower() == text.lower()]
    return alike[0] if len(alike) == 1 else state.string_to_action(text)


def config_from(file: Path | None, **settings: Any) -> SearchConfig:
    """Return the settings of a search: the file's, and above them those that were given.

    ``algorithm`` may be None: :func:`algorithm_for` says the default of an evaluator.
    """
    try:
        base = SearchConfig() if file is None else SearchConfig.from_toml(file)
        return base.replace(**{k: v for k, v in settings.items() if v is not None})
    except ConfigError as error:
        raise usage(str(error)) from error


def with_time_for_playouts(evaluator: Evaluator, config: SearchConfig) -> SearchConfig:
    """Return the settings, with seconds for playouts where no budget was given.

    Playouts know nothing of a position, so that the 800 simulations of a network are far too few.
    """
    given = config.simulations is not None or config.seconds is not None
    if given or config.deterministic or not isinstance(evaluator, RolloutEvaluator):
        return config
    return config.replace(seconds=_PLAYOUT_SECONDS)


def algorithm_for(evaluator: Evaluator, named: str | None, file: Path | None) -> str | None:
    """Return the algorithm that was named, else UCT for playouts; None leaves it to the file."""
    try:
        in_file = file is not None and "algorithm" in tomllib.loads(_read("--config", file))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise usage(f"--config {file}: expected TOML: {error}") from error
    if named is not None or in_file or not isinstance(evaluator, RolloutEvaluator):
        return named
    return "uct"


def threads_of(config: SearchConfig) -> int:
    """Return how many workers these settings mean here."""
    return config.threads or machine.cores()


def budget(config: SearchConfig) -> tuple[int | None, float | None]:
    """Return the simulations and the seconds of one search."""
    if config.simulations is None and config.seconds is None:
        return 800, None
    return config.simulations, config.seconds


Progress: TypeAlias = Callable[[Any], None]


def settings_dict(config: SearchConfig) -> dict[str, Any]:
    """Return the settings as plain values."""
    return config.to_dict()
