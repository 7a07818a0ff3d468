"""Objects of other libraries, known by their attributes, and what is no matrix at all."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from numbers import Number
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from .messages import InputError, listed, quote

NUMBER_KINDS = "iufbc"  # of NumPy
TEXT_TYPES = ("String", "Categorical", "Enum")  # of polars
NOT_IN_NUMPY = ("Decimal", "Int128", "UInt128")  # numbers of polars that NumPy does not have
VALUES_TO_CHECK = 1000  # of a column, to recognise texts
DOCUMENT_WORDS = 4  # on average; names rarely have as many
EDGE_COLUMNS = 3  # columns: row, column and weight


class FrameColumns(NamedTuple):
    """Names of the columns of a data frame, by what they hold."""

    numbers: list[str]
    texts: list[str]
    others: list[str]  # dates, lists and the like


def as_objects(items: Iterable[Any]) -> np.ndarray:
    """A 1-D array of Python objects, also if these are sequences themselves."""
    listed = list(items)
    array = np.empty(len(listed), dtype=object)
    array[:] = listed
    return array


def refuse_surrogates(names: Iterable[Any], what: str) -> None:
    """Raise an error if a name is no valid text, which no file could hold after the fit."""
    texts = [name for name in names if isinstance(name, str)]
    try:
        "".join(texts).encode("utf-8")
    except UnicodeEncodeError as error:
        bad = next(text for text in texts if re.search("[\ud800-\udfff]", text))
        raise InputError(
            f"{what}: the name {quote(bad)} is not valid text, as it holds half of a character",
            advice='Replace it by name.encode("utf-8", "replace").decode().',
        ) from error


def is_frame(X: Any) -> bool:
    """Is X a data frame, of pandas or polars, lazy or not?"""
    return is_lazy(X) or hasattr(X, "columns")


def is_dask(X: Any) -> bool:
    """Is X a Dask array or a Dask DataFrame?"""
    return hasattr(X, "dask") and hasattr(X, "to_delayed")


def is_lazy(X: Any) -> bool:
    """Is X a lazy frame of polars?"""
    return hasattr(X, "collect_schema") and hasattr(X, "collect")


def is_pandas(frame: Any) -> bool:
    """Is it a data frame of pandas, which has an index, rather than one of polars?"""
    return hasattr(frame, "iloc")


def columns_of(frame: Any) -> FrameColumns:
    """The columns of a data frame that is not lazy, by what they hold."""
    kinds = FrameColumns([], [], [])
    for position, (name, dtype) in enumerate(zip(frame.columns, frame.dtypes, strict=True)):
        if not is_pandas(frame):
            is_number = dtype.is_numeric() or str(dtype) in ("Boolean", "Null")
            is_text = str(dtype).startswith(TEXT_TYPES)
        elif is_text := dtype.kind == "O":
            present = frame.iloc[:, position].dropna()
            is_number = all(isinstance(value, Number) for value in present)
            is_text = all(isinstance(value, str) for value in present)
        else:
            is_number = dtype.kind in NUMBER_KINDS
        kind = kinds.numbers if is_number else kinds.texts if is_text else kinds.others
        kind.append(str(name))
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


def are_numerals(values: Sequence[Any]) -> bool:
    """Are all values texts that can be read as numbers?"""
    present = [value for value in values[:VALUES_TO_CHECK] if value is not None]
    if not present or not all(isinstance(value, str) for value in present):
        return False
    try:
        list(map(float, present))
    except ValueError:
        return False
    return True


def are_documents(values: Sequence[Any]) -> bool:
    """Are values texts of several words, rather than names?"""
    present = [value for value in values[:VALUES_TO_CHECK] if isinstance(value, str)]
    words = sum(len(value.split()) for value in present)
    return bool(present) and words / len(present) >= DOCUMENT_WORDS


def is_anndata(annotated: Any) -> bool:
    """Is it an AnnData object? Nothing is imported: it is recognised by its attributes."""
    return all(hasattr(annotated, part) for part in ("X", "obs_names", "var_names"))


class Layer(NamedTuple):
    """One matrix of an AnnData object, in memory."""

    matrix: Any
    row_names: Any
    column_names: Any


def layers(annotated: Any) -> dict[str, Layer]:
    """All matrices of an AnnData object by the names that choose them: X, its layers, raw."""
    rows, columns = annotated.obs_names, annotated.var_names
    every = {"X": annotated.X, **getattr(annotated, "layers", {})}
    every.pop(None, None)  # which is X from anndata 0.13 on
    found = {name: Layer(W, rows, columns) for name, W in every.items() if W is not None}
    raw: Any = getattr(annotated, "raw", None)  # which may have more variables than X
    if raw is not None:
        found.setdefault("raw", Layer(raw.X, rows, raw.var_names))
    return {name: layer._replace(matrix=in_memory(layer.matrix)) for name, layer in found.items()}


def are_weights(matrix: Any) -> bool:
    """Are all values numbers from 0 on?"""
    if sp.issparse(matrix):
        matrix = matrix.tocoo().data
    is_number = matrix.dtype.kind in "iufb"
    return is_number and (matrix.size == 0 or bool(matrix.min() >= 0 and matrix.max() < np.inf))


def in_memory(matrix: Any) -> Any:
    """A matrix that may be on disk, as an array or sparse matrix."""
    if hasattr(matrix, "to_memory"):
        return matrix.to_memory()
    return matrix if sp.issparse(matrix) or isinstance(matrix, np.ndarray) else np.asarray(matrix)


def is_graph(X: Any) -> bool:
    """Is X a graph of networkx or igraph?"""
    return any(
        all(hasattr(X, part) for part in (*parts, "is_directed"))
        for parts in (("nodes", "edges", "adj"), ("vs", "es"))
    )


# --- objects that are no matrices ---------------------------------------------------------------


def texts_in(X: Any) -> list[str] | None:
    """The texts, if X is a list, 1-D array or series of nothing but strings; else None."""
    if not _is_one_dimensional(X):
        return None
    items = list(X)
    is_text = bool(items) and all(isinstance(item, str) for item in items)
    return items if is_text and not are_numerals(items) else None


def _is_one_dimensional(X: Any) -> bool:
    """Is X a list or tuple, or a 1-D array or series of objects or strings?"""
    if isinstance(X, list | tuple) and not hasattr(X, "_fields"):
        return True
    if hasattr(X, "columns") or len(getattr(X, "shape", ())) != 1:
        return False
    dtype = getattr(X, "dtype", None)
    return getattr(dtype, "kind", None) in ("O", "U", "T") or str(dtype) == "String"


def refuse_unsuitable(X: Any) -> None:
    """Raise an error with the call to use, if X is clearly no matrix of numbers."""
    if is_frame(X) and hasattr(X, "dtypes"):
        refuse_frame(X, columns_of(X))
    problem = _problem_of(X)
    if problem is not None:
        raise InputError(problem[0], advice=problem[1])


def _problem_of(X: Any) -> tuple[str, str] | None:
    """What is wrong with X and what to do; None if it may be a matrix."""
    if isinstance(X, str | os.PathLike):
        name = quoted(os.fspath(X))
        return f"X is {name}, the name of a file or folder", f"Read it first: comarkov.read({name})"
    if callable(getattr(X, "read", None)) and not hasattr(X, "columns"):
        return "X is an open file", "Read it first: comarkov.read(X)"
    if isinstance(X, Mapping):
        is_nested = bool(X) and all(isinstance(value, Mapping) for value in X.values())
        return "X is a dict", f"Pass pandas.DataFrame(X){'.T' if is_nested else ''}.fillna(0)"
    if is_lazy(X):
        return "X is a lazy frame", "Pass X.collect()"
    if hasattr(X, "__next__"):
        return "X is an iterator", "Pass list(X)"
    if X is None or isinstance(X, bytes | set | frozenset) or hasattr(X, "column_names"):
        return (
            f"X is of type {type(X).__name__}",
            "Pass a matrix, a data frame or what comarkov.read returns; for a file: "
            'comarkov.read("table.csv")',
        )
    if _is_one_dimensional(X):
        return _problem_of_list(list(X), "X" if isinstance(X, list) else "list(X)")
    if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "OUST":
        return _problem_of_list(X.tolist(), "X.tolist()")
    return None


def _problem_of_list(items: list[Any], whole: str) -> tuple[str, str] | None:
    """What is wrong with a list; None if it may be one of rows of numbers."""
    if items and all(isinstance(item, Mapping) and item for item in items):
        return "X is a list of dicts", f"Pass comarkov.read({whole})"
    rows = [
        item if isinstance(item, Sequence) and not isinstance(item, str) else [item]
        for item in items
    ]
    values = [value for row in rows for value in row]
    if not any(isinstance(value, str) for value in values):
        return None
    if are_numerals(values):
        return "X holds numbers as text", f"Pass numpy.array({whole}, dtype=float)"
    return "X holds text, not weights", f"If it holds texts or pairs, pass comarkov.read({whole})"


def refuse_frame(frame: Any, columns: FrameColumns) -> None:
    """Raise an error with the call to use, if a data frame has columns without numbers."""
    repeated = _repeated(frame)
    if repeated:
        raise InputError(
            f"X has several columns called {quoted(repeated[0])}",
            advice="To keep the first of each name, pass X.loc[:, ~X.columns.duplicated()]",
        )
    if others := [*columns.others, *columns.texts]:
        raise InputError(
            f"X holds no weights in {listed(map(quoted, others))}",
            advice="To have it recognised as an edge list, records, texts or a table, pass "
            "comarkov.read(X)",
        )


def names_rows(frame: Any, columns: FrameColumns) -> bool:
    """Does the only column of text name the rows, beside columns of numbers?

    It does if it comes first or all its values differ, and if there is no index with names. A
    frame with no more columns than an edge list has may be one.
    """
    if len(columns.texts) != 1 or columns.others or sum(map(len, columns)) <= EDGE_COLUMNS:
        return False
    index = np.asarray(frame.index) if is_pandas(frame) else np.arange(len(frame))
    if _repeated(frame) or not np.array_equal(index, np.arange(len(frame))):
        return False
    name = columns.texts[0]
    values = values_of(frame, name)
    is_named = not are_numerals(values) and not are_documents(values)
    return is_named and (str(frame.columns[0]) == name or len(set(values)) == len(values))


def _repeated(frame: Any) -> list[str]:
    return [name for name, count in Counter(map(str, frame.columns)).items() if count > 1]


def quoted(name: Any) -> str:
    """A name as Python and people write it, in double quotes."""
    return json.dumps(str(name), ensure_ascii=False)
