"""Names of rows and columns, collected from many tables and numbered as ``comarkov.read`` does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..reading.values import MISSING

if TYPE_CHECKING:
    import pyarrow as pa

WHOLE = "^(0|-?[1-9][0-9]{0,17})$"  # a number that is written in one way only
EXACT = 2.0**53  # smaller floats represent whole numbers exactly


class Names(NamedTuple):
    """Distinct names, sorted: whole numbers as integers, all others as an Arrow array of text."""

    values: Any
    is_text: bool

    def listed(self) -> np.ndarray:
        """Return the names as strings."""
        if self.is_text:
            return self.values.to_numpy(zero_copy_only=False)
        return self.values.astype(str).astype(object)


def cleaned(column: pa.ChunkedArray, name: str) -> Any:
    """Return names as integers, or as text without surrounding blanks; missing ones are null."""
    import pyarrow as pa
    import pyarrow.compute as pc

    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    kind = column.type
    if pa.types.is_dictionary(kind):
        column = column.dictionary_decode()
        kind = column.type
    if pa.types.is_integer(kind):
        return column.cast(pa.uint64() if kind == pa.uint64() else pa.int64())
    if pa.types.is_floating(kind):
        return _whole(column, name)
    text = pc.utf8_trim_whitespace(column.cast(pa.large_string()))
    is_missing = pc.is_in(text, value_set=pa.array(MISSING, pa.large_string()))
    return pc.if_else(is_missing, pa.scalar(None, pa.large_string()), text)


def _whole(column: pa.Array, name: str) -> pa.Array:
    """Return floats as integers: pandas stores ids with gaps as floats."""
    import pyarrow as pa

    values = column.to_numpy(zero_copy_only=False).astype(np.float64)
    is_missing = np.isnan(values)
    wrong = values[~is_missing & ((values != np.floor(values)) | (np.abs(values) >= EXACT))]
    if wrong.size:
        raise ValueError(
            f"The column {name!r} of names holds {wrong[0]:g}, which is not a whole number. "
            f"Convert it to text: edges[{name!r}] = edges[{name!r}].astype(str)"
        )
    return pa.array(np.where(is_missing, 0, values).astype(np.int64), mask=is_missing)


def distinct(column: pa.Array) -> Names:
    """Return the distinct names of a column that has no missing ones."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_integer(column.type):
        return Names(np.unique(column.to_numpy()), False)
    names = pc.unique(column)
    return Names(names.take(pc.sort_indices(names)), True)


def union(one: Names, other: Names) -> Names:
    """Return the names that are in either."""
    import pyarrow as pa

    if not one.is_text and not other.is_text:
        return Names(np.union1d(one.values, other.values), False)
    return distinct(pa.concat_arrays([_as_text(one), _as_text(other)]))


def numbered(names: Names) -> Names:
    """Return the names in their final order: by number if all are whole numbers."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not names.is_text or not pc.all(pc.match_substring_regex(names.values, WHOLE)).as_py():
        return names
    order = np.argsort(names.values.cast(pa.int64()).to_numpy())
    return Names(names.values.take(pa.array(order)), True)


def codes(column: pa.Array, names: Names) -> np.ndarray:
    """Return the place of each name of a column among the sorted names."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not names.is_text:
        return np.searchsorted(names.values, column.to_numpy()).astype(np.int32)
    return pc.index_in(column.cast(pa.large_string()), value_set=names.values).to_numpy()


def _as_text(names: Names) -> pa.Array:
    import pyarrow as pa

    return names.values if names.is_text else pa.array(names.listed(), pa.large_string())
