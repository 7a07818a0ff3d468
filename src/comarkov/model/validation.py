"""Checks of what a file says about a model, before anything is done with it.

A digest shows that a file is as it was written. Whoever edits a model on purpose can correct the
digest too, so all parts are checked: their types, their shapes and ranges, and whether they match.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np

PER_SIDE = ("labels", "confidence", "margins", "agreement", "names_in")  # a value for each element
NUMBERS = "biuf"


def check(value: Any) -> Any:
    """Return an object from a file, or raise a ValueError that names what is wrong with it."""
    name = type(value).__name__
    hints = get_type_hints(type(value))
    for part, content in _parts(value).items():
        if part in hints and not fits(content, hints[part]):
            raise ValueError(f"{part} of its {name} is of the wrong type")
    if hasattr(value, "_validate_params"):
        value._validate_params()
    problem = next((problem for problem in CHECKS.get(name, _nothing)(value) if problem), None)
    if problem is not None:
        raise ValueError(f"{problem} of its {name} does not match the rest")
    return value


def fits(value: Any, hint: Any) -> bool:
    """Is a value of the type that an annotation states?"""
    kind = get_origin(hint)
    if kind in (Union, UnionType):
        return any(fits(value, choice) for choice in get_args(hint))
    if kind is list:
        return isinstance(value, list) and all(fits(item, get_args(hint)[0]) for item in value)
    if kind is dict:
        of_key, of_value = get_args(hint)
        return isinstance(value, dict) and all(
            fits(key, of_key) and fits(item, of_value) for key, item in value.items()
        )
    if kind is not None or hint is Any or not isinstance(hint, type):
        return True  # tuples and arrays of many forms, which parameters have: see their checks
    if hint is float:
        return isinstance(value, float | int) and not isinstance(value, bool)
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, NoneType if hint is None else hint)


def _parts(value: Any) -> dict[str, Any]:
    return value._asdict() if hasattr(value, "_asdict") else vars(value)


# --- what must match ------------------------------------------------------------------------------

Problems = Iterable[str | None]  # the parts that do not match


def _nothing(value: Any) -> Problems:
    return ()


def _leaves(leaves: Any) -> Problems:
    masses, leaf, number = leaves
    count = number.size
    yield None if _is_numeric(masses, 2) and masses.shape[1] == count else "masses"
    yield None if np.isfinite(masses).all() and (masses >= 0).all() else "masses"
    yield None if _are_labels(leaf, count) else "leaf"
    yield None if count and _are_labels(number, count) and number.min() >= 0 else "number"


def _model(model: Any) -> Problems:
    sides = model.rows, model.columns
    for name, side, other in zip(("rows", "columns"), sides, reversed(sides), strict=True):
        if side is not None and other is not None and side.masses.shape[0] != other.leaf.size:
            yield name
    for name, side in zip(("row_names", "column_names"), sides, strict=True):
        names = getattr(model, name)
        if names is not None and side is not None and names.shape != (side.leaf.size,):
            yield name
    yield None if -1 <= model.coupling <= 1 else "coupling"
    yield None if 0 < model.scale < np.inf else "scale"
    yield None if model.spread > 0 else "spread"


def _hierarchy(hierarchy: Any) -> Problems:
    yield None if 0 <= hierarchy.beta <= 1 else "beta"


def _coclustering(model: Any) -> Problems:
    """The labels of both sides, and what is known of each element and cluster."""
    if not hasattr(model, "_model"):
        yield "_model"
        return
    stored = model._model
    yield None if 0 <= getattr(model, "beta_", -1) <= 1 else "beta_"
    for name, side in (("row", stored.rows), ("column", stored.columns)):
        if side is None:
            continue
        for part in PER_SIDE:
            key = "feature_names_in_" if (name, part) == ("column", "names_in") else None
            key = key or f"{name}_{part}_"
            values = getattr(model, key, None)
            if values is not None and np.shape(values) != (side.leaf.size,):
                yield key
        labels = getattr(model, f"{name}_labels_", None)
        yield None if labels is not None and _are_labels(labels, side.k) else f"{name}_labels_"
        stability = getattr(model, f"{name}_stability_", None)
        if stability is not None and np.shape(stability) != (side.k,):
            yield f"{name}_stability_"


def _chain(model: Any) -> Problems:
    """The labels of states, and the coarse chain."""
    labels: Any = getattr(model, "labels_", None)
    if not _is_numeric(labels, 1) or not _are_labels(labels, labels.size):
        yield "labels_"
        return
    k = int(labels.max(initial=-1)) + 1
    for part, shape in (
        ("states_", labels.shape),
        ("stationary_distribution_", labels.shape),
        ("cluster_distribution_", (k,)),
        ("transition_matrix_", (k, k)),
    ):
        values: Any = getattr(model, part, None)
        yield None if np.shape(values) == shape else part


def _is_numeric(value: Any, dimensions: int) -> bool:
    is_array = isinstance(value, np.ndarray)
    return is_array and value.ndim == dimensions and value.dtype.kind in NUMBERS


def _are_labels(values: np.ndarray, count: int) -> bool:
    """Are these numbers of clusters below a count, or -1?"""
    if values.ndim != 1 or values.dtype.kind not in "iu":
        return False
    return not values.size or (values.min() >= -1 and values.max() < count)


CHECKS: dict[str, Callable[[Any], Problems]] = {
    "Hierarchy": _hierarchy,
    "Leaves": _leaves,
    "MarkovAggregation": _chain,
    "Model": _model,
    **dict.fromkeys(
        ("AIB", "CoClustering", "IBCC", "IBDouble", "IDC", "ITCC", "SIB"), _coclustering
    ),
}
