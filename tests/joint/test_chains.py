"""Chains: how they are read, and what is held out of them."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from helpers import refused
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from comarkov.joint.chains import chain, hold_out, read_transitions

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
        walk = chain(weights, False)
        assert_allclose(walk.transition.sum(axis=1), 1, rtol=1e-14)
    P[7, 7] += 0.0011
    with refused("row 7 sums to 1.0011", 'kind="counts"'):
        read_transitions(P, "probabilities")


@pytest.mark.parametrize(
    ("X", "kind"),
    [
        (np.ones((2, 3)), "auto"),
        (np.zeros((2, 2)), "auto"),
        (-np.eye(2), "auto"),
        (np.array([[1, np.nan], [1, 1]]), "auto"),
        (np.array([[0.5, 0.5], [0.7, 0.2]]), "counts"),
        ([0.5, 1.5, 0.5], "auto"),
        (["a", "b", np.nan, "a"], "auto"),
        (np.array([1, 2, np.nan]), "auto"),
        (pd.Series(["a", "b", None, "b"]), "auto"),
        (pd.Series([1, 2, None, 1], dtype="Int64"), "auto"),
        (np.ma.array([1, 2, 1], mask=[0, 1, 0]), "auto"),
        (["a", 1, "b"], "auto"),
        ([["a", "b"], [1, 2, 1]], "auto"),
        ([[["a"]]], "sequences"),
        (np.full((2, 2), 1e308), "counts"),
        ([1], "auto"),
        ([[1], [2], [3]], "auto"),
        ([[]], "sequences"),
        ([], "auto"),
        (None, "auto"),
        ((x for x in "abab"), "sequences"),
        ("ABAB", "auto"),
    ],
)
def test_what_is_no_chain_is_refused(X, kind):
    with refused():
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
        pd.DataFrame(counts, columns=list("abc")),
        pd.DataFrame(counts, list("abc")),
        pl.DataFrame(counts, list("abc"), orient="row"),
    ):
        data = read_transitions(plain, "auto")  # by position
        assert_array_equal(data.weights.toarray(), counts)
        assert_array_equal(data.states, list("abc"))
    with refused("reset_index"):
        read_transitions(pd.DataFrame(counts, list("abc"), list("abd")), "auto")
    with refused("reset_index"):
        read_transitions(pd.DataFrame(counts, list("aab"), list("abc")), "auto")


def test_counts_may_be_many():
    """More than the integer kernel of co-clustering holds."""
    counts = np.array([[2**31, 5], [3, 2**40]])
    for X in (counts, counts.astype(float), sp.csr_array(counts)):
        data = read_transitions(X, "counts")
        assert data.is_counted
        assert read_transitions(X, "auto").is_counted
        kept, holding = hold_out(data, 0.5, np.random.default_rng(0))
        assert_array_equal((kept + holding).toarray(), counts)
        assert holding[1, 1] / 2**40 == pytest.approx(0.5, abs=1e-4)


@pytest.mark.parametrize("row", [[1e308, 1e308], [1e-320, 1e-320], [1e300, 1e-300]])
def test_weights_out_of_range_are_refused(row):
    with refused("X / X.max()"):
        chain(read_transitions(np.array([row, row]), "auto").weights, False)


def test_states_that_do_not_lead_to_each_other():
    P = np.zeros((6, 6))
    P[0, [1, 2]] = 0.5  # 0 is left for good
    P[1, 2] = P[2, 3] = P[3, 1] = 1
    P[4, 4] = 1  # alone, and 5 leads nowhere
    walk = chain(sp.csr_array(P), False, restrict=True)
    assert_array_equal(walk.inside, [1, 2, 3])
    assert_allclose(walk.occupancy, 1 / 3)
    assert walk.origin == "stationary"
    walk = chain(sp.csr_array(P), False)
    assert walk.origin == "restarts"
    assert (walk.occupancy > 0).all()
    assert walk.transition[5, 5] == 1
    leaving = sp.csr_array([[0, 3, 0], [1, 0, 1], [0, 0, 0]])  # ends in 2
    walk = chain(leaving, True, restrict=True)
    assert_array_equal(walk.transition.toarray(), [[0, 1], [1, 0]])
    walk = chain(leaving, True)
    assert walk.origin == "observed"
    assert_allclose(walk.flow.toarray(), leaving.toarray() / 5)
    with refused("restrict"):
        chain(sp.csr_array(np.triu(np.ones((3, 3)), 1)), True, restrict=True)


def test_rates_are_seen_at_twice_the_pace_of_the_fastest_state():
    Q = np.array([[-3.0, 2, 1], [0.5, -0.5, 0], [0, 1, -1]])
    data = read_transitions(Q, "auto")
    assert data.step == pytest.approx(1 / 6)
    assert_allclose(data.weights.toarray(), np.eye(3) + Q / 6)
    mu = chain(data.weights, False).occupancy
    assert_allclose(mu @ Q, 0, atol=1e-12)
    frame = pd.DataFrame(Q, columns=list("abc"))
    assert_array_equal(read_transitions(frame, "rates").states, list("abc"))
    with refused("state"):
        read_transitions(np.diag([-1.0, -1.0]), "rates")


# --- holding out --------------------------------------------------------------------------------


def test_what_is_held_out_and_what_is_kept_are_all():
    rng = np.random.default_rng(0)
    counts = sp.csr_array(rng.poisson(200, (30, 30)))
    kept, holding = hold_out(read_transitions(counts, "auto"), 0.25, rng)
    assert_array_equal((kept + holding).toarray(), counts.toarray())
    error = np.sqrt(0.25 * 0.75 * counts.sum())  # of a binomial number
    assert holding.sum() == pytest.approx(0.25 * counts.sum(), abs=4 * error)
    data = read_transitions([[0, 1, 0, 0, 1], [1, 1, 0]], "sequences")
    kept, holding = hold_out(data, 0.5, rng)
    assert_array_equal(kept.toarray(), [[0, 1], [1, 1]])  # 0-1, 1-0 and 1-1
    assert_array_equal(holding.toarray(), [[1, 1], [1, 0]])
    with refused("held_out=0"):
        hold_out(read_transitions(np.full((2, 2), 0.5), "auto"), 0.5, rng)


@given(st.lists(st.integers(0, 6), min_size=1, max_size=30), st.floats(1e-9, 1 - 1e-9))
def test_short_sequences_are_held_out_in_turn(lengths, share):
    """Rounded once for all, not each for itself; a sequence is kept up to its cut."""
    data = read_transitions([[0, 1], *(np.arange(n) % 2 for n in lengths)], "sequences")
    kept, holding = hold_out(data, share, np.random.default_rng(0))
    assert_array_equal((kept + holding).toarray(), data.weights.toarray())
    assert holding.sum() == pytest.approx(share * data.weights.sum(), abs=0.5 + 1e-6)
