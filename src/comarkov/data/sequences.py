"""Sequences of states: what they may hold, and how often each state follows each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from .inputs import is_matrix

KINDS = {"i": "int", "u": "int", "b": "bool", "U": "str", "S": "bytes", "f": "float"}


def are_sequences(X: Any) -> bool:
    """Is it a sequence of states, or several that are no square matrix of numbers?"""
    if is_matrix(X):
        return False
    if hasattr(X, "shape"):
        is_text = getattr(getattr(X, "dtype", None), "kind", None) in ("U", "S")
        return len(X.shape) == 1 or is_text
    if not isinstance(X, Sequence):
        return False
    lengths = {len(row) if np.ndim(row) == 1 else -1 for row in X}
    return lengths != {len(X)} or any(isinstance(item, str) for item in X[0])


def numbered(X: Any) -> tuple[np.ndarray, list[np.ndarray]]:
    """The states of one sequence or of several, and the sequences as numbers of states."""
    one = all(np.ndim(item) == 0 for item in X)
    given = [X] if one else list(X)
    lists = [np.asarray(some) for some in given]
    if not lists or any(some.ndim != 1 for some in lists):
        raise ValueError("Sequences are 1-D, and their states whole numbers or strings.")
    kinds = set().union(*map(_kinds, given, lists))
    if "nothing" in kinds:
        raise ValueError(
            "States are missing (None, NaN or masked). A sequence may be cut there: pass the parts "
            "between the gaps as a list of sequences."
        )
    if len(kinds) > 1:
        raise ValueError(f"States must be all of one kind, got {', '.join(sorted(kinds))}.")
    if kinds & {"float", "complex"} or any(some.dtype.kind not in "iubUSO" for some in lists):
        raise ValueError("Sequences are 1-D, and their states whole numbers or strings.")
    try:
        states, number = np.unique(np.concatenate(lists), return_inverse=True)
    except TypeError as error:
        raise ValueError("States must be all of one kind: numbers or strings.") from error
    ends = np.cumsum([some.size for some in lists])[:-1]
    sequences = np.split(number, ends)
    return states, sequences


def _kinds(given: Any, array: np.ndarray) -> set[str]:
    """What kinds of states a sequence has, before NumPy makes them one."""
    if np.ma.is_masked(given) or (array.dtype.kind == "f" and np.isnan(array).any()):
        return {"nothing"}
    if array.dtype.kind != "O" and hasattr(given, "dtype"):
        return {KINDS.get(array.dtype.kind, str(array.dtype))} if array.size else set()
    items = given if array.dtype.kind != "O" else array
    types = set(map(type, items))
    kinds = {_kind(some) for some in types}
    if "float" in kinds and any(item != item for item in items if isinstance(item, float)):
        kinds.add("nothing")
    return kinds


def _kind(some: type) -> str:
    if some.__name__ in ("NoneType", "NAType", "NaTType"):
        return "nothing"
    for kinds, name in (
        ((bool, np.bool_), "bool"),
        ((int, np.integer), "int"),
        ((str,), "str"),
        ((bytes,), "bytes"),
        ((float, np.floating), "float"),
    ):
        if issubclass(some, kinds):
            return name
    return some.__name__


def transitions(sequences: list[np.ndarray], n: int) -> sp.csr_array:
    """How often each of n states follows each; none from the end of a sequence to the next."""
    before = np.concatenate([some[:-1] for some in sequences])
    after = np.concatenate([some[1:] for some in sequences])
    return sp.csr_array((np.ones(before.size, np.int64), (before, after)), (n, n))
