"""What to try next: suggestions that follow from results, each with the command to run."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...costs.labels import Counts
from ...joint.messages import as_plural
from ...model.hierarchy import Level
from ...search.select.beta import DEFAULT_BETA
from .figures import GENERIC, WORDS, percent_text
from .sentences import (
    SURE,
    Sentence,
    Weight,
    caution,
    certainty,
    information_kept,
    overview,
    sentence,
    share_sure,
    strongest,
)

if TYPE_CHECKING:
    from ..results import Results


MOST = 3  # suggestions
FINER = 0.1  # of the information that a finer level must keep more
COARSER = 0.95  # of the information kept that a coarser level must keep
UNSURE = 0.5  # share of certain elements below which more starts are suggested
STARTS = 20
OPTIONS = {  # that take a value, with their short forms
    "k": ("--row-clusters", "-k"),
    "l": ("--column-clusters", "-l"),
    "out": ("--out", "-o"),
    "beta": ("--beta",),
    "starts": ("--starts",),
    "weighting": ("--weighting",),
    "seed": ("--seed",),
    "jobs": ("--jobs", "-j"),
    "time limit": ("--time-limit",),
    "betas": ("--betas",),
}
SEARCH = tuple(OPTIONS.keys() - {"out", "betas"})  # options that fit and sweep share
FLAGS = ("--force", "-f", "--open")  # that are not repeated


class NextStep(NamedTuple):
    """A suggestion: why, and the command or the Python call."""

    why: Sentence
    command: str


def next_steps(results: Results) -> list[NextStep]:
    """The most useful suggestions, the most useful first."""
    steps: list[NextStep | None]
    sides = [
        side for side in (results.findings.rows, results.findings.columns) if side.is_clustered
    ]
    if all(side.n_clusters == 1 for side in sides):
        steps = [_ask_for_clusters(results), _weighting(results)]
    else:
        steps = [_weighting(results), *_levels(results), _more_starts(results)]
    return [step for step in (*steps, _compare(results)) if step][:MOST]


def _ask_for_clusters(results: Results) -> NextStep:
    numbers = tuple(
        min(4, side.labels.size) if side.is_clustered else None
        for side in (results.findings.rows, results.findings.columns)
    )
    return NextStep(
        sentence("Ask for some clusters to see the strongest contrasts, real or not:"),
        _refit(results, f"n_clusters={numbers}", k=numbers[0], l=numbers[1]),
    )


def _weighting(results: Results) -> NextStep | None:
    """Texts whose counts are not weighted."""
    kinds = {results.findings.rows.kind, results.findings.columns.kind}
    if getattr(results.fitted, "weighting_", None) is not None or not kinds & WORDS:
        return None
    return NextStep(
        sentence("Plain counts let long texts and frequent words dominate. BM25 balances them:"),
        _refit(results, 'weighting="bm25"', weighting="bm25"),
    )


def _levels(results: Results) -> list[NextStep]:
    """A finer level that keeps clearly more, and a coarser one that keeps nearly as much."""
    tree = results.findings.rows.tree
    if tree.n_fitted not in [level.n_clusters for level in tree.levels]:
        return []
    fit = next(i for i, each in enumerate(tree.levels) if each.n_clusters == tree.n_fitted)
    kept = tree.levels[fit].kept
    finer = [
        level
        for level in tree.levels[:fit]
        if level.kept >= kept + FINER and _has_groups(results, level) and not _explained(results)
    ]
    coarser = [level for level in tree.levels[fit + 1 :] if level.kept >= COARSER * kept]
    steps = []
    if finer:
        steps.append(_cut(results, finer[-1], "Finer clusters show more:"))
    if coarser:
        steps.append(_cut(results, coarser[-1], "Fewer clusters would do nearly as well:"))
    return steps


def _has_groups(results: Results, level: Level) -> bool:
    """Do clusters have two members or more on average?"""
    sides = results.findings.rows, results.findings.columns
    counts = zip(level.n_clusters, sides, strict=True)
    return all(k is None or 2 * k <= side.labels.size for k, side in counts)


def _explained(results: Results) -> bool:
    """Do the blocks explain the data, so that finer ones would show only chance?"""
    if results.selection is None:
        return False
    chosen = results.selection[results.selection["suggested"]]
    rules = {rule for side in ("row_rule", "column_rule") for rule in chosen[side]}
    return "description length" in rules


def _cut(results: Results, level: Level, why: str) -> NextStep:
    numbers = " x ".join(str(k) for k in level.n_clusters if k is not None)
    return NextStep(
        sentence(f"{why} {numbers} clusters keep {percent_text(level.kept)}."),
        cut_command(results, level.n_clusters),
    )


def cut_command(results: Results, n_clusters: Counts) -> str:
    """The command or call that cuts the hierarchy at these numbers of clusters."""
    if not results.command:
        return f"model.cut({n_clusters})"
    options = [(f"-{name}", str(k)) for name, k in zip("kl", n_clusters, strict=True) if k]
    flags = " ".join(f"{name} {k}" for name, k in options)
    return f"comarkov cut {shlex.quote(results.folder or 'OUT')} {flags}"


def _more_starts(results: Results) -> NextStep | None:
    """Few elements are placed with certainty."""
    sides = [
        side for side in (results.findings.rows, results.findings.columns) if side.n_clusters > 1
    ]
    unsure = [side for side in sides if side.confidence is not None and share_sure(side) < UNSURE]
    is_found_again = all(
        side.stability is not None and (side.stability > SURE).all() for side in unsure
    )
    starts = results.parameters.get("n_init")
    if not unsure or is_found_again or (isinstance(starts, int) and starts >= STARTS):
        return None
    return NextStep(
        sentence(
            f"Few elements reach a confidence of {SURE}. More starts may find clearer clusters:"
        ),
        _refit(results, f"n_init={STARTS}", starts=STARTS),
    )


def _compare(results: Results) -> NextStep | None:
    """Numbers of clusters or β that nobody has compared."""
    if results.selection is not None and results.beta_selection is not None:
        return None
    what = [
        name
        for name, evidence in (
            ("numbers of clusters", results.selection),
            ("values of β", results.beta_selection),
        )
        if evidence is None
    ]
    text = sentence(f"Compare other {' and '.join(what)}:")
    if not results.command:
        return NextStep(text, _refit(results, 'n_clusters="auto", beta="auto"'))
    command = _changed(results, {"k": None, "l": None, "beta": None})
    return NextStep(text, f"comarkov sweep {command} -o {_beside(results, 'sweep')}")


def _refit(results: Results, keywords: str, **options: object) -> str:
    """The command or call that fits again with these changes."""
    if not results.command:
        return f"model.set_params({keywords}).fit(data)"
    values = {name: None if value is None else str(value) for name, value in options.items()}
    return f"comarkov fit {_changed(results, values)} -o {_beside(results, 'again')}"


def _beside(results: Results, name: str) -> str:
    """A folder beside that of the results, for a command."""
    return shlex.quote(f"{results.folder or 'OUT'}-{name}")


def _changed(results: Results, values: dict[str, str | None]) -> str:
    """The input and options of the results with other values, and without an output folder."""
    parts = _input_and_options(results)
    for name in (*values, "out", "betas"):
        parts = _split(parts, OPTIONS[name])[1]
    parts = [part for part in parts if part not in FLAGS]
    for name, value in values.items():
        if value is not None:
            parts += [OPTIONS[name][-1], value]
    return shlex.join(parts)


def _input_and_options(results: Results) -> list[str]:
    """What follows ``comarkov fit``; a pipe cannot be read again, but the results folder can."""
    command, *parts = shlex.split(results.command)[1:] or [""]
    folder = results.folder or "OUT"
    if command == "cut":  # whose options are not those of a fit
        return [folder]
    if "-" not in parts:
        return parts
    names = tuple(name for option in SEARCH for name in OPTIONS[option])
    return [folder, *_split(parts, names)[0]]


def _split(parts: list[str], names: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """These options with their values, as -k 4, -k4 or --row-clusters=4; and all other parts."""
    options: list[str] = []
    others: list[str] = []
    is_value = False
    for part in parts:
        is_option = any(
            part.startswith(f"{name}=" if name.startswith("--") else name) for name in names
        )
        (options if is_value or is_option or part in names else others).append(part)
        is_value = not is_value and part in names
    return options, others


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
    if results.findings.beta == DEFAULT_BETA:
        return f"{beta}, the default, was kept: {why}."
    return (
        f"{beta} was chosen: {why}, and of such values it is the closest to the default of "
        f"{DEFAULT_BETA:g}."
    )
