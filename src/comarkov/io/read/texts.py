"""Texts: a folder, JSON lines, lines or a column of a table, as counts of words in documents."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ...costs.objective import most_informative
from ...joint.messages import InputError, listed, warn_user
from ...joint.objects import as_objects
from ..read_options import TEXT_FILE, ReadOptions
from .data import Data, valid_name
from .naming import chosen_columns, distinct
from .opened import WESTERN, Opened, decoded, detect, files_in, is_text, western_note
from .raw_tables import RawTable, pl

TEXT_WEIGHTING = "bm25"  # the best by measurement without labels, see docs/concepts/weighting.md
DOCUMENT = "document"
#: Words have two letters or digits; "n't" belongs to its word, and endings are none.
WORD = r"(?u)\b[^\W\d_]+n't\b|\b(?!(?<=\w')(?:ll|re|ve)\b)\w\w+\b"
LINK = re.compile(r"(?:https?://|www\.)\S+")
APOSTROPHES = str.maketrans("’´`", "'''")
BEFORE_NOT = (
    "ai are ca could did do does had has have is might must need sha should was were wo would"
)
MANY_SHORT = 0.1  # the share of texts with fewer than two words that is worth a note


class Documents(NamedTuple):
    """Texts, their names if they have any, and what else is known about them."""

    names: list[str] | None
    texts: list[str]
    columns: Mapping[str, Any]  #: further columns, which may hold classes


def read_text_file(file: Opened, options: ReadOptions) -> Data:
    """A text in each line, or between lines that separate texts."""
    options.check("texts", TEXT_FILE)
    texts = decoded(file.content[:], file.name, options.encoding).splitlines()
    mark = options.text_separator
    if mark is not None:
        groups = itertools.groupby(texts, lambda line: line.strip() == mark.strip())
        texts = ["\n".join(lines) for is_mark, lines in groups if not is_mark]
    if mark is not None and len(texts) < 2:
        advice = "Give the line between texts, such as text_separator='%'."
        raise InputError(f"no line {mark!r} separates texts", file=file.name, advice=advice)
    texts = list(filter(str.strip, texts))
    return count_words(Documents(None, texts, {}), options, file.name, "texts")


def read_document(file: Opened, options: ReadOptions) -> Data:
    """One file as one text."""
    if not is_text(file.content[: 1 << 16], options.encoding):
        advice = "Convert it to plain text (.txt) first."
        raise InputError("not text", file=file.name, advice=advice)
    text = decoded(file.content[:], file.name, options.encoding)
    return count_words(Documents([file.name], [text], {}), options, file.name)


def from_column(table: RawTable, options: ReadOptions) -> Data:
    """The texts in a column of a table, empty if one is missing, and names if they are chosen."""
    options = options.changed(text="text" if options.text is None else options.text)
    field = table.field(options.text, "text")
    ids = [] if options.name_column is None else [table.field(options.name_column, "rows")]
    ids = ids or [each for each in table.fields if table.heading(each).casefold() == "id"][:1]
    query = table.frame.select(
        pl.col(field).cast(pl.String).fill_null("").alias("text"),
        *(pl.col(each).cast(pl.String).alias("name") for each in ids),
    )
    documents = query.collect(engine="streaming")
    if options.name_column is None and ids and documents["name"].null_count():
        ids = []
    if not len(documents):
        raise table.error("it has no texts")
    if ids and documents["name"].null_count():
        number = documents["name"].is_null().arg_max() or 0
        advice = "Fill it in, or delete the line."
        raise table.error("the name is missing", advice, **table.place(number, ids[0]))
    names = documents["name"].to_list() if ids else None
    others = [each for each in table.fields if each not in (field, *ids)]
    cells = table.frame.select(pl.col(others).cast(pl.String, strict=False)).collect()
    columns = {table.heading(each): cells[each] for each in others}
    found = Documents(names, documents["text"].to_list(), columns)
    return count_words(found, options, table.name, "texts")


def count_words(
    documents: Documents, options: ReadOptions, source: str, kind: str = DOCUMENT
) -> Data:
    """Counts of words in documents: of the ``n_words`` that contribute most to I(D;W)."""
    _check_words(documents.texts, options, source)
    n_words = options.n_words
    counter = word_counter(options.stop_words, min_df=options.min_df)
    try:
        counts = sp.csr_array(counter.fit_transform(documents.texts))
    except ValueError as error:
        more = "stop_words='none'" + ("" if options.min_df == 1 else ", min_df=1")
        rare = f"words in fewer than {options.min_df} texts"
        problem = f"no word is left without stop words and {rare}"
        advice = f"Give texts with other words, or keep more words with {more}."
        raise InputError(problem, file=source, advice=advice) from error
    short = int((np.diff(counts.indptr) < 2).sum())
    if short > max(2, MANY_SHORT * counts.shape[0]):
        warn_user(
            f"{source}: {short:,} of {counts.shape[0]:,} texts have fewer than two words left, too "
            "few to cluster them well. stop_words='none' or min_df=1 keeps more words."
        )
    words = counter.get_feature_names_out()
    if n_words is not None and n_words < words.size:
        kept = most_informative(counts, n_words)
        counts, words = counts[:, kept], words[kept]
    described = distinct(documents.names), words, DOCUMENT, "word", source, TEXT_WEIGHTING
    reading = {"kind": kind, "min_df": 1}  # for similar texts, which may be few
    reading |= {} if options.text is None else {"text": options.text}
    classes = chosen_columns(documents.columns, options.row_classes, counts.shape[0])
    return Data(counts, *described, texts=documents.texts, reading=reading, row_classes=classes)


def word_counter(stop_words: Any = None, **options: Any) -> Any:
    """The counter of words in texts. "Don't" is one word, "we'll" is "we", a link is none."""
    from sklearn.feature_extraction.text import (  # slow to import
        ENGLISH_STOP_WORDS,
        CountVectorizer,
    )

    if stop_words == "english":
        stop_words = [*ENGLISH_STOP_WORDS, *(f"{word}n't" for word in BEFORE_NOT.split())]
    return CountVectorizer(
        preprocessor=lambda text: LINK.sub(" ", text.lower()).translate(APOSTROPHES),
        token_pattern=WORD,
        stop_words=None if stop_words == "none" else stop_words,
        **options,
    )


def _check_words(texts: Sequence[str], options: ReadOptions, source: str) -> None:
    if not any(map(str.strip, texts)):
        raise InputError("it holds no words", file=source, advice="Give text with words.")
    if options.n_words is not None and options.n_words < 1:
        raise InputError(f"n_words={options.n_words} must be 1 or more", advice="Use n_words=2000.")
    if isinstance(options.stop_words, str) and options.stop_words not in ("english", "none"):
        problem = f"There is no list of stop words {options.stop_words!r}, and no file of that name"
        advice = "Choose stop_words='english' or stop_words='none', or give a file of words."
        raise InputError(problem, advice=advice)


def words_in(path: Path, encoding: str | None) -> list[str]:
    """The words of a file, as they are found in texts."""
    find: Callable[[str], list[str]] = word_counter().build_analyzer()
    return find(decoded(path.read_bytes(), str(path), encoding))


def read_folder(folder: Path, options: ReadOptions) -> Data:
    """All texts in a folder and its subfolders, named by their paths; notes report other files."""
    options.check("texts", "a folder")
    texts, skipped, western = {}, [], []
    for path in files_in(folder):
        name = valid_name(path.relative_to(folder).as_posix())
        content = path.read_bytes()
        if not is_text(content, options.encoding):
            skipped.append(name)
            continue
        encoding = options.encoding or detect(content)
        if options.encoding is None and encoding in WESTERN:
            western.append(encoding)
        texts[name] = decoded(content, str(path), encoding)
    if not texts:
        problem = f"it contains no text{f', only {listed(skipped)}' if skipped else ''}"
        raise InputError(problem, file=folder, advice="Give a folder of plain text files (.txt).")
    if skipped:
        share = f"{len(skipped):,} of {len(skipped) + len(texts):,} files"
        verb = "is" if len(skipped) == 1 else "are"
        warn_user(f"Skipped, because {share} {verb} not text: {listed(skipped)}.")
    if western:
        share = f"{len(western):,} of {len(texts):,} files {'is' if len(western) == 1 else 'are'}"
        warn_user(western_note(share, max(WESTERN, key=western.count)))
    names, classes = list(texts), folder_classes(list(texts))
    documents = Documents(names, list(texts.values()), classes)
    data = count_words(documents, options, str(folder))
    return data if options.row_classes else replace(data, row_classes=classes)


def folder_classes(names: Sequence[str]) -> dict[str, np.ndarray]:
    """Known classes of files: their folder on the first level on which paths differ, and below."""
    folders = [name.split("/")[:-1] for name in names]
    levels = itertools.takewhile(lambda level: len(set(level)) == 1, zip(*folders, strict=False))
    shared = len(list(levels))
    classes = {
        title: as_objects((folder[shared + depth :] or [""])[0] for folder in folders)
        for depth, title in enumerate(("folder", "subfolder"))
    }
    return {title: values for title, values in classes.items() if len(set(values) - {""}) > 1}
