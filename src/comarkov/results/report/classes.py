"""Known classes of rows and columns, beside the clusters: packed, and how well the two agree."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from ...costs.evaluation import matching_accuracy
from ..findings import SideFindings
from .payload import varints

SIDES = (("rows", "row"), ("columns", "column"))
MOST_MATCHED = 200  # classes that are matched with clusters: the table of a matching is dense


def class_sections(results: Any) -> dict[str, bytes]:
    """For each classification, the class of each element in the order of the data; 0 unknown."""
    return {
        f"{name} classes {i}": varints(_codes(classes))
        for _, name in SIDES
        for i, classes in enumerate(_known(results, name).values())
    }


def class_facts(results: Any) -> dict[str, list[dict[str, Any]]]:
    """For each side its classifications: title, classes by size, and accuracy if there is one.

    The accuracy is that of the fit, on elements whose class is known. The page computes the other
    scores, at any level.
    """
    return {
        side: [
            {
                "title": title,
                "classes": _by_size(classes),
                "accuracy": _accuracy(classes, getattr(results.findings, side)),
            }
            for title, classes in _known(results, name).items()
        ]
        for side, name in SIDES
    }


def _known(results: Any, name: str) -> dict[str, np.ndarray]:
    """The classifications of a side in which some class is known."""
    given: dict[str, np.ndarray] = getattr(results.data, f"{name}_classes")
    return {title: classes for title, classes in given.items() if (classes != "").any()}


def _by_size(classes: np.ndarray) -> list[str]:
    counts = Counter(classes[classes != ""].tolist())
    return sorted(counts, key=lambda each: (-counts[each], each))


def _codes(classes: np.ndarray) -> np.ndarray:
    code = {each: i for i, each in enumerate(["", *_by_size(classes)])}
    return np.array([code[each] for each in classes.tolist()], np.int64)


def _accuracy(classes: np.ndarray, side: SideFindings) -> float | None:
    """Accuracy of the fit under the best one-to-one matching; None if that means nothing."""
    known = classes != ""
    if not side.is_clustered or len(set(classes.tolist())) > MOST_MATCHED:
        return None
    return matching_accuracy(classes[known].tolist(), side.labels[known])
