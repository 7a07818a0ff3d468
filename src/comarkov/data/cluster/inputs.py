"""What the Dask engine takes, and how each of it becomes a joint distribution on workers."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from .. import own_folders
from ..joint import Joint
from ..store.opening import open_store
from ..weighted import weighted_joint
from ..weighting import Weighting
from . import edges
from .bands import as_band
from .client import Cluster
from .forms import form_of_joint
from .joint import ClusterJoint, Side
from .partition import Numbered, partitioned
from .parts import sent_parts
from .stores import from_store


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
    if isinstance(X, str | os.PathLike) and own_folders.is_store(Path(X)):
        X = open_store(X)
    if is_store(X):
        return from_store(X, weighting, cluster)
    if is_distributed(X):
        return partitioned(_numbered(X, cluster), weighting, cluster)
    return from_memory(weighted_joint(X, weighting), cluster)


def from_memory(whole: Joint, cluster: Cluster) -> ClusterJoint:
    """Send a matrix in memory to workers, in parts."""
    return ClusterJoint(
        Side(sent_parts(whole, cluster), whole.row_mass, whole.row_names),
        Side(sent_parts(whole.T, cluster), whole.T.row_mass, whole.column_names),
        form_of_joint(whole),
    )


def _numbered(X: Any, cluster: Cluster) -> Numbered:
    """Return the rows of X in bands on workers."""
    if is_dask_array(X):
        return _from_array(X, cluster)
    if is_dask_frame(X):
        return edges.banded(edges.from_frame(X, cluster), cluster)
    return edges.banded(edges.from_parquet(Path(X), cluster), cluster)


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
