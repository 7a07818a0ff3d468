"""The data of the report, packed: sections of bytes, compressed together, with what they hold."""

from __future__ import annotations

import base64
import gzip
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ...joint.parts import row_ranges
from ...joint.scale import are_whole
from ..findings import SideFindings
from ..pictures import binned, map_of_side, shades

CELL_DIGITS = 4  # significant ones of a value that is not a whole number
MAX_CELLS = 4_000_000  # that are tried: a cell takes half a byte at the very least
MAX_COPIED_CELLS = 16_000_000  # of larger matrices only the heaviest cells are copied
MIN_CELL_BYTES = 300_000  # however long the names are
OVERVIEW_PIXELS = 320  # of a side of the picture of all cells, where not all are there
MAP_STEPS = 4094  # along the longer axis; one more marks an element without a place
SNIPPET_LENGTH = 200  # characters
SNIPPET_WORDS = 8  # of a cluster that a snippet is chosen for: those that the page marks
SNIPPET_READ = 5_000  # characters of a text in which a snippet is looked for
SNIPPETS_BYTES = 900_000  # compressed, of all snippets
WORD = re.compile(r"\w\w+")
CONTROL_LETTERS = re.compile(r"[\x00-\x1f\x7f\u2028\u2029]")


class Cells(NamedTuple):
    """Cells of the reordered matrix that are not zero, row by row, as numbers to be packed."""

    counts: np.ndarray  # in each row
    gaps: np.ndarray  # from one to the next in the same row, less one; from the edge
    codes: np.ndarray  # of the values
    values: np.ndarray  # what the codes stand for, the most frequent first

    def sections(self) -> dict[str, bytes]:
        """All but the values, as bytes."""
        numbers = {"counts": self.counts, "gaps": self.gaps, "codes": self.codes}
        return {name: varints(each) for name, each in numbers.items()}


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
    matrix: sp.csr_array, orders: Sequence[tuple[np.ndarray, np.ndarray]], budget: int
) -> Packed:
    """The cells of the matrix in the first of the orders, or its heaviest as the budget allows.

    If some are left out, pictures of all cells in each of the orders come with them.
    """
    rows, columns = orders[0]
    some = matrix if matrix.nnz <= MAX_COPIED_CELLS else heaviest_cells(matrix, MAX_CELLS)
    kept = sp.csr_array(some[rows][:, columns], dtype=np.float64)
    kept.sort_indices()
    budget = max(budget, MIN_CELL_BYTES)
    overview = b""
    cells = as_cells(kept) if matrix.nnz <= MAX_CELLS else None
    if cells is None or len(compress(b"".join(cells.sections().values()))) > budget:
        pictures = [shades(binned(matrix, *order, OVERVIEW_PIXELS)) for order in orders]
        overview = b"".join(picture.tobytes() for picture in pictures)
        budget = max(budget - len(compress(overview)), MIN_CELL_BYTES)
        kept, cells = _heaviest_within(kept, budget)
    facts = {
        "cells": int(kept.nnz),
        "all_cells": int(matrix.nnz),
        "least": float(kept.data.min()) if kept.nnz else 0.0,
        "values": cells.values.tolist(),
        "overview": [min(OVERVIEW_PIXELS, n) for n in matrix.shape] if overview else None,
    }
    return Packed(cells.sections() | ({"overview": overview} if overview else {}), facts)


def _heaviest_within(ordered: sp.csr_array, budget: int) -> tuple[sp.csr_array, Cells]:
    """As many of the heaviest cells as fit, found by their size when packed."""
    count = min(ordered.nnz, MAX_CELLS)
    while True:
        kept = heaviest_cells(ordered, count)
        cells = as_cells(kept)
        size = len(compress(b"".join(cells.sections().values())))
        if size <= budget or count <= 1:
            return kept, cells
        count = max(1, int(count * 0.97 * budget / size))


def heaviest_cells(matrix: sp.csr_array, count: int) -> sp.csr_array:
    """A matrix with about so many of the heaviest cells; equal ones from everywhere alike."""
    least, share = _least_of_heaviest(matrix.data, count)
    rng = np.random.default_rng(0)
    counts, indices, data = [], [], []
    for rows in row_ranges(matrix.indptr):
        part = sp.csr_array(matrix[rows])
        chosen = (part.data > least) | ((part.data == least) & (rng.random(part.nnz) < share))
        before = np.concatenate([[0], np.cumsum(chosen)])
        counts.append(np.diff(before[part.indptr]))
        indices.append(part.indices[chosen])
        data.append(part.data[chosen])
    indptr = np.concatenate([[0], np.cumsum(np.concatenate(counts))])
    return sp.csr_array((np.concatenate(data), np.concatenate(indices), indptr), matrix.shape)


def _least_of_heaviest(weights: np.ndarray, count: int) -> tuple[float, float]:
    """The weight of which fewer than ``count`` are larger, and the share of its equals to take."""
    parts = [weights[start : start + count] for start in range(0, weights.size, count)]
    best = np.empty(0, weights.dtype)
    for part in parts:
        best = np.concatenate([best, part])
        if best.size > count:
            best = np.partition(best, best.size - count)[-count:]
    least = best.min()
    above = sum(int((part > least).sum()) for part in parts)
    equal = sum(int((part == least).sum()) for part in parts)
    return float(least), min(1.0, (count - above) / equal)


def as_cells(ordered: sp.csr_array) -> Cells:
    """The cells as small numbers: gaps between columns, and codes of rounded values."""
    counts = np.diff(ordered.indptr)
    gaps = np.diff(ordered.indices.astype(np.int64), prepend=-1) - 1
    first = ordered.indptr[:-1][counts > 0]
    gaps[first] = ordered.indices[first]
    values, code, times = np.unique(
        _round_values(ordered.data), return_inverse=True, return_counts=True
    )
    frequent = np.argsort(-times, kind="stable")
    place = np.empty_like(frequent)
    place[frequent] = np.arange(frequent.size)
    return Cells(counts, gaps, place[code], values[frequent])


def _round_values(data: np.ndarray) -> np.ndarray:
    """Whole numbers as they are, others to some significant digits."""
    if are_whole(data):
        return data
    unit = np.maximum(10.0 ** (np.floor(np.log10(data)) - (CELL_DIGITS - 1)), np.finfo(float).tiny)
    return np.asarray(np.round(data / unit) * unit)


def varints(numbers: np.ndarray) -> bytes:
    """Numbers of seven bits a byte, the lowest first; the eighth bit means that more follow."""
    left = numbers.astype(np.uint64)
    count = max(1, -(-int(left.max(initial=0)).bit_length() // 7))
    shifts = 7 * np.arange(count, dtype=np.uint64)
    parts = left[:, None] >> shifts
    used = (parts > 0) | (shifts == 0)
    more = np.zeros_like(used)
    more[:, :-1] = used[:, 1:]
    coded = (parts & np.uint64(127)) | (more.astype(np.uint64) << np.uint64(7))
    return coded[used].astype(np.uint8).tobytes()


def map_sections(results: Any) -> Packed:
    """The places of all elements, in the order of the page, and what the axes show."""
    sections: dict[str, bytes] = {}
    facts: dict[str, Any] = {}
    findings = results.findings
    for name, side, order in zip(("rows", "columns"), findings.sides, findings.orders, strict=True):
        places = map_of_side(results, side)
        if not places.is_flat:
            sections[f"{name} map"] = _pack_places(places.points[order])
            facts[name] = places.shares.round(4).tolist()
    return Packed(sections, {"maps": facts})


def _pack_places(points: np.ndarray) -> bytes:
    """Two numbers for each element, with the same unit on both axes."""
    low = np.nanmin(points, axis=0)
    unit = np.nanmax(points - low)
    steps = np.round(MAP_STEPS * (points - low) / unit)
    return np.where(np.isnan(points), MAP_STEPS + 1, steps).astype("<u2").tobytes()


# --- snippets of texts ------------------------------------------------------------------------


def pack_snippets(
    texts: np.ndarray, side: SideFindings, budget: int = SNIPPETS_BYTES
) -> tuple[bytes, int]:
    """The snippets of all texts, one a line, and how many there are.

    If they are too long, only the most typical texts of each cluster have one.
    """
    weights = [  # the distinctive words of each cluster, with their part of the information
        {each.name.lower(): each.bits for each in side.distinctive(a, SNIPPET_WORDS)}
        for a in range(side.n_clusters)
    ]
    lines = [
        snippet(str(text), weights[label] if 0 <= label < len(weights) else {})
        for text, label in zip(texts, side.labels.tolist(), strict=True)
    ]
    order = np.argsort(np.where(side.ranks > 0, side.ranks, side.ranks.size + 1), kind="stable")
    number = len(lines)
    while (size := _snippets_size(lines, budget)) > budget:
        number = int(0.95 * budget / size * number)
        for i in order[number:]:
            lines[i] = ""
    return "\n".join(lines).encode(), sum(map(bool, lines))


def _snippets_size(lines: list[str], budget: int) -> int:
    """About how many bytes the lines take; of many, a tenth is compressed to know it."""
    letters = sum(map(len, lines))
    if 4 * letters <= budget:  # no letter takes more than four bytes
        return 0
    step = 10 if letters > 3 * budget else 1
    return step * len(compress("\n".join(lines[::step]).encode()))


def snippet(text: str, weights: dict[str, float], width: int = SNIPPET_LENGTH) -> str:
    """The part of a text that has most of these words, each counted once; else its beginning.

    Examples
    --------
    >>> snippet("Good morning. The tea is hot and the rum is old.", {"tea": 2, "rum": 1}, 20)
    '… tea is hot and the …'
    """
    text = " ".join(CONTROL_LETTERS.sub(" ", text[:SNIPPET_READ]).split())
    if len(text) <= width:
        return text
    words = ((match.start(), match.group().lower()) for match in WORD.finditer(text))
    places = [(place, word) for place, word in words if word in weights]

    def weight(start: int) -> float:
        inside = {w for place, w in places if start <= place <= start + width - len(w)}
        return round(sum(weights[word] for word in inside), 9)

    start = max([0, *(place for place, _ in places)], key=weight)
    if start + width > len(text):  # rather the whole end
        start = min(start, text.find(" ", len(text) - width - 1) + 1 or start)
    end = start + width
    part = text[start:end]
    if end < len(text):
        part = f"{(part if text[end] == ' ' else part.rsplit(' ', 1)[0]).rstrip()} …"
    return f"… {part}" if start else part
