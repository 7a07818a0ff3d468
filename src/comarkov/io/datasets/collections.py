"""Data sets and their archives: Southern Women, MovieLens 100k, 20 Newsgroups, planted clusters."""

from __future__ import annotations

import hashlib
import http.client
import os
import re
import sys
import tarfile
import urllib.error
import urllib.request
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from ...costs.objective import most_informative
from ...joint.messages import InputError
from ..files import whole_file

DOWNLOAD_CHUNK = 1 << 18  # bytes
BAD_ARCHIVE = (  # RuntimeError if it is encrypted, the last three if it holds something else
    *(tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError),
    *(KeyError, ValueError, IndexError),
)
NO_DOWNLOAD = (  # ValueError of addresses to which a server leads
    *(ConnectionError, TimeoutError, urllib.error.URLError, http.client.HTTPException, ValueError),
)
Report = Callable[[int, int], None]  # bytes so far, bytes in all


@dataclass(frozen=True)
class Archive:
    """A published file: its name and addresses, and the size and checksum that verify it."""

    file: str
    urls: tuple[str, ...]
    size: int
    sha256: str

    def find(self, path: str | os.PathLike[str] | None = None) -> Path | None:
        """The archive at ``path``, which is a file or its folder; None if it is not there.

        By default it is searched for in $COMARKOV_DATA, then in the cache folder.
        """
        if path is not None and Path(path).is_file():
            return Path(path)
        folders = [os.environ.get("COMARKOV_DATA"), cache_folder()] if path is None else [path]
        files = (Path(folder) / self.file for folder in folders if folder)
        return next(filter(Path.is_file, files), None)

    def fetch(self, folder: Path | None = None, report: Report | None = None) -> Path:
        """Download into a folder (the cache folder), verify the checksum, and return the path."""
        place = (cache_folder() if folder is None else folder) / self.file
        if place.is_file() and self._is_whole(place):
            return place
        place.parent.mkdir(parents=True, exist_ok=True)
        problems = []
        for url in self.urls:
            try:
                with whole_file(place) as draft:
                    self._download(url, draft, report or (lambda done, total: None))
            except NO_DOWNLOAD as error:
                problems.append(f"{url}: {error}")
            else:
                return place
        raise ConnectionError(
            f"{self.file} could not be downloaded ({'; '.join(problems)}). Try again. Or put a "
            "copy into a folder, and set the environment variable COMARKOV_DATA to that folder."
        )

    def _download(self, url: str, draft: Path, report: Report) -> None:
        request = urllib.request.Request(url, headers={"User-Agent": "comarkov"})
        done = 0
        with urllib.request.urlopen(request, timeout=30) as answer, draft.open("wb") as file:
            while done <= self.size and (chunk := answer.read(DOWNLOAD_CHUNK)):
                file.write(chunk)
                done += len(chunk)
                report(done, self.size)
        if not self._is_whole(draft):
            raise ConnectionError(f"what came ({done:,} bytes) is not what was published")

    def _is_whole(self, path: Path) -> bool:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == self.sha256


def cache_folder() -> Path:
    """The folder for downloaded archives: where this system keeps caches."""
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
        return Path(local) / "comarkov" / "comarkov" / "Cache"
    usual = Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache")
    named = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(named) if os.path.isabs(named) else usual) / "comarkov"


@contextmanager
def errors_in_archive(path: Path) -> Iterator[None]:
    """One error about a file that is damaged, or another than what was published."""
    try:
        yield
    except BAD_ARCHIVE as error:
        problem, advice = f"it is not the data set ({error})", "Delete it, and fetch it again."
        raise InputError(problem, file=path, advice=advice) from error


def read_members(path: Path) -> Iterator[tuple[PurePosixPath, bytes]]:
    """Names and contents of the files in an archive; nothing is written, so names do no harm."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                yield PurePosixPath(name), archive.read(name)
        return
    with tarfile.open(path, "r:gz") as tar:
        for member in tar:
            if member.isreg() and (file := tar.extractfile(member)) is not None:
                yield PurePosixPath(member.name), file.read()


@dataclass(frozen=True, eq=False)
class Dataset:
    """A matrix with names, and known classes of its rows or columns.

    Classes are positions in ``class_names``, one for each element. Where an element can have
    several classes, they are a table elements x classes of bool.

    Examples
    --------
    >>> from comarkov import datasets
    >>> women = datasets.load("southern-women")
    >>> women.matrix.shape, women.row_names[0], women.column_names[0]
    ((18, 14), 'Evelyn Jefferson', 'E1')
    """

    matrix: Any  #: NumPy array or SciPy CSR array of weights
    row_names: list[str]  #: one for each row
    column_names: list[str]  #: one for each column
    row_classes: np.ndarray | None = None  #: known classes of rows
    column_classes: np.ndarray | None = None  #: known classes of columns
    class_names: tuple[str, ...] = ()  #: the names of the classes


MOVIELENS = Archive(
    file="ml-100k.zip",
    urls=("https://files.grouplens.org/datasets/movielens/ml-100k.zip",),
    size=4_924_029,
    sha256="50d2a982c66986937beb9ffb3aa76efe955bf3d5c6b761f4e3a7cd717c6a3229",
)


def read_movielens(path: Path) -> Dataset:
    """Ratings from 1 to 5 as weights; ``column_classes`` are genres, several for some movies."""
    with errors_in_archive(path):
        files = {name.name: content.decode("latin-1") for name, content in read_members(path)}
        user, movie, rating, _ = np.array(files["u.data"].split(), np.int64).reshape(-1, 4).T
        matrix = sp.coo_array((rating, (user - 1, movie - 1))).tocsr()
        movies = [line.split("|") for line in files["u.item"].splitlines() if line]
        genres = tuple(line.split("|")[0] for line in files["u.genre"].splitlines() if line)
        table = np.array([movie[-len(genres) :] for movie in movies]).astype(int).astype(bool)
        if (*matrix.shape, matrix.nnz, *table.shape) != (943, 1682, 100_000, 1682, 19):
            raise ValueError(f"{matrix.nnz:,} ratings of {matrix.shape[1]:,} movies")
    users = [f"user {number}" for number in range(1, matrix.shape[0] + 1)]
    titles = [movie[1] for movie in movies]
    return Dataset(matrix, users, titles, column_classes=table, class_names=genres)


NEWSGROUPS = Archive(
    file="20news-bydate.tar.gz",
    urls=(
        "http://qwone.com/~jason/20Newsgroups/20news-bydate.tar.gz",
        "https://ndownloader.figshare.com/files/5975967",
    ),
    size=14_464_277,
    sha256="8f1b2514ca22a5ade8fbb9cfa5727df95fa587f4c87b786e15c759fa66d95610",
)

#: The collections of Table 1.
COLLECTIONS = {
    "Binary": ("talk.politics.mideast", "talk.politics.misc"),
    "Multi5": (
        *("rec.motorcycles", "comp.graphics", "sci.space", "rec.sport.baseball"),
        "talk.politics.mideast",
    ),
    "Multi10": (
        *("comp.sys.mac.hardware", "misc.forsale", "rec.autos", "talk.politics.guns", "sci.med"),
        *("alt.atheism", "sci.crypt", "sci.space", "sci.electronics", "rec.sport.hockey"),
    ),
}


def plain_words(text: str) -> str:
    """In lower case, with letters, digits and spaces only; each number becomes 0."""
    return re.sub(r"[0-9]+", "0", re.sub(r"[^a-z0-9\s]", "", text.lower()))


def read_newsgroups(path: Path, words: Callable[[str], str] = plain_words) -> Dataset:
    """Counts of all words in all documents, which are named "group/number".

    ``words`` is applied to each document, with its headers. Spaces then separate words.
    """
    from sklearn.feature_extraction.text import CountVectorizer  # slow to import

    with errors_in_archive(path):
        files = [(name, text) for name, text in read_members(path) if len(name.parts) == 3]
        if len(files) != 18_846:
            raise ValueError(f"{len(files):,} documents instead of 18,846")
    names = ["/".join(name.parts[1:]) for name, _ in files]
    texts = [text.decode("latin-1") for _, text in files]
    counter = CountVectorizer(
        preprocessor=words, tokenizer=str.split, token_pattern=None, dtype=np.int32
    )
    matrix = sp.csr_array(counter.fit_transform(texts))
    groups, classes = np.unique([name.split("/")[0] for name in names], return_inverse=True)
    vocabulary = counter.get_feature_names_out().tolist()
    class_names = tuple(groups.tolist())
    return Dataset(matrix, names, vocabulary, row_classes=classes, class_names=class_names)


def newsgroups_sample(
    documents: Dataset,
    collection: str | Sequence[str],
    n_documents: int = 500,
    n_words: int = 2000,
    random_state: Any = None,
) -> Dataset:
    """Draw documents from some groups and keep their most informative words, as in the paper.

    1. The same number of documents is drawn from each group, without replacement.
    2. The ``n_words`` words with the highest contribution to I(D;W) are kept. Word w contributes
       Σ_d p(d,w) log [p(d,w) / p(d) p(w)]. Ties are broken in alphabetical order.

    Parameters
    ----------
    documents : Dataset
        As ``load("newsgroups")`` returns it.
    collection : "Binary", "Multi5", "Multi10" or sequence of str
        One of the paper's collections (Table 1), or names of groups.
    n_documents : int
        The number of documents, from all groups together.
    n_words : int
        The number of words.
    random_state : int, RandomState or None
        The same seed draws the same documents.

    Examples
    --------
    >>> import numpy as np
    >>> from comarkov import datasets
    >>> from scipy.sparse import csr_array
    >>> documents = datasets.Dataset(
    ...     csr_array(np.arange(24).reshape(6, 4)),
    ...     [f"text {i}" for i in range(6)],
    ...     ["ice", "sea", "snow", "sun"],
    ...     row_classes=np.array([0, 0, 0, 1, 1, 1]),
    ...     class_names=("summer", "winter"),
    ... )
    >>> drawn = datasets.newsgroups_sample(documents, ["summer", "winter"], 4, 3, random_state=0)
    >>> drawn.matrix.shape, drawn.row_classes.tolist()
    ((4, 3), [0, 0, 1, 1])
    """
    if isinstance(collection, str) and collection not in COLLECTIONS:
        known = ", ".join(COLLECTIONS)
        raise ValueError(
            f"There is no collection {collection!r}. Choose one of {known}, or give groups."
        )
    groups = COLLECTIONS[collection] if isinstance(collection, str) else tuple(collection)
    unknown = [group for group in groups if group not in documents.class_names]
    if unknown or not groups:
        raise ValueError(
            f"There are no groups {unknown}. Choose from {', '.join(documents.class_names)}."
        )
    rng = check_random_state(random_state)
    each = n_documents // len(groups)
    rows = np.concatenate([_draw(documents, group, each, rng) for group in groups])
    counts = documents.matrix[rows]
    kept = most_informative(counts, n_words)
    return Dataset(
        counts[:, kept],
        [documents.row_names[row] for row in rows],
        [documents.column_names[word] for word in kept],
        row_classes=np.repeat(np.arange(len(groups)), each),
        class_names=groups,
    )


def _draw(documents: Dataset, group: str, count: int, rng: np.random.RandomState) -> np.ndarray:
    of_group = np.flatnonzero(documents.row_classes == documents.class_names.index(group))
    if count > of_group.size:
        raise ValueError(
            f"{group} has {of_group.size} documents, but {count} are needed. Set a smaller "
            "n_documents."
        )
    return rng.choice(of_group, count, replace=False)


# Davis, Gardner & Gardner, Deep South (1941)
_ATTENDANCE = {
    "Evelyn Jefferson": (1, 2, 3, 4, 5, 6, 8, 9),
    "Laura Mandeville": (1, 2, 3, 5, 6, 7, 8),
    "Theresa Anderson": (2, 3, 4, 5, 6, 7, 8, 9),
    "Brenda Rogers": (1, 3, 4, 5, 6, 7, 8),
    "Charlotte McDowd": (3, 4, 5, 7),
    "Frances Anderson": (3, 5, 6, 8),
    "Eleanor Nye": (5, 6, 7, 8),
    "Pearl Oglethorpe": (6, 8, 9),
    "Ruth DeSand": (5, 7, 8, 9),
    "Verne Sanderson": (7, 8, 9, 12),
    "Myra Liddel": (8, 9, 10, 12),
    "Katherina Rogers": (8, 9, 10, 12, 13, 14),
    "Sylvia Avondale": (7, 8, 9, 10, 12, 13, 14),
    "Nora Fayette": (6, 7, 9, 10, 11, 12, 13, 14),
    "Helen Lloyd": (7, 8, 10, 11, 12),
    "Dorothy Murchison": (8, 9),
    "Olivia Carleton": (9, 11),
    "Flora Price": (9, 11),
}


def read_southern_women() -> Dataset:
    """18 women x 14 events, 89 attendances."""
    matrix = np.zeros((len(_ATTENDANCE), 14), dtype=np.int64)
    for row, events in enumerate(_ATTENDANCE.values()):
        matrix[row, [event - 1 for event in events]] = 1
    return Dataset(matrix, list(_ATTENDANCE), [f"E{event}" for event in range(1, 15)])


PLANTED_CANDIDATES = 200  # tables of block rates; the one with the most distinct clusters is used


def planted(
    shape: tuple[int, int] = (300, 200),
    n_clusters: tuple[int, int] = (5, 4),
    *,
    mean: float = 0.5,
    bursts: float = 0.0,
    unequal: bool | float = False,
    diagonal: float | None = None,
    degrees: float = 0.0,
    random_state: int | np.random.RandomState | None = None,
) -> Dataset:
    """Counts in blocks, with the clusters of rows and columns as classes.

    Block rates are drawn at random, and chosen so that no two clusters of a side are similar, or
    are those of ``diagonal``.

    Parameters
    ----------
    shape, n_clusters : pair of int
        How many rows and columns there are, and how many clusters of each.
    mean : float, default=0.5
        The mean count.
    bursts : float, default=0
        Overdispersion: counts have a negative binomial distribution with variance
        μ + bursts μ², where μ is the mean. 0 is Poisson.
    unequal : bool or float, default=False
        Clusters of very different sizes, drawn at random; or how many times as large each cluster
        is as the next one.
    diagonal : None or float, default=None
        How many times as large the rates on the diagonal of blocks are as all others.
    degrees : float, default=0
        The standard deviation of the logarithm of the masses of rows, and of columns.
    random_state : int, RandomState or None, default=None
        The seed.

    Examples
    --------
    >>> from comarkov import datasets
    >>> data = datasets.planted((60, 40), (3, 2), random_state=0)
    >>> data.matrix.shape, int(data.row_classes.max())
    ((60, 40), 2)
    """
    rng = np.random.default_rng(check_random_state(random_state).randint(2**31, size=4))
    rows, columns = (_labels(n, k, unequal, rng) for n, k in zip(shape, n_clusters, strict=True))
    activity, popularity = (np.exp(degrees * rng.standard_normal(n)) for n in shape)
    expected = _rates(n_clusters, diagonal, rng)[rows][:, columns] * activity[:, None] * popularity
    expected *= mean / expected.mean()
    if bursts > 0:
        expected *= rng.gamma(1 / bursts, bursts, size=shape)
    row_names, column_names = (
        [f"{what} {i}" for i in range(n)] for what, n in zip(("row", "column"), shape, strict=True)
    )
    return Dataset(sp.csr_array(rng.poisson(expected)), row_names, column_names, rows, columns)


def _labels(n: int, k: int, unequal: bool | float, rng: np.random.Generator) -> np.ndarray:
    """Clusters of n elements; each cluster has at least one."""
    if not unequal:
        return np.arange(n) % k
    if not isinstance(unequal, bool):
        ends = np.cumsum(float(unequal) ** -np.arange(k))
        places = (np.arange(n - k) + 0.5) / max(n - k, 1)
        return np.concatenate([np.arange(k), np.searchsorted(ends / ends[-1], places)])
    share = 0.4 / k + 0.6 * rng.dirichlet(np.full(k, 2.0))
    return np.concatenate([np.arange(k), rng.choice(k, n - k, p=share)])


def _rates(
    n_clusters: tuple[int, int], diagonal: float | None, rng: np.random.Generator
) -> np.ndarray:
    """The one of many random tables whose most similar rows or columns differ most."""
    if diagonal is not None:
        most, rates = max(n_clusters), np.ones(n_clusters)
        rates[tuple(np.arange(most) * k // most for k in n_clusters)] = diagonal
        return rates

    def least(table: np.ndarray) -> float:  # squared Hellinger distance between two rows
        root = np.sqrt(table / table.sum(axis=1, keepdims=True))
        distance = 1 - root @ root.T
        np.fill_diagonal(distance, np.inf)
        return float(distance.min())

    tables = rng.gamma(1.0, size=(PLANTED_CANDIDATES, *n_clusters)) + 0.05
    return max(tables, key=lambda table: min(least(table), least(table.T)))
