"""The leaves of a tree: how many, where they lie, and what making them must not change."""

import signal

import numpy as np
import pytest
from helpers import is_nested
from numpy.testing import assert_array_equal
from sklearn.exceptions import ConvergenceWarning

import comarkov
from comarkov import CoClustering
from comarkov.joint.joint import joint
from comarkov.search.run import Purpose, Seed
from comarkov.search.state.side import bisect


def test_leaves_are_as_many_as_the_search_begins_with(counts, fitted):
    assert fitted.hierarchy_.n_leaves == (32, 24)
    assert repr(fitted.hierarchy_) == "Hierarchy(n_leaves=(32, 24), n_fitted=(4, 3))"
    few = CoClustering((39, 1), random_state=0).fit(counts).hierarchy_
    assert few.n_leaves == (39, 8)
    given = CoClustering((4, 3), init=(fitted.row_labels_, fitted.column_labels_)).fit(counts)
    assert given.hierarchy_.n_leaves == (32, 24)
    for method in ("anneal", "sequential"):
        tree = CoClustering((4, 3), method=method, random_state=0).fit(counts).hierarchy_
        assert tree.n_leaves == tree.n_fitted == (4, 3)
        assert len(tree.merges) == 5


def test_leaves_lie_side_by_side(fitted):
    for leaves, labels in (
        (fitted.hierarchy_.row_leaves, fitted.row_labels_),
        (fitted.hierarchy_.column_leaves, fitted.column_labels_),
    ):
        assert_array_equal(leaves < 0, labels < 0)
        assert is_nested(leaves, labels)
        assert (np.diff(labels[np.argsort(leaves, kind="stable")]) >= 0).all()


def test_leaves_split_what_gains_most():
    """Two clusters of the fit, one of them plainly of three kinds of rows."""
    kinds = np.repeat(np.eye(6, dtype=int), 5, axis=0)[:, [0, 1, 2, 3, 3, 3]] * 9
    kinds[:15, 3:] += 1
    start = np.repeat([0, 1], 15)
    model = CoClustering((2, None), fixed=(start, None), random_state=0).fit(kinds + 1)
    assert_array_equal(model.cut((4, None)).row_labels_[15:], np.full(15, 0))
    truth = np.append(np.repeat([0, 1, 2], 5), np.full(15, 3))
    agreement = comarkov.evaluate.adjusted_rand_index(truth, model.cut((4, None)).row_labels_)
    assert agreement == 1


def test_leaves_do_not_change_the_labels(counts, monkeypatch):
    """Their random numbers are their own, and none is drawn before the labels are there."""
    drawn = []
    stream = Seed.stream
    monkeypatch.setattr(Seed, "stream", lambda seed, *n: drawn.append(n) or stream(seed, *n))
    CoClustering((4, 3), random_state=0).fit(counts)
    assert drawn[-2:] == [(Purpose.LEAVES, 0), (Purpose.LEAVES, 1)]
    assert len(set(drawn)) == len(drawn)


def test_no_time_is_spent_on_leaves_when_it_is_over(counts):
    with pytest.warns(ConvergenceWarning):
        model = CoClustering((4, 3), max_time=1e-9, random_state=0).fit(counts)
    assert model.hierarchy_.n_leaves == (4, 3)
    assert model.cut(1).cost_ == pytest.approx(joint(counts).information * 1.4)


def test_ctrl_c_while_leaves_are_made_loses_nothing(counts, fitted, monkeypatch):
    def interrupted(*arguments):
        signal.raise_signal(signal.SIGINT)
        return bisect(*arguments)

    monkeypatch.setattr("comarkov.model.leaves.bisect", interrupted)
    with pytest.warns(ConvergenceWarning):
        model = CoClustering((4, 3), random_state=0).fit(counts)
    assert_array_equal(model.row_labels_, fitted.row_labels_)
    assert model.hierarchy_.n_leaves == (4, 3)
