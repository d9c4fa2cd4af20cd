"""``pyengine match``: play two players against each other."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from typer import Argument, Option

from pyengine.base.checks import short_repr
from pyengine.cli.clock import CLOCK_HELP, clock_from
from pyengine.cli.options import (
    GameOptions,
    JsonOption,
    ProviderOption,
    SearchOptions,
    evaluator_for,
    needs_network,
    output_file,
    search_settings,
)
from pyengine.cli.output import print_json, progress_bar, show, when_stopped
from pyengine.errors import ConfigError
from pyengine.eval.bundled import required_network
from pyengine.games.game import Game
from pyengine.match import (
    GomocupPlayer,
    GtpPlayer,
    MatchInterrupted,
    MatchResult,
    Openings,
    RandomPlayer,
    Sprt,
    UgiPlayer,
    ValuePlayer,
)
from pyengine.match import match as play_match
from pyengine.match.play import default_games
from pyengine.search.engine import Engine
from pyengine.search.levels import level_config

_PLAYER = (
    "A player that searches (a bundled network, MODEL.onnx, rollout, POLICY.npz or uniform), "
    "level:LEVEL (see pyengine games GAME), value:MODEL (plays the move with the best value), "
    "random, or another program: gtp:COMMAND ('gtp:gnugo --mode gtp'), gomocup:COMMAND or "
    "ugi:COMMAND."
)
_LEVEL, _VALUE = "level:", "value:"
_PROTOCOLS = ("gtp:", "gomocup:", "ugi:")
_Program: TypeAlias = GtpPlayer | GomocupPlayer | UgiPlayer
_Side: TypeAlias = Engine | ValuePlayer | RandomPlayer | _Program
_Settings: TypeAlias = Annotated[
    list[str] | None,
    Option(metavar="NAME=VALUE", help="A search setting of this player alone; repeatable."),
]


def match(
    game_options: GameOptions,
    a: Annotated[str, Argument(help=_PLAYER)],
    b: Annotated[str, Argument(help="The other player, specified like the first.")],
    settings: SearchOptions,
    games: Annotated[
        int | None,
        Option(
            "--games",
            "-g",
            min=1,
            help="Number of games. Default: 100, or with --sprt enough to decide 90 % of tests.",
        ),
    ] = None,
    set_a: _Settings = None,
    set_b: _Settings = None,
    provider: ProviderOption = None,
    seed: Annotated[int, Option(min=0, help="Seed for the openings.")] = 0,
    plies: Annotated[int, Option(min=0, help="Number of random opening moves.")] = 4,
    max_value: Annotated[
        float | None, Option(help="Use only openings with at most this absolute value.")
    ] = None,
    openings_evaluator: Annotated[
        str | None, Option(help="Network that computes the value for --max-value.")
    ] = None,
    sprt: Annotated[
        str | None,
        Option(metavar="ELO0,ELO1", help="Stop as soon as either hypothesis is accepted."),
    ] = None,
    record: Annotated[
        Path | None, Option(help="Save finished games here and resume from them.", dir_okay=False)
    ] = None,
    concurrent: Annotated[int | None, Option(min=1, help="Number of games played at once.")] = None,
    max_plies: Annotated[
        int | None, Option(min=1, help="Declare a draw after this many plies.")
    ] = None,
    clock: Annotated[str | None, Option(metavar="TIME", help=CLOCK_HELP)] = None,
    as_json: JsonOption = False,
) -> None:
    """Play a match and print score, Elo and confidence intervals. Colours alternate.

    pyengine match connect_four connect4 rollout --games 20
    pyengine match go9 level:6 level:5 --games 100 --record games.jsonl
    pyengine match othello model.onnx othello --sprt 0,50 --record sprt.jsonl
    """
    game = game_options.load_for(a, b)
    sides = (
        _side(game, a, settings, set_a, provider, (seed, 0), concurrent),
        _side(game, b, settings, set_b, provider, (seed, 1), concurrent),
    )
    test = None if sprt is None else _sprt(sprt)
    network = openings_evaluator and evaluator_for(openings_evaluator)
    openings = Openings(plies=plies, evaluator=network, max_value=max_value)
    with when_stopped(_how_to_continue(record)):
        try:
            result = _play(
                *sides,
                game=game,
                games=games or default_games(test),
                seed=seed,
                concurrent_games=concurrent,
                max_plies=max_plies,
                clock=None if clock is None else clock_from(clock),
                record=None if record is None else output_file(record),
                names=(a, b) if a != b else (f"{a} (a)", f"{b} (b)"),
                openings=openings,
                sprt=test,
            )
        except MatchInterrupted as stop:
            _print(stop.result, as_json)
            raise
        _print(result, as_json)


def _play(a: _Side, b: _Side, *, games: int, **arguments: Any) -> MatchResult:
    """Play a match with a progress bar, then close engines and programs."""
    with ExitStack() as stack, progress_bar(games, _describe) as on_progress:
        for side in (a, b):
            if isinstance(side, Engine | _Program):
                stack.enter_context(side)
        return play_match(a, b, games=games, on_progress=on_progress, **arguments)


def _side(
    game: Game,
    model: str,
    common: SearchOptions,
    overrides: _Settings,
    provider: str | None,
    seed: tuple[int, int],
    concurrent: int | None,
) -> _Side:
    """Create a player: an engine with the common settings and its overrides, or another player.

    ``seed`` is for random moves; ``concurrent`` copies of another program run.
    """
    if overrides and (model == "random" or model.startswith((_LEVEL, _VALUE, *_PROTOCOLS))):
        raise ConfigError(f"--set-a and --set-b need a player that searches, got {model}")
    if model == "random":
        return RandomPlayer(seed)
    if model.startswith(_PROTOCOLS):
        return _program(model, common.seconds or 1.0, concurrent or 1)
    if model.startswith(_VALUE):
        return ValuePlayer(evaluator_for(model.removeprefix(_VALUE), provider=provider))
    if model.startswith(_LEVEL):
        return _at_level(game, model.removeprefix(_LEVEL), common, provider)
    evaluator = evaluator_for(model, provider=provider if needs_network(model) else None)
    settings = search_settings("--set-a, --set-b", overrides)
    config = common.config_for(evaluator).replace(**settings)
    return Engine(game, evaluator, config=config)


def _at_level(game: Game, level: str, common: SearchOptions, provider: str | None) -> Engine:
    """Create a player at a level of the game, whose budget replaces the common one."""
    changes = level_config(game, level)
    name = required_network(None, game)
    evaluator = evaluator_for(name, provider=provider)
    return Engine(game, evaluator, config=common.config_for(evaluator).replace(**changes))


def _program(player: str, seconds: float, processes: int) -> _Program:
    """Create the player ``PROTOCOL:COMMAND``; GTP has no command for the seconds of a move."""
    protocol, _, command = player.partition(":")
    if protocol == "gtp":
        return GtpPlayer(command, processes=processes)
    kind = GomocupPlayer if protocol == "gomocup" else UgiPlayer
    return kind(command, seconds=seconds, processes=processes)


def _sprt(text: str) -> Sprt:
    try:
        low, high = map(float, text.split(","))
    except ValueError:
        raise ConfigError(f"--sprt: expected ELO0,ELO1, got {short_repr(text)}") from None
    return Sprt(elo0=low, elo1=high)


def _describe(result: MatchResult) -> tuple[float, str]:
    if not result.games:
        return 0, ""
    low, high = result.score_interval
    return result.games, f"score {result.score:.1%} [{low:.1%}, {high:.1%}]"


def _print(result: MatchResult, as_json: bool) -> None:
    if as_json:
        print_json(result.to_dict())
    else:
        show(str(result))


def _how_to_continue(record: Path | None) -> str:
    if record is None:
        return "the games are lost; use --record FILE to save and resume them"
    return (
        f"the same command resumes from the games in {record}; unfinished games restart, so a "
        "smaller --concurrent loses less"
    )
