"""Objects that are not matrices: what they are, and the call that reads them."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from . import objects
from .objects import Columns, are_documents, are_numerals

FEW = 3  # names to show


def refuse_unsuitable(X: Any) -> None:
    """Raise an error with the call to use, if X is clearly no matrix of numbers."""
    problem = _problem(X)
    if problem is not None:
        raise ValueError(problem)


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


def _problem(X: Any) -> str | None:
    """What is wrong with X and what to do; None if it may be a matrix."""
    if isinstance(X, str | os.PathLike):
        name = _quoted(os.fspath(X))
        return f"X is {name}, the name of a file or folder. Read it first: comarkov.read({name})."
    if X is None or isinstance(X, bytes | set | frozenset):
        return (
            f"X is {'missing' if X is None else f'of type {type(X).__name__}'}. Pass a matrix, a "
            'data frame or what comarkov.read returns; for a file: comarkov.read("table.csv").'
        )
    if callable(getattr(X, "read", None)) and not hasattr(X, "columns"):
        return "X is an open file. Read it first: comarkov.read(X)."
    if isinstance(X, Mapping):
        return _mapping_problem(X)
    if hasattr(X, "to_pandas") and hasattr(X, "column_names"):
        return "X is an Arrow table. Pass polars.from_arrow(X) or X.to_pandas()."
    if objects.is_lazy(X):
        return "X is a lazy frame. Pass X.collect()."
    if objects.is_frame(X):
        return frame_problem(X, objects.columns_of(X))
    if is_one_dimensional(X):
        return _list_problem(X)
    if _is_table_of_text(X):
        if are_numerals(X.astype(str).ravel().tolist()):
            return "X holds numbers as text. Pass X.astype(float)."
        return _rows_problem(X.astype(str).tolist(), "X.astype(str).tolist()")
    return "X is an iterator. Pass list(X)." if hasattr(X, "__next__") else None


# --- data frames ------------------------------------------------------------------------------


def frame_problem(frame: Any, columns: Columns) -> str | None:
    """What is wrong with a data frame that has columns without numbers, and what to do."""
    repeated = _repeated(frame)
    if repeated:
        return (
            f"X has several columns called {_quoted(repeated[0])}. Rename them, or keep the first "
            "of each name: pass X.loc[:, ~X.columns.duplicated()]."
        )
    if columns.others:
        return (
            f"{_listed(columns.others, 'Column')} of X {_holds(columns.others)} neither numbers "
            f"nor text. Drop {_it(columns.others)}: pass {dropping(frame, columns.others)}."
        )
    if not columns.texts:
        return None
    values = {name: objects.values_of(frame, name) for name in columns.texts}
    documents = [name for name in columns.texts if are_documents(values[name])]
    if documents:
        names = [name for name in columns.texts if name not in documents]
        rows = f", rows={_quoted(names[0])}" if names else ""
        return (
            f"Column {_quoted(documents[0])} of X holds texts. To count their words, pass "
            f"comarkov.read(X, text={_quoted(documents[0])}{rows})."
        )
    numerals = [name for name in columns.texts if are_numerals(values[name])]
    if len(numerals) == len(columns.texts):
        return _numerals_problem(frame, columns)
    return _names_problem(frame, columns)


def _repeated(frame: Any) -> list[str]:
    """The names that several columns share."""
    return [name for name, count in Counter(map(str, frame.columns)).items() if count > 1]


def _numerals_problem(frame: Any, columns: Columns) -> str:
    """Columns hold numbers as text: they may be weights, or a single one the names of rows."""
    types = ", ".join(f"{_quoted(name)}: float" for name in columns.texts)
    change = "astype" if objects.is_pandas(frame) else "cast"
    as_numbers = f"X.{change}({{{types}}})"
    start = f"{_listed(columns.texts, 'Column')} of X {_holds(columns.texts)} numbers as text."
    if len(columns.texts) == 1 and columns.numbers:
        name = _quoted(columns.texts[0])
        return (
            f"{start} If they are weights, pass {as_numbers}; if they name the rows, "
            f'pass comarkov.read(X, rows={name}, kind="table").'
        )
    return f"{start} Pass {as_numbers}."


def _names_problem(frame: Any, columns: Columns) -> str:
    """Columns hold names: of the two ends of edges, or of the rows of a wide table."""
    texts, numbers = columns.texts, columns.numbers
    start = f"{_listed(texts, 'Column')} of X {_holds(texts)} text, not weights."
    ends = [*texts, *numbers][:2] if columns.width <= objects.MOST_OF_AN_EDGE else texts[:2]
    edges = None
    if len(ends) == 2 and len(numbers) <= objects.MOST_OF_AN_EDGE:
        weights = [name for name in numbers if name not in ends]
        weight = f", weights={_quoted(weights[0])}" if weights else ""
        edges = f"comarkov.read(X, rows={_quoted(ends[0])}, columns={_quoted(ends[1])}{weight})"
    if edges is not None and (len(texts) >= 2 or not _are_distinct(frame, texts[0])):
        return f"{start} If each line is one pair of a row and a column, pass {edges}."
    if not numbers:
        return f"{start} To count their words, pass comarkov.read(X, text={_quoted(texts[0])})."
    source = "X" if len(texts) == 1 else dropping(frame, texts[1:])
    wide = f'comarkov.read({source}, rows={_quoted(texts[0])}, kind="table")'
    if edges is not None:
        return (
            f"{start} If it names the rows of a table, pass {wide}; if each line is one pair of a "
            f"row and a column, pass {edges}."
        )
    if len(texts) == 1 and not names_rows(frame, columns):
        return f"{start} Drop it: pass {dropping(frame, texts)}."
    return f"{start} If {_quoted(texts[0])} names the rows, pass {wide}."


def names_rows(frame: Any, columns: Columns) -> bool:
    """Does the only column of text name the rows, beside columns of numbers?

    It does if it comes first or all its values differ, and if there is no index with names. A
    frame with no more columns than an edge list has may be one.
    """
    if len(columns.texts) != 1 or columns.others or columns.width <= objects.MOST_OF_AN_EDGE:
        return False
    if _repeated(frame):
        return False
    values = objects.values_of(frame, columns.texts[0])
    is_index_plain = not objects.is_pandas(frame) or _counts_up(frame.index)
    is_first = str(frame.columns[0]) == columns.texts[0]
    is_distinct = _are_distinct(frame, columns.texts[0])
    is_named = not are_numerals(values) and not are_documents(values)
    return is_index_plain and is_named and (is_first or is_distinct)


def _are_distinct(frame: Any, column: str) -> bool:
    values = objects.values_of(frame, column)
    return len(set(values)) == len(values)


def _counts_up(index: Any) -> bool:
    return bool(np.array_equal(np.asarray(index), np.arange(len(index))))


def dropping(frame: Any, columns: Sequence[str]) -> str:
    """The call that leaves columns out of a data frame X."""
    listed = ", ".join(map(_quoted, columns))
    return f"X.drop(columns=[{listed}])" if objects.is_pandas(frame) else f"X.drop([{listed}])"


# --- lists, arrays and mappings of Python -----------------------------------------------------


def _list_problem(X: Any) -> str | None:
    items = list(X)
    if not items:
        return None
    whole = "X" if isinstance(X, list) else "list(X)"
    if all(isinstance(item, str) for item in items):
        return _strings_problem(items, whole)
    if any(isinstance(item, Mapping) for item in items):
        return _records_problem(items, whole)
    if not all(isinstance(item, Sequence) and not isinstance(item, str) for item in items):
        return None
    if not any(isinstance(value, str) for item in items for value in item):
        return None
    return _rows_problem(items, whole)


def _strings_problem(items: list[str], whole: str) -> str:
    if are_numerals(items):
        return (
            f"X is one list of {len(items)} numbers as text, not a table of rows and columns. For "
            f"a table of one row pass numpy.array([{whole}], dtype=float)."
        )
    if _are_files(items):
        return (
            "X is a list of file names. To count the words in the files, pass "
            f"comarkov.read([pathlib.Path(name).read_text() for name in {whole}])."
        )
    return f"X is a list of texts. To count their words, pass comarkov.read({whole})."


def _are_files(items: list[str]) -> bool:
    return all(len(item) < 256 and os.path.isfile(item) for item in items[:FEW])


def _records_problem(items: list[Any], whole: str) -> str | None:
    if not all(isinstance(item, Mapping) and item for item in items):
        return None
    first = items[0]
    texts = [key for key, value in first.items() if isinstance(value, str)]
    numbers = [key for key in first if key not in texts]
    if len(texts) < 2:
        return f"X is a list of dicts. Pass comarkov.read({whole})."
    weight = f", weights={_quoted(numbers[0])}" if numbers else ""
    ends = f"rows={_quoted(texts[0])}, columns={_quoted(texts[1])}"
    return f"X is a list of records. Pass comarkov.read({whole}, {ends}{weight})."


def _rows_problem(items: list[Any], whole: str) -> str:
    values = [value for item in items for value in item]
    if are_numerals(values):
        return f"X holds numbers as text. Pass numpy.array({whole}, dtype=float)."
    if all(len(item) in (2, 3) for item in items):
        return f"X is a list of pairs of names, not a table. Pass comarkov.read({whole})."
    if all(isinstance(value, str) for value in values):
        joined = f'[" ".join(words) for words in {whole}]'
        return f"X is a list of lists of words. To count them, pass comarkov.read({joined})."
    return (
        "X holds names beside numbers. If the first item of each row is its name, pass "
        f'comarkov.read(pandas.DataFrame({whole}), rows=0, kind="table").'
    )


def _is_table_of_text(X: Any) -> bool:
    kind = getattr(getattr(X, "dtype", None), "kind", None)
    if len(getattr(X, "shape", ())) != 2 or not isinstance(X, np.ndarray):
        return False
    return kind in ("U", "S", "T") or (
        kind == "O" and any(isinstance(value, str) for value in X.ravel())
    )


def _mapping_problem(X: Mapping[Any, Any]) -> str:
    values = list(X.values())
    if values and all(isinstance(value, Mapping) for value in values):
        table = 'pandas.DataFrame.from_dict(X, orient="index").fillna(0)'
    else:
        table = "pandas.DataFrame(X)"
    return f"X is a dict. Make a data frame of it first: pass {table}."


# --- words ------------------------------------------------------------------------------------


def _quoted(name: Any) -> str:
    """A name as Python and people write it, in double quotes."""
    return '"' + str(name).replace("\\", "\\\\").replace('"', '\\"') + '"'


def _listed(names: Sequence[str], word: str) -> str:
    shown = ", ".join(map(_quoted, names[:FEW])) + (", ..." if len(names) > FEW else "")
    return f"{word}{'s' if len(names) > 1 else ''} {shown}"


def _holds(names: Sequence[str]) -> str:
    return "hold" if len(names) > 1 else "holds"


def _it(names: Sequence[str]) -> str:
    return "them" if len(names) > 1 else "it"
