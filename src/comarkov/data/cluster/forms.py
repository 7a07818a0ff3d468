"""The form of the weights of a joint distribution, chosen once for all of its parts."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ...kernels.matrix import Matrix
from ..joint import (
    FAINTEST,
    INT32_MAX,
    SMALL,
    Extent,
    Joint,
    of_counts,
    of_weights,
    scale_of,
    spread_of,
)


class Facts(NamedTuple):
    """What is known of the entries of some bands of rows together."""

    shape: tuple[int, int]
    entries: np.ndarray  # int64 (columns,): their number in each column
    sums: np.ndarray  # float64 (columns,): of the entries
    low: float
    high: float
    logs: float  # sum of log2 of the entries
    is_whole: bool
    dtype: np.dtype[Any]

    @property
    def nnz(self) -> int:
        """The number of entries."""
        return int(self.entries.sum())

    def joined(self, other: Facts) -> Facts:
        """Return the facts of both together: one lies above the other."""
        if self.shape[1] != other.shape[1]:
            raise ValueError(
                f"Blocks of X have {self.shape[1]:,} and {other.shape[1]:,} columns. Give all rows "
                "the same columns."
            )
        return Facts(
            (self.shape[0] + other.shape[0], self.shape[1]),
            self.entries + other.entries,
            self.sums + other.sums,
            min(self.low, other.low),
            max(self.high, other.high),
            self.logs + other.logs,
            self.is_whole and other.is_whole,
            np.result_type(self.dtype, other.dtype),
        )


def facts_of(band: sp.csr_array) -> Facts:
    """Return what is known of the entries of a band."""
    data = band.data
    return Facts(
        band.shape,
        np.bincount(band.indices, minlength=band.shape[1]),
        np.asarray(band.sum(axis=0, dtype=np.float64)),
        float(data.min()) if data.size else np.inf,
        float(data.max()) if data.size else 0.0,
        float(np.log2(data).sum()),
        data.dtype.kind != "f" or bool((data == np.floor(data)).all()),
        data.dtype,
    )


class Form(NamedTuple):
    """How weights are stored: that which ``joint`` chooses for the same matrix."""

    is_count: bool
    has_integers: bool
    dtype: np.dtype[Any]  # before they are divided by the scale
    scale: float
    spread: float = np.nan  # known when the masses of all rows are

    @property
    def weight_dtype(self) -> np.dtype[Any]:
        """The type of the weights."""
        return np.dtype(np.float64) if self.scale != 1.0 else self.dtype


def form_of(facts: Facts, row_sums: np.ndarray) -> Form:
    """Return the form of a matrix."""
    nnz = facts.nnz
    if nnz == 0:
        raise ValueError("The matrix has no mass: all its entries are zero.")
    largest = max(row_sums.max(), facts.sums.max())
    is_count = facts.is_whole and bool(min(facts.sums.sum(), largest) <= INT32_MAX)
    is_small = nnz <= SMALL
    if is_count and not is_small:
        return Form(True, True, np.dtype(np.int32), 1.0)
    scale = scale_of(Extent(nnz, facts.low, facts.high, lambda: facts.logs / nnz))
    is_single = facts.dtype == np.float32 and not is_small
    return Form(is_count, False, np.dtype(np.float32 if is_single else np.float64), scale)


def form_of_joint(whole: Joint) -> Form:
    """Return the form of a matrix in memory or on disk."""
    dtype = whole.matrix.weights.dtype
    return Form(whole.is_count, dtype.kind == "i", dtype, whole.scale, whole.spread)


def with_spread(form: Form, low: float, masses: np.ndarray) -> Form:
    """Return the form with the spread of all weights and sums."""
    least = np.array([max(low / form.scale, FAINTEST)], form.weight_dtype)
    return form._replace(spread=spread_of(least, masses.sum()))


def formed(rows: sp.csr_array, form: Form) -> Matrix:
    """Return rows as the kernels take them."""
    if form.has_integers:
        matrix = of_counts(rows)
    else:
        matrix = of_weights(rows.astype(form.dtype, copy=False), form.scale)
    return matrix._replace(spread=form.spread)
