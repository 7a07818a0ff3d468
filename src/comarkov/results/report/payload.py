"""The data of the report, packed: sections of bytes, compressed together, with what they hold."""

from __future__ import annotations

import gzip
import re
import textwrap
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ...costs.labels import ranks
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


class Packed(NamedTuple):
    """Sections of bytes under their names, and facts that are needed to read them."""

    sections: dict[str, bytes]
    facts: dict[str, Any]

    def size(self) -> int:
        """How many bytes the sections take when they are compressed."""
        return len(compress(b"".join(self.sections.values())))


def compress(data: bytes) -> bytes:
    """Gzip, the same bytes each time."""
    return gzip.compress(data, compresslevel=9, mtime=0)


def pack_cells(matrix: sp.csr_array, order: tuple[np.ndarray, np.ndarray], budget: int) -> Packed:
    """The reordered cells of the matrix, or its heaviest as the budget allows.

    If some are left out, a picture of all cells comes with them.
    """
    rows, columns = order
    some = matrix if matrix.nnz <= MAX_COPIED_CELLS else heaviest_cells(matrix, MAX_CELLS)
    kept = sp.csr_array(some[rows][:, columns], dtype=np.float64)
    kept.sort_indices()
    budget = max(budget, MIN_CELL_BYTES)
    cells = as_cells(kept) if matrix.nnz <= MAX_CELLS else None
    overview: dict[str, bytes] = {}
    if cells is None or cells.size() > budget:
        overview["overview"] = shades(binned(matrix, rows, columns, OVERVIEW_PIXELS)).tobytes()
        budget = max(budget - len(compress(overview["overview"])), MIN_CELL_BYTES)
        count = min(kept.nnz, MAX_CELLS)
        cells = as_cells(some := heaviest_cells(kept, count))
        while (size := cells.size()) > budget and count > 1:
            count = max(1, int(count * 0.97 * budget / size))
            cells = as_cells(some := heaviest_cells(kept, count))
        kept = some
    pixels = [min(OVERVIEW_PIXELS, n) for n in matrix.shape]
    facts = {
        "cells": int(kept.nnz),
        "all_cells": int(matrix.nnz),
        "least": float(kept.data.min()) if kept.nnz else 0.0,
        "overview": pixels if overview else None,
    }
    return Packed(cells.sections | overview, cells.facts | facts)


def heaviest_cells(matrix: sp.csr_array, count: int) -> sp.csr_array:
    """A matrix with about so many of the heaviest cells; equal ones from everywhere alike.

    Of a large matrix, which may be on disk, a sample decides how heavy they must be.
    """
    sample = matrix.data[:: -(-matrix.nnz // MAX_COPIED_CELLS)]
    wanted = max(1, count * sample.size // matrix.nnz)
    least = np.partition(sample, sample.size - wanted)[sample.size - wanted]
    above, equal = np.count_nonzero(sample > least), np.count_nonzero(sample == least)
    rng, parts = np.random.default_rng(0), []
    for rows in row_ranges(matrix.indptr):
        part = sp.csr_array(matrix[rows], copy=True)
        is_tie = rng.random(part.nnz) < (wanted - above) / equal
        part.data[(part.data < least) | ((part.data == least) & ~is_tie)] = 0
        part.eliminate_zeros()
        parts.append(part)
    return sp.csr_array(sp.vstack(parts, format="csr"))


def as_cells(ordered: sp.csr_array) -> Packed:
    """The cells as small numbers, row by row: gaps between columns, and codes of rounded values."""
    counts = np.diff(ordered.indptr)
    gaps = np.diff(ordered.indices.astype(np.int64), prepend=-1) - 1
    first = ordered.indptr[:-1][counts > 0]
    gaps[first] = ordered.indices[first]
    data = ordered.data
    if not are_whole(data):
        unit = 10.0 ** (np.floor(np.log10(data)) - (CELL_DIGITS - 1))
        unit = np.maximum(unit, np.finfo(float).tiny)
        data = np.round(data / unit) * unit
    values, code, times = np.unique(data, return_inverse=True, return_counts=True)
    frequent = np.argsort(-times, kind="stable")
    numbers = {"counts": counts, "gaps": gaps, "codes": ranks(frequent)[code]}
    sections = {name: varints(each) for name, each in numbers.items()}
    return Packed(sections, {"values": values[frequent].tolist()})


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
        places = map_of_side(findings, results.matrix, side)
        if places.shares.any():  # else all elements lie on one point
            points = places.points[order] - np.nanmin(places.points, axis=0)
            steps = np.round(MAP_STEPS * points / np.nanmax(points))  # one unit for both axes
            steps[np.isnan(points)] = MAP_STEPS + 1
            sections[f"{name} map"] = steps.astype("<u2").tobytes()
            facts[name] = places.shares.round(4).tolist()
    return Packed(sections, {"maps": facts})


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
    while (size := len(compress("\n".join(lines).encode()))) > budget:
        number = int(0.95 * budget / size * number)
        for i in order[number:]:
            lines[i] = ""
    return "\n".join(lines).encode(), sum(map(bool, lines))


def snippet(text: str, weights: dict[str, float], width: int = SNIPPET_LENGTH) -> str:
    """The part of a text that has most of these words, each counted once; else its beginning.

    Examples
    --------
    >>> snippet("Good morning. The tea is hot and the rum is old.", {"tea": 2, "rum": 1}, 20)
    '… tea is hot and the …'
    """
    text = " ".join(CONTROL_LETTERS.sub(" ", text[:SNIPPET_READ]).split())
    parts = textwrap.wrap(text, width, break_on_hyphens=False) or [""]

    def weight(part: str) -> float:
        return round(sum(weights.get(word, 0) for word in set(WORD.findall(part.lower()))), 9)

    part = max(parts, key=weight)
    before, after = "" if part is parts[0] else "… ", "" if part is parts[-1] else " …"
    return f"{before}{part}{after}"
