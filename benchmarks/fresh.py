"""Measurements that need a process of their own: its memory, its signals."""

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
_FAREWELL = 10.0  # seconds that an interrupted process has to end by itself


class FreshError(pyengine.EngineError):
    """The process ended without an answer; says what it wrote."""


def call(file: str | Path, probe: str, **arguments: Any) -> dict[str, Any]:
    """Run a probe of a file (one that calls :func:`answer`) in a new process; return its answer.

    Raises FreshError. On Ctrl-C the process, which gets it too, is waited for.
    """
    command = [sys.executable, str(Path(file).resolve()), probe, json.dumps(arguments)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        out, err = process.communicate()
    if process.returncode != 0:
        last = err.strip().splitlines()[-1:] or [f"exit status {process.returncode}"]
        raise FreshError(f"{probe} in a process of its own: {last[0]}")
    answer: dict[str, Any] = json.loads(out.strip().splitlines()[-1])
    return answer


def answer(probes: Mapping[str, Callable[..., dict[str, Any]]]) -> None:
    """Run the probe that the command line names and print what it returns."""
    probe, arguments = sys.argv[1:3]
    print(json.dumps(probes[probe](**json.loads(arguments))))


def stream(
    file: str | Path, probe: str, *, seconds: float, **arguments: Any
) -> Generator[dict[str, Any], None, None]:
    """Run a probe of a file (one that calls :func:`answers`); yield what it yields, at once.

    Raises FreshError, also for a process that is ended after ``seconds``. It is gone when the
    generator is closed.
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
                if line.startswith("{"):  # a library may write to the standard output too
                    yield json.loads(line)
            status = process.wait()
        finally:
            _end(process)
            late.cancel()
        if over.is_set():
            raise FreshError(f"{probe} in a process of its own: not done after {seconds:.0f} s")
        if status != 0:
            said.seek(0)
            last = said.read().strip().splitlines()[-1:] or [f"exit status {status}"]
            raise FreshError(f"{probe} in a process of its own: {last[0]}")


def _end(process: subprocess.Popen[str]) -> None:
    """See a process out that was left early: Ctrl-C reaches it too."""
    if process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(_FAREWELL)
    except subprocess.TimeoutExpired:
        process.kill()


def answers(probes: Mapping[str, Callable[..., Iterable[dict[str, Any]]]]) -> None:
    """Run the probe that the command line names and print each thing that it yields."""
    probe, arguments = sys.argv[1:3]
    for one in probes[probe](**json.loads(arguments)):
        print(json.dumps(one), flush=True)


def knows_memory() -> bool:
    """Whether this system says how much memory a process occupies."""
    return _STATUS.exists()


def resident() -> int:
    """Return the bytes of memory that this process occupies now."""
    gc.collect()
    return _status("VmRSS")


def peak_resident() -> int:
    """Return the most bytes that it occupied since :func:`forget_peak`, or ever."""
    return _status("VmHWM")


def forget_peak() -> None:
    """Let the peak begin anew: what Python and its libraries needed at their start is over."""
    _CLEAR.write_text("5")


def give_back() -> None:
    """Let the C library return what it keeps for later, where it can."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def _status(name: str) -> int:
    for line in _STATUS.read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) * 1024
    raise OSError(f"no {name} in {_STATUS}")
