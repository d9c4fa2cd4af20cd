"""What the peers need of the suites' common module."""

from __future__ import annotations

# The one place that knows where this folder lies.
from ..common import (  # noqa: TID252
    Options,
    Rate,
    Report,
    check,
    median,
    ratios,
    thread_counts,
)

__all__ = ["Options", "Rate", "Report", "check", "median", "ratios", "thread_counts"]
