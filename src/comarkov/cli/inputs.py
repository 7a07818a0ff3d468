"""INPUT as a user names it: a file, a folder, a data set, or standard input."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .option_groups import completion
from .options import INPUT, TEXTS

if TYPE_CHECKING:
    from ..data.reading import Data

KINDS = ("edges", "table", "texts", "document", "sequences", "mtx", "npz", "h5ad", "graph")
STDIN = "-"
SEPARATORS = {"tab": "\t", "\\t": "\t", "space": " ", "none": ""}
OWN = ("row_kind", "column_kind")  # options that are not those of comarkov.read
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
class InputOptions:
    """How INPUT is to be read."""

    kind: str | None = INPUT.option(
        "--kind KIND",
        f"What INPUT is: {', '.join(KINDS)}.",
        shown="from its name and content",
        autocompletion=completion(KINDS),
    )
    rows: str | None = INPUT.option("--rows COLUMN", "The column that names the rows.")
    columns: str | None = INPUT.option("--columns COLUMN", "The one that names the columns.")
    weights: str | None = INPUT.option("--weights COLUMN", "The one with the weights.")
    time: str | None = INPUT.option(
        "--time COLUMN", "With --kind sequences: the column to sort by.", shown="as in the file"
    )
    header: bool | None = INPUT.option(
        "--header/--no-header", "Does the first line name the columns?", shown="by looking"
    )
    separator: str | None = INPUT.option(
        "--separator TEXT",
        r"What is between the columns: ',', ';', '|', 'tab', ...",
        shown="by looking",
    )
    decimal: str | None = INPUT.option("--decimal MARK", "Before decimals: '.' or ','.", shown=".")
    encoding: str | None = INPUT.option(
        "--encoding NAME", "The encoding of text, such as latin-1.", shown="detected"
    )
    query: str | None = INPUT.option("--query SQL", "What to ask a database for.")
    layer: str | None = INPUT.option("--layer NAME", "The layer of an AnnData file.")
    row_names: str | None = INPUT.option(
        "--row-names FILE",
        "Names instead of ids: a file with both, or FILE:IDS:NAMES with its columns.",
    )
    column_names: str | None = INPUT.option("--column-names FILE", "The same for the columns.")
    row_classes: str | None = INPUT.option(
        "--row-classes WHERE",
        "Known classes of rows, to compare clusters with: a column of INPUT (of .obs), or a file "
        "with names and classes; FILE:NAMES:CLASSES chooses its columns.",
        shown="subfolders of texts, columns with 2 to 50 categories",
    )
    column_classes: str | None = INPUT.option(
        "--column-classes WHERE", "The same for the columns (a column of .var)."
    )
    row_kind: str | None = INPUT.option(
        "--row-kind WORD",
        "What a row is, such as user: the report calls it so.",
        shown="what INPUT says, or row",
    )
    column_kind: str | None = INPUT.option("--column-kind WORD", "What a column is.")
    max_bytes: str | None = INPUT.option(
        "--max-bytes SIZE",
        "The most that a packed file may unpack to, such as 2GB.",
        shown="100 times its size, or 256 MB if that is more",
    )
    text: str | None = TEXTS.option("--text COLUMN", "The column or field with the text.")
    n_words: int | None = TEXTS.option(
        "--n-words N",
        "Keep so many words: those that tell most about the documents.",
        shown="all",
        min=1,
    )
    min_df: int | None = TEXTS.option(
        "--min-df N", "Drop words that fewer documents have.", shown="2; 1 for predict", min=1
    )
    stop_words: str | None = TEXTS.option(
        "--stop-words NAME", "Words to leave out: english or none.", shown="english"
    )

    def read(self, source: str, like: Any = None) -> Data:
        """INPUT as a matrix with names, read like the data of a fitted model if there is one."""
        data = _read(source, self, like)
        return replace(
            data,
            row_kind=self.row_kind or data.row_kind,
            column_kind=self.column_kind or data.column_kind,
        )


KEYWORDS = [each.name for each in fields(InputOptions) if each.name not in OWN]


def _read(source: str, options: InputOptions, like: Any) -> Data:
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
    for name in ("rows", "columns", "weights", "time", "text"):
        if name in keywords:
            keywords[name] = _column(keywords[name])
    if "separator" in keywords:
        keywords["separator"] = SEPARATORS.get(keywords["separator"], keywords["separator"])
    if "max_bytes" in keywords:
        keywords["max_bytes"] = _bytes(keywords["max_bytes"])
    try:
        data = reading.read(source, like=like, **keywords)
    except ValueError as error:
        raise ValueError(with_options(str(error))) from error
    if data.matrix.nnz == 0 and like is None:
        raise ValueError(f"{source} has no weight above 0.")
    return data


def with_options(message: str) -> str:
    """A message about keywords as one about options."""

    def option(match: re.Match[str]) -> str:
        return f"--{match[1].replace('_', '-')}" + ("" if match[2] in ".,;:) " else " ") + match[2]

    return re.sub(rf"\b({'|'.join(KEYWORDS)})=(.)", option, message)


def _refuse_options(name: str, options: InputOptions) -> None:
    """A data set is there as it is: options that say how to read a file are not ignored."""
    for field in fields(options):
        if field.name in KEYWORDS and getattr(options, field.name) != field.default:
            option = f"--{field.name.replace('_', '-')}"
            raise ValueError(f"{option} does not go with {name}, which is a data set and no file.")


def _bytes(text: str) -> int:
    """A size such as 500000, 300MB or 2GB."""
    parts = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(?:([kmgt])?i?b)?", text.strip(), re.IGNORECASE)
    if parts is None:
        raise ValueError(f"--max-bytes {text}: say a size such as 500000, 300MB or 2GB.")
    return int(float(parts[1]) * 1000 ** " kmgt".index((parts[2] or " ").lower()))


def _data_set(name: str) -> Data:
    import numpy as np

    from ..data import datasets
    from ..data.reading import Data

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
