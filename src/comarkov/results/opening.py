"""What opens a report: the results in a few sentences, from a fitted model and its data."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..data.nouns import as_plural
from ..search.choose_beta import DEFAULT
from .names import GENERIC
from .sentences import (
    Sentence,
    Weight,
    caution,
    certainty,
    information_kept,
    overview,
    sentence,
    strongest,
)

if TYPE_CHECKING:
    from .results import Results

VAGUE = {"weight", "weights", "value", "values", "n", "w", "x", "data", "entry", "score", "amount"}
COUNTED = {"word": Weight("many", "occurrences"), "gene": Weight("much", "expression")}


class Opening(NamedTuple):
    """The sentences that open a report."""

    caution: Sentence | None  #: if there is next to nothing to see
    overview: Sentence
    kept: Sentence
    strongest: list[Sentence]
    certainty: list[Sentence]
    numbers: str  #: why there are so many clusters; empty if they were given
    beta: str  #: where β comes from


def opening_of(results: Results) -> Opening:
    """The sentences that open the report of these results."""
    findings = results.findings
    return Opening(
        caution=caution(findings, results.selection_reason),
        overview=overview(findings),
        kept=information_kept(findings),
        strongest=strongest(findings, weight_of(results)),
        certainty=certainty(findings) or [sentence("How certain the clusters are is not known.")],
        numbers=results.selection_reason,
        beta=beta_reason(results),
    )


def weight_of(results: Results) -> Weight:
    """What the weights of the data are: a named column, occurrences of words, or just weight."""
    data, kinds = results.data, {results.findings.rows.kind, results.findings.columns.kind}
    if getattr(results.fitted, "weighting_", None) is not None:
        return Weight()
    noun = data.entry_kind.strip().replace("_", " ")
    if noun and noun.casefold() not in VAGUE | GENERIC:
        return Weight("many" if noun == as_plural(noun) else "much", noun)
    for kind in sorted(kinds & COUNTED.keys()):
        return COUNTED[kind]
    weights = results.matrix.data
    if weights.size and weights.min() == weights.max() == 1:
        return Weight("many", "entries")
    return Weight()


def beta_reason(results: Results) -> str:
    """Where β comes from, truthfully: given, chosen by what evidence, or left at its default."""
    beta = f"β = {results.findings.beta:g}"
    evidence = results.beta_selection
    if evidence is None:
        return f"{beta} was set before the fit."
    chosen = evidence[evidence["chosen"]]
    if not chosen.size or np.isnan(chosen["agreement"][0]):
        return f"{beta} is the default: there was no time to compare other values."
    agreement = f"{chosen['agreement'][0]:.2f}"
    best = evidence["agreement"].max()
    is_tied = np.count_nonzero(evidence["agreement"] >= best) > 1
    if chosen["agreement"][0] >= best and not is_tied:
        return f"{beta} was chosen because halves of the data agree best there ({agreement} of 1)."
    well = f"nearly as well as anywhere ({best:.2f})"
    if chosen["agreement"][0] >= best:
        well = "as well as anywhere"
    why = f"halves of the data agree there ({agreement} of 1) {well}"
    if results.findings.beta == DEFAULT:
        return f"{beta}, the default, was kept: {why}."
    return (
        f"{beta} was chosen: {why}, and of such values it is the closest to the default of "
        f"{DEFAULT:g}."
    )
