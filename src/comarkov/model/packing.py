"""Convert values to a JSON tree and plain arrays, and back: a safe alternative to pickles.

JSON's own types are stored as they are. Everything else is an object with a key "is":

    {"is": "array", "name": "a3"}                    an array of numbers, stored beside the tree
    {"is": "Leaves", "parts": {"masses": ...}}       one of the classes below
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from importlib import import_module
from typing import Any

import numpy as np

from .validation import check

#: All classes that a file may name: public ones, and the modules of the others.
PUBLIC = (
    *("AIB", "IBCC", "IBDouble", "IDC", "ITCC", "SIB"),
    *("CoClustering", "MarkovAggregation", "MultiwayClustering", "Weighting"),
    *("Hierarchy", "Information", "MergeTree", "Step"),
)
INNER = {
    "GTest": "costs.lumpability",
    "Leaves": "model.leaves",
    "Lumpability": "costs.lumpability",
    "Model": "model.placing",
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
            return {"is": "tuple", "items": [self.pack(item) for item in value]}
        if type(value) is dict:
            return {"is": "dict", "items": [[self.pack(x) for x in pair] for pair in value.items()]}
        if isinstance(value, np.generic):
            return {"is": "scalar", "name": self._keep(np.asarray(value))}
        if isinstance(value, np.ndarray):
            return self._pack_array(value)
        return self._pack_object(value)

    def _pack_array(self, array: np.ndarray) -> Any:
        if array.dtype != object:
            return {"is": "array", "name": self._keep(array)}
        items = [self.pack(item) for item in array.ravel().tolist()]
        return {"is": "objects", "items": items, "shape": list(array.shape)}

    def _pack_object(self, value: Any) -> Any:
        name = type(value).__name__
        if isinstance(value, np.random.RandomState):
            return {"is": "RandomState", "state": self.pack(value.get_state(legacy=False))}
        if _is_known(name) and type(value) is _class(name):
            return {"is": name, **_taken_apart(value, self.pack)}
        if hasattr(value, "__array__"):  # labels as a pandas or polars series
            return self.pack(np.asarray(value))
        raise TypeError(f"A {name} of {type(value).__module__} cannot be saved: {value!r:.60}.")

    def _keep(self, array: np.ndarray) -> str:
        if id(array) not in self._names:
            name = f"a{len(self.arrays)}"
            self.arrays[name] = array  # keeping it alive also reserves its id
            self._names[id(array)] = name
        return self._names[id(array)]


def unpack(tree: Any, arrays: Mapping[str, np.ndarray]) -> Any:
    """Return the value of a tree."""
    if isinstance(tree, list):
        return [unpack(item, arrays) for item in tree]
    if not isinstance(tree, dict):
        return tree
    kind = tree["is"]
    if kind in ("array", "scalar"):
        return arrays[tree["name"]] if kind == "array" else arrays[tree["name"]][()]
    if kind in _PLAIN:
        return _PLAIN[kind](tree, lambda part: unpack(part, arrays))
    if not _is_known(kind):
        raise ValueError(f"it names an unknown class, {kind!r}")
    parts = {
        group: {name: unpack(part, arrays) for name, part in tree[group].items()}
        for group in tree.keys() - {"is"}
    }
    return check(_put_together(_class(kind), **parts))


def _objects(tree: Any, inner: Callable[[Any], Any]) -> np.ndarray:
    array = np.empty(len(tree["items"]), object)
    array[:] = [inner(item) for item in tree["items"]]
    return array.reshape(tree["shape"])


def _random_state(tree: Any, inner: Callable[[Any], Any]) -> np.random.RandomState:
    state = np.random.RandomState()
    state.set_state(inner(tree["state"]))
    return state


_PLAIN: dict[str, Callable[[Any, Callable[[Any], Any]], Any]] = {
    "float": lambda tree, inner: float(tree["text"]),
    "tuple": lambda tree, inner: tuple(inner(tree["items"])),
    "dict": lambda tree, inner: dict(inner(tree["items"])),
    "objects": _objects,
    "RandomState": _random_state,
}


def _is_known(name: Any) -> bool:
    return name in PUBLIC or name in INNER


def _class(name: str) -> Any:
    package = __package__.partition(".")[0]
    home = package if name in PUBLIC else f"{package}.{INNER[name]}"
    return getattr(import_module(home), name)


def _taken_apart(value: Any, pack: Callable[[Any], Any]) -> dict[str, dict[str, Any]]:
    """Return the fields of a named tuple or dataclass; of an estimator, everything it stores."""
    if hasattr(value, "_asdict"):
        return {"parts": {name: pack(part) for name, part in value._asdict().items()}}
    if is_dataclass(value) and not hasattr(value, "get_params"):
        return {"parts": {part.name: pack(getattr(value, part.name)) for part in fields(value)}}
    parameters = value.get_params(deep=False)
    learnt = {name: part for name, part in vars(value).items() if name not in parameters}
    return {
        "parameters": {
            name: pack(part) for name, part in parameters.items() if name not in NOT_STORED
        },
        "learnt": {name: pack(part) for name, part in learnt.items()},
    }


def _put_together(
    cls: Any,
    parts: dict[str, Any] | None = None,
    parameters: dict[str, Any] | None = None,
    learnt: dict[str, Any] | None = None,
) -> Any:
    if parts is not None:
        return cls(**parts)
    value = cls(**(parameters or {}))
    for name, part in (learnt or {}).items():
        if not (name.startswith("_") or name.endswith("_")):
            raise ValueError(f"a {cls.__name__} has no attribute {name!r}")
        setattr(value, name, part)
    return value
