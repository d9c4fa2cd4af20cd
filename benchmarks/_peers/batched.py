"""mctx on pgx, compiled by JAX for the CPU: 64 positions per batch against ``search_many``."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import pyengine
from pyengine.base import machine

from . import environment
from .environment import Environment
from .pairs import SLICE, Timed, figures, repeated, timed
from .shared import Options, Report, check, in_turns, pace
from .worker import Worker

SIMULATIONS = 64
POSITIONS = 64
SEED = 1


@dataclass(frozen=True)
class Subject:
    """A game.

    Attributes:
        name: display name.
        ours, theirs: name of the game in each library.
        moves: maximum number of random moves before a position.
        asked: minimum ratio.
    """

    name: str
    ours: str
    theirs: str
    moves: int
    asked: float


SUBJECTS = [
    Subject("tic_tac_toe", "tic_tac_toe", "tic_tac_toe", 4, 3.0),
    Subject("connect_four", "connect_four", "connect_four", 10, 3.0),
    Subject("othello", "othello", "othello", 30, 30.0),
    Subject("go9", "go(board_size=9)", "go_9x9", 30, 30.0),
]
#: Policies of mctx and our equivalent algorithms.
POLICIES = {"gumbel": "gumbel", "muzero": "puct"}


def positions(game: pyengine.Game, most: int, seed: int = SEED) -> list[pyengine.State]:
    """Return non-terminal positions after 0 to ``most`` random moves."""
    chance = random.Random(seed)
    found: list[pyengine.State] = []
    while len(found) < POSITIONS:
        state = game.new_initial_state()
        for _ in range(chance.randrange(most + 1)):
            if not state.is_terminal():
                state.apply_action(chance.choice(state.legal_actions()))
        if not state.is_terminal():
            found.append(state)
    return found


def configuration(policy: str) -> pyengine.SearchConfig:
    """Return our configuration for a policy of mctx. PUCT if this build has no Gumbel search."""
    config = pyengine.SearchConfig(simulations=SIMULATIONS, threads=0, solver=False)
    try:
        return config.replace(algorithm=POLICIES[policy])
    except pyengine.ConfigError:
        return config


def ask(subject: Subject, policy: str, states: list[pyengine.State]) -> str:
    """Return the request for the worker."""
    return json.dumps(
        {
            "game": subject.theirs,
            "policy": policy,
            "simulations": SIMULATIONS,
            "positions": [state.history() for state in states],
        }
    )


def check_positions(answer: str, states: list[pyengine.State]) -> None:
    """Check that both libraries have the same legal moves in every position."""
    for mask, state in zip(json.loads(answer)["legal"], states, strict=True):
        found = np.flatnonzero(mask).tolist()
        legal = list(state.legal_actions())
        check(f"{legal} are legal for the peer too", found == legal, found)


def read(answer: str) -> Timed:
    """Return the time of a worker's search, after checking that each simulation is a visit."""
    found = json.loads(answer)
    visits = found["visits"]
    check(
        f"the peer makes {SIMULATIONS} simulations in {POSITIONS} positions",
        visits == [SIMULATIONS] * POSITIONS,
        visits,
    )
    return Timed(sum(visits), found["wall"], found["cpu"])


def searches(engine: pyengine.Engine, states: list[pyengine.State]) -> Callable[[], Timed]:
    """Return a call that searches all the states."""

    def once() -> int:
        results = engine.search_many(states, simulations=SIMULATIONS)
        visits = [int(result.visits.sum()) for result in results]
        check("the engine's visits add up", visits == [SIMULATIONS] * len(states), visits)
        return sum(int(result.simulations) for result in results)

    return lambda: timed(once)


def compare(subject: Subject, policy: str, worker: Worker, options: Options) -> dict[str, Any]:
    """Return a row."""
    game = pyengine.load_game(subject.ours)
    states = positions(game, subject.moves)
    check_positions(worker.ask(ask(subject, policy, states)), states)
    span = 0.0 if options.quick else SLICE
    with pyengine.Engine(game, "uniform", config=configuration(policy)) as engine:
        ours = searches(engine, states)
        repeated(ours, span)
        found = in_turns(
            pace(options, options.seconds),
            lambda: repeated(lambda: read(worker.ask("search")), span),
            lambda: repeated(ours, span),
        )
    theirs, own = zip(*found, strict=True)
    return figures(theirs, own, None if options.quick else subject.asked)


def run(report: Report, options: Options, folder: Path) -> None:
    """Compare both policies in every game. A quick run compares one policy in one game."""
    peer = Environment("jax", folder)
    peer.prepare(not options.quick)
    script = Path(__file__).with_name("batched_worker.py")
    words = [str(peer.python), "-P", str(script)]
    variables = {**os.environ, "JAX_PLATFORMS": "cpu"}
    subjects = SUBJECTS[:1] if options.quick else SUBJECTS
    for subject in subjects:
        for policy in list(POLICIES)[: 1 if options.quick else None]:
            algorithm = configuration(policy).algorithm
            name = f"peers/{subject.name}/mctx-{policy}/batch={POSITIONS},ours={algorithm}"
            with report.row(name) as row, Worker(words, variables) as jax:
                environment.say(f"{name} (JAX compiles for several seconds)")
                row.update(compare(subject, policy, jax, options))
    report.notes.append(
        f"mctx: {POSITIONS} positions of {SIMULATIONS} simulations, without compilation; both sides"
        f" on {machine.cores()} cores"
    )
