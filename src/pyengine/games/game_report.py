"""The result of :func:`~pyengine.check_game`."""

from __future__ import annotations

from dataclasses import dataclass

_SHOWN_MOVES = 200  # longer games are abbreviated


@dataclass(frozen=True)
class GameReport:
    """The result of :func:`check_game`; true if no promise was broken."""

    game: str
    ok: bool
    message: str  #: ``"no broken promise"``, or the first broken one
    moves: tuple[int, ...]  #: the actions that lead to it
    games: int  #: finished random games
    plies: int  #: positions checked
    without: tuple[str, ...] = ()  #: optional features that a user's game lacks, with their cost
    warnings: tuple[str, ...] = ()  #: what is allowed but may surprise

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        lines = [f"{self.game}: {'ok' if self.ok else 'BROKEN'}: {self.message}"]
        if not self.ok:
            lines.append(_shown(self.moves))
        lines.append(f"{self.games} games, {self.plies} positions")
        lines += [f"without {feature}" for feature in self.without]
        lines += [f"warning: {warning}" for warning in self.warnings]
        return "\n  ".join(lines)


def _shown(moves: tuple[int, ...]) -> str:
    if len(moves) <= _SHOWN_MOVES:
        return f"after the actions {list(moves)}"
    return f"after {len(moves):,} actions (all in `moves`): [{moves[0]}, ..., {moves[-1]}]"
