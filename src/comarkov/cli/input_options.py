"""The argument INPUT of the commands, and the options that control how it is read."""

from __future__ import annotations

from dataclasses import dataclass, make_dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self

import typer

from ..io.read_options import CHOICES, READ_OPTIONS
from ..joint.messages import InputError, bytes_of, did_you_mean, similar_file
from .options import Panel, as_options, completion

if TYPE_CHECKING:
    from ..io.read import Data


STDIN = "-"
SEPARATOR_WORDS = {"tab": "\t", "\\t": "\t", "space": " ", "none": ""}
# What the rows and columns of the data sets are, and the weighting that suits them.
DATA_SETS = {
    "southern-women": ("woman", "event", None),
    "movielens": ("user", "movie", None),
    "newsgroups": ("document", "word", "bm25"),
}
PANELS = ("Input: tables", "Input", "Input: texts")  # what newcomers need comes first
KEYWORDS = sorted(
    (name for name, option in READ_OPTIONS.items() if option.value is not None),
    key=lambda name: PANELS.index(READ_OPTIONS[name].panel),
)


Source = Annotated[
    str,
    typer.Argument(
        metavar="INPUT",
        help="A file, a folder of texts, edges or results, a store, a database, a data set, or - "
        "for stdin.",
        show_default=False,
        autocompletion=completion(list(DATA_SETS)),  # and files, which the shell knows
    ),
]


def _field(name: str) -> tuple[str, Any, Any]:
    """The field of a keyword of ``read`` in the group of options."""
    option = READ_OPTIONS[name]
    flag = f"--{name.replace('_', '-')}"
    more: dict[str, Any] = {"min": 1} if option.value == "N" else {}
    more |= {"shown": option.shown} if option.shown else {}
    more |= {"autocompletion": completion(CHOICES[name])} if name in CHOICES else {}
    if option.value == "" and option.default is None:  # it is detected unless it is set
        flag = f"{flag}/--no-{name}"
    help_text = as_options(option.help.split(". ")[0].rstrip(".") + ".", KEYWORDS)
    kind: Any = {"": bool, "N": int}.get(option.value or "", str)
    declared = Panel(option.panel).option(f"{flag} {option.value}", help_text, **more)
    return name, kind | None, declared


_Declared: Any = make_dataclass("_Declared", map(_field, KEYWORDS), frozen=True)


@dataclass(frozen=True)
class InputOptions(_Declared):
    """How to read INPUT: the keywords of ``comarkov.read`` as options."""

    def keywords(self) -> dict[str, Any]:
        """The options that are given, as keywords of ``comarkov.read``."""
        return {
            name: _value(name, getattr(self, name))
            for name in KEYWORDS
            if getattr(self, name) is not None
        }

    def changed(self, **values: Any) -> Self:
        """These options with other values of some."""
        return replace(self, **values)

    def read(self, source: str, like: Any = None) -> Data:
        """INPUT as a matrix with names, read like the data of a fitted model if there is one."""
        refuse_missing(source)
        from ..io import read  # slow to import

        data = read.read(source_of(source), like=like, **self.keywords())
        if like is None:
            _refuse_nothing(data, source)
        return data


def _value(name: str, text: Any) -> Any:
    """The value of an option for Python: columns by position, sizes in bytes."""
    value = READ_OPTIONS[name].value
    if name == "separator":
        return SEPARATOR_WORDS.get(text, text)
    if value == "COLUMN" and text.isdecimal():
        return int(text)
    return as_bytes(text, "--max-bytes") if value == "SIZE" else text


def _refuse_nothing(data: Data, source: str) -> None:
    """An error if there is nothing to cluster."""
    if data.matrix.nnz == 0:
        is_edges = data.reading.get("kind") == "edges"
        raise InputError(
            "it has no weight above 0",
            file=source,
            advice="Choose the column with the weights: --weights COLUMN."
            if is_edges
            else "Give data with at least one weight above 0.",
        )
    if data.shape == (1, 1):
        raise InputError(
            "it has only one row and one column, so there is nothing to cluster",
            file=source,
            advice="Choose the columns of a table with --rows and --columns. If the file holds "
            "texts, one in each line, use --kind texts; for one text per file, give a folder.",
        )


def refuse_missing(source: str) -> None:
    """An error if there is nothing at a path, and no data set of that name."""
    is_there = source and Path(source).exists()
    if source not in (STDIN, *DATA_SETS) and "://" not in source and not is_there:
        raise FileNotFoundError(
            f"There is no file {source!r}, and no data set of that name."
            + (
                similar_file(Path(source))
                or did_you_mean(source, DATA_SETS)
                or f" Check the path, or choose a data set: {', '.join(DATA_SETS)}."
            )
        )


def as_bytes(text: str, option: str) -> int:
    """A size such as 500000, 300MB or 2GB."""
    size = bytes_of(text)
    if size is None:
        raise InputError(f"{option} {text} is not a size", advice=f"Use {option} 2GB.")
    return size


def source_of(source: str) -> Any:
    """What ``comarkov.read`` takes: the source itself, or a data set with its names."""
    if source not in DATA_SETS or Path(source).exists():
        return source
    import numpy as np

    from ..io import datasets
    from ..io.read import Data

    dataset = datasets.load(source)
    row_kind, column_kind, weighting = DATA_SETS[source]
    classes = None
    if dataset.row_classes is not None:
        classes = {"class": np.asarray(dataset.class_names)[dataset.row_classes]}
    return Data(
        *(dataset.matrix, dataset.row_names, dataset.column_names, row_kind, column_kind),
        source=source,
        weighting=weighting,
        row_classes=classes,
        reading={"kind": "document"} if row_kind == "document" else None,
    )
