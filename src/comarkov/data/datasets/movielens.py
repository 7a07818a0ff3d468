"""MovieLens 100k: 943 users x 1,682 movies, 100,000 ratings, 19 genres."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import scipy.sparse as sp

from .archives import AGAIN, Archive, members
from .dataset import Dataset

ARCHIVE = Archive(
    file="ml-100k.zip",
    urls=("https://files.grouplens.org/datasets/movielens/ml-100k.zip",),
    size=4_924_029,
    sha256="50d2a982c66986937beb9ffb3aa76efe955bf3d5c6b761f4e3a7cd717c6a3229",
    unpacked=50_000_000,
    folders=("ml-100k",),
)
SHAPE = (943, 1682)


def read(path: Path) -> Dataset:
    """Ratings from 1 to 5 as weights; ``column_classes`` are genres, several for some movies."""
    wanted = {"u.data", "u.item", "u.genre"}
    files = {
        name.name: content.decode("latin-1")
        for name, content in members(ARCHIVE, path)
        if name.name in wanted
    }
    if files.keys() != wanted:
        missing = ", ".join(sorted(wanted - files.keys()))
        raise ValueError(f"{path} is not MovieLens 100k: {missing} is missing. {AGAIN}")
    try:
        matrix = _ratings(files["u.data"])
        movies = [line.split("|") for line in files["u.item"].splitlines() if line]
        genres = tuple(line.split("|")[0] for line in files["u.genre"].splitlines() if line)
        table = np.array([movie[-len(genres) :] for movie in movies]).astype(int).astype(bool)
    except (ValueError, IndexError) as error:
        raise ValueError(f"{path} is not MovieLens 100k: {error}. {AGAIN}") from error
    if (*matrix.shape, matrix.nnz, *table.shape) != (*SHAPE, 100_000, SHAPE[1], 19):
        raise ValueError(
            f"{path} is not MovieLens 100k: it has {matrix.nnz:,} ratings of {matrix.shape[0]} "
            f"users and {matrix.shape[1]} movies, and {table.shape[1]} genres. {AGAIN}"
        )
    users = [f"user {number}" for number in range(1, SHAPE[0] + 1)]
    titles = [movie[1] for movie in movies]
    return Dataset(matrix, users, titles, column_classes=table, class_names=genres)


def _ratings(text: str) -> sp.csr_array:
    user, movie, rating, _ = np.array(text.split(), dtype=np.int64).reshape(-1, 4).T
    return sp.coo_array((rating, (user - 1, movie - 1))).tocsr()
