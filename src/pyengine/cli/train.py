"""``pyengine train``: the loop of self-play, training and gate, by a run file."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer  # noqa: TID253  # this package is the extra's
from rich.live import Live  # noqa: TID253
from rich.table import Table  # noqa: TID253
from rich.text import Text  # noqa: TID253

from pyengine import distributed
from pyengine.base.arguments import did_you_mean
from pyengine.base.files import read_limited, unread
from pyengine.cli.options import JsonOption, game_from, output_file
from pyengine.cli.output import console, print_json, progress_bar, say, show
from pyengine.errors import ConfigError
from pyengine.eval.bundled import bundled_runs
from pyengine.train import (
    ActorProgress,
    RolloutFitProgress,
    RunFile,
    RunProgress,
    RunReport,
    need,
    plot_curve,
    rollout_policy,
    train_run,
)
from pyengine.train.json_files import writing
from pyengine.train.loop.part import main as run_part
from pyengine.train.loop.parts import PARTS
from pyengine.train.loop.state import Best, RunFolder

_RATES = 8  # actors of a node whose rates are shown
_LINE_SECONDS = 30.0  # between two lines without a terminal
_EPOCHS = 8


def train(
    run: Annotated[
        Path | None,
        typer.Argument(
            metavar="[RUN.toml]",
            help="The settings of the run: a file, or a name such as connect4; --show prints one.",
        ),
    ] = None,
    directory: Annotated[
        Path | None,
        typer.Option("--directory", "-d", help="Of the run. Default: runs/NAME, as the file says."),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the run in the directory, or begin it.")
    ] = False,
    show_run: Annotated[
        bool, typer.Option("--show", help="Print the settings of a run, or the names of runs.")
    ] = False,
    part: Annotated[
        str | None,
        typer.Option(
            "--part", metavar="PART", help="Run one part alone: selfplay, learner or gate."
        ),
    ] = None,
    minutes: Annotated[
        float | None,
        typer.Option("--minutes", help="Instead of the file's limit; all sittings."),
    ] = None,
    ray: Annotated[
        str | None,
        typer.Option(
            "--ray",
            metavar="ADDRESS",
            help="Self-play by actors of Ray: auto (the cluster of which this machine is a node), "
            "local (a Ray on this machine alone), or an address.",
        ),
    ] = None,
    actors: Annotated[
        str | None,
        typer.Option(
            "--actors",
            metavar="N",
            help="With --ray: instead of the file's number; auto: as many as there is room for.",
        ),
    ] = None,
    curve: Annotated[
        Path | None,
        typer.Option(
            "--curve", help="Only draw the learning curve of the directory's run, to a file."
        ),
    ] = None,
    games: Annotated[
        list[Path] | None,
        typer.Option(
            "--rollout-policy",
            metavar="GAMES",
            help="Only learn a rollout policy of Go, from a directory of shards or SGF; "
            "repeatable.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="With --rollout-policy: the file to write."),
    ] = None,
    game: Annotated[
        str | None,
        typer.Option("--game", "-g", help="With --rollout-policy: the game of SGF files."),
    ] = None,
    epochs: Annotated[
        int,
        typer.Option(
            "--epochs", min=1, help="With --rollout-policy: how often all games are seen."
        ),
    ] = _EPOCHS,
    as_json: JsonOption = False,
) -> None:
    """Train a network from nothing: self-play, learner and gate at once.

    Ctrl-C stops all parts cleanly; --resume goes on.
    """
    run = None if run is None else _run_file(run)
    if show_run:
        _show(run)
        return
    refusals = (
        (games and (run or directory), "--rollout-policy is no run: give neither RUN.toml nor -d"),
        (games and output is None, "--rollout-policy needs --output, the file to write"),
        (not games and (output or game), "--output and --game need --rollout-policy"),
        (
            not (games or run or directory),
            "name a RUN.toml, or with --resume the --directory of a run",
        ),
        (part and part not in PARTS, f"--part must be one of {', '.join(PARTS)}"),
        (actors and ray is None, "--actors needs --ray"),
        (part and ray, "--part runs here alone, without --ray"),
        (part and minutes is not None, "--minutes is a limit of a whole run, got --part"),
        (curve and directory is None, "--curve needs the --directory of a run"),
    )
    for wrong, message in refusals:
        if wrong:
            raise ConfigError(message)
    if games and output is not None:
        _rollout_policy(games, output, game, epochs, as_json)
    elif curve is not None and directory is not None:
        plot_curve(directory, output_file(curve))
        show(str(curve))
    else:
        need("torch")
        need("onnx")
        settings = _settings(run, directory, minutes, actors)
        folder = directory or Path("runs") / settings.run.name
        if part is not None:
            _part(part, folder, settings, changed=run is not None)
        else:
            _print(_train(settings, folder, resume, ray), as_json)


def _run_file(run: Path) -> Path:
    """Return the file, or that of a run which ships with the package."""
    known = bundled_runs()
    if run.exists() or (run.suffix and str(run) not in known):
        return run
    if str(run) not in known:
        near = did_you_mean(str(run), known)
        raise ConfigError(f"{run} is neither a file nor one of: {', '.join(known)}{near}")
    return known[str(run)]


def _show(run: Path | None) -> None:
    """Print a run file, or the names of those that ship with the package."""
    if run is None:
        show(f"runs: {', '.join(bundled_runs())}; pyengine train NAME --show prints one")
        return
    try:
        text = read_limited(run).decode()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(unread(run, error)) from error
    sys.stdout.write(text)


def _settings(
    run: Path | None, directory: Path | None, minutes: float | None, actors: str | None
) -> RunFile:
    """Return the file's settings, or those of the run in the directory."""
    settings = RunFolder(directory or "").run() if run is None else RunFile.from_toml(run)
    if actors is not None:
        settings = settings.with_actors(int(actors) if actors.isdecimal() else actors)
    return settings if minutes is None else settings.limited(minutes=minutes)


def _train(settings: RunFile, folder: Path, resume: bool, ray: str | None) -> RunReport:
    try:
        with _progress(settings) as progress:
            if ray is None:
                return train_run(settings, folder, resume=resume, on_progress=progress)
            return distributed.train(
                settings, folder, address=ray, resume=resume, on_progress=progress
            )
    except KeyboardInterrupt:
        if (folder / "run.toml").exists():
            cluster = "" if ray is None else f" --ray {ray}"
            words = f"stopped; pyengine train --directory {folder} --resume{cluster} goes on"
            say(console(stderr=True), Text(words))
        raise


def _part(name: str, path: Path, settings: RunFile, *, changed: bool) -> None:
    """Run a part here until Ctrl-C, in a folder that is made if necessary.

    ``changed``: the settings may differ from the folder's, as far as a run allows.
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


def _rollout_policy(
    games: Sequence[Path], output: Path, game: str | None, epochs: int, as_json: bool
) -> None:
    """Learn a policy from games, write it, and say how it does on games held out."""
    for path in games:
        if not path.exists():
            raise ConfigError(f"{path} does not exist")
    output_file(output)
    played = None if game is None else game_from(game, None)

    def describe(fit: RolloutFitProgress) -> tuple[float, str]:
        return fit.epoch, f"epochs, log-likelihood {fit.log_likelihood:.3f}"

    with progress_bar(epochs, describe) as on_progress:
        fit = rollout_policy(games, output, game=played, epochs=epochs, on_progress=on_progress)
    if as_json:
        values = {"games": fit.games, "positions": fit.positions, "left_out": fit.left_out}
        print_json({**values, "held_out": asdict(fit.held_out), "policy": str(output)})
    else:
        show(f"{fit}\n{output}")


@contextmanager
def _progress(settings: RunFile) -> Iterator[Callable[[RunProgress], None]]:
    """Show a table on a terminal; elsewhere print a line now and then on stderr, and at the end."""
    err = console(stderr=True)
    if err.is_terminal:
        with Live(console=err, transient=True, refresh_per_second=4) as live:
            yield lambda progress: live.update(_table(_facts(progress, settings)))
        return
    printed = -_LINE_SECONDS  # by time.monotonic(), which may begin at 0
    waiting: RunProgress | None = None

    def print_waiting() -> None:
        nonlocal printed, waiting
        if waiting is not None:
            facts = _facts(waiting, settings)
            console(stderr=True).print(Text(", ".join(f"{k} {v}" for k, v in facts)))
            printed, waiting = time.monotonic(), None

    def add(progress: RunProgress) -> None:
        nonlocal waiting
        waiting = progress
        if time.monotonic() - printed >= _LINE_SECONDS:
            print_waiting()

    try:
        yield add
    finally:
        print_waiting()


def _table(facts: list[tuple[str, str]]) -> Table:
    table = Table.grid(padding=(0, 2))
    for name, value in facts:
        table.add_row(Text(name, style="bold"), value)
    return table


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
    facts = (
        ("minutes", of(f"{progress.seconds / 60:.1f}", limits.minutes)),
        ("self-play", f"{played}, {progress.positions_per_second:.1f} positions/s"),
        ("actors", _crew(progress.actors)),
        ("learner", learnt),
        ("gate", progress.gate or "-"),
        ("best", strength),
        ("restarts", str(progress.restarts or "")),
        ("candidate", progress.failure or ""),
        ("finishing", "the last candidate is evaluated" if progress.finishing else ""),
    )
    return [(name, value) for name, value in facts if value]


def _crew(actors: Sequence[ActorProgress]) -> str:
    """Return what the actors are doing: by node, how many play, how fast, and who is missing."""
    nodes: dict[str, list[ActorProgress]] = {}
    for actor in actors:
        nodes.setdefault(actor.node, []).append(actor)
    parts = []
    for node, here in sorted(nodes.items()):
        states = Counter(each.state.split()[0] for each in here)
        counted = ", ".join(f"{count} {state}" for state, count in states.most_common())
        rates = ", ".join(f"{each.positions_per_second:.1f}" for each in here[:_RATES])
        more = " ..." if len(here) > _RATES else ""
        speed = f" ({rates}{more}/s)" if node else ""
        parts.append(f"{node or 'nowhere yet'}: {counted}{speed}")
    deaths = sum(actor.deaths for actor in actors)
    return "; ".join(parts) + (f"; {deaths} died" if deaths else "")


def _print(report: RunReport, as_json: bool) -> None:
    progress = report.progress
    model = None if report.model is None else str(report.model)
    if as_json:
        values: dict[str, Any] = {**asdict(progress), "reason": report.reason}
        print_json({**values, "folder": str(report.folder), "model": model})
        return
    if report.ended_before:
        words = _ended_before(report.reason)
    else:
        limit = report.reason in ("minutes", "games", "steps", "generations")
        ended = f"the limit of {report.reason} is reached" if limit else report.reason
        words = (
            f"{ended}: {progress.games:,} games, {progress.positions:,} positions, "
            f"{progress.step:,} steps in {progress.seconds / 60:.1f} minutes; "
            f"{_reached(progress.best)}"
        )
    say(console(), Text(words))
    show(model or str(report.folder))


def _ended_before(limit: str) -> str:
    """Return what to do about a run that had reached a limit before it was resumed."""
    raised = f"{limit} in the section [run] of a RUN.toml that is named with --resume"
    if limit == "minutes":
        raised = f"--minutes, or {raised}"
    return f"the run had reached its limit of {limit} before; to go on, raise {raised}"


def _reached(best: Best | None) -> str:
    """Return how far the best network is, and whether it is still the untrained one."""
    if best is None:
        return "no network yet"
    if best.is_network and best.step == 0:
        return "no candidate has passed the gate: the best network is the first, of random weights"
    return f"generation {best.generation}, {best.elo:+.0f} Elo"
