"""Query the first GPU through ``nvidia-smi``. None or empty if it is missing or does not answer."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

_PROGRAM = "nvidia-smi"
_SECONDS = 30.0  # seconds to answer, because the driver may have to wake up
_EVERY = 100  # milliseconds between two utilisation samples


def query(*fields: str) -> list[str] | None:
    """Return GPU fields as printed by nvidia-smi, without units. None = unknown."""
    said = _say(*_command(*fields))
    cells = [cell.strip() for cell in said.strip().split(",")] if said else []
    return cells if len(cells) == len(fields) else None


def cuda_version() -> str | None:
    """Return the CUDA version of the driver. None = unknown."""
    found = re.search(r"CUDA[\w ]*Version\s*:\s*([\d.]+)", _say(_PROGRAM) or "")
    return found[1] if found else None


def used_bytes() -> int | None:
    """Return the GPU memory in use by all programs, in bytes. None = unknown."""
    found = query("memory.used")
    return int(found[0]) << 20 if found and found[0].isdigit() else None


@dataclass
class Utilisation:
    """GPU utilisation: the fraction of time in which any kernel ran, however small.

    Attributes:
        percent: the mean of the samples. None = unknown.
    """

    percent: float | None = None


@contextmanager
def watched() -> Iterator[Utilisation]:
    """Sample the GPU utilisation during the block. The yielded object has it afterwards."""
    command = [*_command("utilization.gpu"), f"--loop-ms={_EVERY}"]
    found = Utilisation()
    try:  # writes to a pipe, so the program ends when its reader does
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
    except OSError:
        yield found
        return
    with process, ThreadPoolExecutor(1) as reader:
        assert process.stdout is not None
        said = reader.submit(process.stdout.read)
        try:
            yield found
        finally:
            process.kill()
            found.percent = mean_of(said.result())


def mean_of(lines: str) -> float | None:
    """Return the mean of the numeric lines, or None if there are none."""
    found = [float(line) for line in lines.split() if re.fullmatch(r"\d+(\.\d+)?", line)]
    return sum(found) / len(found) if found else None


def _command(*fields: str) -> list[str]:
    # CUDA's first device visible to the process.
    first = os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",")[0].strip() or "0"
    asked = ",".join(fields)
    return [_PROGRAM, f"--id={first}", f"--query-gpu={asked}", "--format=csv,noheader,nounits"]


def _say(*command: str) -> str | None:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout
