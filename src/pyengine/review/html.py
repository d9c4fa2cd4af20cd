"""A review as one page of HTML that needs nothing else: board, graph, tables, keyboard."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from html import escape
from importlib.resources import files
from typing import Any

from pyengine.games.board_layout import board_of, last_point, point_of, state_text
from pyengine.games.game import State
from pyengine.review.moves import Evaluation, MoveClass, Review, ReviewedMove
from pyengine.review.wording import (
    SCORE_SOURCE,
    comment,
    discs_text,
    facts,
    heading,
    percent,
    points_text,
    score_text,
    win_text,
)
from pyengine.show.board import look_of
from pyengine.show.picture import CELL, MARGIN, board_svg

_SIGNS = {MoveClass.inaccuracy: "?!", MoveClass.mistake: "?", MoveClass.blunder: "??"}
_MARKED = (MoveClass.mistake, MoveClass.blunder)  # in the graph
_OWNER_STEPS = 4  # levels of ownership on each side, one digit per point
_TEXT = "text"  # class of cells with words


def review_html(review: Review) -> str:
    """Return the page. It loads nothing, and every text of the file is escaped."""
    positions = review.file.positions
    data = json.dumps(_data(review, positions), ensure_ascii=False, separators=(",", ":"))
    parts = {
        "title": escape(f"{heading(review)}: review"),
        "heading": escape(heading(review)),
        "facts": _facts(review),
        "board": _board(positions[0]),
        "overlays": _overlays(review),
        "graph-title": escape(_graph_title(review)),
        "graph": _graph(review),
        "worst": _worst(review),
        "summary": _summary(review),
        "moves": _moves(review),
        "data": data.replace("<", "\\u003c").replace("\u2028", "\\u2028"),
    }
    page = files("pyengine.review").joinpath("page.html").read_text("utf-8")
    pieces = page.split("<!--")
    filled = [pieces[0]]
    for piece in pieces[1:]:
        name, _, rest = piece.partition("-->")
        filled += [parts[name], rest]
    return "".join(filled)


def _facts(review: Review) -> str:
    text = "; ".join(f"{name}: {value}" for name, value in facts(review).items() if value)
    notes = "".join(f'<p class="soft">Note: {escape(note)}</p>' for note in review.notes)
    return f'<p class="soft">{escape(text)}</p>{notes}'


def _board(start: State) -> str:
    """Return the empty board, with a layer for the stones."""
    if not start.game.has_board:
        return '<pre id="position"></pre>'
    board = board_of(start)
    rows = ["." * len(row) for row in board.rows]
    empty = type(board)(
        game=board.game, rows=rows, row_names=board.row_names, column_names=board.column_names
    )
    svg = board_svg(empty).replace("<svg ", '<svg id="drawing" role="img" ', 1)
    return svg.removesuffix("</svg>") + '<g id="layer"></g></svg>'


def _overlays(review: Review) -> str:
    """Return the boxes that switch what is drawn on the board."""
    if not review.file.game.has_board:
        return ""
    boxes = '<label><input type="checkbox" id="shown" checked> best moves</label>'
    if any(e is not None and e.ownership is not None for e in review.evaluations):
        boxes += '<label><input type="checkbox" id="owner"> ownership</label>'
    return boxes


# --- the data of the script


def _data(review: Review, positions: Sequence[State]) -> dict[str, Any]:
    texts = [
        "\n".join([*comment(review, ply), *_best_now(review, ply)]) for ply in range(len(positions))
    ]
    data: dict[str, Any] = {"texts": texts, "mistakes": _mistakes(review)}
    game = review.file.game
    if not game.has_board:
        return data | {"boards": None, "positions": [state_text(state) for state in positions]}
    look = look_of(game.name)
    columns = game.board_shape[1]
    lasts = (last_point(state) for state in positions)
    return data | {
        "columns": columns,
        "cell": CELL,
        "margin": MARGIN,
        "stones": look.stones,
        "mark": look.mark,
        "boards": ["".join(state.board_rows()) for state in positions],
        "lasts": [None if point is None else point[0] * columns + point[1] for point in lasts],
        "owners": [_owners(evaluation) for evaluation in review.evaluations],
        "best": [*_best(review, positions), []],
    }


def _best_now(review: Review, ply: int) -> Iterator[str]:
    """Describe the lettered moves of a position."""
    candidates = review.moves[ply].candidates if ply < len(review.moves) else ()
    if candidates:
        yield ""
        yield f"Best now ({review.colours[0]} wins):"
    for label, candidate in zip("ABC", candidates, strict=False):
        yield f"{label} {percent(candidate.win_rate)}: {' '.join(candidate.names)}"


def _mistakes(review: Review) -> list[int]:
    return [move.number for move in review.moves if move.move_class in _SIGNS]


def _owners(evaluation: Evaluation | None) -> str | None:
    """Return a digit for each point: 0 is the second player's, 8 the first player's."""
    if evaluation is None or evaluation.ownership is None:
        return None
    levels = (evaluation.ownership.clip(-1, 1) * _OWNER_STEPS).round().astype(int) + _OWNER_STEPS
    return "".join(map(str, levels.ravel().tolist()))


def _best(review: Review, positions: Sequence[State]) -> Iterator[list[int | None]]:
    columns = review.file.game.board_shape[1]
    for state, move in zip(positions, review.moves, strict=False):
        points = (point_of(state, candidate.actions[0]) for candidate in move.candidates)
        yield [None if p is None else p[0] * columns + p[1] for p in points]


# --- the graph


def _graph_title(review: Review) -> str:
    lead = ", and lead in points (line)" if review.has_score else ""
    player = review.colours[0]
    return f"{player[0].upper()}{player[1:]}'s win rate (dark){lead}"


def _graph(review: Review) -> str:
    """Return the graph, 100 units high and one unit wide for each move."""
    width = len(review.evaluations) - 1
    known = [(i, e) for i, e in enumerate(review.evaluations) if e is not None]
    tops = " ".join(f"{i},{100 * (1 - e.win_rate):.1f}" for i, e in known)
    area = f"{known[0][0]},100 {tops} {known[-1][0]},100" if known else ""
    return (
        f'<svg id="graph" viewBox="0 0 {width} 100" preserveAspectRatio="none" role="img" '
        f'aria-label="{escape(_graph_title(review))}; the table has the numbers">'
        f'<polygon class="area" points="{area}"/>'
        f'<line class="half" x1="0" y1="50" x2="{width}" y2="50"/>'
        f"{_lead(known)}{_ticks(review)}"
        '<line id="here" class="here" x1="0" y1="0" x2="0" y2="100"/></svg>'
        f'<p class="soft">{escape(_scale(review))}</p>'
    )


def _lead(known: Sequence[tuple[int, Evaluation]]) -> str:
    scores = [(i, e.score) for i, e in known if e.score is not None]
    if not scores:
        return ""
    most = _most_lead([score for _, score in scores])
    points = " ".join(f"{i},{50 - 50 * score / most:.1f}" for i, score in scores)
    return f'<polyline class="lead" points="{points}"/>'


def _ticks(review: Review) -> str:
    """Mark the mistakes and blunders at the top and at the bottom."""
    bad = (move.number for move in review.moves if move.move_class in _MARKED)
    return "".join(f'<path class="bad" d="M{i},92V100M{i},0V8"/>' for i in bad)


def _most_lead(scores: Sequence[float]) -> float:
    return max(10.0, *map(abs, scores))


def _scale(review: Review) -> str:
    scores = [e.score for e in review.evaluations if e is not None and e.score is not None]
    points = f" ({_most_lead(scores):.0f} points)" if scores else ""
    return (
        f"Top: 100%{points}; bottom: 0%. Ticks: mistakes. "
        f"Keys: arrows, Home, End; m = next mistake.{' ' + SCORE_SOURCE if scores else ''}"
    )


# --- tables


def _table(caption: str, headings: Sequence[tuple[str, str]], rows: Sequence[str]) -> str:
    head = "".join(f'<th scope="col" class="{kind}">{escape(name)}</th>' for name, kind in headings)
    return (
        f'<div class="scroll"><table><caption>{escape(caption)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def _row(cells: Sequence[tuple[str, str]], ply: int | None = None) -> str:
    """Return a table row; the first cell of a move's row goes to its position."""
    texts = [f'<td class="{kind}">{escape(text)}</td>' for text, kind in cells]
    if ply is None:
        return f"<tr>{''.join(texts)}</tr>"
    texts[0] = f'<td><button data-ply="{ply}">{escape(cells[0][0])}</button></td>'
    return f'<tr data-ply="{ply}">{"".join(texts)}</tr>'


def _worst(review: Review) -> str:
    worst = review.worst()
    if not worst:
        return ""
    points = [("points", "")] if review.has_score else []
    headings = [("move", ""), ("player", _TEXT), ("played", ""), ("lost", ""), *points]
    rows = [
        _row(
            [
                *_start_of_row(review, move),
                (percent(move.win_rate_lost), ""),
                *([(points_text(move.points_lost), "")] if points else []),
                _class_of(move),
                (" ".join(move.best.names) if move.best else "", f"{_TEXT} line"),
            ],
            move.number,
        )
        for move in worst
    ]
    headings += [("class", _TEXT), ("better line", _TEXT)]
    return f"<h2>Worst moves</h2>{_table('by win rate lost', headings, rows)}"


def _start_of_row(review: Review, move: ReviewedMove) -> list[tuple[str, str]]:
    return [(str(move.number), ""), (review.colours[move.player], _TEXT), (move.name, "")]


def _class_of(move: ReviewedMove) -> tuple[str, str]:
    if move.move_class is None:
        return "-", _TEXT
    sign = _SIGNS.get(move.move_class, "")
    return f"{move.move_class} {sign}".strip(), f"{_TEXT} {move.move_class}"


def _summary(review: Review) -> str:
    points = [("points", "")] if review.has_score else []
    headings = [("player", _TEXT), ("moves", ""), ("lost", ""), *points]
    headings += [(str(each), "") for each in MoveClass]
    rows = []
    for player in (0, 1):
        summary = review.summary(player)
        cells = [(summary.player, f"{_TEXT} line"), (str(summary.moves), "")]
        cells += [(percent(summary.win_rate_lost), "")]
        cells += [(points_text(summary.points_lost), "")] if points else []
        cells += [(str(count), "") for count in summary.classes.values()]
        rows.append(_row(cells))
    return _table("lost per move, and moves of each class", headings, rows)


def _moves(review: Review) -> str:
    scored = review.has_score
    discs = any(e is not None and e.discs for e in review.evaluations)
    headings = [("move", ""), ("player", _TEXT), ("played", "")]
    headings += [(f"{review.colours[0]} wins", "")]
    headings += [("score", "")] * scored + [("discs", "")] * discs + [("lost", "")]
    headings += [("points", "")] * scored + [("class", _TEXT), ("best", "")]
    rows = []
    for move in review.moves:
        cells = [*_start_of_row(review, move), (win_text(move.after), "")]
        cells += [(score_text(review, move.after), "")] * scored
        cells += [(discs_text(move.after), "")] * discs
        cells += [(percent(move.win_rate_lost), "")]
        cells += [(points_text(move.points_lost), "")] * scored
        best = move.alternative.names[0] if move.alternative else ""
        rows.append(_row([*cells, _class_of(move), (best, "")], move.number))
    return _table("evaluations after each move; ! = proven", headings, rows)
