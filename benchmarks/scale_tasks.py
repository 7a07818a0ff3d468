"""What benchmarks of scale measure, each in a process of its own (see ``measuring``); their data.

Planted data: 20 x 20 blocks, with exactly as many non-zeros as asked for, made quickly.

All rows have the same number of entries. Every seventh entry of a row in cluster a is in a column
of cluster a, the others are anywhere: rows overlap, so that sweeps have work to do. A third of the
weights are 2 or more.
"""

import contextlib
import hashlib
import io
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np
import scipy.sparse as sp
from common import least_seconds, newsgroups
from measuring import Clock

import comarkov
from comarkov import CoClustering
from comarkov.joint.joint import joint
from comarkov.search.run import Run, Seed
from comarkov.search.state.side import Side

CLUSTERS = 20
INSIDE = 0.15  # the share of entries in the columns of the row's own cluster
ROWS_AT_A_TIME = 50_000
MOST_WEIGHT = 9
CHAIN = 10**6, 10  # states, and steps from each


class Size(NamedTuple):
    """The size of planted data."""

    rows: int
    columns: int
    entries_a_row: int

    @property
    def entries(self) -> int:
        return self.rows * self.entries_a_row


SIZES = {
    10**6: Size(10_000, 1_000, 100),
    10**7: Size(100_000, 10_000, 100),
    2 * 10**7: Size(200_000, 20_000, 100),
    10**8: Size(1_000_000, 100_000, 100),
    10**9: Size(2_500_000, 250_000, 400),
}


def planted_blocks(entries: int, seed: int = 0) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """Yield the first row, the columns and the weights of some thousand rows at a time.

    Columns and weights have one line for each row.
    """
    size = SIZES[entries]
    rng = np.random.default_rng(seed)
    clusters = np.array_split(rng.permutation(size.columns).astype(np.int32), CLUSTERS)
    offsets = np.cumsum([0, *map(len, clusters)])
    members = np.concatenate(clusters)
    for first in range(0, size.rows, ROWS_AT_A_TIME):
        count = min(ROWS_AT_A_TIME, size.rows - first)
        columns = np.empty((count, size.entries_a_row), np.int32)
        weights = np.empty((count, size.entries_a_row), np.int32)
        labels = row_labels(size.rows)[first : first + count]
        _draw(rng, labels, members, offsets, columns, weights)
        yield first, columns, weights


def row_labels(rows: int) -> np.ndarray:
    """The planted cluster of each row."""
    return np.random.default_rng(1).integers(CLUSTERS, size=rows)


def planted_csr(entries: int, seed: int = 0) -> sp.csr_array:
    """The whole matrix: 4 bytes for the column and 4 for the weight of each entry."""
    size = SIZES[entries]
    indices, data = np.empty(entries, np.int32), np.empty(entries, np.int32)
    for first, columns, weights in planted_blocks(entries, seed):
        part = slice(first * size.entries_a_row, first * size.entries_a_row + columns.size)
        indices[part], data[part] = columns.ravel(), weights.ravel()
    indptr = np.arange(size.rows + 1, dtype=np.int32) * size.entries_a_row
    return sp.csr_array((data, indices, indptr), (size.rows, size.columns))


def write_parquet(entries: int, folder: Path, have_texts: bool = False, seed: int = 0) -> None:
    """Write the entries as Parquet files with a row, a column and a weight.

    Rows are numbered at random and edges are shuffled in each file, so that they must be sorted.
    Rows and columns have numbers or, with ``have_texts``, texts such as "row 17".
    """
    import polars

    rng = np.random.default_rng(seed)
    numbers = rng.permutation(SIZES[entries].rows).astype(np.int32)
    for number, (first, columns, weights) in enumerate(planted_blocks(entries, seed)):
        order = rng.permutation(columns.size)
        rows = np.repeat(numbers[first : first + len(columns)], columns.shape[1])
        table = {"row": rows[order], "column": columns.ravel()[order]}
        table["weight"] = weights.ravel()[order].astype(np.int8)
        edges = polars.DataFrame(table)
        if have_texts:
            edges = edges.with_columns(
                polars.format(f"{s} {{}}", s).alias(s) for s in ("row", "column")
            )
        edges.write_parquet(folder / f"{number:04}.parquet")


@numba.njit(cache=True)
def _draw(rng, labels, members, offsets, columns, weights):
    taken_by = np.full(members.size, -1, np.int64)
    for x in range(columns.shape[0]):
        low, high = offsets[labels[x]], offsets[labels[x] + 1]
        count = 0
        while count < columns.shape[1]:
            is_inside = rng.random() < INSIDE
            place = rng.integers(low, high) if is_inside else rng.integers(0, members.size)
            y = members[place]
            if taken_by[y] == x:
                continue
            taken_by[y] = x
            columns[x, count] = y
            w = 1
            while w < MOST_WEIGHT and rng.random() < 1 / 3:
                w += 1
            weights[x, count] = w
            count += 1
        columns[x].sort()


# --- tasks --------------------------------------------------------------------------------------


def fit_planted(clock: Clock, entries: int, options: dict[str, Any]) -> str:
    """A default fit of planted data in memory; returns a digest of the labels."""
    X = planted_csr(entries)
    _compile()
    return _fit(clock, X, options)


def sweep_and_product(clock: Clock) -> dict[str, float]:
    """Seconds of a sweep that moves few of 5,000 columns, and of SciPy's product; 1e6 rows.

    Labels are the planted ones after a sweep, k = l = 20, β = 0.7.
    """
    entries, rows, columns = 10**7, 10**6, 5000
    SIZES[entries] = Size(rows, columns, entries // rows)
    data = joint(planted_csr(entries)).T
    numbers = np.empty(columns, int)
    members = np.random.default_rng(0).permutation(columns)
    for a, cluster in enumerate(np.array_split(members, CLUSTERS)):
        numbers[cluster] = a
    side = Side(data, numbers, CLUSTERS, np.arange(columns))
    cross = Side(data.T, row_labels(rows), CLUSTERS, np.arange(rows)).cross
    run = Run(0.7, Seed((0,)))
    csr, table = data.csr.astype(float), np.ones((rows, CLUSTERS))
    side.sweep(cross, run)
    with clock:
        sweep = least_seconds(lambda: side.sweep(cross, run), 3)
        product = least_seconds(lambda: csr @ table, 3)
    return {"sweep": sweep, "product": product}


def write_chain(clock: Clock, path: str) -> None:
    """Write the steps between a million states of a chain: nine of ten stay in one of 20 sets."""
    import polars

    rng, states, steps = np.random.default_rng(0), *CHAIN
    label = row_labels(states)
    members = np.argsort(label, kind="stable")
    starts = np.searchsorted(label[members], np.arange(CLUSTERS + 1))
    before = np.repeat(np.arange(states, dtype=np.int32), steps)
    own = label[before]
    near = members[rng.integers(starts[own], starts[own + 1])]
    after = np.where(rng.random(before.size) < 0.9, near, rng.integers(states, size=before.size))
    polars.DataFrame({"from": before, "to": after.astype(np.int32)}).write_parquet(path)


def chain_command(clock: Clock, path: str, out: str) -> float:
    """Run ``comarkov chain`` on them; returns the ARI with the sets."""
    import polars
    from sklearn.metrics import adjusted_rand_score

    from comarkov.__main__ import main

    sys.argv = ["comarkov", "chain", path, "--kind", "edges", "-o", out]
    with clock, contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):
        main()
    found = polars.read_csv(f"{out}/states.csv").sort("name")
    return float(adjusted_rand_score(row_labels(CHAIN[0])[found["name"]], found["cluster"]))


def fit_newsgroups(clock: Clock, options: dict[str, Any]) -> str:
    """A default fit of 20 Newsgroups."""
    X = newsgroups()
    _compile()
    return _fit(clock, X, options)


def fit_store(clock: Clock, path: str, options: dict[str, Any]) -> str:
    """A default fit of a store, whose files are read before: they are in the page cache."""
    for file in Path(path).rglob("*.npy"):
        with file.open("rb") as content:
            while content.read(1 << 24):
                pass
    _compile()
    return _fit(clock, comarkov.read(path), options)


def write_edges(clock: Clock, entries: int, folder: str, have_texts: bool) -> None:
    """Write planted edges as Parquet files."""
    with clock:
        write_parquet(entries, Path(folder), have_texts)


def pack(clock: Clock, folder: str, store: str, memory_limit: str) -> int:
    """Pack Parquet files into a store; returns its number of entries."""
    with clock:
        packed = comarkov.pack(folder, store, memory_limit=memory_limit)
    return packed.joint.nnz


def group(clock: Clock, folder: str) -> int:
    """Read and group the same files with polars."""
    import polars

    with clock:
        edges = polars.scan_parquet(f"{folder}/*.parquet")
        weight = polars.col("weight").cast(polars.Int64).sum()
        table = edges.group_by("row", "column").agg(weight).collect()
    return len(table)


def estimate_planted(clock: Clock, entries: int) -> dict[str, float]:
    """Predict a fit of planted data."""
    X = planted_csr(entries)
    return _estimate(clock, X)


def estimate_newsgroups(clock: Clock) -> dict[str, float]:
    """Predict a fit of 20 Newsgroups."""
    return _estimate(clock, newsgroups())


def estimate_store(clock: Clock, path: str) -> dict[str, float]:
    """Predict a fit of a store."""
    return _estimate(clock, comarkov.read(path))


def _estimate(clock: Clock, X: Any) -> dict[str, float]:
    _compile()
    with clock:
        estimate = CoClustering(CLUSTERS, random_state=0).estimate(X)
    return {"seconds": estimate.seconds, "memory": estimate.memory}


def _compile() -> None:
    """Load the kernels of small and large data, or compile them."""
    CoClustering(CLUSTERS, random_state=0).fit(planted_csr(10**7)[:11_000])


def _fit(clock: Clock, X: Any, options: dict[str, Any]) -> str:
    model = CoClustering(CLUSTERS, random_state=0, **options)
    with clock:
        model.fit(X)
    labels = model.row_labels_.tobytes() + model.column_labels_.tobytes()
    return hashlib.md5(labels, usedforsecurity=False).hexdigest()
