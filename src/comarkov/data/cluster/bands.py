"""Tasks on bands of rows: their sums, their weighting, and the parts that are cut from them.

A band is a range of the rows of a matrix in canonical CSR, as the input happens to be divided.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ...kernels.matrix import Matrix
from ..inputs import as_csr
from ..weighting import Weighting
from .forms import Form, formed


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
