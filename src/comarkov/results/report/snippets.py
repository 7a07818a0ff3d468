"""Short extracts of the texts of a side, each around the words that are typical of its cluster."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from ..findings import SideFindings
from .payload import compress

WIDTH = 200  # characters of a snippet
DISTINCTIVE = 8  # words of a cluster that a snippet is chosen for: those that the page marks
READ = 5_000  # characters of a text in which a snippet is looked for
BUDGET = 900_000  # compressed bytes of all snippets
WORD = re.compile(r"\w\w+")
CONTROLS = re.compile(r"[\x00-\x1f\x7f\u2028\u2029]")


class Snippets(NamedTuple):
    """Snippets in the order of the data, empty where there is no room, and how many there are."""

    text: bytes  # one line each
    number: int


def pack_snippets(texts: np.ndarray, side: SideFindings, budget: int = BUDGET) -> Snippets:
    """The snippets of all texts or, if they are too long, of the most typical in each cluster."""
    weights = [_weights(side, cluster) for cluster in range(side.n_clusters)]
    lines = [
        snippet(str(text), weights[label] if 0 <= label < len(weights) else {})
        for text, label in zip(texts, side.labels.tolist(), strict=True)
    ]
    while (size := _size(lines, budget)) > budget:
        kept = int(0.95 * budget / size * sum(map(bool, lines)))
        lines = _most_typical(lines, side, kept)
    return Snippets("\n".join(lines).encode(), sum(map(bool, lines)))


def _size(lines: list[str], budget: int) -> float:
    """About how many bytes the lines take; of many, a tenth is compressed to know it."""
    letters = sum(map(len, lines))
    if 4 * letters <= budget:  # no letter takes more than four bytes
        return 0
    step = 10 if letters > 3 * budget else 1
    return step * len(compress("\n".join(lines[::step]).encode()))


def _weights(side: SideFindings, cluster: int) -> dict[str, float]:
    """The distinctive words of a cluster, each with its part of the information."""
    return {each.name.lower(): each.bits for each in side.distinctive(cluster, DISTINCTIVE)}


def snippet(text: str, weights: dict[str, float], width: int = WIDTH) -> str:
    """The part of a text that has most of these words, each counted once; else its beginning.

    Examples
    --------
    >>> snippet("Good morning. The tea is hot and the rum is old.", {"tea": 2, "rum": 1}, 20)
    '… tea is hot and the …'
    """
    text = " ".join(CONTROLS.sub(" ", text[:READ]).split())
    if len(text) <= width:
        return text
    start = _densest(_places(text, weights), weights, width)
    if start + width > len(text):  # rather the whole end
        start = min(start, text.find(" ", len(text) - width - 1) + 1 or start)
    end = start + width
    part = text[start:end]
    if end < len(text):
        whole = part if text[end] == " " else part.rsplit(" ", 1)[0]
        part = f"{whole.rstrip()} …"
    return f"… {part}" if start else part


def _places(text: str, weights: dict[str, float]) -> list[tuple[int, str]]:
    """Where the words begin that have a weight."""
    lower = text.lower()
    if len(lower) != len(text):  # a few letters have a lower case of two letters
        lower = "".join(low if len(low := letter.lower()) == 1 else letter for letter in text)
    words = ((match.start(), match.group()) for match in WORD.finditer(lower))
    return [(start, word) for start, word in words if word in weights]


def _densest(places: list[tuple[int, str]], weights: dict[str, float], width: int) -> int:
    """Where the window begins whose different words weigh most; 0 without words.

    It begins at one of the words, or at the beginning if that contains as much.
    """
    best, most = 0, 0.0
    for i, (start, _) in enumerate([(0, ""), *places]):
        inside: set[str] = set()
        for place, word in places[max(i - 1, 0) :]:
            if place + len(word) > start + width:
                break
            inside.add(word)
        weight = sum(weights[word] for word in inside)
        if weight > most * (1 + 1e-9):
            best, most = start, weight
    return best


def _most_typical(lines: list[str], side: SideFindings, kept: int) -> list[str]:
    """Only so many of the lines, those of the lowest ranks."""
    ranks = np.where(side.ranks > 0, side.ranks, side.ranks.size + 1)
    has_line = np.array([bool(line) for line in lines])
    order = np.lexsort((ranks, ~has_line))
    chosen = np.zeros(len(lines), bool)
    chosen[order[:kept]] = True
    return [line if keep else "" for line, keep in zip(lines, chosen, strict=True)]
