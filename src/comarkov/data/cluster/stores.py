"""Stores on workers: each of them reads its own parts from a folder that all can see."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from ...kernels.matrix import Matrix
from ..inputs import names
from ..parts import part_bounds
from ..store.opening import open_joint
from ..weighting import Weighting
from .client import Cluster
from .forms import form_of_joint
from .joint import ClusterJoint, Side
from .partition import BANDS, Numbered, partitioned
from .parts import Parts, bounds_of, rows_between


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
        parts = Parts(cluster, indptr, bounds, cluster.map(_stored_part, pieces))
        sides.append(Side(parts, np.array(data.row_mass), own))
    cluster.finish([task for side in sides for task in side.parts.futures])
    return ClusterJoint(sides[0], sides[1], form_of_joint(store.joint))


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
