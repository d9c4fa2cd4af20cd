"""Locks of files, on Windows too, whose module ``msvcrt`` is played by a stand-in here."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType

import pytest

from pyengine import ConfigError
from pyengine.base import locks
from pyengine.base.locks import lock


class Msvcrt(ModuleType):
    """Locks bytes of files as Windows does: at the position of the descriptor."""

    LK_NBLCK = 2

    def __init__(self) -> None:
        super().__init__("msvcrt")
        self.held: dict[tuple[int, int], int] = {}  # inode and byte: descriptor

    def locking(self, descriptor: int, mode: int, count: int) -> None:
        """Lock bytes. Raises PermissionError where another descriptor has them."""
        assert (mode, count) == (self.LK_NBLCK, 1)
        byte = os.lseek(descriptor, 0, os.SEEK_CUR)
        assert byte < 2**31, "msvcrt counts with 32 bits"
        inode = os.fstat(descriptor).st_ino
        holder = self.held.get((inode, byte))
        if holder not in (None, descriptor) and _is_open(holder, inode):
            raise PermissionError(13, "Permission denied")
        self.held[inode, byte] = descriptor


def _is_open(descriptor: int, inode: int) -> bool:
    """Whether a descriptor is still that of a file; Windows unlocks what is closed."""
    try:
        return os.fstat(descriptor).st_ino == inode
    except OSError:
        return False


@pytest.fixture(params=["posix", "windows"])
def module(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return the module as it is on a system."""
    if request.param == "posix":
        if sys.platform == "win32":
            pytest.skip("Windows has no fcntl")
        return locks
    stand_in = Msvcrt()
    monkeypatch.setitem(sys.modules, "msvcrt", stand_in)
    monkeypatch.setattr(sys, "platform", "win32")
    spec = importlib.util.spec_from_file_location("locks_of_windows", str(locks.__file__))
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def test_a_file_has_one_holder_at_a_time(module: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "file"
    with module.lock(path):
        with pytest.raises(ConfigError, match="one writer at a time"):
            module.lock(path)
        with module.lock(tmp_path / "other"):
            pass
    module.lock(path).close()


def test_who_holds_a_file_reads_and_writes_it_from_its_start(
    module: ModuleType, tmp_path: Path
) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"before")
    with module.lock(path) as held:
        assert held.file.read() == b"before"
        held.file.write(b" and after")
    assert path.read_bytes() == b"before and after"


def test_a_file_that_was_not_there_and_is_empty_can_be_taken_back(tmp_path: Path) -> None:
    path = tmp_path / "file"
    lock(path).discard()
    assert not path.exists()
    held = lock(path)
    held.file.write(b"x")
    held.file.flush()
    held.discard()
    assert path.read_bytes() == b"x"
    path.write_bytes(b"")
    lock(path).discard()  # it was there
    assert path.exists()


def test_a_file_that_is_taken_back_meanwhile_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "file"
    first = lock(path)
    take = locks._take

    def taken_late(place: Path, file: object) -> None:
        first.discard()  # between the opening and the lock
        take(place, file)  # type: ignore[arg-type]

    monkeypatch.setattr(locks, "_take", taken_late)
    with lock(path) as held:
        held.file.write(b"kept")
    assert path.read_bytes() == b"kept"


def test_a_link_that_leads_nowhere_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "absent")
    with pytest.raises(FileNotFoundError):
        lock(tmp_path / "link")
