import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score

from comarkov import evaluate
from comarkov.costs.labels import partition_agreement as agreement

PAIRS = st.integers(1, 25).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(0, 4), min_size=n, max_size=n) for _ in range(2)])
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


LABELS = st.lists(st.tuples(st.integers(-1, 4), st.integers(-1, 5)), min_size=1, max_size=40)


@given(LABELS)
def test_agreement_is_the_mean_of_both_measures(pairs):
    a, b = np.array(pairs).T
    both = (a >= 0) & (b >= 0)
    if not both.any():
        assert agreement(a, b) == 0
        return
    rand = adjusted_rand_score(a[both], b[both])
    information = adjusted_mutual_info_score(a[both], b[both])
    if rand == 1:  # scikit-learn before 1.7 returns 0 if all clusters are single elements
        information = 1.0
    expected = rand + information
    assert agreement(a, b) == pytest.approx(expected / 2, abs=1e-9)
