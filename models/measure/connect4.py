"""Connect Four: errors in Pons' test sets and new positions, and a third-party network."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np

import pyengine
from measure.context import Context, Measurement, network
from measure.findings import Finding, share
from measure.new_positions import new_cases
from measure.pons import Case, Solver, keeps, read_set

__all__ = ["measurements"]

_GAME = "connect_four"
_SIMULATIONS = 400
_SOLVED_EMPTIES = 24  #: endgame_solver_empties of the run file
_MOST_WRONG = 0.005  #: target of a search
#: Optional targets of the policy alone: the largest share of wrong moves.
_SETS = {"L3_R1": 0.10, "L2_R1": 0.15, "L2_R2": 0.15, "L1_R1": 0.20, "L1_R2": 0.20, "L1_R3": 0.20}
_NEW = 500  # new positions
_MATCH_GAMES = 600
_MATCH_SIMULATIONS = 100
_CHUNK = 64  # positions per progress report

#: Returns positions, using the solver for unsolved ones.
Cases = Callable[[Solver], Sequence[Case]]
#: Chooses a move in each position.
Chooser = Callable[[str, Sequence[Case]], list[int]]


def measurements(model: Path, context: Context) -> Iterator[Measurement]:
    """Yield the measurements."""
    evaluator = network(model)
    search = partial(_searched, evaluator, context, 0)
    solving = partial(_searched, evaluator, context, _SOLVED_EMPTIES)
    policy = partial(_most_likely, evaluator)
    folder = context.shared / "oracles" / "05-connect-four"
    sets: dict[str, tuple[Cases, float | None]] = {
        name: (partial(_from_file, folder / f"pons_{name}.csv"), goal)
        for name, goal in _SETS.items()
    }
    sets["new positions"] = (partial(_new_positions, context), None)
    for name, (cases, goal) in sets.items():
        yield Measurement(
            f"wrong moves in {name}, {_SIMULATIONS} simulations",
            partial(_wrong, cases, context, search, _MOST_WRONG, False),
        )
        yield Measurement(
            f"wrong moves in {name}, {_SIMULATIONS} simulations, ends solved",
            partial(_wrong, cases, context, solving, _MOST_WRONG, False),
        )
        yield Measurement(
            f"wrong moves in {name}, policy alone",
            partial(_wrong, cases, context, policy, goal, True),
        )
    yield Measurement(
        f"against connect4_sunshine, {_MATCH_SIMULATIONS} simulations each",
        partial(
            context.duel,
            _GAME,
            (evaluator, _MATCH_SIMULATIONS),
            ("connect4_sunshine", _MATCH_SIMULATIONS),
            games=_MATCH_GAMES,
            more_than=0.5,
        ),
    )


def _wrong(
    cases_of: Cases,
    context: Context,
    choose: Chooser,
    most: float | None,
    goal: bool,
    name: str,
) -> Finding:
    """Count moves that give away a win or a draw."""
    with Solver(context.work.parent) as solver:
        cases = context.some(cases_of(solver))
        chosen = choose(name, cases)
        wrong = []
        for number, (case, move) in enumerate(zip(cases, chosen, strict=True), 1):
            wrong.append(not keeps(case, move, solver))
            context.say(f"{name}: {sum(wrong)} of {number}")
    return share(name, wrong, most=most, goal=goal)


def _from_file(path: Path, _: Solver) -> Sequence[Case]:
    return read_set(path)


def _new_positions(context: Context, solver: Solver) -> Sequence[Case]:
    cases = []
    for case in islice(new_cases(context.seed, solver), _NEW):
        cases.append(case)
        context.say(f"{len(cases)} of {_NEW} new positions solved")
    return cases


def _searched(
    evaluator: pyengine.OnnxEvaluator,
    context: Context,
    empties: int,
    name: str,
    cases: Sequence[Case],
) -> list[int]:
    game = pyengine.load_game(_GAME)
    player = context.engine(game, evaluator, _SIMULATIONS, endgame_solver_empties=empties)
    chosen: list[int] = []
    with closing(player) as engine:
        for begin in range(0, len(cases), _CHUNK):
            context.say(f"{name}: {begin} of {len(cases)} positions searched")
            states = [case.state(game) for case in cases[begin : begin + _CHUNK]]
            chosen += [int(result.action) for result in engine.search_many(states)]
    return chosen


def _most_likely(evaluator: pyengine.OnnxEvaluator, name: str, cases: Sequence[Case]) -> list[int]:
    game = pyengine.load_game(_GAME)
    policy, _ = evaluator.evaluate([case.state(game) for case in cases])
    return [int(action) for action in np.argmax(policy, axis=1)]
