"""Benchmark suites: each checks its own answers before it states a rate."""

#: Names of the suites, each a module of this package with ``NAME``, ``DESCRIPTION`` and ``run``.
SUITES = ("tree", "evaluator", "saturation", "device", "threads", "memory", "latency", "peers")
