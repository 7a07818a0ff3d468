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
from ...costs.objective import most_informative
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
    """Which parts of a message count, whether stop words do, what a word is, and which are kept."""

    headers: str
    stop_words: bool
    tokens: str = "letters"
    words: str = "the sample"  #: of which the 2,000 words are the most informative ones

    def __str__(self) -> str:
        stop = "with" if self.stop_words else "without"
        tokens = "" if self.tokens == "letters" else f"{self.tokens}, "
        return f"{PARTS[self.headers]}, {tokens}{stop} stop words, words of {self.words}"


TOKENS = {"letters": "[a-z]+", "letters and digits": "[a-z0-9]+", "between blanks": r"\S+"}
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
    return read_newsgroups(place, partial(words_of, preparation.headers, preparation.tokens))


def words_of(headers: str, tokens: str, text: str) -> str:
    """Return the words of a message, in lower case and separated by spaces."""
    head, _, body = text.partition("\n\n")
    subject = re.search(r"^Subject:(.*)$", head, re.MULTILINE)
    shown = {"all": head, "subject": subject[1] if subject else "", "none": ""}[headers]
    return " ".join(re.findall(TOKENS[tokens], f"{shown}\n{body}".lower()))


def without_stop_words(counts: Dataset) -> Dataset:
    """Return the counts of all other words."""
    names = enumerate(counts.column_names)
    return _with_words(counts, [i for i, word in names if word not in ENGLISH_STOP_WORDS])


def _with_words(counts: Dataset, kept: Sequence[int]) -> Dataset:
    names = [counts.column_names[i] for i in kept]
    return replace(counts, matrix=counts.matrix[:, kept], column_names=names)


def sample_of(preparation: Preparation, collection: str, seed: int, data: Path | None) -> Dataset:
    """Draw 500 documents of a collection, with their 2,000 words."""
    counts = documents(data, preparation._replace(words="the sample"))
    if preparation.words != "the sample":
        groups = [counts.class_names.index(name) for name in COLLECTIONS[collection]]
        is_read = np.isin(np.asarray(counts.row_classes), groups)
        is_read |= preparation.words == "all groups"
        counts = _with_words(counts, most_informative(counts.matrix[is_read], 2000).tolist())
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
        path = _anneal(sample, counts, more)
    return _accuracies(sample, path)


def _accuracies(sample: Dataset, path: Any) -> list[float]:
    return [matching_accuracy(np.asarray(sample.row_classes), step.row_labels) for step in path]


def _anneal(sample: Dataset, counts: tuple[int, int], more: dict[str, Any]) -> Any:
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


def _published(collection: str, l: int) -> np.ndarray:
    return published_curve("newsgroups", "map_mean", dataset=collection, word_clusters=l).mean


def _curve(samples: np.ndarray, collection: str, l: int) -> Curve:
    return Curve(
        panel=f"{collection}, l = {l}",
        name="",
        x=FINE_BETAS,
        ours=samples.mean(axis=0),
        error=deviation(samples) * np.sqrt(1 / len(samples) + 1 / PUBLISHED_SAMPLES),
        published=_published(collection, l),
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

# --- what would reproduce Fig. 3: one choice that the paper leaves open varied at a time ----------


class Variant(NamedTuple):
    """A preparation, and how AnnITCC starts and breaks ties."""

    preparation: Preparation = CHOSEN
    pair: bool = False  #: does it start from the best pair, or from the best rows and columns?
    ties: str = "stay"


ONE_SAMPLE = "stop words kept"
VARIANTS = {
    "the choices of Fig. 3 above": Variant(),
    "all headers": Variant(Preparation("all", stop_words=False)),
    "no headers": Variant(Preparation("none", stop_words=False)),
    ONE_SAMPLE: Variant(Preparation("subject", stop_words=True)),
    "letters and digits": Variant(Preparation("subject", False, "letters and digits")),
    "anything between blanks": Variant(Preparation("subject", False, "between blanks")),
    "words of the collection first": Variant(Preparation("subject", False, words="its groups")),
    "words of all groups first": Variant(Preparation("subject", False, words="all groups")),
    "the best pair of 25 starts": Variant(pair=True),
    "ties go to the first cluster": Variant(ties="first"),
}


def _run_variant(key: Key, options: RunOptions) -> Any:
    variant, collection, l, run = VARIANTS[str(key[0])], str(key[1]), int(key[2]), int(key[3])
    sample = sample_of(variant.preparation, collection, run, options.data)
    counts = len(sample.class_names), l
    more = {"tol": 1e-3, "random_state": run, "ties": variant.ties}
    if variant.pair:
        more |= {"n_init": STARTS, "beta_step": 0.05}
        return _accuracies(sample, solve(sample.matrix, counts, 0.0, "anneal", **more))
    return _accuracies(sample, _anneal(sample, counts, more))


def _conclude_variants(runs: Runs, options: RunOptions, n: int) -> Reproduction:
    maps = {
        key: np.array([run for k, run in runs.items() if k[:3] == key])
        for key in dict.fromkeys(key[:3] for key in runs)
    }
    return Reproduction(
        **about("preparations", n=n), tables=[_distances(maps), _single(maps), _spreads(maps)]
    )


def _distance(maps: np.ndarray, collection: str, l: int) -> Any:
    """Return the mean distance over β of MAP from the published curve."""
    return np.abs(maps - _published(collection, l)).mean(axis=-1)


def _distances(maps: dict[Key, np.ndarray]) -> ResultTable:
    rows = []
    for name in VARIANTS:
        off = [
            [_distance(maps[name, c, l].mean(axis=0), c, l) for l in (FEW, VARIED)]
            for c in COLLECTIONS
        ]
        cells = [f"{few:.3f}, {many:.3f}" for few, many in off]
        last = f"{maps[name, 'Binary', FEW][:, -1].mean():.3f}"
        rows.append([name, *cells, f"{np.mean(off):.3f}", last])
    title = f"Mean distance from the published MAP for l = {FEW} and l = {VARIED}"
    last = f"Binary, l = {FEW}: MAP at β = 0 (published {_published('Binary', FEW)[-1]:.3f})"
    return ResultTable(title, ["varied", *COLLECTIONS, "all", last], rows)


def _single(maps: dict[Key, np.ndarray]) -> ResultTable:
    off = [[_distance(maps[ONE_SAMPLE, c, l], c, l) for l in (FEW, VARIED)] for c in COLLECTIONS]
    rows = [
        [str(i), *(f"{few:.3f}, {many:.3f}" for few, many in each)]
        for i, each in enumerate(np.array(off).transpose(2, 0, 1), start=1)
    ]
    title = f"Each sample alone, {ONE_SAMPLE}: mean distance for l = {FEW} and l = {VARIED}"
    return ResultTable(title, ["sample", *COLLECTIONS], rows)


def _spreads(maps: dict[Key, np.ndarray]) -> ResultTable:
    """Compare the seven published values at β = 1 with means of 20 samples: l has no influence."""
    published = [np.std([_published(c, l)[0] for l in WORD_CLUSTERS], ddof=1) for c in COLLECTIONS]
    rows = [["published, l = 2 to 128", *(f"{spread:.4f}" for spread in published)]]
    for name in VARIANTS:
        spreads = [deviation(maps[name, c, VARIED])[0] for c in COLLECTIONS]
        shown = [f"{spread / np.sqrt(PUBLISHED_SAMPLES):.4f}" for spread in spreads]
        rows.append([f"20 samples, {name}", *shown])
    title = "Standard deviation at β = 1 of the published means, and of means of 20 samples"
    return ResultTable(title, ["", *COLLECTIONS], rows)


preparations = Experiment(
    "preparations",
    "What would reproduce Fig. 3?",
    _conclude_variants,
    _run_variant,
    lambda options, n: [*product(VARIANTS, COLLECTIONS, (FEW, VARIED), range(n))],
    runs=8,
    quick_runs=2,
    dataset="newsgroups",
    batch=4,
)
