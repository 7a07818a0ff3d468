"""Results of a co-clustering: a fitted model with its data, in words, tables, pictures, files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from ..costs.labels import check_side
from ..costs.objective import expected_shares
from ..io.csv_files import csv_text
from ..io.files import DATA_FILE
from ..io.read import Data
from ..io.read.fit_input import fit_input
from ..io.store.opening import is_large, keep_data
from ..joint.inputs import as_csr
from ..joint.joint import Joint
from ..joint.messages import InputError
from ..joint.parts import block_sums
from .base_results import BaseResults, element_table, information_figures, records
from .describe import (
    Side,
    TopFeaturesMixin,
    glance,
    headline,
    lines_about_clusters,
    sentences_about,
)
from .findings import Findings, SideFindings, findings_on, joint_of_fit, names_of_fit
from .indicators import Indicator, IndicatorTest, significant, tests_of
from .pictures import heatmap_svg
from .words.sentences import class_agreement, file_name, plain, strongest, weight_of
from .words.titles import TITLES_FILE, Titles, titles_json, with_titles

INDICATOR_COLUMNS = ("side", *Indicator._fields, "title")
BLOCK_COLUMNS = (
    *("row_cluster", "column_cluster", "rows", "columns", "mass", "share", "expected"),
    *("lift", "density", "row_title", "column_title"),
)


@dataclass(frozen=True, eq=False, kw_only=True)
class Results(TopFeaturesMixin, BaseResults):
    """The results of a fitted co-clustering on its data, and the files about them.

    Attributes
    ----------
    findings : Findings
        Members, clusters, blocks and distinctive elements, as numbers with names.
    fitted : CoClustering
        The model at the time the results were made.
    data : Data
        As they were read, before weighting.
    total : float
        The sum of all weights.
    selection, beta_selection : structured ndarray or None
        The evidence for how many clusters there are and for β, where they were chosen.
    selection_reason : str
        Why there are this many clusters; empty if that was given.
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
    total: float
    selection: np.ndarray | None
    beta_selection: np.ndarray | None

    @classmethod
    def of(
        cls,
        model: Any,
        data: Any,
        *,
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
        command : str, default=""
            The command line that made the results, to be shown.
        weighted : Joint, default=None
            The data as weighted by the fit, if you still have them, which saves time; None
            weights ``data`` again and checks that they are those of the fit.
        titles : mapping or path of a JSON file, default=None
            Your titles, ``{"rows": {1: "..."}, "columns": [...]}``, by number from 1 or in a list;
            other clusters keep their automatic titles.
        """
        check_is_fitted(model)
        if not hasattr(model, "hierarchy_"):
            message = f"Results are those of a co-clustering, not of a {type(model).__name__}."
            raise InputError(message, advice="Use ChainResults or MultiwayResults.")
        data = fit_input(data)
        weighted = joint_of_fit(model, data) if weighted is None else weighted
        findings = with_titles(findings_on(model, data, weighted), titles)
        if not isinstance(data, Data):
            source = str(getattr(data, "source", "") or "")
            kinds = findings.rows.kind, findings.columns.kind
            data = Data(as_csr(data), *names_of_fit(model, data), *kinds, source)
        return cls(
            fitted=model,
            data=data,
            command=command,
            findings=findings,
            total=weighted.total * weighted.scale,
            selection=getattr(model, "selection_", None),
            beta_selection=getattr(model, "beta_selection_", None),
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
        """The size of the data, how many clusters there are and the information kept."""
        return headline(self.findings)

    @property
    def selection_reason(self) -> str:
        """Why there are this many clusters, in terms of what rows and columns are."""
        kinds = {side.axis: side.kind for side in self.findings.sides}
        kinds |= {f"{side.axis}s": side.kinds for side in self.findings.sides}

        reason = getattr(self.fitted, "selection_reason_", "")
        return re.sub(r"\b(rows?|columns?)\b", lambda match: kinds[match[1]], reason)

    @property
    def sentences(self) -> list[str]:
        """What was clustered, what was kept and the strongest findings, in plain words."""
        about = sentences_about(self.findings, self.selection_reason, weight_of(self))
        return [*about, *class_agreement(self)]

    def cluster_lines(self, n: int) -> list[list[str]]:
        """A heading and lines about each cluster, with at most n names in a list."""
        return lines_about_clusters(self.findings, n)

    def __repr__(self) -> str:
        strong = strongest(self.findings, weight_of(self), 1)
        subject = f"Results of {self.title}:" if self.source else "Results:"
        return " ".join([subject, self.headline, *(plain(each.sentence) for each in strong)])

    def _repr_html_(self) -> str:
        return glance(self.findings, weight_of(self), heatmap_svg(self.findings, self.matrix))

    def _findings(self) -> Findings:
        return self.findings

    def cut(self, n_clusters: int | tuple[int | None, int | None], *, command: str = "") -> Self:
        """The results at another level of the hierarchy, with the clusters of the report's sliders.

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
        results = type(self).of(self.fitted.cut(n_clusters), self.data, command=command)
        rows, columns = (
            replace(new, given_titles=old.given_titles if old.n_clusters == new.n_clusters else {})
            for old, new in zip(self.findings.sides, results.findings.sides, strict=True)
        )
        return replace(results, findings=replace(results.findings, rows=rows, columns=columns))

    def indicators(self, side: Side = "rows") -> list[Indicator]:
        """The species, words or categories that mark each cluster, with a test.

        Their p-values, corrected for all tests together, are at most 0.05. Each is listed for the
        cluster where its indicator value (IndVal) is largest, the largest first.

        Parameters
        ----------
        side : {"rows", "columns"}, default="rows"
            Whose clusters: indicators of row clusters are columns, or categories of records.

        Returns
        -------
        list of Indicator
            (cluster, name, share, lift, indval, p_value). Empty if the side has fewer than two
            clusters, if the elements of the other have no names, or if there are more than 20
            million entries.

        Examples
        --------
        >>> from comarkov import CoClustering, Results, datasets
        >>> women = datasets.load("southern-women")
        >>> model = CoClustering((2, 3), random_state=0).fit(women.matrix)
        >>> first = Results.of(model, women).indicators()[0]
        >>> first.name, round(first.indval, 2), first.p_value
        ('E5', 0.89, 0.005)
        """
        check_side(side)
        test = self._indicator_tests.get(side)
        return [] if test is None else significant(getattr(self.findings, side), test)

    @cached_property
    def _indicator_tests(self) -> dict[str, IndicatorTest]:
        """The tests of the sides, "rows" or "columns", that can be tested."""
        return tests_of(self.findings, self.matrix)

    def tables(self) -> dict[str, str]:
        """The text of rows.csv, columns.csv, blocks.csv and indicators.csv.

        Known classes are further columns of rows.csv and columns.csv.

        On a side that is not clustered, blocks.csv lists each element by name, and leaves out pairs
        without mass.
        """
        return {
            **{f"{side.axis}s.csv": self._element_table(side) for side in self.findings.sides},
            "blocks.csv": csv_text(BLOCK_COLUMNS, self._block_lines()),
            "indicators.csv": csv_text(INDICATOR_COLUMNS, self._indicator_lines()),
        }

    def _indicator_lines(self) -> Iterator[tuple[Any, ...]]:
        for name, test in self._indicator_tests.items():
            side: SideFindings = getattr(self.findings, name)
            found = significant(side, test)
            for a, element, *numbers in sorted(found, key=lambda each: side.numbers[each.cluster]):
                texts = (f"{x:.6g}" for x in numbers)
                yield side.axis, side.numbers[a], element, *texts, side.titles[a]

    def _element_table(self, side: SideFindings) -> str:
        texts = [""] * side.names.size
        if side.confidence is not None:
            texts = [f"{confidence:.4f}" for confidence in side.confidence.tolist()]
        classes = known_classes(self.data, side.axis)
        return element_table(side, side.titles, "confidence", texts, classes)

    def _block_lines(self) -> Iterator[tuple[Any, ...]]:
        blocks, sides = self.findings.blocks, self.findings.sides
        expected = expected_shares(blocks)
        row_blocks, column_blocks = (
            side.labels if side.is_clustered else np.arange(side.names.size) for side in sides
        )
        entries = block_sums(self.matrix, (row_blocks, column_blocks), blocks.shape, counted=True)
        is_listed = (blocks > 0) | all(side.is_clustered for side in sides)
        (rows, *of_rows), (columns, *of_columns) = map(_block_facts, sides)
        for i, j in np.argwhere(is_listed[np.ix_(rows, columns)]):
            a, b = rows[i], columns[j]
            row, height, row_title = (each[a] for each in of_rows)
            column, width, column_title = (each[b] for each in of_columns)
            density = entries[a, b] / (int(height * width) or 1)
            share = float(blocks[a, b])
            numbers = share * self.total, share, expected[a, b], self.findings.lift[a, b], density
            texts = (f"{number:.6g}" for number in numbers)
            yield row, column, height, width, *texts, row_title, column_title

    def texts(self) -> dict[str, str]:
        """All text files of results, by name."""
        texts = super().texts() | {"heatmap.svg": heatmap_svg(self.findings, self.matrix)}
        given = titles_json(self.findings)
        return texts if given is None else texts | {TITLES_FILE: given}

    def summary(self) -> dict[str, Any]:
        """All figures for summary.json that are not about single elements."""
        findings, (n, m) = self.findings, self.matrix.shape
        sides = {f"{side.axis}s": _side_figures(side) for side in findings.sides}
        size = {"source": self.source, "rows": n, "columns": m, "entries": int(self.matrix.nnz)}
        kinds = {"row_kind": findings.rows.kind, "column_kind": findings.columns.kind}
        return {
            "data": size | kinds,
            "beta": findings.beta,
            "cost": findings.cost,
            "information": information_figures(findings.information),
            **sides,
            "lift": findings.lift if all(side.is_clustered for side in findings.sides) else None,
            "selection": records(self.selection),
            "selection_reason": self.selection_reason,
            "beta_selection": records(self.beta_selection),
        }

    def save_data(self, folder: Path) -> None:
        """Write the data, or where a large store is."""
        keep_data(self.data, folder)

    def to_html(self) -> str:
        """The report: one page that needs no network."""
        from .report.content import render

        return render(self, self.tables())

    @property
    def python(self) -> str:
        """Python code that repeats the fit; empty where the fit that was refined is not known."""
        if "--refine" in self.command.split():
            return ""
        read = "...  # the data of this fit"
        if is_large(self.data):
            read = f"comarkov.read({file_name(str(self.data.path))!r})"
        elif self.command:
            read = f'comarkov.read("{DATA_FILE}")  # in the folder of this page'
        use = 'comarkov.Results.of(model, data).write("out")'
        numbers = tuple(side.n_clusters or None for side in self.findings.sides)
        if (fitted := self.fitted.hierarchy_.n_fitted) != numbers:
            return self._code(read, use, f".cut({numbers})", n_clusters=fitted)
        return self._code(read, use)


def known_classes(data: Data, axis: str) -> dict[str, np.ndarray]:
    """The classifications of a side in which some class is known."""
    given: dict[str, np.ndarray] = getattr(data, f"{axis}_classes")
    return {title: classes for title, classes in given.items() if (classes != "").any()}


def _block_facts(side: SideFindings) -> tuple[Any, ...]:
    """Of its clusters, or of its elements if it has none: order, names, sizes and titles."""
    if side.is_clustered:
        return side.cluster_order, side.numbers, side.sizes, side.titles
    n = side.names.size
    return np.arange(n), side.names, np.ones(n, int), [""] * n


def _side_figures(side: SideFindings) -> dict[str, Any]:
    size = {"elements": side.labels.size, "in_no_cluster": int((side.labels < 0).sum())}
    if not side.is_clustered:
        return size | {"clusters": None}
    clusters = []
    for a, title in enumerate(side.titles):
        distinctive = [each._asdict() for each in side.distinctive(a)]
        clusters.append(side.cluster_figures(a, title, distinctive))
    explained = {"explained": side.explained()} if side.has_categories else {}
    return size | {"clusters": clusters, "linkage": side.linkage} | explained
