"""What to try next: suggestions that follow from results, each with the command to run.

Commands read the data again from the folder of the results, and are run beside that folder.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ...costs.labels import Counts
from ...search.select.beta import DEFAULT_BETA
from .figures import WORDS, percent_text
from .sentences import (
    Sentence,
    sentence,
)

if TYPE_CHECKING:
    from ..results import Results

MAX_STEPS = 3  # suggestions
FINER_GAIN = 0.1  # of the information that a finer level must keep more
COARSER_SHARE = 0.95  # of the information kept that a coarser level must keep


class NextStep(NamedTuple):
    """A suggestion: why, and the command or the Python call."""

    why: Sentence
    command: str


def next_steps(results: Results) -> list[NextStep]:
    """The most useful suggestions, the most useful first."""
    steps = (NextStep(sentence(why), command) for why, command in _suggestions(results))
    return list(islice(steps, MAX_STEPS))


def public_command(command: str) -> str:
    """A command as it may be shown to others: absolute paths are cut to names."""
    words = [word.rpartition("=") for word in shlex.split(command)]
    return shlex.join(f"{option}{equals}{file_name(value)}" for option, equals, value in words)


def file_name(path: str) -> str:
    """A path as it may be shown to others: the name alone if it is absolute."""
    return Path(path).name if Path(path).is_absolute() else path


def _suggestions(results: Results) -> Iterator[tuple[str, str]]:
    sides = [side for side in results.findings.sides if side.is_clustered]
    is_one = all(side.n_clusters == 1 for side in sides)
    if is_one:
        numbers = [
            min(4, s.labels.size) if s.is_clustered else None for s in results.findings.sides
        ]
        why = "To see the strongest contrasts anyway (they may be chance):"
        yield why, _refit(results, numbers=(numbers[0], numbers[1]))
    kinds = {side.kind for side in results.findings.sides}
    if getattr(results.fitted, "weighting_", None) is None and kinds & WORDS:
        why = "Plain counts let long texts and frequent words dominate. BM25 balances them:"
        yield why, _refit(results, weighting="bm25")
    if not is_one:
        yield from _levels(results)
    evidence = {"numbers of clusters": results.selection, "values of β": results.beta_selection}
    unknown = [what for what, table in evidence.items() if table is None]
    if unknown:
        yield f"Compare other {' and '.join(unknown)}:", _compare(results)


def _levels(results: Results) -> Iterator[tuple[str, str]]:
    """A finer level that keeps clearly more, and a coarser one that keeps nearly as much."""
    levels, fitted = results.findings.rows.tree.levels, results.findings.rows.tree.n_fitted
    fit = next((i for i, level in enumerate(levels) if level.n_clusters == fitted), len(levels))
    if fit == len(levels):
        return
    kept = levels[fit].kept
    sizes = [side.labels.size for side in results.findings.sides]
    finer = [
        level
        for level in levels[:fit]
        if level.kept >= kept + FINER_GAIN
        and all(k is None or 2 * k <= n for k, n in zip(level.n_clusters, sizes, strict=True))
    ]
    coarser = [level for level in levels[fit + 1 :] if level.kept >= COARSER_SHARE * kept]
    reasons = {"For more detail": [] if _is_explained(results) else finer}
    for why, choices in (reasons | {"Fewer clusters would do nearly as well": coarser}).items():
        for level in choices[-1:]:
            numbers = " × ".join(str(k) for k in level.n_clusters if k is not None)
            text = f"{why}: {numbers} clusters keep {percent_text(level.kept)}."
            yield text, _cut(results, level.n_clusters)


def _is_explained(results: Results) -> bool:
    """Do the blocks explain the data, so that finer ones would show only chance?"""
    if results.selection is None:
        return False
    chosen = results.selection[results.selection["suggested"]]
    return "description length" in {*chosen["row_rule"], *chosen["column_rule"]}


def _folder(results: Results, purpose: str = "") -> str:
    """The folder of the results, or one beside it, for a command."""
    return shlex.quote((Path(results.folder).name or "OUT") + purpose)


def _cut(results: Results, numbers: Counts) -> str:
    """The command or call that cuts the hierarchy at these numbers of clusters."""
    if not results.command:
        return f"model.cut({numbers})"
    return f"comarkov cut {_folder(results)} {_number_options(numbers)}"


def _number_options(numbers: Counts) -> str:
    return " ".join(f"-{name} {k or 'none'}" for name, k in zip("kl", numbers, strict=True))


def _compare(results: Results) -> str:
    if not results.command:
        return 'model.set_params(n_clusters="auto", beta="auto").fit(data)'
    return f"comarkov choose {_folder(results)} -o {_folder(results, '-chosen')}"


def _refit(results: Results, numbers: Counts | None = None, weighting: str | None = None) -> str:
    """The command or call that fits again with these changes."""
    if not results.command:
        changes = {"n_clusters": numbers, "weighting": weighting}
        keywords = ", ".join(f"{name}={value!r}" for name, value in changes.items() if value)
        return f"model.set_params({keywords}).fit(data)"
    rows, columns = (side.n_clusters or None for side in results.findings.sides)
    weighting = weighting or results.parameters.get("weighting")
    beta = results.findings.beta
    options = [
        _number_options(numbers or (rows, columns)),
        *([f"--beta {beta:g}"] if beta != DEFAULT_BETA else []),
        *([f"--weighting {weighting}"] if weighting else []),
    ]
    return f"comarkov fit {_folder(results)} {' '.join(options)} -o {_folder(results, '-again')}"
