"""The review of a game over a WebSocket."""

from __future__ import annotations

from typing import Any

from pyengine.data.game_file import GameFile
from pyengine.review.moves import Review, ReviewedMove
from pyengine.review.search import review_game
from pyengine.serve.engines import Engines
from pyengine.serve.live import GoneError, Post
from pyengine.serve.play import budget
from pyengine.serve.positions import Place
from pyengine.serve.requests import ReviewRequest
from pyengine.serve.searches import Stop

_SIMULATIONS = 200  # of a position without a budget


def review(
    engines: Engines, place: Place, request: ReviewRequest, most: int, stop: Stop, post: Post
) -> None:
    """Review a game; post the progress, then the moves with what they lost."""
    simulations = budget(request.simulations, _SIMULATIONS, most)
    file = GameFile(place.game, place.start, place.actions)

    def report(done: int, total: int) -> bool:
        try:
            post({"type": "progress", "id": request.id, "done": done, "of": total})
        except GoneError:
            return False
        return True

    key = engines.key(place.game, request.network)
    with engines.lend(key, place.start, ()) as session, stop.ends(session.engine):
        engine = session.engine
        reviewed = review_game(file, engine, simulations=simulations, on_progress=report)
    post({"type": "review", "id": request.id, **_as_dict(reviewed)})


def _as_dict(reviewed: Review) -> dict[str, Any]:
    evaluations = reviewed.evaluations
    return {
        "moves": [_move(move) for move in reviewed.moves],
        "worst": [move.number for move in reviewed.worst()],
        "positions": [
            evaluation and {"winrate_black": evaluation.win_rate, "score": evaluation.score}
            for evaluation in evaluations
        ],
        "summary": [vars(reviewed.summary(player)) for player in (0, 1)],
        "seconds": reviewed.seconds,
        "complete": reviewed.complete,
        "notes": list(reviewed.notes),
    }


def _move(move: ReviewedMove) -> dict[str, Any]:
    after, best = move.after, move.best
    return {
        "ply": move.number,
        "move": move.name,
        "player": move.player,
        "winrate_black": None if after is None else after.win_rate,
        "score": None if after is None else after.score,
        "loss": move.win_rate_lost,
        "points_lost": move.points_lost,
        "class": move.move_class,
        "rank": move.rank,
        "best": None if best is None else best.names[0],
        "pv": [] if best is None else list(best.names),
    }
