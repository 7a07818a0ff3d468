"""What every estimator promises, written once.

A test class inherits the promises that its estimator makes, and says which estimator and which
data they are tested with. A side is one set of elements with clusters of its own: rows, columns,
states, a type.
"""

import pickle
import tempfile
from typing import Any

import numpy as np
import pandas as pd
import pytest
from helpers import FORMATS, refused, same
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import check_estimator

import comarkov
from comarkov import Progress

WEIGHT_CHECK = "check_sample_weight_equivalence_on_{}_data"
DIFFERING = "repeated rows are more evidence than a row that counts more, and have other starts"


def blocks(rng, rates, rows, columns):
    """Counts whose expectation depends on the clusters of row and column alone."""
    return rng.poisson(np.asarray(rates)[rows][:, columns])


def shuffled(rng, sizes):
    """Labels of clusters that have so many members, in any order."""
    return rng.permutation(np.repeat(np.arange(len(sizes)), sizes))


def named(W):
    """A matrix as a data frame whose rows and columns have names."""
    return pd.DataFrame(W).rename(index="n{}".format, columns="n{}".format)


def assert_clusters(labels, count, mass):
    """So many clusters, none of them empty, or each element its own; -1 for what has no mass."""
    assert np.issubdtype(labels.dtype, np.integer)
    assert_array_equal(labels == -1, mass == 0)
    expected = np.flatnonzero(mass) if count is None else range(count)
    assert set(labels[mass > 0]) == set(expected)


class EstimatorContract:
    """Promises of all estimators.

    The clusters in the data are so clear that every estimator finds them, and of different masses,
    by which they are numbered. So the labels are known exactly, also after a change of the data.
    """

    estimator: Any  # a new estimator for the data, with a seed
    data: Any  # matrices with some elements that have no mass
    labels: Any  # of a model, by side
    counts: Any  # the clusters that `estimator` asks for; None where each element is its own
    masses: Any  # of X, by side
    oracle: Any  # the cost of the labels of a model of X, by its formula
    permuted: Any  # X with the elements of each side in another order
    with_an_empty_element: Any  # X with one that has no mass at the end of the first side
    as_start: Any  # labels as `init` and `fixed` take them

    def for_scikit_learn(self) -> Any:
        """The estimator for scikit-learn's data, which have two columns or more."""
        return clone(self.estimator()).set_params(n_clusters=2)

    def each(self, X: Any, change: Any) -> Any:
        """X with every matrix changed."""
        return change(X)

    # --- fixtures and what several tests assert -----------------------------------------------

    @pytest.fixture(scope="class")
    @classmethod
    def X(cls):  # noqa: N802, as in scikit-learn
        return cls().data()

    @pytest.fixture(scope="class")
    @classmethod
    def model(cls, X):
        return cls().estimator().fit(X)

    def assert_valid(self, model, X):
        """As many clusters as asked for, none empty; -1 for what has no mass; the right cost."""
        masses = self.masses(X)
        for side, labels in self.labels(model).items():
            assert_clusters(labels, self.counts()[side], masses[side])
        assert model.cost_ == pytest.approx(self.oracle(X, model), abs=1e-10)

    def assert_same_labels(self, one, other):
        for side, labels in self.labels(one).items():
            assert_array_equal(self.labels(other)[side], labels)

    # --- scikit-learn's conventions -----------------------------------------------------------

    @pytest.mark.filterwarnings("ignore")
    def test_scikit_learn_checks_pass(self, monkeypatch):
        monkeypatch.setenv("SCIPY_ARRAY_API", "1")  # else scikit-learn skips a check
        differing = dict.fromkeys(map(WEIGHT_CHECK.format, ("dense", "sparse")), DIFFERING)
        made = check_estimator(
            self.for_scikit_learn(), on_skip=None, on_fail=None, expected_failed_checks=differing
        )
        assert len(made) > 40
        wrong = {one["check_name"]: one for one in made if one["status"] not in ("passed", "xfail")}
        assert not wrong

    def test_fit_predict_gives_the_first_labels(self, X, model):
        if hasattr(model, "fit_predict"):
            first = next(iter(self.labels(model).values()))
            assert_array_equal(self.estimator().fit_predict(X), first)

    # --- the answer ---------------------------------------------------------------------------

    def test_clusters_are_as_asked_for(self, X, model):
        self.assert_valid(model, X)

    def test_clusters_are_numbered_by_falling_mass(self, X, model):
        for side, labels in self.labels(model).items():
            if self.counts()[side] is not None:
                mass = self.masses(X)[side]
                sums = np.bincount(labels[labels >= 0], weights=mass[labels >= 0])
                assert (np.diff(sums) < 0).all()

    @pytest.mark.parametrize("read", FORMATS.values(), ids=FORMATS.keys())
    def test_every_format_gives_the_same_answer_and_is_left_as_it_is(self, X, model, read):
        given = self.each(X, read)
        before = pickle.dumps(given)
        other = self.estimator().fit(given)
        assert pickle.dumps(given) == before
        self.assert_same_labels(model, other)
        assert other.cost_ == model.cost_

    def test_the_same_seed_gives_the_same_model(self, X, model):
        before = pickle.dumps(np.random.get_state())  # noqa: NPY002, it is about the global one
        again = self.estimator().fit(X)
        assert pickle.dumps(np.random.get_state()) == before  # noqa: NPY002
        assert same(model, again)

    def test_the_order_of_elements_does_not_matter(self, X, model):
        rng = np.random.default_rng(1)
        orders = {side: rng.permutation(mass.size) for side, mass in self.masses(X).items()}
        other = self.estimator().fit(self.permuted(X, orders))
        for side, labels in self.labels(model).items():
            if self.counts()[side] is not None:
                assert_array_equal(self.labels(other)[side], labels[orders[side]])
        assert other.cost_ == pytest.approx(model.cost_, abs=1e-12)

    @pytest.mark.parametrize("exponent", [1, 300, -400])
    @pytest.mark.parametrize("change", [np.asarray, np.log1p], ids=["counts", "fractions"])
    def test_the_unit_of_weights_does_not_matter(self, X, change, exponent):
        """Powers of two round nothing, so that results are the same to the last bit."""
        weights = self.each(X, change)
        scaled = self.each(weights, lambda W: W * 2.0**exponent)
        one, other = self.estimator().fit(weights), self.estimator().fit(scaled)
        self.assert_same_labels(one, other)
        assert other.cost_ == one.cost_

    def test_an_element_without_mass_changes_nothing(self, X, model):
        other = self.estimator().fit(self.with_an_empty_element(X))
        first = next(iter(self.counts()))
        for side, labels in self.labels(model).items():
            expected = np.append(labels, -1) if side == first else labels
            assert_array_equal(self.labels(other)[side], expected)
        assert other.cost_ == pytest.approx(model.cost_, abs=1e-12)

    # --- a fit after another ------------------------------------------------------------------

    def test_a_refit_is_as_a_first_fit(self, X):
        model = self.estimator().fit(self.each(self.with_an_empty_element(X), named))
        assert same(model.fit(X), self.estimator().fit(X))

    def test_a_failed_fit_leaves_the_fitted_model_alone(self, X, model):
        copy = pickle.loads(pickle.dumps(model))
        with refused("NaN"):
            copy.fit(self.each(X, lambda W: np.full(np.shape(W), np.nan)[:-1, :-1]))
        assert same(copy, model)

    def test_a_pickle_is_the_same(self, model):
        assert same(pickle.loads(pickle.dumps(model)), model)

    def test_a_saved_model_is_the_same(self, model):
        with tempfile.TemporaryDirectory() as folder:
            model.save(f"{folder}/model")
            assert same(comarkov.load(f"{folder}/model"), model)

    # --- bad input ----------------------------------------------------------------------------

    @pytest.mark.parametrize(
        ("change", "word"),
        [
            (np.zeros_like, ""),
            (lambda W: -1.0 * W, "Negative values"),
            (lambda W: W * np.nan, "NaN"),
            (lambda W: np.where(W.mean() < W, np.inf, W), "infinity"),
        ],
        ids=["no mass", "negative", "NaN", "infinite"],
    )
    def test_bad_input_is_refused(self, X, change, word):
        bad = self.each(X, change)
        with refused(word):
            self.estimator().fit(bad)


class SearchContract(EstimatorContract):
    """Promises of estimators that search from starts: threads, time, callbacks, given labels."""

    def test_threads_do_not_change_the_answer(self, X):
        one, two = (self.estimator(n_init=5, n_jobs=n).fit(X) for n in (1, 2))
        assert same(one, two.set_params(n_jobs=1))

    def test_more_starts_never_cost_more(self, X):
        costs = [self.estimator(n_init=n).fit(X).cost_ for n in (1, 4)]
        assert costs[1] <= costs[0] + 1e-12

    def test_time_is_limited(self, X):
        with pytest.warns(ConvergenceWarning) as caught:
            model = self.estimator(max_time=1e-9).fit(X)
        assert {one.filename for one in caught} == {__file__}
        self.assert_valid(model, X)

    def test_the_callback_hears_of_progress_and_can_end_the_fit(self, X, model):
        heard = []
        watched = self.estimator(callback=heard.append).fit(X)
        self.assert_same_labels(model, watched)
        assert {type(progress) for progress in heard} == {Progress}
        with pytest.warns(ConvergenceWarning):
            stopped = self.estimator(callback=lambda progress: True).fit(X)
        self.assert_valid(stopped, X)

    def test_an_error_in_the_callback_leaves_the_fitted_model_alone(self, X, model):
        copy = pickle.loads(pickle.dumps(model))
        calls = []

        def fail(progress):
            calls.append(progress)
            raise RuntimeError("no more")

        with pytest.raises(RuntimeError):
            copy.set_params(callback=fail).fit(self.each(X, named))
        assert len(calls) == 1
        assert same(copy.set_params(callback=None), model)

    def test_given_labels_keep_their_numbers(self, X, model):
        start = {
            side: np.where(labels < 0, -1, (labels + 1) % self.counts()[side])
            for side, labels in self.labels(model).items()
            if self.counts()[side] is not None
        }
        again = self.estimator(init=self.as_start(start)).fit(X)
        for side, labels in start.items():
            assert_array_equal(self.labels(again)[side], labels)
        assert again.cost_ == pytest.approx(model.cost_, abs=1e-12)

    def test_fixed_labels_do_not_move(self, X, model):
        """Elements of two clusters are fixed in one of them."""
        fixed = {}
        for side, labels in self.labels(model).items():
            if self.counts()[side] is not None:
                fixed[side] = np.full(labels.size, -1)
                fixed[side][[np.argmax(labels == 0), np.argmax(labels == 1)]] = 1
        forced = self.estimator(fixed=self.as_start(fixed)).fit(X)
        self.assert_valid(forced, X)
        for side, labels in fixed.items():
            assert set(self.labels(forced)[side][labels >= 0]) == {1}
        assert forced.cost_ > model.cost_ + 0.01
