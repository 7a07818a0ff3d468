"""Is there structure in sparse rows? Compare the data with tables of the same margins.

Half of a short text holds too few words for halves to agree. But if two entries exchange their
columns, all rows and columns keep their numbers of entries, and whatever they have in common is
lost. The largest singular values of the presence of entries measure what rows and columns have in
common; n_xy / √((n_x + τ) (n_y + σ)), where τ and σ are the mean sums of rows and of columns, less
what the margins alone explain. Unlike clusters, they have no local optima.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, svds

from ..run import Run

SPARSE_ENTRIES = 20  # in a row, on average: fewer do not make two halves ...
FEWEST_HALVED = 10  # ... and even fewer need not be tried
SWAPPED_TABLES = 6
SWAP_CLASSES = 10  # of rows or columns, which have about as many entries
SWAP_ROUNDS = 40  # in which each entry tries to exchange its column with another
DIRECTIONS = 12  # the singular values that are compared
SINGULAR_TOLERANCE = 1e-3
MAX_TESTED_ENTRIES = 30_000
MAX_DENSITY = 0.5  # of tables whose zeros can tell something
CLEAR_AGREEMENT = 0.5  # of halves, above which there is no doubt that there is structure
FIRST_VALUES = 1, 3, 12  # whose sums of squares show structure ...
STRUCTURE = 1.05  # ... from this multiple of those of swapped tables on
STANDING_OUT = 0.5  # of the largest excess: directions with less do not make a cluster ...
ABOUT_HALF = 0.4, 0.6  # ... but numbers at these limits fit about as well


@dataclass(frozen=True)
class Contrast:
    """Squares of the largest singular values, of the data and of tables filled at random."""

    squares: np.ndarray  # falling
    swapped: np.ndarray  # by (table, value)

    @property
    def shows_structure(self) -> bool:
        """Are first values larger than those of all swapped tables, by more than these differ?"""
        for first in FIRST_VALUES:
            value, others = self.squares[:first].sum(), self.swapped[:, :first].sum(axis=1)
            if value >= max(STRUCTURE * others.mean(), others.max() + np.ptp(others)):
                return True
        return False

    def number(self, share: float = STANDING_OUT) -> int:
        """One cluster more than there are directions with this share of the largest excess."""
        excess = self.squares - self.swapped.max(axis=0)
        return int((excess >= share * excess[0]).sum()) + 1

    def nearly_best(self) -> list[int]:
        """Return the numbers that fit about equally well, in rising order."""
        return sorted({self.number(share) for share in (*ABOUT_HALF, STANDING_OUT)})


def contrast(csr: sp.csr_array, run: Run) -> Contrast | None:
    """Compare the presence of entries, in a sample of rows, with swapped tables; None if tiny."""
    present = _sample(csr, run.rng)
    if min(present.shape) < 2 * DIRECTIONS or run.stop():
        return None
    tables = [present, *(swap(present, run.rng) for _ in range(SWAPPED_TABLES))]
    start = run.rng.standard_normal(min(present.shape))
    squares = np.array([_singular_values(table, start) for table in tables]) ** 2
    return Contrast(squares[0], squares[1:])


def _singular_values(table: sp.csr_array, start: np.ndarray) -> np.ndarray:
    """Return the largest singular values of a scaled table without what margins explain."""
    sums = table.sum(axis=1), table.sum(axis=0)
    rows, columns = (1 / np.sqrt(each + each.mean()) for each in sums)
    scaled = sp.csr_array(table * rows[:, None] * columns)
    turned = sp.csr_array(scaled.T)
    usual = [
        each * scale / np.sqrt(table.sum())
        for each, scale in zip(sums, (rows, columns), strict=True)
    ]
    operator = LinearOperator(
        table.shape,
        matvec=lambda x: scaled @ x.ravel() - usual[0] * (usual[1] @ x.ravel()),
        rmatvec=lambda y: turned @ y.ravel() - usual[1] * (usual[0] @ y.ravel()),
        dtype=np.float64,
    )
    options = {"v0": start, "tol": SINGULAR_TOLERANCE, "return_singular_vectors": False}
    return np.sort(svds(operator, DIRECTIONS, **options))[::-1]


def _sample(csr: sp.csr_array, rng: np.random.Generator) -> sp.csr_array:
    """Rows with at most MAX_TESTED_ENTRIES entries, and the columns that occur in two of them."""
    present = sp.csr_array((np.ones(csr.nnz), csr.indices, csr.indptr), csr.shape)
    if csr.nnz > MAX_TESTED_ENTRIES:
        size = int(csr.shape[0] * MAX_TESTED_ENTRIES / csr.nnz)
        present = present[np.sort(rng.choice(csr.shape[0], max(size, 1), replace=False))]
    present = present[:, np.bincount(present.indices, minlength=csr.shape[1]) > 1]
    return present[np.diff(present.indptr) > 0]


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
