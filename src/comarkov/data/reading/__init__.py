"""Data in: edge lists, tables, matrices, graphs, databases and texts, from files or objects."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Unpack

from .classes import classified
from .data import Data
from .h5ad import write_h5ad
from .kinds import CHAIN, KINDS, ReadKeywords, ReadOptions, spelling_out
from .naming import renamed
from .remembering import (
    reading_of,
    remembered,
    renamed_as_before,
    similar_kind,
    similar_options,
)
from .sources import read_any

__all__ = ["Data", "read", "write_h5ad"]


@spelling_out
def read(
    source: Any,
    *,
    kind: str | None = None,
    row_names: Any = None,
    column_names: Any = None,
    max_bytes: int | None = None,
    like: Any = None,
    **keywords: Unpack[ReadKeywords],
) -> Data:
    """Read a nonnegative matrix with names from a file, a folder, a database or an object.

    What the source is, is told by the type of an object; then by the suffix of a file, that of a
    packing (.gz, .zst, .zip) left out; then by its first bytes. A table (CSV, TSV, Parquet, the
    answer of a database, a data frame) is a column of texts if ``text`` is said, an edge list if
    ``columns`` or ``weights`` is said, and else an edge list if it has two or three columns and a
    wide table if it has one or more than three. ``kind`` overrides all this.

    Parameters
    ----------
    source : path, address, "-", open file or object
        A file; a folder of texts; a database, such as "sqlite:///shop.db"; "-" for stdin; a pandas
        or polars data frame, AnnData, a networkx bipartite graph, an array, a list of texts.
    kind : str, optional
        How to read it, if that should not be detected: "edges", "table", "texts", "document",
        "sequences", "mtx", "npz", "h5ad" or "graph". A file of "texts" holds many: JSON lines, a
        column of a table, or one in each line. A "document" is one text. "sequences" counts
        transitions between states: a text file has one sequence per line, or one state per line; a
        table has a column of states (``columns``) and may have one that names the sequence
        (``rows``) and one to sort by (``time``). "chain" reads sequences too, or a table of
        transitions if the file looks like one.
    rows, columns, weights : str or int, optional
        The columns of an edge list, by name or position from 0. If none is said they are the first
        three; if rows and columns are said but no weights, every line counts 1. Edges that are
        there several times are added up. ``rows`` also names the column of a wide table, or of
        texts, that holds the names of the rows; ``weights`` the attribute of a graph's edges.
    time : str or int, optional
        The column of a table of states to sort by. Without it, lines are in the order of time.
    header : bool, optional
        Is the first line a header? Found out if not said: it is if a column is said by name, if it
        begins with an empty field, if one of its fields is no number but has only numbers below
        (from the third column on: mostly numbers), if all its fields are usual headings, such as
        user and item, or if those of a wide table are whole numbers that rise, as years do.
    separator : str, optional
        What stands between fields. If not said, that of tab | ; , and space which splits most of
        the first 100 lines into as many fields as the first.
    decimal : {".", ","}, default="."
        What stands before the decimals of weights. Marks between thousands are not read.
    encoding : str, optional
        The encoding of text files and of files of names. By default it is detected: UTF-8, UTF-16
        or UTF-32 by its byte order mark, UTF-8 without one, else Windows-1252 or Latin-1 with a
        warning.
    text : str or int, optional
        The column or, in JSON lines, the field that holds texts; there it is "text" if not said.
    stop_words : "english", "none", list of str or None, default="english"
        Words to leave out of texts.
    min_df : int, default=2
        Words in fewer texts are left out.
    n_words : int, optional
        Of the words, keep those that contribute most to the information between texts and words.
    query, table : str, optional
        What to read from a database: the answer to a query in SQL, or a table (also
        "schema.table"). A database with one table needs neither.
    layer : str, optional
        The matrix of AnnData to read: the key of a layer, "raw" or "X". If not stated, X; but if X
        has negative values, as scaled data do, the counts in a layer or in ``.raw``, with a
        warning.
    row_names, column_names : path, (path, key, name), "path:key:name", mapping or list, optional
        Names instead of ids. From a file with ids and names, key and name being its columns, the
        first two if not said. Where the source has no ids, and from a list, in their order, one in
        a line. Ids without a name stay; names that are there several times get their ids added.
    row_classes, column_classes : str, path, list or mapping, optional
        Known classes, which do not influence a fit but can be compared with its clusters. A column
        of the table, or of ``.obs`` or ``.var`` of AnnData; a file with names and classes,
        "path:names:classes" if they are not in its first two columns; a list of these; or a mapping
        from the name of a classification to a list or to another mapping. By default the subfolders
        of a folder of texts, and columns of text or categories with 2 to 50 different values.
    max_bytes : int, optional
        The most that a packed file may unpack to; 100 times its size, or 256 MB if that is more,
        if not said.

    like : fitted model, Data or dict, optional
        Read the source in the same way as the data of a model: whatever is not set is as it was
        there, as far as the source allows. Files of names are read again, too. All words of texts
        count, as those that the model does not know are ignored later.

    Returns
    -------
    Data
        The matrix and its names, which :meth:`CoClustering.fit` takes as it is. Documents,
        observations, nodes and rows of a data frame that share a name get their places added.

    Examples
    --------
    >>> import io, comarkov
    >>> edges = io.BytesIO(b"user,item,rating\\nAnn,tea,2\\nBob,rum,1\\nAnn,rum,1\\n")
    >>> data = comarkov.read(edges)
    >>> data
    Data(2 users x 2 items, 3 entries, from the open file)
    >>> print(data.row_names, data.column_names, data.matrix.toarray(), sep="\\n")
    ['Ann' 'Bob']
    ['rum' 'tea']
    [[1. 2.]
     [1. 0.]]
    """
    if kind is not None and kind not in (*KINDS, CHAIN):
        raise ValueError(f"kind={kind!r} is unknown. Use one of {', '.join(KINDS)}.")
    options = ReadOptions.of(keywords)
    before = None if like is None else remembered(like)
    if before is not None:
        kind = kind or similar_kind(source, before)
        options = similar_options(before, keywords)
    data = ids = read_any(source, kind, options, max_bytes)
    data = renamed(data, row_names, column_names, options.encoding, max_bytes)
    names = {"row_names": row_names, "column_names": column_names}
    if before is not None:
        data = renamed_as_before(data, before, names, options.encoding)
    data = classified(data, ids, options.classes, options.encoding)
    reading = reading_of(data, kind, options, names)
    return data if reading == data.reading else replace(data, reading=reading)
