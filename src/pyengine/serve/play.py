"""Answers that need a search: a move, a tree, a comparison of algorithms."""

from __future__ import annotations

from typing import Any

from pyengine.errors import ConfigError, EngineError
from pyengine.exact.solver import Solver, SolveResult
from pyengine.search.levels import level_config
from pyengine.search.result import SearchResult
from pyengine.search.steps import steps
from pyengine.serve.catalogue import Catalogue
from pyengine.serve.engines import PLAYOUTS, Engines, Key
from pyengine.serve.figures import tree_of
from pyengine.serve.positions import Place, view
from pyengine.serve.requests import (
    Algorithm,
    CompareRequest,
    MoveRequest,
    SearchRequest,
    StepsRequest,
    TreeRequest,
)
from pyengine.serve.searches import Stop

_SIMULATIONS = 800  # of a move without a budget, with a network ...
_PLAYOUT_SECONDS = 1.0  # ... and without: playouts are weak
_NOTES: dict[Algorithm, str] = {
    "uct": "counts wins and visits; ignores the network's priors",
    "puct": "AlphaZero: priors steer the search",
    "gumbel": "Gumbel: sequential halving among sampled moves",
}
_LISTED = 12  # moves of a selection in a step
_STEPS = 16  # simulations without a budget
_STEPS_MEMORY = 64 << 20
_COMPARED = 400  # simulations of each algorithm without a budget
_SOLVER_SECONDS = 2.0
_SOLVER_MB = 64


def budget(simulations: int | None, default: int, most: int) -> int:
    """Return the simulations of a search: the requested ones, or at most ``default``.

    Raises ConfigError if a request asks for more than ``most``.
    """
    if simulations is not None and simulations > most:
        raise ConfigError(f"simulations: expected at most {most}, got {simulations}")
    return min(simulations or default, most)


def check_going_on(place: Place) -> None:
    """Raise ConfigError if the game is over."""
    if place.state.is_terminal():
        raise ConfigError("position: expected one that is not over, got the end of a game")


def choose_move(engines: Engines, place: Place, request: MoveRequest, most: int, stop: Stop) -> Any:
    """Return the engine's move and the position after it."""
    check_going_on(place)
    key = engines.key(place.game, request.network)
    settings = _settings(request, key, most)
    with engines.lend(key, place.start, place.actions) as session, stop.ends(session.engine):
        result = session.choose(on_progress=stop.goes_on, **settings)
    after = place.state.clone()
    after.apply_action(result.action)
    reached = Place(place.game, place.name, place.start, (*place.actions, result.action), after)
    return {
        "move": result.action_name(result.action),
        "action": result.action,
        "value": result.value,
        "proven": result.proven,
        "simulations": result.simulations,
        "seconds": result.seconds,
        "position": reached.to_dict(),
        "view": view(reached),
    }


def _settings(request: MoveRequest, key: Key, most: int) -> dict[str, Any]:
    """Return the settings of the search for a move."""
    simulations = budget(request.simulations, most, most)
    if request.level is not None:
        settings = level_config(key.game, request.level)
        return settings | {"simulations": min(settings["simulations"], most)}
    if request.simulations is not None or request.seconds is not None:
        return {"simulations": simulations, "seconds": request.seconds}
    if key.network == PLAYOUTS:
        return {"simulations": simulations, "seconds": _PLAYOUT_SECONDS}
    return {"simulations": budget(None, _SIMULATIONS, most)}


def search(
    engines: Engines, place: Place, request: SearchRequest, most: int, stop: Stop
) -> SearchResult:
    """Search a position with a new tree."""
    check_going_on(place)
    simulations = budget(request.simulations, _SIMULATIONS, most)
    key = engines.key(place.game, request.network, request.algorithm)
    with engines.lend(key, place.start, place.actions) as session, stop.ends(session.engine):
        return session.engine.search(
            place.state,
            simulations=simulations,
            reuse_tree=False,
            gumbel_noise=False,
            on_progress=stop.goes_on,
        )


def search_tree(engines: Engines, place: Place, request: TreeRequest, most: int, stop: Stop) -> Any:
    """Return the tree of a search."""
    return tree_of(search(engines, place, request, most, stop), request.nodes)


def show_steps(catalogue: Catalogue, place: Place, request: StepsRequest, most: int) -> Any:
    """Return what each simulation of a textbook search selects, evaluates and backs up."""
    check_going_on(place)
    _, evaluator = catalogue.evaluator(place.game, request.network)
    taken = steps(
        place.state,
        evaluator,
        budget(request.simulations, _STEPS, most),
        game=place.game,
        algorithm=request.algorithm,
        memory_limit=_STEPS_MEMORY,
    )
    return {"steps": [_step(step.to_dict()) for step in taken]}


def _step(step: dict[str, Any]) -> dict[str, Any]:
    """Leave out the moves that are far from being chosen; 64 steps of Go would take megabytes."""
    for selection in step["path"]:
        moves = selection["moves"]
        listed = moves[:_LISTED]
        listed += [move for move in moves[_LISTED:] if move["move"] == selection["chosen"]]
        selection["moves"] = listed
        selection["unlisted"] += len(moves) - len(listed)
    step["leaf"]["priors"] = step["leaf"]["priors"][:_LISTED]
    return step


def compare(
    engines: Engines, place: Place, request: CompareRequest, most: int, threads: int, stop: Stop
) -> Any:
    """Return what each algorithm makes of a position with the same network and budget."""
    check_going_on(place)
    simulations = budget(request.simulations, _COMPARED, most)
    rows = []
    for algorithm, note in _NOTES.items():
        asked = SearchRequest(
            position=request.position,
            network=request.network,
            algorithm=algorithm,
            simulations=simulations,
        )
        result = search(engines, place, asked, most, stop)
        rows.append({"algorithm": algorithm, **_figures(result), "note": note})
        if stop.is_set():
            break
    legal = place.state.legal_actions()
    rows.append(_solved_row(place, threads, stop))
    return {"moves": [place.state.action_to_string(a) for a in legal], "rows": rows}


def _figures(result: SearchResult) -> dict[str, Any]:
    return {
        "move": result.action_name(result.action),
        "value": result.value,
        "proven": result.proven,
        "visits": result.visits.tolist(),
        "q": [None if q != q else q for q in result.q.tolist()],
        "nodes": result.nodes,
        "seconds": result.seconds,
    }


def _solved_row(place: Place, threads: int, stop: Stop) -> dict[str, Any]:
    row: dict[str, Any] = {"algorithm": "alphabeta", "visits": None, "q": None, "proven": None}
    try:
        solver = Solver(place.game, table_mb=_SOLVER_MB, threads=threads)
        with stop.ends(solver):
            solved = solver.solve(place.state, seconds=_SOLVER_SECONDS)
    except EngineError as error:
        return row | {"move": None, "value": None, "nodes": 0, "seconds": 0.0, "note": str(error)}
    return row | {
        "move": None if solved.action is None else place.state.action_to_string(solved.action),
        "value": solved.value if solved.exact else None,
        "proven": int(solved.value) if solved.exact else None,
        "nodes": solved.nodes,
        "seconds": solved.seconds,
        "note": _solver_note(solved),
    }


def _solver_note(solved: SolveResult) -> str:
    if solved.exact:
        return f"exact: the game is solved, {solved.depth} plies to its end"
    return f"looked at all lines of {solved.depth} plies; not the end of the game"
