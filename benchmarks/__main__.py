"""Run a suite of the installed package: ``python -m pyengine.benchmarks SUITE [--quick] ...``."""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING or __package__:
    from . import SUITES
else:  # run as `python benchmarks`
    SUITES = ("tree", "evaluator", "saturation", "device", "threads", "memory", "latency", "peers")


def run_suite(arguments: list[str]) -> int:
    """Run the suite named first with the other arguments; return the exit status."""
    if not arguments or arguments[0] not in SUITES:
        print(f"usage: python -m pyengine.benchmarks {{{','.join(SUITES)}}} [OPTION...]")
        return 2
    name = f"{__package__}.{arguments[0]}" if __package__ else arguments[0]
    suite = importlib.import_module(name)
    status: int = suite.main(arguments[1:])
    return status


if __name__ == "__main__":
    sys.exit(run_suite(sys.argv[1:]))
