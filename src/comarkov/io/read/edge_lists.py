"""Edge lists: two columns of ids and one of weights, as a sparse matrix, in one streaming pass.

Several files, or a folder of Parquet or CSV files, can be one list together.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ...joint.messages import InputError, listed, warn_user
from ..read_options import ReadOptions
from .coding import EDGES_AT_ONCE, Numbers, Texts, coding_of
from .columns import edge_roles
from .data import Data
from .headers import kind_of
from .naming import columns_in
from .opened import files_in, opened, plain_suffix
from .raw_tables import RawTable, unsuitable, weight_error
from .table_files import as_chosen, detected_marks, table_in

EDGE_SUFFIXES = (".parquet", ".csv", ".tsv", ".tab")
NOT_EDGES = (".", "_")  # names of hidden files, and of marks such as _SUCCESS
EDGE_ROLES = ("rows", "columns", "weights")
Fields = tuple[str, str, str | None]  # the columns of these roles


class EdgeBatch(NamedTuple):
    """Some edges: the codes of their rows and of their columns, and their weights."""

    codes: Sequence[np.ndarray]
    weights: np.ndarray


def from_edges(table: RawTable, options: ReadOptions) -> Data:
    """The matrix of an edge list. The weights of an edge that occurs several times are added up.

    Rows and columns are sorted by name, by number if all names are whole numbers. Lines without
    the name of a row or a column are skipped.
    """
    fields = roles_of(table, options)
    codings = [coding_of([(table, field)], options.keep_case) for field in fields[:2]]
    batches = _edge_batches(table, codings, options)
    data = _as_matrix(codings, batches, _facts(table, fields))
    if folded := [name for coding in codings for name in coding.folded]:
        warn_user(
            f"{table.name}: {listed(folded)} {'is' if len(folded) == 1 else 'are'} written in "
            "several ways and read as one name each (keep_case=True keeps them apart)."
        )
    return data


def no_edges(name: str) -> InputError:
    """The error about an edge list without edges."""
    advice = "Give a file with a row and a column in each line."
    return InputError("there are no edges", file=name, advice=advice)


# --- the roles of columns ---------------------------------------------------------------------


def roles_of(table: RawTable, chosen: ReadOptions) -> Fields:
    """The columns that hold rows, columns and weights: those chosen, else by position or role."""
    kept = table.kept
    given = {
        role: table.field(getattr(chosen, role), role)
        for role in EDGE_ROLES
        if getattr(chosen, role) is not None
    }
    if len(set(given.values())) < len(given):
        raise unsuitable(table, "two of rows=, columns= and weights= name the same column")
    if not given and len(kept) in (2, 3):
        return kept[0], kept[1], (*kept, None)[2]
    if "rows" not in given or "columns" not in given:
        given = edge_roles(table, given)
    return given["rows"], given["columns"], given.get("weights")


def _facts(table: RawTable, fields: Fields) -> dict[str, Any]:
    """What the rows, columns and weights of an edge list are, and where it comes from."""
    row_kind, column_kind = (
        kind_of(table.heading(field), side) if table.has_headings else side
        for field, side in zip(fields[:2], ("row", "column"), strict=True)
    )
    counted = table.heading(fields[2]) if fields[2] is not None and table.has_headings else ""
    return {
        "row_kind": row_kind,
        "column_kind": column_kind,
        "source": table.name,
        "entry_kind": "lines" if fields[2] is None else counted,
    }


# --- edges ------------------------------------------------------------------------------------


def _as_matrix(codings: Sequence[Any], batches: Iterable[EdgeBatch], about: dict[str, Any]) -> Data:
    """The matrix of edges that come in batches, with these facts about it."""
    parts: list[list[np.ndarray]] = [[], [], [np.empty(0)]]
    for edges in batches:
        for part, codes in zip(parts, edges.codes, strict=False):
            part.append(codes.astype(np.int32, copy=False))
        parts[2].append(edges.weights)
    amounts = np.concatenate(parts.pop())
    if not amounts.size:
        raise no_edges(about["source"])
    places = [np.concatenate(parts.pop(0)) for _ in codings]
    names = []
    for coding, place in zip(codings, places, strict=True):
        sorted_names, rank = coding.finish(place)
        if rank is not None:
            for begin in range(0, place.size, EDGES_AT_ONCE):  # in place, to save memory
                some = slice(begin, begin + EDGES_AT_ONCE)
                place[some] = rank[place[some]]
        names.append(sorted_names)
    edges = sp.coo_array((amounts, (places[0], places[1])), shape=(len(names[0]), len(names[1])))
    del places, amounts, place
    matrix = edges.tocsr()  # adds duplicates up
    del edges
    return Data(matrix, *names, **about)


def _edge_batches(
    table: RawTable, codings: Sequence[Any], options: ReadOptions
) -> Iterator[EdgeBatch]:
    """Edges, many at a time; lines in which something is missing are skipped, with a note."""
    fields, missing = roles_of(table, options), options.missing_weights("error")
    weight = [] if fields[2] is None else [fields[2]]
    pairs = enumerate(zip(codings, fields, strict=False))
    ids = [coding.expression(table, f).alias(f"comarkov:{i}") for i, (coding, f) in pairs]
    skipped, done = Counter[str](), 0
    for batch in table.batches([*ids, *weight], EDGES_AT_ONCE):
        codes = [coding.codes(c) for coding, c in zip(codings, batch.get_columns(), strict=False)]
        weights = table.numbers(batch, weight)[:, 0] if weight else np.ones(len(batch))
        is_named = (codes[0] >= 0) & (codes[1] >= 0)
        has_weight = ~np.isnan(weights)
        is_bad = (weights < 0) | np.isinf(weights) | (is_named & ~has_weight & (missing == "error"))
        if is_bad.any():
            raise weight_error(table, done + int(is_bad.argmax()), weight[0])
        if missing == "0":
            weights = np.where(has_weight, weights, 0.0)
        is_edge = is_named & (has_weight | (missing == "0"))
        skipped["name"] += int((~is_named).sum())
        skipped["weight"] += int((is_named & ~has_weight).sum())
        done += len(batch)
        if not is_edge.all():
            codes, weights = [code[is_edge] for code in codes], weights[is_edge]
        yield EdgeBatch(codes, weights)
    _report(table, skipped, missing)


def _report(table: RawTable, skipped: Counter[str], missing: str) -> None:
    """One note about the lines in which something is missing."""
    lines = {what: f"{count:,} line{'s' if count > 1 else ''}" for what, count in skipped.items()}
    facts = []
    if skipped["name"]:
        facts.append(f"{lines['name']} without a name skipped (if NA is a name, use keep_na=True)")
    if skipped["weight"]:
        deed = "read as 0" if missing == "0" else "skipped"
        facts.append(f"{lines['weight']} without a weight {deed}")
    if facts:
        warn_user(f"{table.name}: {'; '.join(facts)}.")


# --- several files ----------------------------------------------------------------------------


def holds_tables(folder: Path) -> bool:
    """Does a folder contain tables only, and not texts?"""
    files = files_in(folder, NOT_EDGES, is_noted=False)
    return bool(files) and all(plain_suffix(path) in EDGE_SUFFIXES for path in files)


@dataclass(frozen=True)
class EdgeFiles:
    """Files that are one edge list, and how they are read."""

    files: Sequence[Path]
    source: str  #: for people
    options: ReadOptions

    @classmethod
    def of(cls, sources: Sequence[str | os.PathLike[str]], options: ReadOptions) -> EdgeFiles:
        """The files of all sources, those of a folder in the order of their paths."""
        paths = list(map(Path, sources))
        files = [files_in(path, NOT_EDGES) if path.is_dir() else [path] for path in paths]
        for side in ("row_classes", "column_classes"):
            for column in columns_in(getattr(options, side)):
                raise ValueError(
                    f"{side}={column!r} is not a file, and classes are not read from columns of "
                    f"several files. Give a file with names and classes, for example "
                    f"{side}='classes.csv'."
                )
        return cls(list(chain.from_iterable(files)), listed(sources), options)

    def read(self) -> Data:
        """The matrix of all edges."""
        with self.table(self.files[0]) as first:
            codings = self.codings(first)
            batches = (self.batches(path, first, codings) for path in self.files)
            return _as_matrix(codings, chain.from_iterable(batches), self.facts(first))

    @contextmanager
    def table(self, path: Path, first: RawTable | None = None) -> Iterator[RawTable]:
        """The table in a file; it has a header if the first one has."""
        options = self.options
        if first is not None and options.header is None and first.lines is not None:
            options = options.changed(header=first.has_headings)
        with (
            opened(path, options.max_bytes) as file,
            table_in(file, options) as (table, form),
        ):
            self.options.check("edges", form)
            chosen = as_chosen(table, options)
            if first is not None:
                self._refuse_other_headings(chosen, first)
            yield chosen

    def _refuse_other_headings(self, table: RawTable, first: RawTable) -> None:
        """An error if the columns of a file are called differently from those of the first."""
        names, expected = (
            [each.heading(field) for field in roles_of(each, self.options) if field is not None]
            for each in (table, first)
        )
        if table.has_headings and first.has_headings and names != expected:
            raise table.error(
                f"the columns are {listed(names)}, but {first.name} has {listed(expected)}",
                "Give files with the same columns, or choose the columns that all have, for "
                "example rows=0, columns=1.",
            )

    def facts(self, table: RawTable) -> dict[str, Any]:
        """What the rows, columns and weights are, from the first table."""
        reading = {"kind": "edges", **detected_marks(table)}
        return {
            **_facts(table, roles_of(table, self.options)),
            "source": self.source,
            "reading": reading,
        }

    def codings(self, first: RawTable) -> list[Texts | Numbers]:
        """Codings for the rows and the columns of all files."""
        return [coding_of(self._columns(side, first)) for side in (0, 1)]

    def _columns(self, side: int, first: RawTable) -> Iterator[tuple[RawTable, str]]:
        """The column of the rows or of the columns in each file."""
        for path in self.files:
            with self.table(path, first) as table:
                yield table, roles_of(table, self.options)[side] or ""

    def batches(self, path: Path, first: RawTable, codings: Sequence[Any]) -> Iterator[EdgeBatch]:
        """The edges of a file, many at a time."""
        with self.table(path, first) as table:
            yield from _edge_batches(table, codings, self.options)
