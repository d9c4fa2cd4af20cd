"""Names of temporary files that say whose they are, and the removal of those that are abandoned."""

from __future__ import annotations

import os
import re
import secrets
import time
import zlib
from contextlib import suppress
from pathlib import Path

#: What a file's name ends with while it is written, after the digits that no other file has.
TEMPORARY = ".tmp"

_OURS = re.compile(rf".+\.([0-9a-f]{{8}})([0-9a-f]{{8}})[0-9a-f]{{16}}{re.escape(TEMPORARY)}")

_LONG = 86400.0  # seconds without a write, after which no writer is expected to go on

_swept: set[tuple[int, Path]] = set()  # by process, since a fork has its parent's


def temporary_name(name: str) -> str:
    """Return a new name: that of a file, 32 digits for machine, process and chance, the ending."""
    return f"{name}.{_machine():08x}{os.getpid():08x}{secrets.token_hex(8)}{TEMPORARY}"


def sweep_once(folder: Path) -> None:
    """Remove the temporary files of dead processes from a folder.

    Those of another machine, or of this one before it was restarted, are removed a day after the
    last write. A process looks into a folder once. Other names stay, and what cannot be removed.
    """
    key = (os.getpid(), folder.absolute())
    if key in _swept:
        return
    _swept.add(key)
    paths: list[Path] = []
    with suppress(OSError):
        paths.extend(folder.iterdir())
    for path in paths:
        with suppress(OSError):
            if _is_abandoned(path):
                path.unlink()


def _is_abandoned(path: Path) -> bool:
    """Raises OSError where the file is gone, renamed by its writer."""
    ours = _OURS.fullmatch(path.name)
    if ours is None:
        return False
    if int(ours[1], 16) == _machine():
        return not _lives(int(ours[2], 16))
    return time.time() - path.stat().st_mtime > _LONG


def _lives(process: int) -> bool:
    """Whether there is a process of that number; True where the system cannot tell."""
    if os.name == "nt":  # where a signal ends it
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def _machine() -> int:
    """A number for the machine and the container, whose processes have numbers of their own.

    Machines may share a folder and have the same name. Under Linux it is another one after each
    start of the machine.
    """
    import platform  # as this is rarely needed
    import uuid

    space = str(uuid.getnode())
    with suppress(OSError):  # Linux alone has both
        started = Path("/proc/sys/kernel/random/boot_id").read_text("utf-8").strip()
        space = f"{started} {os.readlink('/proc/self/ns/pid')}"  # noqa: PTH115
    return zlib.crc32(f"{platform.node()} {space}".encode(errors="replace"))
