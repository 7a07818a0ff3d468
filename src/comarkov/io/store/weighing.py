"""The weighted matrix of a store, on disk like the store itself."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ...joint.inputs import as_csr, is_on_disk, named_csr, names
from ...joint.joint import Joint, joint, with_names
from ...joint.weighting import Weighting, frequencies, row_sums
from .building import Block, MatrixWriter, canonical_blocks, map_joint, settle, write_columns
from .layout import ROWS
from .opening import Store

TRANSPOSE_MEMORY = 1 << 28  # bytes for sorting


def fit_weighting_on_disk(store: Store, weighting: Weighting) -> None:
    """Let a weighting learn from a store, a few rows at a time."""
    data, (n, m) = store.joint, store.shape
    lengths, entries = np.empty(n), np.zeros(m, np.int64)
    for rows, csr in canonical_blocks(data.matrix, m, data.scale):
        lengths[rows] = row_sums(csr)
        entries += frequencies(csr)
    weighting.learn(lengths, entries, (n, m))
    if weighting.makes_uniform:
        masses = np.empty(n)
        for rows, csr in canonical_blocks(data.matrix, m, data.scale):
            masses[rows] = row_sums(weighting.weigh_before_division(csr))
        weighting.row_masses_ = masses


def weighed(store: Store, weighting: Weighting) -> Joint:
    """The weighted matrix of a store in temporary files, which vanish when it is not used."""
    folder = Path(tempfile.mkdtemp(prefix=".comarkov-", dir=_place(store.path)))
    try:
        data, m = store.joint, store.shape[1]
        with MatrixWriter(folder / ROWS, np.float64) as writer:
            for _, csr in canonical_blocks(data.matrix, m, data.scale):
                weights = weighting.weigh_rows(csr)
                writer.add(Block(weights.indptr, weights.indices, weights.data))
        about = settle(folder, store.shape, writer)
        about = write_columns(folder, about, TRANSPOSE_MEMORY, lambda *_: None)
        weighted = map_joint(folder, about)
    finally:
        shutil.rmtree(folder, ignore_errors=True)  # mapped files stay where the system allows it
    if folder.exists():
        weakref.finalize(weighted.matrix.indices, shutil.rmtree, folder, ignore_errors=True)
    return with_names(weighted, *names(store))


def _place(path: Path) -> Path | None:
    """Beside the store, where there is room for such files, if it can be written."""
    return path.parent if os.access(path.parent, os.W_OK) else None


def weighted_joint(X: Any, weighting: Weighting | None) -> Joint:
    """The joint distribution of the weighted X, with its names; fits the weighting."""
    if weighting is not None:
        fit_weighting(X, weighting)
    return joint_weighed_by(X, weighting)


def fit_weighting(X: Any, weighting: Weighting) -> None:
    """Let a weighting learn from X, a few rows at a time if it is on disk."""
    if is_on_disk(X):
        fit_weighting_on_disk(X, weighting)
    else:
        weighting.fit(as_csr(X))


def joint_weighed_by(X: Any, weighting: Weighting | None) -> Joint:
    """The joint distribution of X, weighted by a weighting that is fitted already."""
    if weighting is None:
        return joint(X)
    if is_on_disk(X):
        return weighed(X, weighting)
    csr, rows, columns = named_csr(X)
    return replace(joint(weighting.weigh_rows(csr)), row_names=rows, column_names=columns)
