"""The review of a game: what each move cost, and what was better."""

from pyengine.review.moves import Candidate, Evaluation, MoveClass, Review, ReviewedMove
from pyengine.review.search import ReviewInterrupted, review_game

__all__ = [
    "Candidate",
    "Evaluation",
    "MoveClass",
    "Review",
    "ReviewInterrupted",
    "ReviewedMove",
    "review_game",
]
