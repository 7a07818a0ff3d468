"""``pack``: from a source of any size to a store."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Unpack

from ...joint.messages import InputError, bytes_of
from ..files import free_place, is_own, is_store, whole_folder
from ..read import ReadRequest, read
from ..read.databases import is_address
from ..read.edge_lists import EdgeFiles, holds_tables, no_edges
from ..read.formats import are_edges
from ..read.naming import columns_in
from ..read_options import ReadKeywords, spell_out
from .building import finish, map_joint, write_columns, write_data
from .edge_runs import NUMBERING, RUNS, Journal, resumable_store, write_rows, write_runs
from .layout import Description
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
    The store is written atomically: you get all of it or none. If packing an edge list is
    interrupted, the same call continues where it stopped, unless the sources have changed.

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
    if edges is None:
        data = read(sources[0], **keywords)
        with whole_folder(target, overwrite, is_store) as draft:
            write_data(data, draft)
        return open_store(target)
    with resumable_store(target, overwrite, _task(edges, keywords)) as journal:
        about = _pack_edges(edges, journal, memory, progress or (lambda stage, done, total: None))
        about = replace(about, **journal.steps["about"])
        data = Store.of(map_joint(journal.folder, about), journal.folder, about)
        finish(request.complete(data), about, journal.folder)
    return open_store(target)


def _pack_edges(
    edges: EdgeFiles, journal: Journal, memory: int, advance: AdvanceStage
) -> Description:
    """Write the matrix of edges, its transpose and its names, step by step."""
    folder = journal.folder
    if "rows" not in journal.steps:
        runs, codings = write_runs(edges, journal, advance)
        if runs.size == 0:
            raise no_edges(edges.source)
        journal.note("rows", write_rows(runs, codings, folder, memory, advance).as_json())
        del runs, codings
    for name in (RUNS, NUMBERING):
        shutil.rmtree(folder / name, ignore_errors=True)
    if "columns" not in journal.steps:
        about = Description.of_json(journal.steps["rows"])
        about = write_columns(folder, about, memory, partial(advance, "Sorting columns"))
        journal.note("columns", about.as_json())
    return Description.of_json(journal.steps["columns"])


# --- what is packed -----------------------------------------------------------------------------


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
        raise InputError(
            "it is not an edge list, and only edge lists can be packed together",
            file=source,
            advice="Pack it alone, or state that it is one with kind='edges'.",
        )
    if len(sources) == 1 and any(columns_in(each) for each in request.options.classes):
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


def _task(edges: EdgeFiles, keywords: Mapping[str, Any]) -> Any:
    """What is to be done, so that only the same task is continued."""
    states = [(str(path.absolute()), path.stat()) for path in edges.files]
    files = [(path, state.st_size, state.st_mtime_ns) for path, state in states]
    return {"files": files, "keywords": repr(sorted(keywords.items()))}


def _limit(size: int | str) -> int:
    """The memory limit in bytes."""
    limit = bytes_of(size) if isinstance(size, str) else size
    if limit is None or limit < LEAST_PACKING_MEMORY:
        raise ValueError(
            f"memory_limit={size!r} must be a size of at least 32 MB, for example "
            "memory_limit='2GB'."
        )
    return limit
