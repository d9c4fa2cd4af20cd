"""Watch a search think: ``python -m pyengine.cli.demo``, or ``make demo`` in a checkout.

Two positions in which the best move is another one than the natural one. Tests prove what is
claimed of them (test_demo.py): Connect Four by an alpha-beta solver, Gomoku by this engine's own
proofs with playouts.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pyengine.base import machine
from pyengine.errors import ConfigError, EngineError
from pyengine.eval.evaluators import as_evaluator, bundled_models
from pyengine.games.game import State, load_game
from pyengine.search.engine import Engine
from pyengine.search.result import SearchResult
from pyengine.search.tree import signed

__all__ = ["SCENES", "Scene", "main", "start_of"]

SIMULATIONS = 1600
_ROWS = 8  # moves shown
_PROVEN = {1: "a proven win", 0: "a proven draw", -1: "a proven loss"}


@dataclass(frozen=True, kw_only=True)
class Scene:
    """A position with a lesson."""

    title: str
    game: str
    model: str  #: name of the bundled network
    moves: str  #: from the start, by name
    best: str  #: the winning move
    natural: str  #: a move that looks good and is worse
    question: str
    lesson: str


SCENES = (
    Scene(
        title="Connect Four",
        game="connect_four",
        model="connect4",
        moves="6 6 1 3 3 2 5 2 6 5 2 2 6 3 3 3 2 5 5 4",
        best="6",
        natural="4",
        question=(
            "The centre beckons: X holds 3, 5 and 6 of the fourth row from below, and column 4\n"
            "needs two more stones until he can complete it. Yet 4 loses."
        ),
        lesson=(
            "6 alone wins, by force in three moves; every other move loses. To 4 O answers 6\n"
            "himself and wins in the end."
        ),
    ),
    Scene(
        title="Gomoku, 9x9, five in a row",
        game="gomoku(board_size=9)",
        model="gomoku",
        moves="E5 E8 D5 D8 F4 B5 C5 F8 F3 D4 G7 C3",
        best="F5",
        natural="C8",
        question="O has an open three, D8-E8-F8. X may stop it at C8 or at G8.",
        lesson=(
            "F5 wins by force: it makes four (C5 to F5), O must answer G5, and F6 or F2 then\n"
            "makes an open four in the column F. F6 at once is too slow: O makes his four first."
        ),
    ),
)


def start_of(scene: Scene) -> State:
    """Return the position of a scene."""
    state = load_game(scene.game).new_initial_state()
    for move in scene.moves.split():
        state.apply_action(state.string_to_action(move))
    return state


def main(arguments: Sequence[str] | None = None) -> int:
    """Show the scenes; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m pyengine.cli.demo", description="Watch a search."
    )
    parser.add_argument("--simulations", type=int, default=SIMULATIONS, help="of each search")
    parser.add_argument("--threads", type=int, default=0, help="0 = all cores")
    parser.add_argument("--model", help="evaluator instead of the bundled networks, say rollout")
    options = parser.parse_args(arguments)
    try:
        models = [_checked(scene, options.model or scene.model) for scene in SCENES]
        for scene, model in zip(SCENES, models, strict=True):
            show(scene, model, options.simulations, options.threads)
        sys.stdout.flush()
    except EngineError as error:
        print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
        return 1
    except OSError as error:
        if not isinstance(error, BrokenPipeError):  # the reader left
            print(f"error: the output cannot be written: {error.strerror}", file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        print(file=sys.stderr)
        return 130
    return 0


def show(scene: Scene, model: str, simulations: int, threads: int) -> None:
    """Search the position of a scene and print what was found."""
    state = start_of(scene)
    print(f"=== {scene.title}\n\n{state}\n{scene.question}\n")
    with Engine(state.game, as_evaluator(model), threads=threads) as engine:
        # Without the solver first: it would end the search as soon as the position is proven.
        result = engine.search(state, simulations=simulations, solver=False)
        stats = engine.stats()
        proof = engine.search(state, simulations=simulations, reuse_tree=False)
    print(_table(result))
    print(_summary(state, result, model, stats, threads or machine.cores()))
    print(_proof(state, proof))
    print(f"\n{_verdict(scene, state, result)}\n{scene.lesson}\n")


def _checked(scene: Scene, model: str) -> str:
    """Return the name of a model that is there. Raises ConfigError saying what to do."""
    bundled = bundled_models()
    if model != scene.model or model in bundled:
        return model
    raise ConfigError(
        f"the network '{model}' for {scene.game} is not bundled with this build, found "
        f"{', '.join(bundled) or 'none'}; `python models/make_models.py --game {model}` makes it, "
        "and `python -m pyengine.cli.demo --model rollout` goes without"
    )


def _table(result: SearchResult) -> str:
    lines = [f"{'move':>6} {'visits':>7} {'share':>7} {'prior':>7} {'value':>7}"]
    for i in result.order()[:_ROWS]:
        action = int(result.actions[i])
        value = signed(float(result.q[i])) if result.visits[i] else "-"
        lines.append(
            f"{result.action_name(action):>6} {int(result.visits[i]):>7} "
            f"{result.policy[action]:>7.1%} {result.priors[i]:>7.1%} {value:>7}"
        )
    rest = len(result.actions) - _ROWS
    return "\n".join([*lines, *([f"   and {rest} more"] if rest > 0 else [])])


def _summary(
    state: State, result: SearchResult, model: str, stats: dict[str, Any], threads: int
) -> str:
    rate = result.simulations / result.seconds if result.seconds > 0 else 0.0
    return "\n".join(
        (
            f"value      {signed(result.value)} for {'XO'[state.current_player()]}",
            f"best line  {' '.join(_names(state, result.pv))}",
            f"speed      {result.simulations:,} simulations in {result.seconds:.3f} s = "
            f"{rate:,.0f} simulations/s",
            f"network    {model} on {stats['provider']}, {threads} threads",
        )
    )


def _proof(state: State, result: SearchResult) -> str:
    """Say what the solver made of the same search."""
    if result.proven is None:
        return f"solver     no proof within {result.simulations:,} simulations"
    player = "XO"[state.current_player()]
    return (
        f"solver     {_PROVEN[result.proven]} for {player} after {result.simulations:,} simulations"
    )


def _names(state: State, actions: Sequence[int]) -> list[str]:
    """Return a line of play as text."""
    state = state.clone()
    names = []
    for action in actions:
        names.append(state.action_to_string(action))
        state.apply_action(action)
    return names


def _verdict(scene: Scene, state: State, result: SearchResult) -> str:
    """Say whether the search saw through the position."""
    player = "XO"[state.current_player()]
    chosen = result.action_name(result.action)
    natural = int(np.flatnonzero(result.actions == state.string_to_action(scene.natural))[0])
    looked = (
        f"of the natural {scene.natural} the network's prior is {result.priors[natural]:.0%}, and "
        f"the search gave it {int(result.visits[natural])} visits"
    )
    if chosen == scene.best:
        return f"The search plays {chosen} for {player}: the winning move; {looked}."
    return f"The search plays {chosen} for {player}, but {scene.best} wins; {looked}."


if __name__ == "__main__":
    sys.exit(main())
