"""Weighted data as a joint distribution, in memory or on disk."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from .inputs import as_csr, is_on_disk, named_csr
from .joint import Joint, joint
from .store.weighing import fit_weighting as learn_from_store
from .store.weighing import weighed
from .weighting import Weighting


def weighted_joint(X: Any, weighting: Weighting | None) -> Joint:
    """The joint distribution of the weighted X, with its names; fits the weighting."""
    if weighting is not None:
        fit_weighting(X, weighting)
    return joint_weighed_by(X, weighting)


def fit_weighting(X: Any, weighting: Weighting) -> None:
    """Let a weighting learn from X, a few rows at a time if it is on disk."""
    if is_on_disk(X):
        learn_from_store(X, weighting)
    else:
        weighting.fit(as_csr(X))


def joint_weighed_by(X: Any, weighting: Weighting | None) -> Joint:
    """The same with a weighting that is fitted already."""
    if weighting is None:
        return joint(X)
    if is_on_disk(X):
        return weighed(X, weighting)
    csr, rows, columns = named_csr(X)
    return replace(joint(weighting.weigh_rows(csr)), row_names=rows, column_names=columns)
