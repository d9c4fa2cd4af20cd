"""``pyengine doctor``: what would be used here and why; ``--gpu``: the self-test of a GPU."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Annotated

import typer  # noqa: TID253  # this package is the extra's
from rich.text import Text  # noqa: TID253

from pyengine.cli.options import DeviceOption, JsonOption, SpecOption, game_from, read_spec
from pyengine.cli.output import console, print_json, say
from pyengine.doctor import doctor as examine
from pyengine.doctor.checks import Check
from pyengine.doctor.gpu import default_model, gpu_self_test
from pyengine.errors import ConfigError
from pyengine.eval.bundled import game_of_model

_STYLES = {"PASS": "green", "FAIL": "bold red", "SKIP": "yellow"}


def doctor(
    gpu: Annotated[bool, typer.Option("--gpu", help="Test the GPU: half a minute.")] = False,
    model: Annotated[
        str | None, typer.Option("--model", "-m", help="Network to test the GPU with.")
    ] = None,
    game: Annotated[str | None, typer.Option("--game", help="The game of --model.")] = None,
    spec: SpecOption = None,
    provider: Annotated[
        str | None,
        typer.Option(
            "--provider", help="With --gpu: cuda, tensorrt, or cpu to see the test without a GPU."
        ),
    ] = None,
    device: DeviceOption = 0,
    quick: Annotated[bool, typer.Option("--quick", help="With --gpu: seconds, but noisy.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Say what would be used here, why, and whether it works. Exit status 1 if something failed."""
    if gpu:
        name = model or default_model()
        if name is None or (game is None and game_of_model(name) is None):
            raise ConfigError("name a network and its game: --model FILE.onnx --game GAME")
        played = None if game is None else game_from(game, None)
        checks = gpu_self_test(
            name, played, provider=provider or "cuda", device_id=device, spec=read_spec(spec),
            fast=quick,
        )  # fmt: skip
        done = _gpu(checks, provider or "cuda", name, as_json)
    elif quick or any((model, game, spec, provider)):
        raise ConfigError("--model, --game, --spec, --provider and --quick need --gpu")
    else:
        done = _machine(device, as_json)
    if any(check.verdict == "FAIL" for check in done):
        raise typer.Exit(1)


def _machine(device: int, as_json: bool) -> list[Check]:
    report = examine(device)
    if as_json:
        print_json(report.to_dict())
        return list(report.checks)
    out = console()
    for label, text in report.facts().items():
        say(out, Text.assemble((f"{label:>13}  ", "bold"), text), indent=15)
    out.print()
    return _printed(report.checks)


def _gpu(checks: Iterable[Check], provider: str, model: str, as_json: bool) -> list[Check]:
    if as_json:
        done = list(checks)
        ok = all(check.verdict != "FAIL" for check in done)
        rows = [check.to_dict() for check in done]
        print_json({"provider": provider, "model": model, "ok": ok, "checks": rows})
        return done
    done = _printed(checks)
    counts = Counter(check.verdict for check in done)
    summary = ", ".join(f"{counts[verdict]} {verdict}" for verdict in _STYLES)  # type: ignore[index]
    console().print(Text(f"\n{provider}: {summary}", style="bold"))
    return done


def _printed(checks: Iterable[Check]) -> list[Check]:
    """Print each check as it is made."""
    out = console()
    done = []
    for check in checks:
        verdict = (check.verdict, _STYLES[check.verdict])
        say(out, Text.assemble(verdict, f"  {check.name}: {check.detail}"), indent=6)
        done.append(check)
    return done
