"""The memory of this machine, of this process, and what limits it."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

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
    import resource

    sizes = [_proc("meminfo", "MemAvailable")]
    with suppress(OSError, ValueError):  # no such group, or no limit
        limit, used = (int((GROUP / f"memory.{name}").read_text()) for name in ("max", "current"))
        sizes.append(limit - used)
    limit, own = resource.getrlimit(resource.RLIMIT_AS)[0], _proc("self/status", "VmSize")
    if limit != resource.RLIM_INFINITY and own is not None:  # ulimit -v
        sizes.append(limit - own)
    return min((max(size, 0) for size in sizes if size is not None), default=None)


def _proc(file: str, field: str) -> int | None:
    """Return a field of a file that the system provides, in bytes; None if there is none."""
    try:
        lines = Path("/proc", file).read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field))
    except (OSError, StopIteration, ValueError):
        return None


THREAD_NAME = "comarkov-part"  # of threads
RESULTS_AHEAD = 2  # results for each thread that may wait for those before them

T = TypeVar("T")
_thread = threading.local()  # what each thread knows of itself


def n_threads(n_jobs: int | None) -> int:
    """Return the number of threads: 1 for None, one per core for -1, one fewer for -2, ..."""
    if n_jobs is None:
        return 1
    if n_jobs == 0:
        raise ValueError("n_jobs=0 leaves no thread: set n_jobs to 1 or more, or -1 for all cores.")
    has_affinity = hasattr(os, "sched_getaffinity")  # a container may restrict the cores
    cores = len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1
    return int(n_jobs) if n_jobs > 0 else max(1, cores + 1 + n_jobs)


def in_order(work: Callable[[int], T], numbers: range, threads: int) -> Iterator[T]:
    """Yield the results of work on each number in order; a few of them may be ahead.

    The caller is one of the threads: while it waits, it does what no other has begun. Work that is
    done by one of several threads is not divided further.
    """
    if threads == 1 or len(numbers) == 1 or getattr(_thread, "is_one_of_several", False):
        yield from map(work, numbers)
        return

    def done(number: int) -> T:
        _thread.is_one_of_several = True
        try:
            return work(number)
        finally:
            _thread.is_one_of_several = False

    def first() -> T:
        begin = next(iter(waiting))
        while not waiting[begin].done():
            free = (n for n, future in waiting.items() if n not in mine and future.cancel())
            if (number := next(free, None)) is None:
                break
            mine[number] = done(number)
        future = waiting.pop(begin)
        return mine.pop(begin) if begin in mine else future.result()

    pool, mine = _pool(threads - 1, os.getpid()), dict[int, T]()
    waiting: dict[int, Future[T]] = {}
    try:
        for number in numbers:
            waiting[number] = pool.submit(done, number)
            if len(waiting) > RESULTS_AHEAD * threads:
                yield first()
        while waiting:
            yield first()
    finally:
        for future in waiting.values():
            if not future.cancel():
                future.exception()  # wait for it: it uses arrays that may change from now on


@lru_cache(maxsize=4)
def _pool(n: int, process: int) -> ThreadPoolExecutor:
    """Return n threads of a process: those of its parent do not run in a forked one."""
    return ThreadPoolExecutor(n, thread_name_prefix=THREAD_NAME)
