"""``pyengine train``: train a network as described in a run file."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal

from rich.live import Live
from rich.table import Table
from rich.text import Text
from typer import Argument, Exit, Option

from pyengine import distributed
from pyengine.base.checks import did_you_mean
from pyengine.cli.options import JsonOption, game_from, output_file, read_text
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
from pyengine.train.loop.state import Best, RunFolder

_LINE_SECONDS = 30.0  # between lines of progress without a terminal


def train(
    run: Annotated[
        Path | None,
        Argument(
            metavar="[RUN.toml]",
            help="Settings of the run: a file, or the name of a bundled run such as connect4.",
        ),
    ] = None,
    directory: Annotated[
        Path | None, Option("--directory", "-d", help="Directory of the run. Default: runs/NAME.")
    ] = None,
    resume: Annotated[
        bool, Option("--resume", help="Resume the run in the directory, or start it.")
    ] = False,
    show_run: Annotated[
        bool, Option("--show", help="Print the settings of a run, or list bundled runs.")
    ] = False,
    part: Annotated[
        Literal["selfplay", "learner", "gate"] | None, Option(help="Run only one part.")
    ] = None,
    minutes: Annotated[
        float | None, Option(help="Total time limit of the run, overriding the file.")
    ] = None,
    ray: Annotated[
        str | None,
        Option(
            metavar="ADDRESS",
            help="Run self-play on Ray: auto (the cluster of this machine), local (only this "
            "machine), or an address.",
        ),
    ] = None,
    actors: Annotated[
        str | None,
        Option(
            metavar="N",
            help="With --ray: number of actors, overriding the file; auto: as many as fit.",
        ),
    ] = None,
    curve: Annotated[
        Path | None,
        Option(help="Only plot the learning curve of the run in --directory to a file."),
    ] = None,
    games: Annotated[
        list[Path] | None,
        Option(
            "--rollout-policy",
            metavar="GAMES",
            exists=True,
            help="Only learn a rollout policy for Go from a directory of shards or SGF files; "
            "repeatable.",
        ),
    ] = None,
    output: Annotated[
        Path | None, Option("--output", "-o", help="With --rollout-policy: the file to write.")
    ] = None,
    game: Annotated[
        str | None, Option("--game", "-g", help="With --rollout-policy: the game of SGF files.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Train a network from scratch with self-play, learner and gate.

    pyengine train connect4 --minutes 60
    pyengine train connect4 --show > mine.toml      settings to edit
    pyengine train mine.toml --directory runs/mine
    pyengine train --directory runs/mine --resume

    Ctrl-C stops all parts cleanly; --resume continues the run.
    """
    run = None if run is None else _run_file(run)
    if show_run:
        _show(run)
        return
    refusals = (
        (games and (run or directory), "--rollout-policy does not take RUN.toml or --directory"),
        (games and output is None, "--rollout-policy requires --output"),
        (not games and (output or game), "--output and --game require --rollout-policy"),
        (not (games or run or directory), "expected a RUN.toml, or --resume with --directory"),
        (actors and ray is None, "--actors requires --ray"),
        (part and ray, "--part cannot be combined with --ray"),
        (part and minutes is not None, "--part cannot be combined with --minutes"),
        (curve and directory is None, "--curve requires --directory"),
    )
    for wrong, message in refusals:
        if wrong:
            raise ConfigError(message)
    if games and output is not None:
        _rollout_policy(games, output, game, as_json)
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
    """Return the path of a run file given by path or by name."""
    known = bundled_runs()
    if run.exists() or (run.suffix and str(run) not in known):
        return run
    if str(run) not in known:
        near = did_you_mean(str(run), known)
        raise ConfigError(f"{run} is neither a file nor one of: {', '.join(known)}{near}")
    return known[str(run)]


def _show(run: Path | None) -> None:
    """Print a run file, or the names of the bundled ones."""
    if run is None:
        show(f"runs: {', '.join(bundled_runs())}; to print one: pyengine train NAME --show")
        return
    sys.stdout.write(read_text(run))


def _settings(
    run: Path | None, directory: Path | None, minutes: float | None, actors: str | None
) -> RunFile:
    """Read the settings from the file, or from the run in the directory."""
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
            text = f"stopped; to continue: pyengine train --directory {folder} --resume{cluster}"
            say(console(stderr=True), Text(text))
        raise


def _part(name: str, path: Path, settings: RunFile, *, changed: bool) -> None:
    """Run a part until Ctrl-C, and create its folder if necessary.

    ``changed``: the settings may differ from the folder's.
    """
    folder = RunFolder(path)
    exists = (path / "run.toml").exists()
    if exists and changed:
        settings.refuse_changes(folder.run())
    with writing(path / "run.toml"):
        if not exists:
            folder.begin(settings)
        elif changed:
            folder.set_run(settings)
    status = run_part([name, str(path)])
    if status:
        raise Exit(status)


def _rollout_policy(
    games: Sequence[Path], output: Path, game_name: str | None, as_json: bool
) -> None:
    """Learn a policy, write it, and print its accuracy on held-out games."""
    output_file(output)
    game = None if game_name is None else game_from(game_name)

    def describe(fit: RolloutFitProgress) -> tuple[float, str]:
        text = f"epoch {fit.epoch} of {fit.epochs}, log-likelihood {fit.log_likelihood:.3f}"
        return fit.epoch / fit.epochs, text

    with progress_bar(1.0, describe, counted=False) as on_progress:
        fit = rollout_policy(games, output, game=game, on_progress=on_progress)
    if as_json:
        values = {"games": fit.games, "positions": fit.positions, "left_out": fit.left_out}
        print_json({**values, "held_out": asdict(fit.held_out), "policy": str(output)})
    else:
        show(f"{fit}\n{output}")


@contextmanager
def _progress(settings: RunFile) -> Iterator[Callable[[RunProgress], None]]:
    """Show a live table on a terminal; otherwise print a line to stderr from time to time."""
    err = console(stderr=True)
    if err.is_terminal:
        with Live(console=err, transient=True, refresh_per_second=4) as live:
            yield lambda progress: live.update(_table(_facts(progress, settings)))
        return
    printed = -_LINE_SECONDS  # time.monotonic() may start at 0
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
    """Return the labels and values of the progress display."""
    best, limits = progress.best, settings.run

    def of(value: str, limit: object) -> str:
        return value if limit is None else f"{value} of {limit}"

    generated = f"{progress.games:,} games, {progress.positions:,} positions"
    learnt = of(f"{progress.step:,}", limits.steps) + f" steps, window {progress.window:,}"
    if progress.step == 0:
        learnt += f", starts at {settings.window.minimum_positions:,} positions of full searches"
    if progress.policy is not None and progress.value is not None:
        learnt += f", loss: policy {progress.policy:.3f}, value {progress.value:.3f}"
    strength = "-"
    if best is not None:
        generation = of(str(best.generation), limits.generations)
        strength = f"generation {generation}, step {best.step:,}, Elo {best.elo:+.0f}"
    facts = (
        ("minutes", of(f"{progress.seconds / 60:.1f}", limits.minutes)),
        ("self-play", f"{generated}, {progress.positions_per_second:.1f} positions/s"),
        ("actors", _crew(progress.actors)),
        ("learner", learnt),
        ("gate", progress.gate or "-"),
        ("best", strength),
        ("restarts", str(progress.restarts or "")),
        ("candidate", progress.failure or ""),
        ("finishing", "evaluating the last candidate" if progress.finishing else ""),
    )
    return [(name, value) for name, value in facts if value]


def _crew(actors: Sequence[ActorProgress]) -> str:
    """Describe the states of the actors and their total rate by node."""
    parts = []
    for node in sorted({actor.node for actor in actors}):
        crew = [actor for actor in actors if actor.node == node]
        states = Counter(actor.state.split()[0] for actor in crew)
        counts = ", ".join(f"{count} {state}" for state, count in states.most_common())
        speed = f", {sum(actor.positions_per_second for actor in crew):.1f}/s" if node else ""
        parts.append(f"{node or 'not placed yet'}: {counts}{speed}")
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
        text = _ended_before(report.reason)
    else:
        limit = report.reason in ("minutes", "games", "steps", "generations")
        ended = f"reached the limit of {report.reason}" if limit else report.reason
        text = (
            f"{ended}: {progress.games:,} games, {progress.positions:,} positions, "
            f"{progress.step:,} steps in {progress.seconds / 60:.1f} minutes; "
            f"{_reached(progress.best)}"
        )
    say(console(), Text(text))
    show(model or str(report.folder))


def _ended_before(limit: str) -> str:
    """Explain how to continue a run that had reached its limit before it was resumed."""
    setting = f"{limit} in [run] of the RUN.toml passed with --resume"
    if limit == "minutes":
        setting = f"--minutes, or {setting}"
    return f"the run has already reached its limit of {limit}; to continue, raise {setting}"


def _reached(best: Best | None) -> str:
    """Describe the best network."""
    if best is None:
        return "no network yet"
    if best.is_network and best.step == 0:
        return "no candidate has passed the gate: the best network is still the untrained one"
    return f"generation {best.generation}, {best.elo:+.0f} Elo"
