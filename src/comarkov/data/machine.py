"""The memory of this machine, of this process, and what limits it."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path

GROUP = Path("/sys/fs/cgroup")  # the limits of a container, as it sees them


def own_memory() -> int:
    """Return the bytes of memory that this process has now, without files; 0 if unknown."""
    return _proc("self/status", "RssAnon") or 0


def total_memory() -> float:
    """Return the memory of this machine or its container in bytes; infinite if unknown."""
    sizes = [float("inf")]
    with suppress(AttributeError, ValueError, OSError):  # not available on Windows
        sizes.append(float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")))
    with suppress(ValueError, OSError):  # "max" if there is no limit
        sizes.append(float((GROUP / "memory.max").read_text(encoding="ascii")))
    return min(sizes)


def available_memory() -> int | None:
    """Return the bytes of memory that this process can still have; None if unknown."""
    if sys.platform != "linux":
        return None
    sizes = [_proc("meminfo", "MemAvailable"), _left_in_group(), _left_in_address_space()]
    return min((max(size, 0) for size in sizes if size is not None), default=None)


def _left_in_group() -> int | None:
    try:
        limit, used = (int((GROUP / f"memory.{name}").read_text()) for name in ("max", "current"))
    except (OSError, ValueError):  # no such group, or no limit
        return None
    return limit - used


def _left_in_address_space() -> int | None:
    """What ``ulimit -v`` leaves."""
    import resource

    limit, used = resource.getrlimit(resource.RLIMIT_AS)[0], _proc("self/status", "VmSize")
    return None if limit == resource.RLIM_INFINITY or used is None else limit - used


def _proc(file: str, field: str) -> int | None:
    """Return a field of a file that the system provides, in bytes; None if there is none."""
    try:
        lines = Path("/proc", file).read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field))
    except (OSError, StopIteration, ValueError):
        return None
