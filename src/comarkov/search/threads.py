"""The number of threads of a fit."""

from __future__ import annotations

import os


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
