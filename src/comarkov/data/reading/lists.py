"""Lists of Python objects: pairs of names, records, and counts by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Number
from typing import Any

from ..extras import need
from .data import Data

EDGE = ("row", "column", "weight")


def is_list_of_edges(source: Any) -> bool:
    """Is it a list of pairs, or of triples with a weight, in which names are text?"""
    return _are_all(source, Sequence) and any(isinstance(value, str) for value in source[0][:2])


def is_list_of_dicts(source: Any) -> bool:
    """Is it a list of dicts?"""
    return _are_all(source, Mapping)


def edges_frame(source: list[Sequence[Any]]) -> Any:
    """Pairs or triples as a data frame."""
    need("Reading edge lists", "polars")
    import polars as pl

    width = len(source[0])
    for number, edge in enumerate(source):
        if len(edge) != width or width not in (2, 3):
            raise ValueError(
                f"Item {number} of the list has {len(edge)} values, where the first has {width}. "
                "An edge is (row, column) or (row, column, weight)."
            )
    columns = list(zip(*source, strict=True))
    names = {name: list(map(str, values)) for name, values in zip(EDGE, columns[:2], strict=False)}
    weights = {"weight": pl.Series(columns[2], strict=False)} if width == 3 else {}
    return pl.DataFrame({**names, **weights})


def records_frame(source: list[Mapping[str, Any]]) -> Any:
    """Records as a data frame with a column for each key."""
    need("Reading records", "polars")
    import polars as pl

    return pl.DataFrame(source, infer_schema_length=None, strict=False)


def hold_counts(source: list[Mapping[str, Any]]) -> bool:
    """Is each dict a row of numbers by column, rather than a record with names in it?"""
    return all(isinstance(value, Number) for row in source for value in row.values())


def from_counts(source: list[Mapping[str, Any]]) -> Data:
    """A row for each dict, whose keys are columns; columns that a dict lacks are 0."""
    from sklearn.feature_extraction import DictVectorizer  # slow to import

    vectorizer = DictVectorizer()
    matrix = vectorizer.fit_transform([{str(k): v for k, v in row.items()} for row in source])
    return Data(matrix, None, vectorizer.get_feature_names_out())


def _are_all(source: Any, kind: type) -> bool:
    if not isinstance(source, list) or not source:
        return False
    return all(isinstance(item, kind) and not isinstance(item, str) and item for item in source)
