"""A bar of counts as an SVG picture."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

_WIDTH, _HEIGHT = 420, 28  # pixels
_FILLS = (("#1f6fb2", "#fff"), ("#d8d4c8", "#222"), ("#c25f12", "#fff"))  # with the text's colour
_LEAST = 70  # pixels that a label needs


def shares_svg(counts: Sequence[tuple[int, str]]) -> str:
    """Return a bar of at most three counts with their names; empty if all are 0."""
    total = sum(count for count, _ in counts)
    parts, x = [], 0.0
    for (count, name), (fill, ink) in zip(counts, _FILLS, strict=False):
        width = _WIDTH * count / total if total else 0.0
        parts.append(f'<rect x="{x:.1f}" width="{width:.1f}" height="{_HEIGHT}" fill="{fill}"/>')
        if width >= _LEAST:
            parts.append(
                f'<text x="{x + width / 2:.1f}" y="19" fill="{ink}">{count:,} {escape(name)}</text>'
            )
        x += width
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{_HEIGHT}" '
        f'viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="sans-serif" font-size="13" '
        f'text-anchor="middle">{"".join(parts)}</svg>'
    )
