"""What the peers need of the suites' common module."""

from __future__ import annotations

# The one place that knows where this folder lies.
from ..common import CheckError, Options, Rate, Report, check, median, ratios  # noqa: TID252

__all__ = ["CheckError", "Options", "Rate", "Report", "check", "median", "ratios"]
