"""Results in sentences: what was clustered, the strongest findings, how certain they are, and why.

Names from the data stand between marks, so that a page can isolate them from the text around them:
``plain`` removes the marks, ``as_html`` makes elements of them.
"""

from __future__ import annotations

import shlex
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...costs.objective import bits
from ...joint.messages import as_plural
from ...search.select.beta import DEFAULT_BETA
from ...search.select.choose_numbers import OUT_OF_TIME
from ..findings import Findings, SideFindings
from ..findings import strongest as strongest_elements
from .figures import (
    GENERIC,
    INFORMATIVE,
    WORDS,
    are_positions,
    are_readable,
    count_text,
    joined,
    lift_text,
    percent_text,
    short_name,
)

if TYPE_CHECKING:
    from ..results import Results

ALMOST_NOTHING = 0.05  # share of information below which almost nothing was kept
SURE_CONFIDENCE = 0.9  # from which on an element counts as placed with certainty
NAMES_IN_SENTENCE = 3  # members or elements that stand for a cluster
CODES_IN_SENTENCE = 2  # of names that only identify elements
NAME_IN_SENTENCE = 40  # characters
VAGUE = {
    *("weight", "weights", "value", "values", "data", "entry", "score", "amount"),
    *("count", "counts", "freq", "frequency", "number", "total", "rating", "ratings"),
}
NAME_MARK, KIND_MARK, END_MARK = "\ue000\ue001\ue002"  # of private use
UNMARKED = str.maketrans(dict.fromkeys((NAME_MARK, KIND_MARK, END_MARK), ""))
MARKED_UP = str.maketrans(
    {NAME_MARK: "<bdi>", KIND_MARK: '<bdi class="kind">', END_MARK: "</bdi>"},
)


class Finding(NamedTuple):
    """A pair of clusters, or a cluster and some elements, that have much in common."""

    sentence: str
    clusters: dict[str, int | None]  #: by "row" and "column"; None on a side without clusters
    lift: float


class Weight(NamedTuple):
    """What the entries of the data add up to."""

    amount: str = "much"  #: "many" of what is counted, "much" of what is measured
    noun: str = "weight"


COUNTED = {"word": Weight("many", "occurrences"), "gene": Weight("much", "expression")}


def plain(sentence: str) -> str:
    """A sentence without marks."""
    return sentence.translate(UNMARKED)


def as_html(sentence: str) -> str:
    """A sentence with its names in elements."""
    return escape(sentence).translate(MARKED_UP)


def _named(name: str) -> str:
    return f"{NAME_MARK}{short_name(plain(name), NAME_IN_SENTENCE)}{END_MARK}"


def _kind(side: SideFindings, count: int = 2) -> str:
    """What elements are, in the number that suits their count."""
    kind = plain(side.kind)
    return f"{KIND_MARK}{kind if count == 1 else plain(side.kinds)}{END_MARK}"


def _counted(count: int, side: SideFindings) -> str:
    return f"{count_text(count)} {_kind(side, count)}"


def caution(findings: Findings, reason: str = "") -> str:
    """What to say first if there is next to nothing to see; empty otherwise.

    ``reason`` explains how many clusters there are.
    """
    if reason == OUT_OF_TIME:
        return f"Nothing was searched. {OUT_OF_TIME} Set more time, or how many clusters you want."
    sides = [side for side in findings.sides if side.is_clustered]
    if all(side.n_clusters == 1 for side in sides):
        groups = joined([f"all {_kind(side)}" for side in sides])
        each = " each" if len(sides) > 1 else ""
        return f"No clusters were found: {groups} are in one cluster{each}."
    if not strongest(findings, most=1):
        least, most = (lift_text(lift) for lift in (findings.lift.min(), findings.lift.max()))
        return (
            "The differences are small: no pair of clusters has clearly more in common than "
            f"expected (lifts from {least} to {most})."
        )
    kept = findings.information.kept
    if kept >= ALMOST_NOTHING:
        return ""
    if any(_share_sure(side) >= 0.5 for side in sides):
        return (
            f"The clusters keep only {percent_text(kept)} of the information. In sparse data much "
            "of the rest is chance: judge the clusters by their members and their confidence."
        )
    return (
        f"The clusters keep almost nothing, {percent_text(kept)} of the information: either "
        f"{_kind(findings.rows)} and {_kind(findings.columns)} are hardly related, or there are "
        "too few clusters to show how."
    )


def strongest(findings: Findings, weight: Weight | None = None, most: int = 5) -> list[Finding]:
    """The strongest blocks in words, the strongest first, no cluster twice while others remain.

    A block is as strong as its part of the information kept, P(x̄,ȳ) log2 lift.
    """
    weight, (rows, columns) = weight or Weight(), findings.sides
    if not rows.is_clustered or not columns.is_clustered or columns.categories is not None:
        return _feature_findings(rows if rows.is_clustered else columns, weight, most)
    found = []
    for a, b in _strongest_blocks(findings, most):
        subject = _subject(rows, a, _typical_of(rows, a, columns, b))
        other = _members(columns, b, _typical_of(columns, b, rows, a))
        lift, share = float(findings.lift[a, b]), float(findings.blocks[a, b])
        text = f"{subject} {other}: {_amount(lift, share, weight)}"
        found.append(Finding(text, {"row": a, "column": b}, lift))
    return found


def _strongest_blocks(findings: Findings, most: int) -> list[tuple[int, int]]:
    blocks, lift = findings.blocks, findings.lift
    strength = np.where(lift >= INFORMATIVE, bits(blocks), 0)
    order = np.argsort(-strength, axis=None, kind="stable")[: np.count_nonzero(strength)]
    pairs = [divmod(int(i), blocks.shape[1]) for i in order]
    chosen: list[tuple[int, int]] = []
    for most_often in (1, 2):  # how often a cluster may stand in sentences
        for a, b in pairs:
            often = max(sum(a == i for i, _ in chosen), sum(b == j for _, j in chosen))
            if often < most_often and (a, b) not in chosen and len(chosen) < most:
                chosen.append((a, b))
    return sorted(chosen, key=pairs.index)


def _feature_findings(side: SideFindings, weight: Weight, most: int) -> list[Finding]:
    """For one side and for records: the elements of the other side that clusters concentrate on."""
    whole, found = side.shown.sum(axis=0), []
    for a in range(side.n_clusters):
        best, lifts, strength = strongest_elements(side.shown[a], whole, NAMES_IN_SENTENCE)
        best = best[lifts >= INFORMATIVE]
        if best.size:
            share = float(side.shown[a, best].sum())
            lift = share / float(side.shares[a] * whole[best].sum())
            text = f"{_subject(side, a, side.members(a))} {_with_shares(side, a, best)}"
            text += "." if side.has_categories else f": {_amount(lift, share, weight)}"
            clusters: dict[str, int | None] = {"row": None, "column": None, side.axis: a}
            found.append((-strength[lifts >= INFORMATIVE].sum(), a, Finding(text, clusters, lift)))
    return [finding for _, _, finding in sorted(found, key=lambda each: each[:2])[:most]]


def _subject(side: SideFindings, cluster: int, members: np.ndarray) -> str:
    text = _members(side, cluster, members)
    ending = "s" if side.sizes[cluster] == 1 else ""
    return f"{text[:1].upper()}{text[1:]} concentrate{ending} on"


def _amount(lift: float, share: float, weight: Weight) -> str:
    times = f"{lift_text(lift)[1:]} times as {weight.amount} {weight.noun} as expected"
    return f"{times} ({percent_text(share)} of all {weight.noun})."


def _with_shares(side: SideFindings, cluster: int, others: np.ndarray) -> str:
    """Some of these elements of the other side; categories with their shares among records."""
    names = [_named(name) for name in side.shown_names[others[:NAMES_IN_SENTENCE]]]
    if side.has_categories:
        shares, usual = side.shares_in_variables
        these, all_ = " of these", " of all"  # only for the first
        for i, other in enumerate(others[:NAMES_IN_SENTENCE]):
            here, overall = percent_text(shares[cluster, other]), percent_text(usual[other])
            names[i] += f" ({here}{these} against {overall}{all_})"
            these = all_ = ""
    return joined(names)


def _members(side: SideFindings, cluster: int, members: np.ndarray) -> str:
    """These members of a cluster in words: all of them if they are few, else some examples."""
    size = int(side.sizes[cluster])
    if are_positions(side.names, side.kind):
        number, share = side.numbers[cluster], percent_text(size / side.names.size)
        return f"the {_counted(size, side)} of cluster {number} ({share})"
    names = [_named(side.names[i]) for i in members[:NAMES_IN_SENTENCE]]
    if size <= NAMES_IN_SENTENCE:
        return f"the {_kind(side, size)} {joined(names)}"
    if are_readable(side.names, side.kind):
        return f"{_counted(size, side)} such as {joined(names)}"
    return f"{_counted(size, side)} ({', '.join(names[:CODES_IN_SENTENCE])}, …)"


def _typical_of(side: SideFindings, cluster: int, other: SideFindings, block: int) -> np.ndarray:
    """The members of a cluster, those that have most in common with another cluster first."""
    assert other.across is not None
    members = side.members(cluster)
    best, _, _ = strongest_elements(other.across[block], other.across.sum(axis=0), side.names.size)
    ranked = best[np.isin(best, members)]
    return np.concatenate([ranked, members[~np.isin(members, ranked)]])


def explained(side: SideFindings) -> list[str]:
    """Of which variables of records the clusters tell most, and of which least."""
    shares = side.explained().items() if side.n_clusters > 1 else []
    texts = [f"{_named(name)} ({percent_text(share)})" for name, share in shares]
    if len(texts) < 2:
        return []
    most = joined(texts[:-1][:NAMES_IN_SENTENCE])
    return [f"The clusters explain most of {most}, and least of {texts[-1]}."]


def certainty(findings: Findings) -> list[str]:
    """How many elements are placed with confidence."""
    counts = []
    for side in findings.sides:
        if side.n_clusters > 1 and side.confidence is not None:
            total, share = int((side.labels >= 0).sum()), _share_sure(side)
            sure = count_text(share * total) if share else "none"
            counts.append(f"{sure} of {_counted(total, side)} ({percent_text(share)})")
    return [f"The confidence is {SURE_CONFIDENCE} or more for {joined(counts)}."] if counts else []


def _share_sure(side: SideFindings) -> float:
    """The share of members that are placed with certainty; 0 if it is not known."""
    placed = side.labels >= 0
    if side.confidence is None or not placed.any():
        return 0.0
    return float((side.confidence[placed] >= SURE_CONFIDENCE).mean())


def class_agreement(results: Results) -> list[str]:
    """How well clusters agree with the known classes of their members."""
    from ...costs.agreement import normalized_mutual_information, purity  # slow to import
    from ..results import known_classes

    lines = []
    for side in results.findings.sides:
        for title, classes in known_classes(results.data, side.axis).items():
            known = classes != ""
            if side.n_clusters > 1:
                pair = classes[known].tolist(), side.labels[known]
                lines.append(
                    f"Of {_counted(int(known.sum()), side)} with a known {_named(title)}, "
                    f"{percent_text(purity(*pair))} are in a cluster in which theirs is the most "
                    f"frequent one (NMI {normalized_mutual_information(*pair):.2f})."
                )
    return [plain(line) for line in lines]


def weight_of(results: Results) -> Weight:
    """What the weights of the data are: a named column, occurrences of words, or just weight."""
    data, kinds = results.data, {side.kind for side in results.findings.sides}
    if getattr(results.fitted, "weighting_", None) is not None:
        return Weight()
    words = data.entry_kind.replace("_", " ").split()
    noun = " ".join(word.lower() if word.istitle() else word for word in words)
    if len(noun) > 1 and noun.casefold() not in VAGUE | GENERIC:
        return Weight("many" if noun == as_plural(noun) else "much", noun)
    for kind in sorted(kinds & COUNTED.keys()):
        return COUNTED[kind]
    weights = results.matrix.data
    is_counted = weights.size and weights.min() == weights.max() == 1
    return Weight("many", "entries") if is_counted else Weight()


def beta_reason(results: Results) -> str:
    """Where β comes from, truthfully: given, chosen by what evidence, or left at its default."""
    beta = f"β = {results.findings.beta:g}"
    evidence = results.beta_selection
    if evidence is None:
        return f"{beta} was set before the fit."
    chosen = evidence[evidence["chosen"]]
    if not chosen.size or np.isnan(chosen["agreement"][0]):
        return f"{beta} is the default: there was no time to compare other values."
    own, best = float(chosen["agreement"][0]), float(evidence["agreement"].max())
    if np.count_nonzero(evidence["agreement"] >= own) == 1:
        return f"{beta} was chosen because halves of the data agree best there ({own:.2f} of 1)."
    well = "as well as anywhere" if own == best else f"nearly as well as anywhere ({best:.2f})"
    is_default = results.findings.beta == DEFAULT_BETA
    verb = "the default, was kept" if is_default else "the closest to the default, was chosen"
    return f"{beta}, {verb}: halves of the data agree there ({own:.2f} of 1) {well}."


class NextStep(NamedTuple):
    """A suggestion: why, and the command or the Python call."""

    why: str
    command: str


def next_steps(results: Results) -> list[NextStep]:
    """What to try: a weighting for texts, other levels, and more or fewer clusters."""
    sides = results.findings.sides
    folder = shlex.quote(Path(results.folder).name or "OUT")
    rows, columns = map(_another_number, sides)
    numbers = f"-k {rows or 'none'} -l {columns or 'none'}"
    why = "For more or fewer clusters without a new fit:"
    steps = [(why, f"comarkov cut {folder} {numbers}", f"model.cut({rows, columns})")]
    if all(side.n_clusters <= 1 for side in sides):
        why = "To see the strongest contrasts anyway (they may be chance):"
        command = f"comarkov fit {folder} {numbers} -o {folder}-again"
        steps = [(why, command, f"model.set_params(n_clusters={rows, columns}).fit(data)")]
    is_text = not WORDS.isdisjoint(side.kind for side in sides)
    if getattr(results.fitted, "weighting_", None) is None and is_text:
        why = "Plain counts let long texts and frequent words dominate. BM25 balances them:"
        command = f"comarkov fit {folder} --weighting bm25 -o {folder}-again"
        steps.insert(0, (why, command, "model.set_params(weighting='bm25').fit(data)"))
    if results.selection is None:
        why = "Compare fewer or more clusters, and other values of β:"
        call = 'model.set_params(n_clusters="auto", beta="auto").fit(data)'
        steps.append((why, f"comarkov choose {folder} -o {folder}-chosen", call))
    return [NextStep(why, command if results.command else call) for why, command, call in steps]


def _another_number(side: SideFindings) -> int | None:
    """Twice as many clusters if the tree has them, else one fewer; up to 4 if there is one."""
    if side.levels is None:
        return None
    k = side.n_clusters
    if k == 1:
        return min(4, side.labels.size)
    return 2 * k if 2 * k <= side.levels.n_leaves else k - 1


def public_command(command: str) -> str:
    """A command as it may be shown to others: absolute paths are cut to names."""
    words = [word.rpartition("=") for word in shlex.split(command)]
    return shlex.join(f"{option}{equals}{file_name(value)}" for option, equals, value in words)


def file_name(path: str) -> str:
    """A path as it may be shown to others: the name alone if it is absolute."""
    return Path(path).name if Path(path).is_absolute() else path
