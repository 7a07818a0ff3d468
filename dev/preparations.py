"""What would reproduce Fig. 3 of the paper? Vary one choice that it leaves open at a time.

`python dev/preparations.py` prints the tables in docs/reproduction/index.md, in ten minutes on two
cores. The 20 Newsgroups are in COMARKOV_DATA or the cache folder. Distances are means over β,
between the mean of the samples and the published curve.
"""

import os
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache, partial
from itertools import product
from typing import NamedTuple

import numpy as np

from comarkov.costs.objective import most_informative
from comarkov.io import datasets
from comarkov.io.datasets.collections import COLLECTIONS, read_newsgroups
from comarkov.reproduce.experiment import deviation, solve
from comarkov.reproduce.experiments.newsgroups import (
    CHOSEN,
    FEW,
    PUBLISHED_SAMPLES,
    STARTS,
    VARIED,
    WORD_CLUSTERS,
    Preparation,
    accuracies,
    anneal_from_best_sides,
    published_map,
    with_words,
    without_stop_words,
    words_of,
)

SAMPLES = int(sys.argv[1]) if len(sys.argv) > 1 else 8
KEPT = "stop words kept"


class Variant(NamedTuple):
    """Choices that the paper leaves open."""

    preparation: Preparation = CHOSEN
    tokens: str = "[a-z]+"
    words: str = "the sample"  #: of which the 2,000 words are the most informative ones
    pair: bool = False  #: does AnnITCC start from the best pair, or from the best of each side?
    ties: str = "stay"


VARIANTS = {
    "the choices of Fig. 3 above": Variant(),
    "all headers": Variant(Preparation("all", stop_words=False)),
    "no headers": Variant(Preparation("none", stop_words=False)),
    KEPT: Variant(Preparation("subject", stop_words=True)),
    "letters and digits": Variant(tokens="[a-z0-9]+"),
    "anything between blanks": Variant(tokens=r"\S+"),
    "words of the collection first": Variant(words="its groups"),
    "words of all groups first": Variant(words="all groups"),
    "the best pair of 25 starts": Variant(pair=True),
    "ties go to the first cluster": Variant(ties="first"),
}


@lru_cache(maxsize=2)
def documents(preparation, tokens):
    """Counts of the words of all documents."""
    words = partial(words_of, preparation.headers, tokens=tokens)
    counts = read_newsgroups(datasets.find("newsgroups"), words)
    return counts if preparation.stop_words else without_stop_words(counts)


def run(key):
    """The MAP at every β of one sample of a collection."""
    name, collection, word_clusters, number = key
    variant = VARIANTS[name]
    counts = documents(variant.preparation, variant.tokens)
    if variant.words != "the sample":
        groups = [counts.class_names.index(group) for group in COLLECTIONS[collection]]
        is_read = np.isin(np.asarray(counts.row_classes), groups) | (variant.words == "all groups")
        counts = with_words(counts, most_informative(counts.matrix[is_read], 2000).tolist())
    sample = datasets.newsgroups_sample(counts, collection, random_state=number)
    numbers = len(sample.class_names), word_clusters
    more = {"tol": 1e-3, "random_state": number, "ties": variant.ties}
    if variant.pair:
        more |= {"n_init": STARTS, "beta_step": 0.05}
        return accuracies(sample, solve(sample.matrix, numbers, 0.0, "anneal", **more))
    return accuracies(sample, anneal_from_best_sides(sample, numbers, more))


def print_table(title, header, rows):
    """Print a table of Markdown."""
    print(f"\n{title}:\n\n| {' | '.join(header)} |\n|{'---|' * len(header)}")
    for row in rows:
        print(f"| {' | '.join(row)} |")


def main():
    """Make all runs and print what they show."""
    keys = [*product(VARIANTS, COLLECTIONS, (FEW, VARIED), range(SAMPLES))]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        runs = dict(zip(keys, pool.map(run, keys, chunksize=SAMPLES), strict=True))
    maps = {k[:3]: np.array([runs[*k[:3], i] for i in range(SAMPLES)]) for k in keys}

    def off(values, collection, word_clusters):
        return np.abs(values - published_map(collection, word_clusters)).mean(axis=-1)

    rows = []
    for name in VARIANTS:
        each = [
            [off(maps[name, c, n].mean(axis=0), c, n) for n in (FEW, VARIED)] for c in COLLECTIONS
        ]
        cells = [f"{few:.3f}, {many:.3f}" for few, many in each]
        last = maps[name, "Binary", FEW][:, -1].mean()
        rows.append([name, *cells, f"{np.mean(each):.3f}", f"{last:.3f}"])
    last = f"Binary, l = {FEW}: MAP at β = 0 (published {published_map('Binary', FEW)[-1]:.3f})"
    title = f"Mean distance from the published MAP for l = {FEW} and l = {VARIED}"
    print_table(title, ["varied", *COLLECTIONS, "all", last], rows)
    alone = [[off(maps[KEPT, c, n], c, n) for n in (FEW, VARIED)] for c in COLLECTIONS]
    rows = [
        [str(i), *(f"{few:.3f}, {many:.3f}" for few, many in each)]
        for i, each in enumerate(np.array(alone).transpose(2, 0, 1), start=1)
    ]
    title = f"Each sample alone, {KEPT}: mean distance for l = {FEW} and l = {VARIED}"
    print_table(title, ["sample", *COLLECTIONS], rows)
    published = [
        np.std([published_map(c, n)[0] for n in WORD_CLUSTERS], ddof=1) for c in COLLECTIONS
    ]
    rows = [["published, l = 2 to 128", *(f"{spread:.4f}" for spread in published)]]
    for name in VARIANTS:
        spreads = [deviation(maps[name, c, VARIED])[0] for c in COLLECTIONS]
        shown = [f"{spread / np.sqrt(PUBLISHED_SAMPLES):.4f}" for spread in spreads]
        rows.append([f"20 samples, {name}", *shown])
    title = "Standard deviation at β = 1 of the published means, and of means of 20 samples"
    print_table(title, ["", *COLLECTIONS], rows)


if __name__ == "__main__":
    main()
