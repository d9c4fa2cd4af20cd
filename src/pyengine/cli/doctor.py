"""``pyengine doctor``: check this installation; ``--gpu`` tests a GPU."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict
from typing import Annotated

from rich.text import Text
from typer import Exit, Option

from pyengine.cli.options import DeviceOption, JsonOption, game_from
from pyengine.cli.output import console, print_json, say
from pyengine.doctor import doctor as examine
from pyengine.doctor.gpu import default_model, gpu_self_test
from pyengine.doctor.report import Check
from pyengine.errors import ConfigError

_STYLES = {"PASS": "green", "FAIL": "bold red", "SKIP": "yellow"}


def doctor(
    gpu: Annotated[bool, Option("--gpu", help="Test the GPU (takes half a minute).")] = False,
    model: Annotated[str | None, Option("--model", "-m", help="Network for the GPU test.")] = None,
    game_name: Annotated[str | None, Option("--game", help="The game that --model plays.")] = None,
    provider: Annotated[
        str | None, Option(help="With --gpu: cuda, tensorrt, or cpu to run the test without a GPU.")
    ] = None,
    device: DeviceOption = 0,
    quick: Annotated[bool, Option("--quick", help="With --gpu: faster but noisier.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Show the provider, libraries and hardware in use, and test them. Exits 1 if a test fails.

    pyengine doctor
    pyengine doctor --gpu --model connect4
    """
    if gpu:
        game = None if game_name is None else game_from(game_name)
        provider, model = provider or "cuda", model or default_model()
        checks = gpu_self_test(model, game, provider=provider, device_id=device, fast=quick)
        results = _gpu(checks, provider, model, as_json)
    elif quick or model or game_name or provider:
        raise ConfigError("--model, --game, --provider and --quick require --gpu")
    else:
        results = _machine(device, as_json)
    if any(check.verdict == "FAIL" for check in results):
        raise Exit(1)


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


def _gpu(checks: Iterable[Check], provider: str, model: str | None, as_json: bool) -> list[Check]:
    if as_json:
        results = list(checks)
        ok = all(check.verdict != "FAIL" for check in results)
        rows = [asdict(check) for check in results]
        print_json({"provider": provider, "model": model, "ok": ok, "checks": rows})
        return results
    results = _printed(checks)
    counts = Counter(check.verdict for check in results)
    summary = ", ".join(f"{counts[verdict]} {verdict}" for verdict in _STYLES)  # type: ignore[index]
    console().print(Text(f"\n{provider}: {summary}", style="bold"))
    return results


def _printed(checks: Iterable[Check]) -> list[Check]:
    """Print each check as soon as it has run; return all of them."""
    out = console()
    results = []
    for check in checks:
        verdict = (check.verdict, _STYLES[check.verdict])
        say(out, Text.assemble(verdict, f"  {check.name}: {check.detail}"), indent=6)
        results.append(check)
    return results
