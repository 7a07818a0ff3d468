"""The data of a fit, passed again: checked against the fit."""

from __future__ import annotations

from typing import Any

from ..io.read.fit_input import fit_input
from ..io.read.naming import distinct
from ..io.store.opening import joint_weighed_by
from ..joint.inputs import are_numbers, as_csr, is_on_disk, names
from ..joint.joint import Joint, with_names
from ..joint.messages import InputError
from .findings import Findings, findings_of

Names = tuple[list[str] | None, list[str] | None]


def joint_of_fit(fitted: Any, X: Any) -> Joint:
    """X as the fit saw it, with the names of the fit; an error if it is other data."""
    X = fit_input(X)
    csr, model = as_csr(X), fitted._model
    shape = fitted.row_labels_.size, fitted.column_labels_.size
    difference = "has other weights, or has them elsewhere"
    if csr.shape == shape:
        counted = getattr(fitted, "sample_weight_", None)
        data = joint_weighed_by(X if is_on_disk(X) else csr, fitted.weighting_, counted)
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
