"""A demonstration of the search: ``python -m pyengine.cli.demo``, or ``make demo``.

In both positions the natural move is not the best. test_demo.py verifies the claims with an
alpha-beta solver (Connect Four) and with the proofs of a search with playouts (Gomoku).
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np

from pyengine.base import machine
from pyengine.games.game import State, load_game
from pyengine.search.engine import Engine
from pyengine.search.result import SearchResult
from pyengine.search.tree import PROVEN

SIMULATIONS = 1600


@dataclass(frozen=True, kw_only=True)
class Scene:
    """A position with a lesson."""

    title: str
    game: str
    model: str  #: name of the bundled network
    moves: str  #: names of the moves from the start
    best: str  #: the winning move
    natural: str  #: a plausible move that is worse
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
            "X holds columns 3, 5 and 6 of the fourth row from the bottom. Two more stones\n"
            "must be in column 4 before X can complete it. Column 4 looks natural, but it loses."
        ),
        lesson=(
            "Only 6 wins, by force in three moves; every other move loses. After 4, O plays 6\n"
            "and eventually wins."
        ),
    ),
    Scene(
        title="Gomoku, 9x9, five in a row",
        game="gomoku(board_size=9)",
        model="gomoku",
        moves="E5 E8 D5 D8 F4 B5 C5 F8 F3 D4 G7 C3",
        best="F5",
        natural="C8",
        question="O has an open three, D8-E8-F8. X can block it at C8 or G8.",
        lesson=(
            "F5 wins by force: it makes a four (C5 to F5), O must answer G5, and then F6 or F2\n"
            "makes an open four in column F. F6 immediately is too slow: O makes a four first."
        ),
    ),
)


def start_of(scene: Scene) -> State:
    """Return the position of a scene."""
    state = load_game(scene.game).new_initial_state()
    for move in scene.moves.split():
        state.apply_action(state.string_to_action(move))
    return state


def main() -> None:
    """Show all scenes."""
    for scene in SCENES:
        show(scene)


def show(scene: Scene) -> None:
    """Search the position of a scene and print the result."""
    state = start_of(scene)
    print(f"=== {scene.title}\n\n{scene.question}\n")
    with Engine(state.game, scene.model) as engine:
        # First without the solver, which would end the search once the position is proven.
        result = engine.search(state, simulations=SIMULATIONS, solver=False)
        provider = engine.stats()["provider"]
        proof = engine.search(state, simulations=SIMULATIONS, reuse_tree=False)
    print(result)
    print(f"network {scene.model} on {provider}, {machine.cores()} threads")
    print(_proof(state, proof))
    print(f"\n{_verdict(scene, state, result)}\n{scene.lesson}\n")


def _proof(state: State, result: SearchResult) -> str:
    """Describe what the solver adds to the same search."""
    if result.proven is None:
        return f"solver: no proof within {result.simulations:,} simulations"
    player = "XO"[state.current_player()]
    proof = f"a proven {PROVEN[result.proven]} for {player}"
    return f"solver: {proof} after {result.simulations:,} simulations"


def _verdict(scene: Scene, state: State, result: SearchResult) -> str:
    """Say whether the search found the winning move."""
    player = "XO"[state.current_player()]
    chosen = result.action_name(result.action)
    natural = int(np.flatnonzero(result.actions == state.string_to_action(scene.natural))[0])
    verdict = ": the winning move" if chosen == scene.best else f", but {scene.best} wins"
    return (
        f"The search plays {chosen} for {player}{verdict}. The natural move {scene.natural} has a "
        f"prior of {result.priors[natural]:.0%} and got {result.visits[natural]} visits."
    )


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
