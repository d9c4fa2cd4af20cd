"""Run measurements, such as memory and signals, in a fresh process."""

from __future__ import annotations

import ctypes
import gc
import json
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Generator, Iterable, Mapping
from pathlib import Path
from typing import Any

import pyengine

_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")
_FAREWELL = 10.0  # seconds for an interrupted process to exit


class FreshError(pyengine.EngineError):
    """The process ended without an answer. The message contains its output."""


def call(file: str | Path, probe: str, **arguments: Any) -> dict[str, Any]:
    """Run a probe that calls :func:`answer` in a new process and return its answer.

    Raises FreshError. On Ctrl-C, which the child also receives, waits for the child to exit.
    """
    command = [sys.executable, str(Path(file).resolve()), probe, json.dumps(arguments)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        out, err = process.communicate()
    if process.returncode != 0:
        last = err.strip().splitlines()[-1:] or [f"exit status {process.returncode}"]
        raise FreshError(f"{probe} in a separate process: {last[0]}")
    answer: dict[str, Any] = json.loads(out.strip().splitlines()[-1])
    return answer


def answer(probes: Mapping[str, Callable[..., dict[str, Any]]]) -> None:
    """Run the probe named on the command line and print its result."""
    probe, arguments = sys.argv[1:3]
    print(json.dumps(probes[probe](**json.loads(arguments))))


def stream(
    file: str | Path, probe: str, *, seconds: float, **arguments: Any
) -> Generator[dict[str, Any], None, None]:
    """Run a probe that calls :func:`answers` in a new process and yield its items as they arrive.

    Raises FreshError, also if the process exceeds ``seconds``. Closing the generator ends the
    process.
    """
    command = [sys.executable, str(Path(file).resolve()), probe, json.dumps(arguments)]
    with (
        tempfile.TemporaryFile("w+", errors="replace") as said,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=said, text=True) as process,
    ):
        over = threading.Event()

        def end() -> None:
            over.set()
            process.kill()

        late = threading.Timer(seconds, end)
        late.start()
        try:
            for line in process.stdout or ():
                if line.startswith("{"):  # libraries may also write to standard output
                    yield json.loads(line)
            status = process.wait()
        finally:
            _end(process)
            late.cancel()
        if over.is_set():
            raise FreshError(f"{probe} in a separate process: timed out after {seconds:.0f} s")
        if status != 0:
            said.seek(0)
            last = said.read().strip().splitlines()[-1:] or [f"exit status {status}"]
            raise FreshError(f"{probe} in a separate process: {last[0]}")


def _end(process: subprocess.Popen[str]) -> None:
    """Wait for a process that was abandoned early. Ctrl-C reaches it too."""
    if process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(_FAREWELL)
    except subprocess.TimeoutExpired:
        process.kill()


def answers(probes: Mapping[str, Callable[..., Iterable[dict[str, Any]]]]) -> None:
    """Run the probe named on the command line and print each item it yields."""
    probe, arguments = sys.argv[1:3]
    for one in probes[probe](**json.loads(arguments)):
        print(json.dumps(one), flush=True)


def knows_memory() -> bool:
    """Return whether this system reports the resident memory of a process."""
    return _STATUS.exists()


def resident() -> int:
    """Return the resident memory of this process in bytes."""
    gc.collect()
    return _status("VmRSS")


def peak_resident() -> int:
    """Return the peak resident memory in bytes since :func:`forget_peak`, or since the start."""
    return _status("VmHWM")


def forget_peak() -> None:
    """Reset the peak, to exclude memory used while Python and its libraries started."""
    _CLEAR.write_text("5")


def give_back() -> None:
    """Ask the C library to return cached memory to the system, if supported."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def _status(name: str) -> int:
    for line in _STATUS.read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) * 1024
    raise OSError(f"no {name} in {_STATUS}")
