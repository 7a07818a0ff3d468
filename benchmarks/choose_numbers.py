"""Which numbers of clusters "auto" chooses, and what other criteria would: docs/choosing.md.

Planted data have seeds from 100 on, samples of newsgroups 100 to 104; nothing was tuned on them.
Arguments run a part: planted, texts, whole, others; and "study" for all criteria, on one of each.
"""

import sys
import warnings
from itertools import pairwise

import numpy as np
import scipy.sparse as sp
from common import Report, data_folder, letters_of_subject_and_body, seconds
from sklearn.datasets import load_digits

from comarkov import CoClustering, Weighting, datasets
from comarkov.costs.description import Evidence
from comarkov.data.datasets.newsgroups import COLLECTIONS, read
from comarkov.data.informative import most_informative
from comarkov.data.joint import joint
from comarkov.data.thinning import halves
from comarkov.search.choose_numbers import HALVINGS, NEAR, _goal, _similarity, agreement, select
from comarkov.search.number_walk import evidence_of, settle, walk
from comarkov.search.run import Run
from comarkov.search.streams import Purpose, Seed

KINDS = [  # clusters, shape, mean count, bursts, unequal sizes, degrees
    ((2, 2), (200, 150), 0.5, 0, False, 0.0),
    ((2, 2), (300, 200), 0.5, 1, True, 0.5),
    ((2, 5), (300, 250), 0.5, 0.5, False, 0.5),
    ((3, 3), (300, 300), 0.3, 1, True, 0.5),
    ((5, 4), (400, 300), 0.3, 0, False, 0.0),
    ((5, 4), (400, 300), 0.3, 1, True, 0.7),
    ((4, 12), (600, 500), 0.5, 1, True, 0.5),
    ((8, 8), (500, 500), 0.2, 0, True, 0.7),
    ((8, 8), (600, 500), 0.3, 2, True, 0.7),
    ((10, 10), (800, 600), 0.2, 1, False, 0.7),
    ((10, 4), (800, 600), 0.5, 1, True, 0.5),
    ((7, 20), (800, 800), 0.4, 1, True, 0.5),
    ((15, 15), (1000, 800), 0.2, 2, True, 0.5),
    ((20, 10), (1000, 800), 0.3, 1, True, 0.5),
    ((30, 8), (1500, 900), 0.4, 1, True, 0.5),
    ((8, 30), (800, 1500), 0.4, 1, True, 0.5),
    ((20, 20), (1500, 1000), 0.2, 1, True, 0.7),
    ((30, 30), (2000, 1500), 0.1, 1, False, 0.5),
    ((30, 30), (2000, 1500), 0.2, 2, True, 0.5),
    ((3, 9), (500, 600), 0.5, 2, True, 0.7),
]


def planted_data(kind, seed):
    clusters, shape, mean, bursts, unequal, degrees = KINDS[kind]
    kinds = {"mean": mean, "bursts": bursts, "unequal": unequal, "degrees": degrees}
    return datasets.planted(shape, clusters, random_state=seed, **kinds).matrix


def chosen(X):
    return select(joint(X), ("auto", "auto"), Run(0.75, Seed((0,))))


# --- figures beside targets ---------------------------------------------------------------------


def planted(report: Report, repeats: int = 3) -> None:
    report.title(f"Planted data, {len(KINDS)} kinds, {repeats} of each: within 1 of both numbers")
    hits = []
    for kind, (truth, *_) in enumerate(KINDS):
        found = [chosen(planted_data(kind, 100 + i)).numbers for i in range(repeats)]
        hits += [np.abs(np.subtract(numbers, truth)).max() <= 1 for numbers in found]
        report.fact(f"{truth}", ", ".join(f"{k} x {m}" for k, m in found))
    report.figure("share", float(np.mean(hits)), ">=", 0.9, "")


def texts(report: Report, documents, seeds=range(100, 105)) -> None:
    report.title("Samples of 500 documents, BM25: within a factor 1.5 of the number of classes")
    for name in COLLECTIONS:
        found, times = [], []
        for seed in seeds:
            sample = datasets.newsgroups_sample(documents, name, n_words=4000, random_state=seed)
            model = CoClustering("auto", beta=0.75, weighting="bm25", random_state=seed)
            times.append(seconds(lambda model=model, X=sample.matrix: model.fit(X)))
            found.append(model.row_labels_.max() + 1)
        classes = len(COLLECTIONS[name])
        near = [max(k / classes, classes / k) <= 1.5 for k in found]
        report.fact(f"{name}: {classes} classes", ", ".join(map(str, found)))
        report.figure(f"{name}: share within a factor 1.5", float(np.mean(near)), ">=", 0.9, "")
        report.fact(f"{name}: seconds", f"{np.median(times):.1f}")


def whole(report: Report, documents) -> None:
    report.title("All of 20 Newsgroups, 20,000 words, BM25")
    X = documents.matrix[:, most_informative(documents.matrix, 20_000)]
    found = chosen(Weighting("bm25").fit_transform(X))
    factor = max(found.numbers[0] / 20, 20 / found.numbers[0])
    report.fact("chosen", f"{found.numbers}")
    report.figure("factor off 20 classes", factor, "<=", 1.5)


def others(report: Report) -> None:
    report.title("Data without agreed numbers")
    for name, X in other_data().items():
        found = chosen(X)
        rule = found.table["rule"][found.table["suggested"]][0]
        report.fact(name, f"{found.numbers}, by {rule}")


def other_data():
    return {
        "digits (10 classes)": load_digits().data,
        "Southern Women ((2, 3) in the literature)": datasets.load("southern-women").matrix,
        "MovieLens (19 genres)": datasets.load("movielens", data_folder()).matrix,
    }


# --- all criteria -------------------------------------------------------------------------------


def study(documents) -> None:
    """A Markdown table of what each criterion chooses."""
    data = {f"planted {KINDS[kind][0]}": planted_data(kind, 100) for kind in (1, 5, 6, 8, 13, 16)}
    for name in COLLECTIONS:
        sample = datasets.newsgroups_sample(documents, name, n_words=4000, random_state=100)
        classes = len(COLLECTIONS[name])
        data[f"{name} ({classes})"] = Weighting("bm25").fit_transform(sample.matrix)
    data |= other_data()
    names = ["plain", "dispersion", "settled", "shuffles", "thinning", "halves", "auto"]
    print("| data |", " | ".join(names), "|\n|---|" + "---|" * len(names), flush=True)
    for name, X in data.items():
        print("|", name, "|", " | ".join(_criteria(sp.csr_array(X))), "|", flush=True)


def _criteria(X):
    data = joint(X)
    way = _walked(data)
    evidence = evidence_of(way[0])
    plain = Evidence(evidence.rows, evidence.columns, _effective(data.matrix.weights))
    short = [
        min(way, key=lambda state, e=e: e.description_length(*state.all_labels()))
        for e in (plain, evidence)
    ]
    run = Run(0.75, Seed((0,)), rng=np.random.default_rng(0))
    settled = settle(short[1].copy(), (False, False), evidence, run)
    pairs = [_both(state) for state in (*short, settled)]
    pairs.append(_by_shuffles(data, way))
    pairs.append(tuple(_near_best(_by_thinning(X, side)) for side in (0, 1)))
    for side, view in enumerate((data, data.T)):
        halvings = [run.drawing(Purpose.HALVES, side, i) for i in range(HALVINGS)]
        pairs.append(_near_best(agreement(view, halvings)))
    pairs[-2:] = [tuple(pairs[-2:])]
    return [f"{k} x {m}" for k, m in [*pairs, chosen(X).numbers]]


def _walked(data, seed=0):
    goal = _goal(data.row_mass, "auto"), _goal(data.column_mass, "auto")
    run = Run(0.75, Seed((seed,)), rng=np.random.default_rng(seed))
    return [state.copy() for state in walk(data, goal, run)]


def _both(state):
    return state.rows.k, state.columns.k


def _effective(weights):
    """Counts as they are; other weights so that they sum to their effective number."""
    if np.issubdtype(weights.dtype, np.integer):
        return weights
    return weights * (weights.sum() / (weights**2).sum())


def _near_best(agreements):
    several = {k: value for k, value in agreements.items() if k > 1}
    return max(k for k, value in several.items() if value >= NEAR * max(several.values()))


def _by_thinning(X, side):
    """How well two thinned halves of the counts agree on rows, or on columns."""
    found = {}
    for repeat in range(HALVINGS):
        both = [_walked(joint(half)) for half in halves(X, np.random.default_rng(repeat))]
        by_k = [
            {_both(state)[side]: state.labels()[side] for state in reversed(way)} for way in both
        ]
        for k in by_k[0].keys() & by_k[1].keys():
            found.setdefault(k, []).append(_similarity(by_k[0][k], by_k[1][k]))
    return {k: np.mean(values) for k, values in found.items()}


def _by_shuffles(data, way):
    """The most clusters whose merge loses more than it does in shuffled data."""
    rng = np.random.default_rng(0)
    csr = data.csr.tocoo()
    noise = []
    for _ in range(2):
        places = csr.coords[0], rng.permutation(csr.coords[1])
        noise.append(_losses(_walked(joint(sp.csr_array((csr.data, places), csr.shape)))))
    real, result = _losses(way), []
    for side in (0, 1):
        above = [
            k
            for k, loss in real[side].items()
            if loss > max(losses[side].get(k, np.inf) for losses in noise)
        ]
        result.append(max(above, default=1))
    return tuple(result)


def _losses(way):
    """For each side, what the merge that leaves one cluster less loses."""
    losses = [{}, {}]
    for before, after in pairwise(way):
        side = int(before.rows.k == after.rows.k)
        losses[side].setdefault(_both(before)[side], after.cost(0.9) - before.cost(0.9))
    return losses


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    report = Report()
    wanted = sys.argv[1:] or ["planted", "texts", "whole", "others"]
    if "planted" in wanted:
        planted(report)
    if "others" in wanted:
        others(report)
    if {"texts", "whole", "study"} & set(wanted):
        archive = datasets.find("newsgroups", data_folder())
        documents = read(archive, letters_of_subject_and_body)
        if "texts" in wanted:
            texts(report, documents)
        if "whole" in wanted:
            whole(report, documents)
        if "study" in wanted:
            study(documents)
    print(f"\n{report.missed} targets missed")
    sys.exit(report.missed > 0)
