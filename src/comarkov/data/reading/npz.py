"""The npz file of a matrix with names, which SciPy can load, too."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..writing import whole_file


def write_npz(
    path: str | os.PathLike[str],
    matrix: sp.csr_array,
    names: Mapping[str, np.ndarray],
    facts: Mapping[str, str],
) -> None:
    """Write a matrix, the names of "row" and "column" where it has them, and facts about it."""
    parts: dict[str, Any] = {
        "format": b"csr",
        "shape": np.array(matrix.shape),
        "data": matrix.data,
        "indices": matrix.indices,
        "indptr": matrix.indptr,
        "_is_array": True,
        **facts,
    }
    for side, listed in names.items():
        parts |= _joined(listed, side)
    with whole_file(path) as draft, draft.open("wb") as file:
        np.savez_compressed(file, **parts)


def _joined(names: np.ndarray, side: str) -> dict[str, np.ndarray]:
    """Names end to end in UTF-8, and where each ends: one long name does not widen all."""
    encoded = [name.encode("utf-8", "surrogatepass") for name in names]
    ends = np.cumsum([len(name) for name in encoded], dtype=np.int64)
    text = np.frombuffer(b"".join(encoded), np.uint8)
    return {f"{side}_names": text, f"{side}_name_ends": ends}


def unjoined(parts: dict[str, np.ndarray], side: str) -> list[str] | None:
    """The names of a side, taken out of the parts of a file; None if it has none."""
    if f"{side}_names" not in parts:
        return None
    text = parts.pop(f"{side}_names").tobytes()
    if f"{side}_name_ends" not in parts:
        raise ValueError(f"{side}_name_ends is missing, which tells its {side}_names apart")
    ends = parts.pop(f"{side}_name_ends").ravel().tolist()
    starts = [0, *ends[:-1]]
    return [
        text[start:end].decode("utf-8", "surrogatepass")
        for start, end in zip(starts, ends, strict=True)
    ]
