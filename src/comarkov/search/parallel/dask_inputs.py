"""What only the Dask engine takes, packed into a store on the disk of the client.

The results of tasks come to the client one after another, so it needs room on its disk, but little
memory. Everything is read as by ``pack``, and so the fit is that of the same data in memory.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ...io.files import is_store
from ...io.store.building import map_joint, write_blocks
from ...io.store.opening import Store, open_store
from ...io.store.packing import pack
from ...joint.inputs import as_csr
from ...joint.objects import is_dask
from .dask_client import Cluster


def is_distributed(X: Any) -> bool:
    """Is X an object of Dask, or a folder, rather than a matrix in memory?"""
    return is_dask(X) or isinstance(X, str | os.PathLike)


def local_store(X: Any, cluster: Cluster) -> Store:
    """Return a store with X, in temporary files unless X is the path of one.

    X is a Dask DataFrame of edges, a Dask array of sparse or dense blocks, a store, or a folder of
    Parquet or CSV files of edges.
    """
    if isinstance(X, str | os.PathLike) and is_store(Path(X)):
        return open_store(X)
    folder = Path(tempfile.mkdtemp(prefix="comarkov-"))
    try:
        if isinstance(X, str | os.PathLike):
            store = pack(X, folder / "store")
        elif hasattr(X, "columns"):
            store = _pack_frame(X, folder, cluster)
        else:
            store = _pack_array(X, folder, cluster)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    weakref.finalize(store.joint.matrix.indices, shutil.rmtree, folder, ignore_errors=True)
    return store


def _pack_frame(frame: Any, folder: Path, cluster: Cluster) -> Store:
    """Pack edges: the columns are rows, columns and, if there is a third, weights."""
    columns = list(frame.columns)
    if len(columns) not in (2, 3):
        raise ValueError(
            f"The Dask DataFrame has {len(columns)} columns ({', '.join(map(str, columns))}), but "
            "a list of edges has two or three: rows, columns and weights. Choose them, for "
            "example X[['user', 'item', 'weight']]."
        )
    edges = folder / "a Dask DataFrame"
    edges.mkdir()
    for i, (part,) in enumerate(_results([[part] for part in frame.to_delayed()], cluster)):
        part.rename(columns=str).to_parquet(edges / f"{i:09}.parquet", index=False)
    store = pack(edges, folder / "store", kind="edges")
    shutil.rmtree(edges)
    return store


def _pack_array(X: Any, folder: Path, cluster: Cluster) -> Store:
    if X.ndim != 2:
        raise ValueError(
            f"The Dask array has {X.ndim} dimensions. Pass one with two: rows, columns."
        )
    bands = (
        sp.csr_array(sp.hstack([as_csr(block) for block in blocks], format="csr"))
        for blocks in _results(X.to_delayed(), cluster)
    )
    dtype = np.float32 if X.dtype == np.float32 else np.float64
    about = write_blocks(folder, bands, dtype)
    return Store.of(map_joint(folder, about), folder, about)


def _results(delayed: Iterable[Any], cluster: Cluster) -> Iterator[list[Any]]:
    """Yield the results of each of some rows of delayed values; workers compute all of them."""
    started = deque(cluster.client.compute(list(row)) for row in delayed)
    while started:
        yield cluster.client.gather(started.popleft())
