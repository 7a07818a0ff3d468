"""Chains: how they are read, where they stay, and whether clusters of them are chains."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse.linalg import ArpackNoConvergence
from scipy.stats import chi2_contingency, kstest

from comarkov.costs.lumpability import g_test, lumpability
from comarkov.data import stationary
from comarkov.data.chains import chain, hold_out, read_transitions
from comarkov.data.stationary import stationary_distribution


def ring(n, loops=0.0):
    """Round and round: period n without loops."""
    return sp.csr_array((1 - loops) * np.roll(np.eye(n), 1, axis=1) + loops * np.eye(n))


def eliminated(P):
    """The masses of a small chain: the same method, in the plainest form."""
    P = P.copy()
    for last in range(len(P) - 1, 0, -1):
        P[:last, last] /= P[last, :last].sum()
        P[:last, :last] += np.outer(P[:last, last], P[last, :last])
    mu = np.ones(len(P))
    for state in range(1, len(P)):
        mu[state] = mu[:state] @ P[:state, state]
    return mu / mu.sum()


@given(st.integers(1, 12), st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.6]))
def test_the_stationary_distribution_stays(n, seed, gaps):
    rng = np.random.default_rng(seed)
    W = rng.gamma(0.3, size=(n, n)) * (rng.random((n, n)) >= gaps) + ring(n).toarray() * 1e-6
    P = W / W.sum(1, keepdims=True)
    mu = stationary_distribution(sp.csr_array(P))
    assert (mu > 0).all()
    assert_allclose(mu @ P, mu, rtol=1e-9)
    assert_allclose(mu, eliminated(P), rtol=1e-12)


@pytest.mark.parametrize("n", [1, 2, 7, 401, 5000])
def test_periodic_chains_have_one_too(n):
    assert_allclose(stationary_distribution(ring(n)), 1 / n, rtol=1e-12)


def in_turn(n):
    """Three groups in turn: the chain never settles, its distribution over time does."""
    group = np.arange(n) % 3
    P = np.random.default_rng(0).gamma(0.1, size=(n, n)) * (group[:, None] == (group - 1) % 3)
    return P / P.sum(1, keepdims=True)


def halves(leave, n=251):
    """Two halves that are left rarely, one three times as likely as the other."""
    rng = np.random.default_rng(0)
    P = np.zeros((2 * n, 2 * n))
    for half in (slice(0, n), slice(n, 2 * n)):
        P[half, half] = rng.dirichlet(np.ones(n), size=n)
    P *= 1 - np.repeat([leave, 3 * leave], n)[:, None]
    P[:n, n:] = leave / n
    P[n:, :n] = 3 * leave / n
    return P


def pairs(n, leave):
    """Pairs of states that are left rarely, for a few others."""
    rng = np.random.default_rng(0)
    P = leave * rng.random((n, n)) * (rng.random((n, n)) < 9 / n) + leave * ring(n).toarray()
    P[np.arange(n), np.arange(n) ^ 1] = 1
    return P / P.sum(1, keepdims=True)


def sticky(n):
    """States that are left as rarely as once in 1e13 steps."""
    rng = np.random.default_rng(0)
    rate = 10 ** (-13 * rng.random(n))[:, None]
    W = rng.random((n, n)) * (rng.random((n, n)) < 0.02) + 0.01 * ring(n).toarray()
    np.fill_diagonal(W, 0)
    return rate * W / W.sum(1, keepdims=True) + (1 - rate) * np.eye(n)


SLOW = {
    "in turn": in_turn(600),
    "halves": halves(1e-6),
    "halves that hardly know": halves(1e-13),
    "pairs": pairs(900, 1e-12),
    "sticky": sticky(700),
}


@pytest.mark.parametrize("is_large", [False, True])
@pytest.mark.parametrize("P", SLOW.values(), ids=SLOW.keys())
def test_slow_chains_have_one_too(P, is_large, monkeypatch):
    if is_large:  # as if too large to be eliminated
        monkeypatch.setattr(stationary, "QUICK", 1e6)
    assert_allclose(stationary_distribution(sp.csr_array(P)), eliminated(P), rtol=1e-9)


def test_the_solver_depends_on_the_chain(monkeypatch):
    """Eliminated if that is quick; else a few steps; a long elimination, if they do not do."""
    P = sp.csr_array(halves(1e-3))
    exact = eliminated(P.toarray())
    said, eigs, eliminate = [], stationary.eigs, stationary._eliminated
    enough = [0]

    def iterate(*arguments, maxiter, **options):
        said.append(maxiter)
        if maxiter < enough[0]:
            raise ArpackNoConvergence("no", [], [])
        return eigs(*arguments, maxiter=maxiter, **options)

    def say_and_eliminate(band):
        if band.order.size == P.shape[0]:  # not the two parts
            said.append("eliminated")
        return eliminate(band)

    monkeypatch.setattr(stationary, "eigs", iterate)
    monkeypatch.setattr(stationary, "_eliminated", say_and_eliminate)
    few, many = stationary.FEW, stationary.MANY
    work = stationary._band(P).work
    for quick, worth, steps, expected in (
        (work, work, 0, ["eliminated"]),
        (100, work, few, [few]),
        (100, work, many, [few, "eliminated"]),
        (100, 100, many, [few, many]),
    ):
        enough[0] = steps
        monkeypatch.setattr(stationary, "QUICK", quick)
        monkeypatch.setattr(stationary, "WORTH", worth)
        said.clear()
        assert_allclose(stationary_distribution(P), exact, rtol=1e-9)
        assert said == expected
    enough[0] = many + 1
    with pytest.raises(ValueError, match="502 states could not be found"):
        stationary_distribution(P)
    monkeypatch.setattr(stationary, "ROOM", 1)
    assert stationary._band(P).work == np.inf


def walk_in(mass):
    """A walk along places in a row, with this stationary distribution: as much up as down."""
    flow = np.minimum(mass[:-1], mass[1:]) / 4
    walk = sp.diags_array([flow, flow], offsets=[-1, 1], format="csr")
    walk = walk + sp.diags_array(mass - walk.sum(axis=1))
    return sp.csr_array(sp.diags_array(1 / mass) @ walk)


def test_long_walks_have_one_too():
    """Two wells: wide ones along 20,000 places, and deep ones, as a row and as a shuffled grid."""
    wide = 1.5 + np.sin(np.linspace(0, 4 * np.pi, 20_000))
    assert_allclose(stationary_distribution(walk_in(wide)), wide / wide.sum(), rtol=1e-11)
    x = np.linspace(-1.5, 1.5, 1000)
    deep = np.exp(-36 * (x**2 - 1) ** 2 - 0.3 * x)
    deep /= deep.sum()
    assert_allclose(stationary_distribution(walk_in(deep)), deep, rtol=1e-12)
    deep = deep[::25] / deep[::25].sum()
    grid = sp.csr_array(sp.kron(walk_in(deep), walk_in(deep)) / 2 + sp.eye_array(1600) / 2)
    order = np.random.default_rng(0).permutation(1600)
    found = stationary_distribution(grid[order][:, order])
    assert_allclose(found, np.outer(deep, deep).ravel()[order], rtol=1e-12)


def test_trees_have_one_too():
    """A walk on a tree, with hubs: no band is narrow, and yet there is little to do."""
    rng = np.random.default_rng(0)
    n = 3000
    child, parent = np.arange(1, n), (rng.random(n - 1) * np.sqrt(np.arange(1, n))).astype(int)
    weight = 10 ** rng.uniform(-6, 0, n - 1)
    W = sp.csr_array((weight, (child, parent)), (n, n))
    W = sp.csr_array(W + W.T)
    mass = W.sum(axis=1)
    mu = stationary_distribution(sp.csr_array(sp.diags_array(1 / mass) @ W))
    assert_allclose(mu, mass / mass.sum(), rtol=1e-12)


def drift(n, up, down):
    P = np.diag(np.full(n - 1, up), 1) + np.diag(np.full(n - 1, down), -1)
    return P + np.diag(1 - P.sum(1))


@pytest.mark.parametrize(
    ("n", "up", "down"), [(120, 0.9, 0.001), (350, 0.9, 0.05), (900, 0.9, 0.1)]
)
def test_masses_may_differ_by_more_than_numbers_can(n, up, down):
    """Those that underflow are tiny, but are there."""
    logs = np.maximum(np.log(down / up) * np.arange(n)[::-1], np.log(stationary.FLOOR))
    exact = np.exp(logs) / np.exp(logs).sum()
    rng = np.random.default_rng(0)
    for order in (np.arange(n), np.arange(n)[::-1], rng.permutation(n)):
        P = drift(n, up, down)[np.ix_(order, order)]
        assert_allclose(stationary_distribution(sp.csr_array(P)), exact[order], rtol=1e-10)
    P = np.zeros((2 * n, 2 * n))  # two wells, and nothing between them
    P[:n, :n], P[n:, n:] = drift(n, down, up), drift(n, up, down)
    P[n - 1, n - 1], P[n, n], P[n - 1, n], P[n, n - 1] = 0, 0, 1 - up, 1 - up
    mu = stationary_distribution(sp.csr_array(P))
    assert mu.min() > 0
    assert mu[:n].sum() == pytest.approx(0.5, rel=1e-10)


# --- reading ------------------------------------------------------------------------------------


def test_sequences_are_counted():
    data = read_transitions(["b", "a", "b", "b"], "auto")
    assert_array_equal(data.states, ["a", "b"])
    assert_array_equal(data.weights.toarray(), [[0, 1], [1, 1]])
    assert data.is_counted
    several = read_transitions([[5, 7, 5], np.array([7, 9])], "auto")
    assert_array_equal(several.states, [5, 7, 9])
    assert_array_equal(several.weights.toarray(), [[0, 1, 0], [1, 0, 1], [0, 0, 0]])
    one = read_transitions(pd.Series([3, 4, 3]), "auto")
    assert_array_equal(one.weights.toarray(), [[0, 1], [1, 0]])
    square = [[0, 1], [1, 0]]
    assert read_transitions(square, "auto").sequences is None
    assert_array_equal(read_transitions(square, "sequences").weights.toarray(), [[0, 1], [1, 0]])
    texts = [["a", "b"], ["b", "b"]]  # no matrix, though square
    for X in (texts, np.array(texts), [np.array(row) for row in texts]):
        assert_array_equal(read_transitions(X, "auto").weights.toarray(), [[0, 1], [0, 1]])


def test_matrices_are_told_apart():
    assert not read_transitions(np.array([[0.5, 0.5], [1.0, 0.0]]), "auto").is_counted
    assert not read_transitions(np.eye(2)[::-1], "auto").is_counted  # rows sum to 1
    assert read_transitions(np.eye(2)[::-1], "counts").is_counted
    assert read_transitions(np.array([[3, 1], [2, 0]]), "auto").is_counted
    assert not read_transitions(np.array([[0.3, 1], [2, 0]]), "auto").is_counted
    frame = pd.DataFrame([[3, 1], [2, 0]], columns=["sun", "rain"])
    assert_array_equal(read_transitions(frame, "auto").states, ["sun", "rain"])


def test_probabilities_may_be_rounded():
    P = np.random.default_rng(0).dirichlet(np.ones(50), size=50)
    for rounded in (P.astype(np.float32), P.astype(np.float16), P.round(6)):
        weights = read_transitions(rounded, "probabilities").weights
        walk = chain(weights, np.arange(50), False)
        assert_allclose(walk.transition.sum(axis=1), 1, rtol=1e-14)
    P[7, 7] += 0.0011
    with pytest.raises(ValueError, match=r"row 7 sums to 1\.0011\. .*kind=.counts.*kind=.auto"):
        read_transitions(P, "probabilities")


@pytest.mark.parametrize(
    ("X", "kind", "message"),
    [
        (np.ones((2, 3)), "auto", r"square matrix.*\(2, 3\).*kind=\"sequences\""),
        (np.zeros((2, 2)), "auto", "no mass"),
        (-np.eye(2), "auto", "Negative values"),
        (np.array([[1, np.nan], [1, 1]]), "auto", "NaN"),
        (np.array([[0.5, 0.5], [0.7, 0.2]]), "probabilities", "row 1 sums to 0.9"),
        (np.array([[0.5, 0.5], [0.7, 0.2]]), "counts", "whole numbers"),
        ([0.5, 1.5, 0.5], "auto", "whole numbers or strings"),
        ([1, "a", None], "sequences", "missing"),
        (["a", "b", np.nan, "a"], "auto", "missing"),
        (np.array([1, 2, np.nan]), "auto", "missing"),
        (pd.Series(["a", "b", None, "b"]), "auto", "missing"),
        (pd.Series([1, 2, None, 1], dtype="Int64"), "auto", "missing"),
        (np.ma.array([1, 2, 1], mask=[0, 1, 0]), "auto", "missing"),
        (["a", 1, "b"], "auto", "one kind, got int, str"),
        ([["a", "b"], [1, 2, 1]], "auto", "one kind, got int, str"),
        (np.full((2, 2), 1e308), "counts", "too large to be added"),
        ([1], "auto", "no transitions"),
        ([[1], [2], [3]], "auto", "no transitions"),
        ([[]], "sequences", "1-D"),
        ([], "auto", "square matrix of transitions.*1-D.*this is nothing"),
        ([], "sequences", "square matrix of transitions.*1-D.*this is nothing"),
        (None, "auto", "square matrix of transitions.*1-D.*this is nothing"),
        ((x for x in "abab"), "sequences", "of type generator"),
        ("ABAB", "auto", r"string.*list\(X\)"),
        ("", "sequences", r"string.*list\(X\)"),
    ],
)
def test_bad_chains_get_a_clear_error(X, kind, message):
    with pytest.raises(ValueError, match=message):
        read_transitions(X, kind)


def test_rows_of_a_frame_go_to_columns_by_name():
    counts = np.array([[0, 5, 1], [2, 0, 0], [0, 7, 3]])
    frame = pd.DataFrame(counts, list("abc"), list("abc"))
    for turned in (frame.loc[list("cab")], frame[list("bca")], pd.DataFrame(counts).loc[[1, 0, 2]]):
        data = read_transitions(turned, "auto")
        order = ["abc".index(s) if isinstance(s, str) else s for s in turned.columns]
        assert_array_equal(data.weights.toarray(), counts[np.ix_(order, order)])
        assert_array_equal(data.states, turned.columns)
    for plain in (
        pd.DataFrame(counts, columns=list("abc")), pd.DataFrame(counts, list("abc")),
        pl.DataFrame(counts, list("abc"), orient="row"),
    ):  # fmt: skip
        data = read_transitions(plain, "auto")  # by position
        assert_array_equal(data.weights.toarray(), counts)
        assert_array_equal(data.states, list("abc"))
    with pytest.raises(ValueError, match=r"names differ: only rows have c; only columns have d\."):
        read_transitions(pd.DataFrame(counts, list("abc"), list("abd")), "auto")
    with pytest.raises(ValueError, match=r"names differ: only columns have c\."):
        read_transitions(pd.DataFrame(counts, list("aab"), list("abc")), "auto")


def test_counts_may_be_many():
    """More than the integer kernel of co-clustering holds."""
    counts = np.array([[2**31, 5], [3, 2**40]])
    for X in (counts, counts.astype(float), sp.csr_array(counts)):
        data = read_transitions(X, "counts")
        assert data.is_counted
        assert read_transitions(X, "auto").is_counted
        kept, held = hold_out(data, 0.5, np.random.default_rng(0))
        assert_array_equal((kept + held).toarray(), counts)
        assert held[1, 1] / 2**40 == pytest.approx(0.5, abs=1e-4)


def test_weights_out_of_range_are_told():
    for X, message in (
        (np.full((2, 2), 1e308), "too large"),
        (np.full((2, 2), 1e-320), "too small"),
        (np.array([[1e300, 1e-300], [1, 1]]), "differ too much"),
    ):
        with pytest.raises(ValueError, match=message):
            chain(read_transitions(X, "auto").weights, np.arange(2), False)


def test_what_is_held_out_is_blamed():
    data = read_transitions(list("abababacac"), "auto")
    kept, _ = hold_out(data, 0.4, np.random.default_rng(0))
    with pytest.raises(ValueError, match=r"kept for the fit.*falls apart.*hold out less, or pass"):
        chain(kept, data.states, False, is_part=True)


def test_what_is_not_connected_is_named():
    P = np.zeros((6, 6))
    P[0, [1, 2]] = 0.5  # 0 is left for good
    P[1, 2] = P[2, 3] = P[3, 1] = 1
    P[4, 4] = 1  # alone, and 5 leads nowhere
    states = np.array(list("abcdef"))
    with pytest.raises(ValueError, match="falls apart") as caught:
        chain(sp.csr_array(P), states, False)
    said = str(caught.value)
    assert "of 6 states 1 can be left for good (a), 1 have no transition out (f)" in said
    assert "3 sets of states cannot be left" in said
    assert "has 3 (b, c, d): pass restrict=True" in said
    with pytest.raises(ValueError, match=r"apart: its 3 states are 2 sets, none .* left\. The"):
        chain(sp.csr_array([[1, 1, 0], [1, 0, 0], [0, 0, 1]]), states, False)
    walk = chain(sp.csr_array(P), states, True)
    assert_array_equal(walk.inside, [1, 2, 3])
    assert_allclose(walk.stationary, 1 / 3)
    leaving = sp.csr_array([[0, 3, 0], [1, 0, 1], [0, 0, 0]])  # ends in 2
    walk = chain(leaving, np.arange(3), True)
    assert_array_equal(walk.transition.toarray(), [[0, 1], [1, 0]])
    with pytest.raises(ValueError, match="No two states"):
        chain(sp.csr_array(np.triu(np.ones((3, 3)), 1)), np.arange(3), True)


# --- holding out and testing --------------------------------------------------------------------


def test_what_is_held_out_and_what_is_kept_are_all():
    rng = np.random.default_rng(0)
    counts = sp.csr_array(rng.poisson(20, (30, 30)))
    kept, held = hold_out(read_transitions(counts, "auto"), 0.25, rng)
    assert_array_equal((kept + held).toarray(), counts.toarray())
    assert held.sum() / counts.sum() == pytest.approx(0.25, abs=0.02)
    data = read_transitions([[0, 1, 0, 0, 1], [1, 1, 0]], "sequences")
    kept, held = hold_out(data, 0.5, rng)
    assert_array_equal(kept.toarray(), [[0, 1], [1, 1]])  # 0-1, 1-0 and 1-1
    assert_array_equal(held.toarray(), [[1, 1], [1, 0]])
    with pytest.raises(ValueError, match="counts or sequences"):
        hold_out(read_transitions(np.full((2, 2), 0.5), "auto"), 0.5, rng)


@given(st.lists(st.integers(0, 6), min_size=1, max_size=30), st.floats(1e-9, 1 - 1e-9))
def test_short_sequences_are_held_out_in_turn(lengths, share):
    """Rounded once for all, not each for itself; a sequence is kept up to its cut."""
    data = read_transitions([[0, 1], *(np.arange(n) % 2 for n in lengths)], "sequences")
    kept, held = hold_out(data, share, np.random.default_rng(0))
    assert_array_equal((kept + held).toarray(), data.weights.toarray())
    assert held.sum() == pytest.approx(share * data.weights.sum(), abs=0.5 + 1e-6)


def test_the_worst_violation_is_named():
    P = np.array([[0.5, 0.3, 0.2], [0.4, 0.3, 0.3], [0.1, 0.2, 0.7]])
    worst = lumpability(sp.csr_array(P), np.array([1, 1, 0]), 2)
    assert worst.violation == pytest.approx(0.1)
    assert (worst.cluster, worst.states) == (1, (0, 1) if worst.target == 1 else (1, 0))
    assert not worst.holds()
    assert worst.holds(0.11)
    P[1] = [0.3, 0.5, 0.2]
    assert lumpability(sp.csr_array(P), np.array([1, 1, 0]), 2).holds()


def test_g_is_that_of_scipy_where_nothing_is_rare():
    rng = np.random.default_rng(0)
    counts = rng.poisson(200, (6, 6))
    labels = np.array([0, 0, 0, 1, 1, 1])
    found = g_test(sp.csr_array(counts), labels, 2, rng)
    onto = counts @ np.eye(2)[labels]
    parts = [chi2_contingency(onto[labels == a], False, "log-likelihood") for a in (0, 1)]
    assert found.statistic == pytest.approx(sum(part.statistic for part in parts))
    assert found.degrees_of_freedom == sum(part.dof for part in parts) == 4
    assert found.n_transitions == counts.sum()


def test_nothing_to_compare_is_no_agreement():
    """Every state seen once, or each cluster with one state or one next cluster: p is nan."""
    rng = np.random.default_rng(0)
    single = g_test(sp.csr_array(np.eye(4)[[1, 2, 3, 0]]), np.array([0, 0, 1, 1]), 2, rng)
    assert np.isnan(single.p_value)
    for labels in (np.arange(4), np.zeros(4, int)):
        found = g_test(sp.csr_array(rng.poisson(9, (4, 4))), labels, labels.max() + 1, rng)
        assert found.degrees_of_freedom == found.expected == found.statistic == 0
        assert np.isnan(found.p_value)


def sparse_counts(rng, labels, Q, steps):
    """Steps from states of very different masses; the next cluster depends on the cluster."""
    counts = rng.multinomial(steps, rng.dirichlet(np.full(labels.size, 0.5)))
    onto = np.array([rng.multinomial(n, q) for n, q in zip(counts, Q, strict=True)])
    counts = np.zeros((labels.size, labels.size))
    counts[:, [np.flatnonzero(labels == b)[0] for b in range(Q.shape[1])]] = onto
    return sp.csr_array(counts)


def test_p_values_are_uniform_if_states_are_many_and_rare():
    rng = np.random.default_rng(1)
    labels = np.arange(200) % 3
    Q = rng.dirichlet(np.full(3, 0.5), size=3)[labels]
    found = [g_test(sparse_counts(rng, labels, Q, 1000), labels, 3, rng) for _ in range(150)]
    assert kstest([test.p_value for test in found], "uniform").pvalue > 0.01
    statistic, freedom, _, n, expected = np.mean(found, axis=0)
    assert n == 1000
    assert statistic == pytest.approx(expected, rel=0.01)
    assert abs(freedom / expected - 1) > 0.05  # the nominal number is far off
    Q[::2] = np.roll(Q[::2], 1, axis=1)
    assert g_test(sparse_counts(rng, labels, Q, 1000), labels, 3, rng).p_value < 1e-6


def test_the_same_seed_gives_the_same_p_value():
    counts = sp.csr_array(np.random.default_rng(0).poisson(3, (9, 9)))
    p = [g_test(counts, np.arange(9) % 2, 2, np.random.default_rng(s)).p_value for s in (0, 0, 1)]
    assert p[0] == p[1] != p[2]
    assert p[0] == pytest.approx(p[2], rel=0.1)


def test_p_values_are_uniform_for_lumpable_chains_and_small_for_others():
    rng = np.random.default_rng(0)
    labels = np.arange(12) % 3
    Q = rng.dirichlet(np.ones(3), size=3)
    within = rng.dirichlet(np.ones(4), size=(12, 3))  # which member, by state and next cluster
    P = np.zeros((12, 12))
    for b in range(3):
        P[:, labels == b] = Q[labels, b][:, None] * within[:, b]

    def p_value(P):
        counts = np.array([rng.multinomial(300, row / row.sum()) for row in P])
        return g_test(sp.csr_array(counts), labels, 3, rng).p_value

    assert kstest([p_value(P) for _ in range(200)], "uniform").pvalue > 0.01
    P[0] = np.roll(P[0], 1)
    assert p_value(P) < 1e-6
