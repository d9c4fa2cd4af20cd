"""Shared options, grouped by game, position, evaluator and search."""

from __future__ import annotations

import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, TypeAlias

from rich.text import Text
from typer import Argument, Option

from pyengine.base.checks import short_repr
from pyengine.base.files import check_output, read_limited, unread
from pyengine.cli.output import console, say
from pyengine.cli.positions import legal_action, player_named
from pyengine.data.game_file import read_game_file
from pyengine.errors import ConfigError, IllegalActionError
from pyengine.eval.bundled import (
    bundled_models,
    default_network,
    load_named,
    network_file,
    strength_in_words,
    strength_of_model,
    trained_for,
    with_trained_komi,
)
from pyengine.eval.evaluators import (
    NAMED,
    Evaluator,
    OnnxEvaluator,
    RolloutEvaluator,
    as_evaluator,
    unknown_evaluator,
)
from pyengine.eval.run_folder import player_of_run
from pyengine.eval.spec import ModelSpec
from pyengine.games.game import Game, State
from pyengine.games.named_games import parameters_of
from pyengine.search.config import SearchConfig

_PLAYOUT_SECONDS = 3.0  # default per move
_NO_NETWORK = (
    "random playouts: no network is bundled for this game, and without one the engine is weak"
)

_SETTINGS = {field.name: field for field in SearchConfig.fields()}


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
JsonOption: TypeAlias = Annotated[
    bool, Option("--json", help="Print JSON.", rich_help_panel="Output")
]


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

    def load_for(self, *models: str | None) -> Game:
        """Load the game to play with bundled networks (None = the default one).

        The komi, if it is not given, is the one that the first of them was trained with.
        """
        game = self.load()
        if game.name != "go" or not game.has_board:
            return game
        if "komi" in parameters_of(self.game, pairs("--param", self.param)):
            return game
        names = [model or default_network(self.game, game) for model in models]
        name = next((name for name in names if name in bundled_models()), None)
        return game if name is None else with_trained_komi(name, game)


@dataclass(frozen=True, kw_only=True)
class PositionOptions(GameOptions):
    """The options that select a position of a game."""

    panel: ClassVar = "Position"
    moves: Annotated[
        str, Option(help="Moves played from the start, or after --load, for example '4 4 3'.")
    ] = ""
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
        str,
        Option(metavar="PLAYER", help="Player to move on --board: black, white, red, x, o, ..."),
    ] = "x"

    load_file: Annotated[
        Path | None,
        Option(
            "--load",
            dir_okay=False,
            help="Start from a game in a file: SGF, GGF, a saved game or a list of moves; with the "
            "file's board and rules if GAME has no parameters.",
        ),
    ] = None
    at: Annotated[
        int | None, Option(min=0, help="Start after this many moves of --load. Default: all.")
    ] = None

    def load(self) -> Game:
        """Load the game, with the parameters in the file of --load unless others are given."""
        game = super().load()
        if self.load_file is None or self.param or "(" in self.game:
            return game
        return read_game_file(self.load_file, game).game

    def load_for(self, *models: str | None) -> Game:
        """Load the game as above; the komi of a file is kept."""
        return self.load() if self.load_file else super().load_for(*models)

    def state_of(self, game: Game) -> State:
        """Set up the position. Raises ConfigError, DataError or IllegalActionError."""
        if self.load_file is not None:
            state = self._state_in_file(game, self.load_file)
        elif self.at is not None:
            raise ConfigError("--at requires --load")
        elif self.board is None:
            state = game.new_initial_state()
        else:
            rows = [line.replace(" ", "") for line in read_text(self.board).splitlines()]
            player = player_named("--to-move", self.to_move, game)
            state = game.state_from_board([row for row in rows if row], player)
        self.play_moves(state)
        return state

    def _state_in_file(self, game: Game, path: Path) -> State:
        if self.board is not None:
            raise ConfigError("--load cannot be combined with --board")
        loaded = read_game_file(path, game, exact=True)
        for note in loaded.notes:
            say(console(stderr=True), Text(f"{path.name}: {note}"))
        return loaded.positions[: None if self.at is None else self.at + 1][-1]

    def play_moves(self, state: State) -> None:
        """Play the moves of --moves on a state. Raises IllegalActionError."""
        for word in self.moves.split():
            for move in _moves_of(state, word):
                try:
                    state.apply_action(legal_action(state, move))
                except IllegalActionError as error:
                    raise IllegalActionError(f"--moves: {error}") from error


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
            help="A bundled network, a file MODEL.onnx, a directory of pyengine train, 'rollout', "
            "a rollout policy POLICY.npz, or 'uniform'. Default: the bundled network for the game "
            "or its board, else rollout.",
        ),
    ] = None
    spec: SpecOption = None
    provider: ProviderOption = None
    device: DeviceOption = 0

    def model_for(self, game: Game, text: str = "") -> str:
        """Return the name of the requested evaluator, or of the default for a game.

        ``text``: the name that the game was loaded by, which may be a network's.
        """
        return self.model or default_network(text, game) or "rollout"

    def setup(self, game: Game, text: str = "") -> Setup:
        """Open the requested evaluator, else the bundled network, else playouts.

        ``text``: as for :meth:`model_for`.
        """
        name = self.model_for(game, text)
        evaluator = evaluator_for(name, self.spec, self.provider, self.device)
        if self.model is not None:
            return Setup(name, evaluator)
        if not needs_network(name):
            return Setup(name, evaluator, _NO_NETWORK, _NO_NETWORK)
        other = trained_for(name, game)
        trained = f"trained for {other}" if other else ""
        about = "; ".join(filter(None, (trained, strength_of_model(name, game))))
        return Setup(name, evaluator, about, trained or strength_in_words(name))


@dataclass(frozen=True)
class Setup:
    """An evaluator with its name in reports, and notes on its strength."""

    name: str
    evaluator: Evaluator
    about: str = ""
    for_players: str = ""


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
            return _with_uct(base, changes)
        return base.replace(**changes)


def _with_uct(base: SearchConfig, changes: dict[str, Any]) -> SearchConfig:
    """Change the settings and the algorithm; an error names the default if only that is wrong."""
    try:
        return base.replace(**changes, algorithm="uct")
    except ConfigError as error:
        base.replace(**changes)
        raise ConfigError(
            f"{error}; the default with playouts is uct: add --algorithm puct"
        ) from error


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
    return load_named(text, **pairs("--param", params))


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
    """Open an evaluator by name, file or the folder of a training run."""
    model = player_of_run(model)
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
