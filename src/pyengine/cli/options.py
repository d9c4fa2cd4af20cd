"""Options that commands share, in groups: a game, a position, an evaluator, a search."""

from __future__ import annotations

import copy
import dataclasses
import functools
import inspect
import sys
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypeAlias, get_args, get_type_hints

import typer  # noqa: TID253  # this package is the extra's

from pyengine.base.arguments import did_you_mean, short_repr
from pyengine.base.files import check_output, read_limited, unread
from pyengine.cli import INTERRUPTED
from pyengine.cli.positions import find_action
from pyengine.errors import ConfigError, IllegalActionError
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

_PLAYOUT_SECONDS = 3.0  # for a move, by default
_NO_NETWORK = (
    "random playouts: no network is bundled for this game, and without one the engine is weak on "
    "large boards"
)

_SETTINGS = {field.name: field for field in SearchConfig.fields()}


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Return a function as typer takes it: in place of each group of options stand its options.

    Ctrl-C gets its exit status here, since typer's versions differ in theirs.
    """
    signature = inspect.signature(function, eval_str=True)
    groups: dict[str, type] = {}
    options: list[inspect.Parameter] = []
    for parameter in signature.parameters.values():
        if dataclasses.is_dataclass(kind := parameter.annotation):
            groups[parameter.name] = kind  # type: ignore[assignment]
            options += _options_of(kind)  # type: ignore[arg-type]
        else:
            options.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))

    @functools.wraps(function)
    def run(**given: Any) -> None:
        for name, kind in groups.items():
            given[name] = kind(**{f.name: given.pop(f.name) for f in dataclasses.fields(kind)})
        try:
            function(**given)
        except KeyboardInterrupt:
            raise SystemExit(INTERRUPTED) from None

    run.__signature__ = signature.replace(parameters=options)  # type: ignore[attr-defined]
    run.__annotations__ = {option.name: option.annotation for option in options}
    return run


def _options_of(group: type) -> Iterator[inspect.Parameter]:
    """Return the fields of a group as parameters, which --help shows in a panel of their own."""
    hints = get_type_hints(group, include_extras=True)
    for field in dataclasses.fields(group):
        kind, option = get_args(hints[field.name])
        if isinstance(option, typer.models.OptionInfo):
            option = copy.copy(option)
            option.rich_help_panel = group.panel  # type: ignore[attr-defined]
        missing = field.default is dataclasses.MISSING
        yield inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if missing else field.default,
            annotation=Annotated[kind, option],
        )


def setting(name: str, *flags: str) -> Any:
    """Return the option for a setting of a search, with its meaning as help."""
    meaning = _SETTINGS[name].meaning.replace("``", "")
    help_ = meaning[0].upper() + meaning[1:]
    return typer.Option(f"--{name.replace('_', '-')}", *flags, help=help_)


def search_settings(option: str, texts: list[str] | None) -> dict[str, Any]:
    """Return the settings of a repeatable NAME=VALUE; "none" is None if the setting may be None."""
    values = pairs(option, texts)
    for name, value in values.items():
        if value == "none" and name in _SETTINGS and _SETTINGS[name].optional:
            values[name] = None
    return values


# --- options of several commands, alone

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
SpecOption: TypeAlias = Annotated[
    Path | None,
    typer.Option("--spec", help="JSON file with the ModelSpec of the network.", dir_okay=False),
]
ProviderOption: TypeAlias = Annotated[
    str | None, typer.Option("--provider", help="cpu, cuda or tensorrt; must be available.")
]
DeviceOption: TypeAlias = Annotated[int, typer.Option("--device", min=0, help="Which GPU.")]
SimulationsOption: TypeAlias = Annotated[int | None, setting("simulations", "-n")]
SecondsOption: TypeAlias = Annotated[float | None, setting("seconds", "-s")]
ThreadsOption: TypeAlias = Annotated[int | None, setting("threads", "-t")]
SeedOption: TypeAlias = Annotated[int | None, setting("seed")]
SetOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Any field of SearchConfig; repeatable."),
]
JsonOption: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON.")]


# --- groups


@dataclass(frozen=True, kw_only=True)
class GameOptions:
    """Which game."""

    panel: ClassVar = "Game"
    game: GameArgument
    param: ParamOption = None

    def load(self) -> Game:
        """Return the game."""
        return game_from(self.game, self.param)


@dataclass(frozen=True, kw_only=True)
class PositionOptions(GameOptions):
    """Which position of which game."""

    panel: ClassVar = "Position"
    moves: Annotated[
        str, typer.Option("--moves", help="Moves played from the start, for example '4 4 3'.")
    ] = ""
    board: Annotated[
        Path | None,
        typer.Option(
            "--board",
            help="File with the board, top row first: X and O for the players, '.' for empty "
            "points. '-' reads the standard input.",
            allow_dash=True,
            dir_okay=False,
        ),
    ] = None
    to_move: Annotated[
        int,
        typer.Option("--to-move", min=0, max=1, help="Player to move on --board: 0 (X) or 1 (O)."),
    ] = 0

    def state_of(self, game: Game) -> State:
        """Return the position. Raises ConfigError or IllegalActionError."""
        if self.board is None:
            state = game.new_initial_state()
        else:
            rows = [line.replace(" ", "") for line in _read(self.board).splitlines()]
            state = game.state_from_board([row for row in rows if row], self.to_move)
        for word in self.moves.split():
            for move in _moves_of(state, word):
                try:
                    state.apply_action(find_action(state, move))
                except IllegalActionError as error:
                    raise IllegalActionError(f"--moves: {error}") from error
        return state


def _moves_of(state: State, word: str) -> list[str]:
    """Return the names that commas join; a name that has commas itself, as x(0,0), is one."""
    names = [state.action_to_string(action).lower() for action in state.legal_actions()]
    return [word] if word.lower() in names else [name for name in word.split(",") if name]


@dataclass(frozen=True, kw_only=True)
class EvaluatorOptions:
    """Who evaluates."""

    panel: ClassVar = "Evaluator"
    model: Annotated[
        str | None,
        typer.Option(
            "--model",
            "-m",
            help="A bundled network, a file MODEL.onnx, 'rollout', a rollout policy POLICY.npz, or "
            "'uniform'. Default: the bundled network of the game or its board, else rollout.",
        ),
    ] = None
    spec: SpecOption = None
    provider: ProviderOption = None
    device: DeviceOption = 0

    def setup(self, game: Game) -> Setup:
        """Return the evaluator that was asked for, else the game's network, else playouts."""
        name = self.model or model_of_game(game) or "rollout"
        evaluator = evaluator_for(name, self.spec, self.provider, self.device)
        if self.model is not None:
            return Setup(name, evaluator)
        if not needs_network(name):
            return Setup(name, evaluator, _NO_NETWORK)
        other = trained_for(name, game)
        about = (f"trained for {other}" if other else "", strength_of_model(name, game))
        return Setup(name, evaluator, "; ".join(filter(None, about)))


@dataclass(frozen=True)
class Setup:
    """Who evaluates, how a report names it, and what a person should know of it."""

    name: str
    evaluator: Evaluator
    about: str = ""


@dataclass(frozen=True, kw_only=True)
class SearchOptions:
    """How to search."""

    panel: ClassVar = "Search"
    simulations: SimulationsOption = None
    seconds: SecondsOption = None
    threads: ThreadsOption = None
    algorithm: Annotated[
        str | None,
        typer.Option(
            "--algorithm",
            help="puct, gumbel, uct or flat_ucb. Default: uct with playouts, else puct.",
        ),
    ] = None
    config: Annotated[
        Path | None, typer.Option("--config", help="TOML file of a SearchConfig.", dir_okay=False)
    ] = None
    changes: SetOption = None

    def config_for(self, evaluator: Evaluator, **more: Any) -> SearchConfig:
        """Return the settings: the file's, and above them those that were given and ``more``."""
        base = SearchConfig() if self.config is None else SearchConfig.from_toml(self.config)
        options = {
            "simulations": self.simulations,
            "seconds": self.seconds,
            "threads": self.threads,
            "algorithm": self.algorithm,
            **more,
        }
        given = {name: value for name, value in options.items() if value is not None}
        given |= search_settings("--set", self.changes)
        in_file = {} if self.config is None else tomllib.loads(self.config.read_text("utf-8"))
        if isinstance(evaluator, RolloutEvaluator) and "algorithm" not in {**given, **in_file}:
            given["algorithm"] = "uct"
        return base.replace(**given)


def with_time_for_playouts(evaluator: Evaluator, config: SearchConfig) -> SearchConfig:
    """Return the settings, with seconds if playouts evaluate and there is no budget.

    Playouts know nothing of a position: the 800 simulations of a network are far too few.
    """
    given = config.simulations is not None or config.seconds is not None
    if given or config.deterministic or not isinstance(evaluator, RolloutEvaluator):
        return config
    return config.replace(seconds=_PLAYOUT_SECONDS)


# --- values of options


def game_from(text: str, params: list[str] | None) -> Game:
    """Return the game of the command line, the engine's or a user's."""
    return load_game(text, **pairs("--param", params))


def pairs(option: str, texts: list[str] | None) -> dict[str, Any]:
    """Return the values of a repeatable NAME=VALUE by their names."""
    values: dict[str, Any] = {}
    for text in texts or []:
        name, separator, value = text.partition("=")
        if not separator or not name:
            raise ConfigError(f"{option}: expected NAME=VALUE, got {short_repr(text)}")
        values[name.strip()] = _value(value.strip())
    return values


def _value(text: str) -> Any:
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
    model: str,
    spec: Path | None = None,
    provider: str | None = None,
    device: int = 0,
    *,
    others: Sequence[str] = (),
) -> Evaluator:
    """Return the evaluator of a name or a file; a message lists the ``others`` allowed there."""
    if not needs_network(model):
        if spec is not None or provider is not None:
            raise ConfigError(f"--spec and --provider are for networks, got {model}")
        return as_evaluator(model)
    path = bundled_models().get(model, Path(model))
    if path == Path(model) and not path.exists():
        known = ("uniform", "rollout", *bundled_models(), *others)
        raise ConfigError(
            f"{model} is neither a file nor one of: {', '.join(known)}{did_you_mean(model, known)}"
        )
    providers = None if provider is None else [provider]
    return OnnxEvaluator(path, read_spec(spec), providers, device_id=device)


def read_spec(path: Path | None) -> ModelSpec | None:
    """Return the spec in a JSON file."""
    return None if path is None else ModelSpec.from_json(_read(path))


def _read(path: Path) -> str:
    try:
        return sys.stdin.read() if str(path) == "-" else read_limited(path).decode()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(unread(path, error)) from error


def output_file(path: Path, source: Path | None = None) -> Path:
    """Return the path of a file to write; raise ConfigError if it cannot be, or is the source."""
    check_output(path, () if source is None else (source,))
    return path
