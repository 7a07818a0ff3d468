"""``pack``: from a source of any size to a store."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from ..own_folders import is_store
from ..reading import Data, read
from ..sizes import bytes_of
from ..writing import whole_folder
from .opening import Store, open_store
from .writing import write_data

LEAST_MEMORY = 32_000_000  # bytes
KINDS = ("row_kind", "column_kind", "entry_kind")

#: Called with the name of a stage, how much of it is done, and how much there is.
Advance = Callable[[str, int, int], None]


def pack(
    sources: Any,
    path: str | os.PathLike[str],
    *,
    memory_limit: int | str = "1GB",
    overwrite: bool = False,
    progress: Advance | None = None,
    **keywords: Any,
) -> Store:
    """Pack."""
    _limit(memory_limit)
    kinds = {name: keywords.pop(name) for name in KINDS if name in keywords}
    source, *_ = sources if isinstance(sources, list) and sources else [sources]
    with whole_folder(path, overwrite, is_store) as draft:
        write_data(_with_kinds(read(source, **keywords), kinds), draft)
    return open_store(path)


def has_draft(path: str | os.PathLike[str]) -> bool:
    """Can packing into this folder be continued?"""
    return False


def _with_kinds(data: Data, kinds: Mapping[str, Any]) -> Data:
    given = {name: kind for name, kind in kinds.items() if kind}
    return replace(data, **given) if given else data


def _limit(size: int | str) -> int:
    """The memory limit in bytes."""
    limit = bytes_of(size) if isinstance(size, str) else size
    if limit is None or limit < LEAST_MEMORY:
        raise ValueError(
            f"memory_limit={size!r} must be a size of at least 32 MB, for example "
            "memory_limit='2GB'."
        )
    return limit
