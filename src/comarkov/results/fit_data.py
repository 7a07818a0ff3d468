"""The data of a fit, passed again: checked against the fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..costs.objective import mutual_information
from ..io.read.fit_input import fit_input
from ..io.read.naming import distinct
from ..io.store.opening import joint_weighed_by
from ..joint.inputs import are_numbers, as_csr, is_on_disk, names
from ..joint.joint import Joint, with_names
from ..joint.messages import InputError
from ..joint.parts import block_sums
from ..search.state.coclusters import Step
from .findings import Findings, findings_of

Names = tuple[list[str] | None, list[str] | None]


def joint_of_fit(fitted: Any, X: Any) -> Joint:
    """X as the fit saw it, with the names of the fit; an error if it is other data."""
    X = fit_input(X)
    csr, model = as_csr(X), fitted._model
    shape = fitted.row_labels_.size, fitted.column_labels_.size
    difference = "has other weights, or has them elsewhere"
    if csr.shape == shape:
        data = joint_weighed_by(X if is_on_disk(X) else csr, fitted.weighting_)
        if model.has_masses_of(data):
            return with_names(data, model.row_names, model.column_names)
    else:
        difference = "has {} rows x {} columns, not {} x {}".format(*csr.shape, *shape)
    raise InputError(
        f"X is not the matrix of the fit. It {difference}.",
        advice="Pass the same rows and columns in the same order.",
    )


def findings_on(fitted: Any, X: Any, weighted: Joint) -> Findings:
    """The findings of a fitted model on its data X, with these weights."""
    kinds = getattr(X, "row_kind", "row"), getattr(X, "column_kind", "column")
    return findings_of(fitted, names_of_fit(fitted, X), kinds, weighted.csr)


def names_of_fit(fitted: Any, X: Any) -> Names:
    """The names of X or, if it has none, those of the fit; None if neither has names.

    Elements with the same name get their positions added, as in data that are read.
    """
    of_fit = getattr(fitted, "row_names_in_", None), getattr(fitted, "feature_names_in_", None)
    rows, columns = (
        distinct(known if given is None or are_numbers(given) else given)
        for given, known in zip(names(X), of_fit, strict=True)
    )
    return rows, columns


class View(NamedTuple):
    """A co-clustering at one β."""

    beta: float
    cost: float  #: L_β in bits
    kept: float  #: the share I(X̄;Ȳ) / I(X;Y)
    is_fit: bool


def views(findings: Findings, weights: sp.csr_array, path: Sequence[Step]) -> list[View]:
    """What the steps of a path keep; the fit replaces the step at its β."""
    others = [step for step in path if not np.isclose(step.beta, findings.beta)]
    views = [_view(findings, weights, step) for step in others]
    kept = findings.information.kept
    views.append(View(findings.beta, findings.cost, kept, is_fit=True))
    return sorted(views, key=lambda view: view.beta)


def _view(findings: Findings, weights: sp.csr_array, step: Step) -> View:
    labels = step.row_labels, step.column_labels
    for given, side in zip(labels, findings.sides, strict=True):
        if given.shape != side.labels.shape:
            counts = f"{given.size} labels for {side.labels.size} {side.kinds}"
            raise InputError(f"The path has {counts}: it belongs to other data.")
    (rows, k), (columns, m) = (
        side.blocks_of(each) for each, side in zip(labels, findings.sides, strict=True)
    )
    blocks = block_sums(weights, (rows, columns), (k, m))
    blocks /= blocks.sum()
    known = findings.information._replace(row_clusters_column_clusters=mutual_information(blocks))
    return View(step.beta, step.cost, known.kept, is_fit=False)
