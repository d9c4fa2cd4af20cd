"""What options of learning are worth: runs that differ in one, at equal processor time.

    python models/ablation.py --directory runs/ablation    # after Ctrl-C the same command goes on

Each variant of ablation.toml is trained from several seeds until it has used so much processor time
(self-play and learner together; Linux), one run after the other. Then the networks of each variant
play those of the base, and a table says how many Elo the variant is worth. Needs the extra
``train``.
"""

from __future__ import annotations

import argparse
import copy
import json
import math
import os
import statistics
import sys
import time
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from measure.context import Context, Progress, network
from measure.student import student

import pyengine
from pyengine.train import RunFile, RunProgress, train_run
from pyengine.train.loop.rating import Pairing, ratings
from pyengine.train.loop.state import RunFolder

HERE = Path(__file__).resolve().parent
_BASE = "base"
#: Settings of each variant beside those of ablation.toml, by section.
VARIANTS: dict[str, dict[str, dict[str, Any]]] = {
    _BASE: {},
    "policy surprise weighting": {
        "selfplay": {"record_surprise": True},
        "window": {"surprise_weight": 0.5},
    },
    "reply and short-horizon values": {
        "train": {"loss": {"reply_weight": 0.15, "short_value_weight": 0.3}}
    },
    "global pooling every 2 blocks": {"network": {"pooling_every": 2}},
    "root temperature and shaped noise": {
        "search": {"root_policy_temperature": 1.1, "dirichlet_shaped": True}
    },
    "ownership and score": {"train": {"loss": {"ownership_weight": 1.5, "score_weight": 0.0015}}},
}
_PARTS = ("selfplay", "learner")
_TICK = 0.02  # seconds: the kernel counts a process's start in hundredths
_SIMULATIONS = 100  # of both sides in a match
_PLIES = 2  # of openings: more random moves decide a game on so small a board

say = Progress()


def settings_of(variant: str, seed: int) -> str:
    """Return the run file of a variant, as TOML."""
    tables = tomllib.loads((HERE / "ablation.toml").read_text("utf-8"))
    tables["run"] = {"name": variant, "seed": seed}
    return _toml(_merged(tables, VARIANTS[variant]))


def _merged(tables: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    merged = copy.deepcopy(dict(tables))
    for name, value in changes.items():
        inner = isinstance(value, Mapping)
        merged[name] = _merged(merged.get(name, {}), value) if inner else value
    return merged


def _toml(tables: Mapping[str, Any], prefix: str = "") -> str:
    """Return tables of plain values as TOML; JSON writes these as TOML does."""
    lines = [f"{k} = {json.dumps(v)}" for k, v in tables.items() if not isinstance(v, Mapping)]
    text = "\n".join([*([f"[{prefix}]"] if prefix else []), *lines, ""])
    inner = ((name, value) for name, value in tables.items() if isinstance(value, Mapping))
    return text + "".join(_toml(v, f"{prefix}.{k}" if prefix else k) for k, v in inner)


class Meter:
    """The processor time of a run's parts, of all sittings."""

    def __init__(self, folder: Path) -> None:
        """Go on with what is kept there."""
        self._folder = RunFolder(folder)
        self._file = folder / "processor.json"
        kept = json.loads(self._file.read_text()) if self._file.exists() else {}
        self._before = float(kept.get("seconds", 0.0))
        self._begun = time.clock_gettime(time.CLOCK_BOOTTIME)
        self._seen: dict[int, float] = {}  # by process

    def read(self) -> float:
        """Return the seconds so far, and keep them."""
        for part in _PARTS:
            pid = self._folder.status(part).get("pid")
            if pid is not None:
                self._seen[pid] = _processor_seconds(pid, self._begun) or self._seen.get(pid, 0.0)
        seconds = self._before + sum(self._seen.values())
        self._file.write_text(json.dumps({"seconds": seconds}), "utf-8")
        return seconds


def _processor_seconds(pid: int, since: float) -> float | None:
    """Return what a process has used, in user and system mode.

    None where there is none, or an older one than ``since`` (seconds after the machine's start):
    the number of a part that was killed may have become another's.
    """
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    user, system, begun = (int(fields[n]) / os.sysconf("SC_CLK_TCK") for n in (11, 12, 19))
    return user + system if begun >= since - _TICK else None


def train(variant: str, seed: int, folder: Path, budget: float) -> Path:
    """Run a variant until it has used ``budget`` seconds; return its network.

    A run that has a network already is not touched. Raises ConfigError where it had other settings.
    """
    done, settings = folder / "network.json", settings_of(variant, seed)
    if done.exists():
        return folder / _finished(done, {"settings": settings, "budget": budget})
    run = RunFile.from_toml(settings)
    meter = Meter(folder)

    def watch(progress: RunProgress) -> bool:
        used = meter.read()
        say(
            f"{variant}, seed {seed}: {used:.0f} of {budget:.0f} s, {progress.games:,} games, "
            f"{progress.positions:,} positions, step {progress.step:,}"
        )
        return used < budget

    report = train_run(run, folder, resume=True, on_progress=watch)
    last = max(1, report.progress.step)  # a run that ends by a limit leaves its last network
    report = train_run(run.limited(steps=last), folder, resume=True)
    candidates = RunFolder(folder)
    file = candidates.candidate(candidates.candidates()[-1])
    facts = {
        "settings": settings,
        "budget": budget,
        "file": str(file.relative_to(folder)),
        "games": report.progress.games,
        "positions": report.progress.positions,
        "step": report.progress.step,
        "processor_seconds": round(meter.read()),
    }
    done.write_text(json.dumps(facts), "utf-8")
    return file


def _finished(done: Path, asked: Mapping[str, Any]) -> str:
    """Return the file of a network that is there; ConfigError where it was made otherwise."""
    facts = json.loads(done.read_text("utf-8"))
    if any(facts.get(name) != value for name, value in asked.items()):
        raise pyengine.ConfigError(
            f"{done}: expected a network of the settings and minutes that are asked for, found one "
            "of others; choose another --directory"
        )
    return str(facts["file"])


def evaluate(
    networks: Mapping[str, Sequence[Path]], games: int, work: Path
) -> dict[str, tuple[float, float]]:
    """Let the networks of each variant play those of the base, each pair so many games.

    Returns:
        By variant, Elo above the base and half of its interval of 95 %, which counts how networks
        of one variant differ from each other.

    """
    files = [file for of_variant in networks.values() for file in of_variant]
    numbers = {file: number for number, file in enumerate(files)}
    pairings = [
        _played(a, b, numbers, games, work)
        for variant, files in networks.items()
        if variant != _BASE
        for a in files
        for b in networks[_BASE]
    ]
    found = ratings(pairings, anchor=numbers[networks[_BASE][0]])
    elo = {
        variant: [strength.elo for file in files if (strength := found.get(numbers[file]))]
        for variant, files in networks.items()
    }
    return _differences(elo)


def _differences(elo: Mapping[str, Sequence[float]]) -> dict[str, tuple[float, float]]:
    """Return how far the mean of each variant is above the base's, and half of its interval.

    Networks differ by their seeds as much in one variant as in another: their variance is estimated
    from all variants (one-way analysis of variance, Student's t).
    """
    base = elo[_BASE]
    freedom = sum(len(strengths) - 1 for strengths in elo.values())
    several = [strengths for strengths in elo.values() if len(strengths) > 1]
    squares = sum((len(each) - 1) * statistics.variance(each) for each in several)
    spread = math.sqrt(squares / freedom) if freedom else math.inf
    width = student(max(1, freedom)) * spread
    return {
        variant: (
            statistics.fmean(ours) - statistics.fmean(base),
            width * math.sqrt(1 / len(ours) + 1 / len(base)),
        )
        for variant, ours in elo.items()
        if variant != _BASE
    }


def _played(a: Path, b: Path, numbers: Mapping[Path, int], games: int, work: Path) -> Pairing:
    """Play a match of two networks; it goes on where it was stopped."""
    game = pyengine.load_game(RunFile.from_toml(settings_of(_BASE, 0)).game.name[0])
    context = Context(work=work, shared=work, say=say)
    name = f"{a.parents[1].name} against {b.parents[1].name}"  # the same with more seeds
    with (
        closing(context.engine(game, network(a), _SIMULATIONS)) as ours,
        closing(context.engine(game, network(b), _SIMULATIONS)) as theirs,
    ):
        result = context.played(name, ours, theirs, games, plies=_PLIES)
    return Pairing(
        player=numbers[a],
        opponent=numbers[b],
        wins=result.wins,
        draws=result.draws,
        losses=result.losses,
    )


def main() -> int:
    """Run the command line; return the exit status."""
    parser = argparse.ArgumentParser(description="Measure what options of learning are worth.")
    parser.add_argument("--directory", type=Path, default=Path("runs/ablation"), help="of the runs")
    parser.add_argument("--minutes", type=float, default=9.0, help="processor time of a run")
    parser.add_argument("--seeds", type=int, default=3, help="runs of each variant")
    parser.add_argument("--games", type=int, default=60, help="of each two networks")
    args = parser.parse_args()
    networks: dict[str, list[Path]] = {variant: [] for variant in VARIANTS}
    try:
        for seed in range(args.seeds):
            for number, variant in enumerate(VARIANTS):
                folder = args.directory / f"{number}-{seed}"
                networks[variant].append(train(variant, seed, folder, 60 * args.minutes))
        work = args.directory / "matches"
        work.mkdir(exist_ok=True)
        found = evaluate(networks, args.games, work)
    except KeyboardInterrupt:
        say("")
        print("stopped; the same command goes on from here", file=sys.stderr)
        return 130
    except pyengine.EngineError as error:
        say("")
        print(error, file=sys.stderr)
        return 2
    say("")
    for variant, (elo, around) in found.items():
        print(f"{variant}: {elo:+.0f} Elo [{elo - around:+.0f}, {elo + around:+.0f}]")
    return 0


if __name__ == "__main__":
    sys.exit(main())
