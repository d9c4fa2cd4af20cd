"""The list of suites."""

from __future__ import annotations

#: Each is a module (or package) with ``NAME``, ``DESCRIPTION``, ``run`` and ``main``; its file is
#: the name with ``_`` for ``-``. In the order in which all of them run: short ones first.
SUITES = (
    "tree",
    "solver",
    "data",
    "evaluator",
    "saturation",
    "device",
    "selfplay",
    "threads",
    "memory",
    "latency",
    "gpu",
    "parallel-strength",
    "strength",
    "peers",
)
#: Those that write their rows one by one and go on where they stopped. ``check_options(options)``
#: of their modules raises an EngineError for a file of rows that they cannot go on from.
RESUMABLE = frozenset({"gpu"})


def module_of(suite: str) -> str:
    """Return the name of the module of a suite within the package."""
    return suite.replace("-", "_")
