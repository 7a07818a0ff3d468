"""The data of a fit, passed again: checked against the fit."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data.inputs import are_numbers, as_csr, is_on_disk, names
from ..data.joint import Joint, with_names
from ..data.reading.fit_input import fit_input
from ..data.reading.naming import distinct
from ..data.weighted import joint_weighed_by
from .findings import Findings, findings_of

Names = tuple[list[str] | None, list[str] | None]


def joint_of_fit(fitted: Any, X: Any) -> Joint:
    """X as the fit saw it, with the names of the fit; an error if it is other data."""
    X = fit_input(X)
    csr = as_csr(X)
    (n, m), (rows, columns) = csr.shape, (fitted.row_labels_.size, fitted.column_labels_.size)
    if (n, m) != (rows, columns):
        raise _not_of_the_fit(f"It has {n} rows x {m} columns, not {rows} x {columns}.")
    of_fit = fitted._model.row_names, fitted._model.column_names
    for given, known, axis in zip(names(X), of_fit, ("row", "column"), strict=True):
        _check_order(given, known, axis)
    data = joint_weighed_by(X if is_on_disk(X) else csr, fitted.weighting_)
    if not fitted._model.has_masses_of(data):
        raise _not_of_the_fit("It has other weights, or has them elsewhere.")
    return with_names(data, *of_fit)


def findings_on(fitted: Any, X: Any, weighted: Joint) -> Findings:
    """The findings of a fitted model on its data X, with these weights."""
    kinds = getattr(X, "row_kind", "row"), getattr(X, "column_kind", "column")
    return findings_of(fitted, names_of_fit(fitted, X), kinds, weighted.csr)


def names_of_fit(fitted: Any, X: Any = None) -> Names:
    """The names of X or, if it has none, those of the fit; None if neither has names.

    Elements with the same name get their positions added, as in data that are read.
    """
    of_fit = getattr(fitted, "row_names_in_", None), getattr(fitted, "feature_names_in_", None)
    rows, columns = (
        distinct(known if given is None or are_numbers(given) else given)
        for given, known in zip(names(X), of_fit, strict=True)
    )
    return rows, columns


def _check_order(given: np.ndarray | None, known: np.ndarray | None, axis: str) -> None:
    """Raise an error if a name has another position than in the fit; new names are fine."""
    if given is None or known is None:
        return
    of_fit = set(known.tolist())
    for name, own in zip(given.tolist(), known.tolist(), strict=True):
        if name is not own and name != own and name in of_fit:
            raise _not_of_the_fit(f"Where the fit had the {axis} {own!r} it has {name!r}.")


def _not_of_the_fit(difference: str) -> ValueError:
    return ValueError(
        "X is not the matrix of the fit: pass the same rows and columns in the same order. "
        f"{difference}"
    )
