"""Import the suites' modules for the peers."""

from __future__ import annotations

# The only place that knows the location of this folder.
from ..common import Options, Report, check, thread_counts  # noqa: TID252
from ..intervals import median  # noqa: TID252
from ..pairs import Rate, in_turns, pace, ratios  # noqa: TID252

__all__ = [
    "Options",
    "Rate",
    "Report",
    "check",
    "in_turns",
    "median",
    "pace",
    "ratios",
    "thread_counts",
]
