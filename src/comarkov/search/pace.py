"""How long a fit takes: the number of its sweeps by formula, and their pace on a sample.

How many sweeps it takes until nothing moves depends on the data: few if clusters are sharp, several
times as many in texts. So small data are judged by the fit of a sample. In a sample of large data
clusters may be too faint to find, so these get the mean number.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from ..data.joint import Joint
from ..data.parts import count_parts
from .refinement import schedule
from .run import Run
from .side import Side
from .streams import Seed

TERMS = 20_000_000  # entries of a sample times clusters
REPEATS = 6  # sweeps over a sample; the last half counts, when few elements move
SWEEPS = {"auto": 25, "anneal": 12, "sequential": 14, "batch": 14}  # of both sides, from one start
STEP_SWEEPS = 2  # and at each further β
READING = 6e-8  # seconds to read an entry, at the pace of TYPICAL
TYPICAL = 2e-9  # seconds for a term of the cost
SHARE = 0.6  # of a further thread that is used
DISK = 5e8  # bytes that are read from a disk in a second, if they do not fit into memory


def pace(sample: Joint, k: int) -> float:
    """Return the seconds for an entry in a sweep over the rows of a sample, once few move."""
    rows = np.flatnonzero(sample.row_mass > 0)
    k = min(k, rows.size)
    labels = np.random.default_rng(0).permutation(np.arange(sample.shape[0]) % k)
    side = Side(sample, labels, k, rows)
    run, seconds = Run(1.0, Seed((0,))), []
    for _ in range(REPEATS):
        begin = time.process_time()
        side.sweep(None, run)
        seconds.append(time.process_time() - begin)
    return float(np.median(seconds[REPEATS // 2 :])) / sample.nnz


def sweeps_of(method: str, beta: float, beta_step: float) -> float:
    """Return how many sweeps over both sides a fit takes from one start."""
    step = beta_step if method == "anneal" else 0.1
    steps = len(schedule(beta, step)) - 1
    return SWEEPS[method] + STEP_SWEEPS * (steps if method in ("auto", "anneal") else 0)


def fit_seconds(entries: int, paces: Sequence[float], sweeps: float, starts: int) -> float:
    """Return the seconds of a fit on one thread."""
    return entries * (READING + starts * sweeps * sum(paces))


def speed_up(entries: int, shape: tuple[int, int], threads: int) -> float:
    """Return how many times as fast several threads are: no part, no second thread."""
    useful = min(threads, *(count_parts(entries, items) for items in shape))
    return 1.0 + SHARE * (useful - 1)


def disk_seconds(read: int, available: int | None, sweeps: float) -> float:
    """Return the seconds to read a store from the disk in every sweep, if memory cannot hold it."""
    return 0.0 if available is None or read <= available else 2 * sweeps * read / DISK
