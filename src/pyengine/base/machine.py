"""The processor, vector instructions and memory of this machine."""

from __future__ import annotations

import os
import platform
import re
import sys
from pathlib import Path

# Linux's names for x86 and ARM. The search has loops for avx512f, avx2 and neither.
_VECTORS = (
    "sse4_2", "avx", "avx2", "bmi2", "avx512f", "avx512_vnni", "avx512_bf16", "amx_int8",
    "amx_bf16", "asimd", "asimddp", "sve",
)  # fmt: skip


def _cpuinfo(key: str) -> str:
    """Return the first value of a key in /proc/cpuinfo, or ""."""
    try:
        text = Path("/proc/cpuinfo").read_text("utf-8", errors="replace")
    except OSError:
        return ""
    match = re.search(rf"^{key}\s*:\s*(.*)$", text, re.MULTILINE)
    return match[1].strip() if match else ""


def _sysctl(name: str) -> str:
    """Return a value of macOS's sysctl, or ""."""
    if sys.platform != "darwin":
        return ""
    import subprocess

    try:
        done = subprocess.run(
            ["/usr/sbin/sysctl", "-n", name], capture_output=True, text=True, timeout=5, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()


def cpu_name() -> str:
    return (
        _cpuinfo("model name")
        or _sysctl("machdep.cpu.brand_string")
        or platform.processor()
        or platform.machine()
    )


def cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def simd() -> tuple[str, ...]:
    """Return the vector instructions that the processor reports; empty if unknown."""
    flags = set((_cpuinfo("flags") or _cpuinfo("Features")).split())
    if not flags:
        flags = set(_sysctl("machdep.cpu.features").lower().replace(".", "_").split())
        flags |= set(_sysctl("machdep.cpu.leaf7_features").lower().split())
        if sys.platform == "darwin" and platform.machine() == "arm64":
            flags.add("asimd")
    return tuple(name for name in _VECTORS if name in flags)


def memory_bytes() -> int:
    """Return the memory that this process may use, in bytes; 0 if unknown."""
    if sys.platform == "win32" or "SC_PHYS_PAGES" not in os.sysconf_names:
        return 0
    physical = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    limits = [physical, *_container_limits()]
    return min(limit for limit in limits if limit > 0)


def _container_limits() -> list[int]:
    limits = []
    for name in ("memory.max", "memory/memory.limit_in_bytes"):
        try:
            text = (Path("/sys/fs/cgroup") / name).read_text("utf-8").strip()
        except OSError:
            continue
        if text.isdigit():
            limits.append(int(text))
    return limits
