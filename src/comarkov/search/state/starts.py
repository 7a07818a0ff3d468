"""Starts: the numbers of clusters and labels that the user gave, checked against the data."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import Any, NamedTuple, Protocol

import numpy as np

from ...costs.labels import as_labels


@dataclass(frozen=True)
class Start:
    """The start of one side.

    ``k`` is None if the side is not clustered. ``labels`` are those given by the user, else -1;
    ``fixed`` marks those that must not change. Empty rows and columns are not clustered.
    """

    k: int | None
    has_mass: np.ndarray
    labels: np.ndarray
    fixed: np.ndarray

    @property
    def is_given(self) -> bool:
        """Does every element have a given label?"""
        return self.k is None or bool((self.labels[self.has_mass] >= 0).all())

    @property
    def has_numbers(self) -> bool:
        """Did the user number any cluster?"""
        return bool((self.labels[self.has_mass] >= 0).any())

    @cached_property
    def free(self) -> np.ndarray:
        """The elements that may move."""
        return np.flatnonzero(self.has_mass & ~self.fixed)

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        """Complete the labels at random so that no cluster is empty."""
        assert self.k is not None
        labels = np.where(self.has_mass, self.labels, -1)
        missing = np.setdiff1d(np.arange(self.k), labels)
        unlabelled = np.flatnonzero(self.has_mass & (labels < 0))
        labels[unlabelled] = rng.integers(self.k, size=unlabelled.size)
        labels[rng.permutation(unlabelled)[: missing.size]] = missing
        return labels


class ElementWords(NamedTuple):
    """The words for the elements of a side in messages."""

    one: str
    many: str
    counted: str  # the name of their number
    counts: str = "an int >= 1"  # valid numbers of clusters


ANY_COUNT = "an int >= 1, 'auto' or None"
ROW_WORDS = ElementWords("row", "rows", "n_samples", ANY_COUNT)
COLUMN_WORDS = ElementWords("column", "columns", "n_features", ANY_COUNT)


class HasMasses(Protocol):
    """Data with the masses of their rows and columns."""

    @property
    def row_mass(self) -> np.ndarray:
        """Positive, or 0 for empty rows."""

    @property
    def column_mass(self) -> np.ndarray:
        """Positive, or 0 for empty columns."""


def starts_for(data: HasMasses, n_clusters: Any, init: Any, fixed: Any) -> tuple[Start, Start]:
    """Return the starts of rows and columns, or raise an error that states what is valid."""
    counts = pair(n_clusters, "n_clusters")
    if counts == (None, None):
        raise ValueError("n_clusters=(None, None) leaves nothing to cluster.")
    rows, columns = (
        start_for(*parameters)
        for parameters in zip(
            counts,
            pair(init, "init"),
            pair(fixed, "fixed"),
            (data.row_mass, data.column_mass),
            (ROW_WORDS, COLUMN_WORDS),
            strict=True,
        )
    )
    return rows, columns


def free_start(k: int | None, mass: np.ndarray) -> Start:
    """Return a random start in k clusters."""
    none = np.full(mass.size, -1)
    return Start(k, mass > 0, none, none >= 0)


def still_fixed(fixed: Any, labels: list[np.ndarray | None]) -> tuple[Any, Any]:
    """Return fixed labels for the same elements, at their present labels."""

    rows, columns = (
        None if given is None or now is None else np.where(np.asarray(given) >= 0, now, -1)
        for given, now in zip(pair(fixed, "fixed"), labels, strict=True)
    )
    return rows, columns


def pair(value: Any, name: str) -> tuple[Any, Any]:
    """Return a parameter as a pair, for rows and for columns."""
    if value is None or isinstance(value, Integral | str):
        return value, value
    if len(value) != 2:
        raise ValueError(f"{name} must be a pair (rows, columns), got {len(value)} items.")
    return value[0], value[1]


def start_for(k: Any, init: Any, fixed: Any, mass: np.ndarray, words: ElementWords) -> Start:
    """Check the parameters of one side and return its start."""
    n = mass.size
    available = int((mass > 0).sum())
    start = free_start(None, mass)
    if k is None:
        if init is not None or fixed is not None:
            raise ValueError(
                f"The {words.many} are not clustered, so they take no init or fixed labels."
            )
        return start
    if not isinstance(k, Integral) or int(k) < 1:
        raise ValueError(f"The number of {words.one} clusters must be {words.counts}, got {k!r}.")
    k = int(k)
    if k > available:
        raise ValueError(
            f"{k} {words.one} clusters are too many: only {available} {words.many} have mass "
            f"({words.counted}={n}). Use at most {available}."
        )
    kept = start.labels if fixed is None else as_labels(fixed, n, f"fixed {words.one} labels")
    labels = kept if init is None else as_labels(init, n, f"init {words.one} labels")
    labels = np.where(kept >= 0, kept, labels)
    _check_clusters(labels, k, mass, words)
    return Start(k, mass > 0, labels, kept >= 0)


def _check_clusters(labels: np.ndarray, k: int, mass: np.ndarray, words: ElementWords) -> None:
    """Raise an error if labels are too large, or leave too few elements for the other clusters."""
    if labels.max() >= k:
        raise ValueError(
            f"There are {k} {words.one} clusters, but a {words.one} label is {labels.max()}."
        )
    given = labels[(labels >= 0) & (mass > 0)]
    empty = k - np.unique(given).size
    if empty > int((mass > 0).sum()) - given.size:
        raise ValueError(
            f"The given {words.one} labels leave {empty} of {k} clusters empty and too few "
            f"{words.many} to fill them: use every label at least once, or fewer clusters."
        )
