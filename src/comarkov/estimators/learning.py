"""The attributes that a fit sets: labels, confidence, hierarchy and the model for new data."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..costs.labels import renumbered
from ..costs.relations import Information
from ..data.inputs import are_numbers
from ..data.user_warnings import warn_user, without_mass
from ..model.calibration import evidence_exponents
from ..model.confidence import Confidence, confidences, rejected
from ..model.hierarchy import Hierarchy
from ..model.leaves import take_leaves
from ..model.numbering import Orders, canonical_orders, renumbered_path
from ..model.placing import Model
from ..search.coarsening import fine_count
from ..search.coclusters import CoClusters, Step
from ..search.methods import warn_if_unfinished
from ..search.problem import Solution
from ..search.run import Run
from ..search.starts import Start
from .base import Searches

Starts = tuple[Start, Start]


class Learns(Searches):
    """Keeps the solution of a search as fitted attributes."""

    reject: float | None
    beta_: float
    row_labels_: np.ndarray
    column_labels_: np.ndarray
    row_confidence_: np.ndarray
    column_confidence_: np.ndarray
    row_margins_: np.ndarray
    column_margins_: np.ndarray
    row_agreement_: np.ndarray
    column_agreement_: np.ndarray
    row_stability_: np.ndarray
    column_stability_: np.ndarray
    row_evidence_exponent_: float
    column_evidence_exponent_: float
    row_names_in_: np.ndarray
    feature_names_in_: np.ndarray
    n_features_in_: int
    path_: list[Step]
    selection_: np.ndarray
    selection_reason_: str
    beta_selection_: np.ndarray
    cost_: float
    information_: Information
    hierarchy_: Hierarchy
    n_iter_: int
    _model: Model
    _n_features_out: int

    def _keep(self, solution: Solution[CoClusters], starts: Starts, run: Run) -> None:
        """Set the fitted attributes, clusters in canonical order."""
        state = solution.state
        self.information_ = state.information()
        self.beta_ = run.beta
        self.cost_ = self.information_.cost(run.beta)
        self.n_iter_ = state.n_iter
        orders = canonical_orders((state.rows, state.columns), starts)
        self.row_labels_, self.column_labels_ = (
            renumbered(labels, order)
            for labels, order in zip(state.all_labels(), orders, strict=True)
        )
        path = renumbered_path(solution.path or [state.step(run.beta)], orders)
        self._set_or_forget("path_", path if self.keep_path else None)
        names = state.joint.row_names
        self._set_or_forget("row_names_in_", None if names is None or are_numbers(names) else names)
        self._keep_confidence(solution, orders, starts, run)
        self._keep_model(solution, orders, starts, run)

    def _keep_model(
        self, solution: Solution[CoClusters], orders: Orders, starts: Starts, run: Run
    ) -> None:
        """Set the attributes for new data and other levels."""
        data = solution.state.joint
        counts = [fine_count(s) if self.method == "auto" else s.k for s in starts]
        with run.monitor.interruptible():
            rows, columns = take_leaves(solution, orders, counts, run)
        self.hierarchy_ = Hierarchy(rows, columns, run.beta, self.information_)
        self._model = Model(
            rows,
            columns,
            2 * run.beta - 1,
            data.scale,
            data.spread,
            data.row_names,
            data.column_names,
        )
        self._n_features_out = 0 if rows is None else rows.k

    def _keep_confidence(
        self, solution: Solution[CoClusters], orders: Orders, starts: Starts, run: Run
    ) -> None:
        """Set the confidence of labels, and reject those below the limit."""
        exponents = evidence_exponents(solution.state, run)
        for name, gamma in zip(("row", "column"), exponents, strict=True):
            self._set_or_forget(f"{name}_evidence_exponent_", gamma)
        both = confidences(solution, run.beta, exponents)
        for name, sure, order, start in zip(("row", "column"), both, orders, starts, strict=True):
            if sure and order is not None:
                sure = sure._replace(stability=sure.stability[order])
            for part in Confidence._fields:
                self._set_or_forget(f"{name}_{part}_", sure and getattr(sure, part))
            if sure and self.reject is not None:
                labels = getattr(self, f"{name}_labels_")
                kept = rejected(labels, sure.confidence, self.reject, start.fixed)
                setattr(self, f"{name}_labels_", kept)

    def _report(self, state: CoClusters, starts: Starts, run: Run, level: int = 4) -> None:
        """Warn of a search that was stopped, and of empty rows and columns.

        ``level`` is the number of calls between the user's line and this one.
        """
        warn_if_unfinished(state, run, level)
        empty = [int((~start.has_mass).sum()) for start in starts]
        if any(empty):
            warn_user(f"{without_mass(empty, state.joint.shape)}: label -1.")

    def _set_or_forget(self, attribute: str, value: Any) -> None:
        """Set a fitted attribute, or delete that of an earlier fit."""
        if value is not None:
            setattr(self, attribute, value)
        elif hasattr(self, attribute):
            delattr(self, attribute)
