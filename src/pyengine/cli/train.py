"""``pyengine train``: train a network as described in a run file."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal

from rich.text import Text
from typer import Argument, Exit, Option

from pyengine import distributed
from pyengine.base.checks import did_you_mean
from pyengine.cli.options import JsonOption, game_from, output_file, read_text
from pyengine.cli.output import console, print_json, progress_bar, say, show
from pyengine.cli.train_progress import train_progress
from pyengine.errors import ConfigError
from pyengine.eval.bundled import bundled_runs
from pyengine.games.game import load_game, registered_games
from pyengine.games.named_games import bare_name
from pyengine.train import (
    RolloutFitProgress,
    RunFile,
    RunReport,
    need,
    plot_curve,
    rollout_policy,
    train_run,
)
from pyengine.train.json_files import writing
from pyengine.train.loop.part import main as run_part
from pyengine.train.loop.quick import run_name
from pyengine.train.loop.state import Best, RunFolder


def train(
    run: Annotated[
        Path | None,
        Argument(
            metavar="[RUN.toml]",
            help="Settings of the run: a file, or the name of a bundled run such as connect4. "
            "With --quick: a game.",
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
    quick: Annotated[
        bool,
        Option("--quick", help="Fit the settings to the game RUN, to --minutes and this machine."),
    ] = False,
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
    pyengine train connect_four --quick --minutes 5
    pyengine train connect4 --show > mine.toml      settings to edit
    pyengine train mine.toml --directory runs/mine
    pyengine train --directory runs/mine --resume

    Ctrl-C stops all parts cleanly; --resume continues the run.
    """
    alone = not resume and part is None
    quick_text = _quick(run, minutes, directory, alone=alone, show=show_run) if quick else None
    run = None if run is None or quick else _run_file(run)
    if show_run:
        _show(run, quick_text)
        return
    refusals = (
        (games and (run or directory), "--rollout-policy does not take RUN.toml or --directory"),
        (games and output is None, "--rollout-policy requires --output"),
        (not games and (output or game), "--output and --game require --rollout-policy"),
        (
            not (games or run or directory or quick),
            "expected a RUN.toml, or --resume with --directory",
        ),
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
        settings = _settings(quick_text or run, directory, minutes, actors)
        folder = directory or Path("runs") / settings.run.name
        if part is not None:
            _part(part, folder, settings, changed=run is not None)
        else:
            _print(_train(settings, folder, resume, ray), as_json)


def _run_file(run: Path) -> Path:
    """Return the path of a run file given by path or by name."""
    known = bundled_runs()
    if (run.exists() and not run.is_dir()) or (run.suffix and str(run) not in known):
        return run
    if str(run) not in known:
        is_game = bare_name(str(run)) in registered_games()
        near = "; for a game: --quick" if is_game else did_you_mean(str(run), known)
        raise ConfigError(f"{run} is neither a file nor one of: {', '.join(known)}{near}")
    return known[str(run)]


def _quick(
    game: Path | None, minutes: float | None, directory: Path | None, *, alone: bool, show: bool
) -> str:
    """Return a run file that fits the minutes and this machine, which it measures.

    Raises ConfigError before that if there is no such game, or if a run cannot begin.
    """
    if game is None or minutes is None or not alone:
        raise ConfigError("--quick requires a game and --minutes, without --resume and --part")
    name = run_name(load_game(str(game)).name)
    if not show:
        RunFolder(directory or Path("runs") / name).refuse_run()
    need("torch")
    need("onnx")
    say(console(stderr=True), Text("measuring the game and this machine"))
    text: str = need("pyengine.train.loop.measured").measured_run(str(game), minutes)
    return text


def _show(run: Path | None, quick: str | None) -> None:
    """Print a run file, or the names of the bundled ones."""
    if quick is not None:
        sys.stdout.write(quick)
        return
    if run is None:
        show(f"runs: {', '.join(bundled_runs())}; to print one: pyengine train NAME --show")
        return
    sys.stdout.write(read_text(run))


def _settings(
    run: str | Path | None, directory: Path | None, minutes: float | None, actors: str | None
) -> RunFile:
    """Read the settings from the file, or from the run in the directory."""
    settings = RunFolder(directory or "").run() if run is None else RunFile.from_toml(run)
    if actors is not None:
        settings = settings.with_actors(int(actors) if actors.isdecimal() else actors)
    return settings if minutes is None else settings.limited(minutes=minutes)


def _train(settings: RunFile, folder: Path, resume: bool, ray: str | None) -> RunReport:
    try:
        with train_progress(settings) as progress:
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
            + "; ".join(filter(None, (_reached(progress.best), progress.verdict)))
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
    if not best.is_network:
        return f"no candidate has beaten {best.name}, which plays the games"
    if best.step == 0:
        return "no candidate has passed the gate: the best network is still the untrained one"
    if best.elo <= 0:
        return (
            f"generation {best.generation} is not stronger than the first player ({best.elo:+.0f} "
            "Elo)"
        )
    return f"generation {best.generation}, {best.elo:+.0f} Elo"
