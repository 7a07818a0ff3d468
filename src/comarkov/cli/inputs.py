"""INPUT as a user names it: a file, a folder, a data set, or standard input."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ..reading import Data
    from .options import Reading

STDIN = "-"
# What rows and columns of the data sets are, and the weighting that suits them.
KNOWN = {
    "southern-women": ("person", "event", None),
    "movielens": ("user", "movie", None),
    "newsgroups": ("document", "word", "bm25"),
}


def read(source: str, options: Reading, min_df: int) -> Data:
    """INPUT as a matrix with names, or an error that says what is wrong with it."""
    from .. import datasets, reading

    if source in datasets.CATALOGUE and not Path(source).exists():
        return _data_set(source)
    if source != STDIN and "://" not in source and not Path(source).exists():
        raise FileNotFoundError(
            f"There is no file {source!r}, and no data set of that name "
            f"({', '.join(datasets.CATALOGUE)})."
        )
    keywords: dict[str, Any] = {
        "rows": _column(options.rows), "columns": _column(options.columns),
        "weights": _column(options.weights), "text": _column(options.text),
        "kind": options.kind, "header": options.header, "encoding": options.encoding,
        "separator": _separator(options.separator), "query": options.query,
        "layer": options.layer, "n_words": options.n_words, "min_df": min_df,
        "stop_words": None if options.stop_words == "none" else options.stop_words,
        "row_names": options.row_names, "column_names": options.column_names,
    }  # fmt: skip
    return reading.read(sys.stdin.buffer if source == STDIN else source, **keywords)


def _data_set(name: str) -> Data:
    from .. import datasets
    from ..reading import Data

    found = datasets.load(name)
    row_kind, column_kind, weighting = KNOWN[name]
    rows, columns = (
        np.asarray(names, dtype=object) for names in (found.row_names, found.column_names)
    )
    return Data(found.matrix, rows, columns, row_kind, column_kind, name, weighting)


def _column(text: str | None) -> str | int | None:
    """A column by its name, or by its number if it is one."""
    return int(text) if text is not None and text.isdecimal() else text


def _separator(text: str | None) -> str | None:
    return {"tab": "\t", "\\t": "\t", "space": " "}.get(text, text) if text else text
