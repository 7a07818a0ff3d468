"""The tree goes through the fit, loses what it says, and can be cut anywhere."""

import itertools
import pickle

import numpy as np
import pandas as pd
import pytest
from helpers import framed, is_nested, models, refused
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster.hierarchy import fcluster, is_monotonic, is_valid_linkage
from sklearn.base import clone

import comarkov
from comarkov import CoClustering

FEW = settings(max_examples=40)


@FEW
@given(models())
def test_the_way_down_is_nested_and_costs_what_it_says(problem):
    W, model = problem
    model.fit(W)
    tree = model.hierarchy_
    assert tree.levels[0].n_clusters == tree.n_leaves
    assert tree.levels[-1].n_clusters == tuple(k and 1 for k in tree.n_leaves)
    assert [level.n_clusters for level in tree.levels].count(tree.n_fitted) == 1
    before = model.cut(tree.n_leaves)
    assert before.cost_ == pytest.approx(tree.levels[0].cost, abs=1e-9)
    for merge, level in zip(tree.merges, tree.levels[1:], strict=True):
        after = model.cut(merge.n_clusters)
        assert is_nested(before.row_labels_, after.row_labels_)
        assert is_nested(before.column_labels_, after.column_labels_)
        information = comarkov.information(W, after.row_labels_, after.column_labels_)
        assert_allclose(after.information_, information, atol=1e-9)
        cost = information.cost(model.beta)
        assert merge.cost == level.cost == pytest.approx(cost, abs=1e-9)
        assert merge.lost == pytest.approx(cost - before.cost_, abs=1e-9)
        if information.rows_columns > 1e-6:
            assert level.kept == pytest.approx(information.kept, abs=1e-6)
        before = after


@FEW
@given(models())
def test_the_tree_goes_through_the_fit(problem):
    W, model = problem
    model.fit(W)
    again = model.cut(model.hierarchy_.n_fitted)
    assert_array_equal(again.row_labels_, model.row_labels_)
    assert_array_equal(again.column_labels_, model.column_labels_)
    assert again.cost_ == model.cost_
    level = next(x for x in model.hierarchy_.levels if x.n_clusters == again.n_clusters)
    assert level.cost == model.cost_
    there_and_back = model.cut(model.hierarchy_.n_leaves).cut(again.n_clusters)
    assert_array_equal(there_and_back.row_labels_, model.row_labels_)
    assert there_and_back.cost_ == model.cost_
    if again.n_clusters[0] is not None:
        assert_array_equal(again.predict(W), model.predict(W))


@FEW
@given(models())
def test_each_merge_is_the_cheapest(problem):
    """Against all merges of two clusters, each costed by the definition."""
    W, model = problem
    model.fit(W)
    tree = model.hierarchy_
    limits = np.array([k or 0 for k in tree.n_fitted])
    for level, merge in zip(tree.levels, tree.merges, strict=False):
        now = model.cut(level.n_clusters)
        above = np.array([k or 0 for k in level.n_clusters])
        inside = model if (above >= limits).all() and (above > limits).any() else None
        losses = [
            comarkov.cost(W, *labels, model.beta) - level.cost for labels in merged(now, inside)
        ]
        assert merge.lost == pytest.approx(min(losses), abs=1e-9)


def merged(model, inside):
    """Both labels after each merge of two clusters, of those inside a cluster of a fit."""
    for side in (0, 1):
        if model.n_clusters[side] is None:
            continue
        both = [model.row_labels_, model.column_labels_]
        for i, j in itertools.combinations(range(model.n_clusters[side]), 2):
            after = list(both)
            after[side] = np.where(both[side] == j, i, both[side])
            if inside is not None:
                outer = (inside.row_labels_, inside.column_labels_)[side]
                if len(set(outer[after[side] == i])) > 1:
                    continue
            yield after


@FEW
@given(models())
def test_linkages_are_valid_and_cut_as_scipy_does(problem):
    W, model = problem
    model.fit(W)
    tree = model.hierarchy_
    sides = [
        (tree.row_linkage, tree.row_leaves, tree.n_leaves[0], 0),
        (tree.column_linkage, tree.column_leaves, tree.n_leaves[1], 1),
    ]
    heights = []
    for linkage, leaves, count, side in sides:
        if count is None:
            assert linkage is None
            assert leaves is None
            continue
        assert linkage.shape == (count - 1, 4)
        assert set(leaves) - {-1} == set(range(count))
        heights += linkage[:, 2].tolist()
        if count == 1:
            continue
        assert is_valid_linkage(linkage, throw=True)
        assert is_monotonic(linkage)
        assert linkage[-1, 3] == count
        jumps = np.diff(linkage[:, 2]) > 1e-12  # equal heights cannot be told apart by SciPy
        for i in np.flatnonzero(jumps):
            k = count - 1 - i
            number = fcluster(linkage, linkage[i : i + 2, 2].mean(), "distance")
            assert number.max() == k
            cut = model.cut(tuple(k if i == side else n for i, n in enumerate(tree.n_fitted)))
            labels = (cut.row_labels_, cut.column_labels_)[side]
            has_mass = leaves >= 0
            expected = number[leaves[has_mass]]
            assert comarkov.evaluate.adjusted_rand_index(expected, labels[has_mass]) == 1
    lost = np.cumsum([0.0, *(merge.lost for merge in tree.merges)])[1:]
    assert_allclose(sorted(heights), np.maximum.accumulate(np.maximum(lost, 0)), atol=1e-12)


def test_below_one_half_a_merge_may_gain_and_heights_still_rise(counts):
    tree = CoClustering((4, 3), beta=0.0, random_state=0).fit(counts).hierarchy_
    assert min(merge.lost for merge in tree.merges) < -1e-6
    assert is_monotonic(tree.row_linkage)
    assert is_valid_linkage(tree.column_linkage)


def test_a_cut_does_all_that_a_fit_does(counts):
    frame = framed(counts)
    model = CoClustering((4, 3), weighting="bm25", random_state=0).fit(frame)
    before = pickle.dumps(model)
    cut = model.cut((6, 2))
    assert cut.get_params()["n_clusters"] == (6, 2)
    assert_array_equal(cut.predict(frame.iloc[:, ::-1]), cut.predict(frame))
    assert set(cut.predict(frame, "columns")) == {-1, 0, 1}
    assert len(cut.get_feature_names_out()) == 6
    copy = pickle.loads(pickle.dumps(cut))
    assert_array_equal(copy.cut((2, 2)).row_labels_, model.cut(2).row_labels_)
    assert_array_equal(pickle.loads(before).row_labels_, model.row_labels_)
    assert not hasattr(clone(cut), "hierarchy_")


# --- refined cuts -----------------------------------------------------------------------------


@FEW
@given(models(), st.data())
def test_a_refined_cut_is_a_local_optimum(problem, data):
    W, model = problem
    model.fit(W)
    counts = tuple(
        None if k is None else data.draw(st.integers(1, k)) for k in model.hierarchy_.n_leaves
    )
    plain, refined = model.cut(counts), model.cut(counts, W)
    assert refined.cost_ <= plain.cost_ + 1e-9
    assert refined.n_clusters == counts
    labels = [refined.row_labels_, refined.column_labels_]
    cost = comarkov.cost(W, *labels, model.beta)
    assert refined.cost_ == pytest.approx(cost, abs=1e-9)
    for side in (0, 1):
        if counts[side] is None:
            continue
        sizes = np.bincount(labels[side][labels[side] >= 0], minlength=counts[side])
        assert (sizes > 0).all()
        for x in np.flatnonzero(labels[side] >= 0):
            for a in range(counts[side] if sizes[labels[side][x]] > 1 else 0):
                moved = [side_labels.copy() for side_labels in labels]
                moved[side][x] = a
                assert comarkov.cost(W, *moved, model.beta) >= cost - 1e-9
    assert refined.hierarchy_.n_fitted == counts


def test_refining_pays_and_leaves_fixed_elements_alone():
    X = np.random.default_rng(0).poisson(0.5, (40, 30))
    fixed = np.where(np.arange(40) < 8, np.arange(40) % 2, -1)
    free, fixed_model = (
        CoClustering((6, 6), fixed=given, random_state=0).fit(X) for given in (None, (fixed, None))
    )
    for model in (free, fixed_model):
        assert model.cut(3, X).cost_ < model.cut(3).cost_ - 1e-3
    plain, refined = fixed_model.cut(3), fixed_model.cut(3, X)
    assert_array_equal(refined.row_labels_[:8], plain.row_labels_[:8])
    assert refined.fixed is fixed_model.fixed
    assert not np.array_equal(refined.row_labels_, plain.row_labels_)
    assert_array_equal(free.cut(6, X).row_labels_, free.row_labels_)


@pytest.mark.parametrize("weighting", [None, "bm25"])
def test_only_the_matrix_of_the_fit_refines(counts, weighting):
    model = CoClustering((4, 3), weighting=weighting, random_state=0).fit(counts)
    other = counts.copy()
    other[0, 0] += 1
    for wrong in (counts[:20], counts[:, :20], counts.T, counts[::-1], other):
        with refused("X is not"):
            model.cut(2, wrong)
    frame = pd.DataFrame(counts, index=[f"r{i}" for i in range(40)])
    named = CoClustering((4, 3), weighting=weighting, random_state=0).fit(frame)
    assert_array_equal(named.cut(2, counts).row_names_in_, frame.index)
    assert_array_equal(named.cut(2, frame).row_labels_, model.cut(2, counts).row_labels_)


# --- levels that cannot be ------------------------------------------------------------------------


def test_a_tree_of_one_leaf():
    model = CoClustering(1, random_state=0).fit([[3]])
    assert model.hierarchy_.merges == []
    assert len(model.hierarchy_.levels) == 1
    assert model.hierarchy_.row_linkage.shape == (0, 4)
    assert model.cut(1).predict([[2]]) == [0]


@pytest.mark.parametrize("level", [(33, 2), (2, 25), 0, (2, None), (2.5, 2), (2, 2, 2)])
def test_a_level_that_is_not_there_is_refused(fitted, level):
    with refused():
        fitted.cut(level)


def test_a_side_that_is_not_clustered_is_not_cut(counts):
    model = CoClustering((4, None), random_state=0).fit(counts)
    with refused("columns"):
        model.cut(3)
    assert set(model.cut((3, None)).row_labels_) == {-1, 0, 1, 2}
    assert model.hierarchy_.merges[-1].n_clusters == (1, None)
