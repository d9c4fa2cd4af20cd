"""Benchmark suites: each checks its own answers before it states a rate."""

from .suites import SUITES, module_of

__all__ = ["SUITES", "module_of"]
