"""Locks between processes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pyengine import ConfigError
from pyengine.base.locks import lock

HOLD = """
import sys
from pathlib import Path
from pyengine.base.locks import lock

held = lock(Path(sys.argv[1]))
print("locked", flush=True)
sys.stdin.read()
"""


def test_a_file_has_one_holder_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "file"
    held = lock(path)
    with pytest.raises(ConfigError, match="another writer"):
        lock(path)
    lock(tmp_path / "other").release()
    held.release()
    lock(path).release()


def test_the_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    path = tmp_path / "file"
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", HOLD, str(path)]
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "locked\n"
        with pytest.raises(ConfigError, match="another writer"):
            lock(path)
        process.kill()
    lock(path).release()


def test_a_lock_in_a_missing_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        lock(tmp_path / "absent" / "file")
