"""20 Newsgroups (Table 1, Fig. 3): are documents of one group found together?"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, lru_cache, partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from ...costs.agreement import matching_accuracy
from ...io import datasets
from ...io.datasets import Dataset
from ...io.datasets.collections import COLLECTIONS, read_newsgroups
from ..experiment import (
    Curve,
    Experiment,
    Key,
    Reproduction,
    ResultTable,
    RunOptions,
    Runs,
    Status,
    about,
    deviation,
    in_random_range,
    mean_and_error,
    published_curve,
    published_table,
    solve,
    verdicts,
    with_error,
)

WORD_CLUSTERS = (2, 4, 8, 16, 32, 64, 128)
FEW, VARIED = 2, 32  # word clusters: where β matters, and where it hardly does
STATED_SIZE = 18_800  # documents
FINE_BETAS = np.round(1 - 0.05 * np.arange(21), 2)
COARSE_BETAS = (1.0, 0.8, 0.6, 0.4, 0.2, 0.0)  # of sGITCC
PUBLISHED_SAMPLES = 20
STATED_MAP = {"Binary": 0.9, "Multi5": 0.6, "Multi10": 0.625}  # in the text
STARTS = 25

# --- how messages become words: the paper does not say, so it is a setting ---------------------


class Preparation(NamedTuple):
    """Which parts of a message count, and whether stop words do."""

    headers: str
    stop_words: bool

    def __str__(self) -> str:
        stop = "with" if self.stop_words else "without"
        return f"{PARTS[self.headers]}, {stop} stop words, words of the sample"


PARTS = {"all": "all headers and body", "subject": "subject and body", "none": "body"}
PREPARATIONS = [Preparation(headers, stop) for headers in PARTS for stop in (True, False)]
CHOSEN = Preparation("subject", stop_words=False)


@lru_cache(maxsize=6)
def documents(data: Path | None, preparation: Preparation) -> Dataset:
    """Return counts of the words of all documents, in lower case."""
    if not preparation.stop_words:
        return without_stop_words(documents(data, preparation._replace(stop_words=True)))
    place = datasets.find("newsgroups", data)
    assert place is not None
    return read_newsgroups(place, partial(words_of, preparation.headers))


def words_of(headers: str, text: str, tokens: str = "[a-z]+") -> str:
    """Return the words of a message, in lower case and separated by spaces."""
    head, _, body = text.partition("\n\n")
    subject = re.search(r"^Subject:(.*)$", head, re.MULTILINE)
    shown = {"all": head, "subject": subject[1] if subject else "", "none": ""}[headers]
    return " ".join(re.findall(tokens, f"{shown}\n{body}".lower()))


def without_stop_words(counts: Dataset) -> Dataset:
    """Return the counts of all other words."""
    names = enumerate(counts.column_names)
    return with_words(counts, [i for i, word in names if word not in ENGLISH_STOP_WORDS])


def with_words(counts: Dataset, kept: Sequence[int]) -> Dataset:
    """Return the counts of some words, by their positions."""
    names = [counts.column_names[i] for i in kept]
    return replace(counts, matrix=counts.matrix[:, kept], column_names=names)


def sample_of(preparation: Preparation, collection: str, seed: int, data: Path | None) -> Dataset:
    """Draw 500 documents of a collection, with their 2,000 words."""
    counts = documents(data, preparation)
    return datasets.newsgroups_sample(counts, collection, random_state=seed)


# --- the runs -----------------------------------------------------------------------------------


def _run(key: Key, options: RunOptions) -> Any:
    collection, l, algorithm, run = str(key[0]), int(key[1]), str(key[2]), int(key[3])
    # every number of word clusters has its own samples
    seed = WORD_CLUSTERS.index(l) + len(WORD_CLUSTERS) * run
    sample = sample_of(CHOSEN, collection, seed, options.data)
    counts = len(sample.class_names), l
    more = {"tol": 1e-3, "random_state": seed}
    if algorithm == "sGITCC":
        path = [solve(sample.matrix, counts, b, "sequential", **more)[0] for b in COARSE_BETAS]
    else:
        path = anneal_from_best_sides(sample, counts, more)
    return accuracies(sample, path)


def accuracies(sample: Dataset, path: Any) -> list[float]:
    """Return the MAP of documents at each step."""
    return [matching_accuracy(np.asarray(sample.row_classes), step.row_labels) for step in path]


def anneal_from_best_sides(sample: Dataset, counts: tuple[int, int], more: dict[str, Any]) -> Any:
    """Return the path of AnnITCC from the best of 25 runs of sIB on each side."""
    sides = [(counts[0], None), (None, counts[1])]
    rows, columns = (
        solve(sample.matrix, side, 1.0, "sequential", n_init=STARTS, **more)[0] for side in sides
    )
    init = rows.row_labels, columns.column_labels
    return solve(sample.matrix, counts, 0.0, "anneal", init=init, beta_step=0.05, **more)


# --- what follows from them ---------------------------------------------------------------------


def _conclude(runs: Runs, options: RunOptions, n: int) -> Reproduction:
    def maps(collection: str, l: int, algorithm: str = "AnnITCC") -> np.ndarray:
        """Return the MAP of every sample at every β."""
        case = (collection, l, algorithm)
        return np.array([run for key, run in runs.items() if key[:3] == case], dtype=float)

    samples = {case: maps(*case) for case in product(COLLECTIONS, WORD_CLUSTERS)}
    sequential = {name: maps(name, VARIED, "sGITCC") for name in COLLECTIONS}
    findings = _findings(samples) | _sequential_findings(samples, sequential)
    every = documents(options.data, CHOSEN._replace(stop_words=True)).matrix.shape
    findings |= {
        "documents": (abs(every[0] - STATED_SIZE) < 50, f"{every[0]:,}"),
        "words": (Status.UNTESTABLE, f"depends on what a word is; {every[1]:,} of letters here"),
    }
    return Reproduction(
        **about("newsgroups", n=n, prepared=CHOSEN),
        y_label="MAP of documents",
        columns=len(WORD_CLUSTERS),
        curves=[_curve(each, *case) for case, each in samples.items()],
        claims=verdicts("newsgroups", findings),
        tables=[_collections(), _literature(samples), _sequential(sequential)],
    )


def published_map(collection: str, l: int) -> np.ndarray:
    """Return the published MAP at every β."""
    return published_curve("newsgroups", "map_mean", dataset=collection, word_clusters=l).mean


def _curve(samples: np.ndarray, collection: str, l: int) -> Curve:
    return Curve(
        panel=f"{collection}, l = {l}",
        name="",
        x=FINE_BETAS,
        ours=samples.mean(axis=0),
        error=deviation(samples) * np.sqrt(1 / len(samples) + 1 / PUBLISHED_SAMPLES),
        published=published_map(collection, l),
        runs=len(samples),
        samples=samples,
    )


def _findings(samples: dict[tuple[str, int], np.ndarray]) -> dict[str, Any]:
    def mean(every: np.ndarray, low: float, high: float) -> np.ndarray:
        """Return the mean MAP of each sample for β from ``low`` to ``high``."""
        inside = np.abs(FINE_BETAS - (low + high) / 2) <= (high - low) / 2 + 1e-9
        return np.asarray(every[:, inside].mean(axis=1))

    few = {name: samples[name, FEW] for name in COLLECTIONS}
    many = {name: samples[name, VARIED] for name in COLLECTIONS}
    sharp = {l: samples["Multi10", l] for l in (2, 4, 8)}
    between = {name: mean(every, 0.5, 0.8) - every[:, 0] for name, every in many.items()}
    levels = {
        name: np.mean([samples[name, l][:, 0] for l in WORD_CLUSTERS], axis=0) - level
        for name, level in STATED_MAP.items()
    }
    return {
        "falls": {name: mean(each, 0.75, 1) - mean(each, 0, 0.25) for name, each in few.items()},
        "sharp": {l: mean(each, 0.6, 0.6) - mean(each, 0.4, 0.4) for l, each in sharp.items()},
        "steady": {name: many[name] - many[name][:, :1] for name in ("Binary", "Multi5")},
        "higher": between["Multi10"],
        "superior": np.column_stack([*between.values()]),
        "enough": np.mean([samples[c, 128] - samples[c, VARIED] for c in COLLECTIONS], axis=(0, 2)),
        "level": {f"{name} approximately {STATED_MAP[name]:g}": levels[name] for name in levels},
    }


def _sequential_findings(
    samples: dict[tuple[str, int], np.ndarray], sequential: dict[str, np.ndarray]
) -> dict[str, Any]:
    """Is sGITCC like random clusters for small β, and like AnnITCC for large ones?"""
    good = np.isin(FINE_BETAS, COARSE_BETAS[:3])
    return {
        "random": {
            name: in_random_range(each[:, 3:].mean(axis=0).max(), *_chance(name))
            for name, each in sequential.items()
        },
        "annealed": {
            name: each[:, :3] - samples[name, VARIED][:, good] for name, each in sequential.items()
        },
    }


@cache
def _chance(collection: str) -> tuple[float, float]:
    """Return mean and standard deviation of the MAP of random document clusters."""
    rng, k = np.random.default_rng(0), len(COLLECTIONS[collection])
    truth = np.arange(500) % k
    maps = [matching_accuracy(truth, rng.integers(k, size=500)) for _ in range(500)]
    return float(np.mean(maps)), float(np.std(maps, ddof=1))


def _collections() -> ResultTable:
    rows = [
        [name, str(500 // len(groups)), ", ".join(groups)] for name, groups in COLLECTIONS.items()
    ]
    header = ["collection", "documents a group", "groups"]
    return ResultTable("The collections (Table 1)", header, rows)


def _literature(samples: dict[tuple[str, int], np.ndarray]) -> ResultTable:
    """Compare the results of earlier papers on the same collections with ours at that β."""
    rows = []
    for row in published_table("newsgroups_literature"):
        at = int(np.argmin(np.abs(FINE_BETAS - float(row["beta"]))))
        ours = [samples[row["dataset"], l][:, at].mean() for l in WORD_CLUSTERS]
        shown = f"{min(ours):.2f} to {max(ours):.2f}"
        rows.append([row["dataset"], row["source"], row["beta"], row["map"], shown])
    header = ["collection", "source", "β", "MAP there", "MAP here, for l = 2 to 128"]
    return ResultTable("Literature (other samples and preparations; not judged)", header, rows)


def _sequential(sequential: dict[str, np.ndarray]) -> ResultTable:
    rows = [
        [name, f"{_chance(name)[0]:.3f}", *map(with_error, *mean_and_error(samples))]
        for name, samples in sequential.items()
    ]
    header = ["collection", "random clusters", *(f"β = {beta:g}" for beta in COARSE_BETAS)]
    return ResultTable(f"sGITCC from one random start, l = {VARIED}: MAP", header, rows)


newsgroups = Experiment(
    "newsgroups",
    "20 Newsgroups (Table 1, Fig. 3)",
    _conclude,
    _run,
    lambda options, n: [
        *product(COLLECTIONS, WORD_CLUSTERS, ["AnnITCC"], range(n)),
        *product(COLLECTIONS, [VARIED], ["sGITCC"], range(n)),
    ],
    runs=PUBLISHED_SAMPLES,
    quick_runs=3,
    dataset="newsgroups",
)
