"""What benchmarks of scale measure, each in a process of its own; see ``measuring``."""

import hashlib
from pathlib import Path
from typing import Any

from common import newsgroups
from measuring import Clock
from scale_data import CLUSTERS, planted_csr
from scale_data import write_edges as write_parquet

import comarkov
from comarkov import CoClustering


def fit_planted(clock: Clock, entries: int, options: dict[str, Any]) -> str:
    """A default fit of planted data in memory; returns a digest of the labels."""
    X = planted_csr(entries)
    _compile()
    return _fit(clock, X, options)


def fit_newsgroups(clock: Clock, options: dict[str, Any]) -> str:
    """The same of 20 Newsgroups."""
    X = newsgroups()
    _compile()
    return _fit(clock, X, options)


def fit_store(clock: Clock, path: str, options: dict[str, Any]) -> str:
    """The same of a store; its files are read once before, so that they are in the page cache."""
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
