"""Benchmark suites. Each one checks its answers before it reports a rate."""

from .suites import RESUMABLE, SUITES, module_of

__all__ = ["RESUMABLE", "SUITES", "module_of"]
