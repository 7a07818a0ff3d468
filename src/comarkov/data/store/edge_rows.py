"""From runs of edges to the rows of a matrix: names are sorted, and equal edges added up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ...kernels.sorting import add_equal, sort_by
from ..units import INT32_MAX
from .buckets import INDEX, Bucket, Buckets, Entries
from .building import Block, MatrixWriter, settled
from .layout import ROWS, Description
from .names import write_names
from .runs import SIDES, Runs, Tally


class Ranking(NamedTuple):
    """The names of a side in their final order, and the place of each code; None if equal."""

    names: np.ndarray
    places: np.ndarray | None

    @classmethod
    def of(cls, coding: Any, tally: Tally) -> Ranking:
        """The names that occur."""
        return cls(*coding.finish(np.flatnonzero(tally.counts)))

    def ranked(self, codes: np.ndarray) -> np.ndarray:
        """The places of codes."""
        return codes if self.places is None else self.places[codes]

    def added(self, amounts: np.ndarray) -> np.ndarray:
        """Amounts by code, added up by place."""
        if self.places is None:
            return amounts
        occurring = np.flatnonzero(amounts)
        return np.bincount(self.places[occurring], amounts[occurring], self.names.size)


def write_rows(
    runs: Runs, codings: Sequence[Any], folder: Path, memory: int, advance: Callable[..., None]
) -> Description:
    """Write the rows of the matrix and the names of both sides into a folder."""
    tallies = runs.tally([coding.size for coding in codings])
    rankings = [Ranking.of(*both) for both in zip(codings, tallies, strict=True)]
    sums = [ranking.added(tally.sums) for ranking, tally in zip(rankings, tallies, strict=True)]
    is_count = runs.are_whole and max(map(np.max, sums)) <= INT32_MAX
    counts = rankings[0].added(tallies[0].counts).astype(np.int64)
    shape = rankings[0].names.size, rankings[1].names.size
    names: dict[str, Any] = {}
    for side, ranking in zip(SIDES, rankings, strict=True):
        names |= write_names(folder, side, ranking.names)
    dtype = np.dtype(np.int32 if is_count else np.float64)
    del tallies, sums
    done = 0
    with Buckets(folder / "buckets", counts, memory, dtype) as buckets:
        for entries in runs.read():
            keys, others = (
                ranking.ranked(codes) for ranking, codes in zip(rankings, entries[:2], strict=True)
            )
            buckets.add(Entries(keys, others, entries.weights.astype(dtype, copy=False)))
            done += keys.size
            advance("Sorting rows", done, 2 * runs.size)
        with MatrixWriter(folder / ROWS, dtype) as writer:
            for bucket in buckets.read():
                writer.add(_summed(bucket, shape[1]))
                done += bucket.entries.keys.size
                advance("Sorting rows", done, 2 * runs.size)
    about = settled(folder, shape, writer)
    return replace(about, named=(True, True), files=about.files | names)


def _summed(bucket: Bucket, columns: int) -> Block:
    """Rows of a bucket, sorted by column, with equal edges added up and zeros left out."""
    if bucket.entries.weights.dtype == np.int32:
        return _summed_counts(bucket, columns)
    rows = bucket.entries.keys - INDEX(bucket.start)
    shape = bucket.stop - bucket.start, columns
    csr = sp.coo_array((bucket.entries.weights, (rows, bucket.entries.others)), shape).tocsr()
    csr.eliminate_zeros()
    return Block(csr.indptr, csr.indices, csr.data)


def _summed_counts(bucket: Bucket, columns: int) -> Block:
    """The same for counts, whose sums do not depend on their order: by column, then by row."""
    keys, others, weights = bucket.entries
    indptr = np.empty(columns + 1, np.int64)
    by_column = np.empty_like(keys), np.empty_like(weights)
    sort_by(others, (keys, weights), 0, indptr, by_column)
    columns_sorted = np.repeat(np.arange(columns, dtype=INDEX), np.diff(indptr))
    indptr = np.empty(bucket.stop - bucket.start + 1, np.int64)
    sort_by(by_column[0], (columns_sorted, by_column[1]), bucket.start, indptr, (others, weights))
    add_equal(indptr, others, weights)
    return Block(indptr, others[: indptr[-1]], weights[: indptr[-1]])
