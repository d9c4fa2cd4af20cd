"""Ctrl-C during the import of the command ends it without a traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs signals")

COMMAND = "import sys; from pyengine_command import main; sys.exit(main())"
SLOW = "import os, signal; os.kill(os.getpid(), signal.SIGINT); print('continues', flush=True)"


def run(folder: Path, handler: signal.Handlers) -> subprocess.CompletedProcess[str]:
    """Run the command with a package ``pyengine`` that is interrupted during its import."""
    package = folder / "pyengine"
    package.mkdir()
    (package / "__init__.py").write_text(SLOW)
    (package / "cli.py").write_text("def main(arguments):\n    return 7\n")
    return subprocess.run(
        [sys.executable, "-c", COMMAND],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env={**os.environ, "PYTHONPATH": str(folder)},
        preexec_fn=lambda: signal.signal(signal.SIGINT, handler),
    )


def test_ctrl_c_during_the_import_ends_the_command_quietly(tmp_path: Path) -> None:
    done = run(tmp_path, signal.SIG_DFL)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, "", "")


def test_a_command_that_ignores_ctrl_c_continues(tmp_path: Path) -> None:
    done = run(tmp_path, signal.SIG_IGN)
    assert (done.returncode, done.stdout, done.stderr) == (7, "continues\n", "")


def test_modules_that_swallow_ctrl_c_are_imported_early() -> None:
    code = "import pyengine, sys; sys.exit('numpy.random' not in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_installed_command_uses_this_entry_point() -> None:
    (script,) = metadata.entry_points(group="console_scripts", name="pyengine")
    assert script.value == "pyengine_command:main"
