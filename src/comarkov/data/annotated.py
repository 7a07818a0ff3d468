"""AnnData: which of its matrices holds weights, and the names that go with it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

X = "X"
RAW = "raw"
#: Names under which single-cell tools keep counts, the most common first.
USUAL_LAYERS = ("counts", "raw_counts", RAW, "count", "umi", "umis")


class Layer(NamedTuple):
    """One matrix of an AnnData object, under the name by which users choose it."""

    name: str
    matrix: Any
    row_names: Any
    column_names: Any

    def __str__(self) -> str:
        return self.name if self.name == X else f"layers[{self.name!r}]"

    @property
    def choice(self) -> str:
        """The keyword of ``comarkov.read`` that chooses this matrix."""
        return f'layer="{self.name}"'


class Raw(Layer):
    """The matrix in ``.raw``, which may have more variables than X."""

    def __str__(self) -> str:
        return ".raw"


def is_anndata(annotated: Any) -> bool:
    """Is it an AnnData object? Nothing is imported: it is recognised by its attributes."""
    return all(hasattr(annotated, part) for part in ("X", "obs_names", "var_names"))


def layers(annotated: Any) -> list[Layer]:
    """All matrices: X first, then the usual layers of counts, ``.raw`` among them, then others."""
    own, variables = getattr(annotated, "layers", {}), annotated.var_names
    raw: Any = getattr(annotated, "raw", None)
    usual = [name for name in USUAL_LAYERS if name in own or (name == RAW and raw is not None)]
    others = (name for name in own if name is not None)  # which is X from anndata 0.13 on
    names = [*usual, *(name for name in others if name not in usual)]
    main = [] if annotated.X is None or X in own else [X]
    return [
        Raw(RAW, in_memory(raw.X), annotated.obs_names, raw.var_names)
        if name == RAW and name not in own
        else Layer(
            name,
            in_memory(annotated.X if name == X and name not in own else own[name]),
            annotated.obs_names,
            variables,
        )
        for name in (*main, *names)
    ]


def weights_of(annotated: Any) -> Layer:
    """X if its values are weights; else the first other matrix of counts, or of weights.

    Scaled data have negative values, and the counts are then in a layer or in ``.raw``. Where no
    matrix holds weights this is the first, whose values are then refused.
    """
    every = layers(annotated)
    if not every:
        raise ValueError("The AnnData object has no X, no .raw and no layers.")
    if every[0].name == X and problem(every[0].matrix) is None:
        return every[0]
    others = [layer for layer in every if problem(layer.matrix) is None]
    counts = (layer for layer in others if _are_whole(layer.matrix))
    return next(counts, others[0] if others else every[0])


def problem(matrix: Any) -> str | None:
    """Why values are not weights; None if they are."""
    values = _values(matrix)
    if values.size == 0:
        return None
    if values.dtype.kind not in "iufb":
        return f"values of type {values.dtype}"
    low, high = values.min(), values.max()
    if np.isnan(low) or np.isinf(high):
        return "missing or infinite values"
    return f"negative values (smallest: {low:g})" if low < 0 else None


def in_memory(matrix: Any) -> Any:
    """A matrix that may be on disk, as an array or sparse matrix."""
    if hasattr(matrix, "to_memory"):
        return matrix.to_memory()
    return matrix if sp.issparse(matrix) or isinstance(matrix, np.ndarray) else np.asarray(matrix)


def _values(matrix: Any) -> np.ndarray:
    if not sp.issparse(matrix):
        return np.asarray(matrix)
    return matrix.data if matrix.format in ("csr", "csc", "coo") else matrix.tocoo().data


def _are_whole(matrix: Any) -> bool:
    return all((part == np.floor(part)).all() for part in _parts(_values(matrix)))


def _parts(values: np.ndarray, size: int = 1 << 20) -> Iterator[np.ndarray]:
    """Values piece by piece: the first that is not a whole number usually comes early."""
    flat = values.ravel()
    return (flat[start : start + size] for start in range(0, flat.size, size))
