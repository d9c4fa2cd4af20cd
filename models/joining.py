"""Matches between networks of a run whose own matches left them on chains that never meet.

A run whose candidates met only the network of some generations ago has as many chains as that,
and errors between them that no rating can mend. A few matches of neighbours join them.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from pyengine.match import MatchResult
from pyengine.train import judge
from pyengine.train.curve import of_curve
from pyengine.train.files import append_line, read_lines
from pyengine.train.state import RunFolder

__all__ = ["join", "pairs"]

_MOST = 25  # matches


def join(folder: RunFolder, say: Callable[[str], object], most: int = _MOST) -> None:
    """Play what joins the chains of a run's curve, with the games and simulations of its gate.

    Nothing where all neighbours have met. Each result is a line of ``joining.jsonl``; Ctrl-C keeps
    the games that are finished, and the same call goes on from there.

    Args:
        folder: of the run.
        say: shows progress.
        most: matches, about.

    Raises:
        KeyboardInterrupt: Ctrl-C.

    """
    gate = folder.run().gate
    chosen = pairs(folder, most) if gate.games else []
    done = {frozenset((each["player"], each["opponent"])) for each in read_lines(folder.joining)}
    for number, two in enumerate(chosen, 1):
        if frozenset(two) not in done:
            _play(folder, two, f"joining match {number} of {len(chosen)}", say)


def pairs(folder: RunFolder, most: int = _MOST) -> list[tuple[int, int]]:
    """Return the steps of those who are to meet, the newer first; what was played later is left.

    Networks and the one or two after them, where they have not met; of a long run some, evenly
    from its end, and so that all chains are among them.
    """
    lines = read_lines(folder.curve)
    taken = [0, *(int(line["step"]) for line in lines if line["accepted"])]
    kept = [step for step in taken if folder.candidate(step).exists()]
    met = {frozenset((each.player, each.opponent)) for each in of_curve(folder, lines)}
    apart = [at for at in range(len(kept) - 1) if frozenset(kept[at : at + 2]) not in met]
    stride = max(1, math.ceil(2 * len(apart) / most))
    while math.gcd(stride, folder.run().gate.against) > 1:
        stride += 1
    found = [
        (kept[at + ahead], kept[at])
        for at in apart[::-stride]
        for ahead in (2, 1)
        if at + ahead < len(kept)
    ]
    return [two for two in found if frozenset(two) not in met]


def _play(folder: RunFolder, two: tuple[int, int], name: str, say: Callable[[str], object]) -> None:
    """Play a match of two networks and keep its result."""
    run = folder.run()
    gate = run.gate.replace(mode="latest", method="score")

    def show(result: MatchResult) -> None:
        say(f"{name}: {result.games} games")

    newer, older = two
    settings = gate.search_config().fingerprint()[:8]  # a record is of one setting
    found = judge(
        folder.candidate(newer),
        folder.candidate(older),
        run.games,
        gate,
        seed=run.run.seed + newer,
        on_progress=show,
        record=folder.log / f"join-{newer:08d}-{older:08d}-{settings}",
    )
    line = {"player": newer, "opponent": older}
    counts = {"wins": found.wins, "draws": found.draws, "losses": found.losses}
    append_line(folder.joining, line | counts)
    for record in folder.log.glob("join-*.jsonl"):
        record.unlink()
