"""Edge lists: two columns of ids and one of weights, as a sparse matrix, in one streaming pass.

Several files, or a folder of Parquet or CSV files, can be one list together.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ...joint.messages import InputError, listed, warn_user
from ...joint.scale import are_whole
from ..read_options import ReadOptions
from .columns import edge_roles
from .data import Data
from .headers import MAX_ORDERED, in_order, is_missing, kind_of
from .naming import columns_in
from .opened import files_in, opened, plain_suffix
from .raw_tables import RawTable, pl, weight_error
from .table_files import as_chosen, detected_marks, table_in

EDGES_AT_ONCE = 1_000_000
WHOLE_NUMBER = re.compile("0|-?[1-9][0-9]{0,17}")  # a number that is written in one way only
MAX_FOLDED = 0.2  # the share of lines with a name in an unusual way, if that is a mistake
LOOKUP_RATIO = 8  # a table of numbers may have this many times as many places as there are ids
EDGE_SUFFIXES = (".parquet", ".csv", ".tsv", ".tab")
NOT_EDGES = (".", "_")  # names of hidden files, and of marks such as _SUCCESS
EDGE_ROLES = ("rows", "columns", "weights")
Fields = tuple[str, str, str | None]  # the columns of these roles


EdgeBatch = tuple[Sequence[np.ndarray], np.ndarray]  # codes of rows and of columns, weights


def from_edges(table: RawTable, options: ReadOptions) -> Data:
    """The matrix of an edge list: equal edges are added up, names sorted, by number if whole."""
    fields = roles_of(table, options)
    codings = [coding_of([(table, field)], options.keep_case) for field in fields[:2]]
    batches = edge_batches(table, codings, options)
    data = _as_matrix(codings, batches, _facts(table, fields))
    if folded := [name for coding in codings for name in coding.folded]:
        names = f"{listed(folded)} {'is' if len(folded) == 1 else 'are'} written in several ways"
        how = "read as one name each (keep_case=True keeps them apart)"
        warn_user(f"{table.name}: {names} and {how}.")
    return data


def no_edges(name: str) -> InputError:
    """The error about an edge list without edges."""
    advice = "Give a file with a row and a column in each line."
    return InputError("there are no edges", file=name, advice=advice)


def roles_of(table: RawTable, chosen: ReadOptions) -> Fields:
    """The columns that hold rows, columns and weights: those chosen, else by position or role."""
    kept = table.kept
    labels = {role: getattr(chosen, role) for role in EDGE_ROLES}
    given = {r: table.field(label, r) for r, label in labels.items() if label is not None}
    if len(set(given.values())) < len(given):
        raise table.unsuitable("two of rows=, columns= and weights= name the same column")
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
    weights = "lines" if fields[2] is None else table.heading(fields[2]) * table.has_headings
    kinds = {"row_kind": row_kind, "column_kind": column_kind, "entry_kind": weights}
    return {"source": table.name, **kinds}


def _as_matrix(codings: Sequence[Any], batches: Iterable[EdgeBatch], about: dict[str, Any]) -> Data:
    """The matrix of edges that come in batches, with these facts about it."""
    parts: list[list[np.ndarray]] = [[], [], [np.empty(0)]]
    for sides, weights in batches:
        for part, codes in zip(parts, sides, strict=False):
            part.append(codes.astype(np.int32, copy=False))
        parts[2].append(weights)
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


def edge_batches(
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
        yield codes, weights
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
                    f"several files. Give a file with names and classes: {side}='classes.csv'."
                )
        return cls(list(chain.from_iterable(files)), listed(sources), options)

    def read(self) -> Data:
        """The matrix of all edges."""
        codings, tables = self.codings(), self.tables()
        batches = (batch for t in tables for batch in edge_batches(t, codings, self.options))
        return _as_matrix(codings, batches, self.facts())

    def tables(self) -> Generator[RawTable, None, None]:
        """The table in each file; all have a header if the first one has, and the same headings."""
        options, first = self.options, None
        for path in self.files:
            with opened(path, options.max_bytes) as file, table_in(file, options) as (table, form):
                self.options.check("edges", form)
                chosen = as_chosen(table, options)
                fields = [field for field in roles_of(chosen, self.options) if field is not None]
                names = list(map(chosen.heading, fields)) if chosen.has_headings else []
                if first is None:
                    first = chosen.name, names
                    if options.header is None and chosen.lines is not None:
                        options = options.changed(header=chosen.has_headings)
                elif names and first[1] and names != first[1]:
                    raise table.error(
                        f"the columns are {listed(names)}, but {first[0]} has {listed(first[1])}",
                        "Give files with the same columns, or choose the columns that all have, "
                        "for example rows=0, columns=1.",
                    )
                yield chosen

    def facts(self) -> dict[str, Any]:
        """What the rows, columns and weights are, from the first table."""
        with closing(self.tables()) as tables:
            table = next(tables)
            facts, reading = _facts(table, roles_of(table, self.options)), detected_marks(table)
            return {**facts, "source": self.source, "reading": {"kind": "edges", **reading}}

    def codings(self) -> list[Texts | Numbers]:
        """Codings for the rows and the columns of all files."""

        def columns(side: int) -> Iterator[tuple[RawTable, str]]:
            for table in self.tables():
                yield table, roles_of(table, self.options)[side] or ""

        return [coding_of(columns(side)) for side in (0, 1)]


def coding_of(columns: Iterable[tuple[RawTable, str]], keeps_case: bool = True) -> Texts | Numbers:
    """One coding for columns of tables: of numbers if all hold whole numbers of one type."""
    ids: list[np.ndarray] = []
    for table, field in columns:
        dtype = table.schema[field]
        if not dtype.is_numeric() or dtype in (pl.Int128, pl.UInt128) or dtype.is_decimal():
            return Texts(table.keeps_na, keeps_case)
        query = table.frame.select(field).drop_nulls().drop_nans().unique()
        more = query.collect(engine="streaming").to_series().to_numpy()
        if not are_whole(more):  # pandas has ids with gaps as floats
            return Texts(table.keeps_na, keeps_case)
        ids.append(more.astype(np.uint64 if dtype == pl.UInt64 else np.int64))  # others wrap around
    if len({each.dtype for each in ids}) > 1:
        return Texts(table.keeps_na, keeps_case)
    return Numbers(np.unique(np.concatenate(ids)))


class Texts:
    """Codes of text, given by polars in the order of appearance."""

    def __init__(self, keeps_na: bool, keeps_case: bool = True) -> None:
        self.keeps_na, self.keeps_case = keeps_na, keeps_case
        self.folded: list[str] = []  # names that are written in several ways
        # its own numbering: codes are dense, and forgotten with this object
        self.category = pl.Categorical(pl.Categories.random())
        self._numbering = pl.Series([], dtype=self.category)  # else it ends with each query
        self.names = np.empty(0, dtype=object)
        self.is_known = np.zeros(0, dtype=bool)
        self.missing: list[int] = []  # codes of words such as NA

    def expression(self, table: RawTable, field: str) -> pl.Expr:
        """The codes of a column, as polars computes them."""
        is_float = table.schema[field].is_float()
        column = pl.col(field).fill_nan(None) if is_float else pl.col(field)
        return column.cast(pl.String).cast(self.category)

    @property
    def size(self) -> int:
        """A bound on codes."""
        return self.names.size

    def codes(self, column: pl.Series) -> np.ndarray:
        """The code of each name, -1 where it is missing."""
        is_null = column.is_null().to_numpy() if column.null_count() else None
        codes = column.to_physical().fill_null(0).to_numpy().astype(np.int64, copy=False)
        if codes.size:
            if (more := int(codes.max()) + 1 - self.names.size) > 0:
                more = max(more, self.names.size)
                self.names = np.append(self.names, np.empty(more, dtype=object))
                self.is_known = np.append(self.is_known, np.zeros(more, dtype=bool))
            if not self.is_known[codes].all():
                self._learn(column)
            if column[0] is not None and self.names[codes[0]] != column[0]:
                raise RuntimeError("polars has numbered names again. Please report this.")
        is_missing = np.isin(codes, self.missing)
        if is_null is not None:
            is_missing |= is_null
        return np.where(is_missing, -1, codes) if is_missing.any() else codes

    def _learn(self, column: pl.Series) -> None:
        """The names of codes that are new. Batches run in parallel: they need not be the last."""
        distinct = column.drop_nulls().unique()
        new = distinct.filter(~pl.Series(self.is_known[distinct.to_physical().to_numpy()]))
        codes = new.to_physical().to_numpy()
        names = new.cast(pl.String).to_numpy()
        self.names[codes] = names
        self.is_known[codes] = True
        for code, name in zip(codes.tolist(), names, strict=True):
            if is_missing(name) and not (self.keeps_na and name.strip()):
                self.missing.append(code)

    def finish(self, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The names of codes that occur, sorted, and the place of each code among them."""
        used = _occurring(codes, self.names.size)
        names = pl.Series(self.names[used].tolist(), dtype=pl.String).str.strip_chars()
        if not self.keeps_case:
            names = self._fold(names, np.bincount(codes, minlength=self.names.size)[used])
        distinct = names.unique().sort()
        if all(map(WHOLE_NUMBER.fullmatch, distinct)):
            distinct = distinct.cast(pl.Int64).sort().cast(pl.String)
        elif len(distinct) <= MAX_ORDERED:
            distinct = pl.Series(in_order(distinct.to_list()), dtype=pl.String)
        rank = np.empty(self.names.size, np.int32)
        places = pl.arange(distinct.len(), dtype=pl.Int32, eager=True)
        rank[used] = names.replace_strict(distinct, places).to_numpy()
        return distinct.to_numpy(), rank

    def _fold(self, names: pl.Series, counts: np.ndarray) -> pl.Series:
        """Names that differ only in case, blanks or how accents are coded, as most are written.

        Single letters stay apart, and so do all names if many lines have other ways to write them.
        """
        is_ascii = (names.str.len_bytes() == names.str.len_chars()).all()
        keys = names if is_ascii else names.str.normalize()
        keys = keys.str.to_lowercase().str.replace_all(r"\s+", " ")
        frame = pl.DataFrame({"name": names, "key": keys, "count": counts})
        usual = frame.group_by("key").agg(
            pl.col("name").sort_by(["count", "name"], descending=[True, False]).first(),
            pl.col("name").n_unique().alias("ways"),
        )
        folded = usual.filter((pl.col("ways") > 1) & (pl.col("key").str.len_chars() > 1))
        is_unusual = keys.is_in(folded["key"].to_list()) & ~names.is_in(usual["name"].to_list())
        unusual = counts[is_unusual.to_numpy()]
        if not 0 < unusual.sum() <= MAX_FOLDED * counts.sum():
            return names
        self.folded = folded["name"].sort().to_list()
        usual_names = keys.replace(folded["key"], folded["name"])
        return usual_names.zip_with(keys.is_in(folded["key"].to_list()), names)


class Numbers:
    """Codes of whole numbers: their places among all that occur, which are collected first."""

    folded: Sequence[str] = ()

    def __init__(self, ids: np.ndarray) -> None:
        """``ids`` are all numbers that occur, sorted."""
        self.ids, self.size = ids, ids.size
        self.places: np.ndarray | None = None
        if ids.size:
            span = int(ids[-1]) - int(ids[0]) + 1
            if span <= LOOKUP_RATIO * ids.size + EDGES_AT_ONCE:
                self.places = np.zeros(span, np.int32)
                self.places[ids - ids[0]] = np.arange(ids.size, dtype=np.int32)

    def expression(self, table: RawTable, field: str) -> pl.Expr:
        """The ids in a column, as polars reads them."""
        wide = pl.UInt64 if self.ids.dtype == np.uint64 else pl.Int64
        return pl.col(field).cast(wide, strict=False)

    def codes(self, column: pl.Series) -> np.ndarray:
        """The code of each id, -1 where it is missing."""
        if column.null_count():
            codes = np.full(len(column), -1)
            if self.ids.size:
                codes[column.is_not_null().to_numpy()] = self.codes(column.drop_nulls())
            return codes
        values = column.to_numpy()
        if self.places is None:
            return np.searchsorted(self.ids, values)
        return self.places[values - self.ids[0]]

    def finish(self, codes: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """The ids that occur, and the place of each code among them; None if all do."""
        names = self.ids.astype(str).astype(object)
        used = _occurring(codes, self.ids.size)
        if used.size == names.size:
            return names, None
        rank = np.empty(names.size, np.int32)
        rank[used] = np.arange(used.size, dtype=np.int32)
        return names[used], rank


def _occurring(codes: np.ndarray, size: int) -> np.ndarray:
    """The codes that occur: all but those of lines that were skipped."""
    occurs = np.zeros(size, dtype=bool)
    occurs[codes] = True
    return np.flatnonzero(occurs)
