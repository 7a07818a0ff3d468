"""From bands of rows on workers to a joint distribution in parts on workers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ...joint.inputs import as_csr
from ...joint.parts import part_bounds
from ...joint.weighting import Weighting
from ...kernels.matrix import Matrix
from .dask_client import Cluster, Task, places
from .dask_joint import (
    ClusterJoint,
    DaskSide,
    Facts,
    Form,
    Parts,
    bounds_of,
    facts_of,
    form_of,
    formed,
    with_spread,
)


class RowSums(NamedTuple):
    """What is known of the rows of a band."""

    entries: np.ndarray  # int64 (rows,): their number in each row
    sums: np.ndarray  # float64 (rows,)


def as_band(blocks: Sequence[Any]) -> sp.csr_array:
    """Return blocks beside each other, sparse or dense, as one band."""
    checked = [as_csr(block) for block in blocks]
    return checked[0] if len(checked) == 1 else sp.hstack(checked, format="csr")


def row_sums(band: sp.csr_array) -> RowSums:
    """Return the number and the sum of the entries of each row."""
    sums = band.astype(np.float64, copy=False).sum(axis=1)
    return RowSums(np.diff(band.indptr).astype(np.int64), sums)


def weighed(band: sp.csr_array, weighting: Weighting) -> sp.csr_array:
    """Return the weights of a band, by a weighting that has learnt from all bands."""
    return weighting.weigh_rows(band)


def masses_before_division(band: sp.csr_array, weighting: Weighting) -> np.ndarray:
    """Return the row sums of the weights before rows are made uniform."""
    return weighting.weigh_before_division(band).sum(axis=1)


def masses(band: sp.csr_array, form: Form) -> np.ndarray:
    """Return the row sums of the joint distribution."""
    return formed(band, form).mass


def part(bands: Sequence[sp.csr_array], cut: tuple[int, int], form: Form) -> Matrix:
    """Return a range of the rows of bands that lie above each other, as the kernels take it."""
    rows = bands[0] if len(bands) == 1 else sp.vstack(bands, format="csr")
    return formed(rows[cut[0] : cut[1]], form)


def turned(band: sp.csr_array, bounds: np.ndarray) -> list[sp.csr_array]:
    """Return the columns between bounds, each time as rows of the transpose."""
    columns = band.tocsc()
    return [columns[:, start:stop].T.tocsr() for start, stop in pairwise(bounds)]


def piece(pieces: Sequence[sp.csr_array], i: int) -> sp.csr_array:
    """Return one of several pieces."""
    return pieces[i]


def turned_band(pieces: Sequence[sp.csr_array]) -> sp.csr_array:
    """Return a range of columns as a band of the transpose, from pieces of all bands."""
    return pieces[0] if len(pieces) == 1 else sp.hstack(pieces, format="csr")


BANDS = 2  # of columns, for each thread of the workers


class Numbered(NamedTuple):
    """A matrix in bands of its rows, from top to bottom, and its names."""

    bands: Sequence[Task]  # of canonical CSR
    row_names: np.ndarray | None = None
    column_names: np.ndarray | None = None


class _Known(NamedTuple):
    """What is known of all bands together."""

    facts: Facts
    entries: np.ndarray  # of each row
    sums: np.ndarray  # of each row
    starts: np.ndarray  # the first row of each band, and the number of rows


class _Banded(NamedTuple):
    """Bands of rows, and where bands and rows begin."""

    bands: Sequence[Task]
    starts: np.ndarray
    indptr: np.ndarray


def partitioned(numbered: Numbered, weighting: Weighting | None, cluster: Cluster) -> ClusterJoint:
    """Weight a matrix, and partition it by rows and by columns; fits the weighting."""
    bands = numbered.bands
    known = _known(bands, cluster)
    if weighting is not None:
        bands = _weighted(bands, known, weighting, cluster)
        known = _known(bands, cluster)
    form = form_of(known.facts, known.sums)
    mass = _on_each(bands, masses, cluster, form)
    form = with_spread(form, known.facts.extent.least, mass)
    rows = _Banded(bands, known.starts, _indptr(known.entries))
    columns = _turned(rows, known.facts.entries, cluster)
    column_mass = _on_each(columns.bands, masses, cluster, form)
    n, m = known.facts.shape
    sides = _parts(rows, m, form, cluster), _parts(columns, n, form, cluster)
    cluster.finish([*sides[0].futures, *sides[1].futures])
    return ClusterJoint(
        DaskSide(sides[0].bounds, mass, numbered.row_names, sides[0]),
        DaskSide(sides[1].bounds, column_mass, numbered.column_names, sides[1]),
        form,
        known.facts.nnz,
    )


def _known(bands: Sequence[Task], cluster: Cluster) -> _Known:
    whole = cluster.reduced(Facts.joined, cluster.map(facts_of, bands))
    by_band = cluster.gather(cluster.map(row_sums, bands))
    rows, masses = (np.concatenate([part[field] for part in by_band]) for field in (0, 1))
    starts = np.cumsum([0, *(part.entries.size for part in by_band)])
    return _Known(cluster.gather([whole])[0], rows, masses, starts)


def _weighted(
    bands: Sequence[Task], known: _Known, weighting: Weighting, cluster: Cluster
) -> list[Task]:
    """Return the weighted bands: the weighting learns from all of them, and weighs each."""
    weighting.learn(known.sums, known.facts.entries, known.facts.shape)
    sent = copy(weighting)
    sent.relative_lengths_ = None  # rows are weighted by their own
    if weighting.makes_uniform:
        weighting.row_masses_ = _on_each(bands, masses_before_division, cluster, sent)
    return cluster.map(weighed, bands, sent)


def _on_each(
    bands: Sequence[Task], task: Callable[..., Any], cluster: Cluster, *arguments: Any
) -> np.ndarray:
    """Return the results of a task on each band, one after another."""
    return np.concatenate(cluster.gather(cluster.map(task, bands, *arguments)))


def _indptr(entries: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(entries)])


def _parts(matrix: _Banded, columns: int, form: Form, cluster: Cluster) -> Parts:
    """Cut bands into parts."""
    bounds = bounds_of(matrix.indptr, columns)
    futures = []
    for p, place in enumerate(places(bounds.size - 1)):
        start, stop = bounds[p], bounds[p + 1]
        first = np.searchsorted(matrix.starts, start, side="right") - 1
        last = np.searchsorted(matrix.starts, stop)
        first = min(first, len(matrix.bands) - 1)
        chosen = list(matrix.bands[first : max(last, first + 1)])
        cut = int(start - matrix.starts[first]), int(stop - matrix.starts[first])
        futures.append(cluster.submit(part, chosen, cut, form, place=place))
    return Parts(cluster, bounds, futures)


def _turned(matrix: _Banded, entries: np.ndarray, cluster: Cluster) -> _Banded:
    """Return the transpose in bands."""
    indptr = _indptr(entries)
    bounds = np.unique(part_bounds(indptr, BANDS * len(cluster.workers)))
    split = cluster.map(turned, matrix.bands, bounds)
    pieces = [cluster.map(piece, split, i) for i in range(bounds.size - 1)]
    bands = cluster.map(turned_band, pieces)
    return _Banded(bands, bounds, indptr)
