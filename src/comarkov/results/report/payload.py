"""The data of the report, packed: sections of bytes, compressed together, with what they hold."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ...costs.labels import ranks
from ...costs.objective import information_parts
from ...joint.parts import row_ranges
from ..drawing import ElementMap, binned, map_of_side


def heaviest_cells(matrix: sp.csr_array, count: int) -> sp.csr_array:
    """A matrix with about so many of the heaviest cells; equal ones from everywhere alike."""
    least, share = _least_of_heaviest(matrix.data, count)
    rng = np.random.default_rng(0)
    indptr, indices, data = [np.zeros(1, np.int64)], [], []
    for rows in row_ranges(matrix.indptr):
        places = matrix.indptr[rows.start : rows.stop + 1]
        part = slice(places[0], places[-1])
        weights = matrix.data[part]
        chosen = (weights > least) | ((weights == least) & (rng.random(weights.size) < share))
        ends = np.concatenate([[0], np.cumsum(chosen)])
        indptr.append(indptr[-1][-1] + ends[places[1:] - places[0]])
        indices.append(matrix.indices[part][chosen])
        data.append(weights[chosen])
    whole = (np.concatenate(each) for each in (data, indices, indptr))
    return sp.csr_array(tuple(whole), matrix.shape)


def _least_of_heaviest(weights: np.ndarray, count: int) -> tuple[float, float]:
    """The weight of which fewer are larger, and the share of those of that weight to take."""
    parts = [weights[start : start + count] for start in range(0, weights.size, count)]
    best = np.empty(0, weights.dtype)
    for part in parts:
        is_full = best.size == count
        best = np.concatenate([best, part[part > best[0]] if is_full else part])
        if best.size >= count:
            best = np.partition(best, best.size - count)[-count:]  # the least of them comes first
    least = best[0] if best.size == count else best.min()
    above, equal = (sum(int(test(part)) for part in parts) for test in _tests(least))
    return float(least), (count - above) / equal


def _tests(least: float) -> tuple[Callable[[np.ndarray], int], ...]:
    """How many weights are above the least, and how many are equal to it."""
    return lambda part: (part > least).sum(), lambda part: (part == least).sum()


DIGITS = 4  # significant ones of a value that is not a whole number
MOST_CELLS = 4_000_000  # that are tried: a cell takes half a byte at the very least
OVERVIEW = 320  # pixels of a side of the picture of all cells, where not all are there
MOST_COPIED = 16_000_000  # cells; of larger matrices only the heaviest are copied
LEAST = 300_000  # bytes for cells, however long the names are


class Cells(NamedTuple):
    """Cells of the reordered matrix that are not zero, row by row, as numbers to be packed."""

    counts: np.ndarray  # in each row
    gaps: np.ndarray  # from one to the next in the same row, less one; from the edge
    codes: np.ndarray  # of the values
    values: np.ndarray  # what the codes stand for, the most frequent first


class Packed(NamedTuple):
    """Sections of bytes under their names, and facts that are needed to read them."""

    sections: dict[str, bytes]
    facts: dict[str, Any]

    def text(self) -> str:
        """All sections, compressed, as letters that HTML leaves alone."""
        return base64.b64encode(compress(b"".join(self.sections.values()))).decode("ascii")

    def layout(self) -> list[tuple[str, int]]:
        """The names and lengths of the sections, in order."""
        return [(name, len(part)) for name, part in self.sections.items()]


def compress(data: bytes) -> bytes:
    """Gzip, the same bytes each time."""
    return gzip.compress(data, compresslevel=9, mtime=0)


def pack_cells(
    matrix: sp.csr_array,
    orders: Sequence[tuple[np.ndarray, np.ndarray]],
    budget: int,
    replacement: Callable[..., dict[str, bytes]] = lambda *_: {},
) -> Packed:
    """The cells of the matrix in the first of the orders, or its heaviest as the budget allows.

    If some are left out, pictures of all cells in each of the orders come with them, and what the
    replacement returns for the matrix and the first of the orders.
    """
    rows, columns = orders[0]
    some = matrix if matrix.nnz <= MOST_COPIED else heaviest_cells(matrix, MOST_CELLS)
    ordered = sp.csr_array(some[rows][:, columns], dtype=np.float64)
    ordered.sort_indices()
    budget = max(budget, LEAST)
    kept, aside = ordered, dict[str, bytes]()
    sections = _sections(ordered) if matrix.nnz <= MOST_CELLS else None
    if sections is None or len(compress(b"".join(sections[0].values()))) > budget:
        aside = replacement(matrix, rows, columns)
        aside["overview"] = b"".join(_picture(matrix, *order) for order in orders)
        budget = max(budget - len(compress(b"".join(aside.values()))), LEAST)
        kept, sections = _heaviest_within(ordered, budget)
    size = [min(OVERVIEW, n) for n in matrix.shape]
    facts = {
        "cells": int(kept.nnz),
        "all_cells": int(matrix.nnz),
        "least": float(kept.data.min()) if kept.nnz else 0.0,
        "values": sections[1].tolist(),
        "overview": size if aside else None,
    }
    return Packed(sections[0] | aside, facts)


def _heaviest_within(ordered: sp.csr_array, budget: int) -> tuple[sp.csr_array, Any]:
    """As many of the heaviest cells as fit, found by their size when packed."""
    chance = np.random.default_rng(0).random(ordered.nnz)  # which of equals: from everywhere alike
    heaviest = np.lexsort((chance, -ordered.data))
    count = min(ordered.nnz, MOST_CELLS)
    while True:
        kept = _selected(ordered, heaviest[:count])
        sections = _sections(kept)
        size = len(compress(b"".join(sections[0].values())))
        if size <= budget or count <= 1:
            return kept, sections
        count = int(count * 0.97 * budget / size)


def _selected(ordered: sp.csr_array, which: np.ndarray) -> sp.csr_array:
    chosen = np.zeros(ordered.nnz, bool)
    chosen[which] = True
    before = np.concatenate([[0], np.cumsum(chosen)])
    return sp.csr_array(
        (ordered.data[chosen], ordered.indices[chosen], before[ordered.indptr]), ordered.shape
    )


def _sections(ordered: sp.csr_array) -> tuple[dict[str, bytes], np.ndarray]:
    cells = as_cells(ordered)
    parts = {
        "counts": varints(cells.counts),
        "gaps": varints(cells.gaps),
        "codes": varints(cells.codes),
    }
    return parts, cells.values


def as_cells(ordered: sp.csr_array) -> Cells:
    """The cells as small numbers: gaps between columns, and codes of rounded values."""
    counts = np.diff(ordered.indptr)
    gaps = np.diff(ordered.indices.astype(np.int64), prepend=-1) - 1
    first = ordered.indptr[:-1][counts > 0]
    gaps[first] = ordered.indices[first]
    values, code, times = np.unique(_rounded(ordered.data), return_inverse=True, return_counts=True)
    frequent = np.argsort(-times, kind="stable")
    place = np.empty_like(frequent)
    place[frequent] = np.arange(frequent.size)
    return Cells(counts, gaps, place[code], values[frequent])


def _rounded(data: np.ndarray) -> np.ndarray:
    """Whole numbers as they are, others to some significant digits."""
    if data.size == 0 or (data == np.floor(data)).all():
        return data
    unit = np.maximum(10.0 ** (np.floor(np.log10(data)) - (DIGITS - 1)), np.finfo(float).tiny)
    return np.asarray(np.round(data / unit) * unit)


def varints(numbers: np.ndarray) -> bytes:
    """Numbers of seven bits a byte, the lowest first; the eighth tells that more follow."""
    left = numbers.astype(np.uint64)
    count = max(1, -(-int(left.max(initial=0)).bit_length() // 7))
    shifts = 7 * np.arange(count, dtype=np.uint64)
    parts = left[:, None] >> shifts
    used = (parts > 0) | (shifts == 0)
    more = np.zeros_like(used)
    more[:, :-1] = used[:, 1:]
    coded = (parts & np.uint64(127)) | (more.astype(np.uint64) << np.uint64(7))
    return coded[used].astype(np.uint8).tobytes()


def _picture(matrix: sp.csr_array, rows: np.ndarray, columns: np.ndarray) -> bytes:
    """The mean of the cells in each pixel, its square root as a byte."""
    means = binned(matrix, rows, columns, OVERVIEW)
    high = np.quantile(means[means > 0], 0.99) if means.any() else 1.0
    return np.round(255 * np.sqrt(np.minimum(means / high, 1))).astype(np.uint8).tobytes()


STEPS = 4094  # along the longer axis; one more marks an element without a place


def map_sections(results: Any) -> Packed:
    """The places of all elements, in the order of the page, and what the axes show."""
    sections: dict[str, bytes] = {}
    facts: dict[str, Any] = {}
    findings = results.findings
    for name, side in zip(("rows", "columns"), findings.sides, strict=True):
        places = map_of_side(results, side)
        if is_flat(places):
            continue
        sections[f"{name} map"] = _packed(places, getattr(findings.orders, name))
        facts[name] = places.shares.round(4).tolist()
    return Packed(sections, {"maps": facts})


def is_flat(places: ElementMap) -> bool:
    """True if all elements lie on one point, so that a map shows nothing."""
    return not places.shares.any()


def _packed(places: ElementMap, order: np.ndarray) -> bytes:
    """Two numbers for each element, with the same unit on both axes."""
    points = places.points[order]
    low = np.nanmin(points, axis=0)
    unit = np.nanmax(points - low)
    steps = np.where(np.isnan(points), STEPS + 1, np.round(STEPS * (points - low) / unit))
    return steps.astype("<u2").tobytes()


FIRST = 3  # entries of a profile; also in profile.js
PROFILE_DIGITS = 100  # a lift is packed as a whole number of hundredths


def pack_profiles(
    matrix: sp.csr_array,
    rows: np.ndarray,
    columns: np.ndarray,
    turned: sp.csr_array | None = None,
) -> dict[str, bytes]:
    """Profiles of all rows and of all columns, in these orders; ``turned`` is the transpose."""
    turned = sp.csr_array(matrix.T) if turned is None else turned
    totals = [_row_sums(each) for each in (matrix, turned)]
    sides = {
        "row": _profiles(matrix, (rows, columns), (totals[0], totals[1])),
        "column": _profiles(turned, (columns, rows), (totals[1], totals[0])),
    }
    return {f"{side} {name}": part for side, parts in sides.items() for name, part in parts.items()}


def _row_sums(matrix: sp.csr_array) -> np.ndarray:
    sums = np.zeros(matrix.shape[0])
    for rows in row_ranges(matrix.indptr):
        sums[rows] = np.asarray(matrix[rows].sum(axis=1, dtype=np.float64)).ravel()
    return sums


def _profiles(
    matrix: sp.csr_array,
    orders: tuple[np.ndarray, np.ndarray],
    totals: tuple[np.ndarray, np.ndarray],
) -> dict[str, bytes]:
    """The totals, the numbers of entries, and the first entries of each row, in an order."""
    order, place = orders[0], ranks(orders[1])
    counts = np.diff(matrix.indptr)[order]
    numbers, entries = [], []
    for part in row_ranges(np.concatenate([[0], np.cumsum(counts)])):
        first = _first_entries(matrix[order[part]], totals[0][order[part]], totals[1])
        numbers.append(first.numbers)
        columns = np.column_stack([place[first.columns], np.round(PROFILE_DIGITS * first.lifts)])
        entries.append(varints(columns.ravel()))
    return {
        "totals": totals[0][order].astype("<f8").tobytes(),
        "counts of entries": varints(counts),
        "numbers of first entries": varints(np.concatenate(numbers)),
        "first entries": b"".join(entries),
    }


class _First(NamedTuple):
    """The first entries of profiles: how many each has, their columns and lifts."""

    numbers: np.ndarray
    columns: np.ndarray
    lifts: np.ndarray


def _first_entries(matrix: sp.csr_array, totals: np.ndarray, others: np.ndarray) -> _First:
    """The entries of each row with the most bits, given the totals of rows and columns."""
    counts = np.diff(matrix.indptr)
    row = np.repeat(np.arange(counts.size), counts)
    lift = matrix.data / totals[row] / others[matrix.indices] * others.sum()
    bits = information_parts(matrix.data, totals[row], others[matrix.indices] / others.sum())
    order = np.lexsort((-bits, row))
    is_first = np.arange(order.size) - np.repeat(matrix.indptr[:-1], counts) < FIRST
    chosen = order[is_first & (lift[order] > 1)]
    numbers = np.bincount(row[chosen], minlength=counts.size)
    return _First(numbers, matrix.indices[chosen], lift[chosen])
