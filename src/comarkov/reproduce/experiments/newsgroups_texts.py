"""How messages of 20 Newsgroups become words: the paper does not say, so it is a setting."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from ...io import datasets
from ...io.datasets import Dataset
from ...io.datasets.collections import read_newsgroups


class Preparation(NamedTuple):
    """Which parts of a message count, and whether stop words do."""

    headers: str
    stop_words: bool

    def __str__(self) -> str:
        return f"{PARTS[self.headers]}, {'with' if self.stop_words else 'without'} stop words"


def _all(text: str) -> str:
    return text


def _subject_and_body(text: str) -> str:
    head, _, body = text.partition("\n\n")
    subject = re.search(r"^Subject:(.*)$", head, re.MULTILINE)
    return f"{subject[1] if subject else ''}\n{body}"


def _body(text: str) -> str:
    return text.partition("\n\n")[2]


PARTS = {"all": "all headers and body", "subject": "subject and body", "none": "body"}
TEXTS: dict[str, Callable[[str], str]] = {
    "all": _all,
    "subject": _subject_and_body,
    "none": _body,
}
PREPARATIONS = [Preparation(headers, stop) for headers in PARTS for stop in (True, False)]


@lru_cache(maxsize=4)
def documents(data: Path | None, preparation: Preparation) -> Dataset:
    """Return counts of the words of all documents: letters only, in lower case."""
    if not preparation.stop_words:
        return _without_stop_words(documents(data, preparation._replace(stop_words=True)))
    place = datasets.find("newsgroups", data)
    assert place is not None
    part = TEXTS[preparation.headers]
    return read_newsgroups(place, lambda text: " ".join(re.findall("[a-z]+", part(text).lower())))


def _without_stop_words(counts: Dataset) -> Dataset:
    kept = [i for i, word in enumerate(counts.column_names) if word not in ENGLISH_STOP_WORDS]
    names = [counts.column_names[i] for i in kept]
    return replace(counts, matrix=counts.matrix[:, kept], column_names=names)
