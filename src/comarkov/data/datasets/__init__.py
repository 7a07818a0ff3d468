"""Data sets to try things on: one is bundled, others are fetched from where they are published.

>>> from comarkov import datasets
>>> datasets.load("southern-women").matrix.shape
(18, 14)
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from . import archives, movielens, newsgroups, southern_women
from .archives import Archive, Report
from .dataset import Dataset
from .newsgroups import sample as newsgroups_sample
from .planted import planted

__all__ = ["CATALOGUE", "Dataset", "fetch", "find", "load", "newsgroups_sample", "planted"]


@dataclass(frozen=True)
class Entry:
    """What is known of a data set before it is loaded."""

    about: str
    licence: str
    archive: Archive | None  #: None if it is bundled
    read: Callable[..., Dataset]


CATALOGUE = {
    "southern-women": Entry(
        "18 women x 14 social events", "a table of facts", None, southern_women.read
    ),
    "movielens": Entry(
        "MovieLens 100k: 943 users x 1,682 movies, ratings",
        "research use, no redistribution (grouplens.org)",
        movielens.ARCHIVE,
        movielens.read,
    ),
    "newsgroups": Entry(
        "20 Newsgroups by date: 18,846 documents x words, counts",
        "public messages, for research (qwone.com)",
        newsgroups.ARCHIVE,
        newsgroups.read,
    ),
}


def load(name: str, path: str | os.PathLike[str] | None = None) -> Dataset:
    """Read a data set: a matrix with names, and what is known about its rows or columns.

    Parameters
    ----------
    name : "southern-women", "movielens" or "newsgroups"
        The first is bundled, the others are archives that ``fetch`` downloads.
    path : path, optional
        The archive, or a folder that holds it or that it was unpacked into. Without it the
        folder that the environment variable COMARKOV_DATA names is looked at, then the cache.
    """
    entry = _entry(name)
    if entry.archive is None:
        return entry.read()
    place = find(name, path)
    if place is None:
        raise FileNotFoundError(missing(name, path))
    return entry.read(place)


def missing(name: str, path: str | os.PathLike[str] | None = None) -> str:
    """What to tell a user who does not have a data set."""
    where = f"in {path}" if path else "on this machine"
    out = f" --out {path}" if path else ""
    return f"The data set {name} is not {where}. Run: comarkov datasets fetch {name}{out}"


def find(name: str, path: str | os.PathLike[str] | None = None) -> Path | None:
    """Where the archive of a data set is on this machine; None if it is not, or is bundled."""
    entry = _entry(name)
    return None if entry.archive is None else archives.find(entry.archive, path)


def fetch(name: str, folder: Path | None = None, report: Report | None = None) -> Path:
    """Download the archive of a data set, verify it, and say where it is.

    Parameters
    ----------
    name : "movielens" or "newsgroups"
        A download that was cut off goes on where it stopped.
    folder : Path, optional
        Where to; the cache folder if not given.
    report : callable, optional
        Called with the bytes that have arrived and the bytes in all.
    """
    entry = _entry(name)
    if entry.archive is None:
        raise ValueError(f"{name} is bundled: there is nothing to fetch.")
    return archives.fetch(entry.archive, folder, report)


def _entry(name: str) -> Entry:
    if name not in CATALOGUE:
        raise ValueError(f"There is no data set {name!r}: there are {', '.join(CATALOGUE)}.")
    return CATALOGUE[name]
