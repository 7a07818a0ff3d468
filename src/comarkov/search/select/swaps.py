"""Is there structure in sparse rows? Compare the data with tables of the same margins.

Half of a short text holds too few words for halves to agree. But if two entries exchange their
columns, all rows and columns keep their numbers of entries, and whatever they have in common is
lost. Clusters of the presence of entries keep as much information of such tables as of chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from ...joint.joint import joint
from ..run import Run
from .number_ladder import quick_fit

SPARSE_ENTRIES = 20  # in a row, on average: fewer do not make two halves
SWAPPED_TABLES = 3
SWAP_CLASSES = 10  # of rows or columns, which have about as many entries
SWAP_ROUNDS = 40  # in which each entry tries to exchange its column with another
TESTED_NUMBERS = (2, 3, 4, 8)  # whose mean shows whether there is structure
FURTHER_NUMBERS = (5, 6, 10, 12)  # which are tried if there is
FITS = 2  # of each table, of which the better counts
MAX_TESTED_ENTRIES = 30_000
MAX_DENSITY = 0.5  # of tables whose zeros can tell something
CLEAR_AGREEMENT = 0.5  # of halves, above which there is no doubt that there is structure
STRUCTURE = 1.12  # the least ratio of the information kept to that of swapped tables
NEARLY_BEST_EXCESS = 0.85  # of the best excess over 1 that is nearly as good


@dataclass(frozen=True)
class Contrast:
    """The information kept, as a multiple of that of swapped tables, by number of clusters."""

    ratios: dict[int, float]

    @property
    def shows_structure(self) -> bool:
        """Is the ratio above 1 for few clusters and for many, as it is not in bursts?"""
        tested = [self.ratios[k] for k in TESTED_NUMBERS if k in self.ratios]
        return bool(tested) and float(np.mean(tested)) >= STRUCTURE

    def nearly_best(self) -> list[int]:
        """Return the numbers with nearly the best ratio."""
        least = NEARLY_BEST_EXCESS * (max(self.ratios.values()) - 1)
        return [k for k, ratio in self.ratios.items() if ratio - 1 >= least]


def contrast(csr: sp.csr_array, run: Run) -> Contrast:
    """Compare the presence of entries, in a sample of rows, with tables of the same margins."""
    present = _sample(csr, run.rng)
    if min(present.shape) < 2 * max(TESTED_NUMBERS):
        return Contrast({})
    tables = [present, *(swap(present, run.rng) for _ in range(SWAPPED_TABLES))]
    measured = Contrast(_ratios(tables, TESTED_NUMBERS, run))
    if not measured.shows_structure:
        return measured
    return Contrast(dict(sorted((measured.ratios | _ratios(tables, FURTHER_NUMBERS, run)).items())))


def _ratios(tables: Sequence[sp.csr_array], numbers: Sequence[int], run: Run) -> dict[int, float]:
    """The information kept of the first table, as a multiple of that of the others."""
    ratios = {}
    for k in numbers:
        if run.stop():
            break
        seeds = run.rng.integers(1 << 32, size=FITS)
        kept, *others = (max(_kept(table, k, s, run) for s in seeds) for table in tables)
        ratios[k] = kept / max(float(np.mean(others)), 1e-12)
    return ratios


def _sample(csr: sp.csr_array, rng: np.random.Generator) -> sp.csr_array:
    """Rows with at most MAX_TESTED_ENTRIES entries, and the columns that occur in two of them."""
    present = sp.csr_array((np.ones(csr.nnz), csr.indices, csr.indptr), csr.shape)
    if csr.nnz > MAX_TESTED_ENTRIES:
        size = int(csr.shape[0] * MAX_TESTED_ENTRIES / csr.nnz)
        present = present[np.sort(rng.choice(csr.shape[0], max(size, 1), replace=False))]
    present = present[:, np.bincount(present.indices, minlength=csr.shape[1]) > 1]
    return present[np.diff(present.indptr) > 0]


def _kept(table: sp.csr_array, k: int, seed: int, run: Run) -> float:
    state = quick_fit(joint(table), (k, k), replace(run, rng=np.random.default_rng(seed)))
    return 0.0 if state is None else state.information().kept


def swap(table: sp.csr_array, rng: np.random.Generator) -> sp.csr_array:
    """Return a random 0/1 table with the same numbers of entries in all rows and columns.

    In each round the entries (a, b) and (c, d) of a pair become (a, d) and (c, b), unless one of
    these is there already. The two columns, or the two rows, have about as many entries, so heavy
    rows keep their entries in heavy columns: bursts that saturate are no structure.
    """
    n, m = table.shape
    rows = np.repeat(np.arange(n, dtype=np.int64), np.diff(table.indptr))
    columns = table.indices.astype(np.int64)
    classes = _classes(rows), _classes(columns)
    for i in range(SWAP_ROUNDS):
        drawn = rng.permutation(rows.size)
        members = classes[0][rows[drawn]] if i % 2 else classes[1][columns[drawn]]
        drawn = drawn[np.argsort(members, kind="stable")]
        first, second = drawn[: rows.size // 2 * 2].reshape(-1, 2).T
        new = np.array([rows[first] * m + columns[second], rows[second] * m + columns[first]])
        taken = np.isin(new, rows * m + columns).any(axis=0)
        _, place, counts = np.unique(new, return_inverse=True, return_counts=True)
        taken |= (counts[place.reshape(new.shape)] > 1).any(axis=0)
        first, second = first[~taken], second[~taken]
        columns[first], columns[second] = columns[second], columns[first]
    return sp.csr_array((np.ones(rows.size), (rows, columns)), shape=table.shape)


def _classes(places: np.ndarray) -> np.ndarray:
    """Divide elements into classes of similar numbers of entries, with as many entries in all."""
    counts = np.bincount(places)
    order = np.argsort(counts, kind="stable")
    classes = np.empty(counts.size, np.int64)
    classes[order] = SWAP_CLASSES * (np.cumsum(counts[order]) - 1) // places.size
    return classes
