"""Titles of clusters: up to three words that distinguish a cluster from the others.

A word stands in the title of the cluster for which it scores highest (see ``score_features``), so
titles share no words. Only a cluster whose own words are all weak borrows its best word and adds an
own one: "UA · VX" beside "UA". A cluster with one member has its name, and one that nothing
distinguishes has the names of typical members. No title mixes names of rows and of columns.

Titles that people give come as JSON from the report, or as the same mapping from Python:

    {"n_clusters": [2, 3], "rows": {"1": "insiders"}, "columns": {"3": "late events"}}

Clusters have the numbers of the report, from 1. ``n_clusters`` may be missing, and the titles of a
side may be a list in the order of the clusters. Files with ``n_clusters`` also state
``"numbered_from": 1``, as those of comarkov 0.2 have the labels of clusters, from 0.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...costs.objective import octaves
from ...joint.messages import InputError
from .figures import INFORMATIVE, WORDS, are_numbered, are_positions, are_readable, short_name

if TYPE_CHECKING:
    from ..findings import Findings, SideFindings


TITLE_CANDIDATES = 40  # elements that are considered for each cluster
TITLE_WORDS = 3  # at most
TITLE_NAME = 80  # characters of a name in a title; pages show as much as there is room for
TITLE_LENGTH = 90  # characters of a title of several words
SLIGHTLY_MORE = 1.02  # the least lift of an element that stands in a title
WEAKEST_WORD = 0.2  # its score, relative to the best of its cluster
UNTYPICAL = 1e-12  # score of members that are not typical at all
CUT_WORDS = re.compile(  # what is left of don't, we'll and the like
    "(ai|are|could|did|does|do|had|has|have|is|might|must|need|sha|should|was|were|wo|would)n|ll|re|ve"
)
BETWEEN = " · "
TITLES_FILE = "titles.json"
FIRST = "numbered_from"  # the key of a file that states the first number
EXPECTED_TITLES = 'Titles look like {"rows": {"1": "a title"}, "columns": {}}.'
GIVEN_TITLE_LENGTH = 120  # characters

Titles = Mapping[str, Any] | str | os.PathLike[str]


class Words(NamedTuple):
    """Elements that may stand in titles."""

    names: list[str]  #: shortened
    scores: np.ndarray  #: by (cluster, element); 0 where an element says nothing about a cluster
    prefix: str  #: before names that are numbers: "month "
    members: list[str]  #: the names of typical members of each cluster; empty if unreadable
    are_names: bool = True  #: False where neither side has names
    numbers: Sequence[int] | None = None  #: of clusters for people; None counts from 1
    alone: Mapping[int, str] = {}  #: the names of members that are alone in their cluster


def cluster_titles(side: SideFindings) -> list[str]:
    """One title for each cluster of a side, all different; titles that were given are kept."""
    if side.across is None:
        return []
    if side.n_clusters == 1:
        return [side.given_titles.get(0, f"all {side.kinds}")]
    return titles_from(_words_of(side), side.given_titles)


def titles_from(words: Words, given: Mapping[int, str] | None = None) -> list[str]:
    """One title for each cluster that the words are scored for, all different."""
    titles = dict(given or {})
    for cluster in range(len(words.scores)):
        if cluster not in titles:
            titles[cluster] = _title(words, cluster, list(titles.values()))
    return [titles[cluster] for cluster in range(len(words.scores))]


def score_features(masses: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Elements of the other side, and their scores by (cluster, element).

    The score is P(y | x̄) log2(lift)^1.5 where the lift is informative, 0 elsewhere. In a cluster
    without informative lifts, slight ones count.
    """
    sizes = masses.sum(axis=1, keepdims=True, dtype=np.float64)
    expected = masses.sum(axis=0, dtype=np.float64) * sizes / sizes.sum()
    is_more = masses > INFORMATIVE * expected
    is_plain = ~is_more.any(axis=1)
    is_more[is_plain] = (masses > SLIGHTLY_MORE * expected)[is_plain]
    scores = np.zeros(masses.shape)
    scores[is_more] = octaves(masses[is_more] / expected[is_more]) ** 1.5
    scores *= masses / sizes
    n = min(TITLE_CANDIDATES, masses.shape[1])
    best = np.unique(np.argpartition(-scores, n - 1, axis=1)[:, :n])
    best = best[scores[:, best].any(axis=0)]
    return best, scores[:, best]


def _words_of(side: SideFindings) -> Words:
    typical = [
        _with_prefix(_join([short_name(name, TITLE_NAME) for name in names]), _prefix(side.kind))
        for names in (side.typical(a, TITLE_WORDS) for a in range(side.n_clusters))
    ]
    alone = {a: typical[a] for a in np.flatnonzero(side.sizes == 1).tolist()}
    members = [""] * side.n_clusters if are_positions(side.names, side.kind) else typical
    match _naming(side):
        case "members":
            heads = [side.members(a)[:TITLE_CANDIDATES] for a in range(side.n_clusters)]
            elements = np.concatenate(heads)
            scores = np.zeros((side.n_clusters, elements.size))
            typicality = np.maximum(side.typicality[elements], 0) + UNTYPICAL
            scores[side.labels[elements], np.arange(elements.size)] = typicality
            names, kind = side.names[elements], side.kind
        case "features":
            elements, scores = score_features(side.shown)
            names, kind = side.shown_names[elements], side.other_kind
        case _:
            none = np.zeros((len(members), 0))
            return Words([], none, "", members, False, side.numbers.tolist(), alone)
    shown = [short_name(name, TITLE_NAME) for name in names]
    if kind in WORDS:
        scores = scores * [not CUT_WORDS.fullmatch(name) for name in shown]
    return Words(shown, scores, _prefix(kind), members, alone=alone)


def _prefix(kind: str) -> str:
    return f"{kind or 'number'} "


def _with_prefix(title: str, prefix: str) -> str:
    """A title of numbers says what they number: "month 5 · 7"."""
    return title if not title or any(map(str.isalpha, title)) else prefix + title


def _naming(side: SideFindings) -> str:
    """Whose names make the titles: "features" of the other side, own "members", or "none"."""
    own, other = (side.names, side.kind), (side.other_names, side.other_kind)
    if side.categories is not None and side.axis == "column":
        return "members"
    is_better = are_numbered(*other) and not are_numbered(*own)
    if side.kind in WORDS or not are_readable(*other) or (is_better and are_readable(*own)):
        if are_readable(*own):
            return "members"
        if are_positions(*other):
            return "none" if are_positions(*own) else "members"
    return "features"


def _title(words: Words, cluster: int, taken: list[str]) -> str:
    """The words that score higher here than in any other cluster; different from those taken."""
    if name := words.alone.get(cluster):
        return _distinct(name, "", taken)
    scores = words.scores[cluster]
    ranked = np.argsort(-scores, kind="stable")[: np.count_nonzero(scores > 0)]
    if not ranked.size:
        number = cluster + 1 if words.numbers is None else words.numbers[cluster]
        title = words.members[cluster] or "mixed" if words.are_names else f"cluster {number}"
        return _distinct(title, "", taken)
    parts = (title.removeprefix(words.prefix).split(BETWEEN) for title in taken)
    used = {_key(word) for title in parts for word in title}
    best = words.scores.max(axis=0)
    own = [i for i in ranked if scores[i] == best[i] and _key(words.names[i]) not in used]
    strong = [i for i in own if scores[i] >= WEAKEST_WORD * scores[ranked[0]]]
    chosen = [words.names[i] for i in strong or [ranked[0], *own[:1]]]
    title = _join(chosen)
    title = _with_prefix(title, words.prefix) or "no name"
    return _distinct(title, words.members[cluster], taken)


def _join(names: list[str]) -> str:
    """Up to three words, no two alike, as far as there is room."""
    words: dict[str, str] = {}
    for word in filter(None, names):
        length = len(BETWEEN.join([*words.values(), word]))
        if len(words) < TITLE_WORDS and (not words or length <= TITLE_LENGTH):
            words.setdefault(_key(word), word)
    return BETWEEN.join(words.values())


def _distinct(title: str, member: str, taken: list[str]) -> str:
    """The title; if another cluster has it, that of its members, or with a number added."""
    if title in taken and member:
        title = member
    numbered = (f"{title} ({n})" for n in count(2))
    return next(text for text in chain([title], numbered) if text not in taken)


def _key(word: str) -> str:
    """What words that differ only in case or by a plural s have in common."""
    key = word.casefold()
    return key[:-1] if len(key) > 3 and key.isalpha() and key.endswith("s") else key


class OtherNumbersError(InputError):
    """The titles are for fewer or more clusters."""

    def __init__(self, theirs: tuple[int | None, int | None], ours: tuple[int, int]) -> None:
        self.n_clusters = theirs
        wanted, have = (" x ".join(str(n or 0) for n in both) for both in (theirs, ours))
        problem = f"The titles are for {wanted} clusters, but there are {have}."
        super().__init__(problem, advice=f"Cut the model to them first: model.cut({theirs}).")


def with_titles(findings: Findings, titles: Titles | None) -> Findings:
    """Findings whose clusters have these titles; other clusters keep their automatic ones."""
    if titles is None:
        return findings
    file = None if isinstance(titles, Mapping) else str(titles)
    try:
        table: Any = titles
        if file is not None:
            table = json.loads(Path(file).read_text(encoding="utf-8-sig"))
        given = {name: dict(_numbered(table.get(name, {}))) for name in ("rows", "columns")}
        wanted = [n or 0 for n in table.get("n_clusters") or ()]
    except (AttributeError, RecursionError, TypeError, ValueError) as error:
        raise InputError(
            f"These are no titles: {error}", file=file, advice=EXPECTED_TITLES
        ) from None
    if file is not None and wanted and table.get(FIRST) != 1:
        message = "the titles are those of comarkov 0.2, which numbered clusters from 0"
        advice = f'Number them as in the report, and add "{FIRST}": 1 to the file.'
        raise InputError(message, file=file, advice=advice)
    if unknown := table.keys() - {"n_clusters", FIRST, *given}:
        raise InputError(f"Titles have no key {min(unknown)!r}", file=file, advice=EXPECTED_TITLES)
    ours = findings.rows.n_clusters, findings.columns.n_clusters
    if wanted and wanted != list(ours):
        raise OtherNumbersError(tuple(table["n_clusters"]), ours)
    for (name, by_number), side in zip(given.items(), findings.sides, strict=True):
        labels = dict(enumerate(side.cluster_order.tolist(), 1))
        if missing := by_number.keys() - labels.keys():
            message = f"There is no {side.axis} cluster {min(missing)}, which the titles name"
            advice = f"Clusters are numbered from 1 to {side.n_clusters}, as in the report."
            raise InputError(message, file=file, advice=advice)
        own = {labels[number]: title for number, title in by_number.items()}
        sides: dict[str, Any] = {name: replace(side, given_titles=own)}
        findings = replace(findings, **sides)
    return findings


def _numbered(titles: Any) -> Iterator[tuple[int, str]]:
    """Titles with the numbers of their clusters; empty ones are left out."""
    for key, title in titles.items() if isinstance(titles, Mapping) else enumerate([*titles], 1):
        if not isinstance(title, str) or isinstance(titles, str):
            raise TypeError(f"the title {title!r} is not text")
        if text := short_name(title, GIVEN_TITLE_LENGTH):
            yield int(key), text


def titles_json(findings: Findings) -> str | None:
    """The titles that were given, as the text of titles.json; None if there are none."""
    if not any(side.given_titles for side in findings.sides):
        return None
    numbers = [side.n_clusters if side.is_clustered else None for side in findings.sides]
    table = {"n_clusters": numbers, FIRST: 1} | {
        f"{side.axis}s": {str(side.numbers[a]): title for a, title in side.given_titles.items()}
        for side in findings.sides
    }
    return json.dumps(table, indent=1, ensure_ascii=False) + "\n"
