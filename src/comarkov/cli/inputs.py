"""INPUT as a user names it: a file, a folder, a data set, or standard input."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .options import INPUT, TEXTS, completion, option

if TYPE_CHECKING:
    from ..data.reading import Data

KINDS = ("edges", "table", "texts", "mtx", "npz", "h5ad", "graph")
STDIN = "-"
SEPARATORS = {"tab": "\t", "\\t": "\t", "space": " "}
KEYWORDS = [
    "kind", "rows", "columns", "weights", "header", "separator", "decimal", "encoding", "text",
    "stop_words", "min_df", "n_words", "query", "layer", "row_names", "column_names", "max_bytes",
]  # fmt: skip
# What rows and columns of the data sets are, and the weighting that suits them.
KNOWN = {
    "southern-women": ("woman", "event", None),
    "movielens": ("user", "movie", None),
    "newsgroups": ("document", "word", "bm25"),
}


Source = Annotated[
    str,
    typer.Argument(
        metavar="INPUT",
        help="A file, a folder of texts, the name of a data set, or - for standard input.",
        show_default=False,
        autocompletion=completion(list(KNOWN)),  # and files, which the shell knows
    ),
]


@dataclass(frozen=True)
class Reading:
    """How INPUT is to be read."""

    kind: Annotated[
        str | None,
        option(
            "--kind", panel=INPUT, metavar="KIND", show_default="from its name and content",
            help=f"What INPUT is: {', '.join(KINDS)}.",
            autocompletion=completion(KINDS),
        ),
    ] = None  # fmt: skip
    rows: Annotated[
        str | None,
        option("--rows", panel=INPUT, metavar="COLUMN", help="The column that names the rows."),
    ] = None
    columns: Annotated[
        str | None,
        option("--columns", panel=INPUT, metavar="COLUMN", help="The one that names the columns."),
    ] = None
    weights: Annotated[
        str | None,
        option("--weights", panel=INPUT, metavar="COLUMN", help="The one with the weights."),
    ] = None
    header: Annotated[
        bool | None,
        option(
            "--header/--no-header", panel=INPUT, show_default="by looking",
            help="Does the first line name the columns?",
        ),
    ] = None  # fmt: skip
    separator: Annotated[
        str | None,
        option(
            "--separator", panel=INPUT, metavar="TEXT", show_default="by looking",
            help=r"What is between the columns: ',', ';', '|', 'tab', ...",
        ),
    ] = None  # fmt: skip
    decimal: Annotated[
        str,
        option("--decimal", panel=INPUT, metavar="MARK", help="Before decimals: '.' or ','."),
    ] = "."
    encoding: Annotated[
        str, option("--encoding", panel=INPUT, metavar="NAME", help="How text is encoded.")
    ] = "utf-8"
    query: Annotated[
        str | None,
        option("--query", panel=INPUT, metavar="SQL", help="What to ask a database for."),
    ] = None
    layer: Annotated[
        str | None,
        option("--layer", panel=INPUT, metavar="NAME", help="The layer of an AnnData file."),
    ] = None
    row_names: Annotated[
        str | None,
        option(
            "--row-names", panel=INPUT, metavar="FILE",
            help="Names instead of ids: a file with both, or FILE:IDS:NAMES with its columns.",
        ),
    ] = None  # fmt: skip
    column_names: Annotated[
        str | None,
        option("--column-names", panel=INPUT, metavar="FILE", help="The same for the columns."),
    ] = None
    row_kind: Annotated[
        str | None,
        option(
            "--row-kind", panel=INPUT, metavar="WORD", show_default="what INPUT says, or row",
            help="What a row is, such as user: the report calls it so.",
        ),
    ] = None  # fmt: skip
    column_kind: Annotated[
        str | None,
        option("--column-kind", panel=INPUT, metavar="WORD", help="What a column is."),
    ] = None
    max_bytes: Annotated[
        str | None,
        option(
            "--max-bytes", panel=INPUT, metavar="SIZE",
            show_default="100 times its size, or 256 MB if that is more",
            help="The most that a packed file may unpack to, such as 2GB.",
        ),
    ] = None  # fmt: skip
    text: Annotated[
        str | None,
        option("--text", panel=TEXTS, metavar="COLUMN", help="The column or field with the text."),
    ] = None
    n_words: Annotated[
        int | None,
        option(
            "--n-words", panel=TEXTS, metavar="N", min=1, show_default="all",
            help="Keep so many words: those that tell most about the documents.",
        ),
    ] = None  # fmt: skip
    min_df: Annotated[
        int | None,
        option(
            "--min-df", panel=TEXTS, metavar="N", min=1, show_default="2; 1 for predict",
            help="Drop words that fewer documents have.",
        ),
    ] = None  # fmt: skip
    stop_words: Annotated[
        str,
        option(
            "--stop-words", panel=TEXTS, metavar="NAME", help="Words to leave out: english or none."
        ),
    ] = "english"

    def read(self, source: str, for_a_model: bool = False) -> Data:
        """INPUT as a matrix with names; for a model that is there, of rare words or zeros, too."""
        data = _read(source, self, for_a_model)
        return replace(
            data,
            row_kind=self.row_kind or data.row_kind,
            column_kind=self.column_kind or data.column_kind,
        )


def _read(source: str, options: Reading, for_a_model: bool) -> Data:
    """INPUT as a matrix with names, or an error that says what is wrong with it."""
    if source in KNOWN and not Path(source).exists():
        _refuse_options(source, options)
        return _data_set(source)
    if source != STDIN and "://" not in source and not Path(source).exists():
        raise FileNotFoundError(
            f"There is no file {source!r}, and no data set of that name ({', '.join(KNOWN)})."
        )
    from ..data import reading  # slow to import

    given = {name: getattr(options, name) for name in KEYWORDS}
    keywords = {name: value for name, value in given.items() if value is not None}
    for name in ("rows", "columns", "weights", "text"):
        if name in keywords:
            keywords[name] = _column(keywords[name])
    if "separator" in keywords:
        keywords["separator"] = SEPARATORS.get(keywords["separator"], keywords["separator"])
    if "max_bytes" in keywords:
        keywords["max_bytes"] = _bytes(keywords["max_bytes"])
    if for_a_model and options.min_df is None and _holds_texts(source, options):
        keywords["min_df"] = 1
    try:
        data = reading.read(source, **keywords)
    except ValueError as error:
        raise ValueError(_with_options(str(error))) from error
    if data.matrix.nnz == 0 and not for_a_model:
        raise ValueError(f"{source} has no weight above 0.")
    return data


def _holds_texts(source: str, options: Reading) -> bool:
    names = (".jsonl", ".ndjson")
    told = options.kind == "texts" or options.text is not None
    return told or Path(source).is_dir() or any(suffix in source for suffix in names)


def _with_options(message: str) -> str:
    """What a message says of keywords, said of options."""

    def option(found: re.Match[str]) -> str:
        return f"--{found[1].replace('_', '-')}" + ("" if found[2] in ".,;:) " else " ") + found[2]

    return re.sub(rf"\b({'|'.join(KEYWORDS)})=(.)", option, message)


def _refuse_options(name: str, options: Reading) -> None:
    """A data set is there as it is: options that say how to read a file are not ignored."""
    for field in fields(options):
        if field.name in KEYWORDS and getattr(options, field.name) != field.default:
            option = f"--{field.name.replace('_', '-')}"
            raise ValueError(f"{option} does not go with {name}, which is a data set and no file.")


def _bytes(text: str) -> int:
    """A size such as 500000, 300MB or 2GB."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(?:([kmgt])?i?b)?", text.strip(), re.IGNORECASE)
    if found is None:
        raise ValueError(f"--max-bytes {text}: say a size such as 500000, 300MB or 2GB.")
    return int(float(found[1]) * 1000 ** " kmgt".index((found[2] or " ").lower()))


def _data_set(name: str) -> Data:
    import numpy as np

    from ..data import datasets
    from ..data.reading import Data

    found = datasets.load(name)
    row_kind, column_kind, weighting = KNOWN[name]
    rows, columns = (
        np.asarray(names, dtype=object) for names in (found.row_names, found.column_names)
    )
    return Data(found.matrix, rows, columns, row_kind, column_kind, name, weighting)


def _column(text: str | None) -> str | int | None:
    """A column by its name, or by its number if it is one."""
    return int(text) if text is not None and text.isdecimal() else text
