"""Results: a fitted model with its data, in words, tables, pictures and files."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from ..io.files import is_results, whole_folder
from ..io.read import Data
from ..io.read.fit_input import fit_input
from ..joint.inputs import as_csr
from ..joint.joint import Joint
from ..joint.messages import need, plural
from ..joint.parts import block_sums
from ..search.state.coclusters import Step
from . import report
from .files import blocks_csv, elements_csv, fill
from .findings import Feature, Findings, SideFindings
from .fit_data import View, findings_on, joint_of_fit, names_of_fit, views
from .levels import SideLevels
from .notebook import glance
from .text import describe, headline, top_features
from .words.given_titles import Titles, entitled
from .words.next_steps import weight_of
from .words.sentences import plain, strongest
from .words.titles import node_titles

PACKAGES = ("comarkov", "numpy", "scipy", "scikit-learn", "numba")


@dataclass(frozen=True, eq=False)
class Results:
    """The results of a fitted co-clustering on its data, and the files about them.

    Attributes
    ----------
    findings : Findings
        Members, clusters, blocks and distinctive elements, as numbers with names.
    fitted : CoClustering
        The model at the time the results were made.
    data : Data
        As they were read, before weighting.
    path : sequence of Step or None
        The co-clusterings at many β, if given.
    total : float
        The sum of all weights.
    entries : ndarray
        The number of non-zero cells in each block.
    views : list of View
        The co-clusterings at each β of a path, including the fit; without a path the fit alone.
    selection, beta_selection : structured ndarray or None
        The evidence for numbers of clusters and for β, where they were chosen.
    selection_reason : str
        Why these numbers of clusters were chosen; empty if they were given.
    parameters : dict
        All parameters of the model.
    versions : dict
        The versions of Python and of the packages used.
    source, command, folder : str
        What was read, the command that did it, and where results were written; empty if unknown.

    Examples
    --------
    >>> from comarkov import CoClustering, Results, datasets
    >>> women = datasets.load("southern-women")
    >>> model = CoClustering((2, 3), random_state=0).fit(women.matrix)
    >>> results = Results.of(model, women)
    >>> results.findings.rows.typical(1, n=3)
    ['Sylvia Avondale', 'Katherina Rogers', 'Helen Lloyd']
    """

    findings: Findings
    fitted: Any
    data: Data
    path: Sequence[Step] | None
    total: float
    entries: np.ndarray
    views: list[View]
    selection: np.ndarray | None
    beta_selection: np.ndarray | None
    selection_reason: str
    model: str
    parameters: dict[str, Any]
    versions: dict[str, str]
    source: str = ""
    command: str = ""
    folder: str = ""

    @classmethod
    def of(
        cls,
        model: Any,
        data: Any,
        *,
        path: Sequence[Step] | None = None,
        command: str = "",
        weighted: Joint | None = None,
        titles: Titles | None = None,
    ) -> Self:
        """The results of a fitted model on the data of its fit.

        Parameters
        ----------
        model : CoClustering
            Fitted.
        data : matrix, data frame or Data of the fit
            What was passed to ``fit``, or the same weights in the same order in any other form that
            ``fit`` takes. Names are those of the data, else those of the fit, else numbers;
            ``Data`` also names what rows and columns are.
        path : sequence of Step, default=None
            Co-clusterings at many β, as ``beta_path`` returns them; None uses ``path_``.
        command : str, default=""
            The command line that made the results, to be shown.
        weighted : Joint, default=None
            The data as weighted by the fit, if you still have them, which saves time; None
            weights ``data`` again and checks that they are those of the fit.
        titles : mapping or path of a JSON file, default=None
            Your titles for clusters, ``{"rows": {0: "..."}, "columns": [...]}``, by number or in
            order; other clusters keep their automatic titles.
        """
        check_is_fitted(model)
        _refuse_other_models(model)
        data = fit_input(data)
        weighted = joint_of_fit(model, data) if weighted is None else weighted
        findings = entitled(findings_on(model, data, weighted), titles)
        data = _as_data(data, model, findings)
        steps = getattr(model, "path_", ()) if path is None else path
        return cls(
            findings=findings,
            fitted=copy(model),
            data=data,
            path=path,
            total=weighted.total * weighted.scale,
            entries=_entries(findings, data.matrix),
            views=views(findings, weighted.csr, steps),
            selection=getattr(model, "selection_", None),
            beta_selection=getattr(model, "beta_selection_", None),
            selection_reason=_named_reason(getattr(model, "selection_reason_", ""), findings),
            model=repr(model),
            parameters=model.get_params(deep=False),
            versions={name: version(name) for name in PACKAGES}
            | {"python": platform.python_version()},
            source=data.source,
            command=command,
        )

    @property
    def matrix(self) -> sp.csr_array:
        """The data as they were read."""
        return self.data.matrix

    @property
    def title(self) -> str:
        """The name of the data."""
        return Path(self.source).name or "Co-clustering"

    @property
    def headline(self) -> str:
        """The size of the data, the numbers of clusters and the information kept."""
        return headline(self.findings)

    def describe(self, n: int = 5) -> str:
        """The results in sentences, then each cluster with its members and distinctive elements."""
        return describe(self.findings, n, self.selection_reason, weight_of(self))

    def __repr__(self) -> str:
        strong = strongest(self.findings, weight_of(self), 1)
        subject = f"Results of {self.title}:" if self.source else "Results:"
        return " ".join([subject, self.headline, *map(plain, strong)])

    def _repr_html_(self) -> str:
        """What a notebook shows: the headline, the blocks and the clusters."""
        return glance(self.findings, self.data.named, weight_of(self))

    def top_features(self, cluster: int | None = None, n: int = 10, side: str = "rows") -> Any:
        """The n most distinctive elements of the other side for a cluster, or for each cluster."""
        return top_features(self.findings, cluster, n, side)

    def tables(self) -> dict[str, str]:
        """The text of rows.csv, columns.csv and blocks.csv."""
        return {
            "rows.csv": elements_csv(self.findings.rows),
            "columns.csv": elements_csv(self.findings.columns),
            "blocks.csv": blocks_csv(self),
        }

    def cut(self, n_clusters: int | tuple[int | None, int | None], *, command: str = "") -> Self:
        """The results at another level of the hierarchy, as the report's sliders show it.

        Parameters
        ----------
        n_clusters : int or pair of (int or None)
            As for ``CoClustering.cut``.
        command : str, default=""
            The command line that made the results, to be shown.

        Examples
        --------
        >>> from comarkov import CoClustering, Results, datasets
        >>> women = datasets.load("southern-women")
        >>> model = CoClustering((2, 3), random_state=0).fit(women.matrix)
        >>> coarse = Results.of(model, women).cut((2, 1))
        >>> coarse.findings.columns.n_clusters
        1
        """
        model = self.fitted.cut(n_clusters)
        titles = {f"{side.axis}s": _titles_at(side, model) for side in self.findings.sides}
        return type(self).of(model, self.data, command=command, titles=titles)

    def to_html(self) -> str:
        """The report: one page that needs no network."""
        return report.render(self, self.tables())

    def write(
        self,
        folder: str | os.PathLike[str],
        overwrite: bool = False,
        for_spreadsheets: bool = False,
    ) -> None:
        """Write all files into a new folder, atomically: you get all of it or none.

        The files are those of ``comarkov fit``: rows.csv, columns.csv, blocks.csv, clusters.md,
        summary.json, heatmap.png and report.html, the model in model and the data in data.npz;
        with a path also path.npz and path.png. ``comarkov.load`` and the command line read the
        folder.

        Parameters
        ----------
        folder : path
            Missing parent folders are created.
        overwrite : bool, default=False
            Replace earlier results; any other folder is left as it is.
        for_spreadsheets : bool, default=False
            Write CSV files for spreadsheet programs: names that these would run as formulas, such
            as =1+1, get an apostrophe in front. By default all names are unchanged.
        """
        need("Writing results", "jinja2", "matplotlib")
        with whole_folder(folder, overwrite, is_results) as draft:
            fill(replace(self, folder=str(folder)), draft, for_spreadsheets)


def _refuse_other_models(model: Any) -> None:
    """Raise an error for a model that has results of another kind."""
    kinds = {"MarkovAggregation": "ChainResults", "MultiwayClustering": "MultiwayResults"}
    own = next((kinds[base.__name__] for base in type(model).__mro__ if base.__name__ in kinds), "")
    if own:
        raise ValueError(
            f"Results are those of a co-clustering, not of a {type(model).__name__}: "
            f"call comarkov.{own}(model, data)."
        )


def _titles_at(side: SideFindings, cut: Any) -> list[str]:
    """The titles of the clusters of a cut: those of the nodes of this side's tree."""
    levels = SideLevels.of(side.tree, side.axis)
    if levels is None:
        return []
    titles = node_titles(side)
    k = getattr(cut._model, f"{side.axis}s").k
    return [titles[node] for node in levels.nodes_at(k)]


def _as_data(X: Any, model: Any, findings: Findings) -> Data:
    """The data of the fit, with names."""
    if isinstance(X, Data):
        return X
    kinds = findings.rows.kind, findings.columns.kind
    source = str(getattr(X, "source", "") or "")
    return Data(as_csr(X), *names_of_fit(model, X), *kinds, source)


def _named_reason(reason: str, findings: Findings) -> str:
    """The reason for numbers of clusters, in terms of what rows and columns are."""
    kinds = {"row": findings.rows.kind, "column": findings.columns.kind}

    def named(match: re.Match[str]) -> str:
        kind = kinds[match[1]]
        return plural(kind) if match[2] else kind

    return re.sub(r"\b(row|column)(s?)\b", named, reason)


def _entries(findings: Findings, matrix: sp.csr_array) -> np.ndarray:
    """The number of cells in each block that are not zero."""
    (rows, k), (columns, m) = (side.blocks_of() for side in findings.sides)
    return block_sums(matrix, (rows, columns), (k, m), counted=True).astype(np.int64)


__all__ = ["Feature", "Results"]
