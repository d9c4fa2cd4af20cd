"""pyengine on emulated older processors."""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys

import pytest

QEMU = shutil.which("qemu-x86_64-static") or shutil.which("qemu-x86_64")

SEARCH = """
import pyengine
game = pyengine.load_game("connect_four")
with pyengine.Engine(game, "connect4", threads=1) as engine:
    print("visits", engine.search(game.new_initial_state(), simulations=10).visits.sum())
"""

pytestmark = [
    pytest.mark.skipif(
        QEMU is None or sys.platform != "linux" or platform.machine() != "x86_64",
        reason="needs qemu-user on Linux x86-64 (apt-get install qemu-user-static)",
    ),
]


def run_on(processor: str, program: str) -> subprocess.CompletedProcess[str]:
    assert QEMU is not None
    return subprocess.run(
        [QEMU, "-cpu", processor, sys.executable, "-c", program],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def test_a_network_search_works_without_avx() -> None:
    done = run_on("Nehalem", SEARCH)
    assert "visits 10" in done.stdout, done.stderr


def test_an_unsupported_processor_is_an_import_error() -> None:
    done = run_on("core2duo", "import pyengine")
    assert "ImportError: pyengine requires an x86-64-v2 processor" in done.stderr
    assert "SSE4.2" in done.stderr
