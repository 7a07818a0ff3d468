"""Texts: a folder, JSON lines or a column of a table, as counts of words in documents."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ...costs.objective import most_informative
from ...joint.messages import quote, warn_user
from ..files import is_own
from .classes import MOST
from .data import Data
from .naming import distinct
from .opened import WESTERN, Opened, as_utf8, decoded, detect, is_text, western_note
from .raw_tables import RawTable, table_error

if TYPE_CHECKING:
    import polars as pl


WEIGHTING = "bm25"  # the best by measurement without labels, see docs/concepts/weighting.md
STOP_WORDS = ("english", "none")
TEXT = "text"  # the field of JSON lines that holds the text


class Documents(NamedTuple):
    """Texts, their names if they have any, and what else is known about them."""

    names: list[str] | None
    texts: list[str]
    columns: Mapping[str, Any]  #: further columns, which may hold classes


def from_json_lines(
    file: Opened, text: str | int, rows: str | int | None, encoding: str | None
) -> Documents:
    """The texts of JSON lines, and names if a field with names is chosen."""
    field = str(text)
    names, texts, others = [], [], []
    with as_utf8(file, encoding) as plain, plain.path.open("rb") as stream:
        for number, line in enumerate(stream, 1):
            content = decoded(line, file.name, "utf-8", number) if line.strip() else ""
            if not content.strip():
                continue
            where = f"{file.name}, line {number}"
            try:
                record = json.loads(content)
            except json.JSONDecodeError as error:
                raise ValueError(
                    f"{where}, column {error.colno}: not valid JSON ({error.msg}). Each line must "
                    'be one object, such as {"text": "..."}.'
                ) from error
            except RecursionError as error:
                raise ValueError(
                    f"{where}: the JSON is nested too deeply. Keep only the fields that matter."
                ) from error
            texts.append(_field(record, field, where, "text"))
            if rows is not None:
                names.append(_field(record, str(rows), where, "rows"))
            others.append({k: v for k, v in record.items() if isinstance(v, str | int)})
    fields = dict.fromkeys(key for record in others for key in record)  # in order
    columns = {key: [record.get(key) for record in others] for key in fields if key != field}
    return Documents(None if rows is None else names, texts, columns)


def _field(record: object, field: str, where: str, role: str) -> str:
    if not isinstance(record, dict):
        raise ValueError(
            f'{where} is not a JSON object. Each line must be one, such as {{"text": "..."}}.'
        )
    if field not in record:
        fields = ", ".join(record) or "none"
        example = _longest(record) if role == "text" else next(iter(record), "name")
        raise ValueError(
            f"{where} has no field {quote(field)}. Its fields are {fields}. Choose one of them, "
            "for "
            f"example {role}={quote(example)}."
        )
    value = record[field]
    if role == "text" and value is None:
        return ""
    if role == "text" and not isinstance(value, str):
        raise ValueError(
            f"{where}, field {quote(field)}: {json.dumps(value)[:40]} is not a text. Choose "
            "another "
            "field with text=."
        )
    return str(value)


def _longest(record: Mapping[str, object]) -> str:
    """The field with the longest text."""
    lengths = {name: len(value) for name, value in record.items() if isinstance(value, str)}
    return max(lengths, key=lambda name: lengths[name], default="text")


def from_column(
    table: RawTable, text: str | int, rows: str | int | None, classes: Collection[str] = ()
) -> Documents:
    """The texts in a column of a table, empty if one is missing, and names if they are chosen."""
    import polars as pl

    field = table.field(text, "text")
    ids = [] if rows is None else [table.field(rows, "rows")]
    query = table.frame.select(
        pl.col(field).cast(pl.String).fill_null("").alias("text"),
        *(pl.col(name).cast(pl.String).alias("name") for name in ids),
    )
    try:
        documents = query.collect(engine="streaming")
    except pl.exceptions.PolarsError as error:
        raise table_error(table, error) from error
    if not len(documents):
        raise ValueError(f"{table.name} has no texts.")
    if rows is not None and documents["name"].null_count():
        number = documents["name"].is_null().arg_max() or 0
        advice = "Fill it in, or delete the line."
        raise table.error("the name is missing", advice, **table.place(number, ids[0]))
    names = None if rows is None else documents["name"].to_list()
    others = {table.heading(each): each for each in table.fields if each not in (field, *ids)}
    columns = _small_columns(table.frame, others, classes)
    return Documents(names, documents["text"].to_list(), columns)


def _small_columns(
    frame: pl.LazyFrame, fields: Mapping[str, str], wanted: Collection[str]
) -> dict[str, list[str]]:
    """The columns that have few different values, and those that are wanted, by heading."""
    import polars as pl

    counts = frame.select(pl.col(list(fields.values())).n_unique()).collect()
    small = {
        heading: field
        for heading, field in fields.items()
        if heading in wanted or counts[field][0] <= MOST + 1  # one may be missing
    }
    values = frame.select(pl.col(list(small.values())).cast(pl.String)).collect()
    return {heading: values[field].to_list() for heading, field in small.items()}


def from_texts(
    texts: Iterable[str],
    names: Sequence[str] | None,
    source: str,
    stop_words: str | list[str] | None = "english",
    min_df: int = 2,
    n_words: int | None = None,
) -> Data:
    """Counts of words in documents, by scikit-learn's CountVectorizer.

    Words in fewer than ``min_df`` documents are left out, then all but the ``n_words`` that
    contribute most to I(D;W).
    """
    from sklearn.feature_extraction.text import CountVectorizer  # slow to import

    listed = list(texts)
    if not any(map(str.strip, listed)):
        nothing = (
            f"{source} is" if len(listed) == 1 else f"All {len(listed):,} texts of {source} are"
        )
        raise ValueError(f"{nothing} empty: give text with words.")
    if n_words is not None and n_words < 1:
        raise ValueError(f"n_words={n_words} must be 1 or more, for example n_words=2000.")
    if isinstance(stop_words, str) and stop_words not in STOP_WORDS:
        raise ValueError(
            f"There is no list of stop words {stop_words!r}. Choose stop_words='english' or "
            "stop_words='none'."
        )
    stop_words = None if stop_words == "none" else stop_words
    counter = CountVectorizer(stop_words=stop_words, min_df=min_df)
    try:
        counts = sp.csr_array(counter.fit_transform(listed))
    except ValueError as error:
        rare = "" if min_df == 1 else f", and words in fewer than {min_df} texts"
        more = "stop_words='none'" + ("" if min_df == 1 else ", min_df=1")
        raise ValueError(
            f"{source}: no word is left. Stop words are left out{rare}. Give texts with other "
            f"words, or keep more words with {more}."
        ) from error
    words = counter.get_feature_names_out()
    if n_words is not None and n_words < words.size:
        kept = most_informative(counts, n_words)
        counts, words = counts[:, kept], words[kept]
    described = distinct(names), words, "document", "word", source, WEIGHTING
    reading = {"kind": "document", "min_df": 1}  # for similar texts, which may be few
    return Data(counts, *described, texts=listed, reading=reading)


def read_folder(folder: Path, encoding: str | None) -> Documents:
    """All texts in a folder and its subfolders, in the order of their paths, which are their names.

    Hidden files and the results of comarkov are ignored. Files that are not text are skipped, and a
    note reports how many; so does one about files that are not UTF-8 if no encoding is set.
    """
    names, texts, skipped, western = [], [], [], []
    for path in _files(folder):
        name = path.relative_to(folder).as_posix()
        content = path.read_bytes()
        if not is_text(content, encoding):
            skipped.append(name)
            continue
        own = encoding or detect(content)
        if encoding is None and own in WESTERN:
            western.append(own)
        names.append(name)
        texts.append(as_document(decoded(content, str(path), own)))
    if not names:
        raise ValueError(_empty(folder, skipped))
    if skipped:
        count = _some(len(skipped), len(skipped) + len(names))
        warn_user(
            f"{count} not text and {'was' if len(skipped) == 1 else 'were'} skipped: "
            f"{', '.join(skipped[:3])}{' and others' if len(skipped) > 3 else ''}."
        )
    if western:
        most = max(WESTERN, key=western.count)
        warn_user(western_note(_some(len(western), len(names)), most))
    return Documents(names, texts, folder_classes(names))


def names_in(folder: Path) -> list[str]:
    """The paths of all texts in a folder, relative to it: those that ``read_folder`` reads."""
    return [path.relative_to(folder).as_posix() for path in _files(folder) if _holds_text(path)]


def _holds_text(path: Path, encoding: str | None = None) -> bool:
    with path.open("rb") as start:
        return is_text(start.read(1 << 16), encoding)


def read_document(file: Opened, encoding: str | None) -> Documents:
    """One file as one text."""
    if not _holds_text(file.path, encoding):
        raise ValueError(f"{file.name} is not text. Convert it to plain text (.txt) first.")
    with as_utf8(file, encoding) as plain:
        text = decoded(plain.path.read_bytes(), file.name, "utf-8")
    return Documents([file.name], [as_document(text)], {})


def as_document(text: str) -> str:
    """A text with the line ends of Unix."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _files(folder: Path) -> Iterator[Path]:
    """All files that are neither hidden nor written by comarkov, in the order of their paths."""
    paths: list[Path] = []
    for place, folders, files in os.walk(folder):
        folders[:] = [
            name for name in folders if not name.startswith(".") and not is_own(Path(place, name))
        ]
        paths += [Path(place, name) for name in files if not name.startswith(".")]
    yield from sorted(paths, key=lambda path: path.relative_to(folder).as_posix())


def _some(count: int, of: int) -> str:
    if of == 1:
        return "The only file is"
    return f"{count:,} of {of:,} files {'is' if count == 1 else 'are'}"


def _empty(folder: Path, skipped: Sequence[str]) -> str:
    if not skipped:
        return f"{folder} contains no files. Give a folder of text files, or one file."
    count = len(skipped)
    example = f"1 file, {skipped[0]}" if count == 1 else f"{count:,} files such as {skipped[0]}"
    return f"{folder} contains no text, only {example}. Convert to plain text (.txt) first."


def folder_classes(names: Sequence[str]) -> dict[str, np.ndarray]:
    """Known classes from the paths of files: the names of the folders that they are in.

    "folder" is the folder of the first level on which paths differ, "subfolder" the one in it.
    """
    folders = [name.split("/")[:-1] for name in names]
    levels = itertools.takewhile(lambda level: len(set(level)) == 1, zip(*folders, strict=False))
    shared = len(list(levels))
    classes = {
        title: np.array([(folder[shared + depth :] or [""])[0] for folder in folders], object)
        for depth, title in enumerate(("folder", "subfolder"))
    }
    return {title: listed for title, listed in classes.items() if len(set(listed) - {""}) > 1}
