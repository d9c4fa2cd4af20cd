"""``pyengine bench``: the benchmark suites that are installed with the package."""

from __future__ import annotations

import importlib
import json
import pkgutil
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any

import typer  # noqa: TID253  # this package is the extra's
from rich.text import Text  # noqa: TID253

from pyengine.cli import common
from pyengine.errors import ConfigError

__all__ = ["bench", "suites"]

_PACKAGE = "pyengine.benchmarks"
_FIRST = ("tree", "evaluator", "saturation")  # in this order; others follow
_NO_SUITES = ("common", "__main__")
_SECONDS = 2.0  # of one measurement


def suites() -> tuple[str, ...]:
    """Return the names of the installed suites: modules with a function ``run``."""
    try:
        package = importlib.import_module(_PACKAGE)
    except ModuleNotFoundError:
        return ()
    found = {
        module.name
        for module in pkgutil.iter_modules(package.__path__)
        if not module.ispkg and not module.name.startswith("_") and module.name not in _NO_SUITES
    }
    ordered = [name for name in _FIRST if name in found]
    return tuple(
        name
        for name in [*ordered, *sorted(found.difference(_FIRST))]
        if callable(getattr(_module(name), "run", None))
    )


def _module(suite: str) -> ModuleType:
    return importlib.import_module(f"{_PACKAGE}.{suite}")


def bench(
    suite: Annotated[list[str], typer.Argument(help="tree, evaluator, saturation, ... or all.")],
    quick: Annotated[bool, typer.Option("--quick", help="Seconds instead of minutes.")] = False,
    seconds: Annotated[
        float, typer.Option("--seconds", "-s", help="Of one measurement.")
    ] = _SECONDS,
    models: Annotated[
        Path | None,
        typer.Option("--models", help="Folder of further networks.", exists=True, file_okay=False),
    ] = None,
    model: Annotated[
        Path | None, typer.Option("--model", "-m", help="One network instead.", exists=True)
    ] = None,
    game: Annotated[str | None, typer.Option("--game", help="The game of --model.")] = None,
    spec: common.SpecOption = None,
    to_json: Annotated[
        Path | None,
        typer.Option("--json", metavar="FILE", help="Also write JSON; '-' = stdout, no tables."),
    ] = None,
) -> None:
    """Run benchmark suites and print their tables. Exit status 1 if one finds a wrong answer."""
    known = suites()
    if not known:
        raise ConfigError("no benchmark suites are installed with this build")
    unknown = [name for name in suite if name not in (*known, "all")]
    if unknown:
        raise common.usage(f"no suite {', '.join(unknown)}; known: {', '.join(known)}, all")
    if not seconds > 0:
        raise common.usage(f"--seconds must be above 0, found {seconds}")
    names = known if "all" in suite else tuple(dict.fromkeys(suite))
    silent = to_json is not None and str(to_json) == "-"
    out = common.console()
    options = _module("common").Options(
        quick=quick, seconds=seconds, models=models, model=model, game=game, spec=spec
    )
    reports: dict[str, Any] = {}
    ok = True
    for name in names:
        common.console(stderr=True).print(Text(f"running {name} ...", style="dim"))
        report = _module(name).run(options)
        if not silent:
            out.print(Text(report.table()))
        reports[name] = report.to_dict()
        ok = ok and not report.failed
    if silent:
        common.print_json(reports)
    elif to_json is not None:
        to_json.write_text(json.dumps(reports, indent=2) + "\n", "utf-8")
    if not ok:
        raise typer.Exit(1)
