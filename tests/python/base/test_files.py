"""Temporary files: unique names, usual permissions, and no user file is lost."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from pyengine import ConfigError, DataError
from pyengine.base.files import (
    check_output,
    read_limited,
    replacing,
    temporary_beside,
    unread,
    write_durably,
)


def durably(path: Path) -> None:
    write_durably(path, [b"new"])


def quickly(path: Path) -> None:
    with replacing(path) as temporary:
        temporary.write_bytes(b"new")


@pytest.mark.parametrize("write", [durably, quickly])
def test_a_new_file_has_the_usual_permissions_and_users_files_stay(
    tmp_path: Path, write: Callable[[Path], None]
) -> None:
    names = {"file.tmp", "file.part", "file.0.tmp"}
    for name in names:
        (tmp_path / name).write_text("mine")
    before = os.umask(0o027)
    try:
        write(tmp_path / "file")
    finally:
        os.umask(before)
    assert {path.name for path in tmp_path.iterdir() if path.read_bytes() == b"mine"} == names
    assert len(list(tmp_path.iterdir())) == 1 + len(names)
    assert os.name == "nt" or (tmp_path / "file").stat().st_mode & 0o777 == 0o640


@pytest.mark.skipif(os.name == "nt", reason="POSIX permissions")
def test_replacing_a_file_preserves_permissions_and_links(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    file, link = tmp_path / "folder" / "file", tmp_path / "link"
    file.write_text("old")
    file.chmod(0o600)
    link.symlink_to(file)
    quickly(link)
    assert link.is_symlink()
    assert file.read_bytes() == b"new"
    assert file.stat().st_mode & 0o777 == 0o600
    assert list((tmp_path / "folder").iterdir()) == [file]


def test_the_error_for_an_unreadable_file_gives_the_reason(tmp_path: Path) -> None:
    file = tmp_path / "text"
    file.write_bytes(b"ab\xff")
    for path, reason in (
        (tmp_path / "missing", "missing does not exist"),
        (tmp_path, "is a directory: expected a file"),
        (file, "text cannot be read: expected text in UTF-8, got the byte 0xff at 2"),
    ):
        with pytest.raises((OSError, UnicodeDecodeError)) as raised:
            read_limited(path).decode()
        assert unread(path, raised.value).endswith(reason)


def test_temporary_files_of_killed_processes_are_removed_after_a_day(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    name = temporary_beside(tmp_path / "elsewhere" / "first").name
    folder = tmp_path / "folder"
    folder.mkdir()
    recent, abandoned, other = (
        folder / file for file in (f"first.pyengine-{'0' * 16}.tmp", name, "first.tmp")
    )
    for file in (recent, abandoned, other):
        file.touch()
    for file in (abandoned, other):
        os.utime(file, (0, 0))
    quickly(folder / "second")
    assert set(folder.iterdir()) == {recent, other, folder / "second"}


@pytest.mark.parametrize("path", ["", ".", "/", ".."])
def test_a_folder_cannot_be_written_as_a_file(path: str) -> None:
    with pytest.raises(OSError, match="regular file"):
        durably(Path(path))
    with pytest.raises(DataError, match="regular file"):
        quickly(Path(path))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are not supported")
def test_a_pipe_is_not_replaced_by_a_file(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(ConfigError, match="a device or a pipe"):
        check_output(pipe)
    with pytest.raises(OSError, match="regular file"):
        durably(pipe)
    with pytest.raises(DataError, match="regular file"):
        quickly(pipe)
    assert pipe.is_fifo()
    assert list(tmp_path.iterdir()) == [pipe]
