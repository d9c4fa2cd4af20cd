"""``pyengine bench``: run the installed benchmark suites, or tune a network with --tune."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

from rich.text import Text
from typer import Argument, Exit, Option

from pyengine.base.checks import did_you_mean
from pyengine.base.files import check_output, replacing
from pyengine.cli.options import SpecOption, evaluator_for, game_from
from pyengine.cli.output import console, print_json, progress_bar, show
from pyengine.errors import ConfigError, DataError
from pyengine.eval.bundled import game_of_model
from pyengine.match.tuning import Trial, tune
from pyengine.search.engine import Engine

_PACKAGE = "pyengine.benchmarks"
_SECONDS = 2.0  # per measurement
_TUNE_SECONDS = 60.0


def bench(
    suite: Annotated[
        list[str] | None,
        Argument(help="Suites such as tree or evaluator, or all.", show_default=False),
    ] = None,
    skip: Annotated[
        list[str] | None, Option(metavar="NAME", help="Skip a suite; repeatable.")
    ] = None,
    quick: Annotated[bool, Option("--quick", help="Run for seconds instead of minutes.")] = False,
    seconds: Annotated[
        float | None,
        Option(
            "--seconds", "-s", help="Per measurement (default 2); --tune: in total (default 60)."
        ),
    ] = None,
    models: Annotated[
        Path | None,
        Option(help="Directory with additional networks.", exists=True, file_okay=False),
    ] = None,
    model: Annotated[
        Path | None, Option("--model", "-m", help="Measure only this network.", exists=True)
    ] = None,
    game: Annotated[str | None, Option(help="The game that --model or --tune plays.")] = None,
    spec: SpecOption = None,
    minutes: Annotated[
        float, Option(help="Time limit of the suite gpu; the same --json or --out resumes it.")
    ] = 20.0,
    only: Annotated[
        list[str] | None,
        Option(
            metavar="WORD",
            help="With graph, parallel-strength, strength: only rows whose names contain WORD; "
            "repeatable.",
        ),
    ] = None,
    games: Annotated[
        int | None, Option(min=1, help="With parallel-strength, strength: games per match.")
    ] = None,
    records: Annotated[
        Path | None,
        Option(
            metavar="FOLDER",
            help="With graph, parallel-strength, strength: save matches here, and resume them.",
            file_okay=False,
        ),
    ] = None,
    to_json: Annotated[
        Path | None,
        Option("--json", metavar="FILE", help="Also write JSON; '-' writes only JSON, to stdout."),
    ] = None,
    out: Annotated[
        Path | None, Option(metavar="FOLDER", help="Directory for JSON and a plot of each suite.")
    ] = None,
    trace: Annotated[
        Path | None,
        Option(metavar="FILE", help="With the suite device: write timelines of searches."),
    ] = None,
    model_to_tune: Annotated[
        str | None,
        Option("--tune", metavar="MODEL", help="Find the fastest settings for a network."),
    ] = None,
) -> None:
    """Run benchmark suites and print their tables. Exits 1 if a row fails.

    pyengine bench tree --quick
    pyengine bench all --skip peers --out results
    pyengine bench strength --only lcb --records FOLDER     repeat it to resume
    pyengine bench --tune connect4                  the fastest settings for a network
    """
    for name, value in (("--seconds", seconds), ("--minutes", minutes)):
        if value is not None and not value > 0:
            raise ConfigError(f"{name}: expected a number > 0, got {value}")
    if model_to_tune is not None:
        if suite or skip:
            raise ConfigError("--tune cannot be combined with suites")
        _tune(model_to_tune, game, spec, seconds or _TUNE_SECONDS, to_json)
        return
    names = _chosen(suite or [], skip or [])
    if model is not None and game is None:
        raise ConfigError("--model requires --game")
    options = _module("common").Options(
        quick=quick,
        seconds=seconds or _SECONDS,
        models=models,
        model=model,
        game=game,
        spec=spec,
        trace=trace,
        minutes=minutes,
        only=tuple(only or ()),
        games=games,
        records=records,
    )
    _check_selection(names, options)
    _check_files(names, options, to_json, out)
    reports, interrupted = _run_all(names, options, to_json, out)
    if interrupted:
        raise KeyboardInterrupt
    if any("failed" in row for row in _rows(reports)):
        raise Exit(1)


# --- suites


def suites() -> tuple[str, ...]:
    """Return the names of the installed suites in the order of ``all``."""
    try:
        package = importlib.import_module(_PACKAGE)
    except ModuleNotFoundError:
        return ()
    return tuple(package.SUITES)


def _module(name: str) -> ModuleType:
    return importlib.import_module(f"{_PACKAGE}.{name.replace('-', '_')}")


def _check_selection(names: tuple[str, ...], options: Any) -> None:
    """Raise ConfigError for rows or games that a suite cannot choose."""
    package = importlib.import_module(_PACKAGE)
    for option, value, able in (
        ("--only", options.only, package.SELECTABLE),
        ("--games", options.games, package.MATCHES),
    ):
        if value and not able.issuperset(names):
            raise ConfigError(f"{option} is for {', '.join(sorted(able))}, got {' '.join(names)}")


def _check_files(
    names: tuple[str, ...], options: Any, to_json: Path | None, out: Path | None
) -> None:
    """Raise ConfigError for a file that could not be written after hours of work."""
    if options.trace is not None:
        if names != ("device",):
            raise ConfigError(f"--trace is for the suite device, got {' '.join(names)}")
        check_output(options.trace)
    _check_output(to_json)
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
    for name in names:
        file = _rows_file(name, to_json, out)
        if file is not None:
            _module(name).check_options(replace(options, keep=file))


def _check_output(to_json: Path | None) -> None:
    if to_json is not None and str(to_json) != "-":
        check_output(to_json)


def _rows_file(name: str, to_json: Path | None, out: Path | None) -> Path | None:
    """Return the file to which a suite saves its rows; None if it cannot be resumed."""
    if name not in importlib.import_module(_PACKAGE).RESUMABLE:
        return None
    if to_json is not None and str(to_json) != "-":
        return to_json
    return None if out is None else out / f"{name}.json"


def _chosen(requested: list[str], skipped: list[str]) -> tuple[str, ...]:
    """Return the requested suites without the skipped ones."""
    known = suites()
    if not known:
        raise ConfigError("no benchmark suites are installed with this build")
    if not requested:
        raise ConfigError(f"name a suite ({', '.join(known)}, or all), or use --tune MODEL")
    for name in (*requested, *skipped):
        if name not in known and not (name == "all" and name in requested):
            near = did_you_mean(name, known)
            raise ConfigError(f"unknown suite {name}: expected {', '.join(known)}{near}")
    candidates = known if "all" in requested else tuple(dict.fromkeys(requested))
    chosen = tuple(name for name in candidates if name not in skipped)
    if not chosen:
        raise ConfigError(f"--skip excludes every suite: {', '.join(candidates)}")
    return chosen


def _run_all(
    names: tuple[str, ...], options: Any, to_json: Path | None, out: Path | None
) -> tuple[dict[str, Any], bool]:
    """Run suites, reporting each as it ends; also return whether Ctrl-C interrupted the run.

    ``to_json``: the file for all reports; ``-`` is stdout, without tables. A file that cannot be
    written is an error only after the last suite.
    """
    common = _module("common")
    lost: list[DataError] = []

    def attempt(write: Callable[..., None], *arguments: Any) -> None:
        try:
            write(*arguments)
        except DataError as error:
            lost.append(error)

    reports: dict[str, Any] = {}
    interrupted, tables = False, str(to_json) != "-"
    for name in names:
        console(stderr=True).print(Text(f"running {name} ...", style="dim"))
        report = common.Report(name)
        suite_options = replace(options, keep=_rows_file(name, to_json, out))
        interrupted = common.run_kept(report, partial(_run_suite, name), suite_options)
        reports[name] = report.to_dict()
        if tables:
            show(report.table(common.terminal_width()) + "\n")
        if out is not None:
            attempt(_write_report, out, name, reports[name])
        if interrupted:
            break
    if len(names) > 1 and not options.quick:
        bars = _module("bars").summary(_rows(reports))
        if tables:
            shown = common.columns(bars, common.terminal_width())
            show("\n".join(["bars: requirements and measurements", *shown]))
        if out is not None:
            attempt(_write, out / "bars.txt", "\n".join([*common.columns(bars), ""]))
    attempt(_write_json, to_json, reports)
    if lost:
        raise lost[0]
    return reports, interrupted


def _run_suite(name: str, report: Any, options: Any) -> None:
    suite = _module(name)
    report.description = suite.DESCRIPTION
    suite.run(report, options)


def _rows(reports: dict[str, Any]) -> list[dict[str, Any]]:
    return [row for report in reports.values() for row in report["rows"]]


def _write_report(folder: Path, name: str, report: dict[str, Any]) -> None:
    """Write the report of a finished suite, and draw it if possible."""
    _write_json(folder / f"{name}.json", report)
    try:
        _module("plot").draw([report], folder / f"{name}.png")
    except ConfigError as error:
        console(stderr=True).print(Text(f"{name}: no plot: {error}", style="dim"))


def _write_json(file: Path | None, value: dict[str, Any]) -> None:
    """Write JSON to a file if there is one; ``-`` is stdout."""
    if str(file) == "-":
        print_json(value)
    elif file is not None:
        _write(file, json.dumps(value, indent=2) + "\n")


def _write(file: Path, text: str) -> None:
    with replacing(file) as temporary:
        temporary.write_text(text, "utf-8")


# --- --tune


def _tune(
    model: str, game_name: str | None, spec: Path | None, seconds: float, to_json: Path | None
) -> None:
    """Tune and print the results so far; after Ctrl-C, raise KeyboardInterrupt."""
    game = game_of_model(model) if game_name is None else game_from(game_name)
    if game is None:
        raise ConfigError("--tune MODEL requires --game unless the network is bundled")
    _check_output(to_json)
    with (
        Engine(game, evaluator_for(model, spec)) as engine,
        progress_bar(1.0, _describe, counted=False) as on_progress,
    ):
        result = tune(engine, seconds, on_progress=on_progress)
    if str(to_json) != "-":
        show(str(result))
    _write_json(to_json, result.to_dict())
    if not result.complete:
        raise KeyboardInterrupt


def _describe(share: float, best: Trial | None) -> tuple[float, str]:
    words = "measuring" if best is None else f"best so far {best.rate:,.0f} positions/s"
    return share, words
