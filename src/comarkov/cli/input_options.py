"""The argument INPUT of the commands, and the options that control how it is read."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..joint.messages import bytes_of, did_you_mean, similar_file
from .options import INPUT, TABLES, TEXTS, completion

if TYPE_CHECKING:
    from ..io.read import Data


KINDS = ("edges", "table", "texts", "document", "sequences", "mtx", "npy", "npz", "h5ad", "graph")
STDIN = "-"
SEPARATORS = {"tab": "\t", "\\t": "\t", "space": " ", "none": ""}
OWN = ("row_kind", "column_kind", "entry_kind")  # options that comarkov.read does not have
# What the rows and columns of the data sets are, and the weighting that suits them.
KNOWN = {
    "southern-women": ("woman", "event", None),
    "movielens": ("user", "movie", None),
    "newsgroups": ("document", "word", "bm25"),
}


Source = Annotated[
    str,
    typer.Argument(
        metavar="INPUT",
        help="A file, a folder of texts, edges or results, a store, a database, a data set, or - "
        "for stdin.",
        show_default=False,
        autocompletion=completion(list(KNOWN)),  # and files, which the shell knows
    ),
]


@dataclass(frozen=True)
class InputOptions:
    """How to read INPUT."""

    kind: str | None = INPUT.option(
        "--kind KIND",
        f"How to read INPUT: {', '.join(KINDS)}.",
        shown="detected",
        autocompletion=completion(KINDS),
    )
    rows: str | None = TABLES.option(
        "--rows COLUMN", "Edge list: the column with the names of rows.", shown="the first"
    )
    columns: str | None = TABLES.option(
        "--columns COLUMN", "Edge list: the column with the names of columns.", shown="the second"
    )
    weights: str | None = TABLES.option(
        "--weights COLUMN", "Edge list: the column with the weights.", shown="the third, or 1"
    )
    names: str | None = TABLES.option(
        "--names COLUMN", "Wide table: the column that names the rows.", shown="the first"
    )
    drop: str | None = TABLES.option(
        "--drop COLUMNS",
        "Columns to leave out, separated by commas; none keeps columns of identifiers.",
        shown="text and identifiers in wide tables",
    )
    time: str | None = TABLES.option(
        "--time COLUMN",
        "With --kind sequences: the column to sort by, within the sequences of --rows.",
        shown="the order of lines",
    )
    header: bool | None = TABLES.option(
        "--header/--no-header", "Does the first line hold the headings?", shown="detected"
    )
    separator: str | None = TABLES.option(
        "--separator MARK",
        "The mark between columns: ',', ';', '|', tab or space. With none, each letter is a state.",
        shown="detected",
    )
    decimal: str | None = TABLES.option(
        "--decimal MARK", "The decimal mark: '.' or ','.", shown="."
    )
    thousands: str | None = TABLES.option(
        "--thousands MARK", "The mark between thousands, such as ','.", shown="none"
    )
    missing: str | None = TABLES.option(
        "--missing HOW",
        "What to do with lines without a weight: skip, 0 or error.",
        shown="error; 0 in wide tables",
        autocompletion=completion(("skip", "0", "error")),
    )
    keep_na: bool | None = TABLES.option(
        "--keep-na", "Read NA, null and the like as names, not as missing values.", shown="no"
    )
    sheet: str | None = TABLES.option(
        "--sheet NAME", "The sheet of an Excel file.", shown="the only one"
    )
    encoding: str | None = INPUT.option(
        "--encoding NAME", "The encoding of text, such as latin-1.", shown="detected"
    )
    query: str | None = INPUT.option("--query SQL", "The query for a database.")
    table: str | None = INPUT.option(
        "--table NAME", "The table of a database.", shown="the only one"
    )
    layer: str | None = INPUT.option(
        "--layer NAME", "The layer of an AnnData file, or raw.", shown="X; counts if X is scaled"
    )
    row_names: str | None = INPUT.option(
        "--row-names FILE",
        "A file with ids and names, to replace ids by names; FILE:IDS:NAMES chooses its columns.",
    )
    column_names: str | None = INPUT.option("--column-names FILE", "The same for columns.")
    row_classes: str | None = INPUT.option(
        "--row-classes WHERE",
        "Known classes of rows, to compare clusters with: a column of INPUT (of .obs), or a file "
        "with names and classes; FILE:NAMES:CLASSES chooses its columns.",
        shown="subfolders of texts, columns with 2 to 50 categories",
    )
    column_classes: str | None = INPUT.option(
        "--column-classes WHERE", "The same for columns (a column of .var)."
    )
    row_kind: str | None = INPUT.option(
        "--row-kind WORD",
        "What a row is, such as user, for the report.",
        shown="the heading, or row",
    )
    column_kind: str | None = INPUT.option("--column-kind WORD", "What a column is, such as item.")
    entry_kind: str | None = INPUT.option(
        "--entry-kind WORD",
        "What the weights count, such as flights.",
        shown="the heading of the weights",
    )
    max_bytes: str | None = INPUT.option(
        "--max-bytes SIZE",
        "The largest size that a compressed file may unpack to, such as 2GB.",
        shown="100 times its size, at least 256 MB",
    )
    text: str | None = TEXTS.option("--text COLUMN", "The column or field with the text.")
    n_words: int | None = TEXTS.option(
        "--n-words N",
        "Keep only the N most informative words.",
        shown="all",
        min=1,
    )
    min_df: int | None = TEXTS.option(
        "--min-df N",
        "Drop words that occur in fewer than N documents.",
        shown="2; 1 for predict",
        min=1,
    )
    stop_words: str | None = TEXTS.option(
        "--stop-words NAME", "Words to drop: english or none.", shown="english"
    )

    def read(self, source: str, like: Any = None) -> Data:
        """INPUT as a matrix with names, read like the data of a fitted model if there is one."""
        data = _read(source, self, like)
        kinds = {name: getattr(self, name) for name in OWN if getattr(self, name)}
        if self.entry_kind:
            kinds["entry_kind"] = self._entry_kind(data)
        return data.changed(**kinds)

    def keywords(self) -> dict[str, Any]:
        """The options that are given, as keywords of ``comarkov.read``."""
        given = {name: getattr(self, name) for name in KEYWORDS}
        keywords = {name: value for name, value in given.items() if value is not None}
        for name in ("rows", "columns", "weights", "names", "time", "text"):
            if name in keywords:
                keywords[name] = _column(keywords[name])
        if "separator" in keywords:
            keywords["separator"] = SEPARATORS.get(keywords["separator"], keywords["separator"])
        if "max_bytes" in keywords:
            keywords["max_bytes"] = as_bytes(keywords["max_bytes"], "--max-bytes")
        return keywords

    def _entry_kind(self, data: Data) -> str:
        """What the weights count, in the plural; what they measure, as it was given."""
        from ..joint.messages import as_plural

        is_counted = bool((data.matrix.data % 1 == 0).all())
        return as_plural(self.entry_kind or "") if is_counted else self.entry_kind or ""


KEYWORDS = [each.name for each in fields(InputOptions) if each.name not in OWN]


def _read(source: str, options: InputOptions, like: Any) -> Data:
    """INPUT as a matrix with names, or an error about it in the words of the command line."""
    if is_data_set(source):
        _refuse_options(source, options)
        return data_set(source)
    refuse_missing(source)
    from ..io import read  # slow to import

    data = read.read(source, like=like, **options.keywords())
    if data.matrix.nnz == 0 and like is None:
        raise ValueError(f"{source} has no weight above 0. {_advice_about_weights(data)}")
    if data.shape == (1, 1) and like is None:
        raise ValueError(
            f"{source} has only one row and one column, so there is nothing to cluster. Choose the "
            "columns of a table with --rows and --columns. If the file holds texts, one in each "
            "line, use --kind texts; for one text per file, give a folder of texts."
        )
    return data


def _advice_about_weights(data: Data) -> str:
    if (data.reading or {}).get("kind") == "edges":
        return "Choose the column with the weights: --weights COLUMN."
    return "There is nothing to cluster: give data with at least one weight above 0."


def refuse_missing(source: str) -> None:
    """An error if there is nothing at a path."""
    if source != STDIN and "://" not in source and not Path(source).exists():
        raise FileNotFoundError(
            f"There is no file {source!r}, and no data set of that name."
            + (
                similar_file(Path(source))
                or did_you_mean(source, KNOWN)
                or f" Check the path, or choose a data set: {', '.join(KNOWN)}."
            )
        )


def _refuse_options(name: str, options: InputOptions) -> None:
    """Options for files do not apply to a data set: refuse them rather than ignore them."""
    for field in fields(options):
        if field.name in KEYWORDS and getattr(options, field.name) != field.default:
            option = f"--{field.name.replace('_', '-')}"
            raise ValueError(f"{option} does not apply to the data set {name}: leave it out.")


def as_bytes(text: str, option: str) -> int:
    """A size such as 500000, 300MB or 2GB."""
    size = bytes_of(text)
    if size is None:
        raise ValueError(f"{option} {text} is not a size: use, for example, {option} 2GB.")
    return size


def is_data_set(source: str) -> bool:
    """Is it the name of a data set, and not of a file?"""
    return source in KNOWN and not Path(source).exists()


def data_set(name: str) -> Data:
    """A data set with its names, and what its rows and columns are."""
    import numpy as np

    from ..io import datasets
    from ..io.read import Data

    dataset = datasets.load(name)
    row_kind, column_kind, weighting = KNOWN[name]
    rows, columns = (
        np.asarray(names, dtype=object) for names in (dataset.row_names, dataset.column_names)
    )
    classes = None
    if dataset.row_classes is not None:
        classes = {"class": np.asarray(dataset.class_names)[dataset.row_classes]}
    return Data(
        *(dataset.matrix, rows, columns, row_kind, column_kind, name, weighting),
        row_classes=classes,
        reading={"kind": "document"} if row_kind == "document" else None,
    )


def _column(text: str | None) -> str | int | None:
    """A column by its name, or by its number if it is one."""
    return int(text) if text is not None and text.isdecimal() else text
