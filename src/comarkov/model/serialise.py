"""Values as JSON and arrays, and back, with a check of everything that a file may contain."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from functools import partial
from importlib import import_module
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np

from ..joint.objects import as_objects

#: All classes that a file may name, and their modules; public ones are in the package itself.
COCLUSTERINGS = ("AIB", "CoClustering", "IBCC", "IBDouble", "IDC", "ITCC", "SIB")
CLASS_MODULES = {
    **dict.fromkeys((*COCLUSTERINGS, "MarkovAggregation", "MultiwayClustering", "Weighting"), ""),
    **dict.fromkeys(("Hierarchy", "Information", "MergeTree", "Step"), ""),
    "GTest": ".costs.lumpability",
    "Leaves": ".model.leaves",
    "Lumpability": ".costs.lumpability",
    "Model": ".model.leaves",
}
NOT_STORED = ("callback", "checkpoint")  # parameters that have no meaning in another process

Arrays = dict[str, np.ndarray]


class Packer:
    """Converts values to trees; shared arrays are stored once."""

    def __init__(self) -> None:
        self.arrays: Arrays = {}
        self._names: dict[int, str] = {}

    def pack(self, value: Any) -> Any:
        """Return the tree of a value."""
        if value is None or isinstance(value, str | bool) or type(value) is int:
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"is": "float", "text": repr(value)}
        if type(value) is list:
            return [self.pack(item) for item in value]
        if type(value) is tuple:
            return {"is": "tuple", "items": self.pack(list(value))}
        if type(value) is dict:
            return {"is": "dict", "items": [self.pack(list(pair)) for pair in value.items()]}
        if isinstance(value, np.ndarray) and value.dtype == object:
            items = self.pack(value.ravel().tolist())
            return {"is": "objects", "items": items, "shape": list(value.shape)}
        if isinstance(value, np.ndarray | np.generic):
            kind = "array" if isinstance(value, np.ndarray) else "scalar"
            return {"is": kind, "name": self._keep(np.asarray(value))}
        return self._pack_object(value)

    def _pack_object(self, value: Any) -> Any:
        name = type(value).__name__
        if isinstance(value, np.random.RandomState):
            return {"is": "RandomState", "state": self.pack(value.get_state(legacy=False))}
        if name in CLASS_MODULES and type(value) is _class(name):
            return {"is": name} | {
                group: {key: self.pack(part) for key, part in parts.items()}
                for group, parts in _take_apart(value).items()
            }
        if hasattr(value, "__array__"):  # labels as a pandas or polars series
            return self.pack(np.asarray(value))
        raise TypeError(f"A {name} of {type(value).__module__} cannot be saved: {value!r:.60}.")

    def _keep(self, array: np.ndarray) -> str:
        name = self._names.setdefault(id(array), f"a{len(self.arrays)}")
        self.arrays[name] = array  # keeping it alive also reserves its id
        return name


def unpack(tree: Any, arrays: Mapping[str, np.ndarray]) -> Any:
    """Return the value of a tree."""
    inner = partial(unpack, arrays=arrays)
    match tree:
        case list():
            return [inner(item) for item in tree]
        case {"is": "float", "text": text}:
            return float(text)
        case {"is": "tuple", "items": items}:
            return tuple(inner(items))
        case {"is": "dict", "items": items}:
            return dict(inner(items))
        case {"is": "array", "name": name}:
            return arrays[name]
        case {"is": "scalar", "name": name}:
            return arrays[name][()]
        case {"is": "objects", "items": items, "shape": shape}:
            return as_objects(inner(items)).reshape(shape)
        case {"is": "RandomState", "state": state}:
            random = np.random.RandomState()
            random.set_state(inner(state))
            return random
        case {"is": str(name)} if name in CLASS_MODULES:
            groups = {
                group: {key: inner(part) for key, part in tree[group].items()}
                for group in tree.keys() - {"is"}
            }
            return checked(_put_together(_class(name), **groups))
        case dict():
            raise ValueError(f"it names an unknown class, {tree.get('is')!r}")
    return tree


def _class(name: str) -> Any:
    package = __package__.partition(".")[0]
    return getattr(import_module(package + CLASS_MODULES[name]), name)


def _take_apart(value: Any) -> dict[str, dict[str, Any]]:
    """The fields of a named tuple or dataclass; of an estimator, everything it stores."""
    if not hasattr(value, "get_params"):
        names = getattr(value, "_fields", None) or [field.name for field in fields(value)]
        return {"parts": {name: getattr(value, name) for name in names}}
    parameters = value.get_params(deep=False)
    learnt = {name: part for name, part in vars(value).items() if name not in parameters}
    stored = {name: part for name, part in parameters.items() if name not in NOT_STORED}
    return {"parameters": stored, "learnt": learnt}


def _put_together(cls: Any, parts: Any = None, parameters: Any = None, learnt: Any = None) -> Any:
    if parts is not None:
        return cls(**parts)
    value = cls(**parameters)
    for name, part in learnt.items():
        if not (name.startswith("_") or name.endswith("_")):
            raise ValueError(f"a {cls.__name__} has no attribute {name!r}")
        setattr(value, name, part)
    return value


# --- what a file may contain --------------------------------------------------------------------


def checked(value: Any) -> Any:
    """Return an object from a file, or raise a ValueError that names what is wrong with it.

    A digest shows that a file is as it was written. Whoever edits a model on purpose can correct
    the digest too: then types are those that the class declares, and shapes and ranges must match.
    """
    name, hints = type(value).__name__, get_type_hints(type(value))
    is_estimator = hasattr(value, "_validate_params")
    if is_estimator:
        value._validate_params()
    for part in hints.keys() - (value.get_params(deep=False).keys() if is_estimator else ()):
        if hasattr(value, part) and not fits(getattr(value, part), hints[part]):
            raise ValueError(f"{part} of its {name} is of the wrong type")
    for part, matches in SHAPES[name](value) if name in SHAPES else ():
        if not matches:
            raise ValueError(f"{part} of its {name} does not match the rest")
    return value


def fits(value: Any, hint: Any) -> bool:
    """Is a value of the type that an annotation states?"""
    kind, inner = get_origin(hint), get_args(hint)
    if kind in (Union, UnionType):
        return any(fits(value, choice) for choice in inner)
    if kind is list:
        return isinstance(value, list) and all(fits(item, inner[0]) for item in value)
    if kind is dict:
        return isinstance(value, dict) and all(
            fits(part, of) for item in value.items() for part, of in zip(item, inner, strict=True)
        )
    if kind is not None or hint is Any or not isinstance(hint, type):
        return True  # tuples and arrays of many forms, which parameters have: see their checks
    if hint in (int, float):
        numbers = (int, float) if hint is float else int
        return isinstance(value, numbers) and not isinstance(value, bool)
    return isinstance(value, hint)


Matches = Iterator[tuple[str, Any]]  # a part, and whether it matches the others


def _match_leaves(leaves: Any) -> Matches:
    masses, leaf, number = leaves
    count = number.size
    yield "masses", masses.ndim == 2 and masses.dtype.kind in "biuf" and masses.shape[1] == count
    yield "masses", np.isfinite(masses).all() and (masses >= 0).all()
    yield "leaf", _are_labels(leaf, count)
    yield "number", count and _are_labels(number, count) and number.min() >= 0


def _match_model(model: Any) -> Matches:
    sides = model.rows, model.columns
    if None not in sides:
        yield "rows", model.rows.masses.shape[0] == model.columns.leaf.size
        yield "columns", model.columns.masses.shape[0] == model.rows.leaf.size
    for name, side in zip(("row_names", "column_names"), sides, strict=True):
        names = getattr(model, name)
        yield name, names is None or side is None or names.shape == (side.leaf.size,)
    yield "coupling", -1 <= model.coupling <= 1
    yield "scale", isinstance(model.scale, float) and 0 < model.scale < np.inf
    yield "spread", isinstance(model.spread, float) and model.spread > 0


def _match_coclustering(model: Any) -> Matches:
    yield "_model", hasattr(model, "_model")
    yield "beta_", 0 <= getattr(model, "beta_", -1) <= 1
    for name, side in (("row", model._model.rows), ("column", model._model.columns)):
        if side is None:
            continue
        labels = getattr(model, f"{name}_labels_", None)
        yield f"{name}_labels_", labels is not None and _are_labels(labels, side.k)
        names = "feature_names_in" if name == "column" else "row_names_in"
        keys = (f"{name}_{part}" for part in ("labels", "confidence", "margins", "agreement"))
        for key in (*keys, names):
            values = getattr(model, f"{key}_", None)
            yield f"{key}_", values is None or np.shape(values) == (side.leaf.size,)


def _match_chain(model: Any) -> Matches:
    labels: Any = getattr(model, "labels_", None)
    yield "labels_", isinstance(labels, np.ndarray) and _are_labels(labels, labels.size)
    k = int(labels.max(initial=-1)) + 1
    for part, shape in (
        ("states_", labels.shape),
        ("stationary_distribution_", labels.shape),
        ("cluster_distribution_", (k,)),
        ("transition_matrix_", (k, k)),
    ):
        values: Any = getattr(model, part, None)
        yield part, np.shape(values) == shape


def _are_labels(values: np.ndarray, count: int) -> bool:
    """Are these numbers of clusters below a count, or -1?"""
    if values.ndim != 1 or values.dtype.kind not in "iu":
        return False
    return not values.size or bool(values.min() >= -1 and values.max() < count)


SHAPES: dict[str, Callable[[Any], Matches]] = {
    "Hierarchy": lambda hierarchy: iter([("beta", 0 <= hierarchy.beta <= 1)]),
    "Leaves": _match_leaves,
    "MarkovAggregation": _match_chain,
    "Model": _match_model,
    **dict.fromkeys(COCLUSTERINGS, _match_coclustering),
}
