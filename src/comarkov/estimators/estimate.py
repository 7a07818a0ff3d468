"""An estimate before a fit: what it needs of memory, network and time, and what would help.

Memory follows from the sizes of the data and the numbers of clusters. The time is that of sweeps
over a sample, which takes a second or two, times the number of sweeps of a fit. Nothing is fitted
but the sample.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from ..io.read.fit_input import fit_input
from ..io.store.weighing import fit_weighting
from ..joint.inputs import NO_MASS, as_csr
from ..joint.joint import Joint, joint
from ..joint.machine import available_memory, n_threads, own_memory
from ..joint.messages import size_text
from ..joint.scale import Extent, count_unit
from ..joint.weighting import Weighting, as_weighting, frequencies
from ..search import budgets, footprint
from ..search.footprint import INDEX, Size, data_bytes, search_bytes
from ..search.optimise.ensemble import WAVE
from ..search.optimise.refine import fine_number
from ..search.parallel.boards import padded
from ..search.parallel.dask_client import current
from ..search.parallel.dask_inputs import cluster_joint, is_distributed
from ..search.select.beta import DEFAULT_BETA
from ..search.state.starts import starts_for

COUNT = 4  # bytes of a mass, if data are counts


def sample_entries(counts: tuple[int | None, int | None]) -> int:
    """Return the number of entries of a sample for these numbers of clusters."""
    return footprint.TERMS // sum(k for k in counts if k is not None)


def size_of(data: Joint) -> Size:
    """Return the size of data."""
    mass = COUNT if data.mass_dtype is np.int32 else 8
    is_on_disk = data.pages is not None
    weight = data.matrix.weights.itemsize
    return Size(*data.shape, data.nnz, mass, weight, is_on_disk=is_on_disk)


class Source(NamedTuple):
    """A matrix, or the joint distribution of a store."""

    csr: sp.csr_array | None
    stored: Joint | None
    weighting: Weighting | None  # fitted
    row_mass: np.ndarray  # positive, or 0 for rows that are empty once they are weighted
    column_mass: np.ndarray
    unit: float = 0.0  # of weights that a fit does not take for counts

    @classmethod
    def of(cls, X: Any, estimator: Any) -> Source:
        """The data that a fit of an estimator to X would have."""
        if is_distributed(X):
            weighting = as_weighting(estimator.weighting, X)
            return cls.of_joint(cluster_joint(X, weighting, current()))
        X = fit_input(X)
        weighting = as_weighting(estimator.weighting, X)
        stored = getattr(X, "joint", None)
        if isinstance(stored, Joint) and weighting is None:
            return cls.of_joint(stored)
        csr = as_csr(X)
        if weighting is not None:
            fit_weighting(X, weighting)
        masses = _masses(csr, weighting)
        if not masses[0].any():
            raise ValueError(NO_MASS)
        extent = Extent.of(csr.data)
        is_counted = weighting is not None or count_unit(csr, extent) > 0
        return cls(csr, None, weighting, *masses, 0.0 if is_counted else extent.unit)

    @classmethod
    def of_joint(cls, data: Joint) -> Source:
        """The data of a store or of a cluster, which are weighted already."""
        return cls(None, data, None, data.row_mass, data.column_mass)

    @property
    def _whole(self) -> sp.csr_array | Joint:
        whole = self.csr if self.stored is None else self.stored
        assert whole is not None
        return whole

    @property
    def nnz(self) -> int:
        """The number of entries."""
        return int(self._whole.nnz)

    def size(self) -> Size:
        """Return the size of the data as a fit holds them."""
        whole, like = self._whole, size_of(self.rows(1000))
        shared = (INDEX + like.weight * (self.unit == 1.0)) * (self.unit > 0)
        n, m = whole.shape
        return like._replace(
            rows=n,
            columns=m,
            entries=whole.nnz,
            shared=shared,
            is_on_disk=self.stored is not None,
        )

    def paces(self, counts: tuple[int | None, int | None]) -> list[float]:
        """Return the seconds for an entry in a sweep over rows and over columns."""
        entries = sample_entries(counts)
        samples = self.rows, self.columns
        return [
            footprint.pace(sample(entries), k)
            for k, sample in zip(counts, samples, strict=True)
            if k is not None
        ]

    def rows(self, entries: int) -> Joint:
        """Return random rows with about so many entries."""
        which = _some(self.row_mass, self.nnz, entries)
        if self.stored is not None:
            return self.stored.subset(which)
        assert self.csr is not None
        rows = self.csr[which]
        if self.weighting is not None:
            rows = self.weighting.weigh_rows(rows)
        return self._read(rows[:, np.unique(rows.indices)])

    def columns(self, entries: int) -> Joint:
        """The same for columns, as the rows of a matrix."""
        which = _some(self.column_mass, self.nnz, entries)
        if self.stored is not None:
            return self.stored.T.subset(which)
        assert self.csr is not None
        columns = self.csr[:, which].tocsr()
        if self.weighting is not None:
            columns = self.weighting.weigh_columns(columns)
        return self._read(columns[np.flatnonzero(np.diff(columns.indptr))]).T

    def _read(self, sample: sp.csr_array) -> Joint:
        """Return a sample as a fit has all data: counts as such, even if they are few."""
        return joint(sample, self.unit or None, small=0)


def _masses(csr: sp.csr_array, weighting: Weighting | None) -> tuple[np.ndarray, np.ndarray]:
    """Return which rows and columns are not empty: 1, or 0 if they are."""
    columns = frequencies(csr) > 0
    rows = np.diff(csr.indptr) > 0
    if weighting is not None and weighting.idf_ is not None and not weighting.idf_.all():
        columns = weighting.idf_ > 0  # without those that too few rows have
        rows = csr @ columns.astype(np.float64) > 0
    return rows.astype(np.int8), columns.astype(np.int8)


def _some(mass: np.ndarray, nnz: int, entries: int) -> np.ndarray:
    """Return random elements with about so many of nnz entries; none of them is empty."""
    present = np.flatnonzero(mass > 0)
    n = present.size
    count = int(np.clip(round(n * entries / max(nnz, 1)), min(n, 100), n))
    return present[np.sort(np.random.default_rng(0).choice(n, count, replace=False))]


USUAL = 20  # clusters of a side, if their number is to be chosen
CHOOSING = 6.0  # fits that choosing numbers or β takes, besides the last
LITTLE = 50_000_000  # bytes that a fit may always try to get
SMALL = 16  # samples in data that are judged by the fit of one
GROWTH = 0.8  # a power of the entries by which time grows: some work is the same for all sizes
PATIENCE = 60  # seconds from which advice is given how to save time
LABEL_BYTES = 5  # of a label and a margin on the network
ITEM_BYTES = 4  # of the number of an item on the network
PROCESS = 300_000_000  # bytes of a worker that has loaded the kernels


@dataclass(frozen=True)
class Estimate:
    """What a fit will need, within a factor of about 1.5."""

    shape: tuple[int, int]
    entries: int
    engine: str
    threads: int  #: or workers of the cluster
    memory: int  #: the most bytes of this process, without mapped files
    available: int | None  #: bytes of memory that it can have; None if unknown
    bytes_per_half_step: int  #: the most bytes on the network; 0 without a cluster
    worker_memory: int  #: the most bytes of each worker; 0 without a cluster
    seconds: float
    advice: tuple[str, ...] = ()

    @property
    def fits(self) -> bool:
        """Is there enough memory?"""
        return self.available is None or self.memory <= self.available

    def __str__(self) -> str:
        (n, m), unit = self.shape, "worker" if self.engine == "dask" else "thread"
        plural = "" if self.threads == 1 else "s"
        lines = [
            f"{n:,} rows x {m:,} columns, {self.entries:,} entries, {self.threads} {unit}{plural}",
            f"memory   {size_text(self.memory)}{self._of_available()}",
            f"network  {self._traffic()}",
            f"time     {time_text(self.seconds)}",
            "",
            *self.advice,
        ]
        return "\n".join(lines)

    def _of_available(self) -> str:
        return "" if self.available is None else f" of {size_text(self.available)} available"

    def _traffic(self) -> str:
        if self.bytes_per_half_step == 0:
            return "none"
        most, worker = size_text(self.bytes_per_half_step), size_text(self.worker_memory)
        return f"at most {most} in a half-step; each worker needs {worker} of memory"


class Request(NamedTuple):
    """What of an estimator's parameters matters."""

    counts: tuple[int | None, int | None]
    is_chosen: bool  # are numbers of clusters or β chosen?
    beta: float
    method: str
    threads: int
    engine: str


def estimate_fit(estimator: Any, X: Any) -> Estimate:
    """Predict the memory, network and time of a fit of X with the parameters of an estimator."""
    request = _request(estimator)
    source = Source.of(X, estimator)
    _check_numbers(estimator, source)
    size = source.size()
    paces = source.paces(request.counts)
    sweeps = footprint.sweeps_of(request.method, request.beta, estimator.beta_step)
    starts = _starts(estimator, size, request.counts)
    seconds = footprint.fit_seconds(size.entries, paces, sweeps, starts)
    if size.entries <= SMALL * sample_entries(request.counts) and not request.is_chosen:
        seconds = starts * _seconds_by_sample(estimator, source, request.counts)
    if request.is_chosen:
        seconds *= 1 + CHOOSING
    available = available_memory()
    seconds /= footprint.speed_up(size.entries, (size.rows, size.columns), request.threads)
    if size.is_on_disk:
        seconds += footprint.disk_seconds(2 * size.matrix, available, starts * sweeps)
    added, worker = _added_bytes(size, request)
    result = Estimate(
        (size.rows, size.columns),
        size.entries,
        request.engine,
        request.threads,
        own_memory() + added,
        None if available is None else available + own_memory(),
        _traffic(size, request),
        worker,
        seconds,
    )
    return replace(result, advice=tuple(_advice(result, size, request)))


def refuse_what_does_not_fit(estimator: Any, data: Joint, counts: Sequence[int | None]) -> None:
    """Raise MemoryError before a fit that needs more memory than there is, not in the middle of it.

    The data are in memory already, but not their transpose.
    """
    rows, columns = counts
    threads = n_threads(estimator.n_jobs)
    request = Request((rows, columns), False, 0.0, "", threads, "local")
    size = size_of(data)
    size = size._replace(shared=INDEX + size.weight)
    needed, available = _added_bytes(size, request)[0], available_memory()
    if available is not None and needed > max(available, LITTLE):
        raise MemoryError(
            f"The fit needs about {size_text(needed)} more, but only {size_text(available)} is "
            f"available. {_saving_memory(size, request)}"
        )


def _added_bytes(size: Size, request: Request) -> tuple[int, int]:
    """Return the bytes that a fit adds to this process, and those of a worker."""
    if request.engine != "dask":
        data = data_bytes(size, request.counts[1] is not None)
        return data + search_bytes(size, request.counts, request.threads), 0
    share = 2 * size.matrix // request.threads
    worker = PROCESS + share + search_bytes(size, request.counts, 1)
    return search_bytes(size, request.counts, 0), worker


def _request(estimator: Any) -> Request:
    numbers = estimator._both(estimator.n_clusters)
    rows, columns = (USUAL if number == "auto" else number for number in numbers)
    is_chosen = "auto" in numbers or estimator.beta == "auto"
    beta = DEFAULT_BETA if estimator.beta == "auto" else float(estimator.beta)
    engine = getattr(estimator, "engine", "local")
    threads = len(current().workers) if engine == "dask" else n_threads(estimator.n_jobs)
    return Request((rows, columns), is_chosen, beta, estimator.method, threads, engine)


def _check_numbers(estimator: Any, source: Source) -> None:
    """Raise the error that a fit raises for these numbers of clusters."""
    numbers = estimator._both(estimator.n_clusters)
    if "auto" in numbers:
        starts_for(source, [1 if number == "auto" else number for number in numbers], None, None)
    else:
        starts_for(source, numbers, estimator.init, estimator.fixed)


def _starts(estimator: Any, size: Size, counts: tuple[int | None, int | None]) -> int:
    """Return the number of starts, each of which is a member of the search."""
    if estimator.n_init != "auto":
        return int(estimator.n_init)
    if estimator.method != "auto":
        return 1
    sides = zip(counts, (size.rows, size.columns), strict=True)
    work = size.entries * sum(fine_number(k, n) for k, n in sides if k is not None)
    return WAVE if work <= budgets.work(budgets.SEVERAL_MEMBERS_SECONDS) else 1


def _seconds_by_sample(
    estimator: Any, source: Source, counts: tuple[int | None, int | None]
) -> float:
    """Return the seconds of one start, from the fit of a sample of the rows."""
    sample = source.rows(min(sample_entries(counts), source.nnz // 4))
    few = [None if k is None else min(k, n) for k, n in zip(counts, sample.shape, strict=True)]
    quiet = {"n_clusters": tuple(few), "n_init": 1, "max_time": None, "callback": None}
    quiet |= {"verbose": 0, "n_jobs": 1, "random_state": 0, "init": "random", "fixed": None}
    quiet |= {"weighting": None, "engine": "local", "checkpoint": None}
    known = estimator.get_params(deep=False)
    quick = clone(estimator).set_params(**{name: v for name, v in quiet.items() if name in known})
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they are about the sample
        quick.fit(sample.csr)
    return (time.process_time() - begin) * (source.nnz / sample.nnz) ** GROWTH


# --- in words -------------------------------------------------------------------------------------


def _traffic(size: Size, request: Request) -> int:
    """Return the most bytes that travel in a half-step: all labels and margins, and all cells.

    Cells go up a tree of workers, to the client, and to every worker.
    """
    if request.engine != "dask":
        return 0
    sides = zip(request.counts, (size.rows, size.columns), (size.columns, size.rows), strict=True)
    ways = 2 * request.threads - 1
    return max(
        2 * LABEL_BYTES * elements + ways * items * (ITEM_BYTES + size.mass * padded(k))
        for k, elements, items in sides
        if k is not None
    )


def _advice(result: Estimate, size: Size, request: Request) -> list[str]:
    """Return what to change, in sentences."""
    advice = []
    if not result.fits:
        advice.append(_saving_memory(size, request))
    cores = n_threads(-1)
    if result.seconds > PATIENCE and request.threads < cores and request.engine != "dask":
        faster = footprint.speed_up(size.entries, (size.rows, size.columns), cores)
        now = footprint.speed_up(size.entries, (size.rows, size.columns), request.threads)
        if faster > now:
            seconds = time_text(result.seconds * now / faster)
            advice.append(f"With n_jobs={cores} it takes {seconds}; the clusters are the same.")
    return advice or ["It fits into memory."]


def _saving_memory(size: Size, request: Request) -> str:
    tables = search_bytes(size, request.counts, request.threads)
    if not size.is_on_disk:
        return (
            "It does not fit into memory. A fit loads data from a store as needed, and its tables "
            f"take {size_text(tables)}. Make one: comarkov.pack(X, 'store')"
        )
    if request.threads > 1:
        less = size_text(search_bytes(size, request.counts, 1))
        return f"It does not fit into memory. With n_jobs=1 its tables take {less}."
    return (
        "The tables do not fit into memory. Use fewer clusters, or a cluster of machines with "
        "engine='dask'."
    )


def time_text(seconds: float) -> str:
    """Return a time as people write it.

    Examples
    --------
    >>> time_text(3.21), time_text(200), time_text(9000)
    ('about 3 seconds', 'about 3 minutes', 'about 2.5 hours')
    """
    for unit, name in ((3600.0, "hours"), (60.0, "minutes")):
        if seconds >= 1.5 * unit:
            count = seconds / unit
            return f"about {count:.1f} {name}" if count < 3 else f"about {count:.0f} {name}"
    return f"about {max(seconds, 1):.0f} seconds" if seconds >= 1.5 else "about a second"
