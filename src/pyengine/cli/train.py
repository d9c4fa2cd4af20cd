"""``pyengine train``: the loop of self-play, training and gate, by a run file."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer  # noqa: TID253  # this package is the extra's
from rich.live import Live  # noqa: TID253
from rich.table import Table  # noqa: TID253
from rich.text import Text  # noqa: TID253

from pyengine import distributed
from pyengine.base.arguments import did_you_mean, in_one_line
from pyengine.base.files import read_limited, unread
from pyengine.cli import common
from pyengine.cli.train_rollout_policy import EPOCHS, train_rollout_policy
from pyengine.errors import ConfigError
from pyengine.eval.bundled import bundled_runs
from pyengine.train import (
    ActorProgress,
    RunFile,
    RunProgress,
    RunReport,
    need,
    plot_curve,
    train_run,
)
from pyengine.train.json_files import writing
from pyengine.train.loop.part import main as run_part
from pyengine.train.loop.parts import PARTS
from pyengine.train.loop.state import Best, RunFolder

__all__ = ["train"]

_RATES = 8  # actors of a node whose rates are shown
_LINE_SECONDS = 30.0  # between two lines where there is no terminal

_Run: TypeAlias = Annotated[
    Path | None,
    typer.Argument(
        metavar="[RUN.toml]",
        help="The settings of the run: a file, or a name such as connect4; --show prints one.",
    ),
]
_Show: TypeAlias = Annotated[
    bool,
    typer.Option("--show", help="Print the settings of a run to begin from, or what there is."),
]
_Directory: TypeAlias = Annotated[
    Path | None,
    typer.Option("--directory", "-d", help="Of the run. Default: runs/NAME, as the file says."),
]
_Resume: TypeAlias = Annotated[
    bool, typer.Option("--resume", help="Go on with the run in the directory, or begin it.")
]
_Part: TypeAlias = Annotated[
    str | None,
    typer.Option("--part", metavar="PART", help="Run one part alone: selfplay, learner or gate."),
]
_Minutes: TypeAlias = Annotated[
    float | None, typer.Option("--minutes", help="Instead of the file's limit; all sittings.")
]
_Ray: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--ray",
        metavar="ADDRESS",
        help="Self-play by actors of Ray: auto (the cluster of which this machine is a node), "
        "local (a Ray on this machine alone), or an address.",
    ),
]
_Actors: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--actors",
        metavar="N",
        help="With --ray: instead of the file's number; auto: as many as there is room for.",
    ),
]
_Curve: TypeAlias = Annotated[
    Path | None,
    typer.Option("--curve", help="Only draw the learning curve of the directory's run, to a file."),
]


_RolloutPolicy: TypeAlias = Annotated[
    list[Path] | None,
    typer.Option(
        "--rollout-policy",
        metavar="GAMES",
        help="Only learn a rollout policy of Go, from a directory of shards or SGF; repeatable.",
    ),
]
_Output: TypeAlias = Annotated[
    Path | None, typer.Option("--output", "-o", help="With --rollout-policy: the file to write.")
]
_GameName: TypeAlias = Annotated[
    str | None, typer.Option("--game", "-g", help="With --rollout-policy: the game of SGF files.")
]
_Epochs: TypeAlias = Annotated[
    int,
    typer.Option("--epochs", min=1, help="With --rollout-policy: how often all games are seen."),
]


def train(
    run: _Run = None,
    directory: _Directory = None,
    resume: _Resume = False,
    show: _Show = False,
    part: _Part = None,
    minutes: _Minutes = None,
    ray: _Ray = None,
    actors: _Actors = None,
    curve: _Curve = None,
    rollout_policy: _RolloutPolicy = None,
    output: _Output = None,
    game: _GameName = None,
    epochs: _Epochs = EPOCHS,
    as_json: common.JsonOption = False,
) -> None:
    """Train a network from nothing: self-play, learner and gate at once.

    Ctrl-C stops all parts cleanly; --resume goes on.
    """
    run = None if run is None else _run_file(run)
    if show:
        _show(run)
        return
    if rollout_policy:
        if run is not None or directory is not None:
            raise common.usage("--rollout-policy is no run: it takes no RUN.toml, no --directory")
        train_rollout_policy(rollout_policy, output, game, epochs, as_json)
        return
    if output is not None or game is not None:
        raise common.usage("--output and --game need --rollout-policy")
    if run is None and directory is None:
        raise common.usage("name a RUN.toml, or with --resume the --directory of a run")
    if part is not None and part not in PARTS:
        raise common.usage(f"--part must be one of {', '.join(PARTS)}, found {in_one_line(part)}")
    if ray is None and actors is not None:
        raise common.usage("--actors needs --ray")
    if ray is not None and part is not None:
        raise common.usage("--part runs here alone, without --ray")
    if minutes is not None and part is not None:
        raise common.usage("--minutes is a limit of a whole run, found --part")
    if curve is not None:
        if directory is None:
            raise common.usage("--curve needs the --directory of a run")
        plot_curve(directory, common.output_file(curve))
        common.console().print(Text(str(curve)))
        return
    need("torch")
    need("onnx")
    settings = _settings(run, directory, minutes, actors)
    folder = directory or Path("runs") / settings.run.name
    if part is not None:
        _part(part, folder, settings, changed=run is not None)
        return
    try:
        with _progress(settings) as progress:
            if ray is None:
                report = train_run(settings, folder, resume=resume, on_progress=progress)
            else:
                report = distributed.train(
                    settings, folder, address=ray, resume=resume, on_progress=progress
                )
    except KeyboardInterrupt:
        if (folder / "run.toml").exists():
            there = "" if ray is None else f" --ray {ray}"
            words = f"stopped; pyengine train --directory {folder} --resume{there} goes on"
            common.say(common.console(stderr=True), Text(words))
        raise
    _print(report, as_json)


def _run_file(run: Path) -> Path:
    """Return the file, or that of a run which ships with the package. Neither is wrong use."""
    known = bundled_runs()
    if run.exists() or str(run) not in known:
        if not run.exists() and not run.suffix:
            meant = did_you_mean(str(run), known)
            raise common.usage(f"{run} is neither a file nor one of: {', '.join(known)}{meant}")
        return run
    return known[str(run)]


def _show(run: Path | None) -> None:
    """Print a run file, or the names of those that ship with the package."""
    if run is None:
        words = f"runs: {', '.join(bundled_runs())}; pyengine train NAME --show prints one"
        common.console().print(Text(words))
        return
    try:
        text = read_limited(run).decode()
    except (OSError, UnicodeDecodeError) as error:
        raise common.usage(unread(run, error)) from error
    sys.stdout.write(text)


def _settings(
    run: Path | None, directory: Path | None, minutes: float | None, actors: str | None
) -> RunFile:
    """Return the file's settings, or those of the run in the directory."""
    try:
        settings = RunFolder(directory or "").run() if run is None else RunFile.from_toml(run)
        if actors is not None:
            settings = settings.with_actors(int(actors) if actors.isdigit() else actors)
        return settings if minutes is None else settings.limited(minutes=minutes)
    except ConfigError as error:
        raise common.usage(str(error)) from error


def _part(name: str, path: Path, settings: RunFile, *, changed: bool) -> None:
    """Run a part here until Ctrl-C. The folder is made where there is none.

    ``changed``: the settings may be others than the folder's; as for a whole run, some may not.
    """
    folder = RunFolder(path)
    begun = (path / "run.toml").exists()
    if begun and changed:
        settings.refuse_changes(folder.run())
    with writing(path / "run.toml"):
        if not begun:
            folder.begin(settings)
        elif changed:
            folder.set_run(settings)
    status = run_part([name, str(path)])
    if status:
        raise typer.Exit(status)


class _Lines:
    """Print progress to stderr now and then, and once at the end."""

    def __init__(self, settings: RunFile) -> None:
        self._settings = settings
        self._printed = -_LINE_SECONDS  # by time.monotonic(), which may begin at 0
        self._waiting: RunProgress | None = None

    def add(self, progress: RunProgress) -> None:
        """Print it if it is time."""
        self._waiting = progress
        if time.monotonic() - self._printed >= _LINE_SECONDS:
            self.end()

    def end(self) -> None:
        """Print the newest progress unless its line is there."""
        if self._waiting is None:
            return
        facts = _facts(self._waiting, self._settings)
        common.console(stderr=True).print(Text(", ".join(f"{k} {v}" for k, v in facts)))
        self._printed, self._waiting = time.monotonic(), None


@contextmanager
def _progress(settings: RunFile) -> Iterator[Callable[[RunProgress], None]]:
    """Show a table on a terminal; elsewhere a line now and then, on stderr."""
    err = common.console(stderr=True)
    if not err.is_terminal:
        lines = _Lines(settings)
        try:
            yield lines.add
        finally:
            lines.end()
        return
    with Live(console=err, transient=True, refresh_per_second=4) as live:

        def table(progress: RunProgress) -> None:
            rows = Table.grid(padding=(0, 2))
            for name, value in _facts(progress, settings):
                rows.add_row(Text(name, style="bold"), value)
            live.update(rows)

        yield table


def _facts(progress: RunProgress, settings: RunFile) -> list[tuple[str, str]]:
    """Return what there is to say, by name."""
    best, limits = progress.best, settings.run

    def of(value: str, limit: object) -> str:
        return value if limit is None else f"{value} of {limit}"

    played = f"{progress.games:,} games, {progress.positions:,} positions"
    learnt = of(f"{progress.step:,}", limits.steps) + f" steps, window {progress.window:,}"
    if progress.step == 0:
        learnt += f", begins with {settings.window.minimum_positions:,} positions of full searches"
    if progress.policy is not None and progress.value is not None:
        learnt += f", loss: policy {progress.policy:.3f}, value {progress.value:.3f}"
    strength = "-"
    if best is not None:
        generation = of(str(best.generation), limits.generations)
        strength = f"generation {generation}, step {best.step:,}, Elo {best.elo:+.0f}"
    facts = [
        ("minutes", of(f"{progress.seconds / 60:.1f}", limits.minutes)),
        ("self-play", f"{played}, {progress.positions_per_second:.1f} positions/s"),
        ("learner", learnt),
        ("gate", progress.gate or "-"),
        ("best", strength),
    ]
    if progress.actors:
        facts.insert(2, ("actors", _crew(progress.actors)))
    if progress.restarts:
        facts.append(("restarts", str(progress.restarts)))
    if progress.failure is not None:
        facts.append(("candidate", progress.failure))
    if progress.finishing:
        facts.append(("finishing", "the last candidate is evaluated"))
    return facts


def _crew(actors: Sequence[ActorProgress]) -> str:
    """Return what the actors are doing: by node, how many play, how fast, and who is missing."""
    nodes: dict[str, list[ActorProgress]] = {}
    for actor in actors:
        nodes.setdefault(actor.node, []).append(actor)
    told = []
    for node, here in sorted(nodes.items()):
        states = Counter(each.state.split()[0] for each in here)
        each_rate = ", ".join(f"{each.positions_per_second:.1f}" for each in here[:_RATES])
        more = " ..." if len(here) > _RATES else ""
        counted = ", ".join(f"{count} {state}" for state, count in states.most_common())
        told.append(
            f"{node or 'nowhere yet'}: {counted}" + (f" ({each_rate}{more}/s)" if node else "")
        )
    deaths = sum(actor.deaths for actor in actors)
    return "; ".join(told) + (f"; {deaths} died" if deaths else "")


def _print(report: RunReport, as_json: bool) -> None:
    progress = report.progress
    values: dict[str, Any] = {**asdict(progress), "reason": report.reason}
    values["folder"] = str(report.folder)
    values["model"] = None if report.model is None else str(report.model)
    if as_json:
        common.print_json(values)
        return
    out = common.console()
    if report.ended_before:
        told = _ended_before(report.reason)
    else:
        limit = report.reason in ("minutes", "games", "steps", "generations")
        ended = f"the limit of {report.reason} is reached" if limit else report.reason
        told = (
            f"{ended}: {progress.games:,} games, {progress.positions:,} positions, "
            f"{progress.step:,} steps in {progress.seconds / 60:.1f} minutes; "
            f"{_reached(progress.best)}"
        )
    common.say(out, Text(told))
    out.print(Text(str(values["model"] or report.folder)))


def _ended_before(limit: str) -> str:
    """Return what to say of a run that had reached a limit before it was resumed."""
    raised = f"{limit} in the section [run] of a RUN.toml that is named with --resume"
    if limit == "minutes":
        raised = f"--minutes, or {raised}"
    return f"the run had reached its limit of {limit} before; to go on, raise {raised}"


def _reached(best: Best | None) -> str:
    """Return how far the best network is, and whether it is the one without training still."""
    if best is None:
        return "no network yet"
    if best.is_network and best.step == 0:
        return "no candidate has passed the gate: the best network is the first, of random weights"
    return f"generation {best.generation}, {best.elo:+.0f} Elo"
