"""The form of the weights of a joint distribution, chosen once for all of its parts."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ...kernels.matrix import Matrix
from ..inputs import NO_MASS
from ..joint import SMALL, Joint, of_counts, of_weights
from ..units import FAINTEST, Extent, spread_of


class Facts(NamedTuple):
    """What is known of the entries of some bands of rows together."""

    shape: tuple[int, int]
    entries: np.ndarray  # int64 (columns,): their number in each column
    sums: np.ndarray  # float64 (columns,): of the entries
    extent: Extent
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
            self.extent.joined(other.extent),
            np.result_type(self.dtype, other.dtype),
        )


def facts_of(band: sp.csr_array) -> Facts:
    """Return what is known of the entries of a band."""
    return Facts(
        band.shape,
        np.bincount(band.indices, minlength=band.shape[1]),
        np.asarray(band.sum(axis=0, dtype=np.float64)),
        Extent.of(band.data),
        band.data.dtype,
    )


class Form(NamedTuple):
    """How weights are stored: that which ``joint`` chooses for the same matrix."""

    is_count: bool
    dtype: np.dtype[Any]  # of the weights
    scale: float
    spread: float = np.nan  # known when the masses of all rows are


def form_of(facts: Facts, row_sums: np.ndarray) -> Form:
    """Return the form of a matrix."""
    nnz, extent = facts.nnz, facts.extent
    if nnz == 0:
        raise ValueError(NO_MASS)
    is_count = extent.are_counts(facts.sums.sum, lambda: max(row_sums.max(), facts.sums.max()))
    scale = extent.divisor if is_count else extent.unit
    if nnz <= SMALL:
        dtype: type = np.float64
    elif is_count:
        dtype = np.int32
    else:
        is_single = facts.dtype == np.float32 and extent.fits_single(scale)
        dtype = np.float32 if is_single else np.float64
    return Form(is_count, np.dtype(dtype), scale)


def form_of_joint(whole: Joint) -> Form:
    """Return the form of a matrix in memory or on disk."""
    return Form(whole.is_count, whole.matrix.weights.dtype, whole.scale, whole.spread)


def with_spread(form: Form, low: float, masses: np.ndarray) -> Form:
    """Return the form with the spread of all weights and sums."""
    least = np.array([max(low / form.scale, FAINTEST)], form.dtype)
    return form._replace(spread=spread_of(least, masses.sum()))


def formed(rows: sp.csr_array, form: Form) -> Matrix:
    """Return rows as the kernels take them."""
    if form.dtype == np.int32:
        matrix = of_counts(rows, form.scale)
    else:
        matrix = of_weights(rows, form.scale, form.dtype == np.float32)
    return matrix._replace(spread=form.spread)
