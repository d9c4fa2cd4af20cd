"""``pyengine bench``: the benchmark suites that are installed with the package, and --tune."""

from __future__ import annotations

import importlib
import json
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, TypeAlias

import typer  # noqa: TID253  # this package is the extra's
from rich.text import Text  # noqa: TID253

from pyengine.base.arguments import did_you_mean
from pyengine.base.files import check_output, replacing, unwritten
from pyengine.cli import common
from pyengine.cli.tune import tune_model
from pyengine.errors import ConfigError, DataError

__all__ = ["bench", "suites"]

_PACKAGE = "pyengine.benchmarks"
_SECONDS = 2.0  # of one measurement
_TUNE_SECONDS = 60.0
_PICTURES = (".png", ".svg", ".pdf")


_JsonFile: TypeAlias = Annotated[
    Path | None,
    typer.Option("--json", metavar="FILE", help="Also write JSON; '-' = stdout, no tables."),
]
_PlotFile: TypeAlias = Annotated[
    Path | None, typer.Option("--plot", metavar="FILE", help="Also draw, as .png, .svg or .pdf.")
]
_OutFolder: TypeAlias = Annotated[
    Path | None,
    typer.Option("--out", metavar="FOLDER", help="Write JSON and picture of each suite there."),
]


_TraceFile: TypeAlias = Annotated[
    Path | None,
    typer.Option("--trace", metavar="FILE", help="Of device: write timelines of searches instead."),
]


_Minutes: TypeAlias = Annotated[
    float,
    typer.Option(
        "--minutes", help="Of gpu, which then stops; with the same --json or --out file it goes on."
    ),
]
_Tune: TypeAlias = Annotated[
    str | None,
    typer.Option("--tune", metavar="MODEL", help="Find the fastest settings of a network."),
]


@dataclass(frozen=True)
class _Outputs:
    """Where the reports go. What cannot be written is complained of, and the rest goes on.

    Attributes:
        json, plot: files for all of them; '-' = JSON on the standard output, and no tables there.
        folder: of a file and a picture a suite.
        lost: what could not be written.

    """

    json: Path | None
    plot: Path | None
    folder: Path | None
    lost: list[str] = field(default_factory=list)

    def check(self) -> None:
        """Raise ConfigError before hours of work where a file could not be written after them."""
        for file in (self.json, self.plot):
            if file is not None and str(file) != "-":
                check_output(file)
        if self.plot is not None and self.plot.suffix.lower() not in _PICTURES:
            raise ConfigError(
                f"--plot: expected a name that ends in {', '.join(_PICTURES)}, found {self.plot}"
            )
        if self.folder is not None:
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise ConfigError(f"--out: {unwritten(self.folder, error)}") from error

    def kept(self, name: str) -> Path | None:
        """Return where a resumable suite keeps its rows; None = nowhere."""
        if self.json is not None and str(self.json) != "-":
            return self.json
        return None if self.folder is None else self.folder / f"{name}.json"

    def show(self, text: str) -> None:
        """Print a table."""
        if str(self.json) != "-":
            common.console().print(Text(text))

    def keep(self, name: str, report: dict[str, Any]) -> None:
        """Write the report of a suite that has ended."""
        if self.folder is None:
            return
        self._write(self.folder / f"{name}.json", _as_json(report))
        try:
            _module("plot").draw([report], self.folder / f"{name}.png")
        except ConfigError as error:
            common.console(stderr=True).print(Text(f"{name}: no picture: {error}", style="dim"))

    def bars(self, rows: list[dict[str, Any]]) -> None:
        """Show and write what is asked beside what was measured."""
        common_module, summary = _module("common"), _module("bars").summary(rows)
        shown = common_module.columns(summary, common_module.terminal_width())
        self.show("\n".join(["bars: what is asked beside what was measured", *shown]))
        if self.folder is not None:
            self._write(self.folder / "bars.txt", "\n".join([*common_module.columns(summary), ""]))

    def finish(self, reports: dict[str, Any]) -> None:
        """Write all reports."""
        if str(self.json) == "-":
            common.print_json(reports)
        elif self.json is not None:
            self._write(self.json, _as_json(reports))
        if self.plot is not None:
            _module("plot").draw(list(reports.values()), self.plot)

    def _write(self, file: Path, text: str) -> None:
        try:
            with replacing(file) as temporary:
                temporary.write_text(text, "utf-8")
        except DataError as error:
            self.lost.append(str(file))
            common.console(stderr=True).print(Text(str(error), style="bold red"))


def _as_json(report: dict[str, Any]) -> str:
    return json.dumps(report, indent=2) + "\n"


def suites() -> tuple[str, ...]:
    """Return the names of the installed suites, in the order in which all of them run."""
    try:
        package = importlib.import_module(_PACKAGE)
    except ModuleNotFoundError:
        return ()
    return tuple(package.SUITES)


def _resumable() -> frozenset[str]:
    """Return the suites that go on from the rows of a file."""
    return frozenset(importlib.import_module(_PACKAGE).RESUMABLE)


def _module(name: str) -> ModuleType:
    return importlib.import_module(f"{_PACKAGE}.{name.replace('-', '_')}")


def bench(
    suite: Annotated[
        list[str] | None,
        typer.Argument(help="tree, evaluator, saturation, ... or all.", show_default=False),
    ] = None,
    skip: Annotated[
        list[str] | None,
        typer.Option("--skip", metavar="NAME", help="A suite to leave out; repeatable."),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Seconds instead of minutes.")] = False,
    seconds: Annotated[
        float | None,
        typer.Option("--seconds", "-s", help="Of one measurement (2), of all of --tune (60)."),
    ] = None,
    models: Annotated[
        Path | None,
        typer.Option("--models", help="Folder of further networks.", exists=True, file_okay=False),
    ] = None,
    model: Annotated[
        Path | None, typer.Option("--model", "-m", help="One network instead.", exists=True)
    ] = None,
    game: Annotated[str | None, typer.Option("--game", help="The game of --model, --tune.")] = None,
    spec: common.SpecOption = None,
    minutes: _Minutes = 20.0,
    to_json: _JsonFile = None,
    to_plot: _PlotFile = None,
    out: _OutFolder = None,
    trace: _TraceFile = None,
    tune: _Tune = None,
) -> None:
    """Run benchmark suites and print their tables. Exit status 1 if a row fails."""
    if seconds is not None and not seconds > 0:
        raise common.usage(f"--seconds must be above 0, found {seconds}")
    if not minutes > 0:
        raise common.usage(f"--minutes must be above 0, found {minutes}")
    if tune is not None:
        if suite or skip:
            named = " ".join([*(suite or []), *(skip or [])])
            raise common.usage(f"--tune is no suite and takes none, found {named}")
        tune_model(tune, game, spec, seconds or _TUNE_SECONDS, to_json)
        return
    names = _chosen(suite or [], skip or [])
    if model is not None and game is None:
        raise common.usage("--model needs --game")
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
    outputs = _Outputs(to_json, to_plot, out)
    _check_files(names, options, outputs)
    reports, interrupted = _run_all(names, options, outputs)
    if interrupted:
        raise KeyboardInterrupt
    failed = any("failed" in row for report in reports.values() for row in report["rows"])
    if failed or outputs.lost:
        raise typer.Exit(1)


def _check_files(names: tuple[str, ...], options: Any, outputs: _Outputs) -> None:
    """Raise ConfigError or a usage error for a file that the run could not use at its end."""
    if options.trace is not None:
        if names != ("device",):
            raise common.usage(f"--trace is of the suite device, found {' '.join(names)}")
        check_output(options.trace)
    outputs.check()
    for name in names:
        if name in _resumable():
            _module(name).check_options(replace(options, keep=outputs.kept(name)))


def _chosen(asked: list[str], skipped: list[str]) -> tuple[str, ...]:
    """Return the suites of the command line, without those that it leaves out."""
    known = suites()
    if not known:
        raise ConfigError("no benchmark suites are installed with this build")
    if not asked:
        raise common.usage(f"name a suite: {', '.join(known)}, or all; or --tune MODEL")
    _refuse_unknown("", asked, (*known, "all"))
    _refuse_unknown("--skip: ", skipped, known)
    named = known if "all" in asked else tuple(dict.fromkeys(asked))
    chosen = tuple(name for name in named if name not in skipped)
    if not chosen:
        raise common.usage(f"--skip leaves no suite of {', '.join(named)}")
    return chosen


def _refuse_unknown(option: str, names: list[str], known: tuple[str, ...]) -> None:
    unknown = [name for name in names if name not in known]
    if unknown:
        meant = did_you_mean(unknown[0], known)
        raise common.usage(
            f"{option}no suite {', '.join(unknown)}; known: {', '.join(known)}{meant}"
        )


def _run_suite(name: str, report: Any, options: Any) -> None:
    """Run the suite of this name; one that cannot even be imported fails like a row."""
    suite = _module(name)
    report.description = suite.DESCRIPTION
    suite.run(report, options)


def _run_all(
    names: tuple[str, ...], options: Any, outputs: _Outputs
) -> tuple[dict[str, Any], bool]:
    """Run suites, and print and write each as it ends; also return whether Ctrl-C ended them."""
    reports: dict[str, Any] = {}
    interrupted = False
    for name in names:
        common.console(stderr=True).print(Text(f"running {name} ...", style="dim"))
        report = _module("common").Report(name)
        own = replace(options, keep=outputs.kept(name) if name in _resumable() else None)
        interrupted = _module("common").run_kept(report, partial(_run_suite, name), own)
        outputs.show(report.table(_module("common").terminal_width()) + "\n")
        reports[name] = report.to_dict()
        outputs.keep(name, reports[name])
        if interrupted:
            break
    if len(names) > 1 and not options.quick:
        outputs.bars([row for report in reports.values() for row in report["rows"]])
    outputs.finish(reports)
    return reports, interrupted
