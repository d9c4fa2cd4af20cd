"""Benchmark suites: each checks its own answers before it states a rate."""

from .suites import RESUMABLE, SUITES, module_of

__all__ = ["RESUMABLE", "SUITES", "module_of"]
