"""Benchmark suites. Each one checks its answers before it reports a rate."""

from .suites import MATCHES, RESUMABLE, SELECTABLE, SUITES, module_of

__all__ = ["MATCHES", "RESUMABLE", "SELECTABLE", "SUITES", "module_of"]
