"""Data in: edge lists, tables, matrices, graphs, databases and texts, from files or objects."""

from __future__ import annotations

from typing import Any, Unpack

from .data import Data
from .formats import ReadKeywords, spelling_out
from .h5ad import write_h5ad
from .remembering import ReadRequest
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

    The kind of the source is detected from the type of an object, the extension of a file
    (without .gz, .zst or .zip) or its first bytes. Tables are CSV, TSV, Excel and Parquet files,
    results of database queries and data frames. A table is read as texts if you name their column
    with ``text``, as an edge list if you name ``columns`` or ``weights`` or if it has two or three
    columns, and as a wide table, with a column for each column of the matrix, otherwise. ``kind``
    overrides this.

    Parameters
    ----------
    source : path, address, "-", open file or object
        A file; a folder of texts, of Parquet or CSV files with edges, of results (which hold their
        data), or one that :func:`comarkov.pack` wrote; a database, such as
        "sqlite:///shop.db"; "-" for stdin; a pandas or polars data frame, AnnData, a networkx
        bipartite graph, an array, a list of texts.
    kind : str, optional
        How to read it: "edges", "table", "texts", "document", "sequences", "mtx", "npy", "npz",
        "h5ad" or "graph". A file of "texts" holds many: JSON lines, a column of a table, or one in
        each line. A "document" is one text. "sequences" counts transitions between states: a text
        file has one sequence per line, or one state per line; a table has a column of states
        (``columns``) and may have one that names the sequence (``rows``) and one to sort by
        (``time``). "chain" reads sequences too, or a table of transitions if the file looks like
        one.
    rows, columns, weights : str or int, optional
        The columns of an edge list, by name or by position from 0. By default these are the first
        three. With rows and columns but no weights, every line counts 1. The weights of lines with
        the same row and column are added up. ``weights`` also names the edge attribute of a graph.
    names : str or int, optional
        The column that names the rows of a wide table (default: the first), or the documents of
        texts. ``rows`` without ``columns`` means the same.
    drop : str, int or list, optional
        Columns to leave out, as a list or separated by commas. In a wide table, text and columns
        that only number the rows (such as "id") are not weights and need not be listed; "none"
        reads the latter as weights.
    header : bool, optional
        Whether the first line holds headings. By default it does if a column is named; if a word
        stands above numbers; if its numbers are years or rise, as headings do; or if none of its
        words occurs below it in the same column. You get a warning if this is uncertain.
    missing : {"skip", "0", "error"}, optional
        What to do with a line without a weight. NA, N/A, NaN, null, None and empty cells are
        missing, and so is a weight that is only a dash or a point. By default an error for edge
        lists, and 0 with a warning for wide tables, where "skip" means 0, too. Lines
        without the name of a row or column are always skipped.
    keep_na : bool, default=False
        Read NA, null and the like as ordinary names.
    separator : str, optional
        The character between fields. By default, whichever of tab | ; , and space splits most of
        the first 100 lines into the same number of fields.
    decimal, thousands : str, default="." and ""
        The decimal mark of weights, "." or ",", and the mark between their thousands.
    sheet : str or int, optional
        The sheet of an Excel file, by name or by position from 0. Needed if there are several.
    time : str or int, optional
        The column of a table of states to sort by. By default the order of lines is kept.
    encoding : str, optional
        The encoding of text files and of files of names. By default it is detected: UTF-8, UTF-16
        or UTF-32 by its byte order mark, UTF-8 without one, else Windows-1252 or Latin-1 with a
        warning.
    text : str or int, optional
        The column or, in JSON lines, the field that holds texts. The default field is "text".
    stop_words : "english", "none", list of str or None, default="english"
        Words to leave out of texts.
    min_df : int, default=2
        Leave out words that occur in fewer texts than this.
    n_words : int, optional
        Keep this many words: those that contribute most to the information between texts and words.
    query, table : str, optional
        What to read from a database: the result of an SQL query, or a table (also
        "schema.table"). A database with one table needs neither.
    layer : str, optional
        The matrix of AnnData to read: the key of a layer, "raw" or "X". By default X; but if X has
        negative values, as scaled data do, the counts in a layer or in ``.raw``, with a warning.
    row_names, column_names : path, (path, key, name), "path:key:name", mapping or list, optional
        Names that replace ids. A file holds ids and names in the columns key and name, by default
        its first two; if the source has no ids, one name in each line, in order. A list is in
        order, too. Ids without a name are kept. If several ids share a name, the ids are added.
    row_classes, column_classes : str, path, list or mapping, optional
        Known classes, which do not influence a fit but can be compared with its clusters. A column
        of the table, or of ``.obs`` or ``.var`` of AnnData; a file with names and classes,
        "path:names:classes" if they are not in its first two columns; a list of these; or a mapping
        from the name of a classification to a list or to another mapping. By default the subfolders
        of a folder of texts, and columns of text or categories with 2 to 50 different values.
    max_bytes : int, optional
        The largest size that a compressed or h5ad file may unpack to. By default 100 times its
        size, but at least 256 MB.
    like : fitted model, Data or dict, optional
        Read the source in the same way as the data of a model: settings that you omit are as they
        were there, as far as the source allows. Files of names are read again, too. All words of
        texts are counted; those that the model does not know are ignored later.

    Returns
    -------
    Data
        The matrix with its names, ready for :meth:`CoClustering.fit`. If documents, observations,
        nodes or rows of a data frame share a name, their positions are added to it.

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
    request = ReadRequest.of(
        source, kind, {"row_names": row_names, "column_names": column_names}, like, keywords
    )
    data = read_any(source, request.kind, request.options, max_bytes)
    return request.complete(data, max_bytes)
