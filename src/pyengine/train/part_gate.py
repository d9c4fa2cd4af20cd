"""The part that judges: the newest candidate against the best network."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from pyengine.bundled import sha256_of
from pyengine.match import MatchResult
from pyengine.train.files import append_line, read_lines
from pyengine.train.gate import Judgement, judge
from pyengine.train.part_selfplay import evaluator_of
from pyengine.train.parts import Part
from pyengine.train.state import Best

__all__ = ["work"]


def work(part: Part) -> None:
    """Judge candidates until told to end. Told to finish, it judges the newest one first."""
    while not part.stopping:
        step = _newest(part)
        if step is not None:
            _judge(part, step)
        elif part.finishing:
            break
        else:
            part.say({"state": "waits for a candidate"})
            part.wait()
    part.say({"state": "ended"}, now=True)


def _newest(part: Part) -> int | None:
    """Return the step of the newest candidate, if it was not judged; others are skipped."""
    steps = part.folder.candidates()
    best = part.folder.best()
    if best is None or not steps or steps[-1] <= part.folder.judged():
        return None
    return steps[-1]


def _judge(part: Part, step: int) -> None:
    """Play the candidate's games and let it take the best network's place, if it may."""
    folder, config = part.folder, part.run.gate
    before = folder.best()
    assert before is not None
    path = folder.candidate(step)
    candidate = Best(
        name=path.name,
        sha256=sha256_of(path),
        step=step,
        generation=before.generation + 1,
        elo=before.elo,
    )
    latest = config.mode == "latest"
    other = before
    if latest:
        folder.set_best(candidate)
        other = _earlier(part, before)
    begun = time.monotonic()
    if config.games == 0:
        _add(part, candidate, None, time.monotonic() - begun)
        return

    def show(result: MatchResult) -> None:
        score = result.score if result.games else None
        part.say({"state": "judges", "step": step, "games": result.games, "score": score})

    found = judge(
        path,
        evaluator_of(other, folder),
        part.run.games,
        config,
        seed=part.run.run.seed + step,
        stop=lambda: part.stopping,
        on_progress=show,
        record=folder.log / f"match-{step:08d}",
    )
    if found.complete or latest:
        rated = replace(candidate, elo=other.elo + found.elo) if found.games else candidate
        if found.accepted:
            folder.set_best(rated)
        _add(part, rated, found, time.monotonic() - begun)
        _tidy(part, step)


def _earlier(part: Part, before: Best) -> Best:
    """Return who plays in "latest" mode: a network of some generations ago.

    Errors of the curve add up from match to match; longer strides make fewer of them.
    """
    wanted = before.generation + 1 - part.run.gate.against
    if wanted >= before.generation:
        return before
    for line in _accepted(part):
        if line["generation"] == wanted:
            path = part.folder.candidate(int(line["step"]))
            return Best(
                name=path.name,
                sha256=sha256_of(path),
                step=int(line["step"]),
                generation=wanted,
                elo=float(line["elo"]),
            )
    first = part.folder.candidate(0)
    name, sha = part.run.selfplay.first, None
    if first.exists():
        name, sha = first.name, sha256_of(first)
    return Best(name=name, sha256=sha, step=0, generation=0, elo=0.0)


def _add(part: Part, candidate: Best, found: Judgement | None, seconds: float) -> None:
    """Add the candidate to the curve."""
    folder = part.folder
    produced = [folder.produced(name) for name in part.run.game.name]
    base = candidate.elo - (found.elo if found is not None and found.games else 0.0)
    line: dict[str, Any] = {  # "games" are self-play's
        "time": time.time(),
        "seconds": folder.seconds(),
        "step": candidate.step,
        "generation": candidate.generation,
        "games": sum(each.games for each in produced),
        "positions": sum(each.positions for each in produced),
        "accepted": found is None or found.accepted,
        "elo": candidate.elo,
        "judging_seconds": seconds,
    }
    if found is not None:
        line |= {
            "elo_low": None if found.elo_low is None else base + found.elo_low,
            "elo_high": None if found.elo_high is None else base + found.elo_high,
            "score": found.score if found.games else None,
            "wins": found.wins,
            "draws": found.draws,
            "losses": found.losses,
        }
    append_line(folder.curve, line)


def _tidy(part: Part, step: int) -> None:
    """Remove what nobody needs any more: rejected networks, those skipped, finished records."""
    folder = part.folder
    best = folder.best()
    for file in folder.log.glob(f"match-{step:08d}*.jsonl"):
        file.unlink()
    if part.run.gate.keep_rejected:
        return
    kept = {0, best.step if best is not None else 0}
    kept |= {int(line["step"]) for line in _accepted(part)}
    for other in folder.candidates():
        if other <= step and other not in kept:
            folder.candidate(other).unlink(missing_ok=True)


def _accepted(part: Part) -> list[dict[str, Any]]:
    return [line for line in read_lines(part.folder.curve) if line["accepted"]]
