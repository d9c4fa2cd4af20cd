"""The list of suites."""

from __future__ import annotations

#: Each suite is a module or package with ``NAME``, ``DESCRIPTION``, ``run`` and ``main``. Its file
#: name is the suite name with ``_`` for ``-``. All suites run in this order, short ones first.
SUITES = (
    "tree",
    "solver",
    "data",
    "evaluator",
    "saturation",
    "device",
    "review",
    "selfplay",
    "threads",
    "memory",
    "latency",
    "gpu",
    "graph",
    "parallel-strength",
    "strength",
    "peers",
)
#: Suites that write their rows one by one and can resume. ``check_options(options)`` in their
#: modules raises an EngineError if the file of rows cannot be resumed.
RESUMABLE = frozenset({"gpu"})
#: Suites that run only the rows of ``Options.only``, and resume from ``Options.records``.
SELECTABLE = frozenset({"graph", "parallel-strength", "strength"})
#: Suites that play ``Options.games`` games per match.
MATCHES = frozenset({"parallel-strength", "strength"})


def module_of(suite: str) -> str:
    """Return the module name of a suite within the package."""
    return suite.replace("-", "_")
