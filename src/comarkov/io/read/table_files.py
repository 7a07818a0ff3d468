"""Tables in files: delimited text, Excel, Parquet and databases, as the user has chosen them."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from difflib import get_close_matches
from itertools import dropwhile
from typing import Any, NamedTuple

from ...joint.messages import InputError, listed, need, quote, warn_user
from ..read_options import JSON_LINES, ReadOptions, pairs_in
from . import databases
from .data import refuse_large_archive
from .headers import HeaderGuess, guess_header
from .opened import (
    DAMAGED,
    SPREADSHEET,
    Opened,
    as_utf8,
    decoded,
    refuse_far_cells,
    temporary_folder,
)
from .raw_tables import (
    Lines,
    RawTable,
    columns_to_drop,
    errors_of_polars,
    first_line,
    from_frame,
    irregular_records,
    pl,
    quotes_end,
    refuse_wrong_line,
    without_columns,
)

FIELD_SEPARATORS = ("\t", "|", ";", ",", " ")  # those that names and numbers contain least, first
HEAD_LINES = 100  # from which the separator and the header are detected
HEAD_BYTES = 1 << 20  # of long lines, fewer are enough
MAX_HEAD_BYTES = 1 << 26  # even if they hold no three lines
MAX_TITLE_LINES = 10  # above a table, with fewer fields than it has
DECIMAL_COMMA = r"^[-+]?(\d+|\d{1,3}(\.\d{3})+)(,\d+)?$"
UNLIKE_THOUSANDS = r",(\d{1,2}|\d{4,})$"  # what follows the comma of 1,200 can be either
DECIMAL_POINT = r"^[-+]?\d*\.(\d{1,2}|\d{4,})$"
EAGER_BYTES = 1 << 26  # smaller files are read at once, larger ones a part at a time


@contextmanager
def table_in(file: Opened, options: ReadOptions) -> Iterator[tuple[RawTable, str]]:
    """The table in a file, and the form of the file."""
    with ExitStack() as stack:
        form = "delimited text"
        if database := databases.kind_of_database(file):
            table = databases.from_database_file(database, file.path, options, file.name)
            form = "a database"
        elif is_parquet(file):
            table, form = from_parquet(file), "Parquet"
        elif is_json(file):
            table, form = _from_json_lines(file, options), JSON_LINES
        elif file.suffix == SPREADSHEET:
            sheet, form = stack.enter_context(_sheet_as_csv(file, options)), "an Excel file"
            table = _read_delimited(sheet, options, form)
        else:
            text = stack.enter_context(as_utf8(file, options.encoding))
            table = _read_delimited(text, options, form)
        with errors_of_polars(table):
            yield table, form


def _read_delimited(file: Opened, options: ReadOptions, form: str) -> RawTable:
    options.check_form(form)
    separator = options.separator if form == "delimited text" else ","
    roles = ("rows", "columns", "weights", "names", "text", "time")
    chosen = [getattr(options, role) for role in roles]
    chosen += [*columns_to_drop(options.drop), *pairs_in(options.bin)]
    if options.is_given("header"):
        return from_lines(file, options.header, separator, chosen)
    return from_lines(file, None, separator, chosen, options.header)


def detected_marks(table: RawTable) -> dict[str, Any]:
    """What was detected in delimited text, as keywords of ``read``: a header, decimal commas."""
    if table.lines is None:
        return {}
    marks = {} if table.decimal == "." else {"decimal": table.decimal}
    marks |= {"thousands": table.thousands} if table.thousands else {}
    return {"header": table.has_headings, **marks}


def as_chosen(table: RawTable, options: ReadOptions) -> RawTable:
    """A table without dropped columns, and with the marks of numbers: chosen, or decimal commas."""
    drop = options.drop
    if not options.is_given("drop"):
        drop = [c for c in columns_to_drop(drop) if c in table.columns]
    marked = without_columns(replace(table, keeps_na=options.keep_na), drop)
    if "decimal" in {**options.before, **options.given} or options.thousands:
        return replace(marked, decimal=options.decimal, thousands=options.thousands)
    if marked.lines is None or marked.lines.separator == ",":
        return marked
    sample = marked.frame.select(marked.kept).head(HEAD_LINES).collect()
    columns = [column.drop_nulls().str.strip_chars() for column in sample]
    filled = [c for c in columns if len(c) and c.str.contains(DECIMAL_COMMA).all()]
    has_commas = any(column.str.contains(UNLIKE_THOUSANDS).any() for column in filled)
    if not has_commas or any(column.str.contains(DECIMAL_POINT).any() for column in columns):
        return marked
    has_points = any(column.str.contains(r"\.\d{3}").any() for column in filled)
    return replace(marked, decimal=",", thousands="." if has_points else "")


class _Start(NamedTuple):
    skipped: int  #: lines before the first record
    lines: int  #: of the first record, and blank ones below it
    first: list[str]
    rest: list[list[str]]  #: further records of the head of the file
    is_short: bool  #: the first record lacks the heading of the first column, as R writes it


def from_lines(
    file: Opened,
    header: bool | None,
    separator: str | None,
    chosen: Sequence[str | int | None] = (),
    expected: bool | None = None,
) -> RawTable:
    """Delimited text in UTF-8.

    ``chosen`` are the columns that the user has named; a header is ``expected`` if a similar file
    had one, but a first line that is clearly something else is not a header.
    """
    head = _head(file)
    if not any(map(str.strip, head)):
        advice = "Give a file with one line for each entry."
        raise InputError("the file is empty", file=file.name, advice=advice)
    separator = separator or ("\t" if file.suffix in (".tsv", ".tab") else _separator(head))
    if len(separator.encode()) != 1:
        problem = f"separator={separator!r} must be one ASCII character"
        raise ValueError(f"{problem}, for example separator=';'.")
    start = _start(head, separator, file.name)
    headings = [cell.strip() for cell in start.first]
    skipped = start.skipped + start.lines
    below = Lines(file, separator, skipped, len(headings), header_line=start.skipped + 1)
    if start.is_short and header is not False:
        body = _read(replace(below, width=len(headings) + 1))
        return replace(body, columns=["", *headings], has_headings=True)
    whole = _read(replace(below, skipped=start.skipped, header_line=None))
    if header is None:
        has_names = any(isinstance(name, str) and not name.isdecimal() for name in chosen)
        header = has_names or _detect_header(whole, start, expected)
    if not header:
        return whole
    frame = whole.frame.slice(1)
    return replace(whole, frame=frame, columns=headings, lines=below, has_headings=True)


def _head(file: Opened) -> list[str]:
    """The first lines, as far as they can be read."""
    content, size = file.content, HEAD_BYTES
    while size < min(len(content), MAX_HEAD_BYTES) and content[:size].count(b"\n") < 3:
        size *= 2
    text = content[:size].decode("utf-8-sig", errors="replace")
    lines = list(io.StringIO(text, newline=""))
    if size < len(content):
        lines = lines[:-1] or lines  # the last one may be incomplete
    lines = lines[:HEAD_LINES]
    wrong = next((i for i, line in enumerate(lines, 1) if "\0" in line), None)
    if wrong is not None:
        problem = "the line contains zero bytes, so it is not text in UTF-8"
        advice = "If it is text in another encoding, state it, for example encoding='utf-16'."
        raise InputError(problem, file=file.name, line=wrong, advice=advice)
    return lines


def _separator(head: list[str]) -> str:
    """What splits most lines into the same number of fields; of equals the first in the list."""

    def agreement(separator: str) -> float:
        if not any('"' in line for line in head):
            widths = Counter(line.count(separator) + 1 for line in head if line.strip("\r\n"))
        else:
            widths = Counter(map(len, csv.reader(head, delimiter=separator)))
        agreeing = max((count for width, count in widths.items() if width > 1), default=0)
        return agreeing / max(widths.total(), 1)  # quoted texts may have many lines

    scores = {separator: agreement(separator) for separator in FIELD_SEPARATORS}
    best = max(scores, key=lambda separator: scores[separator])
    first = next((line for line in head if line.strip() and not _is_comment(line)), "")
    is_in_first = best != " " and best in first  # a column of texts has blanks, too
    return best if is_in_first or scores[best] > 0.5 else ","


def _is_comment(line: str) -> bool:
    return line.startswith(("# ", "% "))


def _start(head: list[str], separator: str, name: str) -> _Start:
    """The first line of the table, after comments, blank lines and lines with a title."""
    reader = csv.reader(head, delimiter=separator)
    records = [(record, reader.line_num) for record in reader]
    begins = [0, *(end for _, end in records)]
    filled = [(begins[i], r) for i, (r, _) in enumerate(records) if any(map(str.strip, r))]
    filled = list(dropwhile(lambda pair: _is_comment(head[pair[0]]), filled))
    if not filled:
        advice = "Give a file with data."
        raise InputError("it has only comments and blank lines", file=name, advice=advice)
    widths = [len(record) for _, record in filled]
    width = Counter(widths).most_common(1)[0][0]
    # lines of a title have fewer fields, or only one that is not empty
    least = 2 if width > 2 else 0
    is_table = [len(record) >= width and sum(map(bool, record)) >= least for _, record in filled]
    titles = is_table.index(True) if any(is_table) else 0
    is_uneven = 0 < titles <= min(MAX_TITLE_LINES, len(widths) - 2)
    is_uneven = is_uneven and set(widths[titles:]) == {width}
    is_short = is_uneven and widths[: titles + 1] == [width - 1, width] and width > 2
    if is_uneven and not is_short:
        filled = filled[titles:]
        warn_user(f"{name}: the table starts at line {filled[0][0] + 1}, below its title.")
    skipped, first = filled[0]
    end = filled[1][0] if len(filled) > 1 else begins[-1]
    return _Start(skipped, end - skipped, first, [record for _, record in filled[1:]], is_short)


def _detect_header(whole: RawTable, start: _Start, expected: bool | None) -> bool:
    guess = HeaderGuess(False)
    if expected is not False:

        def recur(words: Mapping[int, str]) -> bool:
            counts = [(pl.col(whole.fields[place]) == word).sum() for place, word in words.items()]
            with errors_of_polars(whole):  # a byte that is not UTF-8
                rows = whole.frame.select(counts).collect(engine="streaming")
            return any(n > 1 for n in rows.row(0))

        guess = guess_header(start.first, start.rest, recur)
    if expected and (guess.is_header or not guess.is_sure):
        return True
    if not guess.is_sure or expected:
        read_as, other = ("data", "header=True if it is a header")
        if guess.is_header:
            read_as, other = ("the header", "header=False if it is data")
        line = listed(start.first, 5)
        warn_user(f"{whole.name}: the first line ({line}) is read as {read_as}; use {other}.")
    return guess.is_header


def _read(lines: Lines) -> RawTable:
    """All records: by polars if they are regular, else by Python, or an error that says where."""
    fields = [str(i) for i in range(lines.width)]
    schema: Any = dict.fromkeys(fields, pl.String)
    content = lines.file.content
    if quotes_end(lines) == len(content):
        frame = pl.scan_csv(
            lines.file.path,
            has_header=False,
            separator=lines.separator,
            quote_char='"' if content.find(b'"') >= 0 else None,
            skip_lines=lines.skipped,
            schema=schema,
            null_values="",
            glob=False,
        )
    else:
        frame = pl.LazyFrame(irregular_records(lines), schema, orient="row")
        frame = frame.select(pl.all().replace("", None))
    is_blank = pl.all_horizontal(pl.all().is_null())
    table = RawTable(lines.file.name, frame.filter(~is_blank), fields, fields, lines)
    with errors_of_polars(table):
        if len(content) <= EAGER_BYTES:
            frame = frame.collect().lazy()
        gaps = frame.select(pl.all().null_count()).collect(engine="streaming")
    if gaps.width and gaps[fields[-1]][0]:  # which polars makes of short lines, too
        refuse_wrong_line(lines)
    has_blanks = gaps.width and gaps[fields[0]][0]  # no blank line has a first cell
    return replace(table, frame=frame.filter(~is_blank) if has_blanks else frame)


def is_parquet(file: Opened) -> bool:
    """Does the file begin as Parquet does?"""
    return file.content[:4] == b"PAR1"


def from_parquet(file: Opened) -> RawTable:
    """A Parquet file."""
    try:
        frame = pl.scan_parquet(file.path, low_memory=True, glob=False)
        names = frame.collect_schema().names()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        problem = f"it is not a Parquet file, or it is damaged: {first_line(error)}"
        advice = "Write it again, or save the table as CSV."
        raise InputError(problem, file=file.name, advice=advice) from error
    return RawTable(file.name, frame, names, names, has_headings=True)


def is_json(file: Opened) -> bool:
    """Is a file called JSON lines, or does it begin with a JSON object?"""
    if file.suffix in (".jsonl", ".ndjson"):
        return True
    return file.content[:4096].removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"{"


def _from_json_lines(file: Opened, options: ReadOptions) -> RawTable:
    """An object in each line, whose values are the cells of a record; nested ones are left out."""
    records = []
    with as_utf8(file, options.encoding) as plain, plain.path.open("rb") as stream:
        for number, line in enumerate(stream, 1):
            content = decoded(line, file.name, "utf-8", number)
            problem, column, record = "this is not a JSON object", None, None
            try:
                record = json.loads(content) if content.strip() else {}
            except json.JSONDecodeError as error:
                problem, column = f"not valid JSON ({error.msg})", error.colno
            except RecursionError:
                problem = "the JSON is nested too deeply"
            if not isinstance(record, dict):
                advice = 'Each line must be one plain object, such as {"text": "..."}.'
                name = file.name
                raise InputError(problem, file=name, line=number, column=column, advice=advice)
            if content.strip():
                records.append({k: v for k, v in record.items() if not isinstance(v, dict | list)})
    headings = dict.fromkeys(key for record in records for key in record)  # in order
    columns = {key: [record.get(key) for record in records] for key in headings}
    frame = pl.DataFrame([databases.as_series(key, values) for key, values in columns.items()])
    return from_frame(frame, file.name)


@contextmanager
def _sheet_as_csv(file: Opened, options: ReadOptions) -> Iterator[Opened]:
    """A sheet as a CSV file whose lines are the rows of the sheet, for the time being."""
    frame, title = _cells(file, options)
    if options.decimal == ",":  # numbers have a point, whatever mark the texts of the sheet have
        frame = frame.select(pl.all().str.replace(r"^(-?\d+)\.(\d+)$", "$1,$2"))
    with temporary_folder() as folder:
        path = folder / "sheet.csv"
        frame.write_csv(path, include_header=False)
        yield Opened(title, path, ".csv")


def _cells(file: Opened, options: ReadOptions) -> tuple[pl.DataFrame, str]:
    """All cells of a sheet as text, and what messages call it: one of several by its name, too."""
    need("Reading Excel files", "polars", "fastexcel", install="comarkov[excel]")
    import fastexcel

    again = "Save it again, or as CSV."
    refuse_large_archive(file, "an Excel file", options.max_bytes, again)
    try:
        refuse_far_cells(file, again)
        book = fastexcel.read_excel(file.path)
        name = _choose_sheet(book.sheet_names, options.sheet, file.name)
        cells = book.load_sheet(name, header_row=None, skip_rows=0, dtypes="string")
        frame: pl.DataFrame = cells.to_polars()
    except (fastexcel.FastExcelError, *DAMAGED) as error:
        why = first_line(error).removeprefix("calamine error: ")
        problem = f"it is not an Excel file, or it is damaged: {why}"
        raise InputError(problem, file=file.name, advice=again) from error
    others = [each for each in book.sheet_names if each != name]
    if not frame.width:
        advice = "Give a file with data."
        advice = f"Choose another with sheet={quote(others[0])}." if others else advice
        raise InputError(f"the sheet {quote(name)} is empty", file=file.name, advice=advice)
    return frame, f"{file.name}, sheet {quote(name)}" if others else file.name


def _choose_sheet(names: list[str], sheet: str | int | None, file: str) -> str:
    """The sheet that the user means, by name or by position from 0; the only one by default."""
    chosen = {str(i): name for i, name in enumerate(names)} | {name: name for name in names}
    if sheet is None and len(names) == 1:
        return names[0]
    if str(sheet) in chosen:
        return chosen[str(sheet)]
    problem = f"there are {len(names)} sheets" if sheet is None else f"no sheet is {quote(sheet)}"
    by_lower = {name.lower(): name for name in names}
    similar = get_close_matches(str(sheet).lower(), by_lower, n=1) or list(by_lower)[:1]
    advice = f"Choose one with sheet={quote(by_lower[similar[0]])}." if names else None
    raise InputError(f"{problem} ({listed(names, 10)})", file=file, advice=advice)
