"""Data sets for examples: one is bundled, the others are downloaded from their publishers.

>>> from comarkov import datasets
>>> datasets.load("southern-women").matrix.shape
(18, 14)
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from . import collections
from .collections import Archive, Dataset, Report, newsgroups_sample, planted

__all__ = ["CATALOGUE", "Dataset", "fetch", "find", "load", "newsgroups_sample", "planted"]


@dataclass(frozen=True)
class Entry:
    """A data set in the catalogue."""

    about: str
    licence: str
    archive: Archive | None  #: None if it is bundled
    read: Callable[..., Dataset]


CATALOGUE = {
    "southern-women": Entry(
        "18 women x 14 social events", "a table of facts", None, collections.read_southern_women
    ),
    "movielens": Entry(
        "MovieLens 100k: 943 users x 1,682 movies, ratings",
        "research use, no redistribution (grouplens.org)",
        collections.MOVIELENS,
        collections.read_movielens,
    ),
    "newsgroups": Entry(
        "20 Newsgroups by date: 18,846 documents x words, counts",
        "public messages, for research (qwone.com)",
        collections.NEWSGROUPS,
        collections.read_newsgroups,
    ),
}


def load(name: str, path: str | os.PathLike[str] | None = None) -> Dataset:
    """Read a data set: a matrix with names, and known classes of its rows or columns.

    Parameters
    ----------
    name : "southern-women", "movielens" or "newsgroups"
        The first is bundled, the others are archives that ``fetch`` downloads.
    path : path, optional
        The archive, or the folder that contains it. By default it is looked for in the folder that
        the environment variable COMARKOV_DATA names, then in the cache.

    Examples
    --------
    >>> from comarkov import datasets
    >>> datasets.load("southern-women").matrix.shape
    (18, 14)
    """
    entry = _entry(name)
    if entry.archive is None:
        return entry.read()
    place = find(name, path)
    if place is None:
        raise FileNotFoundError(missing(name, path))
    return entry.read(place)


def missing(name: str, path: str | os.PathLike[str] | None = None) -> str:
    """The error message for a data set that is not there."""
    where = f"in {path}" if path else "on this machine"
    out = f" --out {path}" if path else ""
    return f"The data set {name} is not {where}. Run: comarkov datasets fetch {name}{out}"


def find(name: str, path: str | os.PathLike[str] | None = None) -> Path | None:
    """The archive of a data set on this machine; None if there is none, or if it is bundled.

    Parameters
    ----------
    name : "southern-women", "movielens" or "newsgroups"
        The data set.
    path : path, optional
        Where to look, as for :func:`load`.

    Examples
    --------
    >>> from comarkov import datasets
    >>> datasets.find("southern-women") is None  # it is part of the package
    True
    """
    entry = _entry(name)
    return None if entry.archive is None else entry.archive.find(path)


def fetch(name: str, folder: Path | None = None, report: Report | None = None) -> Path:
    """Download the archive of a data set, verify it, and return its path.

    Parameters
    ----------
    name : "movielens" or "newsgroups"
        The data set.
    folder : Path, optional
        The folder for the archive; the cache folder by default.
    report : callable, optional
        Called with the number of bytes so far, and the total.

    Examples
    --------
    >>> from comarkov import datasets
    >>> archive = datasets.fetch("movielens")  # doctest: +SKIP
    >>> datasets.fetch("southern-women")
    Traceback (most recent call last):
        ...
    ValueError: southern-women is bundled, so there is nothing to fetch. Use it by its name.
    """
    entry = _entry(name)
    if entry.archive is None:
        raise ValueError(f"{name} is bundled, so there is nothing to fetch. Use it by its name.")
    return entry.archive.fetch(folder, report)


def _entry(name: str) -> Entry:
    if name not in CATALOGUE:
        raise ValueError(
            f"There is no data set {name!r}. Choose one of these: {', '.join(CATALOGUE)}."
        )
    return CATALOGUE[name]
