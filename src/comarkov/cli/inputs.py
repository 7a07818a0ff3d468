"""INPUT as a user names it: a file, a folder, a data set, or standard input."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..reading import Data
    from .options import Reading

STDIN = "-"
SEPARATORS = {"tab": "\t", "\\t": "\t", "space": " "}
KEYWORDS = [
    "kind", "rows", "columns", "weights", "header", "separator", "encoding", "text", "stop_words",
    "min_df", "n_words", "query", "layer", "row_names", "column_names",
]  # fmt: skip
# What rows and columns of the data sets are, and the weighting that suits them.
KNOWN = {
    "southern-women": ("woman", "event", None),
    "movielens": ("user", "movie", None),
    "newsgroups": ("document", "word", "bm25"),
}


def read(source: str, options: Reading, rare_words: bool) -> Data:
    """INPUT as a matrix with names, or an error that says what is wrong with it."""
    if source in KNOWN and not Path(source).exists():
        return _data_set(source)
    if source != STDIN and "://" not in source and not Path(source).exists():
        raise FileNotFoundError(
            f"There is no file {source!r}, and no data set of that name ({', '.join(KNOWN)})."
        )
    from .. import reading  # slow to import

    given = {field.name: getattr(options, field.name) for field in fields(options)}
    keywords = {name: value for name, value in given.items() if value is not None}
    for name in ("rows", "columns", "weights", "text"):
        if name in keywords:
            keywords[name] = _column(keywords[name])
    if "separator" in keywords:
        keywords["separator"] = SEPARATORS.get(keywords["separator"], keywords["separator"])
    if keywords["stop_words"] == "none":
        keywords["stop_words"] = None
    if rare_words and options.min_df is None and _holds_texts(source, options):
        keywords["min_df"] = 1
    try:
        return reading.read(source, **keywords)
    except ValueError as error:
        raise ValueError(_with_options(str(error))) from error


def _holds_texts(source: str, options: Reading) -> bool:
    names = (".jsonl", ".ndjson")
    told = options.kind == "texts" or options.text is not None
    return told or Path(source).is_dir() or any(suffix in source for suffix in names)


def _with_options(message: str) -> str:
    """What a message says of keywords, said of options."""

    def option(found: re.Match[str]) -> str:
        return f"--{found[1].replace('_', '-')}" + ("" if found[2] in ".,;: " else " ") + found[2]

    return re.sub(rf"\b({'|'.join(KEYWORDS)})=(.)", option, message)


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
