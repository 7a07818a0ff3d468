"""Names and ids as codes: small numbers that a sparse matrix can be built from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...joint.scale import are_whole
from .headers import MAX_ORDERED, in_order, is_missing
from .raw_tables import RawTable

if TYPE_CHECKING:
    import polars as pl


EDGES_AT_ONCE = 1_000_000
WHOLE_NUMBER = re.compile("0|-?[1-9][0-9]{0,17}")  # a number that is written in one way only
MAX_FOLDED = 0.2  # the share of lines with a name in an unusual way, if that is a mistake
LOOKUP_RATIO = 8  # a table of numbers may have this many times as many places as there are ids


def coding_of(columns: Iterable[tuple[RawTable, str]], keeps_case: bool = True) -> Texts | Numbers:
    """One coding for columns of tables: of numbers if all hold whole numbers of one type."""
    import polars as pl

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
        import polars as pl

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
        import polars as pl

        is_float = table.schema[field].is_float()
        column = pl.col(field).fill_nan(None) if is_float else pl.col(field)
        return column.cast(pl.String).cast(self.category)

    @property
    def size(self) -> int:
        """A bound on codes."""
        return self.names.size

    def codes(self, column: pl.Series, with_missing: bool = False) -> np.ndarray:
        """The code of each name, -1 where it is missing, unless those have codes, too."""
        is_null = column.is_null().to_numpy() if column.null_count() else None
        codes = column.to_physical().fill_null(0).to_numpy().astype(np.int64, copy=False)
        if codes.size:
            self._make_room(int(codes.max()) + 1)
            if not self.is_known[codes].all():
                self._learn(column)
            if column[0] is not None and self.names[codes[0]] != column[0]:
                raise RuntimeError("polars has numbered names again. Please report this.")
        is_missing = np.isin(codes, [] if with_missing else self.missing)
        if is_null is not None:
            is_missing |= is_null
        return np.where(is_missing, -1, codes) if is_missing.any() else codes

    def _make_room(self, size: int) -> None:
        if size > self.names.size:
            more = max(size, 2 * self.names.size) - self.names.size
            self.names = np.concatenate([self.names, np.empty(more, dtype=object)])
            self.is_known = np.concatenate([self.is_known, np.zeros(more, dtype=bool)])

    def _learn(self, column: pl.Series) -> None:
        """The names of codes that are new. Batches run in parallel: they need not be the last."""
        import polars as pl

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
        import polars as pl

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
        """Names that differ only in case or blanks, each as it is written most often.

        Single letters stay apart, and so do all names if many lines have other ways to write them.
        """
        import polars as pl

        keys = names.str.to_lowercase().str.replace_all(r"\s+", " ")
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
        return pl.select(
            pl.when(keys.is_in(folded["key"].to_list()))
            .then(keys.replace(folded["key"], folded["name"]))
            .otherwise(names)
        ).to_series()


class Numbers:
    """Codes of whole numbers: their places among all that occur, which are collected first."""

    folded: Sequence[str] = ()

    def __init__(self, ids: np.ndarray) -> None:
        """``ids`` are all numbers that occur, sorted."""
        self.ids = ids
        self.places: np.ndarray | None = None
        if ids.size:
            span = int(ids[-1]) - int(ids[0]) + 1
            if span <= LOOKUP_RATIO * ids.size + EDGES_AT_ONCE:
                self.places = np.zeros(span, np.int32)
                self.places[ids - ids[0]] = np.arange(ids.size, dtype=np.int32)

    @property
    def size(self) -> int:
        """How many codes there are."""
        return self.ids.size

    def expression(self, table: RawTable, field: str) -> pl.Expr:
        """The ids in a column, as polars reads them."""
        import polars as pl

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
