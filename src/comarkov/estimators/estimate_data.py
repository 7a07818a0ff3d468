"""The data of an estimate, and random samples of them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..data.cluster.client import current
from ..data.cluster.inputs import cluster_joint, is_distributed
from ..data.inputs import NO_MASS, as_csr
from ..data.joint import Joint, joint
from ..data.reading.fit_input import fit_input
from ..data.units import Extent, count_unit
from ..data.weighted import fit_weighting
from ..data.weighting import Weighting, as_weighting, frequencies
from ..search import pace
from ..search.footprint import INDEX, Size

COUNT = 4  # bytes of a mass, if data are counts


def sample_entries(counts: tuple[int | None, int | None]) -> int:
    """Return the number of entries of a sample for these numbers of clusters."""
    return pace.TERMS // sum(k for k in counts if k is not None)


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
            pace.pace(sample(entries), k)
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
