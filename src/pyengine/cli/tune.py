"""``pyengine bench --tune``: the fastest settings of a network on this machine."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn  # noqa: TID253
from rich.text import Text  # noqa: TID253

from pyengine.base.files import replacing
from pyengine.cli import common
from pyengine.eval.bundled import game_of_model
from pyengine.match.tuning import Trial, TuneResult, tune
from pyengine.search.engine import Engine

__all__ = ["tune_model"]


def tune_model(
    model: str, game: str | None, spec: Path | None, seconds: float, to_json: Path | None
) -> None:
    """Tune and print the table. Exit status 130 where Ctrl-C ended it, after what it found."""
    known = game_of_model(model) if game is None else common.game_from(game, None)
    if known is None:
        raise common.usage("--tune MODEL needs --game, unless the network is a bundled one")
    if to_json is not None and str(to_json) != "-":
        common.output_file(to_json)
    setup = common.evaluator_for(known, model, spec, None, 0, named=f"--tune {model}")
    with Engine(known, setup.evaluator) as engine, _progress() as show:
        result = tune(engine, seconds, on_progress=show)
    _print(result, to_json)
    if not result.complete:
        raise KeyboardInterrupt


def _print(result: TuneResult, to_json: Path | None) -> None:
    if to_json is not None and str(to_json) == "-":
        common.print_json(result.to_dict())
        return
    common.console().print(Text(str(result)))
    if to_json is not None:
        with replacing(to_json) as temporary:
            temporary.write_text(json.dumps(result.to_dict(), indent=2) + "\n", "utf-8")


@contextmanager
def _progress() -> Iterator[Callable[[float, Trial | None], None] | None]:
    """Show a bar on stderr; nothing where that is no terminal."""
    err = common.console(stderr=True)
    if not err.is_terminal:
        yield None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=err, transient=True) as bar:
        task = bar.add_task("measuring", total=1.0)

        def show(share: float, best: Trial | None) -> None:
            told = "measuring" if best is None else f"best so far {best.rate:,.0f} positions/s"
            bar.update(task, completed=share, description=told)

        yield show
