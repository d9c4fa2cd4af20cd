"""The gate's part: evaluates the newest candidate against the best network."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from pyengine.base.files import sha256_of
from pyengine.match import MatchResult
from pyengine.train.json_files import append_line
from pyengine.train.loop import curve
from pyengine.train.loop.gate import GateResult, play_gate
from pyengine.train.loop.part import Part
from pyengine.train.loop.part_selfplay import evaluator_of
from pyengine.train.loop.rating import ratings
from pyengine.train.loop.state import Best, RunFolder

_COUNTS = ("wins", "draws", "losses")
_RECORD = re.compile(r"match-(\d{8})-.*\.jsonl")

_Match: TypeAlias = tuple[Best, GateResult]  # a candidate's opponent and result


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
            part.publish({"state": "waits for a candidate"})
            part.wait()
    part.publish({"state": "ended"}, now=True)


def _settle(part: Part) -> None:
    """Complete what a killed gate left unfinished, according to the curve."""
    folder, best = part.folder, part.folder.best()
    for line in _accepted(part)[-1:]:
        step = line["step"]
        if folder.candidate(step).exists() and best is not None and step >= best.step:
            folder.set_best(_network(folder, step, line["generation"], line["elo"]))
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


def _evaluate(part: Part, step: int) -> None:
    """Play the candidate's games and let it replace the best network if it passes.

    Games of an interrupted match are kept, and the match is resumed later.
    """
    folder, config = part.folder, part.run.gate
    before = folder.best()
    assert before is not None
    in_use = step == before.step  # already used by self-play, so it is accepted anyway
    candidate = before
    if not in_use:
        candidate = _network(folder, step, before.generation + 1, before.elo)
    start = time.monotonic()
    if config.mode == "latest":
        if before.is_network:
            folder.set_best(candidate)
        opponents = _opponents(part, candidate, config.most_games)
    else:
        opponents = [(_older(part, candidate, candidate.generation - 1), config.most_games)]
    matches = _matches(part, candidate, opponents, "")
    if matches is None:
        return
    anchors: list[_Match] | None = []
    accepted = in_use or all(_passes(before, result) for _, result in matches)
    if config.mode == "gate" and accepted:
        folder.set_best(candidate)  # self-play need not wait for the curve
        opponents = _opponents(part, candidate, config.games_of_anchors)
        anchors = _matches(part, candidate, opponents, "anchor-")
    if anchors is None:
        return
    line = _line(part, candidate, matches, anchors)
    line |= {"accepted": accepted, "judging_seconds": time.monotonic() - start}
    append_line(folder.curve, line)
    if accepted:
        folder.set_best(replace(candidate, elo=line["elo"]))
    _tidy(part)


def _passes(before: Best, result: GateResult) -> bool:
    """Whether a candidate may be used: it must not lose to a player without a network."""
    return result.accepted and (before.is_network or result.wins >= result.losses)


def _opponents(part: Part, candidate: Best, games: int) -> list[tuple[Best, int]]:
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
    folder = part.folder
    for line in reversed(_accepted(part)):
        step = line["step"]
        older = line["generation"] <= generation and step < candidate.step
        if older and folder.candidate(step).exists():
            return _network(folder, step, line["generation"], line["elo"])
    if folder.candidate(0).exists():
        return _network(folder, 0, 0, 0.0)
    return Best(name=part.run.selfplay.first, sha256=None, step=0, generation=0, elo=0.0)


def _network(folder: RunFolder, step: int, generation: int, elo: float) -> Best:
    path = folder.candidate(step)
    return Best(name=path.name, sha256=sha256_of(path), step=step, generation=generation, elo=elo)


def _matches(
    part: Part, candidate: Best, opponents: Sequence[tuple[Best, int]], kind: str
) -> list[_Match] | None:
    """Play a candidate's matches of one kind; return None if one was interrupted."""
    matches: list[_Match] = []
    for other, games in opponents:
        result = _match(part, candidate, other, games, kind)
        if not result.complete:
            return None
        matches.append((other, result))
    return matches


def _match(part: Part, candidate: Best, other: Best, games: int, kind: str) -> GateResult:
    """Play one match of a candidate; anchor matches run to the end, with separate openings."""
    step = candidate.step
    config = part.run.gate.replace(games=games)
    seed = part.run.run.seed + step
    if kind:
        config = config.replace(mode="latest", method="score")
        seed = int(np.random.SeedSequence((seed, 1)).generate_state(1)[0])
    # Threads may change between sessions, but a record is for one setting.
    settings = config.search_config().fingerprint()[:8]

    def show(result: MatchResult) -> None:
        state = _describe(step, result, games)
        part.publish({"state": state, "step": step, "games": result.games})

    return play_gate(
        part.folder.played(step),
        evaluator_of(other, part.folder),
        part.run.games,
        config,
        best_simulations=_simulations(part, other),
        seed=seed,
        max_plies=part.run.selfplay_config(0).max_plies,
        stop=lambda: part.stopping,
        on_progress=show,
        record=part.folder.log / f"match-{step:08d}-{other.step:08d}-{kind}{settings}",
    )


def _simulations(part: Part, other: Best) -> int | None:
    """Return the simulations of an opponent, None for the gate's own.

    Playouts have as many more as in self-play, so that they are the player of the first games.
    """
    first = part.run.selfplay.first_simulations
    if other.is_network or first is None:
        return None
    own = part.run.selfplay_config(0).search.simulations
    assert own is not None  # self-play has no other budget
    return max(1, part.run.gate.simulations * first // own)


def _describe(step: int, result: MatchResult, games: int) -> str:
    """Describe an unfinished match of a candidate that has at most so many games."""
    text = f"step {step}: {result.games} of {games} games"
    if result.sprt is not None:
        text += f" (SPRT, {result.sprt.expected_games} expected)"
    return f"{text}, {result.score:.0%}" if result.games else text


def _line(
    part: Part, candidate: Best, matches: Sequence[_Match], anchors: Sequence[_Match]
) -> dict[str, Any]:
    """Return the candidate's line of the curve, except for whether it was accepted."""
    folder = part.folder
    produced = folder.total(part.run)
    line: dict[str, Any] = {  # "games" are those of self-play
        "time": time.time(),
        "seconds": folder.seconds(),
        "step": candidate.step,
        "generation": candidate.generation,
        "games": produced.games,
        "positions": produced.positions,
        "elo": candidate.elo,
    }
    if not matches:
        return line
    opponents = _counts(matches)
    total = {name: sum(opponent[name] for opponent in opponents) for name in _COUNTS}
    games = sum(total.values())
    line["score"] = (total["wins"] + total["draws"] / 2) / games if games else None
    line |= {**total, "opponents": opponents}
    test = matches[0][1].sprt
    if test is not None:
        line["sprt"] = asdict(test)
    if anchors:
        line["anchors"] = _counts(anchors)
    return line | _strength(folder, line)


def _counts(matches: Sequence[_Match]) -> list[dict[str, Any]]:
    """Return the results by opponent."""
    return [
        {"step": other.step, "generation": other.generation}
        | {name: getattr(result, name) for name in _COUNTS}
        for other, result in matches
    ]


def _strength(folder: RunFolder, line: dict[str, Any]) -> dict[str, Any]:
    """Return a new line's Elo above the first network, from all games of the run so far."""
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
