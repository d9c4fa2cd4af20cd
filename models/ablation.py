"""Compare learning options at equal CPU time.

    python models/ablation.py --directory runs/ablation    # run it again to resume after Ctrl-C

Each variant of ablation.toml is trained from several seeds with the same CPU time (self-play and
learner together; Linux only), one run after another. Then the networks of each variant play the
base networks, and a table shows the Elo gained by each variant. Needs the extra ``train``.
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
#: Settings of each variant in addition to ablation.toml.
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
_TICK = 0.02  # seconds; the kernel rounds start times to hundredths
_SIMULATIONS = 100  # per move of both sides
_PLIES = 2  # random moves per opening; more would decide a game on this small board

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
    """Return tables as TOML, which writes plain values like JSON."""
    lines = [f"{k} = {json.dumps(v)}" for k, v in tables.items() if not isinstance(v, Mapping)]
    text = "\n".join([*([f"[{prefix}]"] if prefix else []), *lines, ""])
    inner = ((name, value) for name, value in tables.items() if isinstance(value, Mapping))
    return text + "".join(_toml(v, f"{prefix}.{k}" if prefix else k) for k, v in inner)


class Meter:
    """The CPU time of a run's processes, across restarts."""

    def __init__(self, folder: Path) -> None:
        self._folder = RunFolder(folder)
        self._file = folder / "processor.json"
        saved = json.loads(self._file.read_text()) if self._file.exists() else {}
        self._before = float(saved.get("seconds", 0.0))
        self._begun = time.clock_gettime(time.CLOCK_BOOTTIME)
        self._seen: dict[int, float] = {}  # by process

    def read(self) -> float:
        """Return and save the seconds so far."""
        for part in _PARTS:
            pid = self._folder.status(part).get("pid")
            if pid is not None:
                self._seen[pid] = _processor_seconds(pid, self._begun) or self._seen.get(pid, 0.0)
        seconds = self._before + sum(self._seen.values())
        self._file.write_text(json.dumps({"seconds": seconds}), "utf-8")
        return seconds


def _processor_seconds(pid: int, since: float) -> float | None:
    """Return the user and system time of a process.

    None if it does not exist or started before ``since`` (seconds after boot): the pid of a killed
    process may belong to another one.
    """
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    user, system, begun = (int(fields[n]) / os.sysconf("SC_CLK_TCK") for n in (11, 12, 19))
    return user + system if begun >= since - _TICK else None


def train(variant: str, seed: int, folder: Path, budget: float) -> Path:
    """Train a variant for ``budget`` seconds of CPU time; return its network.

    A finished run is reused; raises ConfigError if it had other settings.
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
    last = max(1, report.progress.step)  # a run that reaches a limit writes its last network
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


def _finished(done: Path, requested: Mapping[str, Any]) -> str:
    """Return the network of a finished run; raises ConfigError if it had other settings."""
    facts = json.loads(done.read_text("utf-8"))
    if any(facts.get(name) != value for name, value in requested.items()):
        raise pyengine.ConfigError(
            f"{done}: the network has other settings or minutes: choose another --directory"
        )
    return str(facts["file"])


def evaluate(
    networks: Mapping[str, Sequence[Path]], games: int, work: Path
) -> dict[str, tuple[float, float]]:
    """Play ``games`` games between each network of a variant and each base network.

    Returns:
        By variant, Elo above the base and half the width of its 95 % interval, which includes the
        differences between networks of one variant.

    """
    files = [file for paths in networks.values() for file in paths]
    numbers = {file: number for number, file in enumerate(files)}
    pairings = [
        _played(a, b, numbers, games, work)
        for variant, files in networks.items()
        if variant != _BASE
        for a in files
        for b in networks[_BASE]
    ]
    fit = ratings(pairings, anchor=numbers[networks[_BASE][0]])
    elo = {
        variant: [rating.elo for file in files if (rating := fit.get(numbers[file]))]
        for variant, files in networks.items()
    }
    return _differences(elo)


def _differences(elo: Mapping[str, Sequence[float]]) -> dict[str, tuple[float, float]]:
    """Return the mean Elo of each variant above the base, and half the width of its interval.

    Seeds are assumed to matter equally in all variants, so the variance is pooled (one-way analysis
    of variance, Student's t).
    """
    base = elo[_BASE]
    freedom = sum(len(strengths) - 1 for strengths in elo.values())
    several = [strengths for strengths in elo.values() if len(strengths) > 1]
    squares = sum((len(elos) - 1) * statistics.variance(elos) for elos in several)
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
    """Play or resume a match between two networks."""
    game = pyengine.load_game(RunFile.from_toml(settings_of(_BASE, 0)).game.name[0])
    context = Context(work=work, shared=work, say=say)
    name = f"{a.parents[1].name} against {b.parents[1].name}"  # does not depend on --seeds
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
    parser = argparse.ArgumentParser(description="Compare learning options at equal CPU time.")
    parser.add_argument("--directory", type=Path, default=Path("runs/ablation"), help="run folder")
    parser.add_argument("--minutes", type=float, default=9.0, help="CPU time per run")
    parser.add_argument("--seeds", type=int, default=3, help="runs per variant")
    parser.add_argument("--games", type=int, default=60, help="games per pair of networks")
    args = parser.parse_args()
    networks: dict[str, list[Path]] = {variant: [] for variant in VARIANTS}
    try:
        for seed in range(args.seeds):
            for number, variant in enumerate(VARIANTS):
                folder = args.directory / f"{number}-{seed}"
                networks[variant].append(train(variant, seed, folder, 60 * args.minutes))
        work = args.directory / "matches"
        work.mkdir(exist_ok=True)
        differences = evaluate(networks, args.games, work)
    except KeyboardInterrupt:
        say("")
        print("stopped: run the same command to resume", file=sys.stderr)
        return 130
    except pyengine.EngineError as error:
        say("")
        print(error, file=sys.stderr)
        return 2
    say("")
    for variant, (elo, width) in differences.items():
        print(f"{variant}: {elo:+.0f} Elo [{elo - width:+.0f}, {elo + width:+.0f}]")
    return 0


if __name__ == "__main__":
    sys.exit(main())
