"""20 Newsgroups, sorted by date: 18,846 documents of 20 groups, and the paper's samples of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from ..informative import most_informative
from .archives import AGAIN, Archive, members
from .dataset import Dataset

ARCHIVE = Archive(
    file="20news-bydate.tar.gz",
    urls=(
        "http://qwone.com/~jason/20Newsgroups/20news-bydate.tar.gz",
        "https://ndownloader.figshare.com/files/5975967",
    ),
    size=14_464_277,
    sha256="8f1b2514ca22a5ade8fbb9cfa5727df95fa587f4c87b786e15c759fa66d95610",
    unpacked=200_000_000,
    folders=("20news-bydate-train", "20news-bydate-test"),
)
DOCUMENTS = 18_846

#: The collections of Table 1.
COLLECTIONS = {
    "Binary": ("talk.politics.mideast", "talk.politics.misc"),
    "Multi5": (
        "rec.motorcycles",
        "comp.graphics",
        "sci.space",
        "rec.sport.baseball",
        "talk.politics.mideast",
    ),
    "Multi10": (
        "comp.sys.mac.hardware",
        "misc.forsale",
        "rec.autos",
        "talk.politics.guns",
        "sci.med",
        "alt.atheism",
        "sci.crypt",
        "sci.space",
        "sci.electronics",
        "rec.sport.hockey",
    ),
}

_NEITHER_WORD_NOR_SPACE = re.compile(r"[^a-z0-9\s]")
_NUMBER = re.compile(r"[0-9]+")


def plain_words(text: str) -> str:
    """In lower case, with letters, digits and spaces only; each number becomes 0."""
    return _NUMBER.sub("0", _NEITHER_WORD_NOR_SPACE.sub("", text.lower()))


def read(path: Path, words: Callable[[str], str] = plain_words) -> Dataset:
    """Counts of all words in all documents, which are named "group/number".

    ``words`` is applied to each document, with its headers. Spaces then separate words.
    """
    from sklearn.feature_extraction.text import CountVectorizer  # slow to import

    names, texts = read_texts(path)
    counter = CountVectorizer(
        preprocessor=words, tokenizer=str.split, token_pattern=None, dtype=np.int32
    )
    matrix = sp.csr_array(counter.fit_transform(texts))
    groups, classes = np.unique([name.split("/")[0] for name in names], return_inverse=True)
    vocabulary = counter.get_feature_names_out().tolist()
    class_names = tuple(groups.tolist())
    return Dataset(matrix, names, vocabulary, row_classes=classes, class_names=class_names)


def read_texts(path: Path) -> tuple[list[str], list[str]]:
    """Names and texts of all documents."""
    names, texts = [], []
    for name, content in members(ARCHIVE, path):
        if len(name.parts) >= 3 and name.parts[-3] in ARCHIVE.folders:
            names.append("/".join(name.parts[-2:]))
            texts.append(content.decode("latin-1"))
    if len(names) != DOCUMENTS:
        raise ValueError(
            f"{path} is not 20 Newsgroups by date: it has {len(names):,} documents, not "
            f"{DOCUMENTS:,}. {AGAIN}"
        )
    return names, texts


def sample(
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
