"""What the Dask engine takes, and how each of it becomes a joint distribution on workers."""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ...io import files
from ...io.store.opening import open_joint, open_store, weighted_joint
from ...joint.inputs import names
from ...joint.joint import Joint
from ...joint.parts import part_bounds
from ...joint.weighting import Weighting
from ...kernels.matrix import Matrix
from . import dask_edges
from .dask_client import Cluster
from .dask_joint import (
    ClusterJoint,
    DaskSide,
    Parts,
    bounds_of,
    form_of_joint,
    rows_between,
    sent_parts,
)
from .dask_partition import BANDS, Numbered, as_band, partitioned


def from_store(store: Any, weighting: Weighting | None, cluster: Cluster) -> ClusterJoint:
    """Let workers read their parts of a store, which all of them can see."""
    if weighting is not None:
        bands = cluster.map(_stored_band, _cuts(store, cluster))
        return partitioned(Numbered(bands, *names(store)), weighting, cluster)
    sides = []
    both = store.joint, store.joint.T
    for turned, (data, own) in enumerate(zip(both, names(store), strict=True)):
        indptr = np.array(data.matrix.indptr)
        bounds = bounds_of(indptr, data.shape[1])
        pieces = [(str(store.path), bool(turned), int(a), int(b)) for a, b in pairwise(bounds)]
        parts = Parts(cluster, bounds, cluster.map(_stored_part, pieces))
        cluster.finish(parts.futures)
        sides.append(DaskSide(bounds, np.array(data.row_mass), own, parts))
    return ClusterJoint(sides[0], sides[1], form_of_joint(store.joint), store.joint.nnz)


def _cuts(store: Any, cluster: Cluster) -> list[tuple[str, int, int]]:
    bounds = np.unique(part_bounds(store.joint.matrix.indptr, BANDS * len(cluster.workers)))
    return [(str(store.path), int(a), int(b)) for a, b in pairwise(bounds)]


def _stored_part(piece: tuple[str, bool, int, int]) -> Matrix:
    """Return rows, or columns, of a store."""
    path, turned, start, stop = piece
    whole = open_joint(path)
    return rows_between((whole.T if turned else whole).matrix, start, stop)


def _stored_band(piece: tuple[str, int, int]) -> sp.csr_array:
    """Return rows of a store in canonical CSR."""
    path, start, stop = piece
    whole = open_joint(path)
    band = whole.csr[start:stop].astype(np.float64) * whole.scale
    band.sort_indices()
    return band


def is_dask_frame(X: Any) -> bool:
    """Is X a Dask DataFrame?"""
    return hasattr(X, "dask") and hasattr(X, "npartitions") and hasattr(X, "columns")


def is_dask_array(X: Any) -> bool:
    """Is X a Dask array?"""
    return hasattr(X, "dask") and hasattr(X, "chunks")


def is_distributed(X: Any) -> bool:
    """Is X an object of Dask, or a folder, rather than a matrix in memory?"""
    return is_dask_frame(X) or is_dask_array(X) or isinstance(X, str | os.PathLike)


def refuse_dask(X: Any) -> None:
    """Raise an error about an object of Dask, which only one engine takes."""
    if is_dask_frame(X) or is_dask_array(X):
        raise ValueError(
            f"X is a Dask {'DataFrame' if is_dask_frame(X) else 'array'}. Fit it on the cluster "
            'with CoClustering(engine="dask"), or pass X.compute() if it fits into memory.'
        )


def is_store(X: Any) -> bool:
    """Is X a store?"""
    return hasattr(X, "joint") and hasattr(X, "path")


def cluster_joint(X: Any, weighting: Weighting | None, cluster: Cluster) -> ClusterJoint:
    """Return the joint distribution of the weighted X on workers; fits the weighting.

    X is a Dask DataFrame of edges, a Dask array of sparse or dense blocks, a store or a folder of
    Parquet files of edges that all workers can see, or anything in memory that ``joint`` takes.
    """
    if isinstance(X, str | os.PathLike) and files.is_store(Path(X)):
        X = open_store(X)
    if is_store(X):
        return from_store(X, weighting, cluster)
    if is_distributed(X):
        return partitioned(_numbered(X, cluster), weighting, cluster)
    return from_memory(weighted_joint(X, weighting), cluster)


def from_memory(whole: Joint, cluster: Cluster) -> ClusterJoint:
    """Send a matrix in memory to workers, in parts."""
    sides = []
    for data in (whole, whole.T):
        parts = sent_parts(data, cluster)
        sides.append(DaskSide(parts.bounds, data.row_mass, data.row_names, parts))
    return ClusterJoint(sides[0], sides[1], form_of_joint(whole), whole.nnz)


def _numbered(X: Any, cluster: Cluster) -> Numbered:
    """Return the rows of X in bands on workers."""
    if is_dask_array(X):
        return _from_array(X, cluster)
    if is_dask_frame(X):
        return dask_edges.banded(dask_edges.from_frame(X, cluster), cluster)
    return dask_edges.banded(dask_edges.from_parquet(Path(X), cluster), cluster)


def _from_array(X: Any, cluster: Cluster) -> Numbered:
    """Return the rows of blocks of a Dask array."""
    if X.ndim != 2:
        raise ValueError(
            f"The Dask array has {X.ndim} dimensions. Pass one with two: rows, columns."
        )
    blocks = X.to_delayed()
    futures = cluster.compute(blocks.ravel())
    n, m = blocks.shape
    return Numbered(cluster.map(as_band, [futures[i * m : (i + 1) * m] for i in range(n)]))
