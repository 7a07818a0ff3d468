"""What estimators of the rows and columns of a matrix promise, beyond what all promise."""

import warnings
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
from contract import EstimatorContract, assert_clusters, blocks, shuffled
from helpers import FORMATS, counts_for, refused, weights
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import comarkov


class CoClusteringContract(EstimatorContract):
    """Promises of estimators that cluster the rows and columns of a matrix."""

    kind: Any  # the class of the estimator
    parameters: ClassVar[Any] = {"random_state": 0}
    clusters_columns = True

    def at(self, k, l, **parameters):
        """An estimator with so many clusters."""
        n_clusters = (k, l) if self.clusters_columns else k
        return self.kind(n_clusters, **self.parameters | parameters)

    def estimator(self, **parameters):
        return self.at(4, 3, **parameters)

    def data(self):
        rng = np.random.default_rng(0)
        rates = [[48, 8, 8], [8, 40, 8], [8, 8, 48], [24, 24, 8]]
        X = blocks(rng, rates, shuffled(rng, [9, 7, 6, 5]), shuffled(rng, [9, 7, 5]))
        X[4] = 0
        X[:, 6] = 0
        return X

    def labels(self, model):
        return {"rows": model.row_labels_, "columns": model.column_labels_}

    def counts(self):
        return {"rows": 4, "columns": 3 if self.clusters_columns else None}

    def masses(self, X):
        return {"rows": X.sum(axis=1), "columns": X.sum(axis=0)}

    def oracle(self, X, model):
        return comarkov.cost(X, model.row_labels_, model.column_labels_, model.beta_)

    def permuted(self, X, orders):
        return X[np.ix_(orders["rows"], orders["columns"])]

    def with_an_empty_element(self, X):
        return np.vstack([X, np.zeros_like(X[:1])])

    def as_start(self, labels):
        return labels["rows"], labels.get("columns")

    @settings(max_examples=12, suppress_health_check=[HealthCheck.differing_executors])
    @given(st.data())
    def test_labels_never_surprise(self, draws):
        """For weights of all sizes, and numbers of clusters from one to all elements."""
        W = draws.draw(weights())
        k, l = counts_for(draws.draw, W)
        model = self.at(k, l).fit(W)
        assert_clusters(model.row_labels_, k, W.sum(axis=1))
        assert_clusters(model.column_labels_, l if self.clusters_columns else None, W.sum(axis=0))
        expected = comarkov.information(W, model.row_labels_, model.column_labels_)
        assert_allclose(model.information_, expected, atol=1e-10)
        assert model.cost_ == pytest.approx(expected.cost(model.beta_), abs=1e-10)

    def test_too_many_clusters_get_a_clear_error(self):
        with refused("at most 3"):
            self.at(4, 3).fit(np.ones((3, 5)))

    def test_elements_without_mass_are_reported(self, X):
        with pytest.warns(UserWarning, match="1 of 27 rows and 1 of 21 columns") as caught:
            self.estimator().fit(X)
        assert {one.filename for one in caught} == {__file__}
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.at(2, 2).fit(np.eye(4))

    def test_new_rows_find_their_clusters(self, X, model):
        """Those of the fit find theirs; in data frames columns are found by their names."""
        assert_array_equal(model.predict(X), model.row_labels_)
        frame = pd.DataFrame(X, columns=[f"c{i}" for i in range(X.shape[1])])
        named = self.estimator().fit(frame)
        assert_array_equal(named.predict(frame.iloc[:, ::-1]), model.row_labels_)
        membership = named.transform(frame)
        assert_allclose(membership.sum(axis=1), 1)
        has_mass = model.row_labels_ >= 0
        assert_array_equal(membership.argmax(axis=1)[has_mass], model.row_labels_[has_mass])
        confidence = named.predict(frame, return_confidence=True)[1]
        assert_array_equal(membership.max(axis=1)[has_mass], confidence[has_mass])
        assert_allclose(membership[~has_mass], 1 / membership.shape[1])

    @pytest.mark.filterwarnings("ignore:X has feature names")
    def test_new_rows_may_have_any_format(self, X, model):
        for name, read in FORMATS.items():
            assert_array_equal(model.predict(read(X)), model.row_labels_, err_msg=name)

    def test_a_row_that_counts_twice_is_two_rows(self, X, model, tmp_path):
        counted = np.arange(X.shape[0]) % 3
        fitted = self.estimator().fit(X, sample_weight=counted)
        repeated, labels = (np.repeat(each, counted, axis=0) for each in (X, fitted.row_labels_))
        expected = comarkov.cost(repeated, labels, fitted.column_labels_, fitted.beta_)
        assert fitted.cost_ == pytest.approx(expected, abs=1e-10)
        assert_array_equal(fitted.row_labels_ < 0, (counted == 0) | ~X.any(axis=1))
        assert fitted.results(X).findings.cost == fitted.cost_  # weighs the same data alike
        if self.clusters_columns:
            assert_array_equal(fitted.predict(X, side="columns"), fitted.column_labels_)
        packed = comarkov.pack(X, tmp_path / "store")
        assert_array_equal(self.estimator().fit(packed, None, counted).row_labels_, fitted.labels_)
        assert not hasattr(self.estimator().fit(X), "sample_weight_")
        for wrong in (counted[1:], -counted, 0 * counted):
            with refused("sample_weight"):
                self.estimator().fit(X, sample_weight=wrong)

    def test_it_can_be_cut_and_weighted(self, X, model):
        wanted = (2, 2) if self.clusters_columns else 2
        coarse = model.cut(wanted)
        assert set(coarse.row_labels_) == {-1, 0, 1}
        assert coarse.cost_ == pytest.approx(self.oracle(X, coarse), abs=1e-10)
        assert model.cut(wanted, X).cost_ <= coarse.cost_ + 1e-12
        weighted = self.estimator(weighting="bm25").fit(X)
        assert weighted.weighting_.idf_.size == X.shape[1]
        assert weighted.cost_ != model.cost_


class TwoSidedContract(CoClusteringContract):
    """Promises of estimators that treat rows and columns alike."""

    def test_columns_are_the_rows_of_the_transpose(self, X, model):
        rows, columns = model.row_labels_, model.column_labels_
        turned = self.at(3, 4).fit(X.T)
        assert_array_equal(turned.row_labels_, columns)
        assert_array_equal(turned.column_labels_, rows)
        assert turned.cost_ == pytest.approx(model.cost_, abs=1e-12)
