"""Results in sentences: what was clustered, the strongest findings, how certain they are, and why.

A sentence is a list of parts. Names from the data are parts of their own, so that a page can keep
them apart from the text around them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...costs.lift import bits
from ...joint.messages import as_plural, plural
from ...search.select.beta import DEFAULT_BETA
from ...search.select.number_ladder import OUT_OF_TIME
from ..findings import Findings, SideFindings
from ..findings import strongest as strongest_elements
from .figures import (
    GENERIC,
    INFORMATIVE,
    are_readable,
    count_text,
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
VAGUE = {"weight", "weights", "value", "values", "n", "w", "x", "data", "entry", "score", "amount"}


class Part(NamedTuple):
    """A piece of a sentence."""

    text: str
    is_name: bool = False  #: comes from the data
    is_kind: bool = False  #: what elements are
    side: str = ""  #: of the cluster whose title it is: rows or columns
    cluster: int = -1  #: whose title it is


Sentence = list[Part]


class Finding(NamedTuple):
    """A pair of clusters, or a cluster and some elements, that have much in common."""

    sentence: Sentence
    clusters: dict[str, int | None]  #: by "row" and "column"; None on a side without clusters
    lift: float


class Weight(NamedTuple):
    """What the entries of the data add up to."""

    amount: str = "much"  #: "many" of what is counted, "much" of what is measured
    noun: str = "weight"


COUNTED = {"word": Weight("many", "occurrences"), "gene": Weight("much", "expression")}


def sentence(*parts: str | Part | Iterable[Part]) -> Sentence:
    """A sentence of texts, names and lists of parts, beginning with a capital."""
    flat: Sentence = []
    for part in parts:
        if isinstance(part, str):
            flat.append(Part(part))
        else:
            flat += [part] if isinstance(part, Part) else part
    if not flat[0].is_name:
        flat[0] = Part(flat[0].text[:1].upper() + flat[0].text[1:])
    return flat


def plain(parts: Sentence) -> str:
    """A sentence as text."""
    return "".join(part.text for part in parts)


def counted(count: int, side: SideFindings) -> Sentence:
    """A number of elements: 18 women."""
    return [Part(f"{count_text(count)} "), kind_of(side, count)]


def kind_of(side: SideFindings, count: int = 2) -> Part:
    """What elements are, in the number that suits their count."""
    return Part(side.kind if count == 1 else plural(side.kind), is_name=True, is_kind=True)


def caution(findings: Findings, reason: str = "") -> Sentence | None:
    """What to say first if there is next to nothing to see; None otherwise.

    ``reason`` explains how many clusters there are.
    """
    if reason == OUT_OF_TIME:
        return sentence(f"{OUT_OF_TIME} Set more time, or how many clusters you want.")
    sides = [side for side in findings.sides if side.is_clustered]
    if all(side.n_clusters == 1 for side in sides):
        groups = _join_groups([[Part("all "), kind_of(side)] for side in sides])
        each = " each" if len(sides) > 1 else ""
        return sentence("No clusters were found: ", groups, f" are in one cluster{each}.")
    kept = findings.information.kept
    if kept >= ALMOST_NOTHING:
        return None
    if any(share_sure(side) >= 0.5 for side in sides):
        return sentence(
            f"The clusters keep only {percent_text(kept)} of the information. In sparse data much "
            "of the rest is chance: judge the clusters by their members and their confidence."
        )
    return sentence(
        f"The clusters keep almost nothing, {percent_text(kept)} of the information: either ",
        _both(findings),
        " are hardly related, or there are too few clusters to show how.",
    )


def overview(findings: Findings) -> Sentence:
    """What was clustered, into how many clusters."""
    sides = findings.sides
    clauses = [
        [*counted(side.labels.size, side), Part(f" in {count_text(side.n_clusters, 'cluster')}")]
        for side in sides
        if side.is_clustered
    ]
    rest = [
        [Part("; the "), *counted(side.labels.size, side), Part(" were not clustered")]
        for side in sides
        if not side.is_clustered
    ]
    return sentence(_join_groups(clauses), *rest, ".")


def strongest(findings: Findings, weight: Weight | None = None, most: int = 5) -> list[Finding]:
    """The strongest blocks in words, the strongest first, no cluster twice while others remain.

    A block is as strong as its part of the information kept, P(x̄,ȳ) log2 lift.
    """
    sides, weight = findings.sides, weight or Weight()
    if all(side.is_clustered for side in sides):
        return [
            _block_finding(findings, a, b, weight) for a, b in _strongest_blocks(findings, most)
        ]
    side = next(side for side in sides if side.is_clustered)
    return _feature_findings(side, weight, most)


def _block_finding(findings: Findings, a: int, b: int, weight: Weight) -> Finding:
    """A block in words, with the members of both clusters that are most typical of it."""
    groups = (
        _members(findings.rows, a, findings.columns, b),
        _members(findings.columns, b, findings.rows, a),
    )
    lift, share = float(findings.lift[a, b]), float(findings.blocks[a, b])
    return Finding(_concentration(*groups, lift, share, weight), {"row": a, "column": b}, lift)


def explained(side: SideFindings) -> list[Sentence]:
    """Of which variables of records the clusters tell most, and of which least."""
    shares = list(side.explained().items()) if side.n_clusters > 1 else []
    if len(shares) < 2:
        return []
    most = [
        [Part(name, is_name=True), Part(f" ({percent_text(share)})")]
        for name, share in shares[: min(NAMES_IN_SENTENCE, len(shares) - 1)]
    ]
    name, share = shares[-1]
    last = Part(name, is_name=True)
    return [
        sentence(
            "the clusters explain most of ",
            _join_groups(most),
            ", and least of ",
            last,
            f" ({percent_text(share)}).",
        )
    ]


def certainty(findings: Findings) -> list[Sentence]:
    """How many elements are placed with confidence, and whether the search found this again."""
    sides = [side for side in findings.sides if side.n_clusters > 1]
    shares = [text for side in sides if (text := _count_sure(side))]
    sentences = []
    if shares:
        sentences.append(
            sentence(
                _join_groups(shares),
                f" have a confidence of {SURE_CONFIDENCE} or more.",
            )
        )
    return sentences + _stability(sides)


def share_sure(side: SideFindings) -> float:
    """The share of members that are placed with certainty; 0 if it is not known."""
    placed = side.labels >= 0
    if side.confidence is None or not placed.any():
        return 0.0
    return float((side.confidence[placed] >= SURE_CONFIDENCE).mean())


def _both(findings: Findings) -> Sentence:
    return _join_groups([[kind_of(findings.rows)], [kind_of(findings.columns)]])


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
    """For a fit of one side: the elements of the other side that its clusters concentrate on."""
    assert side.across is not None
    whole = dict(zip(side.other_names.tolist(), side.across.sum(axis=0).tolist(), strict=True))
    found = []
    none: dict[str, int | None] = {"row": None, "column": None}
    for a in range(side.n_clusters):
        features = [f for f in side.distinctive(a, NAMES_IN_SENTENCE) if f.lift >= INFORMATIVE]
        if features:
            share = sum(feature.share for feature in features) * float(side.shares[a])
            lift = share / side.shares[a] / sum(whole[feature.name] for feature in features)
            names = _join_groups([[_name_part(feature.name)] for feature in features])
            bits = sum(feature.bits for feature in features)
            text = _concentration(_members(side, a), (names, False), lift, share, weight)
            found.append((-bits, a, Finding(text, none | {side.axis: a}, lift)))
    return [finding for _, _, finding in sorted(found, key=lambda each: each[:2])[:most]]


Group = tuple[Sentence, bool]  # the words for some elements, and whether there is only one


def _concentration(one: Group, other: Group, lift: float, share: float, weight: Weight) -> Sentence:
    verb = " concentrates on " if one[1] else " concentrate on "
    amount = f"{lift_text(lift)[1:]} times as {weight.amount} {weight.noun} as expected"
    return sentence(
        one[0], verb, other[0], f": {amount} ({percent_text(share)} of all {weight.noun})."
    )


def _members(
    side: SideFindings, cluster: int, other: SideFindings | None = None, block: int = 0
) -> Group:
    """The members of a cluster in words: all of them if they are few, else some examples.

    Those that stand for the cluster together with one of the other side are typical of both.
    """
    size = int(side.sizes[cluster])
    members = side.members(cluster) if other is None else _typical_of(side, cluster, other, block)
    if size == 1:
        return [Part("the "), kind_of(side, 1), Part(" "), *_name_list(side, members)], True
    if size <= NAMES_IN_SENTENCE:
        return [Part("the "), kind_of(side, size), Part(" "), *_name_list(side, members)], False
    if are_readable(side.names, side.kind):
        names = _name_list(side, members[:NAMES_IN_SENTENCE])
        return [*counted(size, side), Part(" such as "), *names], False
    codes = [[_name_part(side.names[i])] for i in members[:CODES_IN_SENTENCE]]
    return [*counted(size, side), Part(" ("), *_join_groups(codes, ", "), Part(", …)")], False


def _typical_of(side: SideFindings, cluster: int, other: SideFindings, block: int) -> np.ndarray:
    """The members of a cluster that have most in common with a cluster of the other side."""
    assert other.across is not None
    members = side.members(cluster)
    best, _, _ = strongest_elements(other.across[block], other.across.sum(axis=0), side.names.size)
    ranked = best[np.isin(best, members)]
    return np.concatenate([ranked, members[~np.isin(members, ranked)]])


def _title(side: SideFindings, cluster: int) -> Part:
    """The title of a cluster, which the reader of a report can change."""
    return Part(side.titles[cluster], is_name=True, side=f"{side.axis}s", cluster=cluster)


def _is_numbered(side: SideFindings, cluster: int) -> bool:
    """Is the title of a cluster only its number?"""
    return side.titles[cluster] == f"cluster {cluster}"


def _name_list(side: SideFindings, elements: Iterable[int]) -> Sentence:
    return _join_groups([[_name_part(side.names[i])] for i in elements])


def _name_part(name: str) -> Part:
    return Part(short_name(name, NAME_IN_SENTENCE), is_name=True)


def _join_groups(groups: list[Sentence], last: str = " and ") -> Sentence:
    """Groups of parts with commas, and another word before the last one."""
    parts: Sentence = []
    for i, group in enumerate(groups):
        if i:
            parts.append(Part(last if i == len(groups) - 1 else ", "))
        parts += group
    return parts


def _count_sure(side: SideFindings) -> Sentence:
    """How many members are placed with certainty."""
    if side.confidence is None:
        return []
    total = int((side.labels >= 0).sum())
    share = share_sure(side)
    sure = count_text(share * total)
    return [Part(f"{sure} of "), *counted(total, side), Part(f" ({percent_text(share)})")]


def _stability(sides: list[SideFindings]) -> list[Sentence]:
    """Whether other results of the search have the same clusters."""
    known = [
        (float(value), side, a)
        for side in sides
        if side.stability is not None
        for a, value in enumerate(side.stability)
        if not np.isnan(value)
    ]
    if not known:
        return []
    mean = sum(value for value, _, _ in known) / len(known)
    least, side, a = min(known, key=lambda each: each[0])
    if least > 0.999:
        return [sentence("Every repeated search found the same clusters.")]
    before, after = (" ", "") if _is_numbered(side, a) else (" cluster “", "”")
    return [
        sentence(
            f"Repeated searches reproduce the clusters with {mean:.0%} overlap; the ",
            kind_of(side, 1),
            before,
            _title(side, a),
            f"{after} is the least stable ({least:.0%}).",
        )
    ]


class Opening(NamedTuple):
    """The sentences that open a report."""

    caution: Sentence | None  #: if there is next to nothing to see
    overview: Sentence
    strongest: list[Finding]
    certainty: list[Sentence]
    numbers: str  #: why there are so many clusters; empty if they were given
    beta: str  #: where β comes from


def opening_of(results: Results) -> Opening:
    """The sentences that open the report of these results."""
    findings = results.findings
    return Opening(
        caution=caution(findings, results.selection_reason),
        overview=overview(findings),
        strongest=strongest(findings, weight_of(results)),
        certainty=[*explained(findings.rows), *certainty(findings)],
        numbers=results.selection_reason,
        beta=beta_reason(results),
    )


def weight_of(results: Results) -> Weight:
    """What the weights of the data are: a named column, occurrences of words, or just weight."""
    data, kinds = results.data, {side.kind for side in results.findings.sides}
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
    own, best = float(chosen["agreement"][0]), float(evidence["agreement"].max())
    if np.count_nonzero(evidence["agreement"] >= own) == 1:
        return f"{beta} was chosen because halves of the data agree best there ({own:.2f} of 1)."
    well = "as well as anywhere" if own == best else f"nearly as well as anywhere ({best:.2f})"
    is_default = results.findings.beta == DEFAULT_BETA
    verb = "the default, was kept" if is_default else "the closest to the default, was chosen"
    return f"{beta}, {verb}: halves of the data agree there ({own:.2f} of 1) {well}."
