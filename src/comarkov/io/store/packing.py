"""``pack``: from a source of any size to a store."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Unpack

import numpy as np

from ...joint.inputs import sorted_csr
from ...joint.messages import InputError, bytes_of
from ...joint.scale import INT32_MAX, are_whole
from ..files import free_place, is_own, is_store, whole_folder
from ..read import ReadRequest, read
from ..read.data import string_parts
from ..read.databases import is_address
from ..read.edge_lists import EDGES_AT_ONCE, EdgeFiles, edge_batches, holds_tables, no_edges
from ..read.formats import are_edges
from ..read.naming import columns_in
from ..read_options import ReadKeywords, spell_out
from . import building
from .layout import BOTH_SIDES, ROWS_FOLDER, Description, write_names
from .opening import Store, open_store

LEAST_PACKING_MEMORY = 32_000_000  # bytes
SORTING_SHARE = 0.5  # of the memory limit

#: Called with the name of a stage, how much of it is done, and how much there is.
AdvanceStage = Callable[[str, int, int], None]


@spell_out
def pack(
    sources: Any,
    path: str | os.PathLike[str],
    *,
    memory_limit: int | str = "1GB",
    overwrite: bool = False,
    progress: AdvanceStage | None = None,
    **keywords: Unpack[ReadKeywords],
) -> Store:
    """Pack data of any size into a folder on disk, which a fit loads as needed.

    A store holds the matrix and its transpose as plain arrays, which are mapped into memory, and
    the names. Fits of a store give the same clusters as fits of the same data in memory.

    Edge lists in delimited text and Parquet may be larger than memory: they are sorted on disk.
    Their names must fit into memory. Everything else is read as by :func:`comarkov.read` first.
    The store is written atomically: you get all of it or none.

    Parameters
    ----------
    sources : what ``read`` takes, or a list of paths
        Also a folder of Parquet or CSV files, which are one edge list. Several files and folders
        are added up as one edge list.
    path : path
        The folder to write.
    memory_limit : int or str, default="1GB"
        How much memory to use, in bytes or as "2GB". Half of it is for sorting.
    overwrite : bool, default=False
        Replace an earlier store.
    progress : callable, optional
        Called with the name of a stage, how much of it is done, and how much there is.
    **keywords
        Those of :func:`comarkov.read`.

    Returns
    -------
    Store
        The data on disk, as ``comarkov.read(path)`` returns them.

    Examples
    --------
    >>> import tempfile, comarkov
    >>> folder = tempfile.TemporaryDirectory()
    >>> comarkov.pack([("Ann", "tea"), ("Bob", "rum"), ("Ann", "rum")], folder.name + "/store")
    Store(2 rows x 2 columns, 3 entries, from the list)
    >>> folder.cleanup()
    """
    memory = int(SORTING_SHARE * _limit(memory_limit))
    target = free_place(path, overwrite, is_store)
    sources = list(sources) if _are_several(sources) else [sources]
    request = ReadRequest.of(sources[0], keywords)
    edges = _edge_files(sources, request)
    with whole_folder(target, overwrite, is_store) as draft:
        if edges is None:
            data = read(sources[0], **keywords)
            csr = sorted_csr(data)
            dtype = np.float32 if csr.dtype == np.float32 else np.float64
            building.finish(data, building.write_blocks(draft, [csr], dtype), draft)
        else:
            about = _write_edges(edges, draft, memory, progress or (lambda *_: None))
            data = Store.of(building.map_joint(draft, about), draft, about)
            building.finish(request.complete(data), about, draft)
    return open_store(target)


def _are_several(sources: Any) -> bool:
    """Is it a list of paths, rather than one source, such as a list of texts?"""
    if not isinstance(sources, list | tuple) or not sources:
        return False
    return all(isinstance(each, str | os.PathLike) for each in sources) and any(
        os.path.exists(each) for each in sources
    )


def _edge_files(sources: Sequence[Any], request: ReadRequest) -> EdgeFiles | None:
    """The files of edge lists that are read a part at a time; None if the source is another."""
    for source in sources:
        if _is_edge_list(source, request):
            continue
        if len(sources) == 1:
            return None
        problem = "it is not an edge list, and only edge lists can be packed together"
        advice = "Pack it alone, or state that it is one with kind='edges'."
        raise InputError(problem, file=source, advice=advice)
    classes = request.options.row_classes, request.options.column_classes
    if len(sources) == 1 and any(map(columns_in, classes)):
        return None  # classes in columns of one file are read from all of it
    return EdgeFiles.of(sources, request.options)


def _is_edge_list(source: Any, request: ReadRequest) -> bool:
    """Is a source an edge list in files?"""
    if request.kind not in (None, "edges") or not isinstance(source, str | os.PathLike):
        return False
    if source == "-" or is_address(source):
        return False
    path = Path(source)
    if path.is_dir():
        return not is_own(path) and holds_tables(path)
    if request.kind == "edges":
        return path.exists()
    return path.exists() and are_edges(path, request.options)


def _limit(size: int | str) -> int:
    """The memory limit in bytes."""
    limit = bytes_of(size) if isinstance(size, str) else size
    if limit is None or limit < LEAST_PACKING_MEMORY:
        raise ValueError(
            f"memory_limit={size!r} must be a size of at least 32 MB, for example "
            "memory_limit='2GB'."
        )
    return limit


def _write_edges(edges: EdgeFiles, folder: Path, memory: int, advance: AdvanceStage) -> Description:
    """Write edges in their order, then sorted by row and added up, names, and the transpose."""
    numbered = folder / "edges"
    facts, codings = edges.facts(), edges.codings()
    are_counts = _number_edges(edges, codings, numbered, advance)
    if not numbered.stat().st_size:
        raise no_edges(edges.source)
    about = _write_rows(numbered, are_counts, codings, folder, memory, advance)
    numbered.unlink()
    about = building.write_columns(folder, about, memory, partial(advance, "Sorting columns"))
    return replace(about, **facts)


def _number_edges(
    edges: EdgeFiles, codings: Sequence[Any], target: Path, advance: AdvanceStage
) -> bool:
    """Write the edges of all files, with the codes of their names; are all weights whole?"""
    are_counts = True
    done, total = 0, sum(path.stat().st_size for path in edges.files)
    with target.open("wb") as file:
        for path, table in zip(edges.files, edges.tables(), strict=True):
            for (rows, columns), weights in edge_batches(table, codings, edges.options):
                are_counts = are_counts and are_whole(weights)
                # not ``tofile``, which says nothing of a full disk
                file.write(building.keyed_entries(rows, columns, weights.astype(np.float64)).data)
            done += path.stat().st_size
            advance("Reading", done, total)
    return are_counts


def _numbered_edges(path: Path) -> Iterator[np.ndarray]:
    """All edges in the order of the sources, many at a time."""
    dtype = building.keyed_entries(np.empty(0), np.empty(0), np.empty(0)).dtype
    with path.open("rb") as file:
        while (entries := np.fromfile(file, dtype, EDGES_AT_ONCE)).size:
            yield entries


class Ranking(NamedTuple):
    """The names of a side in their final order, and what is known about each."""

    names: np.ndarray
    places: np.ndarray | None  #: of codes; None if they are equal
    counts: np.ndarray  #: how often each occurs in all runs
    sums: np.ndarray  #: of the weights

    @classmethod
    def of(cls, coding: Any, counts: np.ndarray, sums: np.ndarray) -> Ranking:
        """The ranking of a coding, from the counts and sums of all codes."""
        codes = np.flatnonzero(counts)
        names, places = coding.finish(codes)
        if places is not None:
            counts, sums = (
                np.bincount(places[codes], amounts[codes], names.size) for amounts in (counts, sums)
            )
        return cls(names, places, counts.astype(np.int64), sums)

    def rank(self, codes: np.ndarray) -> np.ndarray:
        """The places of codes."""
        return codes if self.places is None else self.places[codes]


def _write_rows(
    edges: Path, are_counts: bool, codings: Sequence[Any], folder: Path, memory: int, advance: Any
) -> Description:
    """Write the rows of the matrix and the names of both sides into a folder."""
    tallies = [(np.zeros(coding.size, np.int64), np.zeros(coding.size)) for coding in codings]
    for entries in _numbered_edges(edges):
        for tally, side in zip(tallies, ("key", "other"), strict=True):
            building.tally_keys(entries[side], entries["weight"], *tally)
    rows, columns = rankings = list(map(Ranking.of, codings, *zip(*tallies, strict=True)))
    is_count = are_counts and max(rows.sums.max(), columns.sums.max()) <= INT32_MAX
    dtype = np.dtype(np.int32 if is_count else np.float64)
    names: dict[str, Any] = {}
    for side, ranking in zip(BOTH_SIDES, rankings, strict=True):
        names |= write_names(folder, string_parts(ranking.names, side))
    ranked = (
        building.keyed_entries(rows.rank(part["key"]), columns.rank(part["other"]), part["weight"])
        for part in _numbered_edges(edges)
    )
    width, report = columns.names.size, partial(advance, "Sorting rows")
    blocks = building.sort_on_disk(folder / "buckets", rows.counts, ranked, width, memory, report)
    with building.MatrixWriter(folder / ROWS_FOLDER, dtype) as writer:
        for block in blocks:
            writer.add(block)
    about = building.settle(folder, (rows.names.size, columns.names.size), writer)
    return replace(about, named=(True, True), files=about.files | names)
