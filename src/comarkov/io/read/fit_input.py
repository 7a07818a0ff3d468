"""What estimators take beside matrices: objects in which every item is one row, in order."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ...joint import objects
from ...joint.messages import quote, warn_user
from ...joint.objects import is_anndata
from ...joint.unsuitable import dropping, edges_call, names_rows, refuse_frame, texts_in
from .data import Data
from .formats import ReadOptions
from .headers import is_heading, is_heading_of_identifiers, is_identifier
from .naming import distinct
from .sources import read_any
from .texts import WEIGHTING

TEXTS = "the texts"


def fit_input(X: Any) -> Any:
    """X as a matrix with names, if it is AnnData, texts or a data frame with a column of names.

    The rows of the matrix are the items of X in their order, so that labels go with them. All
    other input comes back as it is, or is an error with the call that reads it.
    """
    if is_anndata(X):
        return read_any(X, None, ReadOptions(), None)
    X = _collected(X)
    if _is_table(X):
        columns = objects.columns_of(X)
        if not names_rows(X, columns):
            refuse_frame(X, columns)
        if _are_edges(columns):
            _warn_of_edges(columns)
        else:
            _warn_of_identifiers(X, columns)
        return _with_names(X, columns)
    texts = texts_in(X)
    return X if texts is None else read_any(texts, None, ReadOptions(), None)


def new_input(X: Any, words: np.ndarray | None) -> Any:
    """The same for new rows, whose columns are those of a fit.

    Of texts only the ``words`` of the fit are counted. Columns of text that the fit did not have
    are left in a data frame: they are ignored when it is aligned with the fit.
    """
    if is_anndata(X):
        return read_any(X, None, ReadOptions(), None)
    X = _collected(X)
    if _is_table(X):
        columns = objects.columns_of(X)
        return _with_names(X, columns) if names_rows(X, columns) else X
    texts = texts_in(X)
    return X if texts is None else _counted(texts, words)


def _counted(texts: list[str], words: np.ndarray | None) -> Data:
    """Counts of the words of a fit in new texts."""
    from sklearn.feature_extraction.text import CountVectorizer  # slow to import

    if words is None:
        raise ValueError(
            "X is a list of texts, but the columns of the fit have no names, so that words cannot "
            "be found among them. Fit the model to texts, too: model.fit(texts)"
        )
    counter = CountVectorizer(vocabulary=list(map(str, words)))
    counts = sp.csr_array(counter.transform(texts))
    return Data(counts, None, words, "document", "word", TEXTS, WEIGHTING)


def _collected(X: Any) -> Any:
    return X.collect() if objects.is_lazy(X) else X


def _is_table(X: Any) -> bool:
    return objects.is_frame(X) and hasattr(X, "dtypes")


def _with_names(frame: Any, columns: objects.FrameColumns) -> Any:
    """A data frame of numbers as it is, one with a column of names as a matrix with names."""
    if not columns.texts:
        return frame
    (name,) = columns.texts
    rows = distinct("" if value is None else value for value in objects.values_of(frame, name))
    return Data(objects.without(frame, [name]), rows, columns.numbers)


def _are_edges(columns: objects.FrameColumns) -> bool:
    """Has a frame of numbers the headings of an edge list, such as user and item?"""
    names = columns.numbers
    return not columns.texts and len(names) in (2, 3) and all(map(is_heading, names))


def _warn_of_edges(columns: objects.FrameColumns) -> None:
    """Warn that a frame of numbers has the headings of an edge list."""
    names = columns.numbers
    warn_user(
        f"Columns {', '.join(names)} look like those of an edge list, but each line of X was taken "
        "for a row of a matrix. If each line is one pair of a row and a column, pass "
        f"{edges_call('X', names[:2], names[2:])}."
    )


def _warn_of_identifiers(frame: Any, columns: objects.FrameColumns) -> None:
    """Warn if a column of numbers only numbers the rows: its numbers would count as weights."""
    identifiers = [
        name
        for name in columns.numbers
        if is_heading_of_identifiers(name) and is_identifier(name, objects.values_of(frame, name))
    ]
    if identifiers:
        warn_user(
            f"Column {quote(identifiers[0])} of X seems to number the rows, but was read as "
            "weights. If "
            f"it does, pass {dropping(frame, identifiers)}."
        )
