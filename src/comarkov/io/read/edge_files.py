"""Edge lists in several files, which are one list together: folders of Parquet or CSV files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from ..read_options import ReadOptions
from .coding import Numbers, Texts, distinct_numbers, number_type
from .data import Data
from .edge_lists import EdgeColumns, Edges, Fields, as_matrix, edge_batches, facts_of, roles
from .naming import columns_in
from .opened import opened
from .raw_tables import RawTable, is_parquet, listed
from .table_files import as_chosen, header_of, table_in

TABLES = (".parquet", ".csv", ".tsv", ".tab")
PACKINGS = (".gz", ".zst", ".zip")


def holds_tables(folder: Path) -> bool:
    """Does a folder contain tables only, and not texts?"""
    files = list(_files(folder))
    return bool(files) and all(map(_is_table, files))


def _files(folder: Path) -> Iterator[Path]:
    """All files in a folder and its subfolders, without hidden ones and marks such as _SUCCESS."""
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith((".", "_"))]
        yield from (Path(place, name) for name in names if not name.startswith((".", "_")))


def _is_table(path: Path) -> bool:
    plain = path.with_suffix("") if path.suffix.lower() in PACKINGS else path
    return plain.suffix.lower() in TABLES


def files_of(source: str | os.PathLike[str]) -> list[Path]:
    """The files of a source: itself, or those of a folder in the order of their paths."""
    path = Path(source)
    return sorted(_files(path)) if path.is_dir() else [path]


@dataclass(frozen=True)
class EdgeFiles:
    """Files that are one edge list, and how they are read."""

    files: Sequence[Path]
    source: str  #: for people
    options: ReadOptions
    max_bytes: int | None = None

    @classmethod
    def of(
        cls, sources: Sequence[str | os.PathLike[str]], options: ReadOptions, max_bytes: int | None
    ) -> EdgeFiles:
        """The files of all sources; columns of classes are not read from several files."""
        files = list(chain.from_iterable(map(files_of, sources)))
        for side in ("row_classes", "column_classes"):
            for column in columns_in(getattr(options, side)):
                raise ValueError(
                    f"{side}={column!r} is not a file, and classes are not read from columns of "
                    f"several files. Give a file with names and classes, for example "
                    f"{side}='classes.csv'."
                )
        name = str(sources[0]) if len(sources) == 1 else listed([str(path) for path in sources], 3)
        return cls(files, name, options, max_bytes)

    @contextmanager
    def table(self, path: Path, first: RawTable | None = None) -> Iterator[RawTable]:
        """The table in a file; it has a header if the first one has."""
        options = self.options
        if first is not None and options.header is None and first.lines is not None:
            options = options.changed(header=first.has_headings)
        with (
            opened(path, self.max_bytes) as file,
            table_in(file, "edges", options, self.max_bytes) as (table, form),
        ):
            self.options.check("edges", form)
            chosen = as_chosen(table, options)
            if first is not None:
                _refuse_other_headings(chosen, self.roles(chosen), first, self.roles(first))
            yield chosen

    def roles(self, table: RawTable) -> Fields:
        """The columns of a table that hold rows, columns and weights."""
        options = self.options
        return roles(table, EdgeColumns(options.rows, options.columns, options.weights))

    def facts(self, table: RawTable) -> dict[str, Any]:
        """What the rows, columns and weights are, from the first table."""
        reading = {"kind": "edges", **header_of(table)}
        return {**facts_of(table, self.roles(table)), "source": self.source, "reading": reading}

    def codings(self, first: RawTable) -> list[Any]:
        """Codings for the rows and the columns of all files."""
        return [self._coding(side, first) for side in (0, 1)]

    def _coding(self, side: int, first: RawTable) -> Any:
        """Numbers if all files are Parquet and have whole numbers of one type there, else texts."""
        if not all(map(is_parquet, self.files)):
            return Texts(self.options.keep_na)
        with ExitStack() as stack:
            tables = [stack.enter_context(self.table(path, first)) for path in self.files]
            columns = [(table, self.roles(table)[side] or "") for table in tables]
            types = {number_type(*column) for column in columns}
            if len(types) > 1 or None in types:
                return Texts(self.options.keep_na)
            return Numbers(distinct_numbers(columns))

    def batches(self, path: Path, first: RawTable, codings: Sequence[Any]) -> Iterator[Edges]:
        """The edges of a file, many at a time."""
        with self.table(path, first) as table:
            missing = self.options.missing_weights("error")
            yield from edge_batches(table, codings, self.roles(table), missing)


def from_edge_files(
    sources: Sequence[str | os.PathLike[str]], options: ReadOptions, max_bytes: int | None
) -> Data:
    """The matrix of an edge list in several files."""
    edges = EdgeFiles.of(sources, options, max_bytes)
    with edges.table(edges.files[0]) as first:
        codings = edges.codings(first)
        batches = (edges.batches(path, first, codings) for path in edges.files)
        return as_matrix(codings, chain.from_iterable(batches), edges.facts(first))


def _refuse_other_headings(table: RawTable, own: Fields, first: RawTable, fields: Fields) -> None:
    """An error if the columns of a file are called differently from those of the first."""
    names, expected = (
        [each.heading(field) for field in chosen if field is not None]
        for each, chosen in ((table, own), (first, fields))
    )
    if table.has_headings and first.has_headings and names != expected:
        raise ValueError(
            f"{table.name} has the columns {listed(names)}, but {first.name} has "
            f"{listed(expected)}. Give files with the same columns, or choose the columns that all "
            "have, for example rows=0, columns=1."
        )
