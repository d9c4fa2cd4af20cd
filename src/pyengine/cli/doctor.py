"""``pyengine doctor``: what would be used here and why; ``--gpu``: the self-test of a GPU."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer  # noqa: TID253  # this package is the extra's
from rich.text import Text  # noqa: TID253

from pyengine.cli import common
from pyengine.doctor import doctor as examine
from pyengine.doctor.checks import Check
from pyengine.doctor.gpu import default_model, gpu_self_test
from pyengine.eval.bundled import game_of_model

__all__ = ["doctor"]

_STYLES = {"PASS": "green", "FAIL": "bold red", "SKIP": "yellow"}


def doctor(
    gpu: Annotated[bool, typer.Option("--gpu", help="Test the GPU: half a minute.")] = False,
    model: Annotated[
        str | None, typer.Option("--model", "-m", help="Network to test the GPU with.")
    ] = None,
    game: Annotated[str | None, typer.Option("--game", help="The game of --model.")] = None,
    spec: common.SpecOption = None,
    provider: Annotated[
        str | None,
        typer.Option(
            "--provider", help="With --gpu: cuda, tensorrt, or cpu to see the test without a GPU."
        ),
    ] = None,
    device: common.DeviceOption = 0,
    tolerance: Annotated[
        float | None, typer.Option("--tolerance", help="With --gpu: of probabilities and values.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="With --gpu: seconds, but noisy.")] = False,
    as_json: common.JsonOption = False,
) -> None:
    """Say what would be used here, why, and whether it works. Exit status 1 if something failed."""
    if gpu:
        checks = _gpu(model, game, spec, provider or "cuda", device, tolerance, quick, as_json)
    else:
        given = (model, game, spec, provider, tolerance)
        if any(value is not None for value in given) or quick:
            raise common.usage("these options need --gpu")
        checks = _machine(device, as_json)
    if any(check.verdict == "FAIL" for check in checks):
        raise typer.Exit(1)


def _machine(device: int, as_json: bool) -> Iterable[Check]:
    report = examine(device)
    if as_json:
        common.print_json(report.to_dict())
        return report.checks
    out = common.console()
    for label, text in report.facts().items():
        common.say(out, Text.assemble((f"{label:>13}  ", "bold"), text), indent=15)
    out.print()
    return _printed(report.checks)


def _gpu(
    model: str | None,
    game: str | None,
    spec: Path | None,
    provider: str,
    device: int,
    tolerance: float | None,
    quick: bool,
    as_json: bool,
) -> Iterable[Check]:
    name = model or default_model()
    if name is None or (game is None and game_of_model(name) is None):
        raise common.usage("name a network and its game: --model FILE.onnx --game GAME")
    checks = gpu_self_test(
        name,
        None if game is None else common.game_from(game, None),
        provider=provider,
        device_id=device,
        spec=common.read_spec(spec),
        fast=quick,
        **({} if tolerance is None else {"tolerance": tolerance}),
    )
    if not as_json:
        done = _printed(checks)
        counts = {v: sum(check.verdict == v for check in done) for v in _STYLES}
        summary = ", ".join(f"{count} {v}" for v, count in counts.items())
        common.console().print(Text(f"\n{provider}: {summary}", style="bold"))
        return done
    done = list(checks)
    common.print_json(
        {
            "provider": provider,
            "model": name,
            "ok": all(check.verdict != "FAIL" for check in done),
            "checks": [check.to_dict() for check in done],
        }
    )
    return done


def _printed(checks: Iterable[Check]) -> list[Check]:
    """Print each check as it is made."""
    out = common.console()
    done = []
    for check in checks:
        style = _STYLES[check.verdict]
        told = Text.assemble((check.verdict, style), f"  {check.name}: {check.detail}")
        common.say(out, told, indent=6)
        done.append(check)
    return done
