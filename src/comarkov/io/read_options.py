"""Keywords of ``read``, declared once: for Python, for the command line, and for their errors."""

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, NamedTuple, Self, TypedDict, TypeVar, get_args, get_type_hints

from ..joint.messages import InputError, did_you_mean

#: How a source can be read.
READ_KINDS = (
    *("edges", "table", "records", "texts", "document", "sequences"),
    *("mtx", "npy", "npz", "h5ad", "graph"),
)
CHAIN = "chain"  # sequences, or a table of transitions if the file looks like one
NETWORK = "network"  # as by default, but all nodes of a graph are both rows and columns
AMOUNTS = ("edges", "table")  # kinds with weights in cells
TEXT_KINDS = ("texts", "document")
CELLS = (*AMOUNTS, "records")  # kinds with numbers in cells
TABULAR = (*CELLS, "texts", "sequences")  # what a table may be read as
# Forms of sources, as messages call them.
DELIMITED, SHEETS, DATABASES = ("delimited text",), ("an Excel file",), ("a database",)
JSON_LINES, SEQUENCE_LINES = "JSON lines", "a sequence in each line"
TEXT_FILE = "a file of texts"
COLUMNAR = (*DELIMITED, *SHEETS, *DATABASES, "Parquet", "a data frame", "a list", JSON_LINES)

Column = str | int | None
Function = TypeVar("Function", bound=Callable[..., Any])


class Option(NamedTuple):
    """What is known about a keyword beside its type and its help."""

    value: str | None  #: as the command line calls it; "" for a switch, None for no option at all
    kinds: tuple[str, ...] = ()  #: to which it applies; all if there are none
    forms: tuple[str, ...] = ()  #: as kinds
    default: Any = None
    is_remembered: bool = True  #: it applies to similar data, too
    help: str = ""
    shown: str | None = None  #: the default, in words

    @property
    def panel(self) -> str:
        """The panel of the command's help that shows it."""
        if self.kinds and set(self.kinds) <= set(TEXT_KINDS):
            return "Input: texts"
        is_of_tables = set(self.kinds) & set(TABULAR) and self.forms != DATABASES
        return "Input: tables" if is_of_tables else "Input"


def _once(value: str | None, *applies: Any, default: Any = None) -> Option:
    """An option for one source, which similar data do not share."""
    kinds, forms = (*applies, (), ())[:2]
    return Option(value, kinds, forms, default, is_remembered=False)


class ReadKeywords(TypedDict, total=False):
    """Keywords of ``read``. The command line shows the first sentence of each.

    kind : str, default: detected
        How to read it: edges, table, records, texts, document, sequences, mtx, npy, npz, h5ad,
        graph. A table has one unit in all its columns of numbers, records have mixed columns. A
        file of texts holds many: JSON lines, a column of a table, or one in each line. A document
        is one text. Sequences count transitions between states: a text file has one sequence per
        line, or one state per line; a table has a column of states (``columns``), and may have one
        that names the sequence (``rows``) and one to sort by (``time``). "chain" reads sequences,
        too, or a table of transitions if the file looks like one. "network" reads all nodes of a
        graph both as rows and as columns.
    rows : str or int, default: the first of two or three, else detected
        Edge list: the column with the names of rows. Columns are chosen by name, or by position
        from 0. The weights of lines with the same row and column are added up.
    columns : str or int, default: the second of two or three, else detected
        Edge list: the column with the names of columns. With ``rows`` and ``columns`` but no
        ``weights``, every line counts 1.
    weights : str or int, default: the third of three, or 1
        Edge list: the column with the weights. Or the edge attribute of a graph.
    names : str or int, default: the first
        Wide table: the column that names the rows. It also names records and documents.
    bin : str or mapping, default: months or years of many dates; 5 intervals of numbers in records
        Put the values of columns into bins, such as date=weekday,age=5. By a part of a date (year,
        year-month, day, month, weekday or hour), or into this number of intervals.
    variable_weights : str or mapping, default: 1
        Records: how much each column counts, such as price=2,year=0.5.
    keep_case : bool, default: no
        Edge list: keep names apart that differ only in case, blanks or how accents are coded. By
        default LAX and lax are one name, with a note.
    drop : str, int or list, default: text and identifiers in wide tables
        Columns to leave out, separated by commas; none keeps columns of identifiers. In a wide
        table, text and columns that only number the rows, such as "id", are not weights and need
        not be listed.
    time : str or int, default: the order of lines
        With kind='sequences': the column to sort by, within the sequences of rows=.
    header : bool, default: detected
        Whether the first line holds the headings. By default it does if a column is named; if a
        word stands above numbers; if its numbers are years or rise, as headings do; or if none of
        its words occurs below it in the same column. You get a warning if this is uncertain.
    separator : str, default: detected
        The mark between columns: ',', ';', '|', tab or space; with none, each letter is a state.
        By default, the mark that splits most of the first 100 lines into equally many fields.
    decimal : str, default: detected
        The decimal mark: '.' or ','. By default a comma if numbers have one and fields are
        separated by something else.
    thousands : str, default: none
        The mark between thousands, such as ','.
    missing : {"skip", "0", "error"}, default: error; 0 in wide tables
        What to do with lines without a weight: skip, 0 or error. NA, N/A, NaN, null, None and empty
        cells are missing, and so is a weight that is only a dash or a point. In wide tables "skip"
        means 0. Lines without the name of a row or column are always skipped.
    keep_na : bool, default: no
        Read NA, null and the like as names, not as missing values.
    sheet : str or int, default: the only one
        The sheet of an Excel file.
    encoding : str, default: detected
        The encoding of text, such as latin-1. It applies to files of names, too. By default UTF-8,
        UTF-16 or UTF-32 by its byte order mark, UTF-8 without one, else Windows-1252 or Latin-1
        with a warning.
    query : str, optional
        The query for a database.
    table : str, default: the only one
        The table of a database.
    layer : str, default: X
        The layer of an AnnData file, or raw.
    row_names : path, (path, ids, names), mapping or list, optional
        A file with ids and names, to replace ids by names; FILE:IDS:NAMES chooses its columns. By
        default these are its first two; if the source has no ids, one name in each line, in order.
        Ids without a name are kept. Ids are added to names that several ids share.
    column_names : path, (path, ids, names), mapping or list, optional
        A file with ids and names of columns.
    row_classes : str, path, list or mapping, default: subfolders, columns with 2 to 50 categories
        Known classes of rows, to compare clusters with: a column of INPUT (of .obs), or a file with
        names and classes; FILE:NAMES:CLASSES chooses its columns. They do not influence a fit. Also
        a list of these, or a mapping from the name of a classification to a list or to another
        mapping.
    column_classes : str, path, list or mapping, optional
        Known classes of columns: a column of .var, or a file.
    row_kind : str, default: the heading, or row
        What a row is, such as user, for the report.
    column_kind : str, optional
        What a column is, such as item.
    entry_kind : str, default: the heading of the weights
        What the weights count, such as flights.
    max_bytes : int, default: 100 times its size, at least 256 MB
        The largest size that a compressed or h5ad file may unpack to, such as 2GB.
    text : str or int, default: text
        The column or field with the text.
    text_separator : str, default: none
        The line between two texts of a file, such as % or ---; "" is an empty line.
    n_words : int, default: all
        Keep only the N most informative words.
    min_df : int, default: 2; 1 for predict
        Drop words that occur in fewer than N documents.
    stop_words : str, path or list of str, default: english
        Words to drop: english, none, or a file of words. Or a list of words.
    like : fitted model, Data or dict, optional
        Read the source like the data of a model: keywords that you omit are as they were there, as
        far as the source allows. Files of names are read again, too. All words of texts are
        counted; those that the model does not have are ignored later.
    variables : list of dict, optional
        The variables of earlier records and their categories, as ``Data.reading`` has them.
    """

    kind: Annotated[str | None, _once("KIND")]
    rows: Annotated[Column, Option("COLUMN", TABULAR, COLUMNAR)]
    columns: Annotated[Column, Option("COLUMN", ("edges", "sequences"), COLUMNAR)]
    weights: Annotated[Column, Option("COLUMN", ("edges", "graph"))]
    names: Annotated[Column, Option("COLUMN", ("table", "records", "texts"), COLUMNAR)]
    bin: Annotated[Any, Option("COLUMN=HOW", ("edges", "records"), COLUMNAR)]
    variable_weights: Annotated[Any, Option("COLUMN=N", ("records",), COLUMNAR)]
    keep_case: Annotated[bool, Option("", ("edges",), default=False)]
    drop: Annotated[Column | list[Any] | tuple[Any, ...], Option("COLUMNS", TABULAR, COLUMNAR)]
    time: Annotated[Column, Option("COLUMN", ("sequences",), COLUMNAR)]
    header: Annotated[bool | None, Option("", TABULAR, (*DELIMITED, *SHEETS))]
    separator: Annotated[str | None, Option("MARK", TABULAR, (*DELIMITED, SEQUENCE_LINES))]
    decimal: Annotated[str, Option("MARK", CELLS, default=".")]
    thousands: Annotated[str, Option("MARK", CELLS, default="")]
    missing: Annotated[str | int | None, Option("HOW", AMOUNTS)]
    keep_na: Annotated[bool, Option("", CELLS, default=False)]
    sheet: Annotated[Column, Option("NAME", TABULAR, SHEETS)]
    encoding: Annotated[str | None, Option("NAME")]
    query: Annotated[str | None, _once("SQL", TABULAR, DATABASES)]
    table: Annotated[str | None, _once("NAME", TABULAR, DATABASES)]
    layer: Annotated[str | None, Option("NAME", ("h5ad",))]
    row_names: Annotated[Any, _once("FILE")]
    column_names: Annotated[Any, _once("FILE")]
    row_classes: Annotated[Any, _once("WHERE")]
    column_classes: Annotated[Any, _once("WHERE")]
    row_kind: Annotated[str | None, _once("WORD")]
    column_kind: Annotated[str | None, _once("WORD")]
    entry_kind: Annotated[str | None, _once("WORD")]
    max_bytes: Annotated[int | None, _once("SIZE")]
    text: Annotated[Column, Option("COLUMN", ("texts",), COLUMNAR)]
    text_separator: Annotated[str | None, Option("LINE", ("texts",), (TEXT_FILE,))]
    n_words: Annotated[int | None, _once("N", TEXT_KINDS)]
    min_df: Annotated[int, _once("N", TEXT_KINDS, default=2)]
    stop_words: Annotated[str | list[str] | None, Option("WORDS", TEXT_KINDS, default="english")]
    like: Annotated[Any, _once(None)]
    variables: Annotated[Any, Option(None, ("records",))]


HELP = (ReadKeywords.__doc__ or "").partition("\n\n")[2]
OPTION_ENTRY = re.compile(r" {4}(\w+) : .*?(?:, default: (.*)|, optional)\n((?: {8}.*\n)+)")
CHOICES = {
    "kind": (*READ_KINDS, CHAIN, NETWORK),
    "decimal": (".", ","),
    "missing": ("skip", "0", "error"),
}
READ_OPTIONS: dict[str, Option] = {
    name: get_args(hint)[1]
    for name, hint in get_type_hints(ReadKeywords, include_extras=True).items()
}
for _name, _shown, _text in OPTION_ENTRY.findall(HELP):
    READ_OPTIONS[_name] = READ_OPTIONS[_name]._replace(
        help=" ".join(_text.split()), shown=_shown or None
    )


@dataclass(frozen=True)
class ReadOptions:
    """Keywords of ``read``: an attribute for each, with its default where none is given."""

    given: Mapping[str, Any] = field(default_factory=dict)
    before: Mapping[str, Any] = field(default_factory=dict)  #: apply where a source takes them

    def __getattr__(self, name: str) -> Any:
        if name not in READ_OPTIONS:
            raise AttributeError(name)
        return self.given.get(name, self.before.get(name, READ_OPTIONS[name].default))

    @classmethod
    def of(cls, keywords: Mapping[str, Any], before: Mapping[str, Any] | None = None) -> Self:
        """The keywords that a user gives, and those of similar data; an error if one is wrong."""
        for name in keywords.keys() - READ_OPTIONS.keys():
            raise TypeError(f"read() got an unexpected keyword argument {name!r}")
        options = cls({name: value for name, value in keywords.items() if value is not None})
        options._check_values()
        if "stop_words" in keywords and keywords["stop_words"] is None:
            options = options.changed(stop_words="none")
        remembered = {name: value for name, value in (before or {}).items() if name in READ_OPTIONS}
        if "names" in options.given or "rows" in options.given:  # which exclude each other
            remembered = {k: v for k, v in remembered.items() if k not in ("rows", "names")}
        return cls(options.given, remembered)

    def _check_values(self) -> None:
        for name, choices in CHOICES.items():
            value = self.given.get(name)
            if value is not None and str(value) not in choices:
                every = " or ".join(f"{name}={choice!r}" for choice in choices)
                advice = f"Use one of {', '.join(choices)}." if name == "kind" else f"Use {every}."
                problem = f"{name}={value!r} is unknown.{did_you_mean(str(value), choices)}"
                raise InputError(problem, advice=advice)
        if self.thousands and (self.thousands == self.decimal or len(self.thousands) > 1):
            raise InputError(
                f"thousands={self.thousands!r} must be one character other than the decimal mark",
                advice=f"Use, for example, thousands={'.' if self.decimal == ',' else ','!r}.",
            )
        if None not in (self.rows, self.names) and self.rows != self.names:
            raise InputError(
                f"rows={self.rows!r} and names={self.names!r} exclude each other",
                advice="Use names= for a wide table, and rows= with columns= for an edge list.",
            )

    def changed(self, **values: Any) -> Self:
        """These options with other values of some keywords."""
        return type(self)({**self.given, **values}, self.before)

    @property
    def name_column(self) -> Column:
        """The column that names the rows of a wide table, or documents."""
        return self.rows if self.names is None else self.names

    def missing_weights(self, default: str) -> str:
        """What a missing weight means."""
        return default if self.missing is None else str(self.missing)

    @property
    def stated_kind(self) -> str | None:
        """The kind of a table that follows from options alone; None if they leave it open."""
        kinds = {"text": "texts", "time": "sequences", "columns": "edges", "weights": "edges"}
        return next((kind for name, kind in kinds.items() if getattr(self, name) is not None), None)

    def is_given(self, name: str) -> bool:
        """Did the user set this option, now, to something else than its default?"""
        return name in self.given and bool(self.given[name] != READ_OPTIONS[name].default)

    def check_form(self, form: str | None) -> None:
        """Refuse options that do not apply to a form of source, such as a database."""
        for name in self.given if form else ():
            forms = READ_OPTIONS[name].forms
            if forms and form not in forms and self.is_given(name):
                raise InputError(f"{name}= does not apply to {form}", advice="Leave it out.")

    def check(self, kind: str, form: str | None = None) -> None:
        """Refuse options that do not apply to a kind of source, or its form: none is ignored."""
        self.check_form(form)
        for name in self.given:
            kinds = READ_OPTIONS[name].kinds
            if kinds and kind not in kinds and self.is_given(name):
                raise InputError(
                    f"{name}= applies to {' and '.join(kinds)}, but the source is read as {kind}",
                    advice=f"Leave it out, or state the kind, for example kind={kinds[0]!r}.",
                )


def spell_out(function: Function) -> Function:
    """Show the keywords in the signature of a function, and in its docstring at KEYWORDS."""
    shown = inspect.signature(function)
    *others, _ = shown.parameters.values()
    only = inspect.Parameter.KEYWORD_ONLY
    options = READ_OPTIONS.items()
    keywords = [inspect.Parameter(name, only, default=each.default) for name, each in options]
    function.__signature__ = shown.replace(parameters=[*others, *keywords])  # type: ignore[attr-defined]
    function.__doc__ = (function.__doc__ or "").replace("    KEYWORDS\n", HELP.rstrip(" "))
    return function


def pairs_in(choice: Any) -> dict[str, str]:
    """A mapping of columns, or a text such as "date=weekday,age=5"."""
    if isinstance(choice, Mapping):
        return {str(name): str(value) for name, value in choice.items()}
    pairs = [part.rpartition("=") for part in str(choice or "").split(",") if part.strip()]
    if not all(name.strip() for name, _, _ in pairs):
        advice = "Use, for example, 'date=weekday' or 'price=2'."
        raise InputError(f"{choice!r} has no column before '='", advice=advice)
    return {name.strip(): value.strip() for name, _, value in pairs}
