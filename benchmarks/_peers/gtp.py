"""Leela Zero behind its text protocol: positions as moves, searches, and heat maps."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from .environment import PeerError
from .pairs import Timed
from .worker import Worker

#: The report after a search.
_SEARCHED = re.compile(r"(\d+) visits, \d+ nodes, \d+ playouts, \d+ n/s")
_WINRATE = re.compile(r"winrate: ([\d.]+)")
_ROW = re.compile(r"(?: *\d+){5,} *")
COLUMNS = "ABCDEFGHJKLMNOPQRST"


@dataclass(frozen=True)
class Analysis:
    """The network's evaluation of a position, without a search.

    Attributes:
        move: the point with the highest probability, such as "D4".
        winrate: win rate of the player to move, 0 to 1.
    """

    move: str
    winrate: float


def read_visits(lines: Sequence[str]) -> int:
    """Return the root's visits after a search. Raises PeerError if the output lacks them."""
    found = [match for line in lines if (match := _SEARCHED.search(line))]
    if not found:
        raise PeerError(f"leela-zero: expected a line 'N visits, ...', got {list(lines[-5:])}")
    return int(found[-1][1])


def read_analysis(lines: Sequence[str]) -> Analysis:
    """Parse a heat map. Raises PeerError if the lines are not a heat map."""
    rows = [[int(word) for word in line.split()] for line in lines if _ROW.fullmatch(line)]
    rates = [match for line in lines if (match := _WINRATE.search(line))]
    if not rates or not rows or any(len(row) != len(rows) for row in rows):
        raise PeerError(f"leela-zero: expected a heat map, got {list(lines)}")
    cells = ((rows[y][x], y, x) for y in range(len(rows)) for x in range(len(rows)))
    _, y, x = max(cells, key=lambda cell: cell[0])
    return Analysis(f"{COLUMNS[x]}{len(rows) - y}", float(rates[-1][1]))


class LeelaZero:
    """A running engine with a network, a thread count and a number of visits per search."""

    def __init__(self, program: str, weights: Path, threads: int, visits: int) -> None:
        """Start the process. Only the first answer confirms that it runs."""
        options = f"--gtp --cpu-only --noponder --timemanage off -r 0 -s 1 -t {threads} -v {visits}"
        self._worker = Worker([program, *options.split(), "-w", str(weights)], with_errors=True)
        self.command("time_settings 0 1 0")  # no time limit

    def command(self, text: str) -> list[str]:
        """Return the lines up to the answer, inclusive. Raises PeerError if the command fails."""
        self._worker.tell(text)
        lines = [self._worker.line()]
        while not lines[-1].startswith(("=", "?")):
            lines.append(self._worker.line())
        if lines[-1].startswith("?"):
            raise PeerError(f"leela-zero: {text}: {lines[-1]}")
        return lines

    def set_position(self, moves: Sequence[str]) -> None:
        """Discard the tree and play these moves, starting with Black's."""
        self.command("clear_board")
        for ply, move in enumerate(moves):
            self.command(f"play {'wb'[ply % 2 == 0]} {move}")

    def analyse(self) -> Analysis:
        """Return the network's evaluation of the position."""
        return read_analysis(self.command("heatmap"))

    def search(self, player: str) -> Timed:
        """Search the position for ``b`` or ``w`` and count the root's visits."""
        begun, used = time.perf_counter(), self._worker.cpu_seconds()
        lines = self.command(f"genmove {player}")
        wall, cpu = time.perf_counter() - begun, self._worker.cpu_seconds() - used
        return Timed(read_visits(lines), wall, cpu)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._worker.close()
