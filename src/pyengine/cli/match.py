"""``pyengine match``: games between two players."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer  # noqa: TID253  # this package is the extra's
from rich.text import Text  # noqa: TID253

from pyengine.base.arguments import in_one_line
from pyengine.cli import common
from pyengine.cli.progress import games_bar
from pyengine.errors import ConfigError
from pyengine.eval.evaluators import Evaluator
from pyengine.games.game import Game
from pyengine.match import (
    MatchInterrupted,
    MatchResult,
    Openings,
    RandomPlayer,
    Sprt,
    ValuePlayer,
)
from pyengine.match import match as play_match
from pyengine.match.statistics import default_games
from pyengine.search.config import SearchConfig
from pyengine.search.engine import Engine

__all__ = ["match"]


# --- options: of a side, of the openings, of the match

_SetA: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--set-a", metavar="NAME=VALUE", help="A search setting of a; repeatable."),
]
_SetB: TypeAlias = Annotated[
    list[str] | None, typer.Option("--set-b", metavar="NAME=VALUE", help="Likewise of b.")
]
_SpecA: TypeAlias = Annotated[
    Path | None, typer.Option("--spec-a", help="JSON file with a's ModelSpec.", dir_okay=False)
]
_SpecB: TypeAlias = Annotated[
    Path | None, typer.Option("--spec-b", help="Likewise b's.", dir_okay=False)
]
_Seed: TypeAlias = Annotated[int, typer.Option("--seed", min=0, help="Of the openings.")]
_Plies: TypeAlias = Annotated[
    int, typer.Option("--plies", min=0, help="Random moves at the start.")
]
_OpeningsEvaluator: TypeAlias = Annotated[
    str | None,
    typer.Option("--openings-evaluator", help="Network that evaluates openings; see the next two."),
]
_MaxValue: TypeAlias = Annotated[
    float | None,
    typer.Option("--max-value", help="Keep openings of at most this value by that network."),
]
_ByPolicy: TypeAlias = Annotated[
    bool,
    typer.Option("--policy-openings", help="Opening moves by the policy of that network."),
]
_Games: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--games",
        "-g",
        min=1,
        help="How many; by default 100, or with --sprt enough to decide 90 % of tests.",
    ),
]
_Sprt: TypeAlias = Annotated[
    str | None,
    typer.Option("--sprt", metavar="ELO0,ELO1", help="End as soon as one of the two is accepted."),
]
_Record: TypeAlias = Annotated[
    Path | None,
    typer.Option("--record", help="Keep finished games here, and go on from it.", dir_okay=False),
]
_Concurrent: TypeAlias = Annotated[
    int | None, typer.Option("--concurrent", min=1, help="Games at once.")
]
_MaxPlies: TypeAlias = Annotated[
    int | None,
    typer.Option("--max-plies", min=1, help="A game of so many plies without an end is a draw."),
]

_PLAYER = (
    "A bundled network, MODEL.onnx, rollout, POLICY.npz or uniform, which search; value:MODEL "
    "plays the move whose position it values most, random any move."
)
_VALUE = "value:"


def match(
    game: common.GameArgument,
    a: Annotated[str, typer.Argument(help=_PLAYER)],
    b: Annotated[str, typer.Argument(help="The other player, likewise.")],
    param: common.ParamOption = None,
    games: _Games = None,
    simulations: common.SimulationsOption = None,
    seconds: common.SecondsOption = None,
    threads: common.ThreadsOption = None,
    batch_size: common.BatchOption = None,
    symmetry: common.SymmetryOption = None,
    algorithm: common.AlgorithmOption = None,
    config: common.ConfigOption = None,
    set_a: _SetA = None,
    set_b: _SetB = None,
    spec_a: _SpecA = None,
    spec_b: _SpecB = None,
    provider: common.ProviderOption = None,
    device: common.DeviceOption = 0,
    seed: _Seed = 0,
    plies: _Plies = 4,
    openings_evaluator: _OpeningsEvaluator = None,
    max_value: _MaxValue = None,
    policy: _ByPolicy = False,
    sprt: _Sprt = None,
    record: _Record = None,
    concurrent: _Concurrent = None,
    max_plies: _MaxPlies = None,
    as_json: common.JsonOption = False,
) -> None:
    """Play two players against each other: score, Elo and intervals. Colours alternate."""
    played = common.game_from(game, param)
    budget = {"simulations": simulations, "seconds": seconds}
    workers = {"threads": threads, "batch_size": batch_size}
    both = common.config_from(config, symmetry=symmetry, **budget, **workers)

    def settings_for(evaluator: Evaluator) -> SearchConfig:
        chosen = common.algorithm_for(evaluator, algorithm, config)
        return both if chosen is None else _checked(both, {"algorithm": chosen})

    sides = [
        _side(played, model, spec, (provider, device), settings_for, own, (seed, number))
        for number, (model, spec, own) in enumerate(((a, spec_a, set_a), (b, spec_b, set_b)))
    ]
    test = None if sprt is None else _sprt(sprt)
    settings: dict[str, Any] = {
        "game": played,
        "games": games or default_games(test),
        "seed": seed,
        "concurrent_games": concurrent,
        "max_plies": max_plies,
        "record": None if record is None else common.output_file(record),
        "names": (a, b) if a != b else (f"{a} (a)", f"{b} (b)"),
        "openings": _openings(played, plies, openings_evaluator, max_value, policy),
        "sprt": test,
    }
    with common.when_stopped(_how_to_go_on(record)):
        try:
            _tell(_play(*sides, **settings), as_json)
        except MatchInterrupted as stop:
            _tell(stop.result, as_json)
            raise


_Side: TypeAlias = Engine | ValuePlayer | RandomPlayer


def _play(a: _Side, b: _Side, *, games: int, **arguments: Any) -> MatchResult:
    """Play and show how far it is, then close the engines."""
    with ExitStack() as stack, _progress(games) as show:
        for engine in (a, b):
            if isinstance(engine, Engine):
                stack.enter_context(engine)
        return play_match(a, b, games=games, on_progress=show, **arguments)


def _side(
    game: Game,
    model: str,
    spec: Path | None,
    where: tuple[str | None, int],
    settings_for: Callable[[Evaluator], SearchConfig],
    settings: list[str] | None,
    seed: tuple[int, int],
) -> _Side:
    """Return an engine with the common settings and above them its own, or what does not search.

    ``seed`` is of a side's random moves.
    """
    if settings and (model == "random" or model.startswith(_VALUE)):
        raise common.usage(f"--set-a, --set-b are for a player that searches, found {model}")
    if model == "random":
        if spec is not None:
            raise common.usage("--spec-a, --spec-b are for networks, found random")
        return RandomPlayer(seed)
    if model.startswith(_VALUE):
        valued = model.removeprefix(_VALUE)
        setup = common.evaluator_for(game, valued, spec, *where, named=f"player {model}")
        return ValuePlayer(setup.evaluator)
    provider, device = where if common.needs_network(model) else (None, 0)
    others = ("random", f"{_VALUE}MODEL")
    setup = common.evaluator_for(
        game, model, spec, provider, device, named=f"player {model}", others=others
    )
    own: dict[str, Any] = {}
    for setting in settings or []:
        name, separator, value = setting.partition("=")
        if not separator or not name:
            raise common.usage(f"--set-a, --set-b must be NAME=VALUE, found {in_one_line(setting)}")
        own[name.strip()] = _value(value.strip())
    config = _checked(settings_for(setup.evaluator), own)
    try:
        return Engine(game, setup.evaluator, config=config)
    except ConfigError as error:
        raise common.usage(str(error)) from error


def _checked(config: SearchConfig, changes: dict[str, Any]) -> SearchConfig:
    try:
        return config.replace(**changes)
    except ConfigError as error:
        raise common.usage(str(error)) from error


def _value(text: str) -> Any:
    """Return a value as TOML writes it; other words are strings, and none is None."""
    if text.lower() == "none":
        return None
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (tomllib.TOMLDecodeError, RecursionError):
        return text


def _openings(
    game: Game, plies: int, evaluator: str | None, max_value: float | None, policy: bool
) -> Openings:
    """Return openings as the library takes them. What cannot be is wrong use."""
    if evaluator is None and (policy or max_value is not None):
        asked = "--policy-openings" if policy else "--max-value"
        raise common.usage(
            f"{asked}: expected the network that evaluates openings, --openings-evaluator MODEL, "
            "found none"
        )
    try:
        return Openings(
            plies=plies,
            moves="policy" if policy else "random",
            evaluator=evaluator and _evaluator_of_openings(game, evaluator),
            max_value=max_value,
        )
    except ConfigError as error:
        raise common.usage(str(error)) from error


def _evaluator_of_openings(game: Game, name: str) -> Evaluator:
    named = f"--openings-evaluator {name}"
    return common.evaluator_for(game, name, None, None, 0, named=named).evaluator


def _sprt(text: str) -> Sprt:
    """Return the test that the text names. What cannot be is wrong use."""
    low, separator, high = text.partition(",")
    if not separator:
        raise common.usage(f"--sprt must be ELO0,ELO1, found {in_one_line(text)}")
    try:
        return Sprt(elo0=float(low), elo1=float(high))
    except ValueError as error:  # ConfigError is one
        raise common.usage(str(error)) from error


@contextmanager
def _progress(games: int) -> Iterator[Callable[[MatchResult], None] | None]:
    """Show a bar on stderr; nothing where that is no terminal."""
    with games_bar(games) as bar:
        if bar is None:
            yield None
            return

        def show(result: MatchResult) -> None:
            if result.games:
                low, high = result.score_interval
                told = f"score {result.score:.1%} [{low:.1%}, {high:.1%}]"
                bar(result.games, told)

        yield show


def _tell(result: MatchResult, as_json: bool) -> None:
    if as_json:
        common.print_json(result.to_dict())
    else:
        common.console().print(Text(str(result)))


def _how_to_go_on(record: Path | None) -> str:
    if record is None:
        return "the games are not kept; --record FILE keeps them and goes on from them"
    return (
        f"the same command goes on from the games in {record}; unfinished games begin anew: with "
        "fewer at once (--concurrent) a stop costs less"
    )
