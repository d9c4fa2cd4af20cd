"""Cached quick runs of the installed benchmark suites."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
import tempfile
from typing import Any

#: Variables of the user's environment that affect a suite.
_USER_VARIABLES = ("PYENGINE_SHARED", "PYENGINE_PEERS", "PYENGINE_RECORDS", "XDG_CACHE_HOME")


@functools.cache
def quick(suite: str) -> dict[str, Any]:
    """Return the report of ``pyengine bench SUITE --quick`` with only the bundled networks.

    Fails if a row fails.
    """
    environment = {name: value for name, value in os.environ.items() if name not in _USER_VARIABLES}
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-m", "pyengine.cli", "bench", suite, "--quick", "--json", "-"],
            capture_output=True,
            text=True,
            env={**environment, "PYENGINE_PEERS": folder},
            check=False,
        )
    assert done.returncode == 0, done.stdout + done.stderr
    report: dict[str, Any] = json.loads(done.stdout)[suite]
    return report


def rows_of(suite: str) -> dict[str, dict[str, Any]]:
    """Return the rows of a quick run by name."""
    return {row["name"]: row for row in quick(suite)["rows"]}
