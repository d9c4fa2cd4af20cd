"""Shared options, grouped by game, position, evaluator and search."""

from __future__ import annotations

import copy
import dataclasses
import functools
import inspect
import sys
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypeAlias, get_args, get_type_hints

from typer import Argument, Option
from typer.models import OptionInfo

from pyengine.base.checks import short_repr
from pyengine.base.files import check_output, read_limited, unread
from pyengine.cli import INTERRUPTED
from pyengine.cli.positions import find_action
from pyengine.errors import ConfigError, IllegalActionError
from pyengine.eval.bundled import model_of_game, network_file, strength_of_model, trained_for
from pyengine.eval.evaluators import (
    NAMED,
    Evaluator,
    OnnxEvaluator,
    RolloutEvaluator,
    as_evaluator,
    unknown_evaluator,
)
from pyengine.eval.spec import ModelSpec
from pyengine.games.game import Game, State, load_game
from pyengine.search.config import SearchConfig

_PLAYOUT_SECONDS = 3.0  # default per move
_NO_NETWORK = (
    "random playouts: no network is bundled for this game, and without one the engine is weak on "
    "large boards"
)

_SETTINGS = {field.name: field for field in SearchConfig.fields()}


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Return a function for typer in which each option group is replaced by its options.

    Ctrl-C is handled here because typer versions differ in its exit status.
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
    def run(**values: Any) -> None:
        for name, kind in groups.items():
            values[name] = kind(**{f.name: values.pop(f.name) for f in dataclasses.fields(kind)})
        try:
            function(**values)
        except KeyboardInterrupt:
            raise SystemExit(INTERRUPTED) from None

    run.__signature__ = signature.replace(parameters=options)  # type: ignore[attr-defined]
    run.__annotations__ = {option.name: option.annotation for option in options}
    return run


def _options_of(group: type) -> Iterator[inspect.Parameter]:
    """Return the fields of a group as parameters, shown by --help in a separate panel."""
    hints = get_type_hints(group, include_extras=True)
    for field in dataclasses.fields(group):
        kind, option = get_args(hints[field.name])
        if isinstance(option, OptionInfo):
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
    """Return the option for a search setting, with its meaning as help text."""
    meaning = _SETTINGS[name].meaning.replace("``", "")
    help_ = meaning[0].upper() + meaning[1:]
    return Option(f"--{name.replace('_', '-')}", *flags, help=help_)


def search_settings(option: str, texts: list[str] | None) -> dict[str, Any]:
    """Parse a repeatable NAME=VALUE of search settings; "none" means None if that is allowed."""
    values = pairs(option, texts)
    for name, value in values.items():
        if value == "none" and name in _SETTINGS and _SETTINGS[name].optional:
            values[name] = None
    return values


# --- single options

GameArgument: TypeAlias = Annotated[
    str,
    Argument(
        help="A game such as connect_four or 'gomoku(board_size=9)', an OpenSpiel game "
        "(pyspiel:GAME), or your own (package.module:NAME or FILE.py:NAME)."
    ),
]
ParamOption: TypeAlias = Annotated[
    list[str] | None,
    Option("--param", "-p", metavar="NAME=VALUE", help="A game parameter; repeatable."),
]
SpecOption: TypeAlias = Annotated[
    Path | None, Option(help="JSON file with the network's ModelSpec.", dir_okay=False)
]
ProviderOption: TypeAlias = Annotated[
    str | None, Option(help="Run the network on cpu, cuda or tensorrt.")
]
DeviceOption: TypeAlias = Annotated[int, Option(min=0, help="GPU number.")]
SimulationsOption: TypeAlias = Annotated[int | None, setting("simulations", "-n")]
SecondsOption: TypeAlias = Annotated[float | None, setting("seconds", "-s")]
ThreadsOption: TypeAlias = Annotated[int | None, setting("threads", "-t")]
SeedOption: TypeAlias = Annotated[int | None, setting("seed")]
SetOption: TypeAlias = Annotated[
    list[str] | None,
    Option("--set", metavar="NAME=VALUE", help="Any field of SearchConfig; repeatable."),
]
JsonOption: TypeAlias = Annotated[bool, Option("--json", help="Print JSON.")]


# --- groups


@dataclass(frozen=True, kw_only=True)
class GameOptions:
    """The options that select a game."""

    panel: ClassVar = "Game"
    game: GameArgument
    param: ParamOption = None

    def load(self) -> Game:
        """Load the game."""
        return game_from(self.game, self.param)


@dataclass(frozen=True, kw_only=True)
class PositionOptions(GameOptions):
    """The options that select a position of a game."""

    panel: ClassVar = "Position"
    moves: Annotated[str, Option(help="Moves played from the start, for example '4 4 3'.")] = ""
    board: Annotated[
        Path | None,
        Option(
            help="File with the board, top row first: X and O are the players, '.' is empty. "
            "'-' reads standard input.",
            allow_dash=True,
            dir_okay=False,
        ),
    ] = None
    to_move: Annotated[
        int, Option(min=0, max=1, help="Player to move on --board: 0 (X) or 1 (O).")
    ] = 0

    def state_of(self, game: Game) -> State:
        """Set up the position. Raises ConfigError or IllegalActionError."""
        if self.board is None:
            state = game.new_initial_state()
        else:
            rows = [line.replace(" ", "") for line in read_text(self.board).splitlines()]
            state = game.state_from_board([row for row in rows if row], self.to_move)
        for word in self.moves.split():
            for move in _moves_of(state, word):
                try:
                    state.apply_action(find_action(state, move))
                except IllegalActionError as error:
                    raise IllegalActionError(f"--moves: {error}") from error
        return state


def _moves_of(state: State, word: str) -> list[str]:
    """Split a word at commas unless it is itself a move name, such as x(0,0)."""
    names = [state.action_to_string(action).lower() for action in state.legal_actions()]
    return [word] if word.lower() in names else [name for name in word.split(",") if name]


@dataclass(frozen=True, kw_only=True)
class EvaluatorOptions:
    """The options that select an evaluator."""

    panel: ClassVar = "Evaluator"
    model: Annotated[
        str | None,
        Option(
            "--model",
            "-m",
            help="A bundled network, a file MODEL.onnx, 'rollout', a rollout policy POLICY.npz, or "
            "'uniform'. Default: the bundled network for the game or its board, else rollout.",
        ),
    ] = None
    spec: SpecOption = None
    provider: ProviderOption = None
    device: DeviceOption = 0

    def model_for(self, game: Game) -> str:
        """Return the name of the requested evaluator or of the default for a game."""
        return self.model or model_of_game(game) or "rollout"

    def setup(self, game: Game) -> Setup:
        """Open the requested evaluator, else the game's bundled network, else playouts."""
        name = self.model_for(game)
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
    """An evaluator with its name in reports and a note for the user."""

    name: str
    evaluator: Evaluator
    about: str = ""


@dataclass(frozen=True, kw_only=True)
class SearchOptions:
    """The options of a search."""

    panel: ClassVar = "Search"
    simulations: SimulationsOption = None
    seconds: SecondsOption = None
    threads: ThreadsOption = None
    algorithm: Annotated[
        str | None,
        Option(help="puct, gumbel, uct or flat_ucb. Default: uct with playouts, else puct."),
    ] = None
    config: Annotated[
        Path | None, Option(help="TOML file with a SearchConfig.", dir_okay=False)
    ] = None
    changes: SetOption = None

    def config_for(self, evaluator: Evaluator, **more: Any) -> SearchConfig:
        """Return the settings from the file, overridden by the options and by ``more``."""
        base = SearchConfig() if self.config is None else SearchConfig.from_toml(self.config)
        changes = drop_none(
            simulations=self.simulations,
            seconds=self.seconds,
            threads=self.threads,
            algorithm=self.algorithm,
            **more,
        )
        changes |= search_settings("--set", self.changes)
        in_file = {} if self.config is None else tomllib.loads(self.config.read_text("utf-8"))
        if isinstance(evaluator, RolloutEvaluator) and "algorithm" not in {**changes, **in_file}:
            changes["algorithm"] = "uct"
        return base.replace(**changes)


def with_time_for_playouts(evaluator: Evaluator, config: SearchConfig) -> SearchConfig:
    """Set a time budget for playouts if none is given.

    Playouts are so weak that a network's default of 800 simulations is far too few.
    """
    has_budget = config.simulations is not None or config.seconds is not None
    if has_budget or config.deterministic or not isinstance(evaluator, RolloutEvaluator):
        return config
    return config.replace(seconds=_PLAYOUT_SECONDS)


# --- option values


def drop_none(**options: Any) -> dict[str, Any]:
    """Return the options that are not None."""
    return {name: value for name, value in options.items() if value is not None}


def game_from(text: str, params: list[str] | None = None) -> Game:
    """Load the game named on the command line."""
    return load_game(text, **pairs("--param", params))


def pairs(option: str, texts: list[str] | None) -> dict[str, Any]:
    """Parse a repeatable NAME=VALUE into a dict."""
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
    """Return whether a --model is a network rather than playouts or the uniform evaluator."""
    return model not in NAMED and not model.endswith(".npz")


def evaluator_for(
    model: str, spec: Path | None = None, provider: str | None = None, device: int = 0
) -> Evaluator:
    """Open an evaluator by name or file."""
    if not needs_network(model):
        if spec is not None or provider is not None:
            raise ConfigError(f"--spec and --provider are for networks, got {model}")
        return as_evaluator(model)
    path = network_file("model", model)
    if not path.exists():
        raise unknown_evaluator(model)
    providers = None if provider is None else [provider]
    return OnnxEvaluator(path, read_spec(spec), providers, device_id=device)


def read_spec(path: Path | None) -> ModelSpec | None:
    """Read a ModelSpec from a JSON file."""
    return None if path is None else ModelSpec.from_json(read_text(path))


def read_text(path: Path) -> str:
    """Read a file, or standard input if the path is ``-``."""
    try:
        return sys.stdin.read() if str(path) == "-" else read_limited(path).decode()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(unread(path, error)) from error


def output_file(path: Path, source: Path | None = None) -> Path:
    """Return the path; raise ConfigError if it cannot be written or is the source."""
    check_output(path, () if source is None else (source,))
    return path
