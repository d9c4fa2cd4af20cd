"""SVG pictures of boards, and HTML for notebooks."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from pyengine.show.board import Board, Point, look_of

CELL = 32  #: pixels per cell
MARGIN = 22  #: pixels left and below, for row and column names
_ON_LINES = ("go", "gomoku")  # games with stones on the intersections
_INK = "#222"  # text colour
_GOOD, _BAD = "#06c", "#c50"  # of marks


@dataclass(frozen=True, kw_only=True)
class Mark:
    """A coloured disc with a number on a point."""

    point: Point
    text: str
    strength: float  #: of the colour, in [0, 1]
    good: bool = True  #: the colour: blue, or orange


def share_marks(shares: Sequence[tuple[Point, float]]) -> list[Mark]:
    """Return marks with shares in [0, 1] as percentages; those below half a percent are omitted."""
    marks = (Mark(point=p, text=f"{share:.0%}", strength=share) for p, share in shares)
    return [mark for mark in marks if mark.text != "0%"]


def board_html(
    board: Board, caption: str, marks: Sequence[Mark] = (), best: Point | None = None
) -> str:
    """Return HTML with the picture of a board and a caption."""
    return image_html(board_svg(board, marks, best), "the board") + text_html(caption)


def image_html(svg: str, description: str) -> str:
    """Return HTML with an SVG picture.

    The picture is an image because JupyterLab removes inline SVG from untrusted notebooks.
    """
    import html

    data = base64.b64encode(svg.encode()).decode()
    return f'<img alt="{html.escape(description)}" src="data:image/svg+xml;base64,{data}">'


def text_html(text: str) -> str:
    """Return text as HTML in a monospace font."""
    import html  # slow to import

    return f'<pre style="font-family: monospace">{html.escape(text)}</pre>'


def table_html(rows: Sequence[Sequence[str]], title: str, note: str = "") -> str:
    """Return a table as HTML; the first row is its header."""
    import html

    lines = [f"<table><caption>{html.escape(title)}</caption>"]
    for number, row in enumerate(rows):
        tag = "td" if number else "th"
        cells = (f'<{tag} style="text-align: right">{html.escape(cell)}</{tag}>' for cell in row)
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return "\n".join([*lines, "</table>", f"<p>{html.escape(note)}</p>" if note else ""])


def board_svg(
    board: Board,
    marks: Sequence[Mark] = (),
    best: Point | None = None,
    owners: Sequence[Sequence[float]] = (),
) -> str:
    """Return the picture of a board.

    ``best``: the point to frame. ``owners``: rows of values in [-1, 1]; 1 = the first player's
    point, drawn as a square in that player's colour.
    """
    width = len(board.column_names) * CELL + MARGIN
    height = len(board.rows) * CELL + MARGIN
    layers = (
        _grid(board),
        _names(board),
        _stones(board),
        _last(board),
        _owners(owners),
        _marks(board, marks),
        _frame(best),
    )
    return "".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" font-family="sans-serif" text-anchor="middle">',
            f'<rect width="{width}" height="{height}" fill="{look_of(board.game).board}"/>',
            *chain.from_iterable(layers),
            "</svg>",
        ]
    )


def _center(row: float, column: float) -> tuple[float, float]:
    """Return the x and y of the centre of a cell."""
    return MARGIN + (column + 0.5) * CELL, (row + 0.5) * CELL


def _grid(board: Board) -> Iterator[str]:
    rows, columns = len(board.rows), len(board.column_names)
    shift = 0.0 if board.game in _ON_LINES else -0.5
    more = 0 if shift == 0.0 else 1
    down, right = rows - 1 + more, columns - 1 + more
    colour = look_of(board.game).lines
    for row in range(down + 1):
        yield _line(_center(row + shift, shift), _center(row + shift, right + shift), colour)
    for column in range(right + 1):
        yield _line(_center(shift, column + shift), _center(down + shift, column + shift), colour)


def _line(begin: tuple[float, float], end: tuple[float, float], colour: str) -> str:
    return (
        f'<line x1="{begin[0]:g}" y1="{begin[1]:g}" x2="{end[0]:g}" y2="{end[1]:g}" '
        f'stroke="{colour}"/>'
    )


def _names(board: Board) -> Iterator[str]:
    for row, name in enumerate(board.row_names):
        yield _text(MARGIN / 2, _center(row, 0)[1] + 4, name, 12, _INK)
    y = len(board.rows) * CELL + MARGIN * 0.7
    for column, name in enumerate(board.column_names):
        yield _text(_center(0, column)[0], y, name, 12, _INK)


def _text(x: float, y: float, text: str, size: int, fill: str) -> str:
    return f'<text x="{x:g}" y="{y:g}" font-size="{size}" fill="{fill}">{text}</text>'


def _circle(point: Point, radius: float, style: str) -> str:
    x, y = _center(*point)
    return f'<circle cx="{x:g}" cy="{y:g}" r="{radius * CELL:g}" {style}/>'


def _stones(board: Board) -> Iterator[str]:
    fills = look_of(board.game).stones
    for row, line in enumerate(board.rows):
        for column, stone in enumerate(line):
            if stone == ".":
                continue
            if fills is None:
                x, y = _center(row, column)
                yield _text(x, y + 8, stone, 23, _INK)
            else:
                fill = fills["XO".index(stone)]
                yield _circle((row, column), 0.44, f'fill="{fill}" stroke="#111"')


def _last(board: Board) -> Iterator[str]:
    if board.last is not None:
        look = look_of(board.game)
        radius = 0.44 if look.stones is None else 0.2  # around a letter, or inside a stone
        yield _circle(board.last, radius, f'fill="none" stroke="{look.mark}" stroke-width="2.5"')


def _marks(board: Board, marks: Sequence[Mark]) -> Iterator[str]:
    background = look_of(board.game).board
    for mark in marks:
        colour = _GOOD if mark.good else _BAD
        opacity = 0.25 + 0.6 * mark.strength
        yield _circle(mark.point, 0.42, f'fill="{background}"')  # hides the lines behind the number
        yield _circle(mark.point, 0.42, f'fill="{colour}" fill-opacity="{opacity:.2f}"')
        x, y = _center(*mark.point)
        yield _text(x, y + 4, mark.text, 11, "#fff" if mark.strength > 0.4 else "#111")


def _owners(owners: Sequence[Sequence[float]]) -> Iterator[str]:
    for row, values in enumerate(owners):
        for column, value in enumerate(values):
            side = 0.55 * CELL * min(abs(value), 1.0)
            if side < 1:
                continue
            x, y = (part - side / 2 for part in _center(row, column))
            fill, edge = ("#111", "#fff") if value > 0 else ("#fff", "#111")
            yield (
                f'<rect x="{x:.1f}" y="{y:.1f}" width="{side:.1f}" height="{side:.1f}" '
                f'fill="{fill}" stroke="{edge}"/>'
            )


def _frame(point: Point | None) -> Iterator[str]:
    if point is not None:
        x, y = (part - CELL / 2 + 1 for part in _center(*point))
        yield (
            f'<rect x="{x:g}" y="{y:g}" width="{CELL - 2}" height="{CELL - 2}" fill="none" '
            'stroke="#c00" stroke-width="2"/>'
        )
