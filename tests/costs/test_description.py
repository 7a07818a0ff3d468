"""Do blocks explain a matrix? Description length, dispersion, what is left, independence."""

from math import comb, factorial, log

import numpy as np
import pytest
import scipy.sparse as sp
from helpers import problems, started
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

from comarkov import datasets
from comarkov.costs import selection
from comarkov.costs.selection import (
    Evidence,
    description_length,
    dispersion,
    is_independent,
    least_dispersion,
    leftover,
)
from comarkov.joint.joint import joint
from comarkov.search.select.number_ladder import evidence_of

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


def test_evidence_by_blocks():
    W = np.random.default_rng(0).poisson(0.8, (7, 5)).astype(float)
    entries = sp.coo_array(W)
    evidence = Evidence(entries.row, entries.col, entries.data)
    rows, columns = np.arange(7) % 3, np.arange(5) % 2
    by_row, by_column = np.eye(3)[rows], np.eye(2)[columns]
    assert_array_equal(evidence.blocks(rows, columns), by_row.T @ W @ by_column)


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


POSITIVE = arrays(float, 6, elements=st.floats(0.01, 100))


@given(POSITIVE, POSITIVE, POSITIVE)
def test_lines_have_the_least_squares_of_all_that_are_not_negative(x, y, weight):
    """Of the free line, the constant and the line through 0; nearly equal x allow many lines."""
    root = np.sqrt(weight)
    design, target = np.stack([root, x * root], axis=1), y * root

    def distance(line):
        return np.linalg.norm(design @ line - target)

    lines = [np.zeros(2) for _ in range(2)]
    for i, line in enumerate(lines):
        line[i] = np.linalg.lstsq(design[:, [i]], target)[0][0]
    free = np.linalg.lstsq(design, target)[0]
    least = min(map(distance, [*lines, free] if free.min() >= 0 else lines))
    line = selection._nonnegative_line(x, y, weight)
    assert min(line) >= 0
    assert distance(line) <= least + 1e-4 * np.linalg.norm(target)


def test_elements_of_equal_mass_have_a_constant_dispersion():
    x = 3 + 1e-15 * np.arange(4)
    assert selection._nonnegative_line(x, np.array([1.0, 2, 3, 6]), np.ones(4)) == (3, 0)


def test_alone_in_its_cluster_an_element_says_nothing_of_dispersion():
    masses = np.array([[2.0, 0.0], [0.0, 3.0]])
    assert_allclose(dispersion(np.array([0, 1]), masses, masses), 2.5e-3)


def test_counts_vary_at_least_like_independent_events():
    assert least_dispersion(joint([[0, 2], [1, 1]])) == 1
    assert least_dispersion(joint([[0, 1, 0], [1, 1, 0]])) == 0.25
    assert least_dispersion(joint([[0, 0.5], [1, 1]])) == 1  # counts of halves
    assert least_dispersion(joint([[0, 0.3], [1, 1]])) == 0


# --- what blocks leave ---------------------------------------------------------------------------


def leftover_oracle(W, rows, columns):
    """The ratio in `costs.leftover`, entry by entry."""
    total = [W[:, columns == b].sum() for b in range(columns.max() + 1)]
    observed = expected = 0.0
    for x in range(W.shape[0]):
        others = W[(rows == rows[x]) & (np.arange(rows.size) != x)]
        if others.size == 0:
            continue
        for b in range(columns.max() + 1):
            member = columns == b
            if total[b] ** 2 < 3 * (W.sum(axis=0)[member] ** 2).sum():
                continue
            share = others[:, member].sum() / others.sum()
            e = W[x].sum() * share * W.sum(axis=0)[member] / total[b]
            if e.sum() == 0:
                continue
            apart = W[x, member] - e
            observed += apart.sum() ** 2 / (1 + W[x].sum() / others.sum()) / e.sum()
            expected += (1 - share) * (apart**2).sum() / e.sum()
    return observed / expected


def test_leftover_is_its_definition(monkeypatch):
    rng = np.random.default_rng(0)
    W = rng.poisson(1.5, size=(14, 17)) + np.eye(14, 17)
    rows, columns = np.arange(14) % 3, np.arange(17) % 4
    for labels in ((rows, columns), (np.append(rows[:-1], 3), columns)):  # one row is alone
        measured = leftover(sp.csr_array(W), *labels)
        assert measured == pytest.approx(leftover_oracle(W, *labels))
    only = W.copy()
    only[np.ix_((rows == 1) & (np.arange(14) > 1), columns == 2)] = 0  # one row of its cluster
    only *= 0.1  # so that differences are rounded
    expected = leftover_oracle(only, rows, columns)
    assert leftover(sp.csr_array(only), rows, columns) == pytest.approx(expected)
    monkeypatch.setattr(selection, "ROWS_AT_ONCE", 5)  # rows
    assert leftover(sp.csr_array(W), *labels) == pytest.approx(measured)
    without = np.vstack([W, np.zeros(17)]), np.append(labels[0], -1)
    assert leftover(sp.csr_array(without[0]), without[1], columns) == pytest.approx(measured)


@pytest.mark.parametrize("members", [2, 3])
def test_clusters_of_fewer_than_three_equal_columns_do_not_count(members):
    """Rows of a cluster differ in how they divide two clusters of columns."""
    W = np.repeat([[4.0, 1], [1, 4], [4, 1], [1, 4]], members, axis=1)
    columns = np.repeat([0, 1], members)
    measured = leftover(sp.csr_array(W), np.zeros(4, int), columns)
    assert np.isnan(measured) if members == 2 else measured > 2


@pytest.mark.parametrize("kind", [{}, {"bursts": 2, "degrees": 0.7}], ids=["Poisson", "bursty"])
def test_true_blocks_leave_nothing_and_coarser_ones_do(kind):
    data = datasets.planted((400, 300), (6, 4), random_state=0, **kind)
    rows, columns = data.row_classes, data.column_classes
    assert leftover(data.matrix, rows, columns) == pytest.approx(1, abs=0.1)
    coarse = np.minimum(rows, 4)
    assert leftover(data.matrix, coarse, columns) > 1.5


def test_independent_tables_are_called_so_and_others_are_not():
    rng = np.random.default_rng(0)
    rates = np.outer(rng.lognormal(size=40), rng.lognormal(size=12))
    called = [
        is_independent(sp.csr_array(rng.poisson(rates)), np.random.default_rng(i))
        for i in range(20)
    ]
    assert np.mean(called) >= 0.8
    women = sp.csr_array(datasets.load("southern-women").matrix)
    assert not is_independent(women, np.random.default_rng(0))
    shuffled = sp.csr_array(rng.permutation(women.toarray().ravel()).reshape(women.shape))
    assert is_independent(shuffled, np.random.default_rng(0))
    assert not is_independent(sp.csr_array(rates), np.random.default_rng(0))  # not counts


@pytest.mark.parametrize(("above", "independent"), [(0, False), (4, False), (5, True), (99, True)])
def test_five_of_a_hundred_tables_is_the_level(above, independent, monkeypatch):
    """The observed table counts as one of them."""
    correlations = iter([0.5] + [0.5] * above + [0.4] * (selection.NULL_TABLES - above))
    monkeypatch.setattr(selection, "_correlation", lambda _: next(correlations))
    table = sp.csr_array(np.ones((3, 3), int))
    assert is_independent(table, np.random.default_rng(0)) is independent


def test_the_correlation_is_that_of_two_signs():
    """Two binary variables that agree with probability (1 + c) / 2 correlate by c."""
    assert selection._correlation(np.array([[3.0, 1, 0], [1, 3, 0]])) == pytest.approx(0.5)
    assert selection._correlation(np.array([[3.0, 1]])) == 0.0
