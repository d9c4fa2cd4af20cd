"""A review as text in 80 columns; requires the extra ``cli``."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from pyengine.review.moves import MoveClass, Review, ReviewedMove
from pyengine.review.wording import (
    SCORE_SOURCE,
    discs_text,
    facts,
    heading,
    percent,
    points_text,
    score_text,
    win_text,
)

_COLUMNS = 80
_GRAPH_ROWS = 8
_GRAPH_COLUMNS = 72
_MOST_PER_POSITION = 3  # columns
_BLOCKS = " ▁▂▃▄▅▆▇█"
_ASCII = " .:#"
_LABELS = {0: "100%", _GRAPH_ROWS // 2: " 50%", _GRAPH_ROWS - 1: "  0%"}
_BAD = (MoveClass.mistake, MoveClass.blunder)
_STYLES = {MoveClass.blunder: "red", MoveClass.mistake: "magenta", MoveClass.inaccuracy: "yellow"}


def review_text(review: Review, *, blocks: bool = True) -> Iterator[RenderableType]:
    """Return the parts of a review: facts, graph, worst moves, summary, all moves.

    ``blocks``: draw the graph with block characters instead of ASCII.
    """
    yield Text(textwrap.fill(heading(review), _COLUMNS), style="bold")
    for name, text in [*facts(review).items(), *(("note", note) for note in review.notes)]:
        if text:
            line = f"{name + ':':<8}{text}"
            yield Text(textwrap.fill(line, _COLUMNS, subsequent_indent=" " * 8))
    yield Text("")
    yield from _graph(review, _BLOCKS if blocks else _ASCII)
    yield Text("")
    worst = review.worst()
    yield Text("The worst moves, by win rate lost:" if worst else "No move lost anything.")
    if worst:
        yield _worst_table(review, worst)
    yield Text("")
    yield _summary_table(review)
    yield Text("")
    yield _moves_table(review)
    if any(e is not None and e.proven is not None for e in review.evaluations):
        yield Text("! proven")
    if any(e is not None and e.score is not None for e in review.evaluations):
        yield Text(SCORE_SOURCE)


def _graph(review: Review, levels: str) -> Iterator[Text]:
    """Draw the first player's win rate, one or more columns for each position."""
    count = len(review.evaluations)
    each = max(1, min(_MOST_PER_POSITION, _GRAPH_COLUMNS // count))
    width = min(count * each, _GRAPH_COLUMNS)
    shown = [column * count // width for column in range(width)]
    player = review.colours[0]
    yield Text(f"{player[0].upper()}{player[1:]}'s win rate after each move")
    for row in range(_GRAPH_ROWS):
        bars = "".join(_cell(review, i, row, levels) for i in shown)
        yield Text(f"{_LABELS.get(row, ''):>4} |{bars}".rstrip())
    yield Text("     +" + "-" * width)
    yield Text(f"      {_ticks(shown)}".rstrip())
    marks = _marks(review, shown)
    if marks.strip():
        yield Text(f"      {marks}".rstrip())
        yield Text("      x = a mistake or a blunder")


def _cell(review: Review, position: int, row: int, levels: str) -> str:
    """Return the part of a bar in a row of the graph, row 0 at the top."""
    evaluation = review.evaluations[position]
    if evaluation is None:
        return " "
    filled = evaluation.win_rate * _GRAPH_ROWS - (_GRAPH_ROWS - 1 - row)
    top = len(levels) - 1
    return levels[max(0, min(top, round(filled * top)))]


def _ticks(shown: Sequence[int]) -> str:
    """Return the numbers of the moves below the graph, about one each ten columns."""
    labels = [" "] * (len(shown) + 4)
    free = 0
    for column, position in enumerate(shown):
        is_first = column == 0 or shown[column - 1] // 10 != position // 10
        text = str(position // 10 * 10)
        if is_first and column >= free:
            labels[column : column + len(text)] = text
            free = column + len(text) + 2
    return "".join(labels)


def _marks(review: Review, shown: Sequence[int]) -> str:
    """Return a line with an x below each bad move."""
    bad = {move.number for move in review.moves if move.move_class in _BAD}
    columns = []
    for column, position in enumerate(shown):
        before = shown[column - 1] if column else -1
        columns.append("x" if bad & set(range(before + 1, position + 1)) else " ")
    return "".join(columns)


def _table(*headings: str, left: Sequence[str] = ()) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading_ in headings:
        side = "left" if heading_ in left else "right"
        table.add_column(heading_, justify=side, no_wrap=True)  # type: ignore[arg-type]
    return table


def _worst_table(review: Review, worst: Sequence[ReviewedMove]) -> Table:
    points = ("points",) if review.has_score else ()
    left = ("player", "class", "better line")
    table = _table("move", "player", "played", "lost", *points, "class", "better line", left=left)
    taken = 46 + max(map(len, review.colours)) - len("player")
    for move in worst:
        lost = [percent(move.win_rate_lost)]
        lost += [points_text(move.points_lost)] if points else []
        line = move.best.names if move.best else ()
        table.add_row(
            str(move.number),
            review.colours[move.player],
            move.name,
            *lost,
            str(move.move_class),
            _shortened(line, _COLUMNS - taken - 8 * len(points)),
            style=_STYLES.get(move.move_class) if move.move_class else None,
        )
    return table


def _shortened(names: Sequence[str], width: int) -> str:
    """Return as many names as fit."""
    text = " ".join(names)
    while len(text) > width and len(names) > 1:
        names = names[:-1]
        text = " ".join(names) + " ..."
    return text


def _summary_table(review: Review) -> Table:
    points = ("points",) if review.has_score else ()
    headings = ("moves", "lost", *points, *MoveClass)
    table = _table("average of", *headings, left=("average of",))
    for player in (0, 1):
        summary = review.summary(player)
        name = textwrap.shorten(summary.player, 24, placeholder=" ...")
        table.add_row(
            name[:24],
            str(summary.moves),
            percent(summary.win_rate_lost),
            *([points_text(summary.points_lost)] if points else []),
            *map(str, summary.classes.values()),
        )
    return table


def _moves_table(review: Review) -> Table:
    extra = ("score", "points") if review.has_score else ()
    discs = ("discs",) if any(e is not None and e.discs for e in review.evaluations) else ()
    wins = f"{review.colours[0]} wins"
    headings = ("move", "player", "played", wins, *extra[:1], *discs, "lost", *extra[1:])
    table = _table(*headings, "class", "best", left=("player", "class"))
    for move in review.moves:
        table.add_row(
            str(move.number),
            review.colours[move.player],
            move.name,
            win_text(move.after),
            *([score_text(review, move.after)] if extra else []),
            *([discs_text(move.after)] if discs else []),
            percent(move.win_rate_lost),
            *([points_text(move.points_lost)] if extra else []),
            str(move.move_class or "-"),
            move.alternative.names[0] if move.alternative else "",
            style=_STYLES.get(move.move_class) if move.move_class else None,
        )
    return table
