"""What the peers need of the suites' modules."""

from __future__ import annotations

# The one place that knows where this folder lies.
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
