"""What a user asks for on each side, checked against the data."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from ..costs.labels import as_labels
from ..data.joint import Joint
from .optimise import Start


def starts_for(data: Joint, n_clusters: Any, init: Any, fixed: Any) -> tuple[Start, Start]:
    """How rows and columns begin, or an error that says what to ask for instead."""
    counts = pair(n_clusters, "n_clusters")
    given = tuple(
        None if isinstance(labels, str) and labels == "random" else labels
        for labels in pair(None if isinstance(init, str) else init, "init")
    )
    held = pair(fixed, "fixed")
    if counts == (None, None):
        raise ValueError("n_clusters=(None, None) leaves nothing to cluster.")
    taken = "an int >= 1, 'auto' or None"
    return (
        start_for(counts[0], given[0], held[0], data.row_mass, "row", "rows", "n_samples", taken),
        start_for(
            counts[1], given[1], held[1], data.column_mass, "column", "columns", "n_features", taken
        ),
    )


def still_fixed(fixed: Any, labels: list[np.ndarray | None]) -> tuple[Any, Any]:
    """Elements that were fixed, fixed where they have come to be."""

    rows, columns = (
        None if held is None or now is None else np.where(np.asarray(held) >= 0, now, -1)
        for held, now in zip(pair(fixed, "fixed"), labels, strict=True)
    )
    return rows, columns


def pair(value: Any, name: str) -> tuple[Any, Any]:
    """A parameter for both sides as one for each."""
    if value is None or isinstance(value, Integral | str):
        return value, value
    if len(value) != 2:
        raise ValueError(f"{name} must be a pair (rows, columns), got {len(value)} items.")
    return value[0], value[1]


def start_for(
    k: Any, init: Any, fixed: Any, mass: np.ndarray, what: str, many: str, counted: str,
    taken: str = "an int >= 1",
) -> Start:  # fmt: skip
    """Check what the user asked for on one side; its name, its elements', and that of their number.

    ``taken`` says which numbers of clusters may be asked for. Elements without mass are not
    clustered.
    """
    n = mass.size
    available = int((mass > 0).sum())
    none = np.full(n, -1)
    if k is None:
        if init is not None or fixed is not None:
            raise ValueError(f"The {many} are not clustered, so they take no init or fixed labels.")
        return Start(None, mass > 0, none, none >= 0)
    if not isinstance(k, Integral) or int(k) < 1:
        raise ValueError(f"The number of {what} clusters must be {taken}, got {k!r}.")
    k = int(k)
    if k > available:
        raise ValueError(
            f"{k} {what} clusters were asked for, but only {available} {many} have mass "
            f"({counted}={n}): ask for at most {available}."
        )
    held = none if fixed is None else as_labels(fixed, n, f"fixed {what} labels")
    labels = held if init is None else as_labels(init, n, f"init {what} labels")
    labels = np.where(held >= 0, held, labels)
    if labels.max() >= k:
        raise ValueError(f"There are {k} {what} clusters, but a {what} label is {labels.max()}.")
    given = labels[(labels >= 0) & (mass > 0)]
    empty = k - np.unique(given).size
    if empty > available - given.size:
        raise ValueError(
            f"The given {what} labels leave {empty} of {k} clusters empty and too few {many} to "
            "fill them: name every cluster at least once, or ask for fewer."
        )
    return Start(k, mass > 0, labels, held >= 0)
