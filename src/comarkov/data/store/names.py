"""Names, classes and texts in a store: one-dimensional arrays in a folder of their own.

Texts stand end to end in UTF-8; a second array holds where each ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..reading.npz import NOTES, Annotations, annotation_parts, annotations_in, unjoined
from .arrays import ArrayWriter, Written, mapped, write_array
from .layout import NAMES

AT_A_TIME = 1 << 16  # names


def names_file(side: str) -> str:
    """The file in a store with the names of a "row" or "column"."""
    return f"{NAMES}/{side}_names.npy"


def write_names(folder: Path, side: str, names: Sequence[str] | np.ndarray) -> dict[str, Written]:
    """Write the names of a "row" or "column", a part at a time."""
    (folder / NAMES).mkdir(exist_ok=True)
    texts, ends = names_file(side), f"{NAMES}/{side}_name_ends.npy"
    with (
        ArrayWriter.to(folder / texts, np.uint8) as text,
        ArrayWriter.to(folder / ends, np.int64) as end,
    ):
        for start in range(0, len(names), AT_A_TIME):
            part = [
                name.encode("utf-8", "surrogatepass") for name in names[start : start + AT_A_TIME]
            ]
            end.append(text.size + np.cumsum([len(name) for name in part], dtype=np.int64))
            text.append(np.frombuffer(b"".join(part), np.uint8))
    return {texts: text.written, ends: end.written}


def write_annotations(folder: Path, annotations: Annotations) -> dict[str, Written]:
    """Write classes, texts and the keywords of ``read``."""
    parts = annotation_parts(annotations)
    if NOTES in parts:
        parts[NOTES] = np.frombuffer(str(parts[NOTES]).encode("utf-8"), np.uint8)
    files = {f"{NAMES}/{name}.npy": values for name, values in parts.items()}
    return {name: write_array(folder / name, values) for name, values in files.items()}


def read_names(folder: Path, side: str, size: int) -> np.ndarray:
    """The names of a side, or its numbers from 0 if it has none."""
    listed = unjoined(_parts(folder, f"{side}_name*"), side)
    return _as_objects(list(map(str, range(size))) if listed is None else listed)


def read_annotations(folder: Path) -> dict[str, Any]:
    """Classes, texts and the keywords of ``read``, as keywords of ``Data``."""
    parts = _parts(folder, "*")
    for side in ("row", "column"):
        parts.pop(f"{side}_names", None)
        parts.pop(f"{side}_name_ends", None)
    if NOTES in parts:
        parts[NOTES] = np.array(parts[NOTES].tobytes().decode("utf-8"))
    annotations = annotations_in(parts)
    texts = annotations["texts"]
    return annotations | {"texts": None if texts is None else _as_objects(texts)}


def _as_objects(texts: list[str]) -> np.ndarray:
    array = np.empty(len(texts), dtype=object)
    array[:] = texts
    return array


def _parts(folder: Path, pattern: str) -> dict[str, np.ndarray]:
    return {path.stem: mapped(path) for path in (folder / NAMES).glob(f"{pattern}.npy")}
