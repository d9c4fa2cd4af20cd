"""``pyengine bench``: run the installed benchmark suites, or tune a network with --tune."""

from __future__ import annotations

import importlib
import json
from dataclasses import dataclass, field, replace
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
    to_json: Annotated[
        Path | None,
        Option("--json", metavar="FILE", help="Also write JSON; '-' writes only JSON, to stdout."),
    ] = None,
    out: Annotated[
        Path | None,
        Option(metavar="FOLDER", help="Directory for JSON and a plot of each suite."),
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
    """Run benchmark suites and print their tables. Exits 1 if a row fails."""
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
    )
    outputs = _Outputs(to_json, out)
    _check_files(names, options, outputs)
    reports, interrupted = _run_all(names, options, outputs)
    if interrupted:
        raise KeyboardInterrupt
    failed = any("failed" in row for report in reports.values() for row in report["rows"])
    if failed or outputs.lost:
        raise Exit(1)


# --- suites


@dataclass(frozen=True)
class _Outputs:
    """The files to write. A failed write is reported but does not end the run."""

    json: Path | None  #: '-': stdout, without tables
    folder: Path | None  #: for a JSON file and a plot per suite
    lost: list[str] = field(default_factory=list)  #: files that could not be written

    def check(self) -> None:
        """Raise ConfigError for an unwritable file before hours of work."""
        _check_output(self.json)
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)

    def rows_of(self, name: str) -> Path | None:
        """Return the file to which a suite saves its rows; None if it cannot be resumed."""
        if name not in importlib.import_module(_PACKAGE).RESUMABLE:
            return None
        if self.json is not None and str(self.json) != "-":
            return self.json
        return None if self.folder is None else self.folder / f"{name}.json"

    def show(self, text: str) -> None:
        """Print a table unless JSON goes to stdout."""
        if str(self.json) != "-":
            show(text)

    def add(self, name: str, report: dict[str, Any]) -> None:
        """Write the report of a finished suite."""
        if self.folder is None:
            return
        self._write(self.folder / f"{name}.json", report)
        try:
            _module("plot").draw([report], self.folder / f"{name}.png")
        except ConfigError as error:
            console(stderr=True).print(Text(f"{name}: no plot: {error}", style="dim"))

    def add_bars(self, rows: list[dict[str, Any]]) -> None:
        """Print and write the comparison of requirements and measurements."""
        columns, summary = _module("common").columns, _module("bars").summary(rows)
        shown = columns(summary, _module("common").terminal_width())
        self.show("\n".join(["bars: requirements and measurements", *shown]))
        if self.folder is not None:
            self._write(self.folder / "bars.txt", "\n".join([*columns(summary), ""]))

    def finish(self, reports: dict[str, Any]) -> None:
        """Write all reports."""
        if str(self.json) == "-":
            print_json(reports)
        elif self.json is not None:
            self._write(self.json, reports)

    def _write(self, file: Path, content: str | dict[str, Any]) -> None:
        try:
            _write(file, content)
        except DataError as error:
            self.lost.append(str(file))
            console(stderr=True).print(Text(str(error), style="bold red"))


def _check_output(file: Path | None) -> None:
    """Raise ConfigError if a file cannot be written; ``-`` is stdout."""
    if file is not None and str(file) != "-":
        check_output(file)


def _write(file: Path, content: str | dict[str, Any]) -> None:
    """Write text, or a dict as JSON."""
    text = content if isinstance(content, str) else json.dumps(content, indent=2) + "\n"
    with replacing(file) as temporary:
        temporary.write_text(text, "utf-8")


def suites() -> tuple[str, ...]:
    """Return the names of the installed suites in the order of ``all``."""
    try:
        package = importlib.import_module(_PACKAGE)
    except ModuleNotFoundError:
        return ()
    return tuple(package.SUITES)


def _module(name: str) -> ModuleType:
    return importlib.import_module(f"{_PACKAGE}.{name.replace('-', '_')}")


def _check_files(names: tuple[str, ...], options: Any, outputs: _Outputs) -> None:
    """Raise ConfigError for a file that could not be written at the end of the run."""
    if options.trace is not None:
        if names != ("device",):
            raise ConfigError(f"--trace is for the suite device, got {' '.join(names)}")
        check_output(options.trace)
    outputs.check()
    for name in names:
        file = outputs.rows_of(name)
        if file is not None:
            _module(name).check_options(replace(options, keep=file))


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


def _run_suite(name: str, report: Any, options: Any) -> None:
    suite = _module(name)
    report.description = suite.DESCRIPTION
    suite.run(report, options)


def _run_all(
    names: tuple[str, ...], options: Any, outputs: _Outputs
) -> tuple[dict[str, Any], bool]:
    """Run suites, reporting each as it ends; also return whether Ctrl-C interrupted the run."""
    reports: dict[str, Any] = {}
    interrupted = False
    for name in names:
        console(stderr=True).print(Text(f"running {name} ...", style="dim"))
        report = _module("common").Report(name)
        suite_options = replace(options, keep=outputs.rows_of(name))
        interrupted = _module("common").run_kept(report, partial(_run_suite, name), suite_options)
        outputs.show(report.table(_module("common").terminal_width()) + "\n")
        reports[name] = report.to_dict()
        outputs.add(name, reports[name])
        if interrupted:
            break
    if len(names) > 1 and not options.quick:
        outputs.add_bars([row for report in reports.values() for row in report["rows"]])
    outputs.finish(reports)
    return reports, interrupted


# --- --tune


def _tune(
    model: str, game: str | None, spec: Path | None, seconds: float, to_json: Path | None
) -> None:
    """Tune and print the results so far; after Ctrl-C, raise KeyboardInterrupt."""
    played = game_of_model(model) if game is None else game_from(game)
    if played is None:
        raise ConfigError("--tune MODEL requires --game unless the network is bundled")
    _check_output(to_json)
    with (
        Engine(played, evaluator_for(model, spec)) as engine,
        progress_bar(1.0, _describe, counted=False) as on_progress,
    ):
        result = tune(
            engine,
            seconds,
            on_progress=on_progress and (lambda share, best: on_progress((share, best))),
        )
    if str(to_json) == "-":
        print_json(result.to_dict())
    else:
        show(str(result))
        if to_json is not None:
            _write(to_json, result.to_dict())
    if not result.complete:
        raise KeyboardInterrupt


def _describe(progress: tuple[float, Trial | None]) -> tuple[float, str]:
    share, best = progress
    words = "measuring" if best is None else f"best so far {best.rate:,.0f} positions/s"
    return share, words
