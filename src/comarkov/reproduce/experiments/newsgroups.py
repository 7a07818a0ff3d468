"""20 Newsgroups (Table 1, Fig. 3): are documents of one group found together?"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from ...costs.agreement import matching_accuracy
from ...io import datasets
from ...io.datasets import Dataset
from ...io.datasets.collections import COLLECTIONS, read_newsgroups
from .. import page
from ..experiment import (
    Claim,
    Curve,
    Experiment,
    Key,
    Reproduction,
    ResultTable,
    RunOptions,
    Runs,
    about,
    deviation,
    mean_and_error,
    solve,
    verdicts,
)

WORD_CLUSTERS = (2, 4, 8, 16, 32, 64, 128)
FEW, VARIED = 2, 32  # word clusters: where β matters, and where it hardly does
FINE_BETAS = np.round(1 - 0.05 * np.arange(21), 2)
COARSE_BETAS = (1.0, 0.8, 0.6, 0.4, 0.2, 0.0)  # of sGITCC
PUBLISHED_SAMPLES = 20
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


@lru_cache(maxsize=6)
def documents(data: Path | None, preparation: Preparation) -> Dataset:
    """Return counts of the words of all documents: letters only, in lower case."""
    if not preparation.stop_words:
        return without_stop_words(documents(data, preparation._replace(stop_words=True)))
    place = datasets.find("newsgroups", data)
    assert place is not None
    return read_newsgroups(place, partial(words_of, preparation.headers))


def words_of(headers: str, text: str) -> str:
    """Return the words of a message, in lower case and separated by spaces."""
    head, _, body = text.partition("\n\n")
    subject = re.search(r"^Subject:(.*)$", head, re.MULTILINE)
    shown = {"all": head, "subject": subject[1] if subject else "", "none": ""}[headers]
    return " ".join(re.findall("[a-z]+", f"{shown}\n{body}".lower()))


def without_stop_words(counts: Dataset) -> Dataset:
    """Return the counts of all other words."""
    words = counts.column_names
    kept = [i for i, word in enumerate(words) if word not in ENGLISH_STOP_WORDS]
    return replace(counts, matrix=counts.matrix[:, kept], column_names=[words[i] for i in kept])


def classes_of(counts: Dataset) -> np.ndarray:
    """Return the group of each document."""
    assert counts.row_classes is not None
    return counts.row_classes


def sample_of(preparation: Preparation, collection: str, seed: int, data: Path | None) -> Dataset:
    """Draw 500 documents of a collection, with their 2,000 words."""
    counts = documents(data, preparation)
    return datasets.newsgroups_sample(counts, collection, random_state=seed)


# --- the runs -----------------------------------------------------------------------------------


def _keys(options: RunOptions, n: int) -> list[Key]:
    """List the keys of all runs: preparation, collection, l, algorithm, number of the sample."""
    prepared = str(Preparation(options.headers, options.stop_words))
    shown = [*((l, "AnnITCC") for l in WORD_CLUSTERS), (VARIED, "sGITCC")]
    return [
        (prepared, collection, l, algorithm, run)
        for l, algorithm in shown
        for collection in COLLECTIONS
        for run in range(n)
    ]


def _run(key: Key, options: RunOptions) -> Any:
    name, collection, algorithm = str(key[0]), str(key[1]), str(key[3])
    l, run = int(key[2]), int(key[4])
    preparation = next(each for each in PREPARATIONS if str(each) == name)
    # every number of word clusters has its own samples
    seed = WORD_CLUSTERS.index(l) + len(WORD_CLUSTERS) * run
    sample = sample_of(preparation, collection, seed, options.data)
    counts = len(sample.class_names), l
    more = {"tol": 1e-3, "random_state": seed}
    if algorithm == "sGITCC":
        path = [solve(sample.matrix, counts, b, "sequential", **more)[0] for b in COARSE_BETAS]
    else:
        path = _anneal(sample, counts, more)
    return [matching_accuracy(classes_of(sample), step.row_labels) for step in path]


def _anneal(sample: Dataset, counts: tuple[int, int], more: dict[str, Any]) -> Any:
    """Return the path of AnnITCC from the best of 25 runs of sIB on each side."""
    sides = [(counts[0], None), (None, counts[1])]
    rows, columns = (
        solve(sample.matrix, side, 1.0, "sequential", n_init=STARTS, **more)[0] for side in sides
    )
    init = rows.row_labels, columns.column_labels
    return solve(sample.matrix, counts, 0.0, "anneal", init=init, beta_step=0.05, **more)


# --- what follows from them ---------------------------------------------------------------------


def _maps(runs: Runs, collection: str, l: int, algorithm: str = "AnnITCC") -> np.ndarray:
    """Return the MAP of every sample at every β."""
    case = (collection, l, algorithm)
    return np.array([run for key, run in runs.items() if key[1:4] == case], dtype=float)


def _conclude(runs: Runs, options: RunOptions, n: int) -> Reproduction:
    samples = {(name, l): _maps(runs, name, l) for name in COLLECTIONS for l in WORD_CLUSTERS}
    sequential = {name: _maps(runs, name, VARIED, "sGITCC") for name in COLLECTIONS}
    return Reproduction(
        **about("newsgroups", n=n, prepared=Preparation(options.headers, options.stop_words)),
        y_label="MAP of documents",
        columns=len(WORD_CLUSTERS),
        curves=[_curve(every, *case) for case, every in samples.items()],
        claims=_claims(samples, sequential),
        tables=[_collections(), _literature(samples), _sequential(sequential)],
    )


def _curve(samples: np.ndarray, collection: str, l: int) -> Curve:
    points = page.curve("newsgroups", "map_mean", dataset=collection, word_clusters=l)
    return Curve(
        panel=f"{collection}, l = {l}",
        name="",
        x=points.x,
        ours=samples.mean(axis=0),
        error=deviation(samples) * np.sqrt(1 / len(samples) + 1 / PUBLISHED_SAMPLES),
        published=points.mean,
        runs=len(samples),
        samples=samples,
    )


def _mean(samples: np.ndarray, low: float, high: float) -> np.ndarray:
    """Return the mean MAP of each sample for β from ``low`` to ``high``."""
    inside = np.abs(FINE_BETAS - (low + high) / 2) <= (high - low) / 2 + 1e-9
    return np.asarray(samples[:, inside].mean(axis=1))


def _claims(
    samples: dict[tuple[str, int], np.ndarray], sequential: dict[str, np.ndarray]
) -> list[Claim]:
    many = samples["Multi10", VARIED]
    sharp = {l: samples["Multi10", l] for l in (2, 4, 8)}
    good = np.isin(FINE_BETAS, COARSE_BETAS[:3])
    findings = {
        "falls": {
            name: _mean(samples[name, FEW], 0.75, 1.0) - _mean(samples[name, FEW], 0.0, 0.25)
            for name in COLLECTIONS
        },
        "sharp": {l: _mean(each, 0.6, 0.6) - _mean(each, 0.4, 0.4) for l, each in sharp.items()},
        "steady": {
            name: 0.03 - np.abs(samples[name, VARIED] - samples[name, VARIED][:, :1]).mean(axis=1)
            for name in ("Binary", "Multi5")
        },
        "higher": _mean(many, 0.5, 0.8) - many[:, 0],
        "enough": [
            0.02 - samples[name, 64].mean(axis=1) + samples[name, VARIED].mean(axis=1)
            for name in COLLECTIONS
        ],
        "random": [
            _chance(name) + 0.05 - each[:, 3:].mean(axis=1) for name, each in sequential.items()
        ],
        "annealed": [
            each[:, :3].mean(axis=1) - samples[name, VARIED][:, good].mean(axis=1)
            for name, each in sequential.items()
        ],
    }
    return verdicts("newsgroups", findings)


@cache
def _chance(collection: str) -> float:
    """Return the mean MAP of random document clusters."""
    rng, k = np.random.default_rng(0), len(COLLECTIONS[collection])
    truth = np.arange(500) % k
    return float(np.mean([matching_accuracy(truth, rng.integers(k, size=500)) for _ in range(100)]))


def _collections() -> ResultTable:
    rows = [
        [name, str(500 // len(all_of)), ", ".join(all_of)] for name, all_of in COLLECTIONS.items()
    ]
    header = ["collection", "documents a group", "groups"]
    return ResultTable("The collections (Table 1)", header, rows)


def _literature(samples: dict[tuple[str, int], np.ndarray]) -> ResultTable:
    """Compare the results of earlier papers on the same collections with ours at that β."""
    rows = []
    for row in page.table("newsgroups_literature"):
        at = int(np.argmin(np.abs(FINE_BETAS - float(row["beta"]))))
        ours = [samples[row["dataset"], l][:, at].mean() for l in WORD_CLUSTERS]
        rows.append([row["dataset"], row["source"], row["beta"], row["map"], f"{np.max(ours):.2f}"])
    header = ["collection", "source", "β", "MAP there", "MAP here, best l"]
    return ResultTable("Literature", header, rows)


def _sequential(sequential: dict[str, np.ndarray]) -> ResultTable:
    rows = []
    for name, samples in sequential.items():
        mean, error = mean_and_error(samples)
        cells = [
            f"{m:.3f} ± {e:.3f}".removesuffix(" ± nan") for m, e in zip(mean, error, strict=True)
        ]
        rows.append([name, f"{_chance(name):.3f}", *cells])
    header = ["collection", "random clusters", *(f"β = {beta:g}" for beta in COARSE_BETAS)]
    return ResultTable(f"sGITCC from one random start, l = {VARIED}: MAP", header, rows)


newsgroups = Experiment(
    "newsgroups",
    "20 Newsgroups (Table 1, Fig. 3)",
    _run,
    _conclude,
    _keys,
    runs=PUBLISHED_SAMPLES,
    quick_runs=3,
    dataset="newsgroups",
)
