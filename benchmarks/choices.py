"""What beta="auto" chooses, and which weighting suits text: tables of docs/benchmarks/quality.md.

β: for each data set the β chosen, and the classes found (MAP, mean of the sides
whose classes are known) at that β, at the default and at the best of the grid.

Weighting, chosen without labels: the words of a sample are split at random into two
halves, the documents are clustered by either, and the adjusted Rand index between the two
clusterings is the criterion. It compares labels only, so it has the same meaning for all
weightings, and two halves of the words share nothing but the documents. The accuracy against the
groups (MAP) is printed for information; it decides nothing. Samples are drawn as in quality.py,
with seeds that are used nowhere else.

Arguments run a part: weighting, planted, small, text.
"""

import sys
import warnings
from typing import NamedTuple

import numpy as np
from common import circumstances, documents, seconds
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from comarkov import CoClustering, datasets
from comarkov.evaluate import matching_accuracy
from comarkov.io.datasets.collections import COLLECTIONS
from comarkov.joint.weighting import SCHEMES
from comarkov.search.select.beta import DEFAULT_BETA, GRID

SEEDS = range(3)  # of planted data
SAMPLES = range(2)  # of newsgroups
REGIMES = {  # what is planted, and what is asked for if not that
    "balanced, 5 x 4": {},
    "imbalanced sizes, 5 x 4": {"skew": 1.3},
    "strong noise, 5 x 4": {"strength": 0.6, "mean": 0.2},
    "bursty counts, 5 x 4": {"burst": 0.5, "mean": 0.5},
    "12 x 2": {"shape": (12, 2), "strength": 1.2},
    "8 x 8 on the diagonal": {"diagonal": True, "shape": (8, 8)},
    "8 x 8 on the diagonal, asked for (8, 2)": {"diagonal": True, "shape": (8, 8), "ask": (8, 2)},
}
FIRST_WEIGHTING_SEED = 200
WEIGHTING_SAMPLES = 5
WORD_CLUSTERS = 20
N_WORDS = 4000
WOMEN = np.repeat([0, 1], 9)  # the two communities that most of the literature finds


class Task(NamedTuple):
    name: str
    matrix: object
    n_clusters: tuple
    truths: tuple  # classes of rows and of columns; None if unknown or not asked for
    settings: dict


def planted(
    seed, shape=(5, 4), strength=0.8, mean=0.3, skew=0.0, burst=None, diagonal=False, ask=None
):
    """Poisson counts of 300 x 200 with log-normal blocks and gamma-distributed activities."""
    rng = np.random.default_rng(seed)
    sizes = [np.arange(1, k + 1) ** -float(skew) for k in shape]
    labels = [
        rng.choice(k, n, p=size / size.sum())
        for k, n, size in zip(shape, (300, 200), sizes, strict=True)
    ]
    blocks = 1 + 3 * np.eye(*shape) if diagonal else np.exp(strength * rng.normal(size=shape))
    rate = blocks[labels[0]][:, labels[1]]
    rate = rate * rng.gamma(1.5, size=(300, 1)) * rng.gamma(1.5, size=(1, 200))
    if burst:
        rate = rate * rng.gamma(burst, size=rate.shape)
    known = tuple(
        truth if ask is None or k == asked else None
        for truth, k, asked in zip(labels, shape, ask or shape, strict=True)
    )
    return rng.poisson(rate * mean / rate.mean()), ask or shape, known


def planted_tasks():
    for name, regime in REGIMES.items():
        for seed in SEEDS:
            X, ask, known = planted(seed, **regime)
            yield Task(name, X, ask, known, {})


def small_tasks():
    women = datasets.load("southern-women").matrix
    yield Task("Southern Women, women", women, (2, 3), (WOMEN, None), {})
    pixels, digits = load_digits(return_X_y=True)
    yield Task("handwritten digits, images", pixels, (10, 10), (digits, None), {})


def text_tasks():
    for name in ("Multi5", "Multi10"):
        for clusters, weighting in ((20, "bm25"), (20, None), (3, "bm25")):
            for seed in SAMPLES:
                sample = datasets.newsgroups_sample(
                    documents(), name, n_words=4000, random_state=seed
                )
                ask = (len(sample.class_names), clusters)
                full = f"{name}, {clusters} word clusters, {weighting or 'counts'}"
                truths = (sample.row_classes, None)
                yield Task(full, sample.matrix, ask, truths, {"weighting": weighting})


def result(task, beta):
    model = CoClustering(task.n_clusters, beta=beta, random_state=0, **task.settings)
    time = seconds(lambda: model.fit(task.matrix))
    labels = (model.row_labels_, model.column_labels_)
    known = [(t, result) for t, result in zip(task.truths, labels, strict=True) if t is not None]
    return np.mean([matching_accuracy(*pair) for pair in known]), model.beta_, time


def betas(parts):
    makers = {"planted": planted_tasks, "small": small_tasks, "text": text_tasks}
    rows = {}
    for part in parts:
        for task in makers[part]():
            by_beta = {beta: result(task, beta) for beta in GRID}
            auto, beta, time = result(task, "auto")
            maps = [by_beta[beta][0] for beta in GRID]
            cost = time / by_beta[DEFAULT_BETA][2]
            row = [
                beta,
                auto,
                by_beta[DEFAULT_BETA][0],
                max(maps),
                GRID[int(np.argmax(maps))],
                cost,
            ]
            print(f"# {task.name}: {np.round(row, 3)} {np.round(maps, 3)}", flush=True)
            rows.setdefault(task.name, []).append(row)
    print("| data | β chosen | MAP there | at 0.7 | at the best β | best β | time of a fit |")
    print("|---|---|---|---|---|---|---|")
    for name, many in rows.items():
        chosen, best = (", ".join(f"{row[i]:g}" for row in many) for i in (0, 4))
        auto, default, most, cost = np.mean(many, axis=0)[[1, 2, 3, 5]]
        print(
            f"| {name} | {chosen} | {auto:.3f} | {default:.3f} | {most:.3f} | {best} "
            f"| x {cost:.1f} |",
            flush=True,
        )


# --- weighting ------------------------------------------------------------------------------------


def document_labels(X, k, weighting, seed):
    settings = {"beta": 0.75, "weighting": weighting, "random_state": seed, "n_init": 1}
    return CoClustering((k, WORD_CLUSTERS), **settings).fit(X).row_labels_


def word_halves(X, seed):
    order = np.random.default_rng(seed).permutation(X.shape[1])  # the same for all weightings
    middle = X.shape[1] // 2
    return X[:, order[:middle]], X[:, order[middle:]]


def measured(sample, weighting, seed):
    """Agreement between halves of the words on documents with mass in both, and MAP."""
    X, k = sample.matrix, len(sample.class_names)
    one, other = (document_labels(half, k, weighting, seed) for half in word_halves(X, seed))
    both = (one >= 0) & (other >= 0)
    accuracy = matching_accuracy(sample.row_classes, document_labels(X, k, weighting, seed))
    return adjusted_rand_score(one[both], other[both]), accuracy


def weightings(samples=WEIGHTING_SAMPLES):
    table = {}
    for seed in range(FIRST_WEIGHTING_SEED, FIRST_WEIGHTING_SEED + samples):
        for name in COLLECTIONS:
            sample = datasets.newsgroups_sample(
                documents(), name, n_words=N_WORDS, random_state=seed
            )
            for weighting in SCHEMES:
                row = measured(sample, weighting, seed)
                print(f"# {name} {seed} {weighting}: {np.round(row, 3)}", flush=True)
                table.setdefault((weighting, name), []).append(row)
    print_weightings(table)


def print_weightings(table):
    print("| weighting | " + " | ".join(COLLECTIONS) + " | mean | behind the best, ± s.e. | MAP |")
    print("|---" * (len(COLLECTIONS) + 4) + "|")
    scores = {
        weighting: np.array([table[weighting, name] for name in COLLECTIONS])
        for weighting in SCHEMES
    }
    agreement = {weighting: score[..., 0].ravel() for weighting, score in scores.items()}
    best = max(SCHEMES, key=lambda weighting: agreement[weighting].mean())
    for weighting in sorted(SCHEMES, key=lambda weighting: -agreement[weighting].mean()):
        cells = [f"{mean:.2f}" for mean in scores[weighting][..., 0].mean(axis=1)]
        gaps = agreement[best] - agreement[weighting]
        cells.append(f"{agreement[weighting].mean():.2f}")
        cells.append(f"{gaps.mean():.2f} ± {gaps.std(ddof=1) / np.sqrt(gaps.size):.2f}")
        cells.append("; ".join(f"{mean:.2f}" for mean in scores[weighting][..., 1].mean(axis=1)))
        print(f"| {weighting} | " + " | ".join(cells) + " |")
    print(f"\nchosen: {best}")


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # of rows and columns without mass
    threadpool_limits(1)
    print(circumstances(), flush=True)
    parts = sys.argv[1:] or ["weighting", "planted", "small", "text"]
    if "weighting" in parts:
        weightings()
    if chosen := [part for part in parts if part != "weighting"]:
        betas(chosen)
