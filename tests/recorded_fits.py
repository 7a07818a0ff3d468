"""Twenty recorded fits: `python tests/recorded_fits.py` prints a digest of the labels and the cost.

The data do not come from a random generator of NumPy, whose numbers may change with its versions.
"""

import argparse
import json
from collections.abc import Callable
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple
from unittest import mock

import numpy as np
import scipy.sparse as sp

import comarkov
from comarkov.joint import parts

FILE = Path(__file__).with_suffix(".json")
DIGITS = 12  # of a cost in bits, after the point


class Case(NamedTuple):
    """A fit of some data; small ones can run without compiled code."""

    data: Callable
    fit: Callable
    small: bool = False


def uniform(shape, seed):
    """Numbers in [0, 1) from SHA-256: the same for all versions of everything."""
    size = 4 * int(np.prod(shape))
    words = b"".join(sha256(f"{seed} {i}".encode()).digest() for i in range(-(-size // 32)))
    return np.frombuffer(words[:size], "<u4").reshape(shape) / 2**32


@cache
def women():
    return comarkov.datasets.load("southern-women").matrix


@cache
def counts(shape=(200, 150), k=5, l=4, noise=2, seed=1):
    """Sparse counts in k x l blocks; the rate of a block is in quarters, so that sums are exact."""
    rates = np.floor(uniform((k, l), seed) ** 4 * 16) / 4
    rows, columns = np.arange(shape[0]) % k, np.arange(shape[1]) * l // shape[1]
    drawn = uniform(shape, seed + 1) * (rates[rows][:, columns] + noise)
    return sp.csr_array(np.maximum(np.floor(drawn * 2) - noise, 0))


@cache
def many_counts():
    """Enough for the kernels of integers."""
    return counts((400, 300), 6, 5, seed=3)


@cache
def weights():
    return sp.csr_array(counts().toarray() * (uniform((200, 150), 7) + 0.25))


@cache
def noise():
    """Counts without clusters."""
    return np.floor(uniform((80, 60), 11) * 5)


@cache
def chain():
    """Transitions between 60 states in 4 groups."""
    near = np.equal.outer(np.arange(60) % 4, np.arange(60) % 4)
    return np.floor(uniform((60, 60), 9) * np.where(near, 12, 4))


def coclustering(n_clusters=(5, 4), **parameters):
    def fit(X, n_jobs):
        return comarkov.CoClustering(n_clusters, n_jobs=n_jobs, **parameters).fit(X)

    return fit


def in_many_parts(fit):
    """Divide small data as large ones are, so that threads share a sweep."""

    def divided(X, n_jobs):
        with mock.patch.multiple(parts, ENTRIES=6000, PER_COLUMN=1):
            return fit(X, n_jobs)

    return divided


def multiway(X, n_jobs):
    relations = {("a", "b"): X, ("b", "c"): X.T[:, :40]}
    model = comarkov.MultiwayClustering({"a": 4, "b": 3, "c": 2}, n_jobs=n_jobs, random_state=5)
    return model.fit(relations)


def markov(X, n_jobs):
    return comarkov.MarkovAggregation(4, n_jobs=n_jobs, random_state=6).fit(X)


CASES = {
    "women": Case(women, coclustering((2, 3), random_state=0), small=True),
    "women, anneal": Case(
        women, coclustering(3, beta=0.5, method="anneal", n_init=3, random_state=1), small=True
    ),
    "women, sequential": Case(
        women, coclustering((4, 2), beta=0.9, method="sequential", random_state=2), small=True
    ),
    "women, batch": Case(
        women, coclustering(2, beta=0.5, method="batch", n_init=4, random_state=3), small=True
    ),
    "counts": Case(counts, coclustering(random_state=0)),
    "counts, numbers chosen": Case(many_counts, coclustering("auto", random_state=1)),
    "counts, rows only": Case(counts, coclustering((6, None), beta=1, random_state=2)),
    "counts, many parts": Case(many_counts, in_many_parts(coclustering((7, 6), random_state=3))),
    "weights": Case(weights, coclustering(random_state=4)),
    "weights, bm25": Case(weights, coclustering((6, 5), weighting="bm25", random_state=5)),
}
ON_DISK = list(CASES)
CASES |= {
    "women, numbers chosen": Case(women, coclustering("auto", random_state=0)),
    "women, 4 x 4": Case(women, coclustering(4, beta=0.5, random_state=0)),
    "counts, β chosen": Case(counts, coclustering(beta="auto", random_state=2)),
    "counts, small β": Case(counts, coclustering(beta=0.2, random_state=2)),
    "counts, anneal": Case(counts, coclustering(method="anneal", n_init=2, random_state=2)),
    "counts, uniform": Case(counts, coclustering(weighting="uniform", random_state=0)),
    "weights, numbers chosen": Case(weights, coclustering("auto", random_state=0)),
    "noise": Case(noise, coclustering("auto", random_state=0)),
    "multiway": Case(counts, multiway),
    "chain": Case(chain, markov),
}


def record(model):
    """A short digest of all labels of a model, and its cost."""
    if hasattr(model, "row_labels_"):
        labels = [model.row_labels_, model.column_labels_]
    elif isinstance(model.labels_, dict):
        labels = [model.labels_[kind] for kind in sorted(model.labels_)]
    else:
        labels = model.labels_
    text = json.dumps([np.asarray(part).tolist() for part in labels])
    return [sha256(text.encode()).hexdigest()[:12], round(float(model.cost_), DIGITS)]


def records(names, n_jobs=1, disk=False):
    """The labels and the cost of each case, by its name."""
    with TemporaryDirectory() as folder:
        fits = {}
        for name in names:
            case = CASES[name]
            X = case.data()
            if disk:
                X = comarkov.pack(comarkov.Data(X), f"{folder}/{len(fits)}")
            fits[name] = record(case.fit(X, n_jobs))
    return fits


def main():
    """Print labels and costs as JSON, or record them."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--small", action="store_true", help="only what runs without compiling")
    parser.add_argument("--n-jobs", type=int, default=1)
    parser.add_argument("--disk", action="store_true", help="from stores on disk")
    parser.add_argument("--write", action="store_true", help="record these fits")
    options = parser.parse_args()
    names = ON_DISK if options.disk else list(CASES)
    if options.small:
        names = [name for name in names if CASES[name].small]
    fits = records(names, options.n_jobs, options.disk)
    lines = [f' "{name}": {json.dumps(fit)}' for name, fit in fits.items()]
    text = "{\n" + ",\n".join(lines) + "\n}"
    FILE.write_text(text + "\n") if options.write else print(text)


if __name__ == "__main__":
    main()
