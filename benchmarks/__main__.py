"""Run a suite of the installed package: ``python -m pyengine.benchmarks SUITE [--quick] ...``."""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING or __package__:
    from .suites import SUITES, module_of
else:  # run as `python benchmarks`
    from suites import SUITES, module_of


def run_suite(arguments: list[str]) -> int:
    """Run the suite named by the first argument and return the exit status."""
    if not arguments or arguments[0] not in SUITES:
        print(f"usage: python -m pyengine.benchmarks {{{','.join(SUITES)}}} [OPTION...]")
        return 2
    module = module_of(arguments[0])
    suite = importlib.import_module(f"{__package__}.{module}" if __package__ else module)
    status: int = suite.main(arguments[1:])
    return status


if __name__ == "__main__":
    sys.exit(run_suite(sys.argv[1:]))
