"""The words that titles are made of: elements with a score for each node of a tree.

For cluster x̄ an element y of the other side scores

    P(y | x̄) · log2(lift)^1.5,        lift = P(x̄, y) / (P(x̄) P(y))

its part of I(X̄;Y) per unit of mass, with more weight on the lift: common elements whose lift is
near 1 lose, and rare ones have too small a share to win. Where the other side has no readable
names, and on a side of words, clusters are named by their most typical members instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .names import GENERIC, WORDS, are_positions, are_readable, short_name
from .numbers import INFORMATIVE

if TYPE_CHECKING:
    from .findings import SideFindings

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
