"""Measure a network against the targets of its game.

    python models/targets.py connect4 runs/connect4/models/candidate-00005000.onnx
    python models/targets.py connect4 models/connect4.onnx --only "policy alone"

Targets and results go to standard output. Matches and solver results are saved under ``--work``, so
that the same command resumes after Ctrl-C. Third-party networks and test sets are in ``../shared``
or ``$PYENGINE_SHARED``.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from measure.context import ROOT, Context, Measurement
from measure.findings import Finding

import pyengine
from pyengine.base.files import sha256_of

__all__ = ["NAMES", "context_for", "main", "measurements"]

WORK = ROOT / "build" / "targets"
NAMES = ("tic_tac_toe", "connect4", "gomoku", "go7", "go9", "othello")


def measurements(name: str, model: Path, context: Context) -> list[Measurement]:
    """Return the measurements of a network."""
    return list(importlib.import_module(f"measure.{name}").measurements(model, context))


def context_for(
    name: str,
    model: Path,
    threads: int = 1,
    *,
    work: Path = WORK,
    quick: bool = False,
    seed: int = 0,
) -> Context:
    """Return the context of a network's measurements, whose folder depends on the file."""
    return Context(
        work=work / f"{name}-{sha256_of(model)[:16]}{'-quick' if quick else ''}",
        shared=Path(os.environ.get("PYENGINE_SHARED", ROOT.parent / "shared")),
        quick=quick,
        threads=threads,
        seed=seed,
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status: 1 = target missed, 2 = not measured."""
    parser = argparse.ArgumentParser(description="Measure a network against its targets.")
    parser.add_argument("name", choices=NAMES, help="name of the targets")
    parser.add_argument("model", type=Path, metavar="MODEL.onnx", help="the network")
    parser.add_argument("--quick", action="store_true", help="a tenth of the cases and games")
    parser.add_argument("--only", metavar="TEXT", help="measurements whose name contains TEXT")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--threads", type=int, default=1, help="search threads (default 1)")
    parser.add_argument("--seed", type=int, default=0, help="default 0")
    parser.add_argument("--work", type=Path, default=WORK, help="folder of saved results")
    args = parser.parse_args(arguments)
    if not args.model.is_file():
        parser.error(f"{args.model} does not exist")
    context = context_for(
        args.name, args.model, args.threads, work=args.work, quick=args.quick, seed=args.seed
    )
    try:
        findings, failed = _measure(args, context)
    except pyengine.ConfigError as error:
        parser.error(str(error))
    except KeyboardInterrupt:
        context.say("")
        print("stopped: run the same command to resume", file=sys.stderr)
        return 130
    if args.json:
        print(json.dumps([finding.to_dict() for finding in findings], indent=1))
    missed = any(finding.reached is False and not finding.goal for finding in findings)
    return 2 if failed else int(missed)


def _measure(args: argparse.Namespace, context: Context) -> tuple[list[Finding], bool]:
    """Return the findings, and whether a measurement failed.

    Raises ConfigError if --only matches no measurement.
    """
    findings, failed = [], False
    selected = list(measurements(args.name, args.model, context))
    if args.only is not None:
        names = "; ".join(measure.name for measure in selected)
        selected = [measure for measure in selected if args.only in measure.name]
        if not selected:
            raise pyengine.ConfigError(f"--only: expected a part of {names}; got {args.only!r}")
    for measure in selected:
        try:
            finding = measure()
        except pyengine.EngineError as error:  # for example, an absent third-party network
            context.say("")
            print(f"{measure.name}: not measured: {error}", file=sys.stderr)
            failed = True
            continue
        context.say("")
        findings.append(finding)
        if not args.json:
            print(finding, flush=True)
    return findings, failed


if __name__ == "__main__":
    sys.exit(main())
