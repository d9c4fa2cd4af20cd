"""What happens on processors older than the one that tests run on, by emulation."""

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


def test_a_network_is_searched_without_avx() -> None:
    ended = run_on("Nehalem", SEARCH)
    assert "visits 10" in ended.stdout, ended.stderr


def test_a_processor_that_is_too_old_is_named() -> None:
    ended = run_on("core2duo", "import pyengine")
    assert "ImportError: pyengine requires an x86-64-v2 processor" in ended.stderr
    assert "SSE4.2" in ended.stderr
