"""Figures of a review in words, the same in text, SGF and HTML."""

from __future__ import annotations

from pyengine.review.moves import Evaluation, Review, ReviewedMove

#: Why a score and a win rate may disagree.
SCORE_SOURCE = "Scores are the network's predictions; win rates come from the search."


def percent(share: float | None) -> str:
    """Return a share such as ``12.3%``; "-" if unknown."""
    return "-" if share is None else f"{share:.1%}"


def win_text(evaluation: Evaluation | None) -> str:
    """Return the first player's win rate, with ``!`` if it is proven."""
    if evaluation is None:
        return "-"
    return percent(evaluation.win_rate) + ("" if evaluation.proven is None else "!")


def score_text(review: Review, evaluation: Evaluation | None) -> str:
    """Return who leads by how many points, such as ``B+3.5``; "" without a score."""
    if evaluation is None or evaluation.score is None:
        return ""
    lead = round(evaluation.score, 1)
    leader = review.colours[lead < 0]
    return f"{leader[0]}+{abs(lead):.1f}" if lead else "even"


def discs_text(evaluation: Evaluation | None) -> str:
    """Return the discs of both players in Othello, else ""."""
    if evaluation is None or evaluation.discs is None:
        return ""
    return "-".join(map(str, evaluation.discs))


def points_text(points: float | None) -> str:
    """Return lost points; "" if the network predicts no score."""
    return "" if points is None else f"{points:.1f}"


def comment(review: Review, ply: int) -> list[str]:
    """Return the lines of a comment on the position after ``ply`` moves."""
    position = _position_text(review, review.evaluations[ply])
    if ply == 0:
        return [f"Start. {position}".strip()]
    move = review.moves[ply - 1]
    lines = [f"Move {ply}, {review.colours[move.player]} {move.name}{_class_text(move)}"]
    if move.win_rate_lost is not None:
        points = "" if move.points_lost is None else f" and {points_text(move.points_lost)} points"
        lost = f"loses {percent(move.win_rate_lost)}{points}; " if move.is_lossy else ""
        lines.append(f"{move.name}: {lost}{_rank_text(move)}.")
    if move.alternative is not None:
        lines.append(f"{'Better' if move.is_lossy else 'Or'}: {' '.join(move.alternative.names)}")
    return [*lines, *filter(None, [position])]


def _class_text(move: ReviewedMove) -> str:
    return "" if move.move_class is None else f": {move.move_class}"


def _rank_text(move: ReviewedMove) -> str:
    if move.rank is None:
        return "the engine did not consider it"
    return "the engine's choice" if move.rank == 1 else f"the engine's choice number {move.rank}"


def _position_text(review: Review, evaluation: Evaluation | None) -> str:
    if evaluation is None:
        return ""
    proven = " (proven)" if evaluation.proven is not None else ""
    score, discs = score_text(review, evaluation), discs_text(evaluation)
    more = (f", score {score}" if score else "") + (f", discs {discs}" if discs else "")
    return f"{review.colours[0]} wins {percent(evaluation.win_rate)}{proven}{more}."


def heading(review: Review) -> str:
    """Return the players with their colours; without names, the game."""
    if not any(review.file.players):
        return f"{review.file.game.name} {board_text(review)}".strip()
    named = zip(review.colours, review.file.players, strict=True)
    return " - ".join(f"{name} ({colour})" if name else colour for colour, name in named)


def facts(review: Review) -> dict[str, str]:
    """Return what was reviewed, and how."""
    each = "" if review.simulations is None else f"{review.simulations:,} simulations each, "
    cut = "" if review.complete else "stopped early, "
    return {
        "game": f"{review.file.game.name} {board_text(review)}".strip(),
        "result": review.file.result,
        "moves": str(len(review.moves)),
        "engine": f"{review.model}, {each}{cut}{review.rows:,} positions in {review.seconds:.1f} s",
    }


def board_text(review: Review) -> str:
    """Return the board size and komi; "" without a board."""
    game = review.file.game
    if not game.has_board:
        return ""
    rows, columns = game.board_shape
    komi = f", komi {game.params['komi']:g}" if "komi" in game.params else ""
    return f"{columns}x{rows}{komi}"
