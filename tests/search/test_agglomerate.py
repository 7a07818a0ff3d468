"""Agglomeration merges what a plain version merges, and loses what the cost says."""

import itertools
from contextlib import contextmanager

import numpy as np
import pytest
from helpers import problems, refused, weights
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster.hierarchy import fcluster, is_valid_linkage

import comarkov
from comarkov import AIB, IBCC, IDC, IBDouble
from comarkov.joint.joint import joint
from comarkov.search.optimise import agglomeration as module
from comarkov.search.optimise.agglomeration import agglomerate


def xlogx(v):
    return np.where(v > 0, v * np.log(np.where(v > 0, v, 1.0)), 0.0)


def loss(masses):
    """Σ f(masses of clusters by item) - Σ f(mass of clusters): less of it is information lost."""
    return xlogx(masses).sum() - xlogx(masses.sum(axis=1)).sum()


def plain_aib(W):
    """All pairs costed afresh at each merge; the first pair that costs least within rounding."""
    clusters = {x: row.astype(float) for x, row in enumerate(W[W.sum(axis=1) > 0])}
    node = {x: x for x in clusters}
    merges = []
    for new in itertools.count(len(clusters)):
        costs = {
            (i, j): loss(np.array([clusters[i], clusters[j]]))
            - loss((clusters[i] + clusters[j])[None])
            for i, j in itertools.combinations(clusters, 2)
        }
        if not costs:
            return merges
        cheapest = min(costs, key=costs.get)
        limit = costs[cheapest] + 1e-10 * sum(clusters[i].sum() for i in cheapest)
        i, j = next(pair for pair in costs if costs[pair] <= limit)
        merges.append((*sorted((node[i], node[j])), costs[i, j] / W.sum() / np.log(2)))
        clusters[i] += clusters.pop(j)
        node[i] = new


@contextmanager
def kept_as(way):
    """Masses kept in a table or in lists, whatever would be faster."""
    with pytest.MonkeyPatch.context() as patch:
        ratio = {"table": np.inf, "lists": 0.0}[way]
        patch.setattr(module, "DENSE", {True: ratio, False: ratio})
        yield


WAYS = ["table", "lists"]


@given(
    st.integers(0, 10**6),
    st.sampled_from(["ones", "counts", "large", "floats", "alike"]),
    st.sampled_from(WAYS),
)
def test_aib_is_the_plain_one(seed, kind, way):
    rng = np.random.default_rng(seed)
    n, m = rng.integers(1, 25), rng.choice([rng.integers(1, 10), rng.integers(10, 300)])
    W = {
        "ones": lambda: np.ones((n, m)),
        "counts": lambda: rng.integers(1, 4, (n, m)),
        "large": lambda: rng.integers(1, 10**6, (n, m)),
        "floats": lambda: rng.gamma(0.5, size=(n, m)) + 1e-6,
        "alike": lambda: 1 + 10.0 ** -rng.integers(1, 5) * rng.random((n, m)),
    }[kind]() * (rng.random((n, m)) < rng.choice([0.2, 0.5, 1.0]))
    assume(W.any())
    with kept_as(way):
        tree, none = agglomerate(joint(W), (1, None), 1.0)
    expected = plain_aib(W)
    assert none is None
    assert_array_equal(tree.nodes, np.reshape([merge[:2] for merge in expected], (-1, 2)))
    assert_allclose(tree.lost, [merge[2] for merge in expected], atol=1e-12)


@given(st.integers(0, 10**6))
def test_a_bound_is_below_the_cost_and_near_it(seed):
    rng = np.random.default_rng(seed)
    n, m = rng.integers(2, 12), rng.choice([3, 40, 129, 400])
    spread = rng.choice([1e-4, 0.1, 1.0, 8.0])
    W = np.exp(spread * rng.normal(size=(n, 1)) + spread * rng.normal(size=(n, m)))
    W *= rng.random(W.shape) < rng.choice([0.5, 1.0])
    W = W[:, W.any(axis=0)]
    assume(W.any(axis=1).all())
    with kept_as("table"):
        merging = module.MergingSide(joint(W), 1, None, 1.0, None)
    pairs = merging.pairs
    for bound, (i, j) in zip(pairs.cost, itertools.combinations(range(n), 2), strict=True):
        cost = loss(W[[i, j]]) - loss(W[[i, j]].sum(axis=0, keepdims=True))
        cost *= pairs.mass[i] / W[i].sum()  # in the same unit
        slack = 1e-13 * np.abs(W[[i, j]] * np.log(W[[i, j]].clip(1e-300))).sum()
        assert bound <= cost + slack
        together = W[[i, j]].sum(axis=0) / W[[i, j]].sum()
        information = xlogx(together).sum() - together @ np.log(W.sum(axis=0) / W.sum())
        assert cost - bound <= 3e-5 * (1 + information) * (pairs.mass[i] + pairs.mass[j])


def merged_costs(W, labels, beta):
    """What each merge of two clusters of either side would cost, from the definition."""
    now = comarkov.cost(W, *labels, beta)
    for side in (0, 1):
        for i, j in itertools.combinations(np.unique(labels[side][labels[side] >= 0]), 2):
            after = list(labels)
            after[side] = np.where(labels[side] == j, i, labels[side])
            yield side, comarkov.cost(W, *after, beta) - now


@settings(max_examples=50)
@given(problems())
def test_every_merge_of_two_sides_is_the_cheapest_there_is(problem):
    W, k, l, beta, _ = problem
    counts = (k, l)
    data = joint(W)
    trees = agglomerate(data, counts, beta)
    assert [tree.mass.size - tree.lost.size for tree in trees] == [k, l]
    labels = [tree.cut(count) for tree, count in zip(trees, counts, strict=True)]
    lost = sum(tree.lost.sum() for tree in trees)
    assert_allclose(lost, comarkov.cost(W, *labels, beta), atol=1e-9)
    places = [0, 0]
    while True:
        left = [tree.lost[place:] for tree, place in zip(trees, places, strict=True)]
        if not any(rest.size for rest in left):
            break
        labels = [t.cut(t.mass.size - place) for t, place in zip(trees, places, strict=True)]
        costs = [cost for side, cost in merged_costs(W, labels, beta) if left[side].size]
        nexts = [rest[0] if rest.size else np.inf for rest in left]
        taken = int(np.argmin(np.abs(np.array(nexts) - min(costs))))
        assert nexts[taken] == pytest.approx(min(costs), abs=1e-9)
        places[taken] += 1


def test_a_tree_is_what_scipy_takes():
    W = np.random.default_rng(0).poisson(0.7, (40, 30))
    tree = AIB(5).fit(W).tree_
    assert is_valid_linkage(tree.linkage)
    for k in (1, 5, 17):
        theirs = fcluster(tree.linkage, k, "maxclust")
        assert comarkov.evaluate.adjusted_rand_index(theirs, tree.cut(k)) == 1
    for k in (41, 0):
        with refused("40", str(k)):
            tree.cut(k)


@settings(max_examples=40)
@given(weights(max_rows=14))
def test_the_fit_and_its_hierarchy_are_cuts_of_the_tree(W):
    n = int((W.sum(axis=1) > 0).sum())
    k = (n + 1) // 2
    model = AIB(k).fit(W)
    for labels in (model.tree_.cut(k), model.cut(k).row_labels_):
        assert comarkov.evaluate.adjusted_rand_index(labels, model.row_labels_) == 1
    tail = model.hierarchy_.row_linkage
    assert_allclose(
        np.diff(tail[:, 2], prepend=0.0), model.tree_.lost[n - 1 - len(tail) :], atol=1e-9
    )


def test_double_clustering_is_aib_twice():
    W = np.random.default_rng(0).poisson(0.7, (40, 30))
    model = IBDouble((4, 3)).fit(W)
    columns = AIB(3).fit(W.T).row_labels_
    assert_array_equal(model.column_labels_, columns)
    blocks = W @ np.eye(3)[columns]
    assert_array_equal(model.row_labels_, AIB(4).fit(blocks).row_labels_)


@settings(max_examples=50)
@given(problems())
def test_double_clusterings_cost_what_the_cost_says(problem):
    W, k, l, _, _ = problem
    costs = []
    for model in (IBDouble((k, l)), IDC((k, l)), IDC((k, l), max_rounds=2)):
        model.fit(W)
        costs.append(comarkov.cost(W, model.row_labels_, model.column_labels_, 0.5))
        assert model.cost_ == pytest.approx(costs[-1], abs=1e-9)
        lost = comarkov.information(W, model.row_labels_, model.column_labels_)
        assert lost.rows_columns - lost.row_clusters_column_clusters == pytest.approx(
            costs[-1], abs=1e-9
        )
    assert costs[1] <= costs[2] + 1e-9 <= costs[0] + 2e-9


def test_another_round_can_pay():
    W = np.random.default_rng(3).poisson(0.7, (40, 30))
    one, many = IBDouble((4, 3)).fit(W), IDC((4, 3)).fit(W)
    assert many.cost_ < one.cost_ - 1e-3
    assert (one.n_iter_, many.n_iter_) == (1, many.n_iter_)
    assert many.n_iter_ > 1


def test_what_memory_cannot_hold_is_refused_before_it_begins(monkeypatch):
    W = np.random.default_rng(0).poisson(0.7, (40, 30))
    needed = 4.5 * 40**2 + max(48 * np.count_nonzero(W), 12 * W.size)
    monkeypatch.setattr(module, "total_memory", lambda: 2.01 * needed)
    AIB(3).fit(W)
    with pytest.raises(MemoryError):
        IBCC((3, 3)).fit(W)
    monkeypatch.setattr(module, "total_memory", lambda: 1.99 * needed)
    monkeypatch.setattr(module, "MergingSide", None)
    with pytest.raises(MemoryError):
        AIB(3).fit(W)


def test_what_does_not_go_together_is_said():
    models = {
        "column": IBDouble((2, None)),
        "init": IBCC(2, init=([0, 0, 1, 1], None)),
        "n_clusters": AIB((2, 2)),
    }
    for named, model in models.items():
        with refused(named):
            model.fit(np.ones((4, 4)))
