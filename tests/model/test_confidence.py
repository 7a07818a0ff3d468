"""Confidence is what the cost says of an element taken out, and low where the labels are wrong."""

import itertools

import numpy as np
import pytest
from helpers import costs_by_definition, problems, started
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import softmax
from sklearn.metrics import roc_auc_score

from comarkov import CoClustering
from comarkov.costs.labels import matched
from comarkov.model.confidence import confidence, rejected

SIDES = ("row", "column")
PARTS = ("confidence", "margins", "agreement")


def planted(seed=0, noise=0.3):
    """Counts with 5 x 4 blocks, and the truth of both sides."""
    rng = np.random.default_rng(seed)
    rows, columns = rng.integers(5, size=120), rng.integers(4, size=90)
    rate = rng.gamma(0.7, size=(5, 4))[rows][:, columns] + noise
    return rng.poisson(0.5 * rate), rows, columns


@pytest.fixture(scope="module")
def fitted():
    return CoClustering((5, 4), n_init=6, random_state=0).fit(planted()[0])


# --- margins and posteriors -----------------------------------------------------------------


@given(problems(), st.sampled_from([0.6, 1.0, 1.5]))
def test_margin_and_posterior_are_those_of_the_cost(problem, gamma):
    W, k, l, beta, seed = problem
    state = started(W, k, l, seed)
    side, cross = state.rows, state.columns.cross
    sure = confidence(side, cross, beta, [], gamma)
    rows, columns = state.labels()
    share = W / W.max()
    for x in range(W.shape[0]):
        if rows[x] < 0:
            assert (sure.margins[x], sure.confidence[x]) == (0, 0)
            continue
        mass = share[x].sum()
        costs = costs_by_definition(share, rows, columns, beta, x)
        expected = softmax(-costs * (mass**2 / (share[x] ** 2).sum()) ** gamma)[rows[x]]
        near = 1e-8 * share.sum() / mass  # L_β of all is rounded, the row is a part of it
        assert sure.confidence[x] == pytest.approx(expected, abs=1e-4 + 10 * near)
        others = np.delete(costs, rows[x])
        if k == 1:
            assert (sure.margins[x], sure.confidence[x]) == (np.inf, 1)
        else:
            margin = others.min() - costs[rows[x]]
            assert sure.margins[x] == pytest.approx(margin, rel=1e-4, abs=1e-4 + near)
    assert np.isnan(sure.agreement[rows >= 0]).all()


def test_errors_have_low_confidence():
    areas = []
    for seed in range(5):
        X, *truths = planted(seed, noise=0.2)
        model = CoClustering((5, 4), random_state=seed).fit(X)
        for name, truth in zip(SIDES, truths, strict=True):
            right = matched(getattr(model, f"{name}_labels_"), truth) == truth
            areas.append(roc_auc_score(right, getattr(model, f"{name}_confidence_")))
    assert np.mean(areas) > 0.77
    blocks = np.random.default_rng(0).poisson(np.kron(4 * np.eye(3) + 0.1, np.ones((10, 12))))
    clear = CoClustering(3, random_state=0).fit(blocks)
    assert clear.row_confidence_.min() > 0.98


# --- agreement ----------------------------------------------------------------

label_pairs = st.integers(1, 12).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(-1, 3), min_size=n, max_size=n)] * 2)
)


@given(label_pairs)
def test_matching_is_the_best_of_all(pair):
    labels, others = map(np.array, pair)
    renumbered = matched(others, labels)
    assert_array_equal(renumbered == -1, others == -1)
    for a, b in itertools.combinations(range(others.size), 2):
        assert (renumbered[a] == renumbered[b]) == (others[a] == others[b])
    both = (labels >= 0) & (others >= 0)
    best = max(
        np.count_nonzero(np.array(numbers)[others[both]] == labels[both])
        for numbers in itertools.permutations(range(4))
    )
    assert np.count_nonzero(renumbered[both] == labels[both]) == best


def test_agreement_counts_the_other_results():
    X, *_ = planted()
    state = started(X, 5, 4, 0)
    side, cross = state.rows, state.columns.cross
    labels = side.labels
    swapped = (labels + 1) % 5  # the same clusters under other names
    torn = labels.copy()
    member = np.flatnonzero(labels == 2)[0]
    torn[member] = 3
    sure = confidence(side, cross, 0.7, [swapped, torn])
    assert_array_equal(np.flatnonzero(sure.agreement < 1), [member])
    assert sure.agreement[member] == 0.5
    alone = confidence(side, cross, 0.7, [])
    assert_allclose(sure.confidence, alone.confidence * (1 + 2 * sure.agreement) / 3)


def test_aggregated_counts_are_observations():
    counts = np.kron([[156, 14, 3], [12, 60, 40], [4, 30, 150]], np.ones((4, 1), int))
    mixed = np.vstack([counts, [[4, 45, 90]]])  # between the last two clusters
    sure = CoClustering((3, None), random_state=0).fit(mixed).row_confidence_
    assert sure[:4].min() == 1
    assert sure[-1] < 1
    few = CoClustering((3, None), random_state=0).fit(mixed // 8).row_confidence_
    assert few.mean() < sure.mean()


def test_sides_that_are_not_clustered_have_none():
    X, *_ = planted()
    model = CoClustering((5, 4), random_state=0).fit(X)
    model.set_params(n_clusters=(5, None)).fit(X)
    assert hasattr(model, "row_confidence_")
    assert not any(hasattr(model, f"column_{part}_") for part in PARTS)


# --- rejection ------------------------------------------------------------------------------


@settings(max_examples=20)
@given(problems(), st.sampled_from([0.3, 0.8, 1.0]))
def test_rejection_leaves_every_cluster_its_surest(problem, threshold):
    W, k, l, beta, seed = problem
    whole = CoClustering((k, l), beta=beta, random_state=seed).fit(W)
    model = CoClustering((k, l), beta=beta, random_state=seed, reject=threshold).fit(W)
    assert (model.cost_, model.information_) == (whole.cost_, whole.information_)
    for name, count in zip(SIDES, (k, l), strict=True):
        before, after = (getattr(m, f"{name}_labels_") for m in (whole, model))
        sure = getattr(whole, f"{name}_confidence_")
        assert_array_equal(sure, getattr(model, f"{name}_confidence_"))
        assert set(after) - {-1} == set(range(count))
        assert_array_equal(after[after >= 0], before[after >= 0])
        assert_array_equal(after[sure >= threshold], before[sure >= threshold])
        for a in range(count):
            members = np.flatnonzero(before == a)
            unsure = np.flatnonzero((after == a) & (sure < threshold))
            assert unsure.size <= 1
            if unsure.size:
                assert unsure[0] == members[sure[members].argmax()]
                assert (sure[members] < threshold).all()
    assert model.score(W) == whole.score(W)
    assert model.get_indices(0)[0].tolist() == np.flatnonzero(model.row_labels_ == 0).tolist()


def test_fixed_elements_are_never_rejected():
    labels, sure = np.array([0, 0, 1, 1, -1]), np.array([0.9, 0.2, 0.3, 0.1, 0.0])
    fixed = np.array([False, True, False, False, False])
    assert_array_equal(rejected(labels, sure, 0.5, fixed), [0, 0, 1, -1, -1])


def test_new_data_are_rejected_by_their_posterior(fitted):
    X, *_ = planted()
    new = np.random.default_rng(1).poisson(0.5, (40, 90))
    new[3] = 0
    chosen, strict = fitted.predict(new), CoClustering((5, 4), n_init=6, random_state=0, reject=0.7)
    strict.fit(X)
    per_mass = fitted._model.row_costs(fitted._new_rows(new)[1]) / np.maximum(
        new.sum(1, keepdims=True), 1
    )
    observations = new.sum(1) ** 2 / np.maximum((new**2).sum(1), 1)
    weight = observations**fitted.row_evidence_exponent_
    sure = softmax(-per_mass * weight[:, None], axis=1).max(1)
    expected = np.where(sure >= 0.7, chosen, -1)
    assert 0 < (expected[np.arange(40) != 3] == -1).sum() < 39
    assert_array_equal(strict.predict(new), expected)
    columns = np.random.default_rng(2).poisson(0.1, (120, 30))
    unsure = strict.predict(columns, "columns") == -1
    assert 0 < unsure.sum() < 30
    assert_array_equal(strict.transform(new), fitted.transform(new))
