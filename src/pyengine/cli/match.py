"""``pyengine match``: games between two players."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer  # noqa: TID253  # this package is the extra's

from pyengine.base.arguments import short_repr
from pyengine.cli.options import (
    DeviceOption,
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
from pyengine.games.game import Game
from pyengine.match import MatchInterrupted, MatchResult, Openings, RandomPlayer, Sprt, ValuePlayer
from pyengine.match import match as play_match
from pyengine.match.statistics import default_games
from pyengine.search.engine import Engine

_PLAYER = (
    "A bundled network, MODEL.onnx, rollout, POLICY.npz or uniform, which search; value:MODEL "
    "plays the move whose position it values most, random any move."
)
_VALUE = "value:"
_Side: TypeAlias = Engine | ValuePlayer | RandomPlayer
_Settings: TypeAlias = list[str] | None


def match(
    game: GameOptions,
    a: Annotated[str, typer.Argument(help=_PLAYER)],
    b: Annotated[str, typer.Argument(help="The other player, named in the same way.")],
    settings: SearchOptions,
    games: Annotated[
        int | None,
        typer.Option(
            "--games", "-g", min=1,
            help="How many; by default 100, or with --sprt enough to decide 90 % of tests.",
        ),
    ] = None,
    set_a: Annotated[
        _Settings,
        typer.Option("--set-a", metavar="NAME=VALUE", help="A search setting of a; repeatable."),
    ] = None,
    set_b: Annotated[
        _Settings,
        typer.Option("--set-b", metavar="NAME=VALUE", help="A search setting of b; repeatable."),
    ] = None,
    spec_a: Annotated[
        Path | None, typer.Option("--spec-a", help="JSON file with a's ModelSpec.", dir_okay=False)
    ] = None,
    spec_b: Annotated[
        Path | None, typer.Option("--spec-b", help="JSON file with b's ModelSpec.", dir_okay=False)
    ] = None,
    provider: ProviderOption = None,
    device: DeviceOption = 0,
    seed: Annotated[int, typer.Option("--seed", min=0, help="The seed of the openings.")] = 0,
    plies: Annotated[
        int, typer.Option("--plies", min=0, help="Random moves at the start.")
    ] = 4,
    openings_evaluator: Annotated[
        str | None,
        typer.Option(
            "--openings-evaluator", help="Network that evaluates openings; see the next two."
        ),
    ] = None,
    max_value: Annotated[
        float | None,
        typer.Option("--max-value", help="Keep openings of at most this value by that network."),
    ] = None,
    policy: Annotated[
        bool,
        typer.Option("--policy-openings", help="Opening moves by the policy of that network."),
    ] = False,
    sprt: Annotated[
        str | None,
        typer.Option(
            "--sprt", metavar="ELO0,ELO1", help="End as soon as one of the two is accepted."
        ),
    ] = None,
    record: Annotated[
        Path | None,
        typer.Option(
            "--record", help="Keep finished games here, and go on from it.", dir_okay=False
        ),
    ] = None,
    concurrent: Annotated[
        int | None, typer.Option("--concurrent", min=1, help="Games at once.")
    ] = None,
    max_plies: Annotated[
        int | None,
        typer.Option("--max-plies", min=1, help="A game of this many plies is a draw."),
    ] = None,
    as_json: JsonOption = False,
) -> None:  # fmt: skip
    """Play two players against each other: score, Elo and intervals. Colours alternate."""
    played = game.load()
    where = (provider, device)
    sides = (
        _side(played, a, settings, set_a, spec_a, where, (seed, 0)),
        _side(played, b, settings, set_b, spec_b, where, (seed, 1)),
    )
    test = None if sprt is None else _sprt(sprt)
    openings = Openings(
        plies=plies,
        moves="policy" if policy else "random",
        evaluator=openings_evaluator and evaluator_for(openings_evaluator),
        max_value=max_value,
    )
    with when_stopped(_how_to_go_on(record)):
        try:
            result = _play(
                *sides,
                game=played,
                games=games or default_games(test),
                seed=seed,
                concurrent_games=concurrent,
                max_plies=max_plies,
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
    """Play and show how far it is, then close the engines."""
    with ExitStack() as stack, progress_bar(games, _describe) as on_progress:
        for engine in (a, b):
            if isinstance(engine, Engine):
                stack.enter_context(engine)
        return play_match(a, b, games=games, on_progress=on_progress, **arguments)


def _side(
    game: Game,
    model: str,
    common: SearchOptions,
    own: _Settings,
    spec: Path | None,
    where: tuple[str | None, int],
    seed: tuple[int, int],
) -> _Side:
    """Return an engine with the common settings and above them its own, or a simple player.

    ``seed`` is for random moves.
    """
    if own and (model == "random" or model.startswith(_VALUE)):
        raise ConfigError(f"--set-a, --set-b are for a player that searches, got {model}")
    if model == "random":
        if spec is not None:
            raise ConfigError("--spec-a, --spec-b are for networks, got random")
        return RandomPlayer(seed)
    if model.startswith(_VALUE):
        return ValuePlayer(evaluator_for(model.removeprefix(_VALUE), spec, *where))
    if not needs_network(model):
        where = (None, 0)
    evaluator = evaluator_for(model, spec, *where, others=("random", f"{_VALUE}MODEL"))
    config = common.config_for(evaluator).replace(**search_settings("--set-a, --set-b", own))
    return Engine(game, evaluator, config=config)


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


def _how_to_go_on(record: Path | None) -> str:
    if record is None:
        return "the games are not kept; --record FILE keeps them and goes on from them"
    return (
        f"the same command goes on from the games in {record}; unfinished games start again: with "
        "fewer at once (--concurrent) a stop costs less"
    )
