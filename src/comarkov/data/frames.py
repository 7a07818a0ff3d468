"""Data frames of pandas and polars: which columns hold numbers, and which hold texts."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Number
from typing import Any, NamedTuple

NUMBER_KINDS = "iufbc"  # of NumPy
TEXT_TYPES = ("String", "Categorical", "Enum")  # of polars
NOT_IN_NUMPY = ("Decimal", "Int128", "UInt128")  # numbers of polars that NumPy does not have
SAMPLE = 1000  # values of a column to look at
DOCUMENT_WORDS = 4  # on average; names rarely have as many
MOST_OF_AN_EDGE = 3  # columns: row, column and weight


class Columns(NamedTuple):
    """Names of the columns of a data frame, by what they hold."""

    numbers: list[str]
    texts: list[str]
    others: list[str]  # dates, lists and the like

    @property
    def width(self) -> int:
        """The number of columns."""
        return sum(map(len, self))


def is_frame(X: Any) -> bool:
    """Is X a data frame, of pandas or polars, lazy or not?"""
    return is_lazy(X) or hasattr(X, "columns")


def is_lazy(X: Any) -> bool:
    """Is X a lazy frame of polars?"""
    return hasattr(X, "collect_schema") and hasattr(X, "collect")


def is_pandas(frame: Any) -> bool:
    """Is it a data frame of pandas, which has an index, rather than one of polars?"""
    return hasattr(frame, "iloc")


def frame_width(frame: Any) -> int:
    """How many columns a data frame has."""
    return len(frame.collect_schema() if is_lazy(frame) else frame.columns)


def columns_of(frame: Any) -> Columns:
    """The columns of a data frame that is not lazy, by what they hold."""
    kinds = Columns([], [], [])
    kind = _kind_in_pandas if is_pandas(frame) else _kind_in_polars
    for position, (name, dtype) in enumerate(zip(frame.columns, frame.dtypes, strict=True)):
        getattr(kinds, kind(frame, position, dtype)).append(str(name))
    return kinds


def values_of(frame: Any, column: str) -> list[Any]:
    """All values of a column, None where they are missing."""
    position = [str(name) for name in frame.columns].index(column)
    if not is_pandas(frame):
        return list(frame.to_series(position).to_list())
    series = frame.iloc[:, position]
    return [
        None if missing else value
        for value, missing in zip(series.astype(object), series.isna(), strict=True)
    ]


def without(frame: Any, columns: Sequence[str]) -> Any:
    """The frame without these columns."""
    kept = [i for i, name in enumerate(frame.columns) if str(name) not in columns]
    return frame.iloc[:, kept] if is_pandas(frame) else frame[:, kept]


def with_numpy_numbers(frame: Any) -> Any:
    """The frame with columns of numbers that NumPy does not have, as Decimal, as floats."""
    if is_pandas(frame):
        return frame
    types = zip(frame.columns, frame.dtypes, strict=True)
    floats = {name: float for name, dtype in types if str(dtype).startswith(NOT_IN_NUMPY)}
    return frame.cast(floats) if floats else frame


def are_numerals(values: Sequence[Any]) -> bool:
    """Are all values texts that can be read as numbers?"""
    present = [value for value in values[:SAMPLE] if value is not None]
    return bool(present) and all(isinstance(v, str) and _is_numeral(v) for v in present)


def are_documents(values: Sequence[Any]) -> bool:
    """Are values texts of several words, rather than names?"""
    present = [value for value in values[:SAMPLE] if isinstance(value, str)]
    words = sum(len(value.split()) for value in present)
    return bool(present) and words / len(present) >= DOCUMENT_WORDS


def _is_numeral(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _kind_in_polars(frame: Any, position: int, dtype: Any) -> str:
    """The field of ``Columns`` that a column belongs to."""
    if dtype.is_numeric() or str(dtype) in ("Boolean", "Null"):
        return "numbers"
    return "texts" if str(dtype).startswith(TEXT_TYPES) else "others"


def _kind_in_pandas(frame: Any, position: int, dtype: Any) -> str:
    if dtype.kind in NUMBER_KINDS:
        return "numbers"
    if dtype.kind != "O":
        return "others"
    present = frame.iloc[:, position].dropna()
    if all(isinstance(value, Number) for value in present):
        return "numbers"
    return "texts" if all(isinstance(value, str) for value in present) else "others"
