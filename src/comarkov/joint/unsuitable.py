"""Objects that are not matrices: what they are, and the call that reads them."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from . import objects
from .messages import InputError, listed
from .objects import FrameColumns, are_documents, are_numerals

FILES_TO_CHECK = 3  # of a list of strings that may be file names


def refuse_unsuitable(X: Any) -> None:
    """Raise an error with the call to use, if X is clearly no matrix of numbers."""
    if objects.is_frame(X) and not objects.is_lazy(X):
        refuse_frame(X, objects.columns_of(X))
    problem = _problem(X)
    if problem is not None:
        raise InputError(problem[0], advice=problem[1])


def texts_in(X: Any) -> list[str] | None:
    """The texts, if X is a list, 1-D array or series of nothing but strings; else None."""
    if not is_one_dimensional(X):
        return None
    items = list(X)
    is_text = bool(items) and all(isinstance(item, str) for item in items)
    return items if is_text and not are_numerals(items) and not _are_files(items) else None


def is_one_dimensional(X: Any) -> bool:
    """Is X a list or tuple, or a 1-D array or series of objects or strings?"""
    if isinstance(X, list | tuple) and not hasattr(X, "_fields"):
        return True
    if hasattr(X, "columns") or len(getattr(X, "shape", ())) != 1:
        return False
    dtype = getattr(X, "dtype", None)
    return getattr(dtype, "kind", None) in ("O", "U", "T") or str(dtype) == "String"


def _problem(X: Any) -> tuple[str, str] | None:
    """What is wrong with X and what to do; None if it may be a matrix."""
    if isinstance(X, str | os.PathLike):
        name = quoted(os.fspath(X))
        return f"X is {name}, the name of a file or folder", f"Read it first: comarkov.read({name})"
    if X is None or isinstance(X, bytes | set | frozenset):
        return (
            f"X is {'missing' if X is None else f'of type {type(X).__name__}'}",
            "Pass a matrix, a data frame or what comarkov.read returns; for a file: "
            'comarkov.read("table.csv")',
        )
    if callable(getattr(X, "read", None)) and not hasattr(X, "columns"):
        return "X is an open file", "Read it first: comarkov.read(X)"
    if isinstance(X, Mapping):
        is_nested = bool(X) and all(isinstance(value, Mapping) for value in X.values())
        rows = 'pandas.DataFrame.from_dict(X, orient="index").fillna(0)'
        return "X is a dict", f"Pass {rows if is_nested else 'pandas.DataFrame(X)'}"
    if hasattr(X, "to_pandas") and hasattr(X, "column_names"):
        return "X is an Arrow table", "Pass polars.from_arrow(X)"
    if objects.is_lazy(X):
        return "X is a lazy frame", "Pass X.collect()"
    if is_one_dimensional(X):
        return _list_problem(list(X), "X" if isinstance(X, list) else "list(X)")
    if isinstance(X, np.ndarray) and X.ndim == 2 and _holds_text(X):
        return _list_problem(X.astype(str).tolist(), "X.astype(str).tolist()")
    return ("X is an iterator", "Pass list(X)") if hasattr(X, "__next__") else None


def _list_problem(items: list[Any], whole: str) -> tuple[str, str] | None:
    """What is wrong with a list; None if it may be one of rows of numbers."""
    read = f"Pass comarkov.read({whole})"
    if items and all(isinstance(item, str) for item in items):
        if are_numerals(items):
            return "X is one list of numbers as text", f"Pass numpy.array([{whole}], dtype=float)"
        if _are_files(items):
            opened = f"[pathlib.Path(name).read_text() for name in {whole}]"
            return "X is a list of file names", f"To count words, pass comarkov.read({opened})"
        return "X is a list of texts", read
    if items and all(isinstance(item, Mapping) and item for item in items):
        texts = [key for key, value in items[0].items() if isinstance(value, str)]
        numbers = [key for key in items[0] if key not in texts]
        if len(texts) < 2:
            return "X is a list of dicts", read
        return "X is a list of records", f"Pass {edges_call(whole, texts[:2], numbers)}"
    if not all(isinstance(item, Sequence) and not isinstance(item, str) for item in items):
        return None
    empty = [number for number, item in enumerate(items) if not item]
    if empty and len(empty) < len(items):
        return f"Item {empty[0]} of X is empty", f"Leave it out: pass [x for x in {whole} if x]"
    values = [value for item in items for value in item]
    if not any(isinstance(value, str) for value in values):
        return None
    if are_numerals(values):
        return "X holds numbers as text", (
            "Pass X.astype(float)"
            if "astype" in whole
            else f"Pass numpy.array({whole}, dtype=float)"
        )
    if all(len(item) in (2, 3) for item in items):
        return "X is a list of pairs of names, not a table", read
    if all(isinstance(value, str) for value in values):
        words = f'[" ".join(words) for words in {whole}]'
        return "X is a list of lists of words", f"To count them, pass comarkov.read({words})"
    return (
        "X holds names beside numbers",
        "If the first item of each row is its name, pass "
        f'comarkov.read(pandas.DataFrame({whole}), rows=0, kind="table")',
    )


def _are_files(items: list[str]) -> bool:
    return all(len(item) < 256 and os.path.isfile(item) for item in items[:FILES_TO_CHECK])


def _holds_text(X: np.ndarray) -> bool:
    is_object = X.dtype.kind == "O"
    return X.dtype.kind in "UST" or (is_object and any(isinstance(v, str) for v in X.ravel()))


# --- data frames ------------------------------------------------------------------------------


def refuse_frame(frame: Any, columns: FrameColumns) -> None:
    """Raise an error with the call to use, if a data frame has columns without numbers."""
    repeated = _repeated(frame)
    if repeated:
        raise InputError(
            f"X has several columns called {quoted(repeated[0])}",
            advice="To keep the first of each name, pass X.loc[:, ~X.columns.duplicated()]",
        )
    if columns.others:
        names = listed(map(quoted, columns.others))
        advice = f"Drop them: pass {dropping(frame, columns.others)}; or pass comarkov.records(X)"
        raise InputError(f"X holds neither numbers nor text in {names}", advice=advice)
    if not columns.texts:
        return
    names = listed(map(quoted, columns.texts))
    values = {name: objects.values_of(frame, name) for name in columns.texts}
    documents = [name for name in columns.texts if are_documents(values[name])]
    if documents:
        others = [name for name in columns.texts if name not in documents]
        rows = f", rows={quoted(others[0])}" if others else ""
        call = f"comarkov.read(X, text={quoted(documents[0])}{rows})"
        raise InputError(f"X holds texts in {names}", advice=f"To count words, pass {call}")
    if all(map(are_numerals, values.values())):
        raise InputError(f"X holds numbers as text in {names}", advice=_as_numbers(frame, columns))
    raise InputError(f"X holds text, not weights, in {names}", advice=_as_names(frame, columns))


def _repeated(frame: Any) -> list[str]:
    """The names that several columns share."""
    return [name for name, count in Counter(map(str, frame.columns)).items() if count > 1]


def _as_numbers(frame: Any, columns: FrameColumns) -> str:
    """Advice for numbers as text: they may be weights, or a single column the names of rows."""
    types = ", ".join(f"{label}: float" for label in _labels(frame, columns.texts))
    call = f"X.{'astype' if objects.is_pandas(frame) else 'cast'}({{{types}}})"
    if len(columns.texts) > 1 or not columns.numbers:
        return f"Pass {call}"
    return f"If they are weights, pass {call}; if names of rows, pass {_table(columns.texts[0])}"


def _as_names(frame: Any, columns: FrameColumns) -> str:
    """Advice for columns of names: of the two ends of edges, or of the rows of a wide table."""
    texts, numbers = columns.texts, columns.numbers
    ends = [*texts, *numbers][:2] if columns.width <= objects.EDGE_COLUMNS else texts[:2]
    edges = ""
    if len(ends) == 2 and len(numbers) <= objects.EDGE_COLUMNS:
        edges = edges_call("X", ends, [name for name in numbers if name not in ends])
    if edges and (len(texts) >= 2 or not _are_distinct(frame, texts[0])):
        return (
            f"If each line is one pair of a row and a column, pass {edges}; if it describes one "
            "row, pass comarkov.records(X)"
        )
    if not numbers:
        return f"To count their words, pass comarkov.read(X, text={quoted(texts[0])})"
    if len(texts) > 1:
        return "If each line describes one row, pass comarkov.records(X)"
    table = _table(texts[0], "X")
    if edges:
        return f"If it names the rows, pass {table}; if each line is one pair, pass {edges}"
    if len(texts) == 1 and not names_rows(frame, columns):
        return f"Drop it: pass {dropping(frame, texts)}"
    return f"If {quoted(texts[0])} names the rows, pass {table}"


def names_rows(frame: Any, columns: FrameColumns) -> bool:
    """Does the only column of text name the rows, beside columns of numbers?

    It does if it comes first or all its values differ, and if there is no index with names. A
    frame with no more columns than an edge list has may be one.
    """
    if len(columns.texts) != 1 or columns.others or columns.width <= objects.EDGE_COLUMNS:
        return False
    index = np.arange(len(frame)) if not objects.is_pandas(frame) else np.asarray(frame.index)
    if _repeated(frame) or not np.array_equal(index, np.arange(len(frame))):
        return False
    name = columns.texts[0]
    values = objects.values_of(frame, name)
    is_named = not are_numerals(values) and not are_documents(values)
    return is_named and (str(frame.columns[0]) == name or _are_distinct(frame, name))


def _are_distinct(frame: Any, column: str) -> bool:
    values = objects.values_of(frame, column)
    return len(set(values)) == len(values)


# --- calls ------------------------------------------------------------------------------------


def quoted(name: Any) -> str:
    """A name as Python and people write it, in double quotes."""
    return json.dumps(str(name), ensure_ascii=False)


def dropping(frame: Any, columns: Sequence[str]) -> str:
    """The call that leaves columns out of a data frame X."""
    names = ", ".join(_labels(frame, columns))
    return f"X.drop(columns=[{names}])" if objects.is_pandas(frame) else f"X.drop([{names}])"


def _labels(frame: Any, names: Sequence[str]) -> list[str]:
    """Columns as Python writes them: those of pandas may be numbers."""
    by_name = {str(label): label for label in frame.columns}
    return [quoted(name) if isinstance(by_name[name], str) else name for name in names]


def edges_call(source: str, ends: Sequence[str], numbers: Sequence[str]) -> str:
    """The call that reads an edge list, with the first column of numbers as weights."""
    rows, columns = ends
    weights = f", weights={quoted(numbers[0])}" if numbers else ""
    return f"comarkov.read({source}, rows={quoted(rows)}, columns={quoted(columns)}{weights})"


def _table(rows: str, source: str = "X") -> str:
    return f'comarkov.read({source}, rows={quoted(rows)}, kind="table")'
