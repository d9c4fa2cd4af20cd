"""A review as SGF: comments, variations, marks and classes of moves."""

from __future__ import annotations

from collections.abc import Mapping

from pyengine.data.sgf.write import Annotation, write_sgf
from pyengine.review.moves import Evaluation, MoveClass, Review, ReviewedMove
from pyengine.review.wording import comment, facts, percent

_LABELS = "ABC"
_UNEXPECTED = 0.05  # prior below which the best move is worth a mark
_CLEAR, _FAVOURABLE = 0.9, 0.75  # win rates
_EVEN = 0.05  # distance of the win rate from one half
_PROPERTIES: Mapping[MoveClass, tuple[str, str]] = {
    MoveClass.blunder: ("BM", "2"),
    MoveClass.mistake: ("BM", "1"),
    MoveClass.inaccuracy: ("DO", ""),
}


def review_sgf(review: Review) -> bytes:
    """Return the game as SGF with the review in it.

    The content of the file that was reviewed stays. Each move has a comment, ``BM``, ``DO`` or
    ``TE``, the position's ``GB``, ``GW`` or ``DM``, ``V`` (points for Black, if the network
    predicts them) and ``SBKV`` (Black's win rate, for Sabaki's graph). If a better move was found,
    its line is a variation, a triangle marks it, and a square marks a mistake.

    Raises ConfigError if SGF does not support the game.
    """
    annotations = {0: _of_start(review)}
    for move in review.moves:
        annotations[move.number] = _of_move(review, move)
    file = review.file
    names = {} if file.record else {"PB": file.players[0], "PW": file.players[1]}
    return write_sgf(
        file.start,
        file.actions,
        result="" if file.record else file.result,
        texts={name: text for name, text in names.items() if text},
        annotations=annotations,
        record=file.record,
        keep_rules=True,
    )


def _of_start(review: Review) -> Annotation:
    lines = [f"{name}: {text}" for name, text in facts(review).items() if text]
    for player in (0, 1):
        summary = review.summary(player)
        classes = ", ".join(f"{count} {name}" for name, count in summary.classes.items() if count)
        lost = percent(summary.win_rate_lost)
        lines.append(f"{summary.player}: {lost} lost per move; {classes or 'no moves'}")
    worst = ", ".join(f"{move.number} ({move.name})" for move in review.worst())
    lines += [f"worst moves: {worst}"] if worst else []
    return _with_next(review, 0, "\n".join([*lines, *review.notes]), {}, {})


def _of_move(review: Review, move: ReviewedMove) -> Annotation:
    values, marks = _values(review, move.after), {}
    if move.is_lossy and move.best is not None:
        marks["TR"] = [move.best.actions[0]]
        if move.move_class in (MoveClass.mistake, MoveClass.blunder):
            marks["SQ"] = [move.action]
    elif move.rank == 1 and move.best is not None and move.best.prior < _UNEXPECTED:
        values["TE"] = "1"
    if move.move_class is not None and move.move_class in _PROPERTIES:
        name, value = _PROPERTIES[move.move_class]
        values[name] = value
    return _with_next(review, move.number, "\n".join(comment(review, move.number)), values, marks)


def _with_next(
    review: Review,
    ply: int,
    comment: str,
    values: dict[str, str],
    marks: dict[str, list[int]],
) -> Annotation:
    """Return the annotation of a position with what was better than the next move."""
    points = review.file.game.board_shape[0] * review.file.game.board_shape[1]
    following = review.moves[ply] if ply < len(review.moves) else None
    labels: dict[int, str] = {}
    variations = []
    if following is not None and following.is_lossy:
        is_bad = following.move_class in _PROPERTIES
        for label, candidate in zip(_LABELS, following.candidates, strict=False):
            if candidate.actions[0] == following.action or (label != "A" and not is_bad):
                continue
            labels[candidate.actions[0]] = label
            figures = f"{review.colours[0]} wins {percent(candidate.win_rate)}"
            variations.append(
                (candidate.actions, f"{label}: {figures}, {candidate.visits} simulations")
            )
    return Annotation(
        comment=comment,
        values=values,
        marks={name: [a for a in actions if a < points] for name, actions in marks.items()},
        labels={action: label for action, label in labels.items() if action < points},
        variations=variations,
    )


def _values(review: Review, evaluation: Evaluation | None) -> dict[str, str]:
    if evaluation is None:
        return {}
    values = {"SBKV": format(100 * evaluation.win_rate, ".2f")}
    if evaluation.score is not None:
        values["V"] = format(evaluation.score, ".1f")
    leader, rate = "GB", evaluation.win_rate
    if rate < 0.5:
        leader, rate = "GW", 1 - rate
    if rate >= _FAVOURABLE:
        values[leader] = "2" if rate >= _CLEAR else "1"
    elif rate <= 0.5 + _EVEN:
        values["DM"] = "1"
    return values
