"""Numbers of clusters: descriptions add up, dispersion is measured, planted numbers are found."""

from itertools import pairwise
from math import comb, factorial, log

import numpy as np
import pytest
from helpers import problem_of, problems, run_at, started, weights
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from comarkov import CoClustering, datasets
from comarkov.costs.description import Evidence, description_length, dispersion, least_dispersion
from comarkov.data.joint import joint
from comarkov.search.choose_numbers import agreement, select
from comarkov.search.number_walk import MANY, MEMBERS, evidence_of, settle, walk


def planted(n_clusters=(5, 4), shape=(200, 160), seed=0, **kind):
    return datasets.planted(shape, n_clusters, random_state=seed, **kind).matrix.toarray()


def walked(W, seed=0, rows=1, columns=1):
    problem = problem_of(W, rows, columns)
    way = walk(problem.joint, problem.starts, run_at(0.7, seed))
    return [state.copy() for state in way]


def chosen(W, wanted=("auto", "auto"), seed=0, **kinds):
    return select(joint(W), wanted, run_at(0.7, seed, **kinds))


# --- description length -----------------------------------------------------------------------


def test_description_length_counts_all_that_could_be():
    blocks, members = np.array([[3, 0], [1, 2]]), ([2, 1], [1, 3])
    spread = [((3, 2), (3, 1)), ((4, 1), (2, 3))]  # (mass, members) of the clusters of each side
    nats = log(comb(6 + 3, 3))
    for masses, size in zip(spread, members, strict=True):
        nats += sum(log(comb(n + m - 1, m - 1)) + log(factorial(n)) for n, m in masses)
        n = sum(size)
        nats += log(n) + log(comb(n - 1, len(size) - 1)) + log(factorial(n))
        nats -= sum(log(factorial(m)) for m in size)
    nats -= sum(log(factorial(n)) for n in blocks.ravel())
    sizes = tuple(np.array(size, float) for size in members)
    assert description_length(blocks.astype(float), sizes) == pytest.approx(nats)


@given(problems())
def test_evidence_does_not_depend_on_the_unit_or_on_which_side_is_first(problem):
    W, k, l, _beta, seed = problem
    W = W * np.pi  # of weights, that is: counts have a unit
    state = started(W, k, l, seed)
    evidence = evidence_of(state)
    nats = evidence.description_length(*state.labels())
    assert np.isfinite(nats)
    scaled = started(W * 8.0, k, l, seed)
    assert_array_equal(scaled.labels()[0], state.labels()[0])
    assert evidence_of(scaled).total == pytest.approx(evidence.total, rel=1e-6)
    turned = Evidence(evidence.columns, evidence.rows, evidence.weights)
    assert turned.description_length(*state.labels()[::-1]) == pytest.approx(nats)


def test_independent_counts_have_dispersion_one_and_bursts_more():
    rng = np.random.default_rng(0)
    mass = rng.uniform(1, 6, size=(400, 1))
    labels = np.arange(400) % 2
    for r, expected in ((None, 1.0), (1.0, 1 + 3.5 / 1)):
        mu = np.broadcast_to(mass, (400, 30))
        W = rng.poisson(mu if r is None else mu * rng.gamma(r, 1 / r, size=mu.shape))
        blocks = np.stack([W[labels == a].sum(axis=0) for a in (0, 1)])
        phi = dispersion(labels, W.astype(float), blocks.astype(float))
        assert phi.mean() == pytest.approx(expected, rel=0.1)
        heavy, light = phi[mass[:, 0] > 5].mean(), phi[mass[:, 0] < 2].mean()
        assert heavy / light < 1.2 if r is None else heavy / light > 1.8


def test_alone_in_its_cluster_an_element_says_nothing_of_dispersion():
    masses = np.array([[2.0, 0.0], [0.0, 3.0]])
    assert_allclose(dispersion(np.array([0, 1]), masses, masses), 2.5e-3)


def test_counts_vary_at_least_like_independent_events():
    assert least_dispersion(joint([[0, 2], [1, 1]])) == 1
    assert least_dispersion(joint([[0, 1, 0], [1, 1, 0]])) == 0.25
    assert least_dispersion(joint([[0, 0.5], [1, 1]])) == 0


# --- the walk -----------------------------------------------------------------------------------


@given(weights(max_rows=14, max_columns=12), st.integers(0, 99))
@settings(max_examples=30)
def test_a_walk_merges_one_pair_at_a_time_down_to_its_goal(W, seed):
    levels = walked(W, seed)
    numbers = [[side.k for side in level.sides()] for level in levels]
    assert numbers[-1] == [1, 1]
    for before, after in pairwise(numbers):
        assert sorted(np.subtract(before, after)) == [0, 1]
    for level, both in zip(levels, numbers, strict=True):
        assert [np.unique(labels[labels >= 0]).size for labels in level.labels()] == both


def test_a_walk_begins_with_many_and_stops_at_numbers_that_are_given():
    levels = walked(planted(shape=(600, 160)), rows=7)
    assert levels[0].rows.k == MANY
    assert levels[0].columns.k == 160 // MEMBERS
    assert (levels[-1].rows.k, levels[-1].columns.k) == (7, 1)


def test_settling_finds_planted_numbers_from_wrong_ones():
    W = planted()
    levels = walked(W)
    evidence = evidence_of(levels[0])
    for wrong in ((2, 2), (9, 9)):
        off = [
            np.abs(np.subtract([level.rows.k, level.columns.k], wrong)).sum() for level in levels
        ]
        state = levels[int(np.argmin(off))].copy()
        before = evidence.description_length(*state.labels())
        after = settle(state, (False, False), evidence, run_at(0.7))
        assert evidence.description_length(*after.labels()) < before
        assert (after.rows.k, after.columns.k) == (5, 4)


def test_settling_leaves_fixed_sides_at_their_number():
    levels = walked(planted(), rows=2)
    evidence = evidence_of(levels[0])
    after = settle(levels[-1], (True, False), evidence, run_at(0.7))
    assert after.rows.k == 2
    assert after.columns.k > 1


# --- numbers of clusters ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind",
    [
        {},
        {"bursts": 1, "unequal": True, "degrees": 0.5, "shape": (300, 250)},
        {"n_clusters": (3, 9), "mean": 1.0},
        {"n_clusters": (12, 6), "mean": 1.0},
    ],
    ids=["Poisson", "bursty", "very different", "many"],
)
def test_planted_numbers_are_found(kind):
    found = chosen(planted(**kind))
    assert_allclose(found.numbers, kind.get("n_clusters", (5, 4)), atol=1)
    line = found.table[found.table["suggested"]]
    assert line["rule"] == ["description length"]
    assert (line["row_clusters"][0], line["column_clusters"][0]) == found.numbers
    assert line["description_length"] == found.table["description_length"].min()


def test_noise_has_one_cluster():
    rng = np.random.default_rng(1)
    found = chosen(rng.poisson(0.5, size=(120, 90)))
    assert found.numbers == (1, 1)
    assert found.table["rule"][found.table["suggested"]] == ["agreement of halves"]


def test_halves_agree_on_what_is_there():
    data = joint(planted(mean=1.5))
    halvings = [run_at(0.7, seed) for seed in range(2)]
    found = agreement(data, halvings)
    assert found[5] > 0.95
    assert found[5] > found[10] + 0.2
    rng = np.random.default_rng(0)
    noise = agreement(joint(rng.poisson(1, size=(80, 80))), halvings)
    assert max(value for k, value in noise.items() if k > 1) < 0.1


def test_one_number_may_be_given():
    X = planted()
    model = CoClustering((5, "auto"), random_state=0).fit(X)
    assert model.row_labels_.max() + 1 == 5
    assert abs(model.column_labels_.max() + 1 - 4) <= 1
    sides = CoClustering(("auto", None), random_state=0).fit(X)
    assert abs(sides.row_labels_.max() + 1 - 5) <= 1
    assert_array_equal(sides.column_labels_, np.arange(160))


def test_a_fit_with_chosen_numbers_is_that_of_the_same_numbers():
    X = planted()
    model = CoClustering("auto", random_state=3).fit(X)
    given_numbers = CoClustering((5, 4), random_state=3).fit(X)
    assert_array_equal(model.row_labels_, given_numbers.row_labels_)
    assert not hasattr(given_numbers, "selection_")
    assert (np.diff(model.selection_["row_clusters"][:-1]) <= 0).all()
    assert not hasattr(model.set_params(n_clusters=3).fit(X), "selection_")


def test_the_choice_does_not_depend_on_threads():
    rng = np.random.default_rng(0)
    X = rng.poisson(0.4, size=(60, 60))  # so that halves are asked
    one, two = chosen(X, n_jobs=1), chosen(X, n_jobs=2)
    assert one.numbers == two.numbers
    for name in one.table.dtype.names:
        assert_array_equal(one.table[name], two.table[name])


def test_what_auto_does_not_take():
    X = planted()
    labels = (np.zeros(200, int), None)
    with pytest.raises(ValueError, match="takes no init or fixed labels"):
        CoClustering("auto", init=labels).fit(X)
    with pytest.raises(ValueError, match="takes no init or fixed labels"):
        CoClustering(("auto", 3), fixed=labels).fit(X)
    with pytest.raises(ValueError, match="at most 160"):
        CoClustering(("auto", 161)).fit(X)
    with pytest.raises(ValueError, match="'auto' or None"):
        CoClustering(("some", 3)).fit(X)


@given(weights())
@settings(max_examples=30)
def test_numbers_are_chosen_for_any_matrix(W):
    rows, columns = chosen(W).numbers
    assert 1 <= rows <= (W.sum(axis=1) > 0).sum()
    assert 1 <= columns <= (W.sum(axis=0) > 0).sum()


def test_when_the_time_is_over_there_are_numbers_still():
    found = chosen(planted(), wanted=(6, "auto"), max_time=1e-9)
    assert found.numbers[0] == 6
    with pytest.warns(UserWarning, match="max_time"):
        model = CoClustering("auto", max_time=1e-9, random_state=0).fit(planted())
    assert model.row_labels_.max() >= 0


@pytest.mark.parametrize("seed", range(3))
def test_southern_women_are_as_in_the_literature(seed):
    assert chosen(datasets.load("southern-women").matrix, seed=seed).numbers == (2, 3)
