"""The npz file of a matrix with names, which SciPy can load, too."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..quoting import quote
from ..writing import whole_file

LONGEST = 20_000  # characters of a text that are kept
NOTES = "annotations"  # the entry with the names of classifications and the keywords of ``read``


class Annotations(NamedTuple):
    """What is known about the rows and columns of a matrix beside their names."""

    classes: Mapping[str, Mapping[str, np.ndarray]]  #: by side, "row" or "column", then by name
    texts: np.ndarray | None
    reading: Mapping[str, Any]


def write_npz(
    path: str | os.PathLike[str],
    matrix: sp.csr_array,
    names: Mapping[str, np.ndarray],
    facts: Mapping[str, str],
    annotations: Annotations,
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
        **annotation_parts(annotations),
    }
    for side, listed in names.items():
        parts |= _joined(listed, side)
    with whole_file(path) as draft, draft.open("wb") as file:
        np.savez_compressed(file, **parts)


def annotation_parts(annotations: Annotations) -> dict[str, Any]:
    """Classes as codes and their names, the beginnings of texts, and the rest as JSON."""
    parts: dict[str, Any] = {}
    listing: dict[str, Any] = {"reading": dict(annotations.reading)}
    for side, classifications in annotations.classes.items():
        listing[side] = list(classifications)
        for i, classes in enumerate(classifications.values()):
            distinct = sorted(set(classes.tolist()))
            code = {name: j for j, name in enumerate(distinct)}
            key = f"{side}_classes_{i}"
            parts[f"{key}_codes"] = np.array([code[name] for name in classes], dtype=np.int32)
            parts |= _joined(distinct, key)
    if annotations.texts is not None:
        parts |= _joined([text[:LONGEST] for text in annotations.texts], "text")
    if any(listing.values()):
        parts[NOTES] = np.array(json.dumps(listing))
    return parts


def annotations_in(parts: dict[str, np.ndarray]) -> dict[str, Any]:
    """Known classes, texts and reading as keywords of ``Data``, taken out of a file's parts."""
    keywords: dict[str, Any] = {"texts": unjoined(parts, "text")}
    if NOTES not in parts:
        return keywords
    try:
        listing = json.loads(str(parts.pop(NOTES)[()]))
        keywords["reading"] = dict(listing["reading"])
        for side in ("row", "column"):
            keywords[f"{side}_classes"] = {
                str(name): _decoded(parts, f"{side}_classes_{i}")
                for i, name in enumerate(listing[side])
            }
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise ValueError(f"its {NOTES} are damaged ({quote(error)})") from error
    return keywords


def _decoded(parts: dict[str, np.ndarray], key: str) -> np.ndarray:
    names = np.array(unjoined(parts, key) or [""], dtype=object)
    codes = parts.pop(f"{key}_codes")
    if codes.size and codes.min() < 0:
        raise IndexError(f"a code in {key}_codes is negative")
    return names[codes]


def _joined(names: Iterable[str], side: str) -> dict[str, np.ndarray]:
    """Strings end to end in UTF-8, and where each ends: one long string does not widen all."""
    encoded = [name.encode("utf-8", "surrogatepass") for name in names]
    ends = np.cumsum([len(name) for name in encoded], dtype=np.int64)
    text = np.frombuffer(b"".join(encoded), np.uint8)
    return {f"{side}_names": text, f"{side}_name_ends": ends}


def unjoined(parts: dict[str, np.ndarray], side: str) -> list[str] | None:
    """The strings stored under a key, taken out of the parts of a file; None if there are none."""
    if f"{side}_names" not in parts:
        return None
    text = parts.pop(f"{side}_names").tobytes()
    if f"{side}_name_ends" not in parts:
        raise ValueError(f"{side}_name_ends is missing, so {side}_names cannot be split")
    ends = parts.pop(f"{side}_name_ends").ravel().tolist()
    starts = [0, *ends[:-1]]
    return [
        text[start:end].decode("utf-8", "surrogatepass")
        for start, end in zip(starts, ends, strict=True)
    ]
