"""The threads of a fit: how many there are, and work that they share."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache
from typing import Any, TypeVar

NAME = "comarkov-part"  # of threads
AHEAD = 2  # results for each thread that may wait for those before them

T = TypeVar("T")


def n_threads(n_jobs: int | None) -> int:
    """Return the number of threads for ``n_jobs``, as in scikit-learn.

    None is 1. -1 is one per core that this process may use, -2 one fewer, and so on, but at
    least 1.

    Examples
    --------
    >>> n_threads(None), n_threads(4)
    (1, 4)
    """
    if n_jobs is None:
        return 1
    if n_jobs == 0:
        raise ValueError("n_jobs=0 leaves no thread: set n_jobs to 1 or more, or -1 for all cores.")
    return int(n_jobs) if n_jobs > 0 else max(1, _cores() + 1 + n_jobs)


def _cores() -> int:
    """Return the number of cores that this process may use, which a container may restrict."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def in_order(work: Callable[[int], T], numbers: range, threads: int) -> Iterator[T]:
    """Yield the results of work on each number in order; a few of them may be ahead.

    Work that is done by one of several threads is not divided further.
    """
    is_part = threading.current_thread().name.startswith(NAME)
    if threads == 1 or len(numbers) == 1 or is_part:
        yield from map(work, numbers)
        return
    pool, waiting = _pool(threads, os.getpid()), deque[Future[Any]]()
    try:
        for number in numbers:
            waiting.append(pool.submit(work, number))
            if len(waiting) > AHEAD * threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        for future in waiting:
            if not future.cancel():
                future.exception()  # wait for it: it uses arrays that may change from now on


@lru_cache(maxsize=4)
def _pool(n: int, process: int) -> ThreadPoolExecutor:
    """Return n threads of a process: those of its parent do not run in a forked one."""
    return ThreadPoolExecutor(n, thread_name_prefix=NAME)
