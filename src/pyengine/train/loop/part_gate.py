"""The gate's part: evaluates the newest candidate against the best network."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from pyengine.base.files import sha256_of
from pyengine.match import MatchResult
from pyengine.train.json_files import append_line
from pyengine.train.loop import curve
from pyengine.train.loop.gate import GateResult, play_gate
from pyengine.train.loop.part import Part
from pyengine.train.loop.part_selfplay import evaluator_of
from pyengine.train.loop.rating import ratings
from pyengine.train.loop.state import Best

_COUNTS = ("wins", "draws", "losses")
_RECORD = re.compile(r"match-(\d{8})-.*\.jsonl")


def work(part: Part) -> None:
    """Evaluate candidates until asked to stop; before finishing, evaluate the newest one."""
    _settle(part)
    while not part.stopping:
        step = _next(part)
        if step is not None:
            _evaluate(part, step)
        elif part.finishing:
            break
        else:
            part.say({"state": "waits for a candidate"})
            part.wait()
    part.say({"state": "ended"}, now=True)


def _settle(part: Part) -> None:
    """Complete what a killed gate left unfinished, according to the curve."""
    best = part.folder.best()
    for line in _accepted(part)[-1:]:
        exists = part.folder.candidate(line["step"]).exists()
        if exists and best is not None and line["step"] >= best.step:
            part.folder.set_best(_network(part, line))
    _tidy(part)


def _next(part: Part) -> int | None:
    """Return the step of the next candidate: an unfinished one if there is one, else the newest.

    Others are skipped. None if all are evaluated.
    """
    best = part.folder.best()
    if best is None:
        return None
    least = max(part.folder.evaluated() + 1, best.step)
    waiting = [step for step in part.folder.candidates() if step >= least]
    if not waiting:
        return None
    started = {step for step, _ in _records(part)}
    started.add(best.step)  # accepted before its games, or its anchor games, were played
    return next((step for step in waiting if step in started), waiting[-1])


@dataclass(frozen=True)
class _Match:
    """A match of a candidate."""

    other: Best
    result: GateResult


def _evaluate(part: Part, step: int) -> None:
    """Play the candidate's games and let it replace the best network if it passes.

    Games of an interrupted match are kept, and the match is resumed later.
    """
    folder, config = part.folder, part.run.gate
    before = folder.best()
    assert before is not None
    candidate = before
    in_use = step == before.step  # already used by self-play, so it is accepted anyway
    if not in_use:
        path = folder.candidate(step)
        candidate = replace(
            before,
            name=path.name,
            sha256=sha256_of(path),
            step=step,
            generation=before.generation + 1,
        )
        if config.mode == "latest":
            folder.set_best(candidate)
    start = time.monotonic()
    matches = _matches(part, candidate, _opponents(part, candidate, before), "")
    if matches is None:
        return
    anchors: list[_Match] | None = []
    accepted = in_use or all(match.result.accepted for match in matches)
    if config.mode == "gate" and accepted:
        folder.set_best(candidate)  # self-play need not wait for the curve
        shares = _shares(part, candidate, config.games_of_anchors)
        anchors = _matches(part, candidate, shares, "anchor-")
    if anchors is None:
        return
    facts = {"accepted": accepted, "judging_seconds": time.monotonic() - start}
    _conclude(part, candidate, matches, anchors, facts)
    _tidy(part)


def _matches(
    part: Part, candidate: Best, opponents: Sequence[tuple[Best, int]], kind: str
) -> list[_Match] | None:
    """Play a candidate's matches of one kind; return None if one was interrupted."""
    matches: list[_Match] = []
    for other, games in opponents:
        result = _match(part, candidate, other, games, kind)
        if not result.complete:
            return None
        matches.append(_Match(other, result))
    return matches


def _match(part: Part, candidate: Best, other: Best, games: int, kind: str) -> GateResult:
    """Play one match of a candidate; anchor matches run to the end, with separate openings."""
    step = candidate.step
    changes: dict[str, Any] = {"games": games}
    seed = part.run.run.seed + step
    if kind:
        changes |= {"mode": "latest", "method": "score"}
        seed = int(np.random.SeedSequence((seed, 1)).generate_state(1)[0])

    config = part.run.gate.replace(**changes)

    def show(result: MatchResult) -> None:
        score = result.score if result.games else None
        facts = {"step": step, "games": result.games, "score": score, "most_games": games}
        if result.sprt is not None:
            facts["expected_games"] = result.sprt.expected_games
        part.say({"state": "evaluates", **facts})

    # Threads may change between sessions, but a record is for one setting.
    settings = config.search_config().fingerprint()[:8]
    return play_gate(
        part.folder.played(step),
        evaluator_of(other, part.folder),
        part.run.games,
        config,
        seed=seed,
        max_plies=part.run.selfplay_config(0).max_plies,
        stop=lambda: part.stopping,
        on_progress=show,
        record=part.folder.log / f"match-{step:08d}-{other.step:08d}-{kind}{settings}",
    )


def _opponents(part: Part, candidate: Best, before: Best) -> list[tuple[Best, int]]:
    """Return the candidate's opponents and the number of games against each."""
    config = part.run.gate
    if config.mode == "latest":
        return _shares(part, candidate, config.most_games)
    if before.step != candidate.step:
        return [(before, config.most_games)]
    return [(_older(part, candidate, candidate.generation - 1), config.most_games)]


def _shares(part: Part, candidate: Best, games: int) -> list[tuple[Best, int]]:
    """Return opponents for a network's rating and the number of games against each.

    One is the previous generation, which connects all networks, and one is several generations
    older: rating errors add up along the chain, and long steps reduce their number.
    """
    generation = candidate.generation
    previous = _older(part, candidate, generation - 1)
    older = _older(part, candidate, generation - part.run.gate.against)
    if older.step == previous.step:
        shares = [(previous, games)]
    else:
        half = min(games, 2 * math.ceil(games / 4))  # even, since a pair shares an opening
        shares = [(previous, half), (older, games - half)]
    return [(other, games) for other, games in shares if games > 0]


def _older(part: Part, candidate: Best, generation: int) -> Best:
    """Return the network of a generation, or the nearest older one whose file exists."""
    for line in reversed(_accepted(part)):
        older = line["generation"] <= generation and line["step"] < candidate.step
        if older and part.folder.candidate(line["step"]).exists():
            return _network(part, line)
    first = part.folder.candidate(0)
    sha256 = sha256_of(first) if first.exists() else None
    name = part.run.selfplay.first if sha256 is None else first.name
    return Best(name=name, sha256=sha256, step=0, generation=0, elo=0.0)


def _network(part: Part, line: dict[str, Any]) -> Best:
    """Return the network of a line of the curve."""
    path = part.folder.candidate(line["step"])
    return Best(
        name=path.name,
        sha256=sha256_of(path),
        step=line["step"],
        generation=line["generation"],
        elo=line["elo"],
    )


def _conclude(
    part: Part,
    candidate: Best,
    matches: Sequence[_Match],
    anchors: Sequence[_Match],
    facts: dict[str, Any],
) -> None:
    """Add the candidate and its results to the curve, and let it replace the best network."""
    folder = part.folder
    produced = [folder.produced(name) for name in part.run.game.name]
    line: dict[str, Any] = {  # "games" are those of self-play
        "time": time.time(),
        "seconds": folder.seconds(),
        "step": candidate.step,
        "generation": candidate.generation,
        "games": sum(total.games for total in produced),
        "positions": sum(total.positions for total in produced),
        "elo": candidate.elo,
        **facts,
    }
    if matches:
        line |= _counts(matches)
        tests = [asdict(total.result.sprt) for total in matches if total.result.sprt is not None]
        if tests:
            line["sprt"] = tests[0]
        if anchors:
            line["anchors"] = _results(anchors)
        line |= _strength(part, line)
    append_line(folder.curve, line)
    if line["accepted"]:
        folder.set_best(replace(candidate, elo=line["elo"]))


def _counts(matches: Sequence[_Match]) -> dict[str, Any]:
    """Return the results in total and by opponent."""
    opponents = _results(matches)
    total = {name: sum(opponent[name] for opponent in opponents) for name in _COUNTS}
    games = sum(total.values())
    score = (total["wins"] + total["draws"] / 2) / games if games else None
    return {"score": score, **total, "opponents": opponents}


def _results(matches: Sequence[_Match]) -> list[dict[str, Any]]:
    return [
        {"step": match.other.step, "generation": match.other.generation}
        | {name: getattr(match.result, name) for name in _COUNTS}
        for match in matches
    ]


def _strength(part: Part, line: dict[str, Any]) -> dict[str, Any]:
    """Return a new line's Elo above the first network, from all games of the run so far."""
    folder = part.folder
    fit = ratings(curve.results([*folder.evaluations(), line]))
    rating = fit.get(line["step"])
    if rating is None:  # no chain of games connects it to the first network
        return {"elo_low": None, "elo_high": None}
    low, high = rating.interval
    return {"elo": rating.elo, "elo_low": low, "elo_high": high}


def _tidy(part: Part) -> None:
    """Remove finished records and networks that were rejected, skipped or are old ("latest")."""
    folder = part.folder
    best, evaluated = folder.best(), folder.evaluated()
    for step, file in _records(part):
        if step <= evaluated:
            file.unlink(missing_ok=True)
            file.with_name(f"{file.name}.lock").unlink(missing_ok=True)
    keep = {0, best.step if best is not None else 0}
    accepted = [int(line["step"]) for line in _accepted(part)]
    old = set(accepted[: -part.run.gate.most_accepted]) - keep
    keep |= set(accepted) - old
    for other in folder.candidates():
        rejected = other <= evaluated and other not in keep
        if other in old or (rejected and not part.run.gate.keep_rejected):
            folder.remove_candidate(other)


def _records(part: Part) -> list[tuple[int, Path]]:
    """Return the steps of candidates whose matches have records, with the records."""
    matches = ((_RECORD.fullmatch(file.name), file) for file in part.folder.log.iterdir())
    return [(int(name[1]), file) for name, file in matches if name]


def _accepted(part: Part) -> list[dict[str, Any]]:
    return [line for line in part.folder.evaluations() if line["accepted"]]
