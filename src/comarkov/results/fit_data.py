"""The data of a fit, passed again: checked against the fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..costs.labels import matched
from ..costs.lift import mutual_information
from ..io.read.fit_input import fit_input
from ..io.read.naming import distinct
from ..io.store.opening import joint_weighed_by
from ..joint.inputs import are_numbers, as_csr, is_on_disk, names
from ..joint.joint import Joint, with_names
from ..joint.messages import InputError, plural
from ..joint.parts import block_sums
from ..search.state.coclusters import Step
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


def _not_of_the_fit(difference: str) -> InputError:
    advice = "Pass the same rows and columns in the same order."
    return InputError(f"X is not the matrix of the fit. {difference}", advice=advice)


class View(NamedTuple):
    """A co-clustering at one β."""

    beta: float
    cost: float  #: L_β in bits
    kept: float  #: the share I(X̄;Ȳ) / I(X;Y)
    row_labels: np.ndarray
    column_labels: np.ndarray
    blocks: np.ndarray  #: P(x̄, ȳ)
    is_fit: bool

    @property
    def facts(self) -> dict[str, float | bool]:
        """What is known of it without its clusters."""
        return {"beta": self.beta, "cost": self.cost, "kept": self.kept, "is_fit": self.is_fit}


def views(findings: Findings, weights: sp.csr_array, path: Sequence[Step]) -> list[View]:
    """The steps of a path, numbered like the fit, which replaces the step at its β."""
    fit = View(
        beta=findings.beta,
        cost=findings.cost,
        kept=findings.information.kept,
        row_labels=findings.rows.labels,
        column_labels=findings.columns.labels,
        blocks=findings.blocks,
        is_fit=True,
    )
    others = [step for step in path if not np.isclose(step.beta, findings.beta)]
    views = [fit, *(_view(findings, weights, step) for step in others)]
    return sorted(views, key=lambda view: view.beta)


def _view(findings: Findings, weights: sp.csr_array, step: Step) -> View:
    labels = []
    for given, side in zip((step.row_labels, step.column_labels), findings.sides, strict=True):
        if given.shape != side.labels.shape:
            counts = f"{given.size} labels for {side.labels.size} {plural(side.kind)}"
            raise InputError(f"The path has {counts}: it belongs to other data.")
        labels.append(matched(given, side.labels) if side.is_clustered else given)
    (rows, k), (columns, m) = (
        side.blocks_of(each) for each, side in zip(labels, findings.sides, strict=True)
    )
    blocks = block_sums(weights, (rows, columns), (k, m))
    blocks /= blocks.sum()
    known = findings.information._replace(row_clusters_column_clusters=mutual_information(blocks))
    return View(step.beta, step.cost, known.kept, labels[0], labels[1], blocks, False)
