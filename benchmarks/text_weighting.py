"""Which weighting suits text, chosen without labels: the table of docs/data.md.

The words of a sample are split at random into two halves, the documents are clustered by either,
and the adjusted Rand index between the two clusterings is the criterion: it compares labels only,
so it has the same meaning for all weightings, and two halves of the words share nothing but the
documents. Beside it stands the agreement between two halves of the same counts (thinning). The
accuracy against the groups (MAP) is printed for information; it decides nothing. Samples are
drawn as in quality.py, with seeds that are used nowhere else.
"""

import sys
import warnings

import numpy as np
from common import data_folder, letters_of_subject_and_body
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from comarkov import CoClustering, datasets
from comarkov.datasets.newsgroups import COLLECTIONS, read
from comarkov.evaluate import matching_accuracy
from comarkov.thinning import halves
from comarkov.weighting import SCHEMES

SEEDS = range(200, 205)
SPLITS = 2
WORD_CLUSTERS = 20
N_WORDS = 4000


def labels(X, k, weighting, seed):
    settings = {"beta": 0.75, "weighting": weighting, "random_state": seed}
    return CoClustering((k, WORD_CLUSTERS), **settings).fit(X).row_labels_


def agreement(parts, k, weighting, seed):
    """Adjusted Rand index of the documents that have mass in both parts."""
    one, other = (labels(part, k, weighting, seed) for part in parts)
    both = (one >= 0) & (other >= 0)
    return adjusted_rand_score(one[both], other[both])


def word_halves(X, rng):
    order = rng.permutation(X.shape[1])
    middle = X.shape[1] // 2
    return X[:, order[:middle]], X[:, order[middle:]]


def measured(sample, weighting, seed):
    """Agreement of halves of the words, of halves of the counts, and MAP."""
    X, k = sample.matrix, len(sample.class_names)
    words, counts = [], []
    for split in range(SPLITS):
        rng = np.random.default_rng([seed, split])  # the same halves for all weightings
        words.append(agreement(word_halves(X, rng), k, weighting, seed))
        counts.append(agreement(halves(X, rng), k, weighting, seed))
    accuracy = matching_accuracy(sample.row_classes, labels(X, k, weighting, seed))
    return np.mean(words), np.mean(counts), accuracy


def main(collections):
    documents = read(datasets.find("newsgroups", data_folder()), letters_of_subject_and_body)
    table = {}
    for name in collections:
        for seed in SEEDS:
            sample = datasets.newsgroups_sample(documents, name, n_words=N_WORDS, random_state=seed)
            for weighting in SCHEMES:
                row = measured(sample, weighting, seed)
                print(f"# {name} {seed} {weighting}: {np.round(row, 3)}", flush=True)
                table.setdefault((weighting, name), []).append(row)
    print("| weighting | " + " | ".join(collections) + " | mean |")
    print("|---" * (len(collections) + 2) + "|")
    means = {}
    for weighting in SCHEMES:
        rows = [np.mean(table[weighting, name], axis=0) for name in collections]
        rows.append(np.mean(rows, axis=0))
        means[weighting] = rows[-1][0]
        cells = (f"{words:.2f}; {counts:.2f}; ({map_:.2f})" for words, counts, map_ in rows)
        print(f"| {weighting} | " + " | ".join(cells) + " |")
    print(f"\nchosen: {max(means, key=means.get)}")


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # of documents without mass in a half
    threadpool_limits(1)
    main(sys.argv[1:] or list(COLLECTIONS))
