"""Which weighting suits text, chosen without labels: the table of docs/concepts/weighting.md.

The words of a sample are split at random into two halves, the documents are clustered by either,
and the adjusted Rand index between the two clusterings is the criterion: it compares labels only,
so it has the same meaning for all weightings, and two halves of the words share nothing but the
documents. The accuracy against the groups (MAP) is printed for information; it decides nothing.
Samples are drawn as in quality.py, with seeds that are used nowhere else. An argument is the
number of samples.
"""

import sys
import warnings

import numpy as np
from common import circumstances, data_folder, letters_of_subject_and_body
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from comarkov import CoClustering, datasets
from comarkov.evaluate import matching_accuracy
from comarkov.io.datasets.collections import COLLECTIONS, read_newsgroups
from comarkov.joint.weighting import SCHEMES

FIRST_SEED = 200
SAMPLES = 5
WORD_CLUSTERS = 20
N_WORDS = 4000


def labels(X, k, weighting, seed):
    settings = {"beta": 0.75, "weighting": weighting, "random_state": seed, "n_init": 1}
    return CoClustering((k, WORD_CLUSTERS), **settings).fit(X).row_labels_


def word_halves(X, seed):
    order = np.random.default_rng(seed).permutation(X.shape[1])  # the same for all weightings
    middle = X.shape[1] // 2
    return X[:, order[:middle]], X[:, order[middle:]]


def measured(sample, weighting, seed):
    """Agreement between halves of the words on documents with mass in both, and MAP."""
    X, k = sample.matrix, len(sample.class_names)
    one, other = (labels(half, k, weighting, seed) for half in word_halves(X, seed))
    both = (one >= 0) & (other >= 0)
    accuracy = matching_accuracy(sample.row_classes, labels(X, k, weighting, seed))
    return adjusted_rand_score(one[both], other[both]), accuracy


def main(samples):
    documents = read_newsgroups(
        datasets.find("newsgroups", data_folder()), letters_of_subject_and_body
    )
    table = {}
    for seed in range(FIRST_SEED, FIRST_SEED + samples):
        for name in COLLECTIONS:
            sample = datasets.newsgroups_sample(documents, name, n_words=N_WORDS, random_state=seed)
            for weighting in SCHEMES:
                row = measured(sample, weighting, seed)
                print(f"# {name} {seed} {weighting}: {np.round(row, 3)}", flush=True)
                table.setdefault((weighting, name), []).append(row)
    report(table)


def report(table):
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
    warnings.simplefilter("ignore")  # of documents without mass in a half
    threadpool_limits(1)
    print(circumstances(), flush=True)
    main(int(sys.argv[1]) if len(sys.argv) > 1 else SAMPLES)
