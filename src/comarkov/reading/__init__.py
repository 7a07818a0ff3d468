"""Data in: edge lists, tables, matrices, graphs, databases and texts, from files or objects."""

from __future__ import annotations

from typing import Any

from .data import Data

__all__ = ["Data", "read", "write_h5ad"]


def read(
    source: Any,
    *,
    kind: str | None = None,
    rows: str | int | None = None,
    columns: str | int | None = None,
    weights: str | int | None = None,
    header: bool | None = None,
    separator: str | None = None,
    encoding: str = "utf-8",
    text: str | int | None = None,
    stop_words: str | list[str] | None = "english",
    min_df: int = 2,
    n_words: int | None = None,
    query: str | None = None,
    layer: str | None = None,
    row_names: Any = None,
    column_names: Any = None,
    max_bytes: int | None = None,
) -> Data:
    """Read a nonnegative matrix with names from a file, a folder, a database or an object.

    Being written: the keywords stay.
    """
    raise NotImplementedError


def write_h5ad(source: Any, target: Any, model: Any, key: str = "comarkov") -> None:
    """Write an AnnData file with the clusters of a model in ``.obs[key]`` and ``.var[key]``."""
    raise NotImplementedError
