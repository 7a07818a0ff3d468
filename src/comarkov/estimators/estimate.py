"""An estimate before a fit: what it needs of memory and time, and what would help."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..joint.joint import Joint
from ..joint.machine import available_memory, n_threads, own_memory
from ..joint.messages import size_text, time_text
from ..joint.parts import count_parts
from ..search.parallel.dask_client import current
from ..search.select.beta import DEFAULT_BETA
from ..search.state.coclusters import CoClusterProblem
from ..search.state.starts import starts_for
from .base import Parameters
from .fitting import LESS_MEMORY, data_bytes, fit_bytes, read_weighted, table_bytes

WORKER_BYTES = 300_000_000  # of a worker that has loaded the kernels
SAMPLE_TERMS = 20_000_000  # entries of a sample times clusters
SMALL_SAMPLES = 16  # samples up to which some work is the same for all sizes ...
SMALL_GROWTH = 0.8  # ... so that time grows by this power of the entries
THREAD_SHARE = 0.6  # of a further thread that is used
ASSUMED_CLUSTERS = 20  # of a side, if their number is to be chosen
CHOOSING_FITS = 6.0  # that choosing numbers or β takes, besides the last


@dataclass(frozen=True)
class Estimate:
    """What a fit will need; the time is right within a factor of about 3."""

    shape: tuple[int, int]
    entries: int
    engine: str
    threads: int  #: or workers of the cluster
    memory: int  #: the most bytes of this process, without mapped files
    available: int | None  #: bytes of memory that it can have; None if unknown
    worker_memory: int  #: the most bytes of each worker; 0 without a cluster
    seconds: float

    @property
    def fits(self) -> bool:
        """Is there enough memory?"""
        return self.available is None or self.memory <= self.available

    @property
    def advice(self) -> str:
        """What to change, if it does not fit into memory."""
        return (
            "It fits into memory." if self.fits else f"It does not fit into memory. {LESS_MEMORY}"
        )

    def __str__(self) -> str:
        (n, m), unit = self.shape, "worker" if self.engine == "dask" else "thread"
        threads = f"{self.threads} {unit}{'s' * (self.threads != 1)}"
        of = "" if self.available is None else f" of {size_text(self.available)} available"
        worker = f", {size_text(self.worker_memory)} of each worker" if self.worker_memory else ""
        return (
            f"{n:,} rows x {m:,} columns, {self.entries:,} entries, {threads}\n"
            f"memory   {size_text(self.memory)}{of}{worker}\n"
            f"time     {time_text(self.seconds)}\n\n{self.advice}"
        )


def estimate_fit(estimator: Any, X: Any) -> Estimate:
    """Predict the memory and time of a fit of X with the parameters of an estimator."""
    asked = estimator._parameters()
    _, _, data = read_weighted(X, asked, asked.run(DEFAULT_BETA))
    wanted = estimator._counts(asked.n_clusters)
    given = (None, None) if "auto" in wanted else (asked.init, asked.fixed)
    starts = starts_for(data, [1 if k == "auto" else k for k in wanted], *given)
    counts = [ASSUMED_CLUSTERS if k == "auto" else k for k in wanted]
    is_dask = asked.engine == "dask"
    threads = len(current().workers) if is_dask else n_threads(asked.n_jobs)
    fits = asked.search_method().n_starts(CoClusterProblem(data, starts))
    if "auto" in (*wanted, asked.beta):
        fits *= 1 + CHOOSING_FITS
    seconds = fits * _time_on_sample(estimator, asked, data, counts)
    data.close()
    own, available = own_memory(), available_memory()
    memory = own + (table_bytes(data, counts, 0) if is_dask else fit_bytes(data, counts, threads))
    parts = [count_parts(data.nnz, items) for items in data.shape]  # no part, no second thread
    worker = WORKER_BYTES + 2 * data_bytes(data) // threads + table_bytes(data, counts, 1)
    return Estimate(
        shape=data.shape,
        entries=data.nnz,
        engine=asked.engine,
        threads=threads,
        memory=memory,
        available=None if available is None else available + own,
        worker_memory=worker if is_dask else 0,
        seconds=seconds / (1.0 + THREAD_SHARE * (min(threads, *parts) - 1)),
    )


def _time_on_sample(
    estimator: Any, asked: Parameters, data: Joint, counts: Sequence[int | None]
) -> float:
    """Return the seconds of a fit from one start on one thread, from a fit of some of the rows."""
    entries = min(SAMPLE_TERMS // sum(k for k in counts if k is not None), data.nnz // 4)
    present = np.flatnonzero(data.row_mass)
    n = present.size
    size = int(np.clip(round(n * entries / data.nnz), min(n, 100), n))
    sample = data.subset(np.sort(np.random.default_rng(0).choice(present, size, replace=False)))
    few = [None if k is None else min(k, n) for k, n in zip(counts, sample.shape, strict=True)]
    quick = type(estimator)(
        tuple(few),
        DEFAULT_BETA if asked.beta == "auto" else asked.beta,
        **{name: getattr(asked, name) for name in ("method", "max_iter", "tol", "beta_step")},
        n_init=1,
        random_state=0,
    )
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they are about the sample
        quick.fit(sample.csr)
    growth = data.nnz / sample.nnz
    growth = min(growth, SMALL_SAMPLES) ** SMALL_GROWTH * max(growth / SMALL_SAMPLES, 1)
    return (time.process_time() - begin) * growth
