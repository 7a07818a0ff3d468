"""Results of a large store refer to it, instead of holding a copy of its data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TypeGuard

import numpy as np

from ..own_folders import DATA, REFERENCE, is_store
from ..reading.data import Data
from ..user_warnings import warn_user
from .names import read_names
from .opening import Store, open_store

LARGE = 10_000_000  # entries from which on data are not copied
FACTS = ("row_kind", "column_kind", "entry_kind", "source")


def is_large(data: Data) -> TypeGuard[Store]:
    """Are data in a store, and too large to be copied?"""
    return isinstance(data, Store) and data.joint.nnz >= LARGE


def keep_data(data: Data, folder: Path) -> None:
    """Write data into a folder of results; of a large store only where it is."""
    if not is_large(data):
        data.save(folder / DATA)
        return
    content = {"store": str(data.path), **{name: getattr(data, name) for name in FACTS}}
    content |= {
        f"{side}_names": names.tolist()
        for side in ("row", "column")
        if (names := _other_names(data, side)) is not None
    }
    text = json.dumps(content, ensure_ascii=False, indent=1)
    (folder / REFERENCE).write_text(text + "\n", encoding="utf-8")
    warn_user(
        f"The results refer to the data in {data.path}, which are too large to be copied. Keep "
        "them there for further reports."
    )


def _other_names(store: Store, side: str) -> np.ndarray | None:
    """The names of a side if they are not those of the store."""
    names: np.ndarray | None = vars(store).get(f"{side}_names")
    if names is None or np.array_equal(names, read_names(store.path, side, names.size)):
        return None
    return names


def open_reference(folder: Path) -> Store:
    """The store that results in a folder refer to."""
    content = json.loads((folder / REFERENCE).read_text(encoding="utf-8"))
    path = Path(content.pop("store"))
    if not is_store(path):
        raise FileNotFoundError(
            f"{folder} refers to the data in {path}, which are missing. Move them back, or pack "
            f"their source again into {path}."
        )
    return open_store(path).changed(**content)
