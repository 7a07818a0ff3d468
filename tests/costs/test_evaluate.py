import itertools
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import comarkov
from comarkov import evaluate

PAIRS = st.integers(1, 25).flatmap(
    lambda n: st.tuples(
        *[st.lists(st.integers(0, 4), min_size=n, max_size=n) for _ in range(2)],
    )
)


@given(PAIRS)
def test_map_is_the_best_over_all_matchings(labels):
    classes, clusters = map(np.array, labels)
    best = max(np.mean(np.array(p)[clusters] == classes) for p in itertools.permutations(range(5)))
    assert evaluate.matching_accuracy(classes, clusters) == pytest.approx(best)


@given(PAIRS)
def test_purity_counts_the_most_frequent_class_of_each_cluster(labels):
    classes, clusters = labels
    members = {a: [c for c, b in zip(classes, clusters, strict=True) if a == b] for a in clusters}
    count = sum(max(group.count(c) for c in group) for group in members.values())
    assert evaluate.purity(classes, clusters) == pytest.approx(count / len(classes))
    table = np.array(classes)[:, None] == np.arange(5)
    assert evaluate.purity(table, clusters) == pytest.approx(count / len(classes))


def test_purity_with_several_classes_counts_an_element_for_each():
    classes = [[1, 1, 0], [1, 0, 0], [0, 0, 1], [0, 1, 1]]
    assert evaluate.purity(classes, [0, 0, 1, 1]) == 1.0
    assert evaluate.purity(classes, [0, 1, 1, 0]) == 0.75


@given(PAIRS)
def test_nmi_and_ari_follow_their_formulas(labels):
    classes, clusters = map(np.array, labels)
    table = np.array(
        [[((classes == c) & (clusters == a)).sum() for a in range(5)] for c in range(5)]
    )

    def entropy(counts):
        p = counts[counts > 0] / counts.sum()
        return -(p * np.log(p)).sum()

    def pairs(counts):
        return (counts * (counts - 1) / 2).sum()

    rows, columns = table.sum(axis=1), table.sum(axis=0)
    total = entropy(rows) + entropy(columns)
    nmi = 2 * (total - entropy(table.ravel())) / total if total > 1e-12 else 1.0
    assert evaluate.normalized_mutual_information(classes, clusters) == pytest.approx(nmi, abs=1e-9)
    expected = pairs(rows) * pairs(columns) / max(pairs(np.array([classes.size])), 1)
    most = (pairs(rows) + pairs(columns)) / 2
    ari = (pairs(table) - expected) / (most - expected) if most > expected else 1.0
    assert evaluate.adjusted_rand_index(classes, clusters) == pytest.approx(ari)


def test_elements_in_no_cluster_count_as_wrong():
    assert evaluate.matching_accuracy([0, 0, 1, 1], [0, 0, -1, -1]) == 0.5
    assert evaluate.purity([0, 0, 1, 1], [0, 0, -1, -1]) == 0.5
    assert evaluate.adjusted_rand_index([0, 0, 1, 1], [0, 0, -1, -1]) == 1  # one more cluster


def test_information_kept():
    women = comarkov.datasets.load("southern-women").matrix
    assert evaluate.information_kept(women, range(18), range(14)) == pytest.approx(1)
    assert evaluate.information_kept(women, [0] * 18, [0] * 14) == 0


@pytest.mark.parametrize("measure", [evaluate.matching_accuracy, evaluate.purity])
def test_labels_must_match_in_number(measure):
    for classes, clusters, named in (([0, 1, 0], [0], "[3, 1]"), ([], [], "labels")):
        with pytest.raises(ValueError, match=re.escape(named)):
            measure(classes, clusters)


def test_more_clusters_than_classes():
    assert evaluate.matching_accuracy(["a", "a", "b", "b"], [0, 1, 2, 2]) == 0.75
    assert evaluate.matching_accuracy([0, 0, 1, 1], ["x", "y", "z", "z"]) == 0.75
