"""Benchmark suites. Each one checks its answers before it reports a rate."""

from .suites import RESUMABLE, SELECTABLE, SUITES, module_of

__all__ = ["RESUMABLE", "SELECTABLE", "SUITES", "module_of"]
