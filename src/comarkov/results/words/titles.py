"""Titles of clusters: up to three words that distinguish a cluster from the others.

A word stands in the title of the cluster for which it scores highest (see ``title_words``), so
titles on one level share no words. Only a cluster whose own words are all weak borrows its best
word and adds an own one: "UA · VX" beside "UA".

Each node of a side's tree has one title. The clusters of the fit get theirs first, then the coarser
and the finer nodes, each against the nodes that it shares a level with.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...joint.messages import plural
from ..levels import SideLevels
from .figures import GENERIC, INFORMATIVE, WORDS, are_positions, are_readable, short_name

if TYPE_CHECKING:
    from ..findings import SideFindings


CANDIDATES = 40  # elements that are considered for each node
FAINT = 1e-12  # score of members that are not typical at all

Merges = list[list[int]]


class Words(NamedTuple):
    """Elements that may stand in titles."""

    names: list[str]  #: shortened
    scores: np.ndarray  #: by (node, element); 0 where an element says nothing about a node
    prefix: str  #: before names that are numbers: "month "
    members: list[str]  #: the name of the most typical member of each node; empty if unreadable
    are_names: bool = True  #: False where neither side has names

    def ranked(self, node: int) -> np.ndarray:
        """The elements that say something about a node, the best first."""
        scores = self.scores[node]
        order = np.argsort(-scores, kind="stable")
        return order[: np.count_nonzero(scores > 0)]


def words_of(side: SideFindings, masses: np.ndarray, leaf: np.ndarray, merges: Merges) -> Words:
    """The words for all nodes of a tree.

    ``masses`` are by (leaf, element of the other side), ``leaf`` is that of each own element, and
    node ``len(masses) + i`` merges the two nodes ``merges[i]``.
    """
    members = _most_typical(side, leaf, len(masses), merges)
    match _naming(side):
        case "members":
            elements, scores = _score_members(side, leaf, len(masses))
            names, kind = side.names[elements], side.kind
            scores = _summed(scores, merges)
        case "features":
            elements, scores = score_features(masses, merges)
            names, kind = side.other_names[elements], side.other_kind
        case _:
            return Words([], np.zeros((len(members), 0)), "", members, are_names=False)
    shown = [short_name(name) for name in names]
    are_numbers = bool(shown) and all(name.isdecimal() for name in shown)
    return Words(shown, scores, f"{kind} " if are_numbers and kind not in GENERIC else "", members)


def _naming(side: SideFindings) -> str:
    """Whose names make the titles: "features" of the other side, own "members", or "none"."""
    own, other = (side.names, side.kind), (side.other_names, side.other_kind)
    if side.kind in WORDS or not are_readable(*other):
        if are_readable(*own):
            return "members"
        if are_positions(*other):
            return "none" if are_positions(*own) else "members"
    return "features"


def score_features(masses: np.ndarray, merges: Merges) -> tuple[np.ndarray, np.ndarray]:
    """Elements of the other side, and their scores by (node, element)."""
    whole = masses.sum(axis=0, dtype=np.float64)
    whole /= whole.sum()
    best: set[int] = set()
    for mass in _node_masses(masses, merges):
        score = _score(mass, mass.sum(), whole)
        top = np.argpartition(score, -CANDIDATES)[-CANDIDATES:] if score.size > CANDIDATES else ...
        best.update(np.arange(score.size)[top][score[top] > 0].tolist())
    elements = np.array(sorted(best), np.int64)
    sizes = _summed(masses.sum(axis=1, keepdims=True, dtype=np.float64), merges)
    few = _summed(np.asarray(masses[:, elements], np.float64), merges)
    return elements, _score(few, sizes, whole[elements])


def _score(mass: np.ndarray, size: np.ndarray | float, whole: np.ndarray) -> np.ndarray:
    """P(y | x̄) log2(lift)^1.5 where the lift is informative, 0 elsewhere; ``whole`` is P(y)."""
    size, whole = np.broadcast_to(size, mass.shape), np.broadcast_to(whole, mass.shape)
    is_more = mass > INFORMATIVE * size * whole
    share = mass[is_more] / size[is_more]
    octaves = np.log2(share / whole[is_more])
    score = np.zeros(mass.shape)
    score[is_more] = share * octaves * np.sqrt(octaves)
    return score


def _score_members(
    side: SideFindings, leaf: np.ndarray, n_leaves: int
) -> tuple[np.ndarray, np.ndarray]:
    """The most typical members of each leaf, and their scores by (leaf, element)."""
    order = side.by_typicality
    elements = np.concatenate([order[leaf[order] == a][:CANDIDATES] for a in range(n_leaves)])
    scores = np.zeros((n_leaves, elements.size))
    typicality = np.maximum(side.typicality[elements], 0) + FAINT
    scores[leaf[elements], np.arange(elements.size)] = typicality
    return elements, scores


def _most_typical(side: SideFindings, leaf: np.ndarray, n_leaves: int, merges: Merges) -> list[str]:
    """The most typical member of each node, by name."""
    if not are_readable(side.names, side.kind):
        return [""] * (n_leaves + len(merges))
    order = side.by_typicality
    order = order[leaf[order] >= 0]
    first = np.full(n_leaves, order.size)
    np.minimum.at(first, leaf[order], np.arange(order.size))
    ranks = first.tolist()
    for a, b in merges:
        ranks.append(min(ranks[a], ranks[b]))
    names = [short_name(side.names[order[rank]]) if rank < order.size else "" for rank in ranks]
    return [f"{side.kind} {name}" if name.isdecimal() else name for name in names]


def _node_masses(masses: np.ndarray, merges: Merges) -> Iterator[np.ndarray]:
    """The masses of each node, of which only those of one level are in memory at a time."""
    level = {a: np.asarray(masses[a], np.float64) for a in range(len(masses))}
    yield from list(level.values())
    for node, (a, b) in enumerate(merges, len(masses)):
        level[node] = level.pop(a) + level.pop(b)
        yield level[node]


def _summed(of_leaves: np.ndarray, merges: Merges) -> np.ndarray:
    """Values of leaves, then their sums over each merged node."""
    sums = np.concatenate([of_leaves, np.zeros((len(merges), of_leaves.shape[1]))])
    for node, (a, b) in enumerate(merges, len(of_leaves)):
        sums[node] = sums[a] + sums[b]
    return sums


MOST = 3  # words of a title
LONGEST = 48  # characters of a title of several words
WEAKEST = 0.2  # score of a word, relative to the best of its node
BETWEEN = " · "


def cluster_titles(side: SideFindings) -> list[str]:
    """One title for each cluster of a side, all different; titles that were given are kept."""
    if side.across is None:
        return []
    if side.n_clusters == 1:
        return [side.given_titles.get(0, _all(side))]
    namer = _Namer(words_of(side, side.across, side.labels, []), dict(side.given_titles))
    namer.name(range(side.n_clusters), ())
    return [namer.titles[a] for a in range(side.n_clusters)]


def titles_from(words: Words) -> list[str]:
    """One title for each node that the words are scored for, all different."""
    namer = _Namer(words, {})
    nodes = range(len(words.scores))
    namer.name(nodes, ())
    return [namer.titles[node] for node in nodes]


def node_titles(side: SideFindings) -> list[str]:
    """One title for each node of a side's tree: leaves first, then merges.

    The nodes of the clusters of the fit have the titles of these clusters. No two nodes on one
    level of the tree have the same title.
    """
    tree = _Tree.of(side)
    if tree is None:
        return []
    root = len(tree.masses) + len(tree.merges) - 1
    titles = {root: _all(side)} | dict(zip(tree.fitted, side.titles, strict=True))
    words = words_of(side, tree.masses, tree.leaf, tree.merges)
    namer = _Namer(words, titles if words.are_names else tree.numbered() | titles)
    for nodes, others in (*tree.coarser(), *tree.finer()):
        namer.name(nodes, others)
    return [namer.titles[node] for node in range(root + 1)]


def _all(side: SideFindings) -> str:
    return f"all {plural(side.kind)}"


class _Tree(NamedTuple):
    """The merges of a side from its leaves to one, through the clusters of the fit."""

    masses: np.ndarray  # by (leaf, element of the other side)
    leaf: np.ndarray  # of each element; -1 in no cluster
    merges: Merges
    fitted: list[int]  # the node of each cluster of the fit

    @classmethod
    def of(cls, side: SideFindings) -> _Tree | None:
        """The tree of a side; None if it is not clustered."""
        levels = SideLevels.of(side.tree, side.axis)
        if levels is None:
            return None
        leaves, fitted = levels.leaves, levels.nodes_at(side.n_clusters)
        leaf = np.where(side.labels < 0, -1, leaves.leaf)
        return cls(leaves.masses.T, leaf, levels.merges.tolist(), fitted.tolist())

    @property
    def _inside(self) -> int:
        """The number of merges inside clusters of the fit, which come first."""
        return len(self.masses) - len(self.fitted)

    def coarser(self) -> Iterator[tuple[list[int], set[int]]]:
        """The nodes above the fit, each with the other nodes of its level."""
        level = set(self.fitted)
        for i in range(self._inside, len(self.merges)):
            level -= set(self.merges[i])
            node = len(self.masses) + i
            yield [node], set(level)
            level.add(node)

    def finer(self) -> Iterator[tuple[list[int], set[int]]]:
        """The pairs of nodes below the fit, each with the other nodes of its level."""
        level = set(self.fitted)
        for i in reversed(range(self._inside)):
            level.remove(len(self.masses) + i)
            yield self.merges[i], set(level)
            level |= set(self.merges[i])

    def numbered(self) -> dict[int, str]:
        """Titles for data without names: clusters 0 + 2 were merged, 1a and 1b are parts of 1."""
        numbers = {node: [a] for a, node in enumerate(self.fitted)}
        for (node,), _ in self.coarser():
            a, b = self.merges[node - len(self.masses)]
            numbers[node] = sorted(numbers[a] + numbers[b])
        titles = {
            node: short_name(f"clusters {' + '.join(map(str, parts))}")
            for node, parts in numbers.items()
        }
        titles |= {node: f"cluster {a}" for a, node in enumerate(self.fitted)}
        for i in reversed(range(self._inside)):
            for node, letter in zip(self.merges[i], "ab", strict=True):
                titles[node] = titles[len(self.masses) + i] + letter
        return titles


class _Namer:
    """Gives titles to nodes, level by level."""

    def __init__(self, words: Words, titles: dict[int, str]) -> None:
        self.words = words
        self.titles = titles

    def name(self, nodes: Iterable[int], others: Iterable[int]) -> None:
        """Name the nodes that have no title yet; ``others`` are the rest of their level."""
        nodes, level = list(nodes), [*nodes, *others]
        best = self.words.scores[level].max(axis=0)
        taken = [self.titles[node] for node in level if node in self.titles]
        for node in nodes:
            if node not in self.titles:
                self.titles[node] = self._title(node, best, taken)
                taken.append(self.titles[node])

    def _title(self, node: int, best: np.ndarray, taken: list[str]) -> str:
        ranked = self.words.ranked(node)
        if not ranked.size:
            title = "mixed" if self.words.are_names else f"cluster {node}"
            return self._distinct(title, node, taken)
        scores = self.words.scores[node]
        used = {_key(word) for title in taken for word in self._split(title)}
        own = [i for i in ranked if scores[i] == best[i] and _key(self.words.names[i]) not in used]
        strong = [i for i in own if scores[i] >= WEAKEST * scores[ranked[0]]]
        return self._distinct(self._joined(strong or [ranked[0], *own[:1]]), node, taken)

    def _joined(self, elements: list[int]) -> str:
        """Up to three words, no two alike, as far as there is room."""
        words: dict[str, str] = {}
        for i in elements:
            word = self.words.names[i]
            length = len(BETWEEN.join([*words.values(), word]))
            if word and len(words) < MOST and (not words or length <= LONGEST):
                words.setdefault(_key(word), word)
        return self.words.prefix + BETWEEN.join(words.values()) if words else "no name"

    def _split(self, title: str) -> list[str]:
        return title.removeprefix(self.words.prefix).split(BETWEEN)

    def _distinct(self, title: str, node: int, taken: list[str]) -> str:
        """The title; if another node of the level has it, with a member or a number added."""
        member = self.words.members[node]
        if title in taken and member:
            title = f"{title}{BETWEEN}{member}"
        if title not in taken:
            return title
        return next(text for n in count(2) if (text := f"{title} ({n})") not in taken)


def _key(word: str) -> str:
    """What words that differ only in case or by a plural s have in common."""
    key = word.casefold()
    return key[:-1] if len(key) > 3 and key.isalpha() and key.endswith("s") else key
