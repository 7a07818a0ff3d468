"""Sequences of states: which types they may have, and how often each state follows another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from .inputs import is_matrix

MISSING = "missing"
KINDS = {"i": "int", "u": "int", "b": "bool", "U": "str", "S": "bytes", "f": "float"}
SHAPE = (
    "A sequence is a 1-D list or array of states, which are whole numbers or strings: "
    '["sun", "rain", "sun"]'
)


def are_sequences(X: Any) -> bool:
    """Is X a sequence of states, or several of them, rather than a square matrix of numbers?"""
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
    is_one = all(np.ndim(item) == 0 for item in X)
    originals = [X] if is_one else list(X)
    arrays = [np.asarray(sequence) for sequence in originals]
    if not arrays or any(array.ndim != 1 for array in arrays):
        raise ValueError(SHAPE)
    kinds = set().union(*map(_kinds, originals, arrays))
    if MISSING in kinds:
        raise ValueError(
            "States are missing (None, NaN or masked). Split the sequence there: pass the parts "
            "between the gaps as a list of sequences."
        )
    if len(kinds) > 1:
        raise ValueError(
            f"All states must be of one type, got {', '.join(sorted(kinds))}. Convert them, for "
            "example: [str(state) for state in X]"
        )
    if kinds & {"float", "complex"} or any(array.dtype.kind not in "iubUSO" for array in arrays):
        raise ValueError(SHAPE)
    try:
        states, number = np.unique(np.concatenate(arrays), return_inverse=True)
    except TypeError as error:
        raise ValueError("All states must be of one type: numbers or strings.") from error
    ends = np.cumsum([array.size for array in arrays])[:-1]
    return states, np.split(number, ends)


def _kinds(original: Any, array: np.ndarray) -> set[str]:
    """The types of the states in a sequence, before NumPy converts them to one."""
    if np.ma.is_masked(original) or (array.dtype.kind == "f" and np.isnan(array).any()):
        return {MISSING}
    if array.dtype.kind != "O" and hasattr(original, "dtype"):
        return {KINDS.get(array.dtype.kind, str(array.dtype))} if array.size else set()
    items = original if array.dtype.kind != "O" else array
    kinds = {_kind(item_type) for item_type in set(map(type, items))}
    if "float" in kinds and any(item != item for item in items if isinstance(item, float)):
        kinds.add(MISSING)
    return kinds


def _kind(item_type: type) -> str:
    if item_type.__name__ in ("NoneType", "NAType", "NaTType"):
        return MISSING
    for types, name in (
        ((bool, np.bool_), "bool"),
        ((int, np.integer), "int"),
        ((str,), "str"),
        ((bytes,), "bytes"),
        ((float, np.floating), "float"),
    ):
        if issubclass(item_type, types):
            return name
    return item_type.__name__


def transitions(sequences: list[np.ndarray], n: int) -> sp.csr_array:
    """Counts of transitions between n states; none from the end of a sequence to the next."""
    before = np.concatenate([sequence[:-1] for sequence in sequences])
    after = np.concatenate([sequence[1:] for sequence in sequences])
    return sp.csr_array((np.ones(before.size, np.int64), (before, after)), (n, n))
