"""Co-clusterings of the same data at several β, as the report's slider shows them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from ..costs.labels import matched
from ..data.nouns import plural
from ..data.row_ranges import block_sums
from ..search.coclusters import Step
from .findings import Findings, information_of


class View(NamedTuple):
    """A co-clustering at one β."""

    beta: float
    cost: float  #: L_β in bits
    kept: float  #: the share I(X̄;Ȳ) / I(X;Y)
    row_labels: np.ndarray
    column_labels: np.ndarray
    blocks: np.ndarray  #: P(x̄, ȳ)
    is_fit: bool


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
    for given, side in ((step.row_labels, findings.rows), (step.column_labels, findings.columns)):
        if given.shape != side.labels.shape:
            raise ValueError(
                f"The path has {given.size} labels for {side.labels.size} {plural(side.kind)}: "
                "it belongs to other data."
            )
        labels.append(matched(given, side.labels) if side.is_clustered else given)
    (rows, k), (columns, m) = (
        side.blocks_of(each) for each, side in zip(labels, findings.sides, strict=True)
    )
    blocks = block_sums(weights, (rows, columns), (k, m))
    blocks /= blocks.sum()
    known = findings.information._replace(row_clusters_column_clusters=information_of(blocks))
    return View(step.beta, step.cost, known.kept, labels[0], labels[1], blocks, False)
