"""An estimate before a fit: what it needs of memory, network and time, and what would help.

Memory follows from the sizes of the data and the numbers of clusters. A side in k clusters has a
table with a line of k cells, padded, for each item of the other side. Sweeps work on copies of it,
one for each thread, with the values derived from masses; of large data the state itself has masses
alone. The time is that of a fit of a sample, scaled to all entries.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ..io.read.fit_input import fit_input
from ..io.store.opening import fit_weighting
from ..joint.inputs import NO_MASS, as_csr
from ..joint.joint import Joint, joint
from ..joint.machine import available_memory, n_threads, own_memory
from ..joint.messages import size_text, time_text
from ..joint.parts import count_parts
from ..joint.scale import Extent, count_unit
from ..joint.weighting import Weighting, as_weighting, frequencies
from ..search import budgets
from ..search.optimise.methods import WAVE
from ..search.optimise.refine import fine_number
from ..search.parallel.dask_client import current
from ..search.parallel.dask_inputs import cluster_joint, is_distributed
from ..search.parallel.mass_tables import padded
from ..search.select.beta import DEFAULT_BETA
from ..search.state.halving import SPLIT_BYTES, SPLIT_ITEM_BYTES, SPLIT_ROW_BYTES
from ..search.state.starts import pair, starts_for
from .base import Parameters

Counts = Sequence[int | None]

CELL_BYTES = 16  # of a cell with all that is derived from its mass
ELEMENT_BYTES = 100  # of labels, margins and numbers of an element
INDEX_BYTES = 4  # of the column of an entry
SHUFFLED_ELEMENTS = 1000  # whose entries are shuffled to calibrate confidences ...
SHUFFLED_BYTES = 70  # ... which takes so many bytes of each entry
WORKER_BYTES = 300_000_000  # of a worker that has loaded the kernels
GRANTED_BYTES = 50_000_000  # that a fit may always try to get

SAMPLE_TERMS = 20_000_000  # entries of a sample times clusters
SMALL_SAMPLES = 16  # samples up to which some work is the same for all sizes ...
SMALL_GROWTH = 0.8  # ... so that time grows by this power of the entries
THREAD_SHARE = 0.6  # of a further thread that is used
DISK_SPEED = 5e8  # bytes in a second, if they do not fit into memory
ASSUMED_CLUSTERS = 20  # of a side, if their number is to be chosen
CHOOSING_FITS = 6.0  # that choosing numbers or β takes, besides the last
LONG_SECONDS = 60  # from which advice is given how to save time


class Size(NamedTuple):
    """The size of a matrix, and where it is."""

    rows: int
    columns: int
    entries: int
    mass: int  # bytes of a mass: 4 for counts, else 8
    weight: int  # bytes of a weight
    shared: int = 0  # bytes of an entry that are used as they are, without a copy
    is_on_disk: bool = False  # are they, and those of the transpose, mapped from files?

    @classmethod
    def of(cls, data: Joint) -> Size:
        """Return the size of data."""
        mass, weight = np.dtype(data.mass_dtype).itemsize, data.matrix.weights.itemsize
        return cls(*data.shape, data.nnz, mass, weight, is_on_disk=data.pages is not None)

    @property
    def matrix(self) -> int:
        """Bytes of the matrix."""
        return self.entries * (INDEX_BYTES + self.weight)


def data_bytes(size: Size, is_turned: bool) -> int:
    """Return the bytes that a fit adds for the data: the matrix and, if needed, its transpose."""
    if size.is_on_disk:
        return 0
    return size.matrix * (1 + is_turned) - size.entries * size.shared


def search_bytes(size: Size, counts: Counts, threads: int) -> int:
    """Return the most bytes of tables at the same time, for these numbers of clusters."""
    sizes = (size.rows, size.columns), (size.columns, size.rows)
    sides = [
        _side_bytes(size, elements, items, k, threads)
        for k, (elements, items) in zip(counts, sizes, strict=True)
        if k is not None
    ]
    state, copies, trial, other = (list(each) for each in zip(*sides, strict=True))
    most = sum(state) + max(sum(copies) + max(trial), max(other))
    return most + ELEMENT_BYTES * (size.rows + size.columns)


def _side_bytes(
    size: Size, elements: int, items: int, k: int, threads: int
) -> tuple[int, int, int, int]:
    """Return the bytes of a side: its state, copies in sweeps, trials in sweeps, other steps."""
    cells, parts = items * padded(k), count_parts(size.entries, items)
    fine = items * padded(fine_number(k, elements))
    shuffled = min(size.entries, SHUFFLED_ELEMENTS * size.entries // max(elements, 1))
    present = int(items * -math.expm1(-shuffled / max(items, 1)))  # that a random sample hits
    calibration = CELL_BYTES * present * padded(k) + SHUFFLED_BYTES * shuffled
    split = SPLIT_ITEM_BYTES * items + SPLIT_ROW_BYTES * elements
    if parts == 1:
        whole = CELL_BYTES * cells
        return whole, whole, whole, max(split, CELL_BYTES * fine, calibration)
    mass, copies = size.mass * cells, min(threads, parts) * CELL_BYTES * cells
    waiting = 2 if size.mass == 4 else parts.bit_length() + 1  # see ``parts.total``
    other = max(min(SPLIT_BYTES, k * split), 2 * size.mass * fine, calibration)
    return mass, copies, mass * waiting, other


class Source(NamedTuple):
    """The data that a fit would have: a matrix, or weighted data of a store or of a cluster."""

    whole: Any  # csr_array or Joint
    weighting: Weighting | None  # fitted
    row_mass: np.ndarray  # positive, or 0 for rows that are empty once they are weighted
    column_mass: np.ndarray
    unit: float = 0.0  # of weights that a fit does not take for counts

    @classmethod
    def of(cls, X: Any, asked: Parameters) -> Source:
        """The data that a fit with these parameters would have."""
        X = X if is_distributed(X) else fit_input(X)
        weighting, data = as_weighting(asked.weighting, X), getattr(X, "joint", None)
        if is_distributed(X):
            data, weighting = cluster_joint(X, weighting, current()), None
        if isinstance(data, Joint) and weighting is None:
            return cls(data, None, data.row_mass, data.column_mass)
        csr = as_csr(X)
        columns, rows = frequencies(csr) > 0, np.diff(csr.indptr) > 0
        if weighting is not None:
            fit_weighting(X, weighting)
            if weighting.idf_ is not None:
                columns = columns & (weighting.idf_ > 0)  # without those that too few rows have
                rows = csr @ columns.astype(np.float64) > 0
        if not rows.any():
            raise ValueError(NO_MASS)
        extent = Extent.of(csr.data)
        is_counted = weighting is not None or count_unit(csr, extent) > 0
        masses = rows.astype(np.int8), columns.astype(np.int8)
        return cls(csr, weighting, *masses, 0.0 if is_counted else extent.unit)

    def size(self) -> Size:
        """Return the size of the data as a fit holds them."""
        n, m = self.whole.shape
        like = Size.of(self.sample(1000))
        shared = (INDEX_BYTES + like.weight * (self.unit == 1.0)) * (self.unit > 0)
        on_disk = isinstance(self.whole, Joint)
        return Size(n, m, self.whole.nnz, like.mass, like.weight, shared, on_disk)

    def sample(self, entries: int) -> Joint:
        """Return random rows, weighted, with about so many entries; none is empty."""
        present = np.flatnonzero(self.row_mass)
        n = present.size
        count = int(np.clip(round(n * entries / max(self.whole.nnz, 1)), min(n, 100), n))
        which = present[np.sort(np.random.default_rng(0).choice(n, count, replace=False))]
        if isinstance(self.whole, Joint):
            return self.whole.subset(which)
        rows = self.whole[which]
        rows = rows if self.weighting is None else self.weighting.weigh_rows(rows)
        return joint(rows[:, np.unique(rows.indices)], self.unit or None, small=0)


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
    advice: tuple[str, ...] = ()

    @property
    def fits(self) -> bool:
        """Is there enough memory?"""
        return self.available is None or self.memory <= self.available

    def __str__(self) -> str:
        (n, m), unit = self.shape, "worker" if self.engine == "dask" else "thread"
        threads = f"{self.threads} {unit}{'s' * (self.threads != 1)}"
        of = "" if self.available is None else f" of {size_text(self.available)} available"
        worker = f", {size_text(self.worker_memory)} of each worker" if self.worker_memory else ""
        lines = (
            f"{n:,} rows x {m:,} columns, {self.entries:,} entries, {threads}",
            f"memory   {size_text(self.memory)}{of}{worker}",
            f"time     {time_text(self.seconds)}\n",
        )
        return "\n".join([*lines, *self.advice])


def estimate_fit(estimator: Any, X: Any) -> Estimate:
    """Predict the memory, network and time of a fit of X with the parameters of an estimator."""
    asked = estimator._parameters()
    source = Source.of(X, asked)
    counts = _check_counts(asked, source)
    is_dask = asked.engine == "dask"
    threads = len(current().workers) if is_dask else n_threads(asked.n_jobs)
    size, available = source.size(), available_memory()
    seconds, sweeps = _time_on_sample(estimator, asked, source, counts)
    seconds /= speed_up(size, threads)
    if size.is_on_disk and available is not None and 2 * size.matrix > available:
        seconds += 4 * sweeps * size.matrix / DISK_SPEED
    added = search_bytes(size, counts, 0 if is_dask else threads)
    shared_out = WORKER_BYTES + 2 * size.matrix // threads + search_bytes(size, counts, 1)
    result = Estimate(
        shape=(size.rows, size.columns),
        entries=size.entries,
        engine=asked.engine,
        threads=threads,
        memory=own_memory() + added + (0 if is_dask else data_bytes(size, counts[1] is not None)),
        available=None if available is None else available + own_memory(),
        worker_memory=shared_out if is_dask else 0,
        seconds=seconds,
    )
    return replace(result, advice=tuple(_advice(result, size, counts)))


def refuse_what_does_not_fit(asked: Parameters, data: Joint, counts: Counts) -> None:
    """Raise MemoryError before a fit that needs more memory than there is, not in the middle of it.

    The data are in memory already, but not their transpose.
    """
    size, threads = Size.of(data), n_threads(asked.n_jobs)
    size = size._replace(shared=INDEX_BYTES + size.weight)
    needed = data_bytes(size, counts[1] is not None) + search_bytes(size, counts, threads)
    available = available_memory()
    if available is not None and needed > max(available, GRANTED_BYTES):
        raise MemoryError(
            f"The fit needs about {size_text(needed)} more, but only {size_text(available)} is "
            f"available. {_saving_memory(size, counts, threads)}"
        )


def _check_counts(asked: Parameters, source: Source) -> Counts:
    """The numbers of clusters, or the error that a fit raises for them."""
    wanted = pair(asked.n_clusters, "n_clusters")
    given = (None, None) if "auto" in wanted else (asked.init, asked.fixed)
    starts_for(source, [1 if k == "auto" else k for k in wanted], *given)
    return [ASSUMED_CLUSTERS if k == "auto" else k for k in wanted]


def _time_on_sample(
    estimator: Any, asked: Parameters, source: Source, counts: Counts
) -> tuple[float, float]:
    """Return the seconds of a fit on one thread, and its sweeps, from a fit of some of the rows."""
    most = SAMPLE_TERMS // sum(k for k in counts if k is not None)
    sample = source.sample(min(most, source.whole.nnz // 4))
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
    starts = _count_starts(asked, source, counts)
    is_chosen = "auto" in (*pair(asked.n_clusters, "n_clusters"), asked.beta)
    fits = starts * (1 + CHOOSING_FITS * is_chosen)
    growth = source.whole.nnz / sample.nnz
    growth = min(growth, SMALL_SAMPLES) ** SMALL_GROWTH * max(growth / SMALL_SAMPLES, 1)
    return fits * (time.process_time() - begin) * growth, fits * quick.n_iter_


def _count_starts(asked: Parameters, source: Source, counts: Counts) -> int:
    if asked.n_init != "auto":
        return int(asked.n_init)
    sides = zip(counts, source.whole.shape, strict=True)
    work = source.whole.nnz * sum(fine_number(k, n) for k, n in sides if k is not None)
    is_small = work <= budgets.work(budgets.SEVERAL_MEMBERS_SECONDS)
    return WAVE if asked.method == "auto" and is_small else 1


def speed_up(size: Size, threads: int) -> float:
    """Return how many times as fast several threads are: no part, no second thread."""
    parts = (count_parts(size.entries, items) for items in (size.rows, size.columns))
    return 1.0 + THREAD_SHARE * (min(threads, *parts) - 1)


def _advice(result: Estimate, size: Size, counts: Counts) -> list[str]:
    """Return what to change, in sentences."""
    advice = [] if result.fits else [_saving_memory(size, counts, result.threads)]
    cores = n_threads(-1)
    now, then = speed_up(size, result.threads), speed_up(size, cores)
    if result.seconds > LONG_SECONDS and result.engine != "dask" and then > now:
        seconds = time_text(result.seconds * now / then)
        advice.append(f"With n_jobs={cores} it takes {seconds}; the clusters are the same.")
    return advice or ["It fits into memory."]


def _saving_memory(size: Size, counts: Counts, threads: int) -> str:
    if not size.is_on_disk:
        tables = size_text(search_bytes(size, counts, threads))
        return (
            "It does not fit into memory. A fit loads data from a store as needed, and its tables "
            f"take {tables}. Make one: comarkov.pack(X, 'store')"
        )
    if threads > 1:
        less = size_text(search_bytes(size, counts, 1))
        return f"It does not fit into memory. With n_jobs=1 its tables take {less}."
    return (
        "The tables do not fit into memory. Use fewer clusters, or a cluster of machines with "
        "engine='dask'."
    )
