"""Columns of records that come in parts, as drivers of databases return them."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl


class Column:
    """A column that grows part by part; each part is of one type, and so is the whole at last."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.parts: list[pl.Series] = []

    def append(self, values: Sequence[Any]) -> None:
        """Add values: numbers as numbers, all others and mixtures, as SQLite allows, as text."""
        self.parts.append(_series(values))

    def whole(self) -> pl.Series:
        """One series, of the narrowest type that all parts can be cast to."""
        import polars as pl

        types = {part.dtype for part in self.parts if part.dtype != pl.Null}
        widest = next((t for t in (pl.String, pl.Float64, pl.Int64) if t in types), pl.String)
        cast = [part.cast(widest) for part in self.parts]
        series = pl.concat(cast) if cast else pl.Series([], dtype=widest)
        return series.alias(self.name)


def as_table(columns: Sequence[Column]) -> pl.DataFrame:
    """The columns side by side."""
    import polars as pl

    return pl.DataFrame([column.whole() for column in columns])


def _series(values: Sequence[Any]) -> pl.Series:
    import polars as pl

    types = {type(value) for value in values if value is not None}
    if not types:
        return pl.Series(values, dtype=pl.Null)
    if types <= {int, bool}:
        try:
            whole = values if bool not in types else [None if v is None else int(v) for v in values]
            return pl.Series(whole, dtype=pl.Int64)
        except (OverflowError, TypeError, pl.exceptions.PolarsError):
            pass  # DuckDB has integers of 128 bits
    if types <= {int, bool, float, Decimal}:
        return pl.Series([None if v is None else float(v) for v in values], dtype=pl.Float64)
    return pl.Series([None if v is None else str(v) for v in values], dtype=pl.String)
